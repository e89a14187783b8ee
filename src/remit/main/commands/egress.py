"""``remit egress check``: the guard's decision, without sending."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from remit.egress.guard import check
from remit.errors import WrongUse
from remit.main.output import print_json
from remit.values.urls import UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.main.settings import Settings


def run(
    url: str, settings: Settings, *, resolve: Sequence[str] | None, allow: tuple[str, ...]
) -> int:
    """Print ``{decision, reason, addresses}``; 0 for allow, 1 for refuse."""
    answers = None if resolve is None else _answers(resolve)
    decision = asyncio.run(check(url, allow=(*settings.egress_allow, *allow), resolve=answers))
    printed = {
        "decision": decision.decision,
        "reason": decision.reason,
        "addresses": list(decision.addresses),
    }
    mend = decision.mend or _whole(url)
    if mend is not None:
        printed["mend"] = mend
    print_json(printed)
    return 0 if decision.allowed else 1


def _whole(url: str) -> str | None:
    """Both whole forms of an address without its scheme, which the guard does not guess."""
    try:
        parse_url(url)
    except UrlFault:
        with contextlib.suppress(UrlFault):
            parse_url(f"https://{url}")
            return f"Write https://{url}, or http://{url}."
    return None


def _answers(entries: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        host, equals, addresses = entry.partition("=")
        if not host or not equals:
            raise WrongUse(f"--resolve {entry!r}: write --resolve HOST=ADDRESS[,ADDRESS].")
        listed = tuple(a.strip() for a in addresses.split(",") if a.strip())
        found[host] = (*found.get(host, ()), *listed)
    return found
