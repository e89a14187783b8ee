"""Calls, their records, and what they wait for (contract sections 9 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import Forbidden, InvalidRequest, StaleDigest
from remit.gateway import answering, sessions
from remit.gateway.acting import checked_user, no_such
from remit.gateway.asking import input_json
from remit.gateway.journal import as_shown
from remit.gateway.ledger import AnsweredOtherwise, CallFilter, InputFilter
from remit.gateway.ledger import StaleDigest as Stale
from remit.gateway.resting import record_of
from remit.web import bodies, shapes
from remit.web.answers import Answer, listed, said
from remit.web.problems import problem
from remit.web.refusals import AnsweredBefore
from remit.web.route import ALL, ANYBODY, TALKERS, Request, Route

if TYPE_CHECKING:
    from remit.gateway.answering import Decision
    from remit.gateway.ledger import CallRow, InputRow

#: What a call that has not ended is told as (contract section 10).
_OPEN = {
    "planned": "sending",
    "await_input": "waiting_human",
    "await_client": "waiting_client",
    "sending": "sending",
    "polling": "polling",
}


async def list_calls(request: Request[None, bodies.CallsQuery]) -> Answer:
    """The call records, the newest first."""
    query = request.query
    page = await request.services.node.calls.list(
        request.workspace,
        CallFilter(
            app=query.app,
            tool=query.tool,
            user=_own(request, query.user),
            session=query.session,
            outcome=query.outcome,
            category=query.category,
            danger_level=query.danger_level,
            since=bodies.at_ms(query.since),
            until=bodies.at_ms(query.until),
        ),
        limit=query.limit,
        cursor=query.cursor,
    )
    return listed([_record(row) for row in page.items if _sees(request, row)], page.next)


async def read_call(request: Request[None, bodies.NoQuery]) -> Answer:
    """One call record."""
    call = request.params["call"]
    row = await request.services.node.calls.get(request.workspace, call)
    if row is None or not _sees(request, row):
        raise no_such("call", call)
    return said(_record(row))


async def list_inputs(request: Request[None, bodies.InputsQuery]) -> Answer:
    """What waits, or waited, for a person."""
    query = request.query
    page = await request.services.node.inputs.list(
        request.workspace,
        InputFilter(
            status=query.status,
            user=_own(request, query.user),
            app=query.app,
            session=query.session,
        ),
        limit=query.limit,
        cursor=query.cursor,
    )
    return listed([input_json(row) for row in page.items if _sees(request, row)], page.next)


async def read_input(request: Request[None, bodies.NoQuery]) -> Answer:
    """One input."""
    return said(input_json(await _input(request, request.params["input"])))


async def answer_input(request: Request[bodies.AnswerBody, bodies.NoQuery]) -> Answer:
    """A person's answer."""
    return await _answered(request, request.params["input"], request.body)


async def answer_in_session(request: Request[bodies.AnswerBody, bodies.NoQuery]) -> Answer:
    """The same act, where the session is named."""
    row = await _input(request, request.params["input"])
    _of_session(row, request.params["session"])
    return await _answered(request, row.id, request.body)


async def resume_chat(request: Request[bodies.ResumeBody, bodies.NoQuery]) -> Answer:
    """The same act, with the session and the input in the body."""
    row = await _input(request, request.body.input_id)
    _of_session(row, request.body.thread_id)
    return await _answered(request, row.id, request.body)


async def _answered(request: Request[Any, Any], input_id: str, body: bodies.AnswerBody) -> Answer:
    services = request.services
    given = answering.Answer(
        decision=_decision(body),
        press=body.press or "",
        note=body.note,
        digest=body.digest,
        remember=body.remember is not None,
        user=body.user,
        # A client of a session is what its user holds in hand; an agent gets no such token.
        in_person=request.actor.role == "client",
    )
    result = await answering.answer(services.node, request.actor, input_id, given)
    await sessions.answered(services.talks, request.actor, result)
    stands: dict[str, object] = {"input": input_json(result.input)}
    request_id = services.books.fresh.fresh_id("req")
    if isinstance(result, AnsweredOtherwise):
        why = await answering.closed_by(services.node, result.input)
        error = AnsweredBefore(f"{why} It stands below.")
        return problem(error, request_id, more=stands)
    if isinstance(result, Stale):
        stale = StaleDigest(
            "The request is not the one that was shown. Look at it again, then answer."
        )
        return problem(stale, request_id, more=stands)
    return said(stands["input"])


