"""Servers that are killed and stopped while they hold conversations, and those who take over."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import psycopg

from remit.main.server_process import RunningServer
from tests.chaos.wire import NoAnswer, Wire

# Some requests on all servers come before the next death; a kill falls into a stop.
_SOON_S, _WITHIN_STOP_S = 1.5, 3.0
_TAKEN_WITHIN_S = 40
# After a start the model is loaded first.
_HELD_WITHIN_S = 30
# So long a death waits for a server that works on something; it loads the model first.
_BUSY_WITHIN_S = 30
_LOOK_S = 0.05
_FAULT = "Remit met a fault"
_HUNG_UP = "The store cannot be used"


class Server(RunningServer):
    """A server that can be stopped as well."""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self._process is not None:
            self._process.send_signal(number)


@dataclass(slots=True)
class Node:
    """A server of the fleet.

    Attributes:
        up: while it can be asked.
        id: as the store knows it.
        was_stopped: since it was started; the store may have hung up on it meanwhile.
    """

    server: Server
    up: bool = True
    id: str = ""
    was_stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A kill or a stop.

    Attributes:
        began, ended: time of day in seconds: before the signal; once it was gone, or went on.
        out: whether a write had come to the app and had no answer.
        held: sessions that it worked on.
        taken_s: until others had taken up all of them; ``settled_s``: until what became of the
            calls that it was making was written down. None where that is not looked at.
    """

    kind: Literal["kill", "stop"]
    began: float
    ended: float
    out: bool = False
    held: int = 0
    taken_s: float | None = None
    settled_s: float | None = None


class Watch:
    """Looks into a PostgreSQL store, behind the servers' backs."""

    def __init__(self, url: str) -> None:
        self._rows = psycopg.connect(url, autocommit=True)

    def nodes(self) -> set[str]:
        """Ids of the nodes that are alive, or were until now."""
        return {row[0] for row in self._rows.execute("SELECT id FROM node")}

    def held(self, node: str) -> set[str]:
        """Sessions that a node has a claim on."""
        found = self._rows.execute("SELECT id FROM session WHERE node = %s", [node])
        return {row[0] for row in found}

    def at_work(self, node: str) -> int:
        """How many calls it has that are neither over nor wait for something."""
        found = self._rows.execute(
            "SELECT count(*) FROM call WHERE node = %s AND status IN "
            "('planned', 'await_input', 'sending')",
            [node],
        )
        return next(found)[0]

    def close(self) -> None:
        """Hang up."""
        self._rows.close()


