"""``Host`` is held to the public URL: nothing else is answered for (notes on threats; RFC 9110)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.web.refusals import Misdirected

if TYPE_CHECKING:
    from starlette.types import Scope

#: What a probe on the machine asks for by address.
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})


def check_host(scope: Scope, accepted: frozenset[str]) -> None:
    """Refuse a request for another host, so that no page of a rebound name gets an answer.

    Raises:
        Misdirected: it names none or another, or two.
    """
    given = [value for name, value in scope["headers"] if name == b"host"]
    if len(given) == 1 and given[0].decode("latin-1").lower() in accepted:
        return
    if scope["path"] in PROBES:
        return
    raise Misdirected(
        "This server does not answer for the host of this request. Use its public URL "
        "([server] public_url)."
    )
