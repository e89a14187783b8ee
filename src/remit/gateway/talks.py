"""What a node needs to hold conversations, and the one way in which something happens in them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, final

from remit.gateway.conversing import Acted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from remit.gateway.acting import Books
    from remit.gateway.clients import Clients
    from remit.gateway.conversing import Decide, Live, Sessions
    from remit.gateway.models import Models
    from remit.gateway.node import Node
    from remit.gateway.offers import Offers

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkTerms:
    """What is set for all conversations of a node.

    Attributes:
        lease_ms: how long a claim holds without being renewed; a lost node's run is taken up
            when it is over.
        max_turns: model requests in one run.
        max_attempts: claims of a session without anything written, before its run is given up.
        token_ttl_s: of a client token, where nobody says how long.
        max_at_once: sessions that one node works on side by side.
    """

    lease_ms: int = 10_000
    max_turns: int = 50
    max_attempts: int = 5
    token_ttl_s: int = 900
    max_at_once: int = 256


@dataclass(slots=True)
class Working:
    """A session that this node works on now.

    Attributes:
        stop: set when somebody stops the run.
        news: something of it ended since this was last looked at.
    """

    stop: asyncio.Event
    news: bool = False


@final
class Stops:
    """The sessions that a node works on."""

    def __init__(self) -> None:
        self._working: dict[tuple[str, str], Working] = {}

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(tuple(self._working))

    def begin(self, workspace: str, session: str) -> Working:
        """Work on a session begins."""
        working = self._working[workspace, session] = Working(asyncio.Event())
        return working

    def over(self, workspace: str, session: str, working: Working) -> None:
        """Work on it is over, unless another one has begun."""
        if self._working.get((workspace, session)) is working:
            del self._working[workspace, session]

    def stop(self, workspace: str, session: str) -> None:
        """Somebody stopped it; another node sees that by the row."""
        if (working := self._working.get((workspace, session))) is not None:
            working.stop.set()

    def news(self, workspace: str, session: str) -> bool:
        """Something ended in it; whether it is worked on here, so that nobody need be woken."""
        working = self._working.get((workspace, session))
        if working is not None:
            working.news = True
        return working is not None


def _unheard(_fault: BaseException) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talks:
    """One process that holds conversations.

    Attributes:
        now_ms: the store's own time.
        alarm: set when a session is due here: whoever works them looks at once.
        stops: sessions that this node works on now, for whoever stops one.
        offers: tools as models get them, made once.
        on_fault: is told what a model's server did wrong: whoever runs it is not in the chat.
    """

    node: Node
    books: Books
    sessions: Sessions
    clients: Clients
    models: Models
    live: Live
    now_ms: Callable[[], Awaitable[int]]
    alarm: asyncio.Event
    stops: Stops
    offers: Offers
    terms: TalkTerms
    on_fault: Callable[[BaseException], None] = _unheard


async def act(
    talks: Talks, workspace: str, session: str, decide: Decide[R], *, fence: int | None = None
) -> Acted | R | None:
    """Do one step of a session, and tell its readers; raises as ``Sessions.act`` does.

    Readers are told without an ``await`` in between, so that they hear steps in their order.
    """
    at = talks.node.wall.unix_ms()
    done = await talks.sessions.act(workspace, session, decide, at=at, fence=fence)
    if isinstance(done, Acted):
        if done.events:
            talks.live.happened(workspace, session, done.events)
        if done.row.due_at is not None and done.row.due_at <= at:
            talks.alarm.set()
    return done
