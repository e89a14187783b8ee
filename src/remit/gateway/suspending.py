"""Suspending an app and resuming it (contract section 7, "Suspend")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import InvalidRequest
from remit.gateway.acting import act, no_such
from remit.gateway.admitting import require

if TYPE_CHECKING:
    from remit.gateway.acting import Actor, Books
    from remit.gateway.governance import Suspension
    from remit.gateway.records import App

MAX_REASON = 1_000


async def suspend(books: Books, actor: Actor, app: str, *, reason: str, node: str) -> Suspension:
    """Suspend an app: no call starts from now on, on other nodes within 2 s.

    Open inputs are cancelled and polls claimed in the same transaction; whoever asked ends
    their calls (``Suspension``).

    Args:
        books: where it is kept.
        actor: an operator.
        app: its id.
        reason: shown wherever a call is refused.
        node: who ends the calls that were stopped.

    Raises:
        Forbidden, NotFound: as they say.
        InvalidRequest: there is no reason, or it is too long.
    """
    require(actor, "operator")
    said = checked_reason(reason)
    entry = act(books, actor, "app.suspended", f"app/{app}", {"reason": said})
    found = await books.apps.suspend(actor.workspace, app, reason=said, node=node, act=entry)
    if found is None:
        raise no_such("app", app)
    books.bell.ring()
    return found


async def resume(books: Books, actor: Actor, app: str) -> App:
    """Take a suspension back; nothing changes where there is none.

    Raises:
        Forbidden, NotFound: as they say.
    """
    require(actor, "operator")
    entry = act(books, actor, "app.resumed", f"app/{app}", {})
    found = await books.apps.resume(actor.workspace, app, act=entry)
    if found is None:
        raise no_such("app", app)
    books.bell.ring()
    return found


def checked_reason(reason: str) -> str:
    """A reviewer's reason as one line.

    Raises:
        InvalidRequest: there is none, or it is too long.
    """
    said = " ".join(reason.split())
    if not 1 <= len(said) <= MAX_REASON:
        raise InvalidRequest(
            f"Give a reason of 1 to {MAX_REASON:,} characters: people are shown it."
        )
    return said
