"""Asks a running server, for the commands that need one: ``REMIT_SERVER_URL`` and ``REMIT_KEY``.

It goes out through the guard like everything else; the server that was named is allowed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remit.documents.canonical import compact_json
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.errors import CallError, InvalidDefinition, RemitError, WrongUse
from remit.gateway.ports import Limits, WireRequest
from remit.main.settings import DEFAULT_PORT
from remit.values.secrets import Secret
from remit.values.urls import Origin, UrlFault, parse_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.values.json import JsonObject, JsonValue

URL_VARIABLE = "REMIT_SERVER_URL"
KEY_VARIABLE = "REMIT_KEY"
_MAX_ANSWER_BYTES = 32 * 1024 * 1024
_LIMITS = Limits(max_body_bytes=_MAX_ANSWER_BYTES)
# What a key or an id does not open is for whoever typed it to mend.
_WRONG_USE = frozenset({401, 403, 404, 421})


class ServerRefused(RemitError):
    """The server answered with a problem document.

    Attributes:
        problem: the document.
    """

    code = "server_refused"

    def __init__(self, message: str, problem: JsonObject) -> None:
        super().__init__(message)
        self.problem = problem


class NoAnswer(WrongUse):
    """The server is not reached; it may be starting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of the server.

    Attributes:
        etag: of what was read or changed; empty where it has none.
    """

    status: int
    body: JsonObject
    etag: str = ""


class Asker:
    """Speaks to one server with one key; an async context manager is its ``client``.

    Attributes:
        origin: of the server.
        key: what it is asked with.
    """

    def __init__(self, client: GuardedClient, origin: Origin, key: Secret, *, named: str) -> None:
        self._client = client
        self.origin = origin
        self.key = key
        self._named = named

    async def ask(
        self,
        method: str,
        path: str,
        body: JsonValue = None,
        *,
        headers: Mapping[str, str] | None = None,
        missing_ok: bool = False,
    ) -> Reply:
        """Ask once.

        Args:
            method: of HTTP.
            path: with its query, percent-encoded.
            body: sent as JSON; none where it is None.
            headers: further ones.
            missing_ok: give a 404 back instead of raising it.

        Raises:
            NoAnswer: the server is not reached.
            WrongUse: the key or id opens nothing.
            InvalidDefinition: the server found the document invalid.
            ServerRefused: it refused for another reason.
        """
        given = {"authorization": f"Bearer {self.key.reveal()}", **(headers or {})}
        raw = None
        if body is not None:
            raw = compact_json(body).encode()
            given["content-type"] = "application/json"
        request = WireRequest(
            method=method, url=f"{self.origin}{path}", headers=tuple(given.items()), body=raw
        )
        try:
            response = await self._client.send(request, _LIMITS)
        except CallError as error:
            raise NoAnswer(
                f"{self._named}: no answer from {self.origin}: {error.message} Start it with "
                f"`remit serve`, or set {self._named} to where it runs."
            ) from None
        reply = Reply(
            status=response.status,
            body=_decoded(response.body, self.origin, self._named),
            etag=response.header("etag") or "",
        )
        if response.status >= 400 and not (missing_ok and response.status == 404):
            raise _refused(reply)
        return reply


def asker(
    environ: Mapping[str, str] | None = None, *, server: str | None = None
) -> tuple[GuardedClient, Asker]:
    """The server that the environment names, and the client to close when it was asked.

    Args:
        environ: the environment; that of the process by default.
        server: the value of ``--server``, which goes before the variable.

    Raises:
        WrongUse: there is no key, or the URL is none.
    """
    env = os.environ if environ is None else environ
    url = server or env.get(URL_VARIABLE) or f"http://127.0.0.1:{DEFAULT_PORT}"
    named = "--server" if server else URL_VARIABLE
    try:
        origin = parse_origin(url)
    except UrlFault as fault:
        raise WrongUse(
            f"{named} is no address of a server: {fault.reason}. "
            'Write scheme, host and port: "http://127.0.0.1:8700".'
        ) from None
    key = env.get(KEY_VARIABLE, "").strip()
    if not key.isascii() or not key.isprintable() or not key:
        raise WrongUse(
            f"{KEY_VARIABLE} has no key. Make one with `remit keys create --role operator` and "
            "set it."
        )
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    client = GuardedClient(parse_allowances((f"{host}:{origin.port}",)))
    return client, Asker(client, origin, Secret(key), named=named)


def _decoded(raw: bytes, origin: Origin, named: str) -> JsonObject:
    try:
        found = parse_json(raw, max_bytes=_MAX_ANSWER_BYTES)
    except DocumentError:
        found = None
    if isinstance(found, dict):
        return cast("JsonObject", found)
    raise WrongUse(f"{origin} answers, and not as Remit does. Check {named}.")


def _refused(reply: Reply) -> RemitError:
    detail = reply.body.get("detail")
    words = detail if isinstance(detail, str) else f"The server answered {reply.status}."
    code = reply.body.get("code")
    if code == InvalidDefinition.code:
        return InvalidDefinition(words)
    if reply.status in _WRONG_USE:
        hint = f" The key is that of {KEY_VARIABLE}." if reply.status in {401, 403} else ""
        return WrongUse(f"{words}{hint}")
    more = f" `remit explain {code}` says more." if isinstance(code, str) else ""
    return ServerRefused(f"{words}{more}", reply.body)
