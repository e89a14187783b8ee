"""Reading what the app answered: body, error, and whether the call may have happened (section 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from remit.catalog.scales import Category, Method
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import CallError, NotConnected, ResponseInvalid, UpstreamError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.model import Tool
    from remit.values.json import JsonValue

MAX_ERROR_TEXT_BYTES = 2 * 1024
MAX_ANSWER_DEPTH = 256
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_JSON_TYPE = re.compile(r"application/(?:[^;\s]+\+)?json|text/json", re.IGNORECASE)
_TEXT_TYPE = re.compile(
    r"text/.*|application/(?:[^;\s]+\+)?(?:xml|javascript|yaml|x-yaml|x-www-form-urlencoded|x-ndjson)",
    re.IGNORECASE,
)
_UNKNOWN_OUTCOMES = frozenset(
    {
        "upstream_timeout",
        "upstream_unreachable",
        "response_too_large",
        "response_invalid",
        "cancelled",
        "poll_exhausted",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back over the wire, read under the caps of the transport."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any letter case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def media_type(self) -> str:
        """The media type without parameters; empty where none is given."""
        return (self.header("content-type") or "").partition(";")[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A decoded body.

    Attributes:
        kind: ``json``, ``text`` or ``empty``.
        value: the JSON value, the text, or None.
    """

    kind: str
    value: JsonValue


def read_body(tool: Tool, answer: Answer) -> Body:
    """Decode the body of a 2xx answer.

    Raises:
        ResponseInvalid: broken JSON, duplicate keys, or bytes that are neither JSON nor text.
    """
    if not answer.body.strip():
        return Body(kind="empty", value=None)
    media = answer.media_type
    if _JSON_TYPE.fullmatch(media):
        return Body(kind="json", value=_json(tool, answer.body))
    if not media:
        try:
            return Body(kind="json", value=_json(tool, answer.body))
        except ResponseInvalid:
            return Body(kind="text", value=_text(tool, answer))
    return Body(kind="text", value=_text(tool, answer))


def _json(tool: Tool, body: bytes) -> JsonValue:
    try:
        return parse_json(  # pyright: ignore[reportReturnType] -- a decoded JSON value
            body.removeprefix(b"\xef\xbb\xbf"),
            max_bytes=_MAX_ANSWER_BYTES,
            max_depth=MAX_ANSWER_DEPTH,
        )
    except DocumentError as error:
        first = error.problems[0]
        raise ResponseInvalid(
            f"{tool.name}: the app answered with JSON that cannot be read: {first.message}. "
            "The app's developers must correct the answer.",
            sent=True,
        ) from None


def _text(tool: Tool, answer: Answer) -> str:
    media = answer.media_type
    if not media or _TEXT_TYPE.fullmatch(media):
        found = re.search(
            r"charset\s*=\s*\"?([A-Za-z0-9_.:-]+)", answer.header("content-type") or ""
        )
        try:
            return answer.body.decode(found[1] if found else "utf-8")
        except (LookupError, UnicodeDecodeError):
            pass
    raise ResponseInvalid(
        f"{tool.name}: the app answered with {media or 'bytes'} that is neither JSON nor text. "
        "A tool's answer must be JSON or text.",
        sent=True,
    )


def refusal(tool: Tool, answer: Answer, host: str, *, credential: bool) -> CallError | None:
    """The error for an answer that is not 2xx, or None.

    Args:
        tool: the tool that was called.
        answer: what came back.
        host: where it came from, for the message.
        credential: whether the user's credential was sent: then 401 means that it is refused.
    """
    status = answer.status
    if 200 <= status < 300:
        return None
    details = _error_details(answer)
    said = f": {details['message']}" if "message" in details else ""
    if 300 <= status < 400:
        return UpstreamError(
            f"{tool.name}: {host} answered {_status_words(status)} and points to "
            f"{_redirect_origin(answer)}. Redirects are not followed; "
            "the definition must name the final address.",
            details=details,
            sent=True,
        )
    if status == HTTPStatus.UNAUTHORIZED and credential:
        return NotConnected(
            f"{tool.name}: {host} refused the credential ({_status_words(status)}){said}. "
            "Connect the account again.",
            details=details,
            sent=True,
        )
    return UpstreamError(
        f"{tool.name}: {host} answered {_status_words(status)}{said}",
        details=details,
        sent=True,
    )


def _status_words(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _redirect_origin(answer: Answer) -> str:
    """The origin of a ``Location``, and no more of it: the rest may hold secrets."""
    location = answer.header("location") or ""
    try:
        parts = urlsplit(location)
        host = parts.hostname or ""
    except ValueError:
        return "an address that cannot be read"
    if not parts.scheme and not parts.netloc:
        return "another path of the same origin" if location else "nowhere"
    port = f":{parts.port}" if parts.port else ""
    shown = f"{parts.scheme or 'https'}://{host}{port}"
    return "".join(c for c in shown if c.isprintable())[:200]


def _error_details(answer: Answer) -> dict[str, JsonValue]:
    """``{status, code?, message?, text?}`` of an error answer."""
    details: dict[str, JsonValue] = {"status": answer.status}
    text = answer.body[:MAX_ERROR_TEXT_BYTES].decode("utf-8", "replace")
    if len(answer.body) > MAX_ERROR_TEXT_BYTES:
        text = text.rstrip("\ufffd") + "…"
    try:
        body = parse_json(answer.body, max_bytes=_MAX_ANSWER_BYTES, max_depth=MAX_ANSWER_DEPTH)
    except DocumentError:
        body = None
    if isinstance(body, dict):
        details |= _named_fields(body)  # pyright: ignore[reportUnknownArgumentType]
    elif text.strip() and _TEXT_TYPE.fullmatch(answer.media_type or "text/plain"):
        if "html" not in answer.media_type.lower():
            details["message"] = text.strip()
    if text.strip():
        details["text"] = text
    return details


def _named_fields(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Code and message where APIs put them: RFC 9457, OAuth, and the usual ``error`` objects."""
    nested = body.get("error")
    places = [body, *([nested] if isinstance(nested, dict) else [])]
    found: dict[str, JsonValue] = {}
    for place in places:
        for key in ("code", "error_code", "type"):
            if isinstance(place.get(key), str | int) and "code" not in found:
                found["code"] = place[key]
        for key in ("message", "error_description", "detail", "title", "error"):
            text = place.get(key)
            if isinstance(text, str) and text.strip() and "message" not in found:
                found["message"] = text if len(text) <= 500 else text[:499] + "…"
    return found


def may_have_happened(tool: Tool, error: CallError) -> bool:
    """Whether the action may have happened although the call failed (section 5, unknown outcomes)."""
    request = tool.request
    reads = tool.category is Category.READ and request is not None and request.method is Method.GET
    return error.sent and not reads and error.code in _UNKNOWN_OUTCOMES
