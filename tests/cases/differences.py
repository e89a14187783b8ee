"""Where a case and the contract disagree, the contract holds: which cases, and by which section.

A row names what was seen instead, so that it covers nothing but what the contract asks for. A case
with any other fault has failed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# One row: a pattern of a failure, and why the contract holds.
_ROWS: tuple[tuple[str, str], ...] = (
    (
        r"expected the level error, seen warning "
        r"(optional-in-path|pin-only-slot|required-not-declared)\b",
        "contract section 4: an optional argument or a slot that only a pin can fill in a path, "
        "and a required name that is not declared, are warnings; the case wants errors",
    ),
    (
        r"expected allow over http, seen allow over https alone",
        "contract section 11: http only to destinations that the operator allows",
    ),
    (
        r"expected the redirect to be followed",
        "contract sections 5 and 11: no redirect is followed",
    ),
)


def difference(faults: Sequence[str]) -> str | None:
    """Why a case differs from the contract; None where one of its faults is a fault of ours."""
    reasons: list[str] = []
    for fault in faults:
        reason = next((reason for pattern, reason in _ROWS if re.search(pattern, fault)), None)
        if reason is None:
            return None
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons)) or None
