"""Conversations on a node of the tests: the real store, a scripted app, a model of few words.

The model keeps its history as JSON of its own; what it is asked is remembered, so that a test can
say what a model was told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from remit.errors import CallError, ModelFailed
from remit.gateway import sessions
from remit.gateway.answering import Answer, answer
from remit.gateway.conversing import SessionRow
from remit.gateway.live import Bus
from remit.gateway.models import CallReturn, Entry, ModelCall, ModelResponse, ToolOffer
from remit.gateway.offers import Offers
from remit.gateway.ports import WireResponse
from remit.gateway.session_apps import AppAsked
from remit.gateway.sessions import NewSession, Said
from remit.gateway.talking import Talker
from remit.gateway.talks import Stops, Talks, TalkTerms
from remit.session.events import Event
from remit.session.machine import rebuilt
from tests.gateway.nodes import BACKEND, Stage, furnish, open_stage

Line = str | ModelFailed | Sequence[ModelCall] | tuple[str, Sequence[ModelCall]]


def ask(name: str, /, id: str = "c1", **args: object) -> ModelCall:  # noqa: A002 (as a model says it)
    """A call as a model asks for it; one argument ``raw`` is the text itself."""
    raw = args.pop("raw", None)
    return ModelCall(id=id, name=name, args_json=str(raw) if raw is not None else json.dumps(args))


@dataclass
class ScriptedPort:
    """A model that says its lines in order; ``name`` and ``provider`` are as of a real one.

    Attributes:
        told: for each request the history, as decoded JSON.
        tools: what it was offered last; ``instructions`` likewise.
        packs: whether tools are strict as far as its provider takes them together; ``loose``:
            whether it refused that and was asked without.
        gate: waited for before each answer, once text was said; None waits for nothing.
    """

    lines: list[Line]
    name: str = "openai:scripted"
    provider: Literal["openai", "anthropic", "gemini"] = "openai"
    packs: bool = False
    loose: bool = False
    told: list[list[Any]] = field(default_factory=list[list[Any]])
    tools: Sequence[ToolOffer] = ()
    instructions: str = ""
    gate: asyncio.Event | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def ready(self) -> None:
        """Nothing to load."""

    def user_entry(self, text: str) -> Entry:
        """See the port."""
        return _entry("user", {"user": text})

    def results_entry(self, returns: Sequence[CallReturn]) -> Entry:
        """See the port."""
        said = [{"id": one.id, "content": one.content, "failed": one.failed} for one in returns]
        return _entry("results", {"results": said})

    def calls_of(self, entry: Entry) -> tuple[ModelCall, ...]:
        """See the port."""
        return tuple(ModelCall(**one) for one in json.loads(entry.body_json)["calls"])

    def masked(self, entry: Entry, args_json: Mapping[str, str]) -> Entry:
        """See the port."""
        body = json.loads(entry.body_json)
        for one in body["calls"]:
            one["args_json"] = args_json.get(one["id"], one["args_json"])
        return structs.replace(entry, body_json=json.dumps(body))

    async def respond(
        self,
        history: Sequence[Entry],
        *,
        instructions: str,
        tools: Sequence[ToolOffer],
        on_text: Callable[[str], None],
    ) -> ModelResponse:
        """See the port."""
        self.told.append([json.loads(entry.body_json) for entry in history])
        self.tools, self.instructions = tools, instructions
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if isinstance(line, ModelFailed):
            raise line
        if isinstance(line, str):
            text, calls = line, ()
        else:
            text, calls = line if isinstance(line, tuple) else ("", line)
        for word in text.split(" "):
            if word:
                on_text(f"{word} ")
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        made: list[ModelCall] = [one for one in calls if isinstance(one, ModelCall)]
        body = {"text": text, "calls": [structs.asdict(one) for one in made]}
        return ModelResponse(
            entry=_entry("response", body),
            text=text,
            calls=tuple(made),
            tokens=(10, 5, 0),
            loose=self.loose,
        )


def _entry(kind: Literal["user", "response", "results"], body: object) -> Entry:
    return Entry(kind=kind, body_json=json.dumps(body), format="test/1")


@dataclass
class Models:
    """One model, or none."""

    model: ScriptedPort | None

    def find(self, name: str | None) -> ScriptedPort | None:
        """See the port."""
        del name
        return self.model


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, 20 s at most."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 (what is waited for sets no event)
            await asyncio.sleep(0.005)


@dataclass
class Conversation:
    """One session of ``ana`` with the scripted model."""

    stage: Stage
    talks: Talks
    talker: Talker
    model: ScriptedPort
    bus: Bus
    id: str = ""

    async def open(self, **more: object) -> SessionRow:
        """Make the session."""
        fields: dict[str, Any] = {"apps": (AppAsked(id="acme"),), "user": "ana", **more}
        row = await sessions.create(self.talks, BACKEND, NewSession(**fields))
        self.id = row.id
        return row

    async def say(self, text: str = "Do it.", **more: object) -> None:
        """Send a message, and let the node work until the session rests or waits."""
        fields: dict[str, Any] = {"text": text, **more}
        await sessions.say(self.talks, BACKEND, self.id, Said(**fields))
        await self.work()

    async def work(self) -> None:
        """Let the node work until nothing is due."""
        async with asyncio.timeout(20):
            while True:
                await self.talker.round()
                await self.stage.worker.round()
                await until(lambda: not (self.talker.busy or len(self.stage.node.tasks)))
                assert not self.stage.faults, self.stage.faults
                row = await self.row()
                if row.due_at is None or row.due_at > await self.talks.now_ms():
                    return

    async def answer(self, decision: str, *, input_id: str | None = None, **more: object) -> None:
        """Answer an input as ana, the only open one where none is named; let the node work."""
        if input_id is None:
            (input_id,) = (await self.row()).state.inputs
        fields: dict[str, Any] = {"decision": decision, "user": "ana", **more}
        await answer(self.stage.node, BACKEND, input_id, Answer(**fields))
        await self.work()

    async def row(self) -> SessionRow:
        """The session as it is kept; its log makes the same state."""
        row = await self.talks.sessions.get("acme", self.id)
        assert row is not None
        assert rebuilt(await self.events()) == row.state
        return row

    async def events(self) -> tuple[Event, ...]:
        """The log; its numbers have no gap."""
        found = await self.talks.sessions.events("acme", self.id, after=0, limit=500)
        assert [event.seq for event in found] == list(range(1, len(found) + 1))
        return found

    async def types(self) -> list[str]:
        """The types of the log, statuses with their word."""
        return [
            f"status {json.loads(event.data_json)['status']}"
            if event.type == "status"
            else event.type
            for event in await self.events()
        ]

    async def data(self, kind: str) -> list[dict[str, Any]]:
        """The data of all events of a type."""
        return [json.loads(one.data_json) for one in await self.events() if one.type == kind]


@asynccontextmanager
async def open_conversation(
    place: Path | str,
    *lines: Line,
    answers: Sequence[WireResponse | CallError] = (),
    terms: TalkTerms | None = None,
    document: dict[str, Any] | None = None,
    **more: object,
) -> AsyncIterator[Conversation]:
    """A node with a model that says these lines, and a session in which nothing was said."""
    fields: dict[str, Any] = dict(more)
    async with open_stage(place, *answers, **fields) as stage:
        await furnish(stage, document)
        conversation = talk_on(stage, ScriptedPort(list(lines)), terms)
        await conversation.open()
        yield conversation
        await conversation.talker.stop()


def talk_on(stage: Stage, model: ScriptedPort, terms: TalkTerms | None = None) -> Conversation:
    """What a node needs to converse."""
    store, bus = stage.server.store, Bus()

    async def now_ms() -> int:
        return stage.time.unix_ms()

    talks = Talks(
        node=stage.node,
        books=stage.server.books,
        sessions=store.sessions,
        clients=store.clients,
        models=Models(model),
        live=bus,
        now_ms=now_ms,
        alarm=asyncio.Event(),
        stops=Stops(),
        offers=Offers(),
        terms=terms or TalkTerms(),
    )
    talker = Talker(talks, on_fault=stage.faults.append)
    stage.node.endings.listen(talker)
    return Conversation(stage=stage, talks=talks, talker=talker, model=model, bus=bus)
