"""Makes the calls over many connections, and repeats what it got no answer to, with its key."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from tests.chaos.lives import MAX_OPEN, Lives
from tests.chaos.shop import APP, REFUND, SHARES, USERS
from tests.chaos.wire import NoAnswer, Reply, Wire

OPEN = frozenset({"sending", "polling", "waiting_human"})
#: Nothing takes as long as this: a dead node's lease on PostgreSQL is 10 s.
STALLED_S = 60
_AGAIN_S = 0.2
# Of a hundred calls: sent twice at once; sent again after they had ended.
_TWICE, _AFTERWARDS = 3, 5

Stage = Literal["call", "input", "look", "settled"]


@dataclass(slots=True)
class Call:
    """One call, and what the driver was told of it.

    Attributes:
        order: its identity: an argument that reaches the upstream.
        key: of the request to the server.
        wait_s: what it says with ``Prefer``.
        decision: of the person, where it needs one.
        ids, inputs: every id that was told.
        began, settled: on the loop's clock; settled is None until its end was told.
        outcome: how it ended, as it was told.
        strange: answers that no rule explains.
    """

    order: int
    tool: str
    user: str
    key: str
    wait_s: int
    decision: Literal["approve", "deny"]
    twice: bool
    afterwards: bool
    stage: Stage = "call"
    ids: set[str] = field(default_factory=set[str])
    inputs: set[str] = field(default_factory=set[str])
    began: float | None = None
    settled: float | None = None
    outcome: str | None = None
    strange: list[str] = field(default_factory=list[str])


def planned(number: int, seed: int) -> list[Call]:
    """The calls of a run; the same for the same seed."""
    chance = random.Random(seed)
    tools = chance.choices([*SHARES], weights=[*SHARES.values()], k=number)
    return [
        Call(
            order=order,
            tool=tool,
            user=chance.choice(USERS),
            key=f"chaos-{seed}-{order}",
            wait_s=chance.choice((0, 1, 30)),
            decision="deny" if chance.random() < 0.15 else "approve",
            twice=chance.randrange(100) < _TWICE,
            afterwards=chance.randrange(100) < _AFTERWARDS,
        )
        for order, tool in enumerate(tools, 1)
    ]


class Stalled(Exception):
    """No call came to its end for a long time."""


class Driver:
    """Drives all calls of a run to their ends.

    Attributes:
        counts: of requests sent again for want of an answer, and of replayed answers.
    """

    def __init__(self, calls: list[Call], lives: Lives, key: str, connections: int) -> None:
        self.counts = Counter[str]()
        self._calls = calls
        self._lives = lives
        self._headers = {"Authorization": f"Bearer {key}"}
        self._free = [Wire() for _ in range(connections)]
        self._turns = asyncio.Semaphore(connections)
        self._group = asyncio.TaskGroup()
        self._loop = asyncio.get_running_loop()

    async def drive(self) -> None:
        """Make all calls; those that come to no end stay unsettled."""
        room = asyncio.Semaphore(MAX_OPEN)

        async def live(call: Call) -> None:
            try:
                await self._live(call)
            finally:
                room.release()

        try:
            async with self._group as group:
                watch = group.create_task(self._watch())
                living: list[asyncio.Task[None]] = []
                for call in self._calls:
                    await room.acquire()
                    living.append(group.create_task(live(call)))
                await asyncio.wait(living)
                watch.cancel()
        except* Stalled:
            pass
        finally:
            for wire in self._free:
                wire.close()

    async def _watch(self) -> None:
        before = -1
        while before != self._lives.settled:
            before = self._lives.settled
            await asyncio.sleep(STALLED_S)
        raise Stalled

    async def _live(self, call: Call) -> None:
        call.began = self._loop.time()
        if call.twice:
            self._group.create_task(self._once_more(call))
        while call.stage != "settled":
            try:
                done = await self._step(call)
            except NoAnswer:
                self.counts["repeats"] += 1
                done = True
            if not done:
                await asyncio.sleep(_AGAIN_S)
        call.settled = self._loop.time()
        self._lives.settle()
        if call.afterwards:
            await self._once_more(call)

    async def _step(self, call: Call) -> bool:
        """One request for a call; False where it is to be asked again a little later."""
        if call.stage == "call":
            reply = await self._send(call)
        elif call.stage == "input":
            body = {"decision": call.decision, "user": call.user}
            reply = await self._ask(
                "POST", f"/v1/inputs/{next(iter(call.inputs))}/answer", body, key=call.key
            )
        else:
            reply = await self._ask("GET", f"/v1/calls/{next(iter(call.ids))}")
        if reply.status == 503 or _is_under_way(reply):
            return False
        if reply.status not in {200, 202}:
            call.strange.append(f"{call.stage} was answered {reply.status} {reply.body}")
            call.stage = "settled"
            return True
        if call.stage == "input":
            call.stage = "look"
            return True
        return self._told(call, reply)

    async def _once_more(self, call: Call) -> None:
        """Send a call again, beside itself or after its end: it stays one call."""
        try:
            reply = await self._send(call)
        except NoAnswer:
            return
        if reply.status in {200, 202}:
            self._note(call, reply)
        elif reply.status != 503 and not _is_under_way(reply):
            call.strange.append(f"a repeat was answered {reply.status} {reply.body}")

    async def _send(self, call: Call) -> Reply:
        body = {"user": call.user, "args": {"order": call.order}}
        path = f"/v1/tools/{APP}/{call.tool}/call"
        return await self._ask("POST", path, body, key=call.key, prefer=f"wait={call.wait_s}")

    async def _ask(
        self, method: str, path: str, body: object = None, *, key: str = "", prefer: str = ""
    ) -> Reply:
        headers = dict(self._headers)
        if key:
            headers["Idempotency-Key"] = key
        if prefer:
            headers["Prefer"] = prefer
        async with self._turn() as wire:
            await self._lives.up.wait()
            reply = await wire.ask(self._lives.server.url, method, path, body, headers)
        self.counts["requests"] += 1
        if reply.replayed:
            self.counts["replays"] += 1
        return reply

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[Wire]:
        async with self._turns:
            wire = self._free.pop()
            try:
                yield wire
            finally:
                self._free.append(wire)

    def _told(self, call: Call, reply: Reply) -> bool:
        """Take in what was told of a call; False where it goes on by itself."""
        outcome = self._note(call, reply)
        if outcome == "waiting_human" and call.stage == "call":
            call.stage = "input"
            return True
        if outcome in OPEN:
            call.stage = "look"
            return False
        call.outcome, call.stage = outcome, "settled"
        return True

    def _note(self, call: Call, reply: Reply) -> str:
        body = reply.body
        call.ids.add(body.get("callId") or body["id"])
        if body.get("inputId"):
            call.inputs.add(body["inputId"])
        outcome: str = body["outcome"]
        if outcome == "waiting_human" and call.tool != REFUND:
            call.strange.append(f"a call of {call.tool} waits for a person")
        result = body.get("result", body.get("mapped"))
        if outcome == "ok" and result != {"order": call.order}:
            call.strange.append(f"another's answer was told: {result}")
        return outcome


def _is_under_way(reply: Reply) -> bool:
    return reply.status == 409 and reply.body.get("code") == "idempotency_in_progress"
