"""Small apps to offer, built the way an author writes them."""

from __future__ import annotations

from remit.catalog.definitions import load_definition
from remit.catalog.model import Definition, Tool
from remit.catalog.parameters import Parameters
from remit.values.json import JsonObject, JsonValue

NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def record(name: str, parameters: JsonObject = NO_PARAMETERS, **more: JsonValue) -> JsonObject:
    """A tool with an endpoint that reads, unless ``more`` says otherwise."""
    return {
        "name": name,
        "description": f"Does {name}. Use only in tests.",
        "parameters": parameters,
        "category": "read",
        "dangerLevel": "safe",
        "endpoint": {"method": "GET", "path": f"/{name}"},
        **more,
    }


def client_record(name: str, parameters: JsonObject = NO_PARAMETERS) -> JsonObject:
    """A tool that runs in the user's client."""
    return {
        "name": name,
        "description": f"Does {name} in the client.",
        "parameters": parameters,
        "target": {"type": "client", "name": "open_url"},
    }


def app(*records: JsonObject, name: str = "Acme", app_id: str = "acme") -> Definition:
    """A definition; fails where it does not load."""
    loaded = load_definition(
        {
            "id": app_id,
            "name": name,
            "auth": {"type": "none"},
            "baseUrl": "https://api.acme.test",
            "tools": list(records),
        }
    )
    assert loaded.sound, loaded.mistakes
    assert loaded.definition is not None
    return loaded.definition


def tool(name: str, parameters: JsonObject = NO_PARAMETERS, **more: JsonValue) -> Tool:
    """One loaded tool with an endpoint."""
    return app(record(name, parameters, **more)).tools[0]


def parameters(required: str = "", **properties: JsonValue) -> Parameters:
    """Closed parameters."""
    return Parameters(closed(required, **properties))


def closed(required: str = "", **properties: JsonValue) -> JsonObject:
    """A closed object that requires the names in ``required``."""
    schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = [*required.split()]
    return schema
