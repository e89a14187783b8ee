"""What the app answered: body, error, and whether the call may have happened (section 5)."""

from __future__ import annotations

import codecs
import re
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from math import ceil
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from remit.catalog.reading import is_object
from remit.catalog.scales import Category, Method
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import CallError, NotConnected, ResponseInvalid, UpstreamError
from remit.values.secrets import NOTHING_SECRET, Masker
from remit.values.urls import UrlFault, parse_url
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue

MAX_ERROR_TEXT_BYTES = 2 * 1024
MAX_ANSWER_DEPTH = 256
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_JSON_TYPE = re.compile(r"application/(?:[^;\s]+\+)?json|text/json", re.IGNORECASE)
_TEXT_TYPE = re.compile(
    r"text/.*|application/(?:[^;\s]+\+)?(?:xml|javascript|yaml|x-yaml|x-www-form-urlencoded|x-ndjson)",
    re.IGNORECASE,
)
# Codecs of texts; Python knows others (punycode, unicode_escape), which are no charsets.
_CHARSET = re.compile(
    r"utf-8|utf-16(-[bl]e)?|ascii|iso8859-\d+|cp(125\d|932|949|950)|koi8-[ru]|shift_jis|euc_(jp|kr)"
    r"|gb(k|2312|18030)|big5"
)
# Of an error answer: what is looked at, and how long a code or message may be.
_MAX_READ_ERROR_BYTES = 64 * 1024
_MAX_WORDS = 500
_MAX_DIGITS = 9
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
# A gateway that had no answer of the app's to pass on: it gave up, the app may go on.
_NO_ANSWER_BEHIND = frozenset({502, 504})