def _decision(body: bodies.AnswerBody) -> Decision:
    """The one answer that a body gives.

    Raises:
        InvalidRequest: it gives none or several.
    """
    given = [
        name
        for name, value in (
            ("decision", body.decision),
            ("press", body.press),
            ("skip", body.skip),
            ("cancel", body.cancel),
        )
        if value is not None
    ]
    if len(given) != 1:
        raise InvalidRequest(
            "An answer is one of decision, press, skip and cancel; this body has "
            f"{' and '.join(given) or 'none of them'}. Send one."
        )
    if body.decision is not None:
        return body.decision
    if body.press is not None:
        return "press"
    return "skip" if body.skip is not None else "cancel"


async def _input(request: Request[Any, Any], input_id: str) -> InputRow:
    row = await request.services.node.inputs.get(request.workspace, input_id)
    if row is None or not _sees(request, row):
        raise no_such("input", input_id)
    return row


def _sees(request: Request[Any, Any], row: CallRow | InputRow) -> bool:
    """Whether it is for the caller's eyes: a token sees its own user, apps and session."""
    actor = request.actor
    return actor.speaks_for(row.user) and actor.reaches(row.app) and actor.attends(row.session)


def _of_session(row: InputRow, session: str) -> None:
    if row.session != session:
        raise no_such("input", row.id)


def _own(request: Request[Any, Any], user: str | None) -> str | None:
    """Whose rows a list holds; a token sees its own user's alone.

    Raises:
        Forbidden: a token asks for another user's.
        InvalidRequest: the user's id is none.
    """
    actor = request.actor
    if user is not None:
        checked_user(user)
    if not actor.is_token:
        return user
    if user is not None and not actor.speaks_for(user):
        raise Forbidden("This token speaks for one user, and sees no other's. Leave user out.")
    return actor.user


def _record(row: CallRow) -> dict[str, object]:
    """The record, with how far the call is where it has not ended."""
    record: dict[str, object] = {**as_shown(record_of(row))}
    if row.outcome is None:
        record["outcome"] = _OPEN[row.status]
    return record


_ANSWER = "Answer an input: the first answer decides"
ROUTES = (
    Route(
        name="callTool",
        method="POST",
        path="/v1/tools/{app}/{tool}/call",
        summary="Make a call for a user; Prefer: wait=<s> says how long an app is waited for",
        handler=None,
        roles=ALL,
        body=bodies.CallBody,
        answer=shapes.CallAnswer,
        other_statuses=(202,),
    ),
    Route(
        name="listCalls",
        method="GET",
        path="/v1/calls",
        summary="List call records, the newest first; a token sees its own user's",
        handler=list_calls,
        roles=ALL,
        query=bodies.CallsQuery,
        answer=dict[str, Any],
        lists=True,
    ),
    Route(
        name="readCall",
        method="GET",
        path="/v1/calls/{call}",
        summary="Read a call record",
        handler=read_call,
        roles=ALL,
        answer=dict[str, Any],
    ),
    Route(
        name="listInputs",
        method="GET",
        path="/v1/inputs",
        summary="List what waits for a person; a token sees its own user's",
        handler=list_inputs,
        roles=ALL,
        query=bodies.InputsQuery,
        answer=dict[str, Any],
        lists=True,
    ),
    Route(
        name="readInput",
        method="GET",
        path="/v1/inputs/{input}",
        summary="Read an input",
        handler=read_input,
        roles=ANYBODY,
        answer=dict[str, Any],
    ),
    Route(
        name="answerInput",
        method="POST",
        path="/v1/inputs/{input}/answer",
        summary=_ANSWER,
        handler=answer_input,
        roles=TALKERS,
        unfit=answering.NO_AGENT,
        body=bodies.AnswerBody,
        answer=dict[str, Any],
    ),
    Route(
        name="answerInSession",
        method="POST",
        path="/v1/sessions/{session}/human-input/{input}",
        summary=f"{_ANSWER}; the same as answerInput",
        handler=answer_in_session,
        roles=TALKERS,
        unfit=answering.NO_AGENT,
        body=bodies.AnswerBody,
        answer=dict[str, Any],
    ),
    Route(
        name="resumeChat",
        method="POST",
        path="/chat/resume",
        summary=f"{_ANSWER}; the same as answerInput",
        handler=resume_chat,
        roles=TALKERS,
        unfit=answering.NO_AGENT,
        body=bodies.ResumeBody,
        answer=dict[str, Any],
    ),
)
