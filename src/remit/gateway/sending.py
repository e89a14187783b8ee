"""One exchange with an app: caps, and the only retry there is (contract section 5, step 9)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.answers import Answer, retry_after_ms
from remit.gateway.ports import Clock, Egress, Limits, Watcher, WireRequest

if TYPE_CHECKING:
    from remit.catalog.model import Tool

MAX_ANSWER_BYTES = 1024 * 1024
MAX_RETRIES = 2
MAX_RETRY_AFTER_MS = 10_000
_FIRST_RETRY_MS = 500
_BUSY = (429, 503)


@lru_cache(maxsize=256)
def _limits(timeout_ms: int) -> Limits:
    return Limits(total_timeout_ms=timeout_ms, max_body_bytes=MAX_ANSWER_BYTES)


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
    limits = _limits(line.timeout_ms)
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
