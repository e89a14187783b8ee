"""The finished request: credential and env values put in, last of all (contract sections 3, 5)."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from remit.calls.expansion import EnvText, Frozen
from remit.calls.lookup import MISSING, Found
from remit.catalog.headers import tool_context_header, value_is_sendable
from remit.catalog.model import AppTarget, Endpoint
from remit.documents.canonical import compact_json
from remit.errors import InvalidArguments, NotConnected
from remit.values.secrets import MASK, Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Auth, Tool

ACCEPT = "application/json, text/plain;q=0.9, */*;q=0.1"
ACCEPT_ENCODING = "gzip, deflate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
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
    context: str = '{"source":"api"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRequest:
    """A request with everything in it, as it goes on the wire. Holds secrets; never shown."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialUse:
    """Where the user's credential goes, already in its final shape."""

    header: tuple[str, str] | None = None
    query: str | None = None


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
    if auth.query is not None:
        return CredentialUse(query=f"{quote(auth.query, safe='')}={quote(token, safe='')}")
    if auth.type == "basic":
        value = "Basic " + b64encode(token.encode()).decode()
    elif auth.type == "apiKey":
        value = auth.prefix + token
    else:
        value = f"Bearer {token}"
    if not value_is_sendable(value) or not token:
        raise NotConnected(
            "The stored credential cannot be sent: it is empty or holds a character that no "
            "header can carry. Connect the account again."
        )
    return CredentialUse(header=(auth.header or "Authorization", value))


def masked_credential(auth: Auth, tool: Tool) -> CredentialUse:
    """The place of the credential with its value masked, for a dry run."""
    if isinstance(tool.destination, AppTarget):
        return CredentialUse(header=("Authorization", f"Bearer {MASK}"))
    if not carries_credential(tool):
        return CredentialUse()
    if auth.query is not None:
        return CredentialUse(query=f"{quote(auth.query, safe='')}={MASK}")
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
) -> FinishedRequest:
    """Fill in env values and add the headers that Remit owns.

    Raises:
        InvalidArguments: an env value cannot stand where it is used; the value is not quoted.
    """
    url = _filled(request.url, env, encode=True)
    if credential.query is not None:
        url += ("&" if "?" in url else "?") + credential.query
    headers: list[tuple[str, str]] = []
    for name, value in request.headers:
        text = _filled(value, env, encode=False)
        if not value_is_sendable(text):
            raise InvalidArguments(
                f"{request.tool} was not called: an env value in the header {name} holds a "
                "character that no header can carry. Set it anew."
            )
        headers.append((name, text))
    headers += owned_headers(request, tool, credential=credential, sender=sender)
    return FinishedRequest(
        method=request.method, url=url, headers=tuple(headers), body=_body(request, env)
    )


def owned_headers(
    request: FrozenRequest, tool: Tool, *, credential: CredentialUse, sender: Sender
) -> list[tuple[str, str]]:
    """The headers that Remit adds, but for those of the transport (contract section 3)."""
    written = {name.lower() for name, _ in request.headers}
    headers: list[tuple[str, str]] = []
    if credential.header is not None:
        headers.append(credential.header)
    if request.method != "GET":
        headers.append(("Idempotency-Key", sender.call_id))
    headers.append(("traceparent", sender.traceparent))
    if isinstance(tool.destination, AppTarget):
        headers.append((tool_context_header(sender.brand), sender.context))
    if request.has_body and "content-type" not in written:
        kind = "application/x-www-form-urlencoded" if request.form else "application/json"
        headers.append(("Content-Type", kind))
    if "accept" not in written:
        headers.append(("Accept", ACCEPT))
    headers.append(("User-Agent", f"remit/{sender.version}"))
    return headers


def carries_credential(tool: Tool) -> bool:
    """Whether the user's credential goes out with a call of this tool."""
    return isinstance(tool.destination, Endpoint)


def _body(request: FrozenRequest, env: Mapping[str, Secret]) -> bytes | None:
    if not request.has_body:
        return None
    if request.form:
        return str(request.body).encode()
    body = _filled_value(request.body, env) if request.env_names else request.body
    return compact_json(None if body is MISSING else body).encode()


def _filled(text: Frozen, env: Mapping[str, Secret], *, encode: bool) -> str:
    if isinstance(text, str):
        return text
    parts = (
        part if isinstance(part, str) else _env_value(env[part.path[0]], encode=encode)
        for part in text.parts
    )
    return "".join(parts)


def _env_value(secret: Secret, *, encode: bool) -> str:
    return quote(secret.reveal(), safe="") if encode else secret.reveal()


def _filled_value(value: Found, env: Mapping[str, Secret]) -> Found:
    if isinstance(value, EnvText):
        return _filled(value, env, encode=False)
    if isinstance(value, dict):
        return {key: _filled_value(item, env) for key, item in value.items()}  # pyright: ignore[reportReturnType] -- no item is MISSING
    if isinstance(value, list):
        return [_filled_value(item, env) for item in value]  # pyright: ignore[reportReturnType] -- no item is MISSING
    return value
