"""The last look at a request before it leaves: method, URL and headers as they will be written.

What builds requests refuses these things earlier and with better words; here they are stopped
for every caller. No message repeats a header's value: it may be a credential.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.egress.transport import Message
from remit.errors import EgressRefused
from remit.values.urls import MAX_URL_BYTES, Url, UrlFault, parse_url

if TYPE_CHECKING:
    from remit.gateway.ports import WireRequest

MAX_HEADER_VALUE_BYTES = 8192
"""The longest header value that is sent (contract section 3)."""

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
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
    if request.method not in _METHODS:
        raise _refused(f"{request.method[:20]!a} is no method that Remit sends.")
    url = _parsed(request.url)
    if request.method == "GET" and request.body is not None:
        raise _refused(f"a GET to {url.origin} has a body; a GET carries none.")
    for name, value in request.headers:
        _check_header(name, value)
    coded = any(name.lower() == "accept-encoding" for name, _ in request.headers)
    headers = request.headers if coded else (*request.headers, _ACCEPT_ENCODING)
    return Message(method=request.method, url=url, headers=headers, body=request.body)


def _parsed(text: str) -> Url:
    try:
        url = parse_url(text)
    except UrlFault as fault:
        raise _refused(f"the URL cannot be used: {fault.reason}.") from None
    if len(url.text) > MAX_URL_BYTES:
        raise _refused(f"its URL on {url.origin} is longer than 8 KiB.")
    return url


def _check_header(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name):
        raise _refused("one of its headers has a name that is no header name.")
    lower = name.lower()
    if lower in _OF_THE_CONNECTION or lower.startswith("proxy-"):
        raise _refused(f"the header {name} belongs to the connection and is set by Remit alone.")
    if len(value) > MAX_HEADER_VALUE_BYTES:
        raise _refused(f"the value of the header {name} is longer than 8 KiB.")
    if not _VALUE.fullmatch(value):
        raise _refused(
            f"the value of the header {name} holds a line break, a control character or a"
            " character outside ASCII."
        )


def _refused(why: str) -> EgressRefused:
    return EgressRefused(f"The request was not sent: {why}", sent=False)
