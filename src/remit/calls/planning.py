"""The exact request of one call, built, frozen and digested (contract section 5, step 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, cast
from urllib.parse import quote_plus

from remit.calls.expansion import (
    EnvText,
    Frozen,
    Scope,
    body_value,
    header_value,
    path_segment,
    query_pairs,
    query_text,
    scalar_text,
)
from remit.calls.lookup import MISSING, Found
from remit.catalog.model import AppTarget, Endpoint, UrlTarget
from remit.documents.canonical import canonical_json
from remit.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Container

    from remit.calls.arguments import Arguments
    from remit.catalog.model import Definition, Location, RequestTemplate, Tool
    from remit.values.json import JsonObject, JsonValue
    from remit.values.urls import Origin

MAX_URL_BYTES = 8 * 1024
MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRequest:
    """A request as it will be sent, but for credentials and env values.

    What a person is shown, and what an approval is bound to, is this and nothing else.

    Attributes:
        origin: where it goes; compared again with the approved origins at the send.
        url: the whole URL; env values stand in it as their references.
        headers: the author's headers, names as written.
        has_body: whether anything is sent as body (``null`` may be).
        body: a JSON value, or a form's text where ``form``.
        digest: SHA-256, 64 hex digits, over the RFC 8785 form of ``{app, version, tool,
            method, url, headers, body}``.
        env_names: the env values it needs at the send.
    """

    app: str
    version: int
    tool: str
    method: str
    origin: Origin
    url: Frozen
    headers: tuple[tuple[str, Frozen], ...]
    has_body: bool
    body: Found
    form: bool
    env_names: tuple[str, ...] = ()
    digest: str = ""

    @property
    def shown_url(self) -> str:
        """The URL as it may be shown."""
        return self.url if isinstance(self.url, str) else self.url.shown

    @property
    def shown_headers(self) -> dict[str, str]:
        """The author's headers as they may be shown."""
        return {n: v if isinstance(v, str) else v.shown for n, v in self.headers}

    @property
    def shown_body(self) -> JsonValue:
        """The body as it may be shown: a JSON value, a form's text, or null for none."""
        if not self.has_body or self.body is MISSING:
            return None
        return _shown(self.body) if self.env_names else self.body


def plan(
    tool: Tool,
    definition: Definition,
    arguments: Arguments,
    *,
    version: int = 0,
    env_names: Container[str] = (),
) -> FrozenRequest:
    """Build and freeze the request of one call.

    Args:
        tool: a tool with an HTTP destination.
        definition: the app it belongs to.
        arguments: settled arguments.
        version: version of the definition; 0 without a server.
        env_names: the env values there are for this tool.

    Raises:
        MissingReference: a reference to nothing.
        InvalidArguments: a value that cannot stand where the request needs it.
    """
    template = tool.request
    if template is None:
        msg = f"{tool.name} runs in the user's client; it makes no request"
        raise TypeError(msg)
    scope = Scope(
        tool=tool.name,
        input=arguments.values,
        named=_named(tool, arguments),
        env_names=env_names,
    )
    origin, base_path = base_of(tool, definition)
    url = _url(scope, origin, base_path, template)
    headers = tuple((name, header_value(scope, name, text)) for name, text in template.headers)
    body = MISSING if template.body is None else body_value(scope, template.body)
    form = template.body_format == "form" and body is not MISSING
    if form:
        body = form_text(scope, body)
    return _frozen(
        FrozenRequest(
            app=definition.id,
            version=version,
            tool=tool.name,
            method=template.method.value,
            origin=origin,
            url=url,
            headers=headers,
            has_body=body is not MISSING,
            body=body,
            form=form,
            env_names=template.env_names,
        )
    )


def _named(tool: Tool, arguments: Arguments) -> JsonObject:
    """What references reach by name: an undeclared argument never fills a slot, a pin does."""
    values = arguments.values
    if tool.parameters.admits_others:
        names = tool.parameters.names
        values = {name: value for name, value in values.items() if name in names}
    return {**values, **arguments.undeclared_pins} if arguments.undeclared_pins else values


