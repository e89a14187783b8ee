"""Where a case and the contract disagree, the contract holds: which cases, and by which section.

A row applies only to a case that does not pass, and only where what was seen is what the
contract asks for.
"""

from __future__ import annotations

import re

from tests.cases.verdicts import Json

# One row: part of the id, part of the failure (a pattern), the reason.
_ROWS: tuple[tuple[str, str, str], ...] = ()


def difference(case: Json, failure: str) -> str | None:
    """Why the case differs from the contract, or None."""
    for part, pattern, reason in _ROWS:
        if part in str(case.get("id")) and re.search(pattern, failure):
            return reason
    return None
