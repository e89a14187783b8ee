"""Fakes of the ports: a scripted app, a clock that records, a person of few words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from remit.calls.cards import Card
from remit.catalog.model import Definition
from remit.errors import CallError
from remit.gateway.apps import App, World
from remit.gateway.calling import CallOutcome, call
from remit.gateway.catalogs import Snapshot
from remit.gateway.ports import Denial, Limits, Unasked, WireRequest, WireResponse
from remit.policy.catalogs import effective_catalog
from remit.policy.decisions import Approval
from remit.values.json import JsonObject
from remit.values.secrets import Secret
from remit.values.urls import Origin

CREDENTIAL = "tok_canary_0123456789"


def answer(
    body: object = None,
    status: int = 200,
    *,
    media: str = "application/json",
    **headers: str,
) -> WireResponse:
    """An answer: JSON, or bytes as they are; header names with _ for -."""
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return WireResponse(
        status=status, headers=(("content-type", media), *named), body=raw, elapsed_ms=1
    )


@dataclass
class ScriptedEgress:
    """Gives its answers in order, an error among them raised; the last again and again.

    Attributes:
        sent: every request, and its limits.
        refusal: what the guard says to every origin; None where it has nothing against it.
    """

    answers: list[WireResponse | CallError]
    sent: list[WireRequest] = field(default_factory=list[WireRequest])
    limits: list[Limits] = field(default_factory=list[Limits])
    on_send: Callable[[], None] = lambda: None
    refusal: CallError | None = None

    async def admit(self, origin: Origin) -> None:
        """Refuse the origin, where told to."""
        del origin
        if self.refusal is not None:
            raise self.refusal

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Record the request and answer."""
        self.sent.append(request)
        self.limits.append(limits)
        self.on_send()
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, CallError):
            raise found
        return found

    @property
    def lines(self) -> list[str]:
        """Method and path with query of each request."""
        return [f"{r.method} /{r.url.split('/', 3)[3]}" for r in self.sent]


@dataclass
class RecordingClock:
    """A clock on which waiting takes no time."""

    slept: list[int] = field(default_factory=list[int])

    async def sleep(self, delay_ms: int) -> None:
        """Note the wait."""
        self.slept.append(delay_ms)

    def now_ms(self) -> int:
        """The sum of the waits."""
        return sum(self.slept)


@dataclass
class Person:
    """Answers every card as told, and keeps the cards."""

    says: Approval | Denial | Unasked | str = "yes"
    cards: list[Card] = field(default_factory=list[Card])

    async def ask(self, card: Card) -> Approval | Denial | Unasked:
        """``yes`` approves the request that is shown."""
        self.cards.append(card)
        if isinstance(self.says, str):
            return Approval(digest=card.request.digest, by="ana")
        return self.says


@dataclass
class CountingIds:
    """``call_1``, ``call_2`` and so on."""

    count: int = 0

    def call_id(self) -> str:
        """The next id."""
        self.count += 1
        return f"call_{self.count}"

    def traceparent(self) -> str:
        """Always the same trace."""
        return "00-00000000000000000000000000000001-0000000000000001-01"


@dataclass
class Notes:
    """Keeps what it is told while a call runs."""

    told: list[str] = field(default_factory=list[str])

    def started(self, tool: str) -> None:
        """A request goes out."""
        self.told.append(f"started {tool}")

    def answered(self, tool: str) -> None:
        """It is over."""
        self.told.append(f"answered {tool}")

    def polled(self, tool: str, poll: int, max_polls: int, status: str) -> None:
        """A poll."""
        self.told.append(f"polled {tool} {poll}/{max_polls} {status}")

    def retrying(self, tool: str, delay_ms: int, status: int) -> None:
        """A read is tried again."""
        self.told.append(f"retrying {tool} {delay_ms} {status}")


@dataclass
class Stage:
    """One app and a world in which it is called."""

    definition: Definition
    egress: ScriptedEgress
    person: Person = field(default_factory=Person)
    clock: RecordingClock = field(default_factory=RecordingClock)
    notes: Notes = field(default_factory=Notes)
    ids: CountingIds = field(default_factory=CountingIds)
    credential: str | None = CREDENTIAL
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def app(self) -> App:
        """The app with its static catalog."""
        return App(
            definition=self.definition,
            catalog=effective_catalog(self.definition, None),
            credential=None if self.credential is None else Secret(self.credential),
            env={name: Secret(text) for name, text in self.env.items()},
            version="0.1.0",
        )

    @property
    def world(self) -> World:
        """The ports."""
        return World(
            egress=self.egress,
            approver=self.person,
            clock=self.clock,
            ids=self.ids,
            watcher=self.notes,
        )

    async def call(
        self, name: str, args: JsonObject | None = None, pins: JsonObject | None = None
    ) -> CallOutcome:
        """Call a tool."""
        return await call(name, args or {}, self.app, self.world, pins=pins)


@dataclass
class MemorySnapshots:
    """Keeps one snapshot."""

    kept: Snapshot | None = None
    written: int = 0

    def read(self, definition: Definition) -> Snapshot | None:
        """The snapshot."""
        return self.kept

    def write(self, definition: Definition, snapshot: Snapshot) -> None:
        """Keep it."""
        self.kept = snapshot
        self.written += 1
