"""What goes wrong on the wire, as the errors of Remit. No other exception crosses the border.

Each function makes one error: before the first byte ``sent`` is false and the text says that
nothing was sent, after it ``sent`` is true.
"""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING

from remit.errors import CallError, ResponseInvalid, ResponseTooLarge, UpstreamTimeout
from remit.errors import UpstreamUnreachable as Unreachable

if TYPE_CHECKING:
    from remit.gateway.ports import Limits
    from remit.values.urls import Origin


def unconnected(fault: OSError, origin: Origin, limits: Limits) -> CallError:
    """No connection was made: what the machine said, in a person's words."""
    if isinstance(fault, TimeoutError) and fault.errno is None:
        msg = f"No connection to {origin} within {limits.connect_timeout_ms} ms. Nothing was sent."
        return UpstreamTimeout(msg, sent=False)
    if isinstance(fault, ssl.SSLCertVerificationError):
        why = f"The certificate of {origin} is not valid for it."
    elif isinstance(fault, ssl.SSLError):
        why = f"No secure connection to {origin} could be made (TLS)."
    else:
        why = f"No connection to {origin}: {_reason(fault)}."
    return Unreachable(f"{why} Nothing was sent.", sent=False)


def lost_at_once(origin: Origin) -> CallError:
    """A fresh connection was gone before the first byte, or the client was closed."""
    msg = f"The connection to {origin} was lost as soon as it was made. Nothing was sent."
    return Unreachable(msg, sent=False)


def spoke_first(origin: Origin) -> CallError:
    """A fresh connection brought bytes that nobody had asked for; no HTTP server does that."""
    return Unreachable(f"{origin} spoke before it was asked. Nothing was sent.", sent=False)


def broke(origin: Origin) -> CallError:
    """The connection ended before the head of the answer was whole."""
    msg = f"The connection to {origin} broke before its answer was read."
    return Unreachable(msg, sent=True)


def no_http(origin: Origin) -> CallError:
    """The head of the answer cannot be read."""
    return ResponseInvalid(f"The answer of {origin} is no valid HTTP.", sent=True)


def not_whole(origin: Origin) -> CallError:
    """The body ended early, or its chunks cannot be read."""
    msg = f"The answer of {origin} broke off or is no valid HTTP: its body is not whole."
    return ResponseInvalid(msg, sent=True)


def not_asked_for(origin: Origin) -> CallError:
    """Another protocol, or a transfer coding that no request of ours names."""
    msg = f"{origin} answered in a way that was not asked for (upgrade or transfer coding)."
    return ResponseInvalid(msg, sent=True)


def undecodable(origin: Origin, why: Exception) -> CallError:
    """The body's coding cannot be read; ``why`` is the rest of the sentence."""
    return ResponseInvalid(f"The answer of {origin} {why}.", sent=True)


def head_flood(origin: Origin) -> CallError:
    """A header line is too long, or there are too many."""
    msg = f"{origin} answered with headers that are too long or too many."
    return ResponseTooLarge(msg, sent=True)


def head_over_budget(origin: Origin, limits: Limits) -> CallError:
    """The header lines together are over their limit."""
    msg = f"{origin} answered with headers of more than {limits.max_header_bytes} bytes."
    return ResponseTooLarge(msg, sent=True)


def body_over_budget(origin: Origin, limits: Limits) -> CallError:
    """The body is over its limit."""
    msg = f"The answer of {origin} is longer than {limits.max_body_bytes} bytes."
    return ResponseTooLarge(msg, sent=True)


def _reason(error: OSError) -> str:
    """Why a connection was not made; asyncio's own text names internals."""
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    return os.strerror(error.errno).lower() if error.errno else "it was not made"
