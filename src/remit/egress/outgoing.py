"""The last look at a request before it leaves: method, URL and headers as they will be written.

What builds requests refuses these things earlier and with better words; here they are stopped
for every caller. No message repeats a header's value: it may be a credential. What is
remembered from one request to the next is origins and header names, never a path, a query or a
value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from remit.egress.transport import Message
from remit.errors import EgressRefused
from remit.values.urls import MAX_URL_BYTES, UrlFault, is_target, parse_url

if TYPE_CHECKING:
    from remit.gateway.ports import WireRequest
    from remit.values.urls import Origin

MAX_HEADER_VALUE_BYTES = 8192
"""The longest header value that is sent (contract section 3)."""

# OPTIONS is no catalog's: a build asks with it whether a route is there.
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_ACCEPT_ENCODING = ("Accept-Encoding", "gzip, deflate")


def outgoing(request: WireRequest) -> Message:
    """Check a request and take it apart for the transport, ``Accept-Encoding`` added.

    Raises:
        EgressRefused: it cannot be sent as it is; nothing was.
    """
    method, body = request.method, request.body
    if method not in _METHODS:
        raise _refused(f"{method[:20]!a} is no method that Remit sends.")
    origin, target = _parsed(request.url)
    if method == "GET" and body is not None:
        raise _refused(f"a GET to {origin} has a body; a GET carries none.")
    headers = request.headers
    coded = _check_names(tuple([name for name, _ in headers]))
    values = "".join([value for _, value in headers])
    # Printable ASCII is the common case; the expression allows a tab as well.
    if not (values.isascii() and values.isprintable() and len(values) <= MAX_HEADER_VALUE_BYTES):
        for name, value in headers:
            _check_value(name, value)
    if not coded:
        headers = (*headers, _ACCEPT_ENCODING)
    return Message(method=method, origin=origin, target=target, headers=headers, body=body)


def _parsed(text: str) -> tuple[Origin, str]:
    """``parse_url`` in two parts, as most requests go to an origin that was read before."""
    # An origin ends before a query or a fragment too: then it is no such text, and read whole.
    length = text.find("/", 8)
    before, target = (text, "") if length < 0 else (text[:length], text[length:])
    try:
        origin, origin_length = _origin(before)
    except UrlFault:
        return _parsed_whole(text)  # which says what is wrong
    if (
        not is_target(target)
        or len(text) > MAX_URL_BYTES
        or len(target) + origin_length > MAX_URL_BYTES
    ):
        return _parsed_whole(text)
    return origin, target if target.startswith("/") else f"/{target}"


def _parsed_whole(text: str) -> tuple[Origin, str]:
    try:
        url = parse_url(text)
    except UrlFault as fault:
        raise _refused(f"the URL cannot be used: {fault.reason}.") from None
    if len(url.text) > MAX_URL_BYTES:
        raise _refused(f"its URL on {url.origin} is longer than 8 KiB.")
    return url.origin, url.target


@lru_cache(maxsize=1024)
def _origin(text: str) -> tuple[Origin, int]:
    """An origin of its text alone, and how long the text of a URL on it is at least.

    Raises:
        UrlFault: it is no such URL.
    """
    url = parse_url(text)
    if url.path or url.query is not None:
        raise UrlFault("it holds more than an origin")
    return url.origin, len(url.text)


@lru_cache(maxsize=1024)
def _check_names(names: tuple[str, ...]) -> bool:
    """Whether ``Accept-Encoding`` is among these names of headers, all of which may be sent."""
    return "accept-encoding" in [_check_name(name) for name in names]


def _check_name(name: str) -> str:
    """The name in lower case."""
    if not _TOKEN.fullmatch(name):
        raise _refused("one of its headers has a name that is no header name.")
    lower = name.lower()
    if lower in _OF_THE_CONNECTION or lower.startswith("proxy-"):
        raise _refused(f"the header {name} belongs to the connection and is set by Remit alone.")
    return lower


def _check_value(name: str, value: str) -> None:
    if len(value) > MAX_HEADER_VALUE_BYTES:
        raise _refused(f"the value of the header {name} is longer than 8 KiB.")
    if not _VALUE.fullmatch(value):
        raise _refused(
            f"the value of the header {name} holds a line break, a control character or a"
            " character outside ASCII."
        )


def _refused(why: str) -> EgressRefused:
    return EgressRefused(f"The request was not sent: {why}", sent=False)
