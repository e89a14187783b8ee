"""How every route answers: reads the body, runs its handler in a thread, says refusals in JSON."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MAX_BODY_BYTES = 16 * 1024
_LOG = logging.getLogger("tracker")
_NOT_STORED = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Problem(Exception):
    """Something that is refused; the message is for the person who asked."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def answer(self) -> Response:
        """As a response."""
        return said({"code": self.code, "message": str(self)}, status=self.status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request: its cookies, what stands in the path and what stands in the body."""

    cookies: Mapping[str, str]
    places: Mapping[str, str]
    body: Mapping[str, object]

    def text(self, key: str) -> str:
        """A text of the body.

        Raises:
            Problem: it is missing, or no text.
        """
        value = self.body.get(key)
        if not isinstance(value, str) or not value:
            raise Problem(422, "invalid_body", f"The body needs a text under {key!r}.")
        return value


Handler = Callable[[Asked], Response]


def said(content: object, *, status: int = 200) -> JSONResponse:
    """A JSON answer that nobody keeps."""
    return JSONResponse(content, status_code=status, headers=_NOT_STORED)


def route(method: str, path: str, handler: Handler) -> Route:
    """A route whose handler may block: it runs in a thread of its own."""

    async def answer(request: Request) -> Response:
        try:
            _check_origin(request)
            reads = request.method in {"GET", "HEAD"}
            body: Mapping[str, object] = {} if reads else await _body(request)
            asked = Asked(
                cookies=request.cookies,
                places={name: str(value) for name, value in request.path_params.items()},
                body=body,
            )
            return await run_in_threadpool(handler, asked)
        except Problem as problem:
            return problem.answer()
        except Exception:  # noqa: BLE001 - whatever went wrong, the caller gets an answer
            _LOG.exception("%s %s went wrong", request.method, path)
            words = "Something went wrong on the tracker's side. Try again in a moment."
            return Problem(500, "internal_error", words).answer()

    return Route(path, answer, methods=[method])


async def refuse(request: Request, error: Exception) -> Response:
    """What the router itself refuses, in the same shape."""
    del request
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "There is nothing at this address.", 405: "This address takes another method."}
    message = words.get(status, "The request was refused.")
    return Problem(status, "not_found" if status == 404 else "refused", message).answer()


def _check_origin(request: Request) -> None:
    """A browser says which page asks; only the tracker's own may.

    Raises:
        Problem: another page asks.
    """
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
        raise Problem(403, "other_origin", "Only the tracker's own pages may ask this.")


async def _body(request: Request) -> Mapping[str, object]:
    raw = b""
    async for part in request.stream():
        raw += part
        if len(raw) > MAX_BODY_BYTES:
            raise Problem(413, "body_too_large", f"A body holds at most {MAX_BODY_BYTES} bytes.")
    if not raw:
        return {}
    # With this type a page of another origin would have to ask first.
    if request.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
        raise Problem(415, "not_json", "Send the body as application/json.")
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError):
        raise Problem(400, "malformed_json", "The body is no JSON.") from None
    if not isinstance(body, dict):
        raise Problem(422, "invalid_body", "The body must be a JSON object.")
    return cast("dict[str, object]", body)
