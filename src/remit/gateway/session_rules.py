"""What a session takes and what it refuses, as pure functions of its row (contract section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.documents.canonical import canonical_json, compact_json
from remit.errors import InvalidRequest, RemitError, SessionBusy, SessionClosed, SessionWaiting
from remit.gateway.asking import device_of, note_of, press_of
from remit.gateway.ledger import SYSTEM
from remit.session.events import HumanInputResolved, RunFinished, ToolResult
from remit.session.parts import Usage

if TYPE_CHECKING:
    from remit.gateway.conversing import SessionRow
    from remit.gateway.ledger import InputRow
    from remit.session.events import Data
    from remit.values.json import JsonObject

MAX_TEXT = 100_000
MAX_CONTEXT_BYTES = 8 * 1024
MAX_INSTRUCTIONS = 20_000
MAX_QUEUED = 20
MAX_TITLE = 80


def refused(now: SessionRow, *, insists: bool) -> RemitError | None:
    """Why a message is not taken now; one that ``insists`` waits or takes back what is open."""
    status = now.status
    if status == "closed":
        return closed(now)
    if len(now.task.queued) >= MAX_QUEUED:
        return SessionBusy(
            f"{MAX_QUEUED} messages wait in this session already. Send it when some are answered."
        )
    if status == "idle" or insists:
        return None
    if status == "running":
        return SessionBusy(
            "The agent is still working. Send the message with queue: true to have it answered "
            "after that, or cancel the run first."
        )
    whom = "a person's answer" if status == "waiting_human" else "a client"
    return SessionWaiting(
        f"The session waits for {whom}. Answer first, or send the message with withdraw: true to "
        "take back what is open and go on with it."
    )


def closed(now: SessionRow) -> SessionClosed:
    """What everything in a closed session is answered with."""
    return SessionClosed(
        f"The session {now.id} is closed, and nothing more happens in it. Make a new one."
    )


def dropped(run_id: str) -> RunFinished:
    """The end of a run that never started, or is cut short."""
    nothing = Usage(input_tokens=0, output_tokens=0, cached_tokens=0, calls=0, ms=0)
    return RunFinished(run_id=run_id, reason="cancelled", usage=nothing)


def resolved(closed: InputRow, run_id: str | None) -> HumanInputResolved:
    """The event of an input that was closed."""
    if closed.status == "open":
        msg = f"input {closed.id} is open"
        raise ValueError(msg)
    return HumanInputResolved.of(
        closed.id,
        closed.status,
        by=closed.answered_by,
        device=device_of(closed),
        note=note_of(closed),
        press=press_of(closed),
        run_id=run_id,
    )


def left_open(now: SessionRow, *, why: str) -> list[Data]:
    """The ends of calls that nobody waits for any more; ``why`` is a sentence."""
    events: list[Data] = []
    for call_id, call in now.state.calls.items():
        if call.input_id is not None:
            events.append(
                HumanInputResolved.of(call.input_id, "cancelled", by=SYSTEM, run_id=now.state.run)
            )
        message = (
            f"{why} What was not sent is not sent; what was, runs to its end: "
            f"GET /v1/calls/{call_id} says how."
        )
        error: JsonObject = {"code": "cancelled", "message": message, "tool": call.tool}
        events.append(
            ToolResult(
                call_id=call_id,
                outcome="cancelled",
                content=compact_json({"error": error}),
                display={"error": error},
                run_id=now.state.run,
            )
        )
    return events


def title_of(text: str) -> str | None:
    """The first words of the first message."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"


def checked_text(text: str) -> str:
    """A message that can be taken; raises ``InvalidRequest``."""
    if not text.strip():
        raise InvalidRequest("The message is empty. Send some text.")
    if len(text) > MAX_TEXT:
        raise InvalidRequest(
            f"The message has {len(text):,} characters; {MAX_TEXT:,} are allowed. Shorten it."
        )
    return text


def checked_context(context: JsonObject | None) -> str | None:
    """A context as its JSON text; raises ``InvalidRequest`` where it is too large."""
    if context is None:
        return None
    if len(canonical_json(context)) > MAX_CONTEXT_BYTES:
        raise InvalidRequest(
            f"context is larger than {MAX_CONTEXT_BYTES:,} bytes. Send ids in place of records."
        )
    return compact_json(context)


def checked_instructions(instructions: str | None) -> None:
    """Refuse instructions that are too long; raises ``InvalidRequest``."""
    if instructions is not None and len(instructions) > MAX_INSTRUCTIONS:
        raise InvalidRequest(
            f"instructions have {len(instructions):,} characters; {MAX_INSTRUCTIONS:,} are "
            "allowed. Shorten them."
        )
