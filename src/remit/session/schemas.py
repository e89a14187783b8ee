"""The JSON Schema of an event, from which the types of the SDK are made (contract section 9).

It is made from the structs: their fields say what there is, their docstrings what it means. It
says what this version writes; a reader of an earlier one ignores what it does not know, and so
does the schema: further keys are allowed everywhere.
"""

from __future__ import annotations

import re
from inspect import cleandoc, getmro
from typing import TYPE_CHECKING, Any, cast, get_args

from msgspec import Struct, structs
from msgspec.json import decode, encode, schema_components

from remit.session.events import STREAM_ONLY, TYPES
from remit.session.parts import DISPLAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.values.json import JsonObject

_WORDS = (
    "One event of a session's log, as the API gives it and as the data of the stream holds it. "
    "What is on the stream alone has no number and no such object around it: its data is "
    "described by $defs/text_delta, $defs/reset and $defs/end. Later versions add keys and types: "
    "a reader ignores those that it does not know."
)
_SEQ = "Number of the event in its session: 1 for the first, without gaps."
_AT = "When it was committed, as RFC 3339 in UTC."


def event_schema() -> JsonObject:
    """The schema: JSON Schema 2020-12, complete in itself."""
    data = (*TYPES.values(), *STREAM_ONLY.values(), *DISPLAYS)
    found, components = schema_components(data, ref_template="#/$defs/{name}")
    del found
    kinds = {kind.__name__: kind for kind in structs_of(data)}
    described = {name: _described(kinds[name], part) for name, part in components.items()}
    events = {name: _event(name, kind) for name, kind in TYPES.items()}
    stream = {name: described.pop(kind.__name__) for name, kind in STREAM_ONLY.items()}
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:remit:schema:v1:event",
        "title": "Event",
        "description": _WORDS,
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in events],
        "$defs": {
            **events,
            **stream,
            "Display": {
                "title": "Display",
                "description": "How a result is drawn: one of five, told apart by their keys.",
                "anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in DISPLAYS],
            },
            **described,
        },
    }
    # As it is printed: lists in place of tuples.
    return cast("JsonObject", decode(encode(schema)))


def summary_of(kind: type[Struct]) -> str:
    """What a struct is, in its own words."""
    return _marked(cleandoc(kind.__doc__ or "").partition("\n\nAttributes:\n")[0])


def words_of(kind: type[Struct]) -> dict[str, str]:
    """What each field of a struct is, by its name on the wire."""
    said = {name: text for base in reversed(getmro(kind)) for name, text in _attributes(base)}
    return {f.encode_name: said[f.name] for f in structs.fields(kind) if f.name in said}


def structs_of(kinds: tuple[type[Struct], ...]) -> tuple[type[Struct], ...]:
    """Structs and those that their fields are made of, each once."""
    found: dict[type[Struct], None] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop(0)
        if kind not in found:
            found[kind] = None
            waiting += [one for f in structs.fields(kind) for one in _structs_in(f.type)]
    return tuple(found)


def _event(name: str, kind: type[Struct]) -> dict[str, Any]:
    return {
        "title": name,
        "description": summary_of(kind),
        "type": "object",
        "properties": {
            "seq": {"type": "integer", "minimum": 1, "description": _SEQ},
            "type": {"const": name},
            "at": {"type": "string", "format": "date-time", "description": _AT},
            "data": {"$ref": f"#/$defs/{kind.__name__}"},
        },
        "required": ["seq", "type", "at", "data"],
    }


def _described(kind: type[Struct], part: dict[str, Any]) -> dict[str, Any]:
    """A struct's schema with the words of its docstring."""
    words = words_of(kind)
    required = part.get("required", [])
    properties = {
        key: {**(found if key in required else _if_there(found)), "description": words[key]}
        for key, found in part["properties"].items()
    }
    return {**part, "description": summary_of(kind), "properties": properties}


def _if_there(found: dict[str, Any]) -> dict[str, Any]:
    """A key that is left out where it has its default: there it is no null."""
    kept = {key: value for key, value in found.items() if (key, value) != ("default", None)}
    options = [one for one in kept.pop("anyOf", []) if one != {"type": "null"}]
    return {**kept, **(options[0] if len(options) == 1 else {"anyOf": options} if options else {})}


def _attributes(kind: type) -> Iterator[tuple[str, str]]:
    """The fields that a docstring names, with what it says of them."""
    text = cleandoc(kind.__doc__ or "").partition("\nAttributes:\n")[2]
    for names, words in re.findall(r"^    ([\w, ]+): (.+(?:\n {6,}.+)*)", text, re.MULTILINE):
        for name in names.split(", "):
            yield name, _marked(words[0].upper() + words[1:])


def _marked(text: str) -> str:
    """A docstring's text as Markdown, on one line."""
    return " ".join(text.replace("``", "`").split())


def _structs_in(annotation: object) -> tuple[type[Struct], ...]:
    parts = get_args(annotation)
    if not parts and isinstance(annotation, type) and issubclass(annotation, Struct):
        return (annotation,)
    return tuple(kind for part in parts for kind in _structs_in(part))
