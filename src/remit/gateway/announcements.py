"""What a client announces: read as hostile input, every fault said at once (contract section 9).

A client's tool becomes a ``Tool`` of the catalog whose target is the client, so that arguments,
policy and approvals are those of any tool. It has no app: nobody has reviewed it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from remit.catalog.mistakes import Mistakes
from remit.catalog.reading import Fields, is_object, kind, shown
from remit.catalog.requests import Surroundings
from remit.catalog.tools import read_tool
from remit.documents.canonical import canonical_json, compact_json
from remit.documents.pattern_cost import PatternBudget
from remit.documents.strict_json import parse_json
from remit.errors import InvalidRequest
from remit.gateway.session_rules import MAX_CONTEXT_BYTES
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.mistakes import Mistake
    from remit.catalog.model import Tool
    from remit.catalog.parameters import Parameters
    from remit.values.json import JsonObject, JsonValue

MAX_TOOLS = 64
MAX_WIDGETS = 32
#: Of tools and widgets together, as compact JSON.
MAX_BYTES = 64 * 1024
MAX_DESCRIPTION = 4_000
MAX_TITLE = 200
#: How long a client may take for a call that it has claimed, where its tool does not say.
TIMEOUT_MS = 120_000
WIDGET = "widget_"

# About a tenth of a second: tabs announce again and again.
_PATTERN_COST = 100_000
_TOOL_KEYS = (
    "name", "description", "parameters", "title", "category", "dangerLevel", "requiresApproval",
    "idempotent", "timeoutMs",
)  # fmt: skip
_WIDGET_KEYS = ("name", "description", "parameters")
_AROUND = Surroundings()
_ALSO_KEPT = 16 * 1024


class _Announced(Struct, frozen=True, kw_only=True):
    """What a client announces.

    Attributes:
        tool: as the catalog has it; its target is the client's handler of the same name.
        schema_digest: of name and schema as announced: who has the same may execute its calls.
    """

    tool: Tool
    schema_digest: str

    @property
    def name(self) -> str:
        """Under which it is announced."""
        return self.tool.name

    @property
    def description(self) -> str:
        """What it is for, in the client's words, nothing hidden in them."""
        return self.tool.description

    @property
    def parameters(self) -> Parameters:
        """The schema of its arguments, or props."""
        return self.tool.parameters


class ClientTool(_Announced, frozen=True, kw_only=True):
    """A tool of a client; it is offered under its name."""


class ClientWidget(_Announced, frozen=True, kw_only=True):
    """A widget of a client; its tool, which draws it, is called ``widget_<name>``."""

    @property
    def name(self) -> str:
        """Under which it is announced."""
        return self.tool.name.removeprefix(WIDGET)


class Announcement(Struct, frozen=True, kw_only=True):
    """What a client announces, as it came.

    Attributes:
        context: what the user is looking at, or None.
    """

    tools: tuple[JsonValue, ...] = ()
    widgets: tuple[JsonValue, ...] = ()
    context: JsonObject | None = None

    def text(self) -> str:
        """As it is kept; equal texts are the same announcement."""
        said: JsonObject = {"tools": list(self.tools), "widgets": list(self.widgets)}
        if self.context is not None:
            said["context"] = self.context
        return compact_json(said)


class Loaded(Struct, frozen=True, kw_only=True):
    """An announcement that was checked; ``digests`` are those of its tools."""

    tools: tuple[ClientTool, ...]
    widgets: tuple[ClientWidget, ...]
    digests: frozenset[str]
    context: JsonObject | None = None


class InvalidAnnouncement(InvalidRequest):
    """An announcement that cannot be used.

    Attributes:
        mistakes: what is wrong with it, all at once; each has ``pointer``, ``message``, ``mend``.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        listed = "\n".join(str(mistake) for mistake in mistakes)
        super().__init__(f"This announcement cannot be used. Nothing was changed.\n{listed}")
        self.mistakes = tuple(mistakes)


def read_announcement(given: Announcement) -> Loaded:
    """Check an announcement; it may take a tenth of a second.

    Raises:
        InvalidAnnouncement: with every mistake.
    """
    found = Mistakes()
    _refuse_size(given, found)
    if found.found:
        raise InvalidAnnouncement(found.found)
    patterns = PatternBudget(_PATTERN_COST)
    tools = _read_list(given.tools, "tools", _TOOL_KEYS, found, patterns)
    widgets = _read_list(given.widgets, "widgets", _WIDGET_KEYS, found, patterns)
    if found.found:
        raise InvalidAnnouncement(found.found)
    return Loaded(
        tools=tuple(ClientTool(tool=tool, schema_digest=digest) for tool, digest in tools),
        widgets=tuple(
            ClientWidget(tool=as_widget(tool), schema_digest=digest) for tool, digest in widgets
        ),
        digests=frozenset(digest for _, digest in tools),
        context=given.context,
    )


@lru_cache(maxsize=256)
def loaded(announced_json: str) -> Loaded:
    """What ``Announcement.text`` wrote once it had been checked.

    Where this release would refuse it nothing of it is offered: the client announces again.
    """
    record = cast(
        "JsonObject", parse_json(announced_json.encode(), max_bytes=MAX_BYTES + _ALSO_KEPT)
    )
    given = Announcement(
        tools=tuple(cast("list[JsonValue]", record["tools"])),
        widgets=tuple(cast("list[JsonValue]", record["widgets"])),
        context=cast("JsonObject | None", record.get("context")),
    )
    try:
        return read_announcement(given)
    except InvalidAnnouncement:
        return Loaded(tools=(), widgets=(), digests=frozenset(), context=given.context)


def as_widget(tool: Tool) -> Tool:
    """The tool that draws a widget, from one that bears the widget's name."""
    return replace(tool, name=f"{WIDGET}{tool.name}")


