"""Where a call goes: an ``endpoint`` or a ``target``, checked and compiled (contract section 3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.bodies import read_body, read_body_format
from remit.catalog.headers import read_headers
from remit.catalog.model import (
    AppTarget,
    ClientTarget,
    Destination,
    Endpoint,
    Location,
    RequestTemplate,
    UrlTarget,
)
from remit.catalog.queries import read_query
from remit.catalog.reading import Fields, shown
from remit.catalog.references import Text
from remit.catalog.requests import RequestReader, Surroundings
from remit.catalog.scales import Method
from remit.values.json import nearest
from remit.values.urls import Origin, UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping

_ORIGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_ENDPOINT_KEYS = ("method", "path", "headers", "queryParams", "bodyTemplate", "bodyFormat")
_TARGET_KEYS: Mapping[str, tuple[str, ...]] = {
    "app": ("type", "component", "path", "method", "query", "headers", "body"),
    "url": ("type", "url", "method", "query", "headers", "body"),
    "client": ("type", "name"),
}


def read_endpoint(fields: Fields, around: Surroundings) -> Endpoint | None:
    """Read an ``endpoint``; None where it cannot be used."""
    before = len(fields.mistakes.found)
    fields.only(_ENDPOINT_KEYS, "an endpoint")
    reader = RequestReader(fields, around, "args")
    method = reader.method()
    location = reader.path()
    query = read_query(reader, "queryParams")
    headers = read_headers(reader, authorization=False)
    body = read_body(reader, "bodyTemplate", method, (Method.GET, Method.DELETE))
    body_format = read_body_format(fields, headers)
    if len(fields.mistakes.found) > before or method is None or location is None:
        return None
    return Endpoint(
        request=RequestTemplate(
            method=method,
            location=location,
            query=query,
            headers=headers,
            body=body,
            body_format=body_format,
        )
    )


def read_target(fields: Fields, around: Surroundings) -> Destination | None:
    """Read a ``target``; None where it cannot be used."""
    before = len(fields.mistakes.found)
    kind_name = fields.text("type")
    alias = around.brand.lower()
    if "type" not in fields.values:
        fields.missing("type", "a target", "write app, url or client")
        return None
    if kind_name == alias and kind_name not in _TARGET_KEYS:
        kind_name = "client"
    if kind_name is None:
        return None
    if kind_name not in _TARGET_KEYS:
        fields.wrong(
            "unknown-value",
            "type",
            f'"type" is "{shown(kind_name)}", which is none of app, url, client',
            f'did you mean "{nearest(kind_name, _TARGET_KEYS) or "url"}"?',
        )
        return None
    fields.only(_TARGET_KEYS[kind_name], f"a target of type {kind_name}")
    target: Destination | None
    if kind_name == "client":
        target = _read_client(fields)
    else:
        target = _read_http_target(fields, around, kind_name)
    return None if len(fields.mistakes.found) > before else target


def _read_client(fields: Fields) -> ClientTarget | None:
    if "name" not in fields.values:
        fields.missing("name", "a client target", "name the handler in the user's client")
    name = fields.text("name")
    if name == "":
        fields.wrong("wrong-type", "name", '"name" is empty', "name the handler")
    return ClientTarget(name=name) if name else None


def _read_http_target(fields: Fields, around: Surroundings, kind_name: str) -> Destination | None:
    reader = RequestReader(fields, around, "input")
    method = reader.method()
    origin: Origin | None = None
    component: str | None = None
    if kind_name == "url":
        origin, location = _read_url(reader)
    else:
        component = _read_component(fields, around)
        location = reader.path()
    query = read_query(reader, "query")
    headers = read_headers(reader, authorization=kind_name == "url")
    body = read_body(reader, "body", method, (Method.GET,))
    if method is None or location is None:
        return None
    request = RequestTemplate(
        method=method,
        location=location,
        query=query,
        headers=headers,
        body=body,
        env_names=tuple(sorted(reader.env_names)),
    )
    if origin is not None:
        return UrlTarget(origin=origin, request=request)
    return AppTarget(component=component, request=request) if component else None


def _read_component(fields: Fields, around: Surroundings) -> str | None:
    if "component" not in fields.values:
        fields.missing("component", "an app target", "name one of the app's components")
        return None
    name = fields.text("component")
    if name is not None and "${" in name:
        fields.wrong(
            "bad-reference",
            "component",
            f'"{shown(name)}" holds a reference, which may not stand in the name of a component',
            "name one of the app's components",
        )
        return None
    if name is None or around.components is None or name in around.components:
        return name
    near = nearest(name, around.components)
    known = ", ".join(sorted(around.components)) or "none"
    fields.wrong(
        "unknown-component",
        "component",
        f'the app has no component "{shown(name)}"',
        f'did you mean "{near}"?' if near else f"declare it under components (known: {known})",
    )
    return None


def _read_url(reader: RequestReader) -> tuple[Origin | None, Location | None]:
    """The literal origin of a ``url`` target and the location below it."""
    fields = reader.fields
    if "url" not in fields.values:
        fields.missing("url", "a url target", "write the address with its origin")
        return None, None
    written = fields.text("url")
    at = fields.place("url")
    compiled = None if written is None else reader.compile(written, at, reader.roots)
    if compiled is None:
        return None, None
    first = compiled.parts[0] if compiled.parts else ""
    found = _ORIGIN.match(first) if isinstance(first, str) else None
    if found is None or not isinstance(first, str):
        fields.wrong(
            "bad-url",
            "url",
            f'"{shown(written or "")}" does not begin with a literal origin',
            "write scheme and host as they are, such as https://api.example.com/…",
        )
        return None, None
    rest = first[found.end() :]
    if not rest and len(compiled.parts) > 1:
        fields.wrong(
            "bad-url",
            "url",
            f'"{shown(written or "")}": a reference touches the host',
            "end the literal origin with / before the first reference",
        )
        return None, None
    try:
        origin = parse_url(found[0]).origin
    except UrlFault as fault:
        fields.wrong(
            "bad-url",
            "url",
            f'"{shown(found[0])}": {fault.reason}',
            "write an address such as https://api.example.com/v1",
        )
        return None, None
    below = rest if rest.startswith("/") else f"/{rest}"
    return origin, reader.location(Text((below, *compiled.parts[1:])), at, query=True)
