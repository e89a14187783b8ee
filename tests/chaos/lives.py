"""The lives of the server: started, killed at a chosen moment, started again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from remit.main.server_process import RunningServer
from tests.chaos.wire import NoAnswer, Wire

#: How many calls are under way at once.
MAX_OPEN = 256
#: A write is held soon, unless there is none left to be made.
HELD_WITHIN_S = 10
# What a fault of the server's own is told with on its stderr.
_FAULT = "Remit met a fault"
_SOON_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill.

    Attributes:
        at, gone_at: the loop's clock just before the signal, and when the process was gone.
        out: whether bytes of a write had left and no answer had come.
    """

    at: float
    gone_at: float
    out: bool


@dataclass(slots=True)
class Lives:
    """Kills the server as often as it should be.

    A third of the kills waits until a write is out, a third comes at any moment, and a third soon
    after a start, while the server takes up what the last kill left.

    Attributes:
        tell: is told of each kill.
        settled: how many calls came to their end.
        up: set while the server can be asked.
        faults: what the server told of its own faults.
    """

    server: RunningServer
    upstream: str
    kills: int
    calls: int
    seed: int
    tell: Callable[[str], None]
    settled: int = 0
    up: asyncio.Event = field(default_factory=asyncio.Event)
    done: list[Kill] = field(default_factory=list[Kill])
    faults: list[str] = field(default_factory=list[str])
    _awaited: int = 0
    _reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """All kills, spread over the calls; the server is up in the end."""
        chance = random.Random(self.seed)
        async with Wire() as upstream:
            for number, after in enumerate(self._moments(chance)):
                soon = number % 3 == 2
                if not soon:
                    await self._many_settled(after)
                out = number % 3 == 0 and await self._write_is_out(upstream)
                if not out:
                    await asyncio.sleep(chance.random() * _SOON_S)
                await self._kill(out=out)
                if number % 3 == 0:
                    await upstream.ask(self.upstream, "POST", "/release")
                await asyncio.to_thread(self.server.start)
                self.up.set()

    def settle(self) -> None:
        """Count a call that came to its end."""
        self.settled += 1
        if self.settled >= self._awaited:
            self._reached.set()

    def listen(self) -> None:
        """Note what the server has said of its own faults since it was started."""
        self.faults += [line for line in self.server.said.splitlines() if _FAULT in line]

    def _moments(self, chance: random.Random) -> list[int]:
        """How many calls are settled before each kill; then there are others still to be made."""
        last = max(1, int(self.calls * 0.9) - MAX_OPEN)
        return sorted(chance.randint(min(self.calls // 50, last), last) for _ in range(self.kills))

    async def _many_settled(self, number: int) -> None:
        self._awaited = number
        self._reached.clear()
        if self.settled < number:
            await self._reached.wait()

    async def _write_is_out(self, upstream: Wire) -> bool:
        with suppress(TimeoutError, NoAnswer):
            async with asyncio.timeout(HELD_WITHIN_S):
                await upstream.ask(self.upstream, "POST", "/hold")
                return True
        return False

    async def _kill(self, *, out: bool) -> None:
        loop = asyncio.get_running_loop()
        self.up.clear()
        at = loop.time()
        await asyncio.to_thread(self.server.kill)
        self.done.append(Kill(at=at, gone_at=loop.time(), out=out))
        self.listen()
        self.tell(f"kill {len(self.done)} of {self.kills} after {self.settled:,} calls")
