"""The call record as JSON: what was asked, decided, sent and answered (contract section 10).

Secrets are masked before anything is put in here. A value over 4 KiB is cut and its SHA-256 put
beside it, so that the record stays small and still says whether two values were the same.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, cast

from msgspec import Struct, structs

from remit.calls.channels import without_query
from remit.catalog.scales import Renderer
from remit.documents.canonical import canonical_json, compact_bytes, compact_json
from remit.gateway.steps import hidden_pins
from remit.values.secrets import NOTHING_SECRET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.calls.arguments import Arguments
    from remit.calls.channels import Channels
    from remit.calls.planning import FrozenRequest
    from remit.calls.results import Content, Display
    from remit.catalog.model import Tool
    from remit.errors import CallError
    from remit.gateway.ledger import Outcome
    from remit.policy.verdicts import Fired
    from remit.values.json import JsonObject, JsonValue
    from remit.values.secrets import Masker

MAX_VALUE_BYTES = 4 * 1024
#: Of a result as it is drawn: what is larger no session shows.
MAX_DISPLAY_CHARS = 128 * 1024
#: What is said with every error whose action may have happened (contract section 5).
MAY_HAVE_HAPPENED = "The action may have happened: read the current state before you repeat it."


class Attempt(Struct, frozen=True, kw_only=True):
    """One exchange with the app; ``status`` is None where no answer was read."""

    at: int
    ms: int
    status: int | None

    def as_json(self) -> JsonObject:
        """The attempt as the record holds it."""
        return {"at": moment(self.at), "ms": self.ms, "status": self.status}


class Ended(Struct, frozen=True, kw_only=True):
    """A call that ended.

    Attributes:
        record: the whole call record, as it was committed.
        result: the mapped result, whole; None unless ``ok``. Where another node ended the call
            it is what the record holds of it.
        content: what the model reads.
        display: how it is drawn; None where it is not.
        error: ``{code, message, tool, details?, mayHaveHappened?}``; None where ``ok``.
    """

    call_id: str
    outcome: Outcome
    record: JsonObject
    result: JsonValue = None
    content: str = ""
    display: JsonObject | None = None
    error: JsonObject | None = None

    @property
    def repaired(self) -> list[JsonValue]:
        """What was repaired in the arguments, in words."""
        return cast("list[JsonValue]", self.record.get("repaired", []))


class Opened(Struct, frozen=True):
    """The record of a call as it was committed before the send.

    Attributes:
        text: the ``record`` as ``compact_json`` writes it.
    """

    record: JsonObject
    text: str

    def followed(self, whole: JsonObject) -> str:
        """The text of a record that begins with this one, unchanged; only what follows is written.

        Args:
            whole: has at least one member more.
        """
        more = dict(islice(whole.items(), len(self.record), None))
        return f"{self.text[:-1]},{compact_json(more)[1:]}"


# Calls come many at a time, and each has several.
@lru_cache(maxsize=64)
def moment(at_ms: int) -> str:
    """A time as RFC 3339 in UTC, with milliseconds."""
    seconds, ms = divmod(at_ms, 1000)
    return f"{_second(seconds)}.{ms:03d}Z"


@lru_cache(maxsize=16)
def _second(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def asked(tool: Tool, arguments: Arguments, masker: Masker) -> JsonObject:
    """What the record says of the arguments."""
    values = tool.parameters.masked(arguments.values)
    if arguments.undeclared_pins:
        values |= hidden_pins(arguments).undeclared_pins
    if masker is not NOTHING_SECRET:
        values = _object(masker.value(values))
    if len(compact_bytes(values)) > MAX_VALUE_BYTES:
        values = {name: kept(value) for name, value in values.items()}
    said: JsonObject = {"args": values, "argOrigins": {**arguments.origins}}
    if arguments.refused_pins:
        said["refusedPins"] = list(arguments.refused_pins)
    if arguments.repaired:
        said["repaired"] = [change.words for change in arguments.repaired]
    return said


def requested(request: FrozenRequest, masker: Masker) -> JsonObject:
    """What the record says of the request: as it may be shown, and its digest."""
    shown = request.shown
    url, body = shown.url, shown.body
    headers: JsonObject = {**shown.headers}
    if masker is not NOTHING_SECRET:
        url, headers = masker.text(url), _object(masker.value(headers))
        body = cast("JsonValue", masker.value(body))
    return {
        "method": request.method,
        "url": kept_text(url),
        "headers": headers,
        "body": _kept_members(body) if len(compact_bytes(body)) > MAX_VALUE_BYTES else body,
        "digest": request.digest,
    }


def ruled(fired: Iterable[Fired]) -> JsonObject:
    """What the record says of the rules."""
    return {"policy": [one.as_json() for one in fired]}


def succeeded(
    opened: JsonObject,
    result: JsonValue,
    content: Content,
    display: Display,
    *,
    absent: tuple[tuple[str, str], ...] = (),
) -> Ended:
    """The end of a call that came to its result."""
    call_id: str = opened["id"]  # pyright: ignore[reportAssignmentType] -- it is a text in every record
    record: JsonObject = {
        **opened,
        "outcome": "ok",
        # Most results are small: then their members need not be looked at.
        "mapped": result if len(content.text) <= MAX_VALUE_BYTES // 4 else _kept_members(result),
        "content": kept_text(content.text),
    }
    if content.cut:
        record["cut"] = True
    if display.misfit is not None:
        record["misfit"] = display.misfit
    if display.renderer is not Renderer.JSON:
        # Else it is what is mapped.
        record["display"] = {"renderer": display.renderer.value, "data": kept(display.data)}
    if absent:
        record["absent"] = cast("JsonObject", dict(absent))
    return Ended(
        call_id=call_id,
        outcome="ok",
        record=record,
        result=result,
        content=content.text,
        display=display.as_json(),
    )


def channelled(opened: JsonObject, said: Channels, content: Content) -> Ended:
    """The end of a call whose handler answered in channels (contract section 8).

    Args:
        opened: the record so far.
        said: masked.
        content: what the model reads of it.
    """
    display: JsonObject = {"renderer": Renderer.JSON.value, "data": said.content}
    if said.embed_url is not None:
        display = {"embedUrl": said.embed_url}
    elif said.markdown is not None:
        display = {"markdown": said.markdown}
    mapped = said.result
    if said.embed_url is not None and isinstance(mapped, dict):
        mapped = {**mapped, "embedUrl": without_query(said.embed_url)}
    record: JsonObject = {
        **opened,
        "outcome": "ok",
        "mapped": _kept_members(mapped),
        "content": kept_text(content.text),
    }
    if content.cut:
        record["cut"] = True
    if said.refused is not None:
        record["embedRefused"] = {"code": "embed_refused", "message": said.refused}
    # A frame is drawn from its whole address, on whichever node the session goes on.
    record["display"] = display if said.embed_url is not None else kept(display)
    return Ended(
        call_id=cast("str", opened["id"]),
        outcome="ok",
        record=record,
        result=said.result,
        content=content.text,
        display=display,
    )


def handed_on(opened: JsonObject, card: JsonObject) -> Ended:
    """The end of a button's call that was answered with another card, which its parent shows."""
    content = "The app asks for another action."
    record: JsonObject = {
        **opened,
        "outcome": "ok",
        "mapped": None,
        "content": content,
        "card": card,
    }
    return Ended(call_id=cast("str", opened["id"]), outcome="ok", record=record, content=content)


