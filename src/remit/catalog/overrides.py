"""Requests that ask to be treated as another method than the one they are sent with.

Many frameworks take a POST, some a GET, for the method that a header or a field ``_method`` names;
what such a request does is not what its method says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from remit.catalog.model import BodyConstant, BodyObject
from remit.catalog.reading import is_object
from remit.catalog.references import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.catalog.model import RequestTemplate

HEADERS = ("x-http-method-override", "x-http-method", "x-method-override")
FIELD = "_method"
# A POST that asks to be read as a GET, as some do for a long query, is at worst a POST.
_MILD = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A method asked for beside the one that is sent.

    Attributes:
        method: in capitals; empty where an argument or an env value says it.
        where: the header or field that asks, in words.
    """

    method: str
    where: str


def override_of(request: RequestTemplate) -> Override | None:
    """The method that a request asks to be treated as, if it is another and changes something."""
    return next(
        (
            found
            for found in _overrides(request)
            if found.method not in _MILD and found.method != request.method.value
        ),
        None,
    )


def _overrides(request: RequestTemplate) -> Iterator[Override]:
    for name, value in request.headers:
        if name.lower() in HEADERS:
            yield Override(method=_method(value), where=f"the header {name}")
    for parameter in request.query:
        if parameter.name.lower() == FIELD:
            yield Override(method=_method(parameter.value), where=f"the query parameter {FIELD}")
    if request.location.query is not None:
        yield from _in_query_text(request.location.query)
    for name, value in _fields(request):
        if name.lower() == FIELD:
            yield Override(method=value, where=f"the body field {FIELD}")


def _in_query_text(query: Text) -> Iterator[Override]:
    written = "".join(part if isinstance(part, str) else "\0" for part in query.parts)
    for pair in written.split("&"):
        name, _, value = pair.partition("=")
        if unquote_plus(name).lower() == FIELD:
            method = "" if "\0" in value else unquote_plus(value).strip().upper()
            yield Override(method=method, where=f"the query parameter {FIELD}")


def _fields(request: RequestTemplate) -> Iterator[tuple[str, str]]:
    body = request.body
    if isinstance(body, BodyObject):
        for name, node in body.items:
            yield name, _method(node.value if isinstance(node, BodyConstant) else node)
    elif isinstance(body, BodyConstant) and is_object(body.value):
        for name, value in body.value.items():
            yield name, _method(value)


def _method(value: object) -> str:
    literal = value.literal if isinstance(value, Text) else value
    return literal.strip().upper() if isinstance(literal, str) else ""
