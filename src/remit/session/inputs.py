"""What a session says of an input: that a person is needed, and that one has answered.

Both are events (``events``); an input itself is a row of its own (contract section 9, "Inputs").
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import convert

from remit.session.parts import Argument, EventData, Json, Line, Object, TitlePart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.values.json import JsonObject

Closed = Literal["approved", "denied", "answered", "skipped", "cancelled", "expired"]
Decision = Literal["approve", "deny", "answer", "skip", "cancel"]

#: What was decided where an input has such a status; nobody decides that it expires.
DECISIONS: Mapping[str, Decision] = MappingProxyType(
    {
        "approved": "approve",
        "denied": "deny",
        "answered": "answer",
        "skipped": "skip",
        "cancelled": "cancel",
    }
)


class HumanInputNeeded(EventData, frozen=True, kw_only=True):
    """A call waits for a person: the input as ``GET /v1/inputs/{id}`` gives it.

    Attributes:
        id: id of the input, with which it is answered.
        input_id: the same once more, as the event that resolves it has it.
        kind: what is asked for.
        status: always ``open``; how it stands later is in the event that resolves it.
        session_id: id of the session.
        user: id of the user whom the call concerns.
        title: what is about to happen, in the app's words, as plain text.
        title_parts: the same, with the inserted values set apart.
        line: the platform's own words, to be shown above the app's.
        verb: label of the button that goes ahead.
        args: final arguments, pins and repairs included; secrets are masked.
        arguments: the same as a person reads them.
        preview: what the app says that it would act upon.
        preview_failure: why there is no preview although the app has one.
        request: the frozen request: method, url, headers, body, digest.
        digest: of what is shown; an answer that carries it holds for nothing else.
        reason: why a person is asked, as a sentence.
        by: who may answer.
        account: whose credential is used, where it is known.
        card: the action card, where ``kind`` is ``action``.
        rememberable: whether a yes may hold for the session (``remember: "session"``).
        created_at: RFC 3339.
        expires_at: RFC 3339; nobody can answer after it.
    """

    id: str
    input_id: str
    kind: Literal["approval", "action", "connect"]
    status: Literal["open"]
    call_id: str
    user: str
    app: str | None
    tool: str
    title: str
    args: Json
    digest: str
    by: Literal["user", "operator", "other"]
    created_at: str
    expires_at: str
    run_id: str
    session_id: str | None = None
    rememberable: bool = False
    title_parts: tuple[TitlePart, ...] = ()
    line: Line | None = None
    verb: str | None = None
    arguments: tuple[Argument, ...] = ()
    preview: Json = None
    preview_failure: str | None = None
    request: Object = None
    reason: str | None = None
    account: str | None = None
    card: Object = None

    @classmethod
    def of(cls, shown: JsonObject, *, run_id: str) -> HumanInputNeeded:
        """The event of an open input.

        Args:
            shown: the input as the API gives it.
            run_id: of the run whose call it is.
        """
        return convert({**shown, "inputId": shown["id"], "runId": run_id}, cls)


class HumanInputResolved(EventData, frozen=True, kw_only=True):
    """An input is closed.

    Attributes:
        input_id: id of the input.
        status: how it stands now.
        decision: what was decided; null where its time was over.
        by: who did; null where its time was over.
        device: id of the device that the answer came from.
        note: what the person said with it.
        press: id of the button that was pressed, of an action card.
    """

    input_id: str
    status: Closed
    decision: Decision | None
    by: str | None
    device: str | None = None
    note: str | None = None
    press: str | None = None
    run_id: str | None = None

    @classmethod
    def of(
        cls,
        input_id: str,
        status: Closed,
        *,
        by: str | None,
        device: str | None = None,
        note: str | None = None,
        press: str | None = None,
        run_id: str | None = None,
    ) -> HumanInputResolved:
        """The event of an input that has come to a status."""
        return cls(
            input_id=input_id,
            status=status,
            decision=DECISIONS.get(status),
            by=by,
            device=device,
            note=note,
            press=press,
            run_id=run_id,
        )