def _refuse_size(given: Announcement, found: Mistakes) -> None:
    """Bounds come first: nothing larger is looked at."""
    for items, key, most in (
        (given.tools, "tools", MAX_TOOLS),
        (given.widgets, "widgets", MAX_WIDGETS),
    ):
        if len(items) > most:
            found.add(
                "out-of-range",
                f"/{key}",
                f"{len(items):,} {key} are announced; {most} are allowed",
                "announce what the current page needs",
            )
    size = len(Announcement(tools=given.tools, widgets=given.widgets).text().encode())
    if size > MAX_BYTES:
        found.add(
            "out-of-range",
            "",
            f"tools and widgets have {size:,} bytes; {MAX_BYTES:,} are allowed in all",
            "shorten descriptions and schemas, or announce fewer",
        )
    if given.context is not None and len(canonical_json(given.context)) > MAX_CONTEXT_BYTES:
        found.add(
            "out-of-range",
            "/context",
            f'"context" is larger than {MAX_CONTEXT_BYTES:,} bytes',
            "send ids in place of records",
        )


def _read_list(
    records: tuple[JsonValue, ...],
    key: str,
    known: tuple[str, ...],
    found: Mistakes,
    patterns: PatternBudget,
) -> list[tuple[Tool, str]]:
    """The tools of a list, each with its schema's digest; mistakes are noted."""
    names = [_name_of(record) for record in records]
    counts = Counter(name for name in names if name)
    tools: list[tuple[Tool, str]] = []
    for index, (name, record) in enumerate(zip(names, records, strict=True)):
        called = shown(name) if name else f"{key[:-1]} {index + 1}"
        mistakes = Mistakes(root=f"/{key}/{index}", tool=called)
        read = _read_one(record, key[:-1], known, mistakes, patterns)
        if counts[name] > 1:
            mistakes.add(
                "duplicate-name",
                "/name",
                f'two {key} have the duplicate name "{shown(name)}"',
                "give each a name of its own",
            )
        if read is not None:
            tools.append(read)
        found.found += mistakes.found
    return tools


def _name_of(record: JsonValue) -> str:
    name = record.get("name") if is_object(record) else None
    return name if isinstance(name, str) else ""


def _read_one(
    record: JsonValue,
    noun: str,
    known: tuple[str, ...],
    mistakes: Mistakes,
    patterns: PatternBudget,
) -> tuple[Tool, str] | None:
    if not is_object(record):
        mistakes.add(
            "wrong-type",
            "",
            f"a {noun} must be an object; it is {kind(record)}",
            "write name, description and parameters",
        )
        return None
    fields = Fields(record, "", mistakes)
    fields.only(known, f"a {noun}")
    for key, most in (("description", MAX_DESCRIPTION), ("title", MAX_TITLE)):
        text = record.get(key)
        if isinstance(text, str) and len(text) > most:
            fields.wrong(
                "out-of-range",
                key,
                f'"{key}" has {len(text):,} characters; {most:,} are allowed',
                "shorten it",
            )
    given = record.get("parameters")
    before = len(mistakes.found)
    tool = read_tool(_as_catalog_tool(record, known, noun), _AROUND, mistakes, patterns)
    if tool is None or len(mistakes.found) > before or not isinstance(given, dict):
        return None
    digest = sha256(canonical_json({"name": tool.name, "parameters": given})).hexdigest()
    return tool, digest


def _as_catalog_tool(record: JsonObject, known: tuple[str, ...], noun: str) -> JsonObject:
    """The record as a catalog would have it: a client's tool is ``write``, ``moderate``."""
    mild = {"category": "read", "dangerLevel": "safe"}
    usual = {"category": "write", "dangerLevel": "moderate", "timeoutMs": TIMEOUT_MS}
    own = {key: value for key, value in record.items() if key in known}
    for key in ("description", "title"):
        if isinstance(text := own.get(key), str):
            own[key] = visible(text)
    if isinstance(title := own.get("title"), str):
        own["title"] = " ".join(title.split())
    if is_object(schema := own.get("parameters")):
        own["parameters"] = _with_properties(schema)
    # Without a name that is a mistake already, and the only one.
    target: JsonObject = {"type": "client", "name": _name_of(record) or "x"}
    return {**(mild if noun == "widget" else usual), **own, "target": target}


def _with_properties(schema: JsonObject) -> JsonObject:
    """A schema with ``properties``: a validator that exports none is announced without.

    Then every argument is the client's own business, and reaches it.
    """
    if "properties" in schema or schema.get("type") != "object":
        return schema
    return {"additionalProperties": True, **schema, "properties": {}}
