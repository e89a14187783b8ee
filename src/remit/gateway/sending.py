"""One exchange with an app: caps, and the only retry there is (contract section 5, step 9)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.answers import Answer
from remit.gateway.ports import Clock, Egress, Limits, Watcher, WireRequest

if TYPE_CHECKING:
    from remit.catalog.model import Tool

MAX_ANSWER_BYTES = 1024 * 1024
MAX_RETRIES = 2
MAX_RETRY_AFTER_MS = 10_000
_FIRST_RETRY_MS = 500
_MAX_DIGITS = 9
_BUSY = (429, 503)


class Line(Struct, frozen=True, kw_only=True):
    """What one exchange goes through."""

    tool: Tool
    egress: Egress
    clock: Clock
    watcher: Watcher
    timeout_ms: int


async def send(request: WireRequest, line: Line, *, retry: bool) -> Answer:
    """Send a request and read the answer; nothing but a read that met a busy app goes out twice.

    Args:
        request: everything in it.
        line: what it goes through.
        retry: whether 429 and 503 may be tried again: a GET, and no poll.

    Raises:
        CallError: as the egress port says.
    """
    limits = Limits(total_timeout_ms=line.timeout_ms, max_body_bytes=MAX_ANSWER_BYTES)
    for attempt in range(MAX_RETRIES + 1):
        response = await line.egress.send(request, limits)
        answer = Answer(status=response.status, headers=response.headers, body=response.body)
        if not retry or answer.status not in _BUSY or attempt == MAX_RETRIES:
            return answer
        asked_ms = retry_after_ms(answer)
        delay_ms = _FIRST_RETRY_MS * 2**attempt if asked_ms is None else asked_ms
        if delay_ms > MAX_RETRY_AFTER_MS:
            return answer
        line.watcher.retrying(line.tool.name, delay_ms, answer.status)
        await line.clock.sleep(delay_ms)
    msg = "the last attempt always returns"
    raise AssertionError(msg)


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
