"""The finished request: credential and env values put in, last of all (contract sections 3, 5)."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from remit.calls.encoding import encoded
from remit.calls.expansion import EnvText, Frozen, segment_fault
from remit.calls.lookup import MISSING, Found
from remit.calls.room import MAX_BODY_BYTES
from remit.catalog.headers import MAX_HEADER_BYTES, tool_context_header, value_is_sendable
from remit.catalog.model import AppTarget, Endpoint
from remit.documents.canonical import compact_bytes
from remit.errors import InvalidArguments, NotConnected
from remit.values.secrets import MASK, Secret
from remit.values.urls import MAX_URL_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Auth, Tool

ACCEPT = "application/json, text/plain;q=0.9, */*;q=0.1"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


#: The tool context of a call that no session makes.
FROM_API = '{"source":"api"}'


class Sender(Struct, frozen=True, kw_only=True):
    """What Remit itself adds to a request.

    Attributes:
        call_id: our own id of the call; the ``Idempotency-Key`` of every method but GET.
        traceparent: W3C trace context.
        version: Remit's version, for ``User-Agent``.
        brand: names the tool-context header.
        context: value of the tool-context header, compact JSON.
    """

    call_id: str
    traceparent: str
    version: str
    brand: str = "Remit"
    context: str = FROM_API


class WireRequest(Struct, frozen=True, kw_only=True):
    """One finished request, credentials included; nothing in it is expanded or encoded again.

    Attributes:
        method: GET, POST, PUT, PATCH or DELETE; OPTIONS where a build looks for a route.
        url: absolute, raw, percent-encoded.
        headers: in the order they are sent; without Host, Content-Length and the other headers
            of the connection, which the transport adds.
        body: None where there is none.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None

    def __repr__(self) -> str:
        # Headers, query and body may hold a credential; a record is made from the frozen request.
        return f"WireRequest({self.method} {self.url.partition('?')[0]!r})"


class CredentialUse(Struct, frozen=True, kw_only=True):
    """Where the user's credential goes, already in its final shape."""

    header: tuple[str, str] | None = None
    query: str | None = None

    def __repr__(self) -> str:
        return f"CredentialUse({MASK})"


def use_credential(auth: Auth, credential: Secret | None) -> CredentialUse:
    """The credential in the shape that the definition declares.

    Raises:
        NotConnected: there is none, or it cannot stand in a header; its text is never quoted.
    """
    if auth.type == "none":
        return CredentialUse()
    if credential is None:
        raise NotConnected(
            f"There is no credential to call with ({auth.type}). Connect the account first."
        )
    token = credential.reveal()
    if not token or not token.isprintable():
        raise NotConnected(
            "The credential cannot be sent: it is empty or holds a line break or another "
            "character that is never part of one. Connect the account again."
        )
    if auth.query is not None:
        return CredentialUse(query=f"{encoded(auth.query)}={encoded(auth.prefix + token)}")
    value = _header_value(auth, token)
    if not value_is_sendable(value) or len(value) > MAX_HEADER_BYTES:
        raise NotConnected(
            "The stored credential cannot be sent: it is too long, or holds a character that no "
            "header can carry. Connect the account again."
        )
    return CredentialUse(header=(auth.header or "Authorization", value))


def _header_value(auth: Auth, token: str) -> str:
    if auth.type == "apiKey":
        return auth.prefix + token
    if auth.type != "basic":
        return f"Bearer {token}"
    if ":" not in token:
        raise NotConnected(
            "The stored credential cannot be sent: for basic it is user:password, and there is no "
            "colon in it. Connect the account again."
        )
    return "Basic " + b64encode(token.encode()).decode()


def masked_credential(auth: Auth, tool: Tool) -> CredentialUse:
    """The place of the credential with its value masked, for a dry run."""
    if isinstance(tool.destination, AppTarget):
        return CredentialUse(header=("Authorization", f"Bearer {MASK}"))
    if not carries_credential(tool):
        return CredentialUse()
    if auth.query is not None:
        return CredentialUse(query=f"{encoded(auth.query)}={encoded(auth.prefix)}{MASK}")
    if auth.header is None:
        return CredentialUse()
    prefix = {"basic": "Basic ", "apiKey": auth.prefix}.get(auth.type, "Bearer ")
    return CredentialUse(header=(auth.header, prefix + MASK))


def finish(
    request: FrozenRequest,
    tool: Tool,
    *,
    credential: CredentialUse,
    env: Mapping[str, Secret],
    sender: Sender,
) -> WireRequest:
    """Fill in env values and add the headers that Remit owns.

    Raises:
        InvalidArguments: an env value cannot stand where it is used; the value is not quoted.
    """
    url = request.url if isinstance(request.url, str) else _filled_url(request, env)
    if credential.query is not None:
        url += ("&" if "?" in url else "?") + credential.query
    owned = owned_headers(request, tool, credential=credential, sender=sender)
    if len(url) > MAX_URL_BYTES:
        raise _unusable_env(request, "or credential makes the URL longer than 8 KiB")
    return WireRequest(
        method=request.method,
        url=url,
        headers=(*_filled_headers(request, env), *owned),
        body=_body(request, env),
    )


