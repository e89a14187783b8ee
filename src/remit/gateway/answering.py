"""The use cases of an input: answered, withdrawn (contract section 9, "Inputs").

The first answer decides. What follows from it runs in a task of the node; should the node die
before, another one takes the call up. An answer in a session makes that due too, which then hears
of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.documents.canonical import canonical_json
from remit.errors import Forbidden, InvalidRequest
from remit.gateway.acting import checked_user, no_such
from remit.gateway.action_inputs import refuse_press
from remit.gateway.asking import asked_of
from remit.gateway.ledger import SYSTEM, Answered, AnsweredOtherwise, InputAnswer
from remit.gateway.records import AuditEntry
from remit.gateway.resting import record_of
from remit.gateway.resuming import go_on
from remit.policy.decisions import may_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.gateway.acting import Actor
    from remit.gateway.ledger import InputKind, InputRow, InputStatus
    from remit.gateway.node import Node
    from remit.gateway.recording import AnswerResult
    from remit.values.json import JsonObject

MAX_NOTE = 2_000
#: What the holder of a token is told, who is an agent as far as anybody knows.
NO_AGENT = (
    "This token speaks for an agent, and an agent cannot answer what asks for a person. Send the "
    "answer with your back end's key and the person's id as \"user\", or with an operator's key."
)
Decision = Literal["approve", "deny", "cancel", "press", "skip"]
_STATUS_OF: Mapping[Decision, InputStatus] = {
    "approve": "approved",
    "deny": "denied",
    "cancel": "cancelled",
    "press": "answered",
    "skip": "skipped",
}
#: What each kind of input can be answered with; a connect input is answered by connecting.
_TAKEN: Mapping[InputKind, frozenset[Decision]] = {
    "approval": frozenset({"approve", "deny", "cancel"}),
    "connect": frozenset({"deny", "cancel"}),
    "action": frozenset({"press", "skip", "cancel"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What somebody answers.

    Attributes:
        note: for the agent, with a no.
        digest: of the request that was shown; None holds for whatever the input has.
        remember: a yes holds for further calls of that tool in the session.
        press: id of the button, with ``press``.
        user: for whom a key answers; a ``backend`` key has to say.
        in_person: whether a token is held by the user's own client, not by an agent.
    """

    decision: Decision
    note: str = ""
    digest: str | None = None
    remember: bool = False
    press: str = ""
    user: str | None = None
    in_person: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    """Who answers, as the rules see it and as it is recorded."""

    is_user: bool
    is_operator: bool
    label: str


def _takes(row: InputRow) -> str:
    """What an input can be answered with, for somebody who answered otherwise."""
    if row.kind == "connect":
        return (
            f"This input waits until {row.user} is connected to {row.app}: "
            f"PUT /v1/connections/{row.app}/{row.user}. The call then goes on by itself. To go on "
            "without it, deny or cancel it."
        )
    if row.kind == "action":
        return (
            'Press one of its buttons with {"press": "<id>"}, go on without it with '
            '{"skip": true}, or stop the run with {"cancel": true}.'
        )
    return (
        'Answer it with {"decision": "approve"} or "deny", or take the call back with '
        '{"cancel": true}.'
    )


async def answer(node: Node, actor: Actor, input_id: str, given: Answer) -> AnswerResult:
    """Answer an input.

    Args:
        node: which goes on with the call.
        actor: who holds the key or token; in its own workspace.
        input_id: of the input.
        given: the answer.

    Returns:
        Whether this answer decided, repeats the one that did, came too late, or was given for
        another request than the input's; always with the input as it stands.

    Raises:
        Forbidden: the actor is nobody whom this input asks.
        InvalidRequest: the note is too long, the user's id is none, or this answer cannot be
            remembered.
        NotFound: there is no such input in the workspace, or in the one session of the actor.
        StoreUnavailable: it is not known whether the answer was kept; answer again.
    """
    workspace = actor.workspace
    if len(given.note) > MAX_NOTE:
        raise InvalidRequest(f"The note is longer than {MAX_NOTE:,} characters. Shorten it.")
    if given.user is not None:
        # " ana" is nobody else than ana: people are told apart by these very ids.
        checked_user(given.user)
    row = await node.inputs.get(workspace, input_id)
    if row is None or not actor.attends(row.session):
        raise no_such("input", input_id)
    if given.decision not in _TAKEN[row.kind]:
        raise InvalidRequest(
            f"An input of kind {row.kind} takes no {given.decision}. {_takes(row)}"
        )
    person = _person(actor, row, given)
    _refuse_stranger(row, person, given)
    if given.decision == "press":
        refuse_press(row, given.press, actor.device)
    _refuse_remembering(row, given)
    at = node.wall.unix_ms()
    detail = _detail(person, actor, given)
    result = await node.inputs.answer(
        workspace,
        input_id,
        InputAnswer(
            status=_STATUS_OF[given.decision],
            by=person.label,
            at=at,
            node=node.id,
            detail_json=canonical_json(detail).decode(),
            digest=given.digest,
        ),
        act=_act(node, actor, row, given, at),
    )
    if result is None:
        raise no_such("input", input_id)
    # One that came too late found the input expired just now: its call is ended like any other.
    late = isinstance(result, AnsweredOtherwise) and result.input.status == "expired"
    if isinstance(result, Answered) or late:
        node.tasks.start(go_on(node, result.input))
    return result


