"""An app that gives back, in every way there is, the secret that it was called with."""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from html import escape
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import quote, quote_plus

_LENGTH = re.compile(rb"(?im)^content-length: *(\d+)")
_BEARER = re.compile(rb"(?im)^authorization: *bearer +(\S+)")


def http(body: object, status: str = "200 OK", **headers: str) -> bytes:
    """An answer: JSON, or bytes as they are; header names with _ for -."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content_type": "application/json", "content_length": str(len(raw)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode() + raw


def _text(body: str, status: str = "200 OK", media: str = "text/plain") -> bytes:
    return http(body.encode(), status, content_type=media)


def _encoded(secret: str) -> dict[str, str]:
    raw = secret.encode()
    return {
        "base64": b64encode(raw).decode(),
        "base64After1": b64encode(b":" + raw + b"!").decode(),
        "base64After2": b64encode(b"u:" + raw + b"!!").decode(),
        "base64url": urlsafe_b64encode(b"x" + raw).rstrip(b"=").decode(),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        "percent": quote(secret, safe=""),
        "percentAll": "".join(f"%{byte:02x}" for byte in raw),
        "form": quote_plus(secret),
        "html": escape(secret),
        "json": json.dumps({"token": secret}),
    }


def _escaped(secret: str) -> bytes:
    escapes = "".join(f"\\u{ord(character):04x}" for character in secret)
    return http(f'{{"token": "{escapes}", "{escapes}": 1}}'.encode())


def _headers(secret: str) -> bytes:
    names = ("x_token", "set_cookie", "www_authenticate", "server", "etag", "retry_after", "link")
    return http({"ok": True}, **dict.fromkeys(names, secret))


def _over(secret: str, status: str, at: int) -> bytes:
    """A text through which a cut at so many bytes goes in the middle of the secret."""
    return _text("x" * (at - len(secret.encode()) // 2) + secret, status)


def _cut_off(secret: str) -> bytes:
    whole = http({"token": secret, "more": "x" * 9_000})
    return whole[: whole.index(b'"more"')]


#: What a path answers; None closes the connection without a word, and empty bytes say nothing.
ANSWERS: dict[str, Callable[[str], bytes | None]] = {
    "ok": lambda _: http({"total": 1}),
    "body": lambda s: http({"token": s, "said": f"you sent {s}!", "deep": [{s: {"x": s}}]}),
    "encoded": lambda s: http(_encoded(s)),
    "escaped": _escaped,
    "text": lambda s: _text(" ".join((f"token={s}", *_encoded(s).values()))),
    "headers": _headers,
    "error": lambda s: http({"code": s, "message": f"{s} is bad", "more": [s]}, "400 Bad"),
    "error-encoded": lambda s: http(
        {"code": "x", "message": " ".join(_encoded(s).values()), **_encoded(s)}, "422 Bad"
    ),
    "error-nested": lambda s: http({"error": {"code": s, "message": s, "token": s}}, "403 No"),
    "error-proxied": lambda s: http({"error": json.dumps({"token": s, "at": [s]})}, "502 Bad"),
    "error-text": lambda s: _text(f"<p>{escape(s)} {s}", "500 Oh", "text/html"),
    "error-long": lambda s: _over(s, "500 Oh", 2_048),
    "error-longer": lambda s: http({"message": "x" * 2_040 + s}, "400 Bad"),
    "error-bytes": lambda s: http(b"\xff\xfe" + s.encode() + b"\xff", "500 Oh"),
    "error-utf-16": lambda s: http(
        s.encode("utf-16"), "500 Oh", content_type="text/plain; charset=utf-16"
    ),
    "unauthorized": lambda s: http(
        {"error": s}, "401 Who", www_authenticate=f'Bearer error_description="{s}"'
    ),
    "redirect": lambda s: http({}, "302 Away", location=f"https://evil.example/{s}?t={quote(s)}"),
    "redirect-host": lambda s: http({}, "307 A", location=f"https://{quote(s, safe='')}.example/"),
    "redirect-user": lambda s: http({}, "308 A", location=f"//u:{quote(s, safe='')}@evil.example/"),
    "broken": lambda s: http(f'{{"token": "{s}'.encode()),
    "duplicate": lambda s: http(f"{{{json.dumps(s)}: 1, {json.dumps(s)}: 2}}".encode()),
    "no-number": lambda s: http(f'{{"token": {json.dumps(s)}, "x": NaN}}'.encode()),
    "long": lambda s: http({"pad": "x" * 16_370, "token": s}),
    "long-value": lambda s: http({"pad": "x" * 4_090 + s, "token": s}),
    "large": lambda s: http({"token": [s] * 40_000}),
    "cut-off": _cut_off,
    "bad-chunk": lambda s: (
        f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{s}\r\n{s}\r\n".encode()
    ),
    "no-http": lambda s: f"{s}\r\n{s}\r\n\r\n".encode(),
    "bad-status": lambda s: f"HTTP/1.1 {s} {s}\r\n\r\n".encode(),
    "bad-header": lambda s: f"HTTP/1.1 200 OK\r\n{s}\r\nx: {s}\0\r\n\r\n".encode(),
    "bad-length": lambda s: http({}, content_length=s),
    "zipped": lambda s: http(gzip.compress(json.dumps({"t": s}).encode()), content_encoding="gzip"),
    "badly-zipped": lambda s: http(s.encode(), content_encoding="gzip"),
    "odd-encoding": lambda s: http(s.encode(), content_encoding=s),
    "odd-type": lambda s: http(s.encode(), content_type=f"application/{s}"),
    "odd-charset": lambda s: http(s.encode(), content_type=f"text/plain; charset={s}"),
    "busy": lambda s: http({"message": s}, "429 Busy", retry_after="0"),
    "drop": lambda _: None,
    "hang": lambda _: b"",
    "half": lambda s: http({"token": s, "more": "x" * 99})[:-20],
    "start": lambda s: http({"id": "j1", "token": s, "url": f"https://evil.example/{quote(s)}"}),
    "start-odd": lambda s: http({"id": s}),
    "job": lambda s: http({"status": s, "token": s}),
    "job-broken": lambda s: http({"status": "broken", "message": s, "token": s}),
    "job-done": lambda s: http({"status": "done", "token": s, s: [s]}),
    "job-gone": lambda s: http({"message": f"no job for {s}"}, "404 Gone"),
}
#: Those after which the connection stays open until the client goes away.
SILENT = frozenset({"hang", "half"})


class LeakyApp(ThreadingTCPServer):
    """Answers ``/v1/<what>`` with what ``ANSWERS`` says, and keeps every request as it came.

    Args:
        secret: what it gives back; None gives back the bearer token of each request.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, secret: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.secret = secret
        self.requests: list[bytes] = []
        self.over = threading.Event()
        self.polls = 0
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> LeakyApp:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    @property
    def url(self) -> str:
        """Its ``baseUrl``."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def bearers(self) -> list[str]:
        """The bearer tokens that it was called with."""
        found = [_BEARER.search(request) for request in self.requests]
        return [one[1].decode() for one in found if one is not None]


class _Connection(StreamRequestHandler):
    server: LeakyApp  # pyright: ignore[reportIncompatibleVariableOverride] -- it is no other

    def handle(self) -> None:
        """Answer one request."""
        with suppress(OSError):
            request = self._request()
            if not request:
                return
            self.server.requests.append(request)
            bearer = _BEARER.search(request)
            secret = self.server.secret or (bearer[1].decode() if bearer else "")
            what = request.split(b" ", 2)[1].decode().partition("?")[0].split("/")[2]
            answer = ANSWERS.get(what, ANSWERS["body"])(secret)
            if answer is None:
                return
            self.wfile.write(answer)
            if what in SILENT:
                self._until_gone()

    def _request(self) -> bytes:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline(65_536)
            if not line:
                return b""
            head += line
        length = _LENGTH.search(head)
        return head + self.rfile.read(int(length[1]) if length else 0)

    def _until_gone(self) -> None:
        self.connection.settimeout(0.05)
        while not self.server.over.is_set():
            with suppress(socket.timeout):
                if not self.connection.recv(1):
                    return
