"""An answer as ASGI messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Send

    from remit.web.answers import Answer

_NO_BODY = frozenset({204, 304})


async def sent(answer: Answer, send: Send, *, head: bool = False) -> None:
    """Send an answer.

    Args:
        answer: what is sent.
        send: of ASGI.
        head: only its headers, for HEAD.
    """
    headers = [
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()
    ]
    if answer.status not in _NO_BODY:
        headers.append((b"content-type", answer.media.encode("latin-1")))
        if answer.stream is None:
            headers.append((b"content-length", str(len(answer.body)).encode()))
    if b"cache-control" not in dict(headers):
        # What a key reads is for that key alone.
        headers.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.stream is None or head:
        body = b"" if head else answer.body
        await send({"type": "http.response.body", "body": body})
        return
    async for part in answer.stream:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
