"""Sessions: made, read, spoken to, stopped (contract sections 9 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType, structs

from remit.gateway import admitting, sessions
from remit.gateway.acting import checked_user
from remit.gateway.conversing import Ceiling, SessionFilter
from remit.gateway.session_apps import AppAsked, ToolAsked
from remit.gateway.session_notes import notes_of
from remit.gateway.sessions import NewSession, Patch, Said
from remit.web import bodies, session_bodies, session_shapes
from remit.web.answers import Answer, listed, nothing, said
from remit.web.event_bytes import page_body
from remit.web.route import KEYS, TALKERS, Request, Route

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.gateway.admitting import Created
    from remit.gateway.conversing import SessionRow
    from remit.session.events import Event


# An event may have a few bytes or a megabyte: a part is cut short where it grows large.
_AT_ONCE = 50
_PAGE_CHARS = 2 * 1024 * 1024


async def create(request: Request[session_bodies.SessionBody, bodies.NoQuery]) -> Answer:
    """A new session, with the token of its client."""
    body, services = request.body, request.services
    ceiling = body.client_ceiling
    row = await sessions.create(
        services.talks,
        request.actor,
        NewSession(
            apps=_apps(body.apps),
            user=body.user,
            tools=None if body.tools is None else tuple(body.tools),
            pins=body.pins,
            device=body.device,
            model=body.model,
            instructions=body.instructions,
            client_ceiling=None
            if ceiling is None
            else Ceiling(category=ceiling.category, danger_level=ceiling.danger_level),
            client_tools=None if body.client_tools is None else tuple(body.client_tools),
            reference=request.reference,
        ),
    )
    made = await _token(request, row, body.device, None)
    return said(
        session_shapes.NewSession.of(
            row,
            inputs=[],
            notes=list(await notes_of(services.talks, row)) or None,
            client_token=made.secret.reveal(),
            expires_at=session_shapes.expiry(made),
        ),
        201,
    )


async def list_sessions(request: Request[None, session_bodies.SessionsQuery]) -> Answer:
    """The sessions of the workspace, the newest first."""
    query = request.query
    if query.user is not None:
        checked_user(query.user)
    page = await sessions.listed(
        request.services.talks,
        request.actor,
        SessionFilter(
            user=query.user,
            status=query.status,
            app=query.app,
            since=bodies.at_ms(query.since),
            until=bodies.at_ms(query.until),
        ),
        limit=query.limit,
        cursor=query.cursor,
    )
    return listed([session_shapes.SessionListed.of(row) for row in page.items], page.next)


async def read(request: Request[None, bodies.NoQuery]) -> Answer:
    """A session with what it waits for."""
    services = request.services
    reading = await sessions.read(services.talks, request.actor, request.params["session"])
    return said(session_shapes.SessionAnswer.read(reading))


async def patch(request: Request[session_bodies.SessionPatchBody, bodies.NoQuery]) -> Answer:
    """Change pins, instructions and apps from the next run on."""
    body = request.body
    change = Patch(
        apps=UNSET if isinstance(body.apps, UnsetType) else _apps(body.apps),
        pins=body.pins,
        instructions=body.instructions,
    )
    reading = await sessions.patch(
        request.services.talks, request.actor, request.params["session"], change
    )
    notes = await notes_of(request.services.talks, reading.row)
    answer = session_shapes.SessionAnswer.read(reading)
    return said(structs.replace(answer, notes=list(notes) or None))


async def erase(request: Request[None, bodies.NoQuery]) -> Answer:
    """Forget its text, arguments and results."""
    await sessions.erase(request.services.talks, request.actor, request.params["session"])
    return nothing()


async def close(request: Request[bodies.NoBody, bodies.NoQuery]) -> Answer:
    """Nothing happens in it any more."""
    reading = await sessions.close(request.services.talks, request.actor, request.params["session"])
    return said(session_shapes.SessionAnswer.read(reading))


async def send_message(request: Request[session_bodies.MessageBody, bodies.NoQuery]) -> Answer:
    """Take what the user says; the run goes on after the answer."""
    body = request.body
    accepted = await sessions.say(
        request.services.talks,
        request.actor,
        request.params["session"],
        Said(
            text=body.text,
            context=body.context,
            queue=body.queue,
            withdraw=body.withdraw,
            client=body.client_id,
            reference=request.reference,
        ),
    )
    return said(session_shapes.Accepted(run_id=accepted.run_id, seq=accepted.seq), 202)


async def cancel(request: Request[bodies.NoBody, bodies.NoQuery]) -> Answer:
    """Stop the run."""
    reading = await sessions.cancel(
        request.services.talks, request.actor, request.params["session"]
    )
    return said(session_shapes.SessionAnswer.read(reading))


async def make_token(request: Request[bodies.ClientTokenBody, bodies.NoQuery]) -> Answer:
    """Another token: for a reload, a second tab, a second device."""
    body, services = request.body, request.services
    row = await sessions.seen(services.talks, request.actor, request.params["session"])
    # Not the session's own where none is named: the token may be for another one.
    made = await _token(request, row, body.device, body.ttl_s)
    shape = session_shapes.ClientToken(
        client_token=made.secret.reveal(), expires_at=session_shapes.expiry(made)
    )
    return said(shape, 201)


async def read_events(request: Request[None, session_bodies.EventsQuery]) -> Answer:
    """A part of the log, as JSON."""
    query, services = request.query, request.services
    row = await sessions.seen(services.talks, request.actor, request.params["session"])
    events: list[Event] = []
    last, chars = query.after, 0
    while len(events) < query.limit and chars < _PAGE_CHARS:
        wanted = min(_AT_ONCE, query.limit - len(events))
        part = await services.talks.sessions.events(row.workspace, row.id, after=last, limit=wanted)
        events += part
        chars += sum(len(event.data_json) for event in part)
        last = events[-1].seq if events else last
        if len(part) < wanted:
            break
    return Answer(body=page_body(events, last if events and last < row.head_seq else None))


async def _token(
    request: Request[Any, Any], row: SessionRow, device: str | None, ttl_s: int | None
) -> Created:
    services = request.services
    return await admitting.create_client_token(
        services.books,
        request.actor,
        session=row.id,
        user=row.user,
        device=device,
        ttl_s=ttl_s or services.talks.terms.token_ttl_s,
    )


def _apps(asked: Iterable[session_bodies.SessionAppBody | str]) -> tuple[AppAsked, ...]:
    return tuple(
        AppAsked(id=app)
        if isinstance(app, str)
        else AppAsked(
            id=app.id,
            pins=app.pins,
            tools={name: ToolAsked(pins=tool.pins) for name, tool in app.tools.items()},
        )
        for app in asked
    )


_SESSION = "/v1/sessions/{session}"
#: ``stream`` answers it where no JSON is asked for.
EVENTS = Route(
    name="readEvents",
    method="GET",
    path=f"{_SESSION}/events",
    summary="Follow the log as server-sent events, or read a part of it as JSON",
    handler=read_events,
    roles=TALKERS,
    query=session_bodies.EventsQuery,
    answer=session_shapes.EventsAnswer,
    media=("application/json", "text/event-stream"),
)
ROUTES = (
    Route(
        name="createSession",
        method="POST",
        path="/v1/sessions",
        summary="Make a session of one user with an agent; its client token is shown once",
        handler=create,
        roles=KEYS,
        body=session_bodies.SessionBody,
        answer=session_shapes.NewSession,
        status=201,
        seals=True,
        finds=True,
    ),
    Route(
        name="listSessions",
        method="GET",
        path="/v1/sessions",
        summary="List sessions, the newest first",
        handler=list_sessions,
        roles=KEYS,
        query=session_bodies.SessionsQuery,
        answer=session_shapes.SessionListed,
        lists=True,
    ),
    Route(
        name="readSession",
        method="GET",
        path=_SESSION,
        summary="Read a session and the inputs that are open in it",
        handler=read,
        roles=TALKERS,
        answer=session_shapes.SessionAnswer,
    ),
    Route(
        name="changeSession",
        method="PATCH",
        path=_SESSION,
        summary="Change pins, instructions and apps from the next run on",
        handler=patch,
        roles=KEYS,
        body=session_bodies.SessionPatchBody,
        answer=session_shapes.SessionAnswer,
    ),
    Route(
        name="eraseSession",
        method="DELETE",
        path=_SESSION,
        summary="Erase the text, arguments and results of a session; ids, times and digests stay",
        handler=erase,
        roles=KEYS,
        status=204,
    ),
    Route(
        name="closeSession",
        method="POST",
        path=f"{_SESSION}/close",
        summary="Close a session: nothing happens in it any more",
        handler=close,
        roles=KEYS,
        body=bodies.NoBody,
        answer=session_shapes.SessionAnswer,
    ),
    Route(
        name="sendMessage",
        method="POST",
        path=f"{_SESSION}/messages",
        summary="Say something: the agent's run begins with it",
        handler=send_message,
        roles=TALKERS,
        body=session_bodies.MessageBody,
        answer=session_shapes.Accepted,
        status=202,
        finds=True,
    ),
    Route(
        name="cancelRun",
        method="POST",
        path=f"{_SESSION}/cancel",
        summary="Stop the run: what was not sent is not sent, open inputs are closed",
        handler=cancel,
        roles=TALKERS,
        body=bodies.NoBody,
        answer=session_shapes.SessionAnswer,
    ),
    Route(
        name="createClientToken",
        method="POST",
        path=f"{_SESSION}/tokens",
        summary="Make another token of the session's client; it is shown once",
        handler=make_token,
        roles=KEYS,
        body=bodies.ClientTokenBody,
        answer=session_shapes.ClientToken,
        status=201,
        seals=True,
    ),
    EVENTS,
)