def as_shown(record: JsonObject) -> JsonObject:
    """A record as it leaves the store: the query of a framed page is for its reader alone."""
    display = record.get("display")
    address = display.get("embedUrl") if isinstance(display, dict) else None
    if not isinstance(address, str):
        return record
    return {**record, "display": {"embedUrl": without_query(address)}}


def failed(opened: JsonObject, error: CallError, outcome: Outcome, *, happened: bool) -> Ended:
    """The end of a call that came to none; its error is masked already."""
    told = error_json(error, cast("str", opened["tool"]), happened=happened)
    content = compact_json({"error": told})
    record: JsonObject = {
        **opened,
        "outcome": outcome,
        "error": _kept_members(told),
        "mapped": None,
        "content": kept_text(content),
    }
    return Ended(
        call_id=cast("str", opened["id"]),
        outcome=outcome,
        record=record,
        content=content,
        error=told,
    )


def error_json(error: CallError, tool: str, *, happened: bool) -> JsonObject:
    """An error as every surface gives it (contract section 5)."""
    message = error.message
    if happened and MAY_HAVE_HAPPENED not in message:
        message = f"{message.rstrip()} {MAY_HAVE_HAPPENED}"
    told: JsonObject = {"code": error.code, "message": message, "tool": tool}
    if error.details:
        told["details"] = cast("JsonObject", dict(error.details))
    if happened:
        told["mayHaveHappened"] = True
    return told


