"""Calls to a handler over real HTTP, without a Remit server.

An ``Issuer`` stands in for the server's identity: it has a key of its own, publishes it on
loopback, and signs what a handler then verifies as in production. Nothing else of a server is
here: no approval, no mapping, no guard, no record; ``remit dev`` has those.
"""

from __future__ import annotations

import json
import secrets
import time
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from remit.kit.filling import fill
from remit.kit.headers import ToolContext
from remit.kit.identity import ALGORITHM, MAX_LIFETIME_S
from remit.kit.judging import faults_of
from remit.kit.settings import App
from remit.kit.tools import AppTarget

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from remit.kit.tools import Json, Tool

JWKS_PATH: Final = "/.well-known/jwks.json"
MAX_ANSWER_BYTES: Final = 1024 * 1024
TIMEOUT_S: Final = 30.0
THREAD: Final = ToolContext(source="thread", thread_id="thread_1")
API: Final = ToolContext(source="api")


class NotSent(Exception):
    """The call could not be made, or no answer came; the words say which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a handler answered.

    Attributes:
        status: of HTTP.
        content_type: as it was said; empty where nothing was.
        body: as it came, at most 1 MiB.
        faults: what is wrong with the answer by the contract, each with its mend.
    """

    status: int
    content_type: str
    body: bytes
    faults: tuple[str, ...]

    @property
    def answer(self) -> object:
        """The body as JSON where it is that, else as text."""
        text = self.body.decode("utf-8", "replace")
        try:
            return json.loads(text)
        except ValueError:
            return text


class Issuer:
    """Signs test identities and publishes the key on loopback; use it in a ``with``.

    Args:
        port: where it listens on 127.0.0.1; 0 takes any that is free.
        brand: of the headers, as in ``Remit-Tool-Context``.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, *, port: int = 0, brand: str = "Remit") -> None:
        self._brand = brand
        self._key = ECKey.generate_key("P-256", {"kid": secrets.token_hex(8), "use": "sig"})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _publishing(self.jwks()))
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The issuer's address, as ``http://127.0.0.1:8790``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Issuer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def jwks(self) -> dict[str, object]:
        """The published key set."""
        return {"keys": [{**self._key.as_dict(private=False), "alg": ALGORITHM}]}

    def app(self, audience: str, *, component_url: str | None = None) -> App:
        """Settings for a handler in this process that is to believe this issuer."""
        return App(issuer=self.url, audience=audience, component_url=component_url)

    def environment(self, audience: str, *, component_url: str) -> dict[str, str]:
        """Variables for a component in a process of its own that is to believe this issuer."""
        brand = self._brand.upper()
        return {
            f"{brand}_APP_ISSUER": self.url,
            f"{brand}_APP_AUDIENCE": audience,
            f"{brand}_APP_COMPONENT_URL": component_url,
        }

    def token(
        self,
        audience: str,
        *,
        user: str = "user_1",
        workspace: str = "workspace_1",
        installation: str = "installation_1",
        call_id: str = "call_1",
    ) -> str:
        """An identity token as Remit signs it, good for five minutes."""
        now_s = int(time.time())
        claims = {
            "iss": self.url,
            "aud": audience,
            "sub": user,
            "tenant": workspace,
            "installation": installation,
            "iat": now_s,
            "exp": now_s + MAX_LIFETIME_S,
            "jti": call_id,
        }
        header = {"alg": ALGORITHM, "typ": "JWT", "kid": self._key.kid}
        return jwt.encode(header, claims, self._key, algorithms=[ALGORITHM])

    def headers(
        self, audience: str, *, context: ToolContext = THREAD, user: str = "user_1"
    ) -> dict[str, str]:
        """What Remit adds to a call, besides what HTTP needs."""
        call_id = f"call_{secrets.token_hex(8)}"
        said = {"source": context.source}
        if context.thread_id is not None:
            said["threadId"] = context.thread_id
        return {
            "Authorization": f"Bearer {self.token(audience, user=user, call_id=call_id)}",
            f"{self._brand}-Tool-Context": json.dumps(said, separators=(",", ":")),
            "Idempotency-Key": call_id,
            "Accept": "application/json, text/plain;q=0.9, */*;q=0.1",
            "User-Agent": "remit-kit",
        }

    def call(
        self,
        tool: Tool,
        args: Mapping[str, Json],
        *,
        component_url: str,
        audience: str,
        context: ToolContext = THREAD,
        user: str = "user_1",
    ) -> Outcome:
        """Call the route of a tool once, as Remit would, and judge the answer.

        Raises:
            NotSent: the target is no app target, a reference leads nowhere, or nothing answers.
            pydantic.ValidationError: the arguments do not fit the tool's input.
        """
        if not isinstance(tool.target, AppTarget):
            raise NotSent(f"{tool.name} has no app target. `remit dev` calls the others.")
        tool.input.model_validate_json(json.dumps(dict(args)))
        try:
            request = fill(tool.target, args)
        except ValueError as error:
            raise NotSent(str(error)) from None
        headers = {**self.headers(audience, context=context, user=user)}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if tool.target.method == "GET":
            del headers["Idempotency-Key"]
        status, content_type, body = _sent(
            tool.target.method,
            component_url.rstrip("/") + request.path,
            {**headers, **request.headers},
            request.body,
            timeout_s=TIMEOUT_S if tool.timeout_ms is None else tool.timeout_ms / 1000,
        )
        faults = faults_of(tool, context, status=status, content_type=content_type, body=body)
        return Outcome(status=status, content_type=content_type, body=body, faults=tuple(faults))


def _sent(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, timeout_s: float
) -> tuple[int, str, bytes]:
    """Status, content type and body; no redirect is followed, no proxy used."""
    try:
        parts = urlsplit(url)
        made = {"http": HTTPConnection, "https": HTTPSConnection}[parts.scheme]
        connection = made(parts.hostname or "", parts.port, timeout=timeout_s)
    except (KeyError, ValueError):
        raise NotSent(f"{url} is no http(s) address.") from None
    with closing(connection):
        try:
            connection.request(
                method, f"{parts.path}{f'?{parts.query}' * bool(parts.query)}", body, headers
            )
            response = connection.getresponse()
            data = response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise NotSent(f"{parts.netloc} did not answer: {error}. Is it running?") from error
    if len(data) > MAX_ANSWER_BYTES:
        raise NotSent("The answer has more than 1 MiB, which Remit does not read.")
    return response.status, response.headers.get("Content-Type", ""), data


def _publishing(jwks: Mapping[str, object]) -> type[BaseHTTPRequestHandler]:
    data = json.dumps(jwks).encode()

    class Publishing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == JWKS_PATH
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data) if known else 0))
            self.end_headers()
            self.wfile.write(data if known else b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Quiet: the handler's own log is what is of interest."""

    return Publishing
