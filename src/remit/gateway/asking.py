"""What a call waits for from a person, as a row and as JSON (contract sections 5 and 9)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from remit.documents.canonical import compact_json
from remit.gateway.journal import kept, moment
from remit.gateway.ledger import SYSTEM, InputRow
from remit.gateway.permitting import Yes
from remit.policy.decisions import Approval, Ask

if TYPE_CHECKING:
    from remit.calls.cards import Card, TitlePart
    from remit.gateway.permitting import Case
    from remit.values.json import JsonObject, JsonValue

_DECISIONS = {"approved": "approve", "denied": "deny", "cancelled": "cancel", "skipped": "skip"}


class Planned(Struct, frozen=True, kw_only=True):
    """A call with the input that it will wait for.

    Attributes:
        case: its record names the input.
        private: what the call's row keeps, so that it can go on.
    """

    case: Case
    input: InputRow
    private: str


def input_row(
    case: Case, card: Card, ask: Ask, *, input_id: str, kept_as: str, at: int, expires_at: int
) -> InputRow:
    """The input of a call that a person must approve.

    Args:
        case: the call; what is shown of its arguments and request is what its record holds.
        card: what the person sees.
        ask: who is asked, and why.
        input_id: a fresh one.
        kept_as: digest of what the call's row keeps, arguments included.
        at: now, in Unix milliseconds.
        expires_at: when nobody can answer any more.
    """
    frozen = case.frozen
    body: JsonObject = {
        **titled(card.title),
        "line": {"act": card.act, "danger": card.danger, "host": card.host},
        "verb": card.verb,
        "args": case.record.get("args", {}),
        "arguments": listed(card.arguments),
        "request": case.record["request"],
        **asks(ask, kept_as),
    }
    if card.preview is not None:
        body["preview"] = kept(card.preview)
    if card.preview_failure is not None:
        body["previewFailure"] = card.preview_failure
    if frozen.account is not None:
        body["account"] = frozen.account
    return InputRow(
        workspace=case.workspace,
        id=input_id,
        call=case.call_id,
        kind="approval",
        app=case.app,
        tool=case.tool.name,
        user=case.user,
        by=ask.by,
        digest=frozen.request.digest,
        body_json=compact_json(body),
        created_at=at,
        expires_at=expires_at,
        session=cast("str | None", case.record.get("sessionId")),
    )


def titled(title: tuple[TitlePart, ...]) -> JsonObject:
    """The app's words, as a whole and with inserted values set apart."""
    return {
        "title": "".join(part.text for part in title),
        "titleParts": [{"text": part.text, "inserted": part.inserted} for part in title],
    }


def listed(arguments: tuple[tuple[str, str], ...]) -> list[JsonValue]:
    """Each argument under its title."""
    return [{"title": title, "text": text} for title, text in arguments]


def asks(ask: Ask, kept_as: str) -> JsonObject:
    """Why a person is asked, and what only ``asked_of`` and ``kept_as`` read."""
    return {
        "reason": ask.reason,
        "rememberable": ask.rememberable,
        "apart": ask.apart,
        "keptAs": kept_as,
    }


def asked_of(row: InputRow) -> Ask:
    """Who may answer an input, and why it was opened."""
    body = _body(row)
    return Ask(
        reason=str(body.get("reason", "")),
        by=row.by,  # pyright: ignore[reportArgumentType] -- written from an Ask
        rememberable=body.get("rememberable") is True,
        apart=body.get("apart") is True,
    )


def kept_as(row: InputRow) -> str:
    """The digest of what the call's row kept as the input was opened."""
    return str(_body(row).get("keptAs"))


def input_json(row: InputRow) -> JsonObject:
    """An input as every surface gives it (contract section 9, "Inputs")."""
    said: JsonObject = {
        "id": row.id,
        "kind": row.kind,
        "status": row.status,
        "callId": row.call,
        "user": row.user,
        "app": row.app,
        "tool": row.tool,
        **_body(row),
        "digest": row.digest,
        "by": row.by,
        "createdAt": moment(row.created_at),
        "expiresAt": moment(row.expires_at),
    }
    rememberable = said.get("rememberable") is True and row.session is not None
    for name in ("apart", "rememberable", "keptAs"):
        said.pop(name, None)
    if row.session is not None:
        said["sessionId"] = row.session
    if rememberable and row.status == "open":
        said["rememberable"] = True
    if row.status != "open":
        said |= answer_of(row)
    return said


def answer_of(row: InputRow) -> JsonObject:
    """How an input was answered, by whom and when."""
    said: JsonObject = {}
    if (decision := _DECISIONS.get(row.status)) is not None:
        said["decision"] = decision
    if row.answered_by is not None:
        said["answeredBy"] = row.answered_by
    if row.answered_at is not None:
        said["answeredAt"] = moment(row.answered_at)
    if (note := note_of(row)) is not None:
        said["note"] = note
    if (pressed := press_of(row)) is not None:
        said["press"] = pressed
    return said


def detail_of(row: InputRow) -> JsonObject:
    """What was kept of the answer besides its columns."""
    return cast("JsonObject", json.loads(row.answer_json or "{}"))


def yes_of(row: InputRow, digest: str | None = None) -> Yes:
    """The yes that an answer is: to the request that was shown, or to that of a pressed button.

    Args:
        row: answered.
        digest: of the pressed button's request; None for that of the input.
    """
    detail = detail_of(row)
    return Yes(
        approval=Approval(digest=digest or row.digest, by=row.answered_by or SYSTEM),
        is_user=detail.get("isUser") is True,
        is_operator=detail.get("isOperator") is True,
    )


def note_of(row: InputRow) -> str | None:
    """What the person said with the answer."""
    note: JsonValue = detail_of(row).get("note")
    return note if isinstance(note, str) and note else None


def press_of(row: InputRow) -> str | None:
    """The id of the button that was pressed."""
    pressed: JsonValue = detail_of(row).get("press")
    return pressed if isinstance(pressed, str) else None


def device_of(row: InputRow) -> str | None:
    """The id of the device that the answer came from."""
    device: JsonValue = detail_of(row).get("device")
    return device if isinstance(device, str) and device else None


def _body(row: InputRow) -> JsonObject:
    return cast("JsonObject", json.loads(row.body_json))
