"""Runs every rule over a document: what keeps it from loading, and what a reviewer would ask."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_catalog, load_definition, surroundings_of
from remit.catalog.mistakes import Mistake
from remit.catalog.reading import is_object, kind
from remit.catalog.requests import Surroundings
from remit.catalog.tools import as_records
from remit.documents.problems import parts_of
from remit.lint.subject import AppView, ToolView
from remit.lint.table import APP_RULES, TOOL_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from remit.catalog.mistakes import Level
    from remit.catalog.model import Definition, Tool
    from remit.documents.problems import Problem
    from remit.lint.subject import Finding
    from remit.lint.table import Rule
    from remit.values.json import JsonValue

_RANK: dict[Level, int] = {"error": 0, "warning": 1, "note": 2}


def lint_definition(document: JsonValue, *, brand: str = "Remit") -> tuple[Mistake, ...]:
    """Everything that is to be said about a definition, in the order of its text.

    Args:
        document: the decoded document.
        brand: the brand setting (contract section 12).
    """
    loaded = load_definition(document, brand=brand)
    if not is_object(document):
        return loaded.mistakes
    definition = loaded.definition
    records = document.get("tools")
    listed: Sequence[object] = records if isinstance(records, list) else ()
    if definition is not None:
        tools: Sequence[Tool] = definition.tools
    else:
        # The definition's own fields are broken; its tools are judged all the same.
        found = load_catalog(document["tools"], Surroundings(brand=brand)) if listed else None
        tools = found.tools if found else ()
    app_id = document.get("id")
    app = AppView(
        record=document,
        definition=definition,
        tools=_views(listed, tools, app_id if isinstance(app_id, str) else None),
        tools_root="/tools",
    )
    return _sorted([*loaded.mistakes, *_judged(app)], document)


def lint_catalog(
    document: JsonValue, *, brand: str = "Remit", definition: Definition | None = None
) -> tuple[Mistake, ...]:
    """Everything that is to be said about a bare or fetched catalog, in the order of its text.

    Args:
        document: the decoded document: a list of tools or ``{tools: […]}``.
        brand: the brand setting.
        definition: the definition it was fetched for, which gives its ceiling and surroundings.
    """
    records = as_records(document)
    around = Surroundings(brand=brand)
    if definition is not None:
        around = surroundings_of(definition, brand=brand)
    loaded = load_catalog(document, around)
    if records is None or loaded is None:
        return (_no_catalog(document),)
    app = AppView(
        record={},
        definition=definition,
        tools=_views(records, loaded.tools, definition.id if definition else None),
        tools_root="" if isinstance(document, list) else "/tools",
        fetched=definition is not None,
    )
    return _sorted([*loaded.mistakes, *_judged(app)], document)


def unreadable(problems: Iterable[Problem]) -> tuple[Mistake, ...]:
    """The findings of a document that cannot be decoded; its places are those of the problems."""
    return tuple(
        Mistake(
            rule="bad-document",
            level="error",
            tool=None,
            pointer=problem.pointer,
            at=problem.pointer,
            message=problem.message,
            mend=problem.mend,
        )
        for problem in problems
    )


def _no_catalog(document: JsonValue) -> Mistake:
    return Mistake(
        rule="wrong-type",
        level="error",
        tool=None,
        pointer="",
        at="",
        message=f"a catalog must be a list of tools, or an object with tools alone; it is "
        f"{kind(document)}",
        mend="write [ … ] or {tools: [ … ]}",
    )


def _views(
    records: Sequence[object], tools: Sequence[Tool], app_id: str | None
) -> tuple[ToolView, ...]:
    by_name = {tool.name: tool for tool in tools}
    found: list[ToolView] = []
    for index, record in enumerate(records):
        if is_object(record):
            name = record.get("name")
            tool = by_name.get(name) if isinstance(name, str) else None
            found.append(ToolView(record=record, tool=tool, index=index, app_id=app_id))
    return tuple(found)


def _judged(app: AppView) -> Iterator[Mistake]:
    by_index = {view.index: view for view in app.tools}
    for rule in APP_RULES:
        for finding in rule.check(app):
            view = None if finding.tool_index is None else by_index[finding.tool_index]
            yield _mistake(rule, finding, view, app.tools_root)
    for kept in app.tools:
        # A view of its own: what it computes is not kept for all of a large catalog.
        view = replace(kept)
        for rule in TOOL_RULES:
            for finding in rule.check(view):
                yield _mistake(rule, finding, view, app.tools_root)


def _mistake(rule: Rule, finding: Finding, view: ToolView | None, tools_root: str) -> Mistake:
    root = "" if view is None else f"{tools_root}/{view.index}"
    return Mistake(
        rule=rule.id,
        level=finding.level or rule.level,
        tool=None if view is None else view.name or f"tool {view.index + 1}",
        pointer=root + finding.at,
        at=finding.at,
        message=finding.message,
        mend=finding.mend,
    )


def _sorted(mistakes: list[Mistake], document: JsonValue) -> tuple[Mistake, ...]:
    """In the order of the text; at one place errors first."""
    places = _Places(document)
    return tuple(sorted(mistakes, key=lambda m: (places.of(m.pointer), _RANK[m.level])))


class _Places:
    """Where a pointer stands in a document: the position of each of its parts."""

    def __init__(self, document: JsonValue) -> None:
        self._document = document
        self._orders: dict[int, dict[str, int]] = {}
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, pointer: str) -> tuple[int, ...]:
        """Comparable: a container before its content, its members in the order written."""
        if pointer not in self._known:
            self._known[pointer] = self._position(pointer)
        return self._known[pointer]

    def _position(self, pointer: str) -> tuple[int, ...]:
        value, found = self._document, list[int]()
        for part in parts_of(pointer):
            if is_object(value) and part in value:
                order = self._orders.get(id(value))
                if order is None:
                    order = {key: index for index, key in enumerate(value)}
                    self._orders[id(value)] = order
                found.append(order[part])
                value = value[part]
            elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                found.append(int(part))
                value = value[int(part)]
            else:
                break
        return tuple(found)