def base_of(tool: Tool, definition: Definition) -> tuple[Origin, str]:
    """The origin of a tool's destination, and the path that its own path is appended to."""
    destination = tool.destination
    if isinstance(destination, UrlTarget):
        return destination.origin, ""
    if isinstance(destination, AppTarget):
        url = definition.components[destination.component].url
        return url.origin, url.path.rstrip("/")
    if isinstance(destination, Endpoint) and definition.base_url is not None:
        return definition.base_url.origin, definition.base_url.path.rstrip("/")
    msg = f"{tool.name} has no address to call"
    raise TypeError(msg)


def _url(scope: Scope, origin: Origin, base_path: str, template: RequestTemplate) -> Frozen:
    pairs = [pair for parameter in template.query for pair in query_pairs(scope, parameter)]
    return joined_url(scope, origin, base_path, template.location, pairs)


def joined_url(
    scope: Scope,
    origin: Origin,
    base_path: str,
    location: Location,
    pairs: list[tuple[str, Frozen]],
) -> Frozen:
    """Join an origin, a base path, a location and query pairs, all encoded, to one URL.

    Raises:
        MissingReference, InvalidArguments: as for its parts, or the URL is over 8 KiB.
    """
    parts: list[Frozen] = [str(origin), base_path]
    for segment in location.segments:
        parts += ["/", path_segment(scope, segment)]
    mark = "?"
    if location.query is not None:
        parts += [mark, query_text(scope, location.query)]
        mark = "&"
    for name, value in pairs:
        parts += [mark, name, "=", value]
        mark = "&"
    url = _concatenated(parts)
    length = len(url) if isinstance(url, str) else len(url.shown)
    if length > MAX_URL_BYTES:
        raise InvalidArguments(
            f"{scope.tool} was not called: its URL would have {length:,} bytes; "
            f"{MAX_URL_BYTES:,} are allowed. Shorten the arguments.",
            details={"faults": [{"pointer": "", "rule": "url_length", "message": "URL too long"}]},
        )
    return url


def _concatenated(parts: list[Frozen]) -> Frozen:
    if all(isinstance(part, str) for part in parts):
        return "".join(cast("list[str]", parts))
    flat = [p for part in parts for p in (part.parts if isinstance(part, EnvText) else (part,))]
    return EnvText(tuple(flat))


def form_text(scope: Scope, body: Found) -> str:
    """A body as ``application/x-www-form-urlencoded``; brackets for nesting, null as empty."""
    pairs: list[str] = []
    if isinstance(body, dict):
        for name, value in body.items():
            _form_pairs(pairs, quote_plus(name), value)
    return "&".join(pairs)


def _form_pairs(pairs: list[str], name: str, value: JsonValue) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _form_pairs(pairs, f"{name}%5B{quote_plus(key)}%5D", item)
    elif isinstance(value, list):
        for item in value:
            _form_pairs(pairs, f"{name}%5B%5D", item)
    else:
        pairs.append(f"{name}={quote_plus(scalar_text(value) or '')}")


def _frozen(request: FrozenRequest) -> FrozenRequest:
    """The request with its digest; over-large bodies are refused here, before anything else."""
    canonical = canonical_json(
        {
            "app": request.app,
            "version": request.version,
            "tool": request.tool,
            "method": request.method,
            "url": request.shown_url,
            "headers": request.shown_headers,
            "body": request.shown_body,
        }
    )
    if len(canonical) > MAX_BODY_BYTES:
        raise InvalidArguments(
            f"{request.tool} was not called: its body would have {len(canonical):,} bytes; "
            f"{MAX_BODY_BYTES:,} are allowed. Send less at once.",
            details={"faults": [{"pointer": "", "rule": "body_size", "message": "body too large"}]},
        )
    return replace(request, digest=sha256(canonical).hexdigest())


def _shown(value: Found) -> JsonValue:
    if isinstance(value, EnvText):
        return value.shown
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return None if value is MISSING else value
