"""Names to addresses, once per connection, through the machine's own resolver."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

Lookup = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Host and port to all addresses of one answer; raises ``NameUnresolved``."""


class NameUnresolved(Exception):
    """A name has no address now.

    Attributes:
        reason: in words, as the second half of a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def look_up(host: str, port: int) -> tuple[str, ...]:
    """Ask the operating system, both address families, every answer once and in its order.

    Raises:
        NameUnresolved: there is no answer.
    """
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
    except (OSError, UnicodeError) as fault:
        strerror = getattr(fault, "strerror", None) or "no answer"
        msg = f"the name server says: {strerror}"
        raise NameUnresolved(msg) from fault
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))
