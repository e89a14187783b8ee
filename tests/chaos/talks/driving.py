"""Holds the conversations: makes sessions, says, answers and reads, and repeats what was lost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.driving import STALLED_S, Stalled
from tests.chaos.shop import APP
from tests.chaos.talks.deaths import Fleet
from tests.chaos.talks.script import Talk
from tests.chaos.talks.stream import NoStream, messages
from tests.chaos.wire import NoAnswer, Reply, Wire

_ANSWER_WITHIN_S = 10
_AGAIN_S = 0.2
# So many streams of a hundred are left after an event, as a page that is loaded again.
_LEAVES = 3

Json = dict[str, Any]


@dataclass(slots=True)
class Held:
    """A session as it was held, and what was told of it.

    Attributes:
        events: of the stream, in the order in which they came.
        runs: by message, the run that its 202 named.
        strange: what no rule explains.
        read: the session in the end; ``log``: its events as a page of JSON.
    """

    plan: Talk
    id: str = ""
    token: str = ""
    events: list[Json] = field(default_factory=list[Json])
    runs: dict[str, str] = field(default_factory=dict[str, str])
    strange: list[str] = field(default_factory=list[str])
    read: Json | None = None
    log: list[Json] = field(default_factory=list[Json])
    settled: bool = False
    _idle: asyncio.Event = field(default_factory=asyncio.Event)
    _done: asyncio.Event = field(default_factory=asyncio.Event)
    _texts: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def last(self) -> int:
        """Number of the last event that came."""
        return self.events[-1]["seq"] if self.events else 0

    async def first_is_over(self) -> None:
        """Wait until the run of the first message is done."""
        await self._idle.wait()

    async def all_is_over(self) -> None:
        """Wait until both are."""
        await self._done.wait()

    def give_up(self) -> None:
        """Wait for nothing more: a message was refused."""
        self._idle.set()
        self._done.set()

    def joined(self) -> None:
        """A stream begins: pieces of a message come from its start."""
        self._texts.clear()

    def took(self, name: str, data: Json) -> bool:
        """Take in what a stream says; whether it is an event of the log."""
        if name == "text_delta":
            self._piece(data)
            return False
        if name in {"end", "reset"}:
            if name == "reset" or data.get("reason") not in {"shutdown", "slow_reader"}:
                self.strange.append(f"the stream said {name} {data}")
            return False
        if data["seq"] != self.last + 1:
            self.strange.append(f"event {data['seq']} came after {self.last}")
        self.events.append(data)
        if data["type"] == "message":
            self._whole(data["data"])
        if data["type"] == "status" and data["data"]["status"] == "idle":
            self._rests()
        return True

    def _rests(self) -> None:
        over = [one["data"]["reason"] for one in self.events if one["type"] == "run_finished"]
        done = over.count("done")
        if done >= 1:
            self._idle.set()
        if done >= len(self.plan.messages) or set(over) - {"done", "waiting"}:
            self.give_up()

    def _piece(self, data: Json) -> None:
        known = self._texts.get(data["messageId"], "")
        if data["offset"] not in {0, len(known)}:
            self.strange.append(f"a piece at {data['offset']} came after {len(known)} characters")
        self._texts[data["messageId"]] = known[: data["offset"]] + data["text"]

    def _whole(self, data: Json) -> None:
        pieces = self._texts.pop(data["messageId"], "")
        if not data["text"].startswith(pieces):
            self.strange.append(f"pieces {pieces!r} are no beginning of {data['text']!r}")


class Driver:
    """Drives all sessions of a run to their ends.

    Attributes:
        counts: requests, those sent again for want of an answer, streams that were lost.
    """

    def __init__(self, talks: list[Held], fleet: Fleet, key: str, *, at_once: int) -> None:
        self.counts = Counter[str]()
        self._talks = talks
        self._fleet = fleet
        self._key = key
        self._at_once = at_once
        self._chance = random.Random(fleet.seed)
        self._free: list[Wire] = []

    async def drive(self) -> None:
        """Hold all conversations; those that come to no end stay unsettled."""
        room = asyncio.Semaphore(self._at_once)

        async def hold(held: Held) -> None:
            async with room:
                await self._hold(held)

        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch())
                living = [group.create_task(hold(held)) for held in self._talks]
                await asyncio.wait(living)
                watch.cancel()
        except* Stalled:
            pass
        finally:
            for wire in self._free:
                wire.close()

    async def _watch(self) -> None:
        before, now = -1, 0
        while before != now:
            before = now
            await asyncio.sleep(STALLED_S)
            now = sum(len(held.events) for held in self._talks)
        raise Stalled

    async def _hold(self, held: Held) -> None:
        plan = held.plan
        body = {"apps": [{"id": APP}], "user": plan.user}
        made = await self._done(held, "/v1/sessions", body, f"make-{plan.number}", self._key)
        if made is None:
            return
        held.id, held.token = made["id"], made["clientToken"]
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._read(held, group))
            for text in plan.messages:
                if not await self._say(held, text):
                    held.give_up()
                if not plan.queues:
                    await held.first_is_over()
            await held.all_is_over()
            reading.cancel()
        await self._look_back(held)
        held.settled = True
        await self._fleet.settle()

    async def _say(self, held: Held, text: str) -> bool:
        body = {"text": text, "queue": held.plan.queues}
        path = f"/v1/sessions/{held.id}/messages"
        said = await self._done(held, path, body, f"say-{text}".replace(" ", "-"), held.token)
        if said is not None:
            held.runs[text] = said["runId"]
        return said is not None

    async def _answer(self, held: Held, event: Json) -> None:
        shown = event["data"]
        decision = "deny" if held.plan.denies else "approve"
        body = {"decision": decision, "digest": shown["digest"]}
        path = f"/v1/sessions/{held.id}/human-input/{shown['inputId']}"
        await self._done(held, path, body, f"answer-{shown['inputId']}", held.token)

    async def _read(self, held: Held, group: asyncio.TaskGroup) -> None:
        """Follow the log, with the last number that is known, whatever becomes of streams."""
        path = f"/v1/sessions/{held.id}/events"
        while True:
            await self._fleet.some_up()
            node = self._fleet.pick(self._chance)
            if node is None:
                continue
            held.joined()
            try:
                stream = messages(node.server.url, path, held.token, held.last)
                async with aclosing(stream):
                    async for name, data in stream:
                        if held.took(name, data) and data["type"] == "human_input_needed":
                            group.create_task(self._answer(held, data))
                        if self._chance.randrange(100) < _LEAVES:
                            break
            except (OSError, EOFError, TimeoutError):
                self.counts["streams lost"] += 1
                await asyncio.sleep(_AGAIN_S)
            except NoStream as fault:
                if " 503 " not in f"{fault} ":
                    held.strange.append(f"the stream was answered {fault}")
                await asyncio.sleep(_AGAIN_S)

    async def _look_back(self, held: Held) -> None:
        """The session and its log as they are in the end."""
        path = f"/v1/sessions/{held.id}"
        held.read = await self._got(held, path)
        after = 0
        while page := await self._got(held, f"{path}/events?after={after}&limit=500"):
            held.log += page["events"]
            if page["next"] is None:
                return
            after = page["next"]

    async def _got(self, held: Held, path: str) -> Json | None:
        while True:
            try:
                reply = await self._ask("GET", path, None, held.token)
            except NoAnswer:
                self.counts["repeats"] += 1
                continue
            if reply.status == 200:
                return reply.body
            if reply.status != 503:
                held.strange.append(f"GET {path} was answered {reply.status} {reply.body}")
                return None
            await asyncio.sleep(_AGAIN_S)

    async def _done(self, held: Held, path: str, body: Json, name: str, secret: str) -> Json | None:
        """Send what is to be done once, with its key, until it is answered; None if refused."""
        while True:
            try:
                reply = await self._ask("POST", path, body, secret, f"{name}-{self._fleet.seed}")
            except NoAnswer:
                self.counts["repeats"] += 1
                continue
            if reply.status in {200, 201, 202}:
                self.counts["replays"] += reply.replayed
                return reply.body
            under_way = reply.status == 409 and reply.body["code"] == "idempotency_in_progress"
            if reply.status != 503 and not under_way:
                held.strange.append(f"{name} was answered {reply.status} {reply.body}")
                return None
            await asyncio.sleep(_AGAIN_S)

    async def _ask(
        self, method: str, path: str, body: Json | None, secret: str, key: str = ""
    ) -> Reply:
        headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        await self._fleet.some_up()
        node = self._fleet.pick(self._chance)
        if node is None:
            raise NoAnswer(path)
        self.counts["requests"] += 1
        async with self._wire() as wire:
            try:
                async with asyncio.timeout(_ANSWER_WITHIN_S):
                    return await wire.ask(node.server.url, method, path, body, headers)
            except TimeoutError:
                raise NoAnswer(path) from None

    @asynccontextmanager
    async def _wire(self) -> AsyncGenerator[Wire]:
        wire = self._free.pop() if self._free else Wire()
        try:
            yield wire
        finally:
            self._free.append(wire)