def _filled_headers(
    request: FrozenRequest, env: Mapping[str, Secret]
) -> tuple[tuple[str, str], ...]:
    """The author's headers with their env values; what else is in them was held when frozen."""
    if not request.env_names:
        return cast("tuple[tuple[str, str], ...]", request.headers)
    headers: list[tuple[str, str]] = []
    for name, value in request.headers:
        too_long = _length(value, env) > MAX_HEADER_BYTES
        text = "" if too_long else _filled(value, env)
        if too_long or not value_is_sendable(text):
            raise _unusable_env(
                request, f"in the header {name} is too long or holds a character it cannot carry"
            )
        headers.append((name, text))
    return tuple(headers)


def owned_headers(
    request: FrozenRequest, tool: Tool, *, credential: CredentialUse, sender: Sender
) -> list[tuple[str, str]]:
    """The headers that Remit adds, but for those of the transport (contract section 3)."""
    headers: list[tuple[str, str]] = []
    if credential.header is not None:
        headers.append(credential.header)
    if request.method != "GET":
        headers.append(("Idempotency-Key", sender.call_id))
    headers.append(("traceparent", sender.traceparent))
    if isinstance(tool.destination, AppTarget):
        headers.append((tool_context_header(sender.brand), sender.context))
    written = tuple([name for name, _ in request.headers])
    media = None if not request.has_body else _FORM if request.form else _JSON
    headers += _content_headers(written, media, sender.version)
    return headers


@lru_cache(maxsize=1_024)
def _content_headers(
    written: tuple[str, ...], media: str | None, version: str
) -> tuple[tuple[str, str], ...]:
    """The last of them: the same for every request with those of the author's.

    Args:
        written: names of the author's headers.
        media: type of the body; None where there is none.
        version: Remit's.
    """
    names = {name.lower() for name in written}
    headers: list[tuple[str, str]] = []
    if media is not None and "content-type" not in names:
        headers.append(("Content-Type", media))
    if "accept" not in names:
        headers.append(("Accept", ACCEPT))
    headers.append(("User-Agent", f"remit/{version}"))
    return tuple(headers)


def carries_credential(tool: Tool) -> bool:
    """Whether the user's credential goes out with a call of this tool."""
    return isinstance(tool.destination, Endpoint)


def _body(request: FrozenRequest, env: Mapping[str, Secret]) -> bytes | None:
    if not request.has_body:
        return None
    if request.form:
        return str(request.body).encode()
    if request.env_names and _env_length(request.body, env) > MAX_BODY_BYTES:
        raise _unusable_env(request, f"makes the body longer than {MAX_BODY_BYTES:,} bytes")
    body = _filled_value(request.body, env) if request.env_names else request.body
    return compact_bytes(None if body is MISSING else body)


def _filled(text: Frozen, env: Mapping[str, Secret]) -> str:
    if isinstance(text, str):
        return text
    return "".join(p if isinstance(p, str) else env[p.path[0]].reveal() for p in text.parts)


def _length(text: Frozen, env: Mapping[str, Secret]) -> int:
    """How long a text will be with its env values; told before it is written out."""
    if isinstance(text, str):
        return len(text)
    lengths = {p.path[0]: 0 for p in text.parts if not isinstance(p, str)}
    lengths = {name: len(env[name].reveal()) for name in lengths}
    return sum(len(p) if isinstance(p, str) else lengths[p.path[0]] for p in text.parts)


def _env_length(value: Found, env: Mapping[str, Secret]) -> int:
    """How much of a body the texts with env values will be."""
    if isinstance(value, EnvText):
        return _length(value, env)
    if isinstance(value, dict):
        return sum(_env_length(item, env) for item in value.values())
    return sum(_env_length(item, env) for item in value) if isinstance(value, list) else 0


def _filled_url(request: FrozenRequest, env: Mapping[str, Secret]) -> str:
    """The URL with its env values; each is one whole or a part of one path segment."""
    if isinstance(request.url, str):
        return request.url
    if _length(request.url, env) > MAX_URL_BYTES:
        raise _unusable_env(request, "makes the URL longer than 8 KiB")
    found: list[str] = []
    for part in request.url.parts:
        if isinstance(part, str):
            found.append(part)
            continue
        value = env[part.path[0]].reveal()
        if not value.isprintable():
            raise _unusable_env(request, f"{part.path[0]} holds a control character")
        found.append(encoded(value))
    url = "".join(found)
    # With a letter in the place of each value, as many segments: what differs was made by one.
    lettered = "".join(part if isinstance(part, str) else "x" for part in request.url.parts)
    pairs = zip(_segments(url), _segments(lettered), strict=True)
    if any(segment != other and segment_fault(segment) for segment, other in pairs):
        raise _unusable_env(request, "makes a segment of the path empty or a dot segment")
    return url


def _segments(url: str) -> list[str]:
    return url.partition("?")[0].split("/")


def _unusable_env(request: FrozenRequest, why: str) -> InvalidArguments:
    return InvalidArguments(
        f"{request.tool} was not called: an env value {why}. Set the env value anew."
    )


def _filled_value(value: Found, env: Mapping[str, Secret]) -> Found:
    if isinstance(value, EnvText):
        return _filled(value, env)
    if isinstance(value, dict):
        return {key: _filled_value(item, env) for key, item in value.items()}  # pyright: ignore[reportReturnType] -- no item is MISSING
    if isinstance(value, list):
        return [_filled_value(item, env) for item in value]  # pyright: ignore[reportReturnType] -- no item is MISSING
    return value
