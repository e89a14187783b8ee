"""One tool and a list of tools, from decoded records to values (contract section 2)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remit.catalog.destinations import read_endpoint, read_target
from remit.catalog.mapping import ResponseMapping, read_mapping
from remit.catalog.mistakes import Mistake, Mistakes
from remit.catalog.model import ClientTarget, Destination, Tool
from remit.catalog.parameters import Parameters, read_parameters
from remit.catalog.reading import Fields, is_object, kind, shown
from remit.catalog.scales import Category, DangerLevel, Method, Renderer
from remit.catalog.waiting import read_confirm, read_polling
from remit.documents.pattern_cost import PatternBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.requests import Surroundings
    from remit.values.json import JsonObject, JsonValue

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,51}")
DEFAULT_TIMEOUT_MS = 30_000
_RESERVED = ("computer", "load_skill", "search_tools")
_RESERVED_PREFIXES = ("integration_", "widget_", "remit_")
_KEYS = frozenset(
    {
        "name",
        "title",
        "displayName",
        "description",
        "category",
        "dangerLevel",
        "requiresApproval",
        "confirm",
        "resultRenderer",
        "render",
        "parameters",
        "endpoint",
        "target",
        "responseMapping",
        "polling",
        "idempotent",
        "timeoutMs",
    }
)
_SCALE_MENDS = {
    "category": "say read, write or action; there is no default",
    "dangerLevel": "say safe, moderate or destructive; there is no default",
}
_RENDER_KEYS: dict[Renderer, tuple[str, ...]] = {
    Renderer.IMAGE: ("url", "alt"),
    Renderer.LINK: ("url", "label"),
    Renderer.DIFF: ("before", "after", "patch"),
    Renderer.TABLE: ("rows", "columns"),
    Renderer.JSON: (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTools:
    """A list of tools as far as it could be loaded.

    Attributes:
        tools: those without an error, in the order written.
        mistakes: everything wrong with the others, and with the list itself.
        names: the name of each record by its position; None where it has none.
    """

    tools: tuple[Tool, ...]
    mistakes: tuple[Mistake, ...]
    names: tuple[str | None, ...]


def read_tools(records: Sequence[object], around: Surroundings, *, root: str) -> LoadedTools:
    """Read a list of tools; one that cannot be read costs none of the others.

    Args:
        records: the decoded list.
        around: facts of the definition that the tools stand in.
        root: pointer of the list in its document.
    """
    names = tuple(_name_of(record) for record in records)
    twice = {name for name, count in Counter(names).items() if count > 1 and name is not None}
    patterns = PatternBudget()
    tools: list[Tool] = []
    found: list[Mistake] = []
    for index, record in enumerate(records):
        mistakes = Mistakes(root=f"{root}/{index}", tool=_called(names[index], index))
        tool = read_tool(record, around, mistakes, patterns)
        if names[index] in twice:
            mistakes.add(
                "duplicate-name",
                "/name",
                f'two tools have the duplicate name "{shown(names[index] or "")}"',
                "give each tool a name of its own; neither of the two is offered",
            )
        if tool is not None and not mistakes.found:
            tools.append(tool)
        found += mistakes.found
    return LoadedTools(tools=tuple(tools), mistakes=tuple(found), names=names)


def _called(name: str | None, index: int) -> str:
    """What messages call a tool: its name as far as it can be shown, or its place."""
    return shown(name) if name else f"tool {index + 1}"


def _name_of(record: object) -> str | None:
    name = record.get("name") if is_object(record) else None
    return name if isinstance(name, str) else None


def read_tool(
    record: object, around: Surroundings, mistakes: Mistakes, patterns: PatternBudget
) -> Tool | None:
    """Read one tool; None, and mistakes noted, where it cannot be used.

    ``patterns`` is what the tools of one document share.
    """
    if not is_object(record):
        mistakes.add(
            "wrong-type",
            "",
            f"a tool must be an object; it is {kind(record)}",
            "write name, description, parameters and endpoint or target",
        )
        return None
    before = len(mistakes.found)
    fields = Fields(record, "", mistakes)
    fields.only(_KEYS, "a tool")
    name = _read_name(fields)
    description = _read_description(fields)
    parameters = _read_required_parameters(fields, mistakes, patterns)
    destination = _read_destination(fields, around)
    category, danger_level, declared = _read_scales(fields, destination)
    renderer, render = _read_renderer(fields)
    approval = fields.flag("requiresApproval") if "requiresApproval" in record else False
    mapping = _read_response_mapping(fields, mistakes)
    polling = read_polling(fields, destination, around)
    confirm = read_confirm(fields)
    idempotent = fields.flag("idempotent") if "idempotent" in record else False
    timeout_ms = (
        fields.whole("timeoutMs", 100, 120_000) if "timeoutMs" in record else DEFAULT_TIMEOUT_MS
    )
    title = _read_title(fields)
    if (
        len(mistakes.found) > before
        or name is None
        or description is None
        or parameters is None
        or destination is None
        or category is None
        or danger_level is None
    ):
        return None
    return Tool(
        name=name,
        title=title,
        description=description,
        category=category,
        danger_level=danger_level,
        scales_declared=declared,
        requires_approval=bool(approval),
        confirm=confirm,
        renderer=renderer,
        render=render,
        parameters=parameters,
        destination=destination,
        response_mapping=mapping,
        polling=polling,
        idempotent=bool(idempotent),
        timeout_ms=timeout_ms or DEFAULT_TIMEOUT_MS,
        record=record,
    )


def _read_name(fields: Fields) -> str | None:
    if "name" not in fields.values:
        fields.missing("name", "a tool", "give it a name such as place_object")
        return None
    name = fields.text("name")
    if name is None:
        return None
    if not NAME.fullmatch(name):
        fields.wrong(
            "bad-name",
            "name",
            f'"{shown(name)}" is no tool name',
            "use a letter or _ first, then letters, digits, _ and -, at most 52 in all",
        )
        return None
    if name in _RESERVED or name.startswith(_RESERVED_PREFIXES):
        fields.wrong(
            "bad-name",
            "name",
            f'"{name}" is a name of the platform',
            f"choose another: {', '.join(_RESERVED)} and all that begin with "
            f"{', '.join(_RESERVED_PREFIXES)} are taken",
        )
        return None
    return name


def _read_title(fields: Fields) -> str | None:
    if "title" in fields.values and "displayName" in fields.values:
        fields.wrong(
            "unknown-key", "displayName", '"title" and "displayName" are the same', "keep one"
        )
    return fields.text("title") or fields.text("displayName")


def _read_description(fields: Fields) -> str | None:
    if "description" not in fields.values:
        fields.missing("description", "a tool", "say what it does, when to use it and when not")
        return None
    return fields.text("description")


def _read_required_parameters(
    fields: Fields, mistakes: Mistakes, patterns: PatternBudget
) -> Parameters | None:
    if "parameters" not in fields.values:
        fields.missing("parameters", "a tool", "write {type: object, properties: {}}")
        return None
    return read_parameters(fields.values["parameters"], "/parameters", mistakes, patterns)


def _read_destination(fields: Fields, around: Surroundings) -> Destination | None:
    has_endpoint, has_target = "endpoint" in fields.values, "target" in fields.values
    if has_endpoint == has_target:
        fields.mistakes.add(
            "one-destination",
            "/target" if has_endpoint else "",
            "a tool has exactly one of endpoint and target; "
            + ("it has both" if has_endpoint else "it has none"),
            "keep the one that says where the call goes",
        )
        return None
    key = "endpoint" if has_endpoint else "target"
    record = fields.object(key)
    if record is None:
        return None
    inner = Fields(record, f"/{key}", fields.mistakes)
    return read_endpoint(inner, around) if has_endpoint else read_target(inner, around)


def _read_scales(
    fields: Fields, destination: Destination | None
) -> tuple[Category | None, DangerLevel | None, bool]:
    """Category and danger level; a ``target`` may leave them out (contract section 2)."""
    declared = "category" in fields.values and "dangerLevel" in fields.values
    category = fields.choice("category", Category)
    danger_level = fields.choice("dangerLevel", DangerLevel)
    if "endpoint" in fields.values:
        for key in ("category", "dangerLevel"):
            if key not in fields.values:
                fields.missing(key, "a tool with an endpoint", _SCALE_MENDS[key])
        return category, danger_level, declared
    request = (
        None
        if destination is None or isinstance(destination, ClientTarget)
        else destination.request
    )
    reads = request is not None and request.method is Method.GET
    if "category" not in fields.values:
        category = Category.READ if reads else Category.ACTION
    if "dangerLevel" not in fields.values:
        danger_level = DangerLevel.SAFE if reads else DangerLevel.MODERATE
    return category, danger_level, declared


def _read_renderer(fields: Fields) -> tuple[Renderer, dict[str, str]]:
    renderer = Renderer.JSON
    if "resultRenderer" in fields.values:
        renderer = fields.choice("resultRenderer", Renderer) or Renderer.JSON
    record = fields.object("render")
    if record is None:
        return renderer, {}
    inner = Fields(record, "/render", fields.mistakes)
    known = _RENDER_KEYS[renderer]
    for key in record:
        if key not in known:
            inner.wrong(
                "bad-render",
                key,
                f'the renderer {renderer.value} has no key "{shown(key)}"',
                f"known keys: {', '.join(known)}" if known else "leave render out",
            )
    return renderer, {key: text for key in record if (text := inner.text(key)) is not None}


def _read_response_mapping(fields: Fields, mistakes: Mistakes) -> ResponseMapping | None:
    record: JsonObject | None = fields.object("responseMapping")
    if record is None:
        return None
    return read_mapping(record, "/responseMapping", mistakes)


def as_records(document: JsonValue) -> list[object] | None:
    """The tools of a catalog document: a list, or ``{tools: […]}``; None where it is neither."""
    if isinstance(document, list):
        return cast("list[object]", document)
    if is_object(document) and set(document) == {"tools"} and isinstance(document["tools"], list):
        return cast("list[object]", document["tools"])
    return None
