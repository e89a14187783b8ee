"""The use cases of a session: made, read, changed, spoken to, stopped, closed, erased (section 9).

Each is one step of its row (``talks.act``); what follows from it, the run, is the runner's.
Somebody else's session is not there: the answer is that of an unknown id.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType, structs

from remit.errors import NoModel, RemitError, SessionClosed
from remit.gateway import acting
from remit.gateway.acting import checked_user, no_such
from remit.gateway.admitting import require
from remit.gateway.answering import withdraw
from remit.gateway.attending import seen
from remit.gateway.client_stopping import stop_all
from remit.gateway.conversing import Acted, Queued, SessionRow, Settings, Step, Task
from remit.gateway.devices import require_registered
from remit.gateway.ledger import Answered, InputFilter
from remit.gateway.session_apps import AppAsked, Pinned, apps_of, sealed_pins
from remit.gateway.session_repeats import REMEMBERED, Accepted, id_of, taken
from remit.gateway.session_rules import (
    checked_context,
    checked_instructions,
    checked_text,
    closed,
    dropped,
    left_open,
    refused,
    resolved,
    title_of,
)
from remit.gateway.talks import act
from remit.session.events import Message, SessionStarted, StatusChanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.gateway.acting import Actor
    from remit.gateway.conversing import Ceiling, SessionFilter
    from remit.gateway.ledger import InputRow
    from remit.gateway.recording import AnswerResult
    from remit.gateway.records import Page
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject, JsonValue


class NewSession(Struct, frozen=True, kw_only=True):
    """What a session is made of.

    Attributes:
        tools: globs of what of the apps is offered; None is all.
        pins: for every tool of every app.
        client_tools: the only names that clients may announce; None is any.
        reference: of the request; with the same one it is made once. Empty for none.
    """

    apps: tuple[AppAsked, ...] = ()
    user: str
    tools: tuple[str, ...] | None = None
    pins: JsonObject | None = None
    device: str | None = None
    model: str | None = None
    instructions: str | None = None
    client_ceiling: Ceiling | None = None
    client_tools: tuple[str, ...] | None = None
    reference: str = ""


class Patch(Struct, frozen=True, kw_only=True):
    """What changes from the next run on; ``UNSET`` stays."""

    apps: tuple[AppAsked, ...] | UnsetType = UNSET
    pins: JsonObject | UnsetType = UNSET
    instructions: str | UnsetType | None = UNSET


class Reading(Struct, frozen=True, kw_only=True):
    """A session with its open inputs."""

    row: SessionRow
    inputs: tuple[InputRow, ...] = ()


class Said(Struct, frozen=True, kw_only=True):
    """A message of the user.

    Attributes:
        context: what they are looking at.
        queue: it may wait for the run that goes on.
        withdraw: open inputs are cancelled, and the conversation goes on with it.
        client: which client sent it.
        reference: of the request; with the same one it is taken once. Empty for none.
    """

    text: str
    context: JsonObject | None = None
    queue: bool = False
    withdraw: bool = False
    client: str | None = None
    reference: str = ""


async def create(talks: Talks, actor: Actor, asked: NewSession) -> SessionRow:
    """Make a session.

    Raises:
        Forbidden: a token may not.
        NotFound: an app that is not there.
        InvalidRequest: something in it cannot be used: the model's name, or a device that its
            user does not have.
    """
    require(actor, "operator", "backend")
    checked_user(asked.user)
    checked_instructions(asked.instructions)
    model = talks.models.find(asked.model)
    workspace = actor.workspace
    if asked.device is not None:
        await require_registered(talks.node.devices, workspace, asked.user, asked.device)
    apps, pinned = await apps_of(talks, workspace, asked.apps, asked.pins or {})
    node = talks.node
    session_id, now = id_of(talks, "ses", asked.reference), node.wall.unix_ms()
    if asked.reference and (made := await talks.sessions.get(workspace, session_id)) is not None:
        # By one that died before it answered.
        return made
    row = SessionRow(
        workspace=workspace,
        id=session_id,
        user=asked.user,
        created_at=now,
        updated_at=now,
        settings=Settings(
            apps=apps,
            pins=tuple(sorted(pinned.pins)),
            tools=asked.tools,
            model=asked.model,
            instructions=asked.instructions,
            client_ceiling=asked.client_ceiling,
            client_tools=asked.client_tools,
            device=asked.device,
        ),
        sealed=await sealed_pins(node, workspace, asked.user, session_id, pinned),
    )
    started = SessionStarted(
        apps=tuple(app.ref for app in apps),
        user=asked.user,
        pins=tuple(sorted(pinned.names)),
        model=None if model is None else model.name,
    )
    detail: JsonObject = {"user": row.user, "apps": [f"{app.id}/{app.version}" for app in apps]}
    entry = acting.act(talks.books, actor, "session.created", f"session/{session_id}", detail)
    try:
        done = await talks.sessions.make(workspace, row, (started,), act=entry)
    except RemitError:
        # This one was stopped in the middle, and a repeat made it elsewhere meanwhile.
        made = await talks.sessions.get(workspace, session_id) if asked.reference else None
        if made is None:
            raise
        return made
    return done.row


async def read(talks: Talks, actor: Actor, session: str) -> Reading:
    """A session with what it waits for; raises as ``seen`` does."""
    return await _reading(talks, await seen(talks, actor, session))


async def listed(
    talks: Talks,
    actor: Actor,
    which: SessionFilter,
    *,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[SessionRow]:
    """The sessions of the workspace.

    Raises:
        Forbidden: a token may not.
    """
    require(actor, "operator", "backend")
    return await talks.sessions.list(actor.workspace, which, limit=limit, cursor=cursor)


async def patch(talks: Talks, actor: Actor, session: str, change: Patch) -> Reading:
    """Change pins, instructions and apps from the next run on; frozen calls keep theirs.

    Raises:
        Forbidden: a token may not.
        NotFound, InvalidRequest, SessionClosed: as their names say.
    """
    require(actor, "operator", "backend")
    row = await seen(talks, actor, session)
    if change.instructions is not UNSET:
        checked_instructions(change.instructions)
    pinned = await Pinned.opened(talks.node, row)
    apps, pinned = await pinned.changed(talks, row, change.apps, change.pins)
    sealed = await sealed_pins(talks.node, row.workspace, row.user, row.id, pinned)
    changed: list[JsonValue] = [
        name for name, value in structs.asdict(change).items() if value is not UNSET
    ]
    detail: JsonObject = {"changed": changed}
    entry = acting.act(talks.books, actor, "session.changed", f"session/{session}", detail)

    def decide(now: SessionRow) -> Step | RemitError:
        if now.status == "closed":
            return closed(now)
        settings = structs.replace(now.settings, apps=apps, pins=tuple(sorted(pinned.pins)))
        if change.instructions is not UNSET:
            settings = structs.replace(settings, instructions=change.instructions)
        return Step(settings=settings, sealed=sealed, act=entry)

    return await _reading(talks, _acted(await act(talks, row.workspace, session, decide), session))


async def say(talks: Talks, actor: Actor, session: str, said: Said) -> Accepted:
    """Take a message of the user: a run begins with it.

    Raises:
        NotFound, InvalidRequest: as their names say.
        SessionBusy, SessionWaiting: it neither waits (``queue``) nor takes back (``withdraw``).
        SessionClosed: the session is over.
        NoModel: there is nobody to answer.
    """
    row = await seen(talks, actor, session)
    message_id = id_of(talks, "msg", said.reference)
    if message_id in row.task.said:
        return await taken(talks, row, message_id)
    text, context = checked_text(said.text), checked_context(said.context)
    model = talks.models.find(row.settings.model)
    if model is None:
        raise NoModel(
            "No language model is set, so that nobody can answer. Set [model] name "
            "(REMIT_MODEL_NAME), and its key (REMIT_MODEL_API_KEY), and start again."
        )
    if said.withdraw:
        await hear(talks, await withdraw(talks.node, row.workspace, session=session))
    queued = Queued(
        message_id=message_id,
        run_id=talks.node.fresh.fresh_id("run"),
        text=text,
        context=context,
    )

    def decide(now: SessionRow) -> Step | RemitError | bool:
        if message_id in now.task.said:
            return True
        if (fault := refused(now, insists=said.queue or said.withdraw)) is not None:
            return fault
        task = structs.replace(
            now.task,
            queued=(*now.task.queued, queued),
            said=(*now.task.said, message_id)[-REMEMBERED:],
            client=said.client or now.task.client,
            device=actor.device or now.task.device,
            withdrawn=now.task.withdrawn or (said.withdraw and now.status != "idle"),
        )
        event = Message(message_id=queued.message_id, role="user", text=text, run_id=queued.run_id)
        title = now.title if now.title is not None else title_of(text)
        return Step(
            events=(event,), task=task, title=title, due_at=talks.node.wall.unix_ms(), wakes=True
        )

    done = await act(talks, row.workspace, session, decide)
    if isinstance(done, bool):
        return await taken(talks, row, message_id)
    _acted(done, session)
    first = done.events[0] if isinstance(done, Acted) else None
    return Accepted(queued.run_id, 0 if first is None else first.seq)


async def hear(talks: Talks, closed: Iterable[InputRow]) -> None:
    """Tell sessions at once that inputs of theirs were closed, and let somebody go on.

    Where this is not done, whoever works on the session next does it.
    """
    for one in closed:
        if one.session is None:
            continue

        def decide(now: SessionRow, one: InputRow = one) -> Step:
            if one.id not in now.state.inputs:
                return Step()
            return Step(events=(resolved(one, now.state.run),))

        await act(talks, one.workspace, one.session, decide)
    talks.alarm.set()


async def answered(talks: Talks, actor: Actor, result: AnswerResult) -> None:
    """Tell a session of an answer; Cancel on an action card stops the run, too."""
    closed = result.input
    if closed.session is None or closed.status == "open":
        return
    await hear(talks, [closed])
    stops = closed.kind == "action" and closed.status == "cancelled"
    if stops and isinstance(result, Answered):
        with suppress(SessionClosed):
            await cancel(talks, actor, closed.session)


async def cancel(talks: Talks, actor: Actor, session: str) -> Reading:
    """Stop the run: open inputs are closed, every call is settled, the session rests.

    Raises:
        NotFound, SessionClosed: as their names say.
    """
    row = await seen(talks, actor, session)
    await hear(talks, await withdraw(talks.node, row.workspace, session=session))
    entry = acting.act(talks.books, actor, "session.cancelled", f"session/{session}", {})

    def decide(now: SessionRow) -> Step | RemitError:
        if now.status == "closed":
            return closed(now)
        if now.status == "idle":
            return Step()
        unstarted = tuple(dropped(one.run_id) for one in now.task.queued)
        task = structs.replace(now.task, cancelled=True, queued=())
        due_at = talks.node.wall.unix_ms()
        return Step(events=unstarted, task=task, due_at=due_at, wakes=True, act=entry)

    done = await act(talks, row.workspace, session, decide)
    talks.stops.stop(row.workspace, session)
    return await _reading(talks, _acted(done, session))


async def close(talks: Talks, actor: Actor, session: str) -> Reading:
    """End a session: nothing happens in it any more; its log can be read.

    What has not been sent is not sent; a write in flight runs to its end and is recorded.

    Raises:
        NotFound: as its name says.
    """
    row = await seen(talks, actor, session)
    await hear(talks, await withdraw(talks.node, row.workspace, session=session))
    entry = acting.act(talks.books, actor, "session.closed", f"session/{session}", {})

    def decide(now: SessionRow) -> Step | RemitError:
        if now.status == "closed":
            return Step()
        events = [
            *left_open(now, why="The session was closed before this call ended."),
            *(dropped(run) for run in now.state.due),
        ]
        if now.state.run is not None:
            events.append(dropped(now.state.run))
        events.append(StatusChanged(status="closed"))
        return Step(events=tuple(events), task=Task(cancelled=True), due_at=None, act=entry)

    done = await act(talks, row.workspace, session, decide)
    talks.stops.stop(row.workspace, session)
    await withdraw(talks.node, row.workspace, session=session)
    await stop_all(talks, row)
    # Whoever reads is told by the log; nobody reads anew with an old token.
    await talks.books.keys.forget(row.workspace, session)
    return await _reading(talks, _acted(done, session))


async def erase(talks: Talks, actor: Actor, session: str) -> None:
    """Forget a session's text, arguments and results; the audit keeps ids, times and digests.

    Raises:
        Forbidden: a token may not.
        NotFound: as its name says.
    """
    require(actor, "operator", "backend")
    row = await seen(talks, actor, session)
    await close(talks, actor, session)
    entry = acting.act(talks.books, actor, "session.erased", f"session/{session}", {})
    await talks.sessions.erase(row.workspace, session, at=entry.at, act=entry)
    talks.live.end(row.workspace, session, "session_closed")


async def _reading(talks: Talks, row: SessionRow) -> Reading:
    if not row.state.inputs:
        return Reading(row=row)
    which = InputFilter(session=row.id, status="open")
    page = await talks.node.inputs.list(row.workspace, which, limit=500)
    return Reading(row=row, inputs=page.items)


def _acted(done: Acted | RemitError | None, session: str) -> SessionRow:
    """The row after a step.

    Raises:
        RemitError: why there was none.
    """
    if isinstance(done, RemitError):
        raise done
    if done is None:
        raise no_such("session", session)
    return done.row
