"""The OpenAPI 3.1 document, made from the routes and the types that their handlers decode."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from remit.web import bodies, device_shapes, session_bodies, session_shapes, shapes
from remit.web.descriptions import IN_PATH, described
from remit.web.problems import MEDIA as PROBLEM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.web.route import Route
    from remit.web.services import HttpSettings

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{([a-z]+)\}")
_MODULES = (bodies, session_bodies, device_shapes, shapes, session_shapes)
#: A list has no type of its own.
_LIST = ("List",)
_REPEAT = "A repeat within 24 h with the same key and body gets the answer of the first"
_CALL = ", or how far the call is now where it had not ended."
_DOCUMENTS = {
    "definition": "A definition, as `remit schema definition` describes it",
    "policy": "A policy, as `remit schema policy` describes it",
}


def document(routes: Sequence[Route], settings: HttpSettings) -> dict[str, Any]:
    """The whole document.

    Args:
        routes: all that are served.
        settings: give the name, the version and the server's URL.
    """
    types = [kind for route in routes for kind in (route.body, route.query, route.answer)]
    known = [kind for kind in [*types, shapes.Problem] if kind is not None]
    found, components = msgspec.json.schema_components(known, ref_template=_REF)
    components = {name: _with_words(name, one) for name, one in components.items()}
    schemas = {_key(kind): schema for kind, schema in zip(known, found, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, schemas, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    queries = {kind.__name__ for kind in (route.query for route in routes)}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"{settings.brand} HTTP API", "version": settings.version},
        "servers": [{"url": settings.public_url}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            # A query is told as parameters.
            "schemas": {name: one for name, one in components.items() if name not in queries},
        },
    }


def _with_words(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A type with a description of each of its properties."""
    kind: type = next(vars(module)[name] for module in _MODULES if name in vars(module))
    kinds = tuple(base.__name__ for base in kind.__mro__)
    properties = {
        key: one if (words := described(kinds, key)) is None else {**one, "description": words}
        for key, one in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


def _operation(route: Route, schemas: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [*_parameters(route, components)],
        "responses": _responses(route, schemas),
    }
    if route.roles is None:
        operation["security"] = []
    else:
        operation["x-roles"] = sorted(route.roles)
    body = _body(route, schemas, components)
    if body is not None:
        operation["requestBody"] = body
    return operation


def _parameters(route: Route, components: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _PARAMETER.findall(route.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": IN_PATH.get(name, ""),
            "schema": {"type": "string"},
        }
    query = components[route.query.__name__]
    required = query.get("required", ())
    for name, schema in query.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": schema.get("description", ""),
            "schema": {key: one for key, one in schema.items() if key != "description"},
        }
    if route.method == "POST" and route.roles is not None:
        yield _header("Idempotency-Key", _REPEAT + (_CALL if route.name == "callTool" else "."))
    if route.conditional:
        yield _header(
            "If-Match",
            "The ETag of what the change is made from, with its double quotes.",
            required=True,
        )
    if route.name == "readEvents":
        yield _header(
            "Last-Event-ID", "The id of the last event that the reader has: the stream goes on."
        )
    if route.name == "callTool":
        yield _header("Prefer", "wait=<seconds>: how long the app is waited for (30, 120 at most).")


def _header(name: str, words: str, *, required: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": words,
        "schema": {"type": "string"},
    }


def _body(
    route: Route, schemas: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any] | None:
    if route.document is not None:
        schema = {"type": "object", "description": _DOCUMENTS[route.document]}
        media = ("application/json", "application/yaml")
        return {"required": True, "content": {kind: {"schema": schema} for kind in media}}
    if route.body is None:
        return None
    schema = schemas[_key(route.body)]
    named = components.get(schema.get("$ref", "").rpartition("/")[2])
    required = named is None or bool(named.get("required"))
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _responses(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    answered: dict[str, Any] = {}
    for status in (route.status, *route.other_statuses):
        response: dict[str, Any] = {"description": HTTPStatus(status).phrase}
        if status != HTTPStatus.NO_CONTENT:
            response["content"] = {
                kind: {"schema": _answer(route, kind, schemas)} for kind in route.media
            }
        answered[str(status)] = response
    answered["default"] = {
        "description": "A problem document (RFC 9457)",
        "content": {PROBLEM: {"schema": schemas[_key(shapes.Problem)]}},
    }
    return answered


def _answer(route: Route, media: str, schemas: dict[str, Any]) -> dict[str, Any]:
    if media != "application/json" or route.answer is None:
        return {"type": "string"}
    one = schemas[_key(route.answer)]
    if not route.lists:
        return one
    return {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": one, "description": described(_LIST, "items")},
            "next": {"type": ["string", "null"], "description": described(_LIST, "next")},
        },
        "required": ["items", "next"],
    }


def _key(kind: object) -> str:
    return repr(kind)
