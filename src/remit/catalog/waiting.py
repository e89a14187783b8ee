"""What a call waits for: a job (``polling``) or a person (``confirm``) (contract sections 5, 6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.bodies import compile_node
from remit.catalog.mapping import ResponseMapping, parse_path, read_mapping
from remit.catalog.model import (
    ClientTarget,
    Confirm,
    Destination,
    Endpoint,
    Location,
    Polling,
    Preview,
    UrlTarget,
)
from remit.catalog.reading import Fields, shown
from remit.catalog.references import Reference, Text
from remit.catalog.requests import RequestReader, Surroundings
from remit.values.urls import UrlFault, parse_url

if TYPE_CHECKING:
    from remit.values.json import JsonValue
    from remit.values.urls import Origin

MAX_TITLE = 200
_POLLING_REQUIRED = ("statusUrl", "statusField", "completeValue", "pollIntervalMs", "maxPolls")
_POLLING_MENDS = {
    "statusUrl": "say where to ask, such as /jobs/{{response.id}}",
    "statusField": "write the dotted path to the status, such as job.status",
    "completeValue": "write the status that means success",
    "pollIntervalMs": "write the wait between two polls in ms, such as 2000",
    "maxPolls": "write after how many polls to give up",
}
_POLLING_KEYS = (*_POLLING_REQUIRED, "failedValue", "resultMapping")
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,51}")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def read_polling(
    tool: Fields, destination: Destination | None, around: Surroundings
) -> Polling | None:
    """Read ``polling``; None where there is none or it cannot be used."""
    record = tool.object("polling")
    if record is None:
        return None
    before = len(tool.mistakes.found)
    fields = Fields(record, "/polling", tool.mistakes)
    fields.only(_POLLING_KEYS, "polling")
    for key in _POLLING_REQUIRED:
        if key not in record:
            fields.missing(key, "polling", _POLLING_MENDS[key])
    if isinstance(destination, ClientTarget):
        tool.wrong(
            "bad-polling",
            "polling",
            "a client target is not polled: its handler answers when it is done",
            "leave polling out",
        )
    status = _read_status_url(fields, destination, around)
    status_field = _read_status_field(fields)
    complete = _values(fields, "completeValue")
    if fields.values.get("completeValue") == []:
        fields.wrong(
            "bad-polling",
            "completeValue",
            "no value means success, so the job would never be done",
            "write the status that means success",
        )
    failed = _values(fields, "failedValue")
    interval_ms = fields.whole("pollIntervalMs", 100)
    max_polls = fields.whole("maxPolls", 1)
    mapping_record = fields.object("resultMapping")
    mapping: ResponseMapping | None = None
    if mapping_record is not None:
        mapping = read_mapping(mapping_record, "/polling/resultMapping", tool.mistakes)
    if (
        len(tool.mistakes.found) > before
        or status is None
        or status_field is None
        or interval_ms is None
        or max_polls is None
    ):
        return None
    return Polling(
        status=status.where,
        relative=status.relative,
        origin=status.origin,
        status_field=status_field,
        complete_values=complete,
        failed_values=failed,
        result_mapping=mapping,
        poll_interval_ms=interval_ms,
        max_polls=max_polls,
    )


def _values(fields: Fields, key: str) -> tuple[JsonValue, ...]:
    if key not in fields.values:
        return ()
    value = fields.values[key]
    return tuple(value) if isinstance(value, list) else (value,)


def _read_status_field(fields: Fields) -> tuple[str, ...] | None:
    text = fields.text("statusField")
    if text is None:
        return None
    path = parse_path(text)
    if path is None or "*" in path:
        fields.wrong(
            "bad-polling",
            "statusField",
            f'"{shown(text)}" is no path to one value',
            "write a dotted path such as job.status",
        )
        return None
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    """Where a job is asked for; see ``Polling``."""

    where: Location | Reference
    relative: bool = False
    origin: Origin | None = None


def _read_status_url(
    fields: Fields, destination: Destination | None, around: Surroundings
) -> _Status | None:
    written = fields.text("statusUrl")
    if written is None:
        return None
    reader = RequestReader(fields, around, "args")
    at = fields.place("statusUrl")
    text = reader.compile(written, at, ("args", "response"))
    if text is None:
        return None
    if text.whole is not None and text.whole.root == "response":
        return _Status(where=text.whole)
    first = text.parts[0] if text.parts else ""
    if isinstance(first, str) and first.startswith("/"):
        location = reader.location(text, at, query=True)
        return None if location is None else _Status(where=location, relative=True)
    if not isinstance(first, str) or not _ABSOLUTE.match(first):
        fields.wrong(
            "bad-polling",
            "statusUrl",
            f'"{shown(written)}" is neither a path nor an address',
            "begin it with / for a path below baseUrl, or write the whole address, "
            "or exactly one {{response.<path>}}",
        )
        return None
    return _read_absolute(reader, text, first, _origin_of(destination, around))


def _origin_of(destination: Destination | None, around: Surroundings) -> Origin | None:
    """The origin that the first call goes to, where it is known at load."""
    if isinstance(destination, UrlTarget):
        return destination.origin
    return around.base_origin if isinstance(destination, Endpoint) else None


def _read_absolute(
    reader: RequestReader, text: Text, first: str, expected: Origin | None
) -> _Status | None:
    fields = reader.fields
    found = _ORIGIN.match(first)
    rest = first[found.end() :] if found else ""
    if found is None or (not rest and len(text.parts) > 1):
        fields.wrong(
            "bad-polling",
            "statusUrl",
            "the origin of statusUrl is not literal",
            "write scheme and host as they are, with / before the first reference",
        )
        return None
    try:
        origin = parse_url(found[0]).origin
    except UrlFault as fault:
        fields.wrong(
            "bad-url",
            "statusUrl",
            f'"{shown(found[0])}": {fault.reason}',
            "write an address such as https://api.example.com/jobs",
        )
        return None
    if expected is not None and origin != expected:
        fields.wrong(
            "origin-mismatch",
            "statusUrl",
            f"statusUrl is on {origin}; the tool calls {expected}",
            "poll on the origin that the first call goes to",
        )
        return None
    below = rest if rest.startswith("/") else f"/{rest}"
    at = fields.place("statusUrl")
    location = reader.location(Text((below, *text.parts[1:])), at, query=True)
    return None if location is None else _Status(where=location, origin=origin)


def read_confirm(tool: Fields) -> Confirm | None:
    """Read ``confirm``; None where there is none or it cannot be used."""
    record = tool.object("confirm")
    if record is None:
        return None
    before = len(tool.mistakes.found)
    fields = Fields(record, "/confirm", tool.mistakes)
    fields.only(("title", "preview"), "confirm")
    reader = RequestReader(fields, Surroundings(), "args")
    title_text = fields.text("title")
    title = None
    if title_text is not None:
        title = reader.compile(title_text, fields.place("title"), ("args", "preview"))
        if title is not None and sum(len(p) for p in title.parts if isinstance(p, str)) > MAX_TITLE:
            fields.wrong(
                "too-long",
                "title",
                f"the title is longer than {MAX_TITLE} characters",
                "shorten it",
            )
    preview = _read_preview(fields, reader)
    if title is not None and preview is None and any(r.root == "preview" for r in title.references):
        fields.wrong(
            "bad-confirm",
            "title",
            "the title refers to a preview that is not declared",
            "add preview: {tool: …, args: {…}}",
        )
    return None if len(tool.mistakes.found) > before else Confirm(title=title, preview=preview)


def _read_preview(confirm: Fields, reader: RequestReader) -> Preview | None:
    record = confirm.object("preview")
    if record is None:
        return None
    fields = Fields(record, confirm.place("preview"), confirm.mistakes)
    fields.only(("tool", "args"), "a preview")
    if "tool" not in record:
        fields.missing("tool", "a preview", "name a tool that reads what is about to change")
    tool = fields.text("tool")
    if tool is not None and not _TOOL_NAME.fullmatch(tool):
        # It stands in the platform's own sentences, also where a fetched catalog may bring it.
        fields.wrong(
            "bad-confirm",
            "tool",
            f'"{shown(tool)}" is no tool name',
            "name a tool of this catalog that reads",
        )
        return None
    args = fields.object("args") if "args" in record else {}
    if tool is None or args is None:
        return None
    node = compile_node(reader, args, fields.place("args"), ("args",))
    return None if node is None else Preview(tool=tool, args=node)
