"""The clients of a session: what they announce, and what of it the next run has (section 9).

An announcement is a client's heartbeat too. A client that is silent for 60 s takes what it
announced with it; one that holds a call loses that after 30 s (``client_calls``).
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.documents.canonical import compact_json
from remit.errors import InvalidRequest
from remit.gateway.announcements import (
    Announcement,
    ClientTool,
    ClientWidget,
    InvalidAnnouncement,
    loaded,
    read_announcement,
)
from remit.gateway.attending import seen
from remit.gateway.clients import ClientRow
from remit.gateway.conversing import Step
from remit.gateway.session_rules import closed
from remit.gateway.talks import act
from remit.policy.catalogs import over_ceiling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.catalog.model import Tool
    from remit.gateway.acting import Actor
    from remit.gateway.conversing import SessionRow, Settings
    from remit.gateway.talks import Talks

__all__ = [
    "ATTACHED_MS",
    "LEASE_MS",
    "Announced",
    "Announcement",
    "ClientTool",
    "ClientWidget",
    "InvalidAnnouncement",
    "LeftOut",
    "announce",
    "announced",
    "ceiling_of",
    "detach",
]

#: A client that is silent for so long is not there for the calls that it holds.
LEASE_MS = 30_000
#: A client that is silent for so long takes its announcement with it.
ATTACHED_MS = 60_000
#: Clients of one session at once.
MAX_CLIENTS = 32
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HIGHEST = Ceiling(category=Category.ACTION, danger_level=DangerLevel.DESTRUCTIVE)


class LeftOut(Struct, frozen=True, kw_only=True):
    """A tool or widget that a client announced and that is not offered, and why."""

    name: str
    reason: str


class Announced(Struct, frozen=True, kw_only=True):
    """What the clients of a session bring to a run; each name once, in a stable order."""

    tools: tuple[ClientTool, ...]
    widgets: tuple[ClientWidget, ...]
    left_out: tuple[LeftOut, ...] = ()


class Lease(Struct, frozen=True, kw_only=True):
    """A client is attached.

    Attributes:
        lease_ms: how long it is believed to be there; it repeats itself well before.
        left_out: what of its announcement this session does not offer.
    """

    lease_ms: int
    left_out: tuple[LeftOut, ...]


async def announce(
    talks: Talks, actor: Actor, session: str, client: str, given: Announcement
) -> Lease:
    """Attach a client with what it announces; repeated, it is its heartbeat.

    Args:
        talks: of this node.
        actor: who may see the session.
        session: its id.
        client: the client's own id: 1 to 64 letters, digits, ``-`` and ``_``.
        given: what it has; it takes the place of what it had before, from the next run on.

    Raises:
        NotFound: no such session.
        SessionClosed: nothing happens in it any more.
        InvalidRequest: the client's id is none, or too many clients are attached.
        InvalidAnnouncement: with every mistake.
    """
    row = await seen(talks, actor, session)
    if row.status == "closed":
        raise closed(row)
    _checked_client(client)
    now, text, clients = await talks.now_ms(), given.text(), talks.clients
    known = await clients.client(row.workspace, session, client)
    same = known is not None and known.announced_json == text and known.device == actor.device
    if same and await clients.seen(row.workspace, session, client, at=now):
        return _lease(row, text)
    await asyncio.to_thread(_checked, given, text)
    if known is None:
        await _make_room(talks, row, now)
    before = None if known is None else loaded(known.announced_json).context
    await clients.announce(
        row.workspace,
        ClientRow(
            workspace=row.workspace,
            session=session,
            client=client,
            announced_json=text,
            first_at=now,
            seen_at=now,
            device=actor.device,
        ),
    )
    if given.context is not None and given.context != before:
        await _looks_at(talks, row, compact_json(given.context))
    return _lease(row, text)


async def detach(talks: Talks, actor: Actor, session: str, client: str) -> None:
    """A client goes; what it announced goes with it. Again is harmless.

    A call that it holds is its own until it was silent for ``LEASE_MS``: its result may be on
    the way.

    Raises:
        NotFound: no such session.
        InvalidRequest: the client's id is none.
    """
    row = await seen(talks, actor, session)
    _checked_client(client)
    clients = talks.clients
    known = await clients.client(row.workspace, session, client)
    if known is None:
        return
    held = await clients.open_calls(row.workspace, session)
    if any(call.client == client for call in held):
        nothing = structs.replace(
            known, announced_json=Announcement().text(), seen_at=await talks.now_ms()
        )
        await clients.announce(row.workspace, nothing)
    else:
        await clients.detach(row.workspace, session, client)


async def announced(talks: Talks, row: SessionRow) -> Announced:
    """What the clients that are there bring to a run that begins now.

    Of two clients that announce one name with different schemas the one counts that sent the
    message, else the one seen last. Where they agree on the schema the stricter judgement holds.
    """
    since = await talks.now_ms() - ATTACHED_MS
    rows = await talks.clients.attached(row.workspace, row.id, since=since)
    found = [loaded(one.announced_json) for one in by_preference(rows, row.task.client)]
    left: dict[str, str] = {}
    tools: dict[str, ClientTool] = {}
    for tool in (tool for one in found for tool in one.tools):
        if (why := _left_out(tool, row.settings)) is not None:
            left.setdefault(tool.name, why)
        elif (first := tools.setdefault(tool.name, tool)) is not tool:
            if first.schema_digest == tool.schema_digest:
                tools[tool.name] = _stricter(first, tool)
            else:
                left.setdefault(tool.name, "another client announces it with another schema")
    widgets: dict[str, ClientWidget] = {}
    for widget in (widget for one in found for widget in one.widgets):
        widgets.setdefault(widget.name, widget)
    return Announced(
        tools=tuple(tools[name] for name in sorted(tools)),
        widgets=tuple(widgets[name] for name in sorted(widgets)),
        left_out=tuple(LeftOut(name=name, reason=why) for name, why in sorted(left.items())),
    )


def _lease(row: SessionRow, text: str) -> Lease:
    found = [(tool.name, _left_out(tool, row.settings)) for tool in loaded(text).tools]
    left = tuple(LeftOut(name=name, reason=why) for name, why in found if why is not None)
    return Lease(lease_ms=LEASE_MS, left_out=left)


def by_preference(rows: Iterable[ClientRow], wanted: str | None) -> list[ClientRow]:
    """Clients that are there, the wanted one first, then the one seen last."""
    return sorted(rows, key=lambda one: (one.client != wanted, -one.seen_at, one.client))


def ceiling_of(settings: Settings) -> Ceiling:
    """The ceiling of what clients announce; where the session has none it is the highest."""
    given = settings.client_ceiling
    if given is None:
        return _HIGHEST
    return Ceiling(category=Category(given.category), danger_level=DangerLevel(given.danger_level))


def _left_out(tool: ClientTool, settings: Settings) -> str | None:
    """Why a tool is not offered in a session, or None."""
    if settings.client_tools is not None and tool.name not in settings.client_tools:
        return "the session was made without it (clientTools)"
    return over_ceiling(tool.tool, ceiling_of(settings))


def _stricter(first: ClientTool, other: ClientTool) -> ClientTool:
    one, two = first.tool, other.tool
    tool: Tool = replace(
        one,
        category=max(one.category, two.category),
        danger_level=max(one.danger_level, two.danger_level),
        requires_approval=one.requires_approval or two.requires_approval,
        idempotent=one.idempotent and two.idempotent,
        timeout_ms=min(one.timeout_ms, two.timeout_ms),
    )
    return structs.replace(first, tool=tool)


async def _make_room(talks: Talks, row: SessionRow, now: int) -> None:
    """Forget clients that are long gone, so that tabs which come and go leave nothing behind.

    Raises:
        InvalidRequest: there are too many.
    """
    clients = talks.clients
    known = await clients.attached(row.workspace, row.id, since=0)
    gone = [one for one in known if now - one.seen_at >= ATTACHED_MS]
    if len(known) - len(gone) >= MAX_CLIENTS:
        raise InvalidRequest(
            f"{MAX_CLIENTS} clients are attached to this session. Detach one, or wait a minute."
        )
    for one in gone:
        await clients.detach(row.workspace, row.id, one.client)


async def _looks_at(talks: Talks, row: SessionRow, context: str) -> None:
    """The user looks at something else: the newest is what the model gets."""

    def decide(now: SessionRow) -> Step | None:
        if now.status == "closed":
            return None
        return Step(task=structs.replace(now.task, context=context))

    await act(talks, row.workspace, row.id, decide)


def _checked(given: Announcement, text: str) -> None:
    """Check an announcement, and remember it as it is kept; away from the loop: it takes a while.

    Raises:
        InvalidAnnouncement: with every mistake.
    """
    read_announcement(given)
    loaded(text)


def _checked_client(client: str) -> None:
    if not _CLIENT.fullmatch(client):
        raise InvalidRequest(
            "A client's id has 1 to 64 letters, digits, - and _. Make a random one for each tab."
        )
