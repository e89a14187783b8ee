"""Clients of a session, and the calls that they execute (contract section 9, "Client tools")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UnsetType

from remit.errors import InvalidRequest
from remit.gateway import announcing, claiming
from remit.gateway.announcements import Announcement
from remit.gateway.claiming import ClientFault, Result
from remit.web import bodies, session_bodies, session_shapes
from remit.web.answers import Answer, nothing, said
from remit.web.route import TALKERS, Request, Route

if TYPE_CHECKING:
    from remit.web.session_bodies import AnnounceBody, ClaimBody, ResultBody

#: Over what a result may have, which ends its call in words, and is told to the model.
MAX_RESULT_BYTES = 2 * 1024 * 1024


async def announce(request: Request[AnnounceBody, bodies.NoQuery]) -> Answer:
    """Attach a client with what it can do; repeated, it is its heartbeat."""
    body, params = request.body, request.params
    given = Announcement(tools=tuple(body.tools), widgets=tuple(body.widgets), context=body.context)
    lease = await announcing.announce(
        request.services.talks, request.actor, params["session"], params["client"], given
    )
    left = [session_shapes.LeftOutAnswer(name=o.name, reason=o.reason) for o in lease.left_out]
    return said(session_shapes.LeaseAnswer(lease_ms=lease.lease_ms, left_out=left or None))


async def detach(request: Request[None, bodies.NoQuery]) -> Answer:
    """A client goes."""
    params = request.params
    await announcing.detach(
        request.services.talks, request.actor, params["session"], params["client"]
    )
    return nothing()


async def claim(request: Request[ClaimBody, bodies.NoQuery]) -> Answer:
    """Take a call: of several clients one gets it."""
    params = request.params
    found = await claiming.claim(
        request.services.talks,
        request.actor,
        params["session"],
        params["call"],
        request.body.client_id,
    )
    return said(
        session_shapes.ClaimAnswer(
            claim=found.claim,
            tool=found.tool,
            args=found.args,
            timeout_ms=found.timeout_ms,
            app=found.app,
            handler=found.handler,
        )
    )


async def give_result(request: Request[ResultBody, bodies.NoQuery]) -> Answer:
    """End a call that the client had claimed."""
    params = request.params
    await claiming.result(
        request.services.talks,
        request.actor,
        params["session"],
        params["call"],
        _result(request.body),
    )
    return nothing()


def _result(body: ResultBody) -> Result:
    """Without a result and an error it is null: so JavaScript sends ``undefined``.

    Raises:
        InvalidRequest: both stand there.
    """
    if isinstance(body.error, UnsetType):
        value = None if isinstance(body.result, UnsetType) else body.result
        return Result(claim=body.claim, value=value)
    if not isinstance(body.result, UnsetType):
        raise InvalidRequest("A call has a result or an error. Send one of them.")
    return Result(
        claim=body.claim, error=ClientFault(message=body.error.message, code=body.error.code)
    )


_CLIENT = "/v1/sessions/{session}/clients/{client}"
_CALL = "/v1/sessions/{session}/calls/{call}"
ROUTES = (
    Route(
        name="announceClient",
        method="PUT",
        path=_CLIENT,
        summary="Attach a client with its tools and widgets; repeated, it is its heartbeat",
        handler=announce,
        roles=TALKERS,
        body=session_bodies.AnnounceBody,
        answer=session_shapes.LeaseAnswer,
    ),
    Route(
        name="detachClient",
        method="DELETE",
        path=_CLIENT,
        summary="Detach a client: its tools and widgets go with it",
        handler=detach,
        roles=TALKERS,
        status=204,
    ),
    Route(
        name="claimCall",
        method="POST",
        path=f"{_CALL}/claim",
        summary="Take a call of a client's tool: of several clients one gets it",
        handler=claim,
        roles=TALKERS,
        body=session_bodies.ClaimBody,
        answer=session_shapes.ClaimAnswer,
        # Its arguments are whole, secret ones included.
        seals=True,
    ),
    Route(
        name="giveResult",
        method="POST",
        path=f"{_CALL}/result",
        summary="End a call that was claimed, with its result or an error",
        handler=give_result,
        roles=TALKERS,
        body=session_bodies.ResultBody,
        status=204,
        max_body_bytes=MAX_RESULT_BYTES,
    ),
)