def recalled(record: JsonObject) -> Ended:
    """The end of a call from its record alone: values over 4 KiB are cut there."""
    error = record.get("error")
    display = record.get("display")
    if display is None and record["outcome"] == "ok":
        display = {"renderer": Renderer.JSON.value, "data": record.get("mapped")}
    return Ended(
        call_id=cast("str", record["id"]),
        outcome=cast("Outcome", record["outcome"]),
        record=record,
        result=record.get("mapped"),
        content=cast("str", record["content"]),
        display=display if isinstance(display, dict) else None,
        error=error if isinstance(error, dict) else None,
    )


def beyond(ended: Ended) -> str | None:
    """What of an end its record does not hold whole; None where it does, or nobody asks for it.

    The model of a session reads more than a record keeps, perhaps on another node or after a
    restart.
    """
    record, display = ended.record, ended.display
    if "sessionId" not in record:
        return None
    drawn = compact_json(display)
    if record.get("content") == ended.content and len(drawn) <= MAX_VALUE_BYTES:
        return None
    shown = display if len(drawn) <= MAX_DISPLAY_CHARS else None
    return compact_json({"content": ended.content, "display": shown})


def whole(ended: Ended, text: str | None) -> Ended:
    """An end that was recalled from its record, with what ``beyond`` kept of it."""
    if text is None:
        return ended
    found = cast("JsonObject", json.loads(text))
    display = found["display"]
    return structs.replace(
        ended,
        content=cast("str", found["content"]),
        display=display if isinstance(display, dict) else ended.display,
    )


def kept(value: JsonValue) -> JsonValue:
    """A value as the record holds it; over 4 KiB its beginning, its size and its digest."""
    if isinstance(value, str):
        return kept_text(value)
    if not isinstance(value, dict | list):
        return value
    text = compact_json(value)
    if len(text) <= MAX_VALUE_BYTES // 4 or len(text.encode()) <= MAX_VALUE_BYTES:
        return value
    return _cut(text, canonical_json(value))


def kept_text(text: str) -> str:
    """A text as the record holds it."""
    if len(text) <= MAX_VALUE_BYTES // 4 or len(raw := text.encode()) <= MAX_VALUE_BYTES:
        return text
    return _cut(text, raw)


def _cut(text: str, hashed: bytes) -> str:
    head = text.encode()[:MAX_VALUE_BYTES].decode("utf-8", "ignore")
    size = len(text.encode())
    return f"{head} …[cut: {size:,} bytes in all, sha256 {sha256(hashed).hexdigest()}]"


def _kept_members(value: JsonValue) -> JsonValue:
    """An object with each member cut for itself, so that the small ones stay what they are."""
    if not isinstance(value, dict):
        return kept(value)
    members: JsonObject = {name: kept(item) for name, item in value.items()}
    return members if len(members) <= _MAX_MEMBERS else kept(value)


_MAX_MEMBERS = 64


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value)