@dataclass(slots=True)
class Fleet:
    """The servers on one store, and what befalls them.

    Attributes:
        sessions: how many there are.
        moments: how many of them are settled before each death, in order of size.
        watch: on PostgreSQL; there each death is a stop too.
        settled: how many sessions came to their end.
        done: each death; ``faults``: what servers told of faults of their own.
    """

    nodes: list[Node]
    host: str
    moments: list[int]
    sessions: int
    seed: int
    stopped_s: float
    tell: Callable[[str], None]
    watch: Watch | None = None
    settled: int = 0
    done: list[Death] = field(default_factory=list[Death])
    faults: list[str] = field(default_factory=list[str])
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def pick(self, chance: random.Random) -> Node | None:
        """One that can be asked, if any can."""
        up = [node for node in self.nodes if node.up]
        return chance.choice(up) if up else None

    async def settle(self) -> None:
        """Count a session that came to its end."""
        self.settled += 1
        await self._tell_all()

    async def some_up(self) -> None:
        """Wait until one can be asked."""
        async with self._news:
            await self._news.wait_for(lambda: any(node.up for node in self.nodes))

    async def run(self) -> None:
        """All deaths; every server is up in the end."""
        chance = random.Random(self.seed)
        async with Wire() as host:
            before = 0
            for number, after in enumerate(self.moments):
                # Two at most come so soon after one another that nothing was done in between:
                # a run that brings its server down again and again is given up.
                wanted = max(after, min(before + (number % 2 == 0), self.sessions))
                async with self._news:
                    await self._news.wait_for(lambda wanted=wanted: self.settled >= wanted)
                before = self.settled
                await asyncio.sleep(chance.random() * _SOON_S)
                # Of two servers one is killed within the stop of the other, every second time.
                within = self.watch is not None and number % 2 == 0
                held = number % 2 == (self.watch is not None)
                out = held and await self._write_is_out(host)
                if self.watch is None:
                    await self._kill(self.nodes[0], out=out)
                else:
                    await self._kill_and_stop(number, within=within, out=out)

    def listen(self) -> None:
        """Note what the servers have said of their own faults since they were started."""
        for node in self.nodes:
            self._listen_to(node)

    async def _kill_and_stop(self, number: int, *, within: bool, out: bool) -> None:
        killed, stopped = self.nodes if number % 4 < 2 else self.nodes[::-1]
        if within:
            stop = asyncio.ensure_future(self._stop(stopped))
            await asyncio.sleep(_WITHIN_STOP_S)
            await asyncio.gather(stop, self._kill(killed, out=out))
        else:
            await self._kill(killed, out=out)
            await self._stop(stopped)

    async def _kill(self, node: Node, *, out: bool) -> None:
        node.up = False
        held, began = await self._held(node), time.time()
        await asyncio.to_thread(node.server.kill)
        ended = time.time()
        self._listen_to(node)
        watched = asyncio.ensure_future(self._watched(node.id, began))
        await self.start(node)
        taken_s, settled_s = await watched
        self._note(
            Death(
                kind="kill",
                began=began,
                ended=ended,
                out=out,
                held=len(held),
                taken_s=taken_s,
                settled_s=settled_s,
            )
        )

    async def _stop(self, node: Node) -> None:
        node.up = False
        held, began = await self._held(node), time.time()
        node.was_stopped = True
        node.server.send(signal.SIGSTOP)
        watched = asyncio.ensure_future(self._watched(node.id, began))
        await asyncio.sleep(self.stopped_s)
        node.server.send(signal.SIGCONT)
        ended = time.time()
        node.up = True
        await self._tell_all()
        taken_s, settled_s = await watched
        self._note(
            Death(
                kind="stop",
                began=began,
                ended=ended,
                held=len(held),
                taken_s=taken_s,
                settled_s=settled_s,
            )
        )

    async def start(self, node: Node) -> None:
        """Start a server, and learn what the store calls it."""
        # The other one too: where it was stopped, its row is gone, and comes back with it.
        known = {other.id for other in self.nodes if other is not node}
        known |= self.watch.nodes() if self.watch else set[str]()
        await asyncio.to_thread(node.server.start)
        node.was_stopped = False
        if self.watch is not None:
            (node.id,) = self.watch.nodes() - known
        node.up = True
        await self._tell_all()

    async def _held(self, node: Node) -> set[str]:
        """What a server works on; where that is nothing just now, it is waited for a moment."""
        watch, until = self.watch, time.time() + _BUSY_WITHIN_S
        while watch is not None:
            held = watch.held(node.id)
            if held or self.settled >= self.sessions or time.time() > until:
                return held
            await asyncio.sleep(_LOOK_S)
        return set()

    async def _watched(self, node: str, since: float) -> tuple[float, float] | tuple[None, None]:
        """How long it takes until a node has no session more, and no call that it makes."""
        watch = self.watch
        if watch is None:
            return None, None
        return await asyncio.gather(
            _until(lambda: not watch.held(node), since),
            _until(lambda: not watch.at_work(node), since),
        )

    def _note(self, death: Death) -> None:
        self.done.append(death)
        line = f"{death.kind} {len(self.done)}; {self.settled} sessions have ended"
        if death.taken_s is not None:
            line += f"; {death.held} runs of it taken up within {death.taken_s:.1f} s"
        if death.settled_s is not None:
            line += f", its calls settled within {death.settled_s:.1f} s"
        self.tell(line)

    async def _write_is_out(self, host: Wire) -> bool:
        with suppress(TimeoutError, NoAnswer):
            async with asyncio.timeout(_HELD_WITHIN_S):
                await host.ask(self.host, "POST", "/next-write")
                return True
        return False

    async def _tell_all(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _listen_to(self, node: Node) -> None:
        for line in node.server.said.splitlines():
            expected = node.was_stopped and _HUNG_UP in line
            if _FAULT in line and not expected and line not in self.faults:
                self.faults.append(line)


async def _until(is_so: Callable[[], bool], since: float) -> float:
    """Seconds until something is so in the store."""
    # Nobody tells of another process's rows.
    while not is_so() and time.time() < since + _TAKEN_WITHIN_S:  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_S)
    return time.time() - since
