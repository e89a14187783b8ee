"""The exact request of one call, built, frozen and digested (contract section 5, step 5)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, cast
from urllib.parse import quote_plus

from msgspec import Struct, structs

from remit.calls.encoding import scalar_text
from remit.calls.expansion import (
    EnvText,
    Frozen,
    Scope,
    body_value,
    header_value,
    path_segment,
    query_pairs,
    query_text,
)
from remit.calls.lookup import MISSING, Found
from remit.calls.room import MAX_BODY_BYTES, Room
from remit.catalog.model import AppTarget, Endpoint, UrlTarget
from remit.documents.canonical import canonical_json
from remit.errors import InvalidArguments
from remit.values.secrets import MASK
from remit.values.urls import MAX_URL_BYTES

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from remit.calls.arguments import Arguments
    from remit.catalog.model import Definition, Location, RequestTemplate, Tool
    from remit.values.json import JsonObject, JsonValue
    from remit.values.urls import Origin

_ENCODED_MASK = quote_plus(MASK)


class Shown(Struct, frozen=True, kw_only=True):
    """A request as it may be stored and shown: no credential, no env value, no secret argument.

    Attributes:
        url: env values stand in it as their references.
        headers: the author's headers, names as written.
        body: a JSON value, a form's text, or null for none.
    """

    url: str
    headers: Mapping[str, str]
    body: JsonValue


class FrozenRequest(Struct, frozen=True, kw_only=True):
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
        shown: what of it may be stored and shown.
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
    shown: Shown
    env_names: tuple[str, ...] = ()
    digest: str = ""

    @property
    def shown_url(self) -> str:
        """The URL as it may be shown."""
        return self.shown.url

    @property
    def shown_headers(self) -> dict[str, str]:
        """The author's headers as they may be shown."""
        return dict(self.shown.headers)

    @property
    def shown_body(self) -> JsonValue:
        """The body as it may be shown: a JSON value, a form's text, or null for none."""
        return self.shown.body


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
        named=reachable(tool, arguments),
        env_names=env_names,
        declared=tool.parameters.names,
    )
    origin, base_path = base_of(tool, definition)
    built = _build(scope, origin, base_path, template)
    shown = _shown(built, template)
    digest = _digest(definition.id, version, tool.name, template.method.value, shown)
    return FrozenRequest(
        app=definition.id,
        version=version,
        tool=tool.name,
        method=template.method.value,
        origin=origin,
        url=built.url,
        headers=built.headers,
        has_body=built.body is not MISSING,
        body=built.body,
        form=built.form,
        shown=shown
        if tool.parameters.secrets is None
        else _masked(tool, scope, origin, base_path, template),
        env_names=template.env_names,
        digest=digest,
    )


def reachable(tool: Tool, arguments: Arguments) -> JsonObject:
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


class _Built(Struct, frozen=True, kw_only=True):
    """The parts of a request with their values in them."""

    url: Frozen
    headers: tuple[tuple[str, Frozen], ...]
    body: Found
    form: bool


def _build(scope: Scope, origin: Origin, base_path: str, template: RequestTemplate) -> _Built:
    pairs: list[tuple[str, Frozen]] = []
    for parameter in template.query:
        pairs += query_pairs(scope, parameter)
    body = MISSING if template.body is None else body_value(scope, template.body)
    form = template.body_format == "form" and body is not MISSING
    return _Built(
        url=joined_url(scope, origin, base_path, template.location, pairs),
        headers=tuple([(name, header_value(scope, name, text)) for name, text in template.headers]),
        body=form_text(scope.tool, body) if form else body,
        form=form,
    )


def _shown(built: _Built, template: RequestTemplate) -> Shown:
    if not template.env_names:
        return Shown(
            url=cast("str", built.url),
            headers=cast("dict[str, str]", dict(built.headers)),
            body=None if built.body is MISSING else built.body,
        )
    return Shown(
        url=_shown_text(built.url),
        headers={name: _shown_text(value) for name, value in built.headers},
        body=_shown_value(built.body),
    )


def _shown_text(text: Frozen) -> str:
    return text if isinstance(text, str) else text.shown


def _shown_value(value: Found) -> JsonValue:
    if isinstance(value, EnvText):
        return value.shown
    if isinstance(value, dict):
        return {key: _shown_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown_value(item) for item in value]
    return None if value is MISSING else value


