"""Reads what a request carries: strictly, bounded, into the types of ``bodies``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl

import msgspec

from remit.documents.load import MAX_DOCUMENT_DEPTH, parse_document
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import InvalidRequest
from remit.web.mismatches import words
from remit.web.refusals import BodyTooLarge, MalformedBody, UnsupportedMedia

if TYPE_CHECKING:
    from starlette.types import Receive

T = TypeVar("T")
#: Of what is kept as JSON and decoded again (contract section 5, step 1).
MAX_DEPTH = 64
_JSON = re.compile(r"application/(?:[a-z0-9!#$&^_.+-]+\+)?json", re.ASCII)
_YAML = frozenset({"application/yaml", "application/x-yaml", "text/yaml"})


async def whole_body(receive: Receive, length: str | None, max_bytes: int) -> bytes:
    """Read a body.

    Args:
        receive: of ASGI.
        length: the ``Content-Length``, or None.
        max_bytes: the most it may have; not a byte more is kept.

    Raises:
        BodyTooLarge: it has more.
    """
    if length is not None and length.isdigit() and int(length) > max_bytes:
        raise _too_large(max_bytes)
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        return body
    parts, size = [body], len(body)
    while message.get("more_body"):
        message = await receive()
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
        parts.append(part)
    return b"".join(parts)


def json_value(body: bytes, media: str | None, *, max_bytes: int) -> object:
    """A body as a JSON value.

    Raises:
        UnsupportedMedia: it says that it is something else.
        MalformedBody: it is no strict JSON.
    """
    # Nearly all say just this.
    if media != "application/json":
        kind = _media(media)
        if kind is not None and not _JSON.fullmatch(kind):
            raise _unsupported(kind, "application/json")
    return _decoded(body, max_bytes)


def document_value(
    body: bytes, media: str | None, *, max_bytes: int, max_depth: int = MAX_DOCUMENT_DEPTH
) -> object:
    """A document of the user's own as a JSON value, from JSON or ``application/yaml``.

    Raises:
        UnsupportedMedia: it says that it is something else.
        MalformedBody: it cannot be decoded.
    """
    kind = _media(media)
    if kind in _YAML:
        try:
            return parse_document(
                body, name="the body", media="yaml", max_bytes=max_bytes, max_depth=max_depth
            )
        except DocumentError as error:
            raise _malformed("YAML", error) from None
    if kind is not None and not _JSON.fullmatch(kind):
        raise _unsupported(kind, "application/json or application/yaml")
    return _decoded(body, max_bytes, max_depth)


def without_nul(value: object, where: str = "body") -> None:
    """Refuse a NUL: no id, no name and no text has one, and a database may not take it.

    Raises:
        InvalidRequest: there is one.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and "\0" in one:
            raise InvalidRequest(f"The {where} holds a NUL character (U+0000). Leave it out.")
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]  # pyright: ignore[reportUnknownArgumentType] -- any JSON value
        elif isinstance(one, list):
            waiting += one


def shaped(value: object, shape: type[T], *, where: str = "body") -> T:
    """A JSON value in its type.

    Raises:
        InvalidRequest: it is of another shape, or has a key that is not known.
    """
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise InvalidRequest(
            f"The {where} is not what this route takes: {words(error, shape, where)}. "
            "GET /v1/openapi.json describes it."
        ) from None


def query(raw: bytes, shape: type[T]) -> T:
    """The query in its type.

    Raises:
        InvalidRequest: a parameter is unknown, there twice, or not what it should be.
    """
    if not raw:
        return shaped({}, shape, where="query")
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise InvalidRequest("The query has more than 100 parameters. Send fewer.") from None
    values = dict(pairs)
    if len(values) != len(pairs):
        raise InvalidRequest("The query has a parameter twice. Send each once.")
    without_nul(values, "query")
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidRequest(
            f"The query is not what this route takes: {words(error, shape, 'query')}. "
            "GET /v1/openapi.json describes it."
        ) from None


def _decoded(body: bytes, max_bytes: int, max_depth: int = MAX_DEPTH) -> object:
    try:
        return parse_json(body, max_bytes=max_bytes, max_depth=max_depth)
    except DocumentError as error:
        raise _malformed("JSON", error) from None


def _media(header: str | None) -> str | None:
    return None if not header else header.partition(";")[0].strip().lower()


def _malformed(form: str, error: DocumentError) -> MalformedBody:
    return MalformedBody(f"The body is no {form} that can be read.\n{error}")


def _unsupported(kind: str, wanted: str) -> UnsupportedMedia:
    return UnsupportedMedia(f"The body is {kind[:80]}, and this route takes {wanted}. Send that.")


def _too_large(max_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {max_bytes:,} bytes, which is the most that this route takes. "
        "Nothing was done."
    )
