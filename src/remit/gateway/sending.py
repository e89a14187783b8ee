"""The bounds of one exchange, and the only retry there is (contract section 5, step 9)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.answers import retry_after_ms
from remit.gateway.ports import Clock, Egress, Limits, Watcher, WireRequest

if TYPE_CHECKING:
    from remit.calls.answers import Answer
    from remit.catalog.model import Tool

MAX_ANSWER_BYTES = 1024 * 1024
MAX_RETRIES = 2
MAX_RETRY_AFTER_MS = 10_000
_FIRST_RETRY_MS = 500
_BUSY = (429, 503)


@lru_cache(maxsize=256)
def limits_of(timeout_ms: int) -> Limits:
    """What one exchange of a call may cost."""
    return Limits(total_timeout_ms=timeout_ms, max_body_bytes=MAX_ANSWER_BYTES)


class Line(Struct, frozen=True, kw_only=True):
    """What an exchange goes through that may be tried again."""

    tool: Tool
    egress: Egress
    clock: Clock
    watcher: Watcher
    timeout_ms: int


async def send_read(request: WireRequest, line: Line) -> Answer:
    """Send a GET and read the answer; one that meets a busy app (429, 503) goes out again.

    Nothing else goes out twice: it is given to the egress itself.

    Args:
        request: everything in it.
        line: what it goes through.

    Raises:
        CallError: as the egress port says.
    """
    limits = limits_of(line.timeout_ms)
    for attempt in range(MAX_RETRIES + 1):
        answer = await line.egress.send(request, limits)
        if answer.status not in _BUSY or attempt == MAX_RETRIES:
            return answer
        asked_ms = retry_after_ms(answer)
        delay_ms = _FIRST_RETRY_MS * 2**attempt if asked_ms is None else asked_ms
        if delay_ms > MAX_RETRY_AFTER_MS:
            return answer
        line.watcher.retrying(line.tool.name, delay_ms, answer.status)
        await line.clock.sleep(delay_ms)
    msg = "the last attempt always returns"
    raise AssertionError(msg)
