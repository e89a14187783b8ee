"""Documents of an author that the tests of several rooms begin with, and their loading."""

from __future__ import annotations

from typing import Any

from remit.catalog.definitions import load_definition
from remit.catalog.model import Definition, Tool

Json = dict[str, Any]

ANY_ARGUMENTS: Json = {"type": "object", "properties": {}}


def parameters(*required: str, **properties: object) -> Json:
    """A schema with these parameters; a text names its type."""
    schemas = {n: {"type": p} if isinstance(p, str) else p for n, p in properties.items()}
    found: Json = {"type": "object", "properties": schemas}
    return {**found, "required": list(required)} if required else found


def endpoint_tool(name: str = "get_thing", **changes: object) -> Json:
    """A tool on the app itself: a GET of ``/things`` unless ``endpoint`` says otherwise."""
    record: Json = {
        "name": name,
        "description": "Gets a thing.",
        "category": "read",
        "dangerLevel": "safe",
        "parameters": ANY_ARGUMENTS,
        "endpoint": {"method": "GET", "path": "/things"},
    }
    return {**record, **changes}


def posting(body: object, properties: Json, **endpoint: object) -> Json:
    """A POST of a body, with its parameters."""
    return endpoint_tool(
        "post_thing",
        category="write",
        parameters=parameters(**properties),
        endpoint={"method": "POST", "path": "/things", "bodyTemplate": body, **endpoint},
    )


def target_tool(target: Json, **changes: object) -> Json:
    """A tool with a ``target``."""
    record: Json = {
        "name": "reach",
        "description": "Reaches a target.",
        "parameters": ANY_ARGUMENTS,
        "target": target,
    }
    return {**record, **changes}


def url_target(url: str = "https://api.partner.example/x", **changes: object) -> Json:
    """A ``url`` target; POST unless said otherwise."""
    return {"type": "url", "url": url, "method": "POST", **changes}


def definition(*tools: Json, **changes: object) -> Json:
    """A definition of the app ``acme``; a change to None takes the key out."""
    record: Json = {
        "id": "acme",
        "name": "Acme",
        "auth": {"type": "bearer"},
        "baseUrl": "https://api.acme.example/v1",
        "tools": list(tools),
        **changes,
    }
    return {key: value for key, value in record.items() if value is not None}


def load(*tools: Json, **changes: object) -> Definition:
    """A definition that must load without a mistake."""
    loaded = load_definition(definition(*tools, **changes))
    assert loaded.sound, [str(mistake) for mistake in loaded.mistakes]
    assert loaded.definition is not None
    return loaded.definition


def load_tool(record: Json, **changes: object) -> tuple[Tool, Definition]:
    """One tool in its definition."""
    found = load(record, **changes)
    return found.tools[0], found


def mistakes(*tools: Json, **changes: object) -> list[str]:
    """Rule, pointer and message of every mistake, one text each."""
    loaded = load_definition(definition(*tools, **changes))
    return [f"{m.rule} {m.pointer} {m.message}. {m.mend}" for m in loaded.mistakes]
