"""The HTTP side of Acme Scenes: reads a request, finds its route and its user, writes the answer.

Each request is logged in the database before it is answered. A change (POST, DELETE) and the answer
kept under its Idempotency-Key are one transaction: either both are there or neither is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from socketserver import TCPServer
from typing import cast
from urllib.parse import parse_qsl, unquote, urlsplit

from exchange import Answer, Problem, Request
from routes import ROUTES, App, Route
from store import KeptAnswer, User

MAX_BODY_BYTES = 64 * 1024
_READ_TIMEOUT_S = 30
_LOG = logging.getLogger("scenes")


class ScenesServer(ThreadingHTTPServer):
    """A listening socket; the app is given to it once its address is known."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        """Listen, on a free port where `port` is 0.

        Raises:
            OSError: The address cannot be listened on.
        """
        super().__init__((host, port), BaseHTTPRequestHandler)
        self._app: App | None = None

    def server_bind(self) -> None:
        """Bind without looking up the host's name, which HTTPServer does and nobody needs here."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def serve(self, app: App) -> None:
        """Answer requests until `shutdown` is called from another thread."""
        self._app = app
        self.serve_forever(poll_interval=0.05)

    def finish_request(
        self, request: socket | tuple[bytes, socket], client_address: tuple[str, int]
    ) -> None:
        """Handle one connection with the app at hand, in place of the handler class alone."""
        if self._app is not None:
            Exchange(self._app, request, client_address, self)

    def handle_error(
        self, request: socket | tuple[bytes, socket], client_address: tuple[str, int]
    ) -> None:
        """Log what went wrong on a connection; one that broke off is nobody's fault."""
        del request
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            _LOG.error("The connection from %s ended", client_address, exc_info=True)


class Exchange(BaseHTTPRequestHandler):
    """One connection; each of its requests goes through `_exchange`."""

    protocol_version = "HTTP/1.1"
    timeout = _READ_TIMEOUT_S
    disable_nagle_algorithm = True

    def __init__(
        self,
        app: App,
        request: socket | tuple[bytes, socket],
        client_address: tuple[str, int],
        server: ScenesServer,
    ) -> None:
        """Take the app, and what `socketserver` hands over; this handles the whole connection."""
        self._app = app
        super().__init__(request, client_address, server)

    def _exchange(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        number = self._app.store.log_request(
            self.command,
            parts.path,
            "" if "signature" in query else parts.query,
            key=self.headers.get("Idempotency-Key"),
            client=self.headers.get("X-Acme-Client"),
        )
        try:
            answer = self._answer(number, parts.path, query)
        except Problem as problem:
            answer = problem.answer()
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001 - whatever went wrong, the caller gets an answer
            _LOG.exception("%s %s went wrong", self.command, parts.path)
            words = "Something went wrong on our side, and nothing was changed."
            answer = Problem(500, "internal_error", words).answer()
        self._app.store.log_status(number, answer.status)
        self._write(answer)

    # `http.server` calls the method that is named after the request's.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _exchange  # noqa: N815

    def _answer(self, number: int, path: str, query: Mapping[str, str]) -> Answer:
        raw = self._read_body()  # before anything is refused, or it would be read as a request
        route, places = _find_route(self.command, path)
        user = None
        if route.needs_token:
            user = self._authenticate()
            self._app.store.log_user(number, user.id)
        request = Request(
            user=user,
            path=path,
            places=places,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=_decode(raw, self.headers.get("Content-Type", "")),
        )
        if user is None or route.method == "GET":
            return route.answer(self._app, request)
        return self._change(route, request, user, raw)

    def _change(self, route: Route, request: Request, user: User, raw: bytes) -> Answer:
        """Carry out a change once for each Idempotency-Key of a user.

        Only changes that were made are kept: a refusal changed nothing, and may be tried again.
        """
        store, key = self._app.store, request.headers.get("idempotency-key")
        with store.transaction():
            if key is None:
                return route.answer(self._app, request)
            if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
                raise Problem(400, "invalid_key", "Idempotency-Key holds 1 to 255 visible letters.")
            digest = hashlib.sha256(f"{route.method} {request.path}\n".encode() + raw).hexdigest()
            kept = store.kept_answer(user.id, key)
            if kept is None:
                answer = route.answer(self._app, request)
                kept = KeptAnswer(request_sha256=digest, status=answer.status, body=answer.body)
                store.keep_answer(user.id, key, kept)
                return answer
        if kept.request_sha256 != digest:
            words = "This Idempotency-Key was used for another request. Use a new one."
            raise Problem(422, "key_reused", words)
        return Answer(status=kept.status, body=kept.body, headers={"Idempotent-Replayed": "true"})

    def _authenticate(self) -> User:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        user = self._app.store.user_of_token(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            words = "Send a valid token as Authorization: Bearer TOKEN."
            raise Problem(401, "unauthorized", words, {"WWW-Authenticate": "Bearer"})
        return user

    def _read_body(self) -> bytes:
        self.close_connection, keep_open = True, not self.close_connection
        lengths = self.headers.get_all("Content-Length", ["0"])
        if "Transfer-Encoding" in self.headers:
            raise Problem(411, "length_required", "Send the body with a Content-Length.")
        if len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0]):
            raise Problem(400, "invalid_length", "Content-Length must be one whole number.")
        length = int(lengths[0])
        if length > MAX_BODY_BYTES:
            self.rfile.read(min(length, 16 * MAX_BODY_BYTES))  # so that the sender hears the answer
            raise Problem(413, "body_too_large", f"A body holds at most {MAX_BODY_BYTES} bytes.")
        raw = self.rfile.read(length)
        if len(raw) < length:
            raise Problem(400, "body_cut_short", "The body is shorter than its Content-Length.")
        self.close_connection = not keep_open
        return raw

    def _write(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        headers.update(answer.headers)
        if answer.status != 304:
            headers |= {"Content-Type": answer.content_type}
            headers |= {"Content-Length": str(len(answer.body))}
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say in JSON what `http.server` itself refuses, such as a request it cannot read."""
        del explain
        self.close_connection = True
        self.request_version = self.protocol_version  # so that a status line is sent in any case
        self._write(Problem(code, "bad_request", message or "This is no HTTP request.").answer())

    def version_string(self) -> str:
        """Name the app, not its Python version, in the Server header."""
        return "AcmeScenes"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Print nothing: the log is in the database."""


def _find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Find the route of a path, and what its placeholders hold.

    Raises:
        Problem: 404 where no route has this path, 405 where one has it for other methods.
    """
    wanted = "GET" if method == "HEAD" else method
    allowed: list[str] = []
    for route in ROUTES:
        pattern = re.escape(route.path).replace(r"\{", "(?P<").replace(r"\}", ">[^/]+)")
        match = re.fullmatch(pattern, path)
        if match and route.method == wanted:
            return route, {name: unquote(value) for name, value in match.groupdict().items()}
        if match:
            allowed.append(route.method)
    if allowed:
        words = f"This address answers {' and '.join(allowed)}."
        raise Problem(405, "method_not_allowed", words, {"Allow": ", ".join(allowed)})
    raise Problem(404, "not_found", "There is nothing at this address.")


def _decode(raw: bytes, content_type: str) -> Mapping[str, object]:
    """Read a JSON object; no body at all is an empty one."""
    if not raw:
        return {}
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "not_json", "Send the body as Content-Type: application/json.")
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Problem(400, "invalid_json", "The body is not valid JSON.") from error
    if not isinstance(value, dict):
        raise Problem(400, "invalid_json", "The body must be a JSON object.")
    return cast("dict[str, object]", value)
