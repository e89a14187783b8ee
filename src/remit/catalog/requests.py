"""The request a tool makes: ``endpoint`` or ``target``, checked and compiled (contract sections 3, 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from remit.catalog.headers import is_json_type, name_fault, value_is_sendable
from remit.catalog.locations import LocationFault, compile_path
from remit.catalog.model import (
    AppTarget,
    BodyArray,
    BodyConstant,
    BodyFormat,
    BodyNode,
    BodyObject,
    ClientTarget,
    Destination,
    Endpoint,
    Location,
    QueryParameter,
    QueryStyle,
    RequestTemplate,
    UrlTarget,
)
from remit.catalog.reading import Fields, is_object, kind
from remit.catalog.references import Notation, ReferenceFault, Root, Text, compile_text
from remit.catalog.scales import Method
from remit.values.json import nearest
from remit.values.urls import Origin, UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.mistakes import Mistakes
    from remit.values.json import JsonObject, JsonValue

STYLES: tuple[QueryStyle, ...] = get_args(QueryStyle)
_FORMATS: tuple[BodyFormat, ...] = get_args(BodyFormat)
_ORIGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_MAX_HEADER_BYTES = 8 * 1024
_ENDPOINT_KEYS = ("method", "path", "headers", "queryParams", "bodyTemplate", "bodyFormat")
_TARGET_KEYS: Mapping[str, tuple[str, ...]] = {
    "app": ("type", "component", "path", "method", "query", "headers", "body"),
    "url": ("type", "url", "method", "query", "headers", "body"),
    "client": ("type", "name"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a tool stands in: facts of its definition that decide what it may say.

    Attributes:
        brand: the brand setting (contract section 12).
        components: names of the app's components; None where the definition is not known.
        credential_header, credential_query: where ``auth`` puts the credential, if anywhere.
        base_origin: origin of ``baseUrl``, None where there is none or it is not known.
    """

    brand: str = "Remit"
    components: frozenset[str] | None = None
    credential_header: str | None = None
    credential_query: str | None = None
    base_origin: Origin | None = None