class Answer(Struct, frozen=True, kw_only=True):
    """What came back over the wire, read under the caps of the transport."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any letter case."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """The media type without parameters; empty where none is given."""
        return (self.header("content-type") or "").partition(";")[0].strip()


class Body(Struct, frozen=True, kw_only=True):
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
    body = answer.body.removeprefix(codecs.BOM_UTF8)
    if not body.strip():
        return Body(kind="empty", value=None)
    media = answer.media_type
    # What nobody gave a type to and looks like JSON is held to be JSON.
    if _is_json(media) or (not media and body.lstrip()[:1] in (b"{", b"[")):
        return Body(kind="json", value=_json(tool, body))
    if not media:
        try:
            return Body(kind="json", value=_json(tool, body))
        except ResponseInvalid:
            return Body(kind="text", value=_text(tool, answer))
    return Body(kind="text", value=_text(tool, answer))


@lru_cache(maxsize=256)
def _is_json(media: str) -> bool:
    return _JSON_TYPE.fullmatch(media) is not None


def retry_after_ms(answer: Answer) -> int | None:
    """The wait that ``Retry-After`` asks for, in ms; None where there is none to be read.

    A date is counted from the answer's own ``Date``, so that no two clocks are compared.
    """
    text = (answer.header("retry-after") or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return int(text[:_MAX_DIGITS]) * 1000
    asked, now = _moment(text), _moment(answer.header("date") or "")
    return None if asked is None or now is None else max(0, round((asked - now) * 1000))


def _moment(text: str) -> float | None:
    """Seconds since the epoch of an HTTP date (RFC 9110, 5.6.7), or None."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _json(tool: Tool, body: bytes) -> JsonValue:
    try:
        return parse_json(  # pyright: ignore[reportReturnType] -- a decoded JSON value
            body,
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
        charset = _charset(answer)
        try:
            if charset is not None:
                return answer.body.decode(charset).removeprefix("\ufeff")
        except UnicodeError:
            pass
    raise ResponseInvalid(
        f"{tool.name}: the app answered with {_quoted(media) or 'bytes'} that is neither JSON "
        "nor text. A tool's answer must be JSON or text.",
        sent=True,
    )


def _charset(answer: Answer) -> str | None:
    """Python's name of the declared charset, UTF-8 where none is; None where it is no charset."""
    declared = re.search(
        r"charset\s*=\s*\"?([A-Za-z0-9_.:-]+)", answer.header("content-type") or ""
    )
    try:
        charset = codecs.lookup(declared[1]).name if declared else "utf-8"
    except (LookupError, UnicodeError):
        return None
    return charset if _CHARSET.fullmatch(charset) else None


def refusal(
    tool: Tool, answer: Answer, host: str, *, credential: bool, masker: Masker | None = None
) -> CallError | None:
    """The error for an answer that is not 2xx, or None.

    Args:
        tool: the tool that was called.
        answer: what came back.
        host: where it came from, for the message.
        credential: whether the user's credential was sent: then 401 means that it is refused.
        masker: takes secrets out of what the app said, before anything of it is cut.
    """
    status = answer.status
    if answer.succeeded:
        return None
    details = _error_details(answer, masker or NOTHING_SECRET)
    said = f": {_quoted(details['message'])}" if "message" in details else ""
    if 300 <= status < 400 and status != HTTPStatus.NOT_MODIFIED:
        return UpstreamError(
            f"{tool.name}: {host} answered {_status_words(status)} and points to "
            f"{_redirect_origin(answer, masker or NOTHING_SECRET)}. Redirects are not followed; "
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


def _quoted(message: JsonValue) -> str:
    """The app's words in a message of ours: one line, nothing hidden, no full stop."""
    return visible(_cut(str(message))).replace("\n", " ").rstrip(".")


def _redirect_origin(answer: Answer, masker: Masker) -> str:
    """The origin of a ``Location``, and no more of it: the rest may hold secrets.

    It is masked as it came, because a host is shown in lower case.
    """
    location = masker.text((answer.header("location") or "").strip())
    if not location:
        return "nowhere"
    if location.startswith("//"):
        location = f"https:{location}"
    try:
        return str(parse_url(location.partition("#")[0].partition("?")[0]).origin)
    except UrlFault:
        pass
    return (
        "an address that cannot be used"
        if ":" in location.partition("/")[0]
        else "another path of the same origin"
    )


def _error_details(answer: Answer, masker: Masker) -> dict[str, JsonValue]:
    """``{status, code?, message?, text?}`` of an error answer."""
    details: dict[str, JsonValue] = {"status": answer.status}
    # A secret that a cut runs through would not be found: it is masked first.
    text = masker.text(_error_text(answer)).strip()
    if len(raw := text.encode()) > MAX_ERROR_TEXT_BYTES:
        text = raw[:MAX_ERROR_TEXT_BYTES].decode("utf-8", "ignore") + "…"
    try:
        body = parse_json(answer.body, max_bytes=_MAX_ANSWER_BYTES, max_depth=MAX_ANSWER_DEPTH)
    except DocumentError:
        body = None
    media = answer.media_type.lower()
    if (asked_ms := retry_after_ms(answer)) is not None:
        details["retryAfterS"] = ceil(asked_ms / 1000)
    if body is not None:
        details |= _named_fields(masker.value(body))
    elif text and "html" not in media and _TEXT_TYPE.fullmatch(media or "text/plain"):
        details["message"] = text
    if text:
        details["text"] = text
    return details


def _error_text(answer: Answer) -> str:
    """The beginning of an error body as text, read in its own charset and without NULs.

    In another charset, UTF-16 above all, a person could read a secret that the masker misses.
    """
    text = answer.body[:_MAX_READ_ERROR_BYTES].decode(_charset(answer) or "utf-8", "replace")
    return text.replace("\x00", "")


def _named_fields(body: object) -> dict[str, JsonValue]:
    """Code and message where APIs put them: RFC 9457, OAuth, and the usual error objects."""
    if isinstance(body, list):
        body = next(iter(cast("list[object]", body)), None)
    if isinstance(body, str) and body.strip():
        return {"message": _cut(body)}
    if not is_object(body):
        return {}
    found: dict[str, JsonValue] = {}
    for place in (body, body.get("error"), _first(body.get("errors"))):
        if is_object(place):
            found = {**_words_of(place), **found}
    error = body.get("error")
    if isinstance(error, str) and error.strip() and found.get("message") != _cut(error):
        # OAuth and its imitators: a word in "error", the sentence beside it.
        found.setdefault("code", _cut(error))
    return found


def _words_of(place: JsonObject) -> dict[str, JsonValue]:
    """Code and message of one object."""
    found: dict[str, JsonValue] = {}
    for key in ("code", "error_code", "errorCode", "type"):
        code = place.get(key)
        if isinstance(code, str | int) and not isinstance(code, bool) and code != "about:blank":
            found.setdefault("code", _cut(code) if isinstance(code, str) else code)
    for key in ("message", "error_description", "detail", "title", "error"):
        text = place.get(key)
        if isinstance(text, str) and text.strip():
            found.setdefault("message", _cut(text))
    return found


def _first(value: object) -> object:
    """The first of a list of errors; a text among them counts as its message."""
    first = next(iter(cast("list[object]", value)), None) if isinstance(value, list) else None
    return {"message": first} if isinstance(first, str) else first


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_WORDS else text[: _MAX_WORDS - 1] + "…"


def may_have_happened(tool: Tool, error: CallError) -> bool:
    """Whether the action may have happened although the call failed (section 5).

    A job whose status could not be read counts: the app had said yes to it. So does a gateway's
    word that it got no answer.
    """
    request = tool.request
    reads = tool.category is Category.READ and request is not None and request.method is Method.GET
    unknown = (
        error.started
        or error.code in _UNKNOWN_OUTCOMES
        or (
            isinstance(error, UpstreamError)
            and (error.details or {}).get("status") in _NO_ANSWER_BEHIND
        )
    )
    return error.sent and not reads and unknown
