"""The made part of the events' page: every event with its keys, and the diagram of statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

from msgspec import Struct, structs

from remit.session.events import STREAM_ONLY, TYPES, Status
from remit.session.machine import MOVES
from remit.session.parts import DISPLAYS, Display, Object
from remit.session.schemas import structs_of, summary_of, words_of

#: What a status means; the page's table of them.
STATUSES: Mapping[Status, str] = {
    "idle": "Nothing goes on. A message begins a run.",
    "running": "A run is due or goes on, or a call or a job is on its way.",
    "waiting_human": "At least one input is open, whatever else still runs.",
    "waiting_client": "Only calls that a client has to execute are open.",
    "closed": "The end. The log can still be read.",
}
_SIMPLE = {str: "text", int: "whole number", bool: "true or false", type(None): "null"}


def made() -> str:
    """All of it, from the first table on."""
    named = {**TYPES, **STREAM_ONLY}
    parts = [kind for kind in structs_of(tuple(named.values())) if kind not in named.values()]
    return "\n".join(
        [
            _overview(TYPES),
            "On the stream alone, without a number:",
            "",
            _overview(STREAM_ONLY),
            *(_section(name, kind) for name, kind in named.items()),
            "## Display",
            "",
            "How a result is drawn: one of these, told apart by their keys.",
            "",
            *(f"- {_link(kind)}: {summary_of(kind)}" for kind in DISPLAYS),
            "",
            *(_section(kind.__name__, kind) for kind in (*parts, *DISPLAYS)),
            _diagram(),
        ]
    )


def _overview(kinds: Mapping[str, type[Struct]]) -> str:
    rows = [f"| [`{name}`](#{name}) | {summary_of(kind)} |" for name, kind in kinds.items()]
    return "\n".join(["| event | what happened |", "|---|---|", *rows, ""])


def _section(name: str, kind: type[Struct]) -> str:
    words = words_of(kind)
    rows = [
        f"| `{f.encode_name}` | {_type(f.type, absent=not f.required)} "
        f"| {'yes' if f.required else ''} | {words[f.encode_name]} |"
        for f in structs.fields(kind)
    ]
    head = ["| key | type | always there | what it is |", "|---|---|---|---|"]
    return "\n".join([f"## {name}", "", summary_of(kind), "", *head, *rows, ""])


def _type(annotation: Any, *, absent: bool = False) -> str:  # noqa: ANN401 -- a type
    """A field's type in words; what may be absent is left out in place of null."""
    if annotation == Display:
        return "[Display](#display)"
    if annotation == Object:
        return "object"
    if annotation is Any:
        return "any JSON value"
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"object, {_type(parts[1])} by key"
    options = [annotation] if origin in (None, Literal) else parts
    return _either(
        word
        for option in options
        if not (absent and option is type(None))
        for word in ([f"`{one}`" for one in get_args(option)] or [_simple(option)])
    )


def _simple(kind: type) -> str:
    return _link(kind) if issubclass(kind, Struct) else _SIMPLE[kind]


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _link(kind: type[Struct]) -> str:
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def _diagram() -> str:
    moves = [f"    {before} --> {after}" for before in MOVES for after in _sorted(MOVES[before])]
    ends = [f"    {status} --> [*]" for status in MOVES if not MOVES[status]]
    rows = [f"| `{status}` | {words} |" for status, words in STATUSES.items()]
    return "\n".join(
        [
            "## Status of a session",
            "",
            "| status | it |",
            "|---|---|",
            *rows,
            "",
            "```mermaid",
            "stateDiagram-v2",
            "    [*] --> idle",
            *moves,
            *ends,
            "```",
            "",
        ]
    )


def _sorted(statuses: Iterable[Status]) -> list[Status]:
    return sorted(statuses, key=list(MOVES).index)