class RequestReader:
    """Reads the request of one tool; mistakes are noted in the collector it is given."""

    def __init__(self, fields: Fields, surroundings: Surroundings, notation: Notation) -> None:
        self.fields = fields
        self.around = surroundings
        self.notation: Notation = notation
        self.env_names: set[str] = set()

    # -- texts -----------------------------------------------------------------------------

    def compile(self, text: str, at: str, roots: tuple[Root, ...]) -> Text | None:
        """Compile a text in which only ``roots`` may be referred to."""
        try:
            compiled = compile_text(text, self.notation)
        except ReferenceFault as fault:
            self.fields.mistakes.add("bad-reference", at, fault.message, fault.mend)
            return None
        for reference in compiled.references:
            if reference.root not in roots:
                allowed = " or ".join(roots) if roots else "nothing"
                self.fields.mistakes.add(
                    "bad-reference",
                    at,
                    f'"{reference.written}" may not stand here',
                    f"only {allowed} can be referred to here" if roots else "write literal text",
                )
                return None
            if reference.root == "env":
                self.env_names.add(reference.path[0])
        return compiled

    @property
    def roots(self) -> tuple[Root, ...]:
        """The namespaces of this notation that a request may read."""
        return ("args",) if self.notation == "args" else ("input", "env")

    # -- parts -----------------------------------------------------------------------------

    def method(self) -> Method | None:
        """The HTTP method; a reference in it is an unknown value like any other."""
        if "method" not in self.fields.values:
            self.fields.missing("method", "a request", "write GET, POST, PUT, PATCH or DELETE")
            return None
        return self.fields.choice("method", Method)

    def path(self) -> Location | None:
        """The path of an ``endpoint`` or ``app`` target."""
        if "path" not in self.fields.values:
            self.fields.missing("path", "a request", "write the path below the base address")
            return None
        text = self.fields.text("path")
        if text is None:
            return None
        at = self.fields.place("path")
        if self.notation == "input" and "${" in text:
            self.fields.wrong(
                "bad-reference",
                "path",
                f'"{text}" holds a reference, which may not stand in the path of an app target',
                "send the value in query or body",
            )
            return None
        if _ORIGIN.match(text) and not text.startswith("/"):
            self.fields.wrong(
                "bad-path",
                "path",
                f'"{text}" is a whole address; a path begins with one /',
                "write the part after the host; the host is the definition's",
            )
            return None
        compiled = self.compile(text, at, self.roots)
        return None if compiled is None else self.location(compiled, at, query=False)

    def location(self, text: Text, at: str, *, query: bool) -> Location | None:
        """A compiled path as a location, or a located mistake."""
        try:
            return compile_path(text, query=query)
        except LocationFault as fault:
            written = "".join(p if isinstance(p, str) else p.written for p in text.parts)
            self.fields.mistakes.add(
                "bad-path", at, f'"{_visible(written)}": {fault.message}', fault.mend
            )
            return None

    def query(self, key: str) -> tuple[QueryParameter, ...]:
        """The query parameters, each ``text`` or ``{value, style}`` in an ``endpoint``."""
        record = self.fields.object(key)
        if record is None:
            return ()
        inner = Fields(record, self.fields.place(key), self.fields.mistakes)
        found: list[QueryParameter] = []
        for name in record:
            value, style, at = self._query_value(inner, name)
            if value is None or not self._query_name(inner, name):
                continue
            compiled = self.compile(value, at, self.roots)
            if compiled is not None:
                found.append(QueryParameter(name=name, value=compiled, style=style))
        return tuple(found)

    def _query_value(self, inner: Fields, name: str) -> tuple[str | None, QueryStyle, str]:
        record = inner.values[name]
        if not (is_object(record) and self.notation == "args"):
            return inner.text(name), "repeat", inner.place(name)
        fields = Fields(record, inner.place(name), self.fields.mistakes)
        fields.only(("value", "style"), "a query parameter")
        if "value" not in record:
            fields.missing("value", "a query parameter", "write {value: …, style: …}")
        style = fields.text("style") if "style" in record else "repeat"
        known = next((candidate for candidate in STYLES if candidate == style), None)
        if style is not None and known is None:
            fields.wrong(
                "unknown-value",
                "style",
                f'"style" is "{style}", which is none of {", ".join(STYLES)}',
                f'did you mean "{nearest(style, STYLES) or "repeat"}"?',
            )
        return fields.text("value"), known or "repeat", fields.place("value")

    def _query_name(self, inner: Fields, name: str) -> bool:
        credential = self.around.credential_query
        if credential is not None and name.lower() == credential.lower():
            inner.wrong(
                "owned-header",
                name,
                f'"{name}" is the query parameter that carries the user\'s credential',
                "leave it out; Remit adds the credential",
            )
            return False
        return self._literal_key(inner, name)

    def _literal_key(self, inner: Fields, name: str) -> bool:
        """Whether a key is literal: a reference may stand in values only."""
        try:
            literal = compile_text(name, self.notation).literal
        except ReferenceFault:
            literal = None
        if literal is None:
            inner.wrong(
                "bad-reference",
                name,
                f'the key "{_visible(name)}" holds a reference',
                "references may stand in values, never in names",
            )
        return literal is not None

    def headers(self, *, authorization: bool) -> tuple[tuple[str, Text], ...]:
        """The author's headers; references only in a ``target``."""
        record = self.fields.object("headers")
        if record is None:
            return ()
        inner = Fields(record, self.fields.place("headers"), self.fields.mistakes)
        seen: dict[str, str] = {}
        found: list[tuple[str, Text]] = []
        for name in record:
            fault = name_fault(
                name,
                brand=self.around.brand,
                authorization=authorization,
                credential=self.around.credential_header,
            )
            if fault is None and name.lower() in seen:
                fault = f'is there twice: "{seen[name.lower()]}" is the same header'
            seen.setdefault(name.lower(), name)
            if fault is not None:
                rule = "owned-header" if "Remit" in fault or "credential" in fault else "bad-header"
                inner.wrong(rule, name, f'"{_visible(name)}" {fault}', "leave it out or rename it")
                continue
            value = self._header_value(inner, name)
            if value is not None:
                found.append((name, value))
        return tuple(found)

    def _header_value(self, inner: Fields, name: str) -> Text | None:
        text = inner.text(name)
        if text is None:
            return None
        compiled = self.compile(
            text, inner.place(name), () if self.notation == "args" else self.roots
        )
        if compiled is None:
            return None
        literals = "".join(part for part in compiled.parts if isinstance(part, str))
        if not value_is_sendable(literals) or len(literals) > _MAX_HEADER_BYTES:
            inner.wrong(
                "bad-header",
                name,
                f'the value of "{name}" cannot stand in a header',
                "use at most 8 KiB of visible ASCII, spaces and tabs",
            )
            return None
        if name.lower() == "content-type" and not (
            compiled.literal is not None and is_json_type(compiled.literal)
        ):
            inner.wrong(
                "bad-header",
                name,
                f'"{name}" may be set to a JSON type only',
                "write application/json or a type that ends in +json; "
                "bodyFormat: form sends a form",
            )
            return None
        return compiled

    def body(self, key: str, method: Method | None, without: tuple[Method, ...]) -> BodyNode | None:
        """The body template, or None where none is written."""
        if key not in self.fields.values:
            return None
        if method in without and method is not None:
            self.fields.wrong(
                "body-not-allowed",
                key,
                f"a {method.value} request has no body here",
                "send the values in the query, or use another method",
            )
            return None
        value = self.fields.values[key]
        if value is None:
            self.fields.wrong(
                "wrong-type", key, f'"{key}" is null', "leave the key out to send no body"
            )
            return None
        return self.node(value, self.fields.place(key), self.roots)

    def node(self, value: JsonValue, at: str, roots: tuple[Root, ...]) -> BodyNode | None:
        """Compile a JSON value whose strings may hold references."""
        if isinstance(value, str):
            text = self.compile(value, at, roots)
            if text is not None and text.literal is not None:
                return BodyConstant(text.literal)
            return text
        if is_object(value):
            return self._object(value, at, roots)
        if isinstance(value, list):
            nodes = [self.node(item, f"{at}/{i}", roots) for i, item in enumerate(value)]
            items = tuple(node for node in nodes if node is not None)
            if all(isinstance(node, BodyConstant) for node in items):
                return BodyConstant([n.value for n in items if isinstance(n, BodyConstant)])
            return BodyArray(items)
        return BodyConstant(value)

    def _object(self, record: JsonObject, at: str, roots: tuple[Root, ...]) -> BodyNode:
        inner = Fields(record, at, self.fields.mistakes)
        items: list[tuple[str, BodyNode]] = []
        for name, value in record.items():
            node = self.node(value, inner.place(name), roots)
            if self._literal_key(inner, name) and node is not None:
                # `$${` is the literal `${` in a name as well.
                items.append((compile_text(name, self.notation).literal or "", node))
        if all(isinstance(node, BodyConstant) for _, node in items):
            return BodyConstant({k: n.value for k, n in items if isinstance(n, BodyConstant)})
        return BodyObject(tuple(items))


