"""aiohttp's exceptions, as the errors of Remit. None crosses the border of the room."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from remit.errors import (
    CallError,
    ResponseInvalid,
    ResponseTooLarge,
    UpstreamTimeout,
    UpstreamUnreachable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.egress.admission import Admission
    from remit.gateway.ports import Limits


class StaleConnection(aiohttp.ClientError):
    """A kept-alive connection was dead before anything was written to it."""


class ConnectionBroke(aiohttp.ClientError):
    """A connection broke after it was made; a class of ours, so that aiohttp does not repeat."""


def as_call_error(fault: Exception, admission: Admission, limits: Limits) -> CallError:
    """The error that a caller sees.

    Args:
        fault: what aiohttp, or the machine below it, raised.
        admission: whose ``sent`` is passed on.
        limits: for the numbers in the message.
    """
    if not admission.sent:
        return _unconnected(fault, str(admission.origin), limits)
    return _unread(fault, str(admission.origin))


def _unconnected(fault: Exception, origin: str, limits: Limits) -> CallError:
    """Before the first byte went out: there was no connection, or it was lost at once."""
    if isinstance(fault, TimeoutError):
        msg = f"No connection to {origin} within {limits.connect_timeout_ms} ms. Nothing was sent."
        return UpstreamTimeout(msg, sent=False)
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        why = f"The certificate of {origin} is not valid for it."
    elif isinstance(fault, aiohttp.ClientSSLError):
        why = f"No secure connection to {origin} could be made (TLS)."
    elif isinstance(fault, aiohttp.ClientConnectorError):
        why = f"No connection to {origin}: {_reason(fault.os_error)}."
    else:
        why = f"The connection to {origin} was lost as soon as it was made."
    return UpstreamUnreachable(f"{why} Nothing was sent.", sent=False)


def _reason(error: OSError) -> str:
    """Why a connection was not made, in a person's words; asyncio's own text names internals."""
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    return os.strerror(error.errno).lower() if error.errno else "it was not made"


def _unread(fault: Exception, origin: str) -> CallError:
    """After the first byte went out: no whole answer came back."""
    if any(_is_head_flood(cause) for cause in _causes(fault)):
        msg = f"{origin} answered with headers that are too long or too many."
        return ResponseTooLarge(msg, sent=True)
    if isinstance(fault, aiohttp.ClientResponseError):
        return ResponseInvalid(f"The answer of {origin} is no valid HTTP.", sent=True)
    if isinstance(fault, aiohttp.ClientPayloadError):
        msg = f"The answer of {origin} broke off or is no valid HTTP: its body is not whole."
        return ResponseInvalid(msg, sent=True)
    msg = f"The connection to {origin} broke before its answer was read."
    return UpstreamUnreachable(msg, sent=True)


def _is_head_flood(fault: BaseException) -> bool:
    if isinstance(fault, HttpProcessingError):
        return isinstance(fault, LineTooLong) or fault.message.startswith("Too many")
    return False


def _causes(fault: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = fault
    while current is not None:
        yield current
        current = current.__cause__
