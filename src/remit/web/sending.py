"""An answer as ASGI messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.web.answers import JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Send

    from remit.web.answers import Answer

# What no header holds; a tab is let through, and line breaks are counted.
_CONTROLS = bytes({*range(32), 127}.difference(b"\t\r\n"))
_NO_BODY = frozenset({204, 304})
_JSON = (b"content-type", JSON.encode())
#: Much of what is answered is third-party text: nobody guesses a type into it.
_NOSNIFF = (b"x-content-type-options", b"nosniff")
#: What a key reads is for that key alone.
_NO_STORE = (b"cache-control", b"no-store")

#: The extension of a scope that cuts its connection off (``main.protocol``).
ABORT = "remit.abort"


def headers_of(answer: Answer) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, names in lower case."""
    headers: list[tuple[bytes, bytes]] = [_NOSNIFF]
    if answer.headers:
        headers += [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in answer.headers.items()
        ]
    if "cache-control" not in answer.headers:
        headers.append(_NO_STORE)
    if answer.status not in _NO_BODY:
        media = answer.media
        headers.append(_JSON if media == JSON else (b"content-type", media.encode("latin-1")))
        if answer.stream is None:
            headers.append((b"content-length", b"%d" % len(answer.body)))
    return headers


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as HTTP/1.1 writes them.

    Raises:
        ValueError: a value would end its line.
    """
    written = [b"%b: %b\r\n" % header for header in headers]
    lines = b"".join(written)
    # With just our own halves of line breaks, each stands where we put it.
    breaks = lines.count(b"\r"), lines.count(b"\n")
    if breaks != (len(written), len(written)) or lines.translate(None, _CONTROLS) != lines:
        msg = "a header holds a line break or a control character"
        raise ValueError(msg)
    return lines


def lines_of(answer: Answer) -> bytes:
    """The headers of an answer that is whole, as HTTP/1.1 writes them.

    Raises:
        ValueError: a value would end its line.
    """
    if answer.headers or answer.media != JSON or answer.status in _NO_BODY:
        return header_lines(headers_of(answer))
    return b"%bcontent-length: %d\r\n" % (_USUAL_LINES, len(answer.body))


_USUAL_LINES = header_lines([_NOSNIFF, _NO_STORE, _JSON])


async def sent(answer: Answer, send: Send, *, head: bool = False) -> None:
    """Send an answer.

    Args:
        answer: what is sent.
        send: of ASGI.
        head: only its headers, for HEAD.
    """
    headers = headers_of(answer)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.stream is None or head:
        body = b"" if head else answer.body
        await send({"type": "http.response.body", "body": body})
        return
    async for part in answer.stream:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