def read_endpoint(fields: Fields, around: Surroundings) -> Endpoint | None:
    """Read an ``endpoint``; None where it cannot be used."""
    before = len(fields.mistakes.found)
    fields.only(_ENDPOINT_KEYS, "an endpoint")
    reader = RequestReader(fields, around, "args")
    method = reader.method()
    location = reader.path()
    query = reader.query("queryParams")
    headers = reader.headers(authorization=False)
    body = reader.body("bodyTemplate", method, (Method.GET, Method.DELETE))
    body_format = _body_format(fields, headers)
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


def _body_format(fields: Fields, headers: tuple[tuple[str, Text], ...]) -> BodyFormat:
    if "bodyFormat" not in fields.values:
        return "json"
    text = fields.text("bodyFormat")
    if text is not None and text not in _FORMATS:
        fields.wrong(
            "unknown-value",
            "bodyFormat",
            f'"bodyFormat" is "{text}", which is none of json, form',
            "multipart and XML bodies cannot be sent; write json or form",
        )
    if text != "form":
        return "json"
    if "bodyTemplate" not in fields.values:
        fields.wrong(
            "bad-body", "bodyFormat", "a form without bodyTemplate sends nothing", "write both"
        )
    elif not is_object(fields.values["bodyTemplate"]):
        fields.wrong(
            "bad-body",
            "bodyTemplate",
            f"a form is made from an object; bodyTemplate is {kind(fields.values['bodyTemplate'])}",
            "write the form's fields as keys",
        )
    if any(name.lower() == "content-type" for name, _ in headers):
        fields.wrong(
            "bad-header", "headers", "a form brings its own Content-Type", "leave the header out"
        )
    return "form"


def read_target(fields: Fields, around: Surroundings) -> Destination | None:
    """Read a ``target``; None where it cannot be used."""
    before = len(fields.mistakes.found)
    kind_name = fields.text("type")
    alias = around.brand.lower()
    if "type" not in fields.values:
        fields.missing("type", "a target", "write app, url or client")
        return None
    if kind_name == alias:
        kind_name = "client"
    if kind_name not in _TARGET_KEYS:
        if kind_name is not None:
            fields.wrong(
                "unknown-value",
                "type",
                f'"type" is "{kind_name}", which is none of app, url, client',
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
    query = reader.query("query")
    headers = reader.headers(authorization=kind_name == "url")
    body = reader.body("body", method, (Method.GET,))
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
    if name is None or around.components is None or name in around.components:
        return name
    near = nearest(name, around.components)
    known = ", ".join(sorted(around.components)) or "none"
    fields.wrong(
        "unknown-component",
        "component",
        f'the app has no component "{_visible(name)}"',
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
            f'"{_visible(written or "")}" does not begin with a literal origin',
            "write scheme and host as they are, such as https://api.example.com/…",
        )
        return None, None
    rest = first[found.end() :]
    if not rest and len(compiled.parts) > 1:
        fields.wrong(
            "bad-url",
            "url",
            f'"{_visible(written or "")}": a reference touches the host',
            "end the literal origin with / before the first reference",
        )
        return None, None
    try:
        origin = parse_url(found[0]).origin
    except UrlFault as fault:
        fields.wrong(
            "bad-url", "url", f'"{_visible(found[0])}": {fault.reason}', "write an http(s) address"
        )
        return None, None
    below = rest if rest.startswith("/") else f"/{rest}"
    return origin, reader.location(Text((below, *compiled.parts[1:])), at, query=True)


def _visible(text: str) -> str:
    """An author's text for a message: control characters shown, at most 80 characters."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return shown if len(shown) <= 80 else shown[:79] + "…"