def _masked(
    tool: Tool, scope: Scope, origin: Origin, base_path: str, template: RequestTemplate
) -> Shown:
    """What may be shown where an argument is secret: the same request, made of masked arguments.

    It is built anew, so that no text has to be searched for the secret.
    """
    masked = tool.parameters.masked
    scope = structs.replace(
        scope, input=masked(scope.input), named=masked(scope.named), room=Room()
    )
    shown = _shown(_build(scope, origin, base_path, template), template)
    body = shown.body
    if template.body_format == "form" and isinstance(body, str):
        body = body.replace(_ENCODED_MASK, MASK)
    return structs.replace(shown, url=shown.url.replace(_ENCODED_MASK, MASK), body=body)


def joined_url(
    scope: Scope,
    origin: Origin,
    base_path: str,
    location: Location,
    pairs: list[tuple[str, Frozen]],
) -> Frozen:
    """Join an origin, a base path, a location and query pairs, all encoded, to one URL.

    Raises:
        MissingReference, InvalidArguments: as for its parts.
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
    return _concatenated(parts)


def _concatenated(parts: list[Frozen]) -> Frozen:
    try:
        return "".join(cast("list[str]", parts))
    except TypeError:
        # One of them holds an env reference.
        pass
    flat = [p for part in parts for p in (part.parts if isinstance(part, EnvText) else (part,))]
    return EnvText(tuple(flat))


def form_text(tool: str, body: Found) -> str:
    """A body as ``application/x-www-form-urlencoded``; brackets for nesting, null as empty.

    Raises:
        InvalidArguments: it would be too long. A value deep below long names has all of them in
            its own, so a small argument can make a huge form; it is not made to its end.
    """
    pairs: list[str] = []
    size = 0
    for pair in _form_pairs(body) if isinstance(body, dict) else ():
        size += len(pair) + 1
        if size > MAX_BODY_BYTES:
            raise InvalidArguments(
                f"{tool} was not called: its form would have more than {MAX_BODY_BYTES:,} bytes. "
                "Send less at once.",
                details={
                    "faults": [{"pointer": "", "rule": "body_size", "message": "body too large"}]
                },
            )
        pairs.append(pair)
    return "&".join(pairs)


def _form_pairs(value: JsonValue, name: str | None = None) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            inner = quote_plus(key)
            yield from _form_pairs(item, inner if name is None else f"{name}%5B{inner}%5D")
    elif isinstance(value, list):
        for item in value:
            yield from _form_pairs(item, f"{name}%5B%5D")
    else:
        yield f"{name}={quote_plus(scalar_text(value) or '')}"


def refuse_long_url(tool: str, url: str) -> None:
    """Refuse a finished URL that is too long (contract section 3).

    Raises:
        InvalidArguments: it has more than 8 KiB.
    """
    if len(url) > MAX_URL_BYTES:
        raise InvalidArguments(
            f"{tool} was not called: its URL would have {len(url):,} bytes; "
            f"{MAX_URL_BYTES:,} are allowed. Shorten the arguments.",
            details={"faults": [{"pointer": "", "rule": "url_length", "message": "URL too long"}]},
        )


def digest_of(request: FrozenRequest) -> str:
    """The digest of what a request would send, made anew, for one that was kept somewhere.

    Raises:
        InvalidArguments: it is larger than any request that is planned.
    """
    shown = Shown(
        url=_shown_text(request.url),
        headers={name: _shown_text(value) for name, value in request.headers},
        body=_shown_value(request.body),
    )
    return _digest(request.app, request.version, request.tool, request.method, shown)


def _digest(app: str, version: int, tool: str, method: str, shown: Shown) -> str:
    """The digest of a request; over-large ones are refused here, before anything else."""
    refuse_long_url(tool, shown.url)
    canonical = canonical_json(
        {
            "app": app,
            "version": version,
            "tool": tool,
            "method": method,
            "url": shown.url,
            "headers": shown.headers,
            "body": shown.body,
        }
    )
    if len(canonical) > MAX_BODY_BYTES:
        raise InvalidArguments(
            f"{tool} was not called: its body would have {len(canonical):,} bytes; "
            f"{MAX_BODY_BYTES:,} are allowed. Send less at once.",
            details={"faults": [{"pointer": "", "rule": "body_size", "message": "body too large"}]},
        )
    return sha256(canonical).hexdigest()