async def withdraw(
    node: Node, workspace: str, *, call: str | None = None, session: str | None = None
) -> tuple[InputRow, ...]:
    """Cancel the open inputs of a call or of a session; nothing of them is sent."""
    closed = await node.inputs.withdraw(
        workspace, call=call, session=session, at=node.wall.unix_ms(), node=node.id
    )
    for row in closed:
        node.tasks.start(go_on(node, row))
    return closed


async def connected(node: Node, actor: Actor, app: str, user: str) -> tuple[InputRow, ...]:
    """Let the calls go on that wait until a user is connected to an app."""
    closed = await node.inputs.connected(
        actor.workspace, app=app, user=user, by=actor.label, at=node.wall.unix_ms(), node=node.id
    )
    for row in closed:
        node.tasks.start(go_on(node, row))
    return closed


async def closed_by(node: Node, row: InputRow) -> str:
    """What decided on an input before an answer that came too late, as a sentence.

    Raises:
        StoreUnavailable: it cannot be known.
    """
    is_card = row.kind == "action"
    if row.status == "expired" and is_card:
        return "The card is expired: nobody answered in time. Make the call anew."
    if row.status == "expired":
        return (
            "The input is expired: nobody answered in time. Nothing was sent; make the call anew."
        )
    if row.status != "cancelled" or row.answered_by != SYSTEM:
        return f"The input is {row.status}: another answer decided before this one."
    call = await node.calls.get(row.workspace, row.call)
    error = None if call is None or call.outcome is None else record_of(call).get("error")
    why = error.get("message") if isinstance(error, dict) else None
    if not isinstance(why, str):
        without = "Its call was withdrawn, and nothing was sent."
        why = "Its call was taken back." if is_card else without
    return f"The input is {row.status}, and nobody answered it. {why}"


def _person(actor: Actor, row: InputRow, given: Answer) -> _Person:
    """Who answers: a key for the user that it names, a person's own client for its user.

    Raises:
        Forbidden: an agent's token, a ``backend`` key that names nobody, or a token that names
            another user than its own.
    """
    if actor.is_token:
        if not given.in_person or actor.user is None:
            raise Forbidden(NO_AGENT)
        if given.user is not None and not actor.speaks_for(given.user):
            raise Forbidden("This token answers for its own user alone. Leave user out.")
        return _Person(is_user=actor.user == row.user, is_operator=False, label=actor.label)
    if given.user is None and actor.role != "operator":
        raise Forbidden(
            'A backend key answers for a person. Say for whom with "user"; it is recorded.'
        )
    label = actor.label if given.user is None else f"user:{given.user} through {actor.label}"
    return _Person(
        is_user=given.user == row.user,
        # An operator that speaks for a user is that user, and nobody else.
        is_operator=actor.role == "operator" and given.user is None,
        label=label,
    )


def _detail(person: _Person, actor: Actor, given: Answer) -> JsonObject:
    """What is kept of an answer besides its columns (``asking.detail_of``)."""
    detail: JsonObject = {"isUser": person.is_user, "isOperator": person.is_operator}
    if given.note:
        detail["note"] = given.note
    if given.remember:
        detail["remember"] = "session"
    if given.press:
        detail["press"] = given.press
    if actor.device is not None:
        detail["device"] = actor.device
    return detail


def _refuse_stranger(row: InputRow, person: _Person, given: Answer) -> None:
    ask = asked_of(row)
    if may_answer(ask, is_user=person.is_user, is_operator=person.is_operator):
        return
    if given.decision == "cancel" and person.is_user:
        # Whoever the call concerns may always take it back.
        return
    wanted = {
        "user": "the user whom the call concerns, or an operator",
        "operator": "an operator of the workspace",
        "other": "somebody else than the user whom the call concerns",
    }[ask.by]
    raise Forbidden(f"This input is for {wanted}: {ask.reason}.")


def _refuse_remembering(row: InputRow, given: Answer) -> None:
    """Contract section 9: only in a session, and only where the policy alone asked."""
    if not given.remember:
        return
    if given.decision != "approve":
        raise InvalidRequest(
            "Only a yes is remembered: the same call is refused again by itself. Leave remember "
            "out."
        )
    if row.session is None:
        raise InvalidRequest(
            "An answer is remembered for a session, and this call has none. Leave remember out."
        )
    if not asked_of(row).rememberable:
        raise InvalidRequest(
            "A yes to this call is not remembered: the tool asks for a person each time, or it is "
            "destructive. Leave remember out."
        )


def _act(node: Node, actor: Actor, row: InputRow, given: Answer, at: int) -> AuditEntry:
    detail: JsonObject = {
        "call": row.call,
        "decision": given.decision,
        **({"press": given.press} if given.press else {}),
        "digest": row.digest,
        "user": given.user or actor.user,
    }
    return AuditEntry(
        workspace=actor.workspace,
        id=node.fresh.fresh_id("act"),
        at=at,
        actor=actor.label,
        kind="input.answered",
        subject=f"input/{row.id}",
        detail_json=canonical_json(detail).decode(),
    )
