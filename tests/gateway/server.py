"""What a server governs with, put together as ``serve`` does it: the real store, the real vault.

Only time and the way out are the test's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from remit.errors import CallError
from remit.gateway.acting import Actor, Books, system
from remit.gateway.consenting import Consents
from remit.gateway.drafting import House
from remit.gateway.ports import WireResponse
from remit.gateway.records import AuditEntry, Version
from remit.gateway.refreshing import Refresher
from remit.gateway.remembering import Memory
from remit.gateway.reviewing import approve
from remit.gateway.standing import InForce, Standing
from remit.gateway.submitting import submit
from remit.gateway.wallet import Wallet
from remit.main.world import RandomIds
from remit.store.store import Store
from remit.values.urls import parse_origin
from remit.vault.sealing import Vault
from tests.catalog.documents import definition, endpoint_tool
from tests.gateway.fakes import ScriptedEgress, answer
from tests.vault.fakes import masters

Json = dict[str, Any]

START_MS = 1_790_000_000_000
HOUSE = House(own=parse_origin("https://remit.acme.example"))


@dataclass
class Time:
    """A clock that only a test moves: monotonic, and the time of day."""

    passed_ms: int = 0
    slept: list[int] = field(default_factory=list[int])

    def now_ms(self) -> int:
        """Since the test began."""
        return self.passed_ms

    def unix_ms(self) -> int:
        """The time of day."""
        return START_MS + self.passed_ms

    async def sleep(self, delay_ms: int) -> None:
        """Waiting takes no time; the clock goes on."""
        self.slept.append(delay_ms)
        self.passed_ms += delay_ms


@dataclass
class Server:
    """One node."""

    store: Store
    books: Books
    memory: Memory
    refresher: Refresher
    standing: Standing
    consents: Consents
    wallet: Wallet
    egress: ScriptedEgress
    time: Time
    operator: Actor = field(default_factory=lambda: system("acme"))

    async def submit(self, document: Json | None = None) -> Version:
        """Submit a definition in ``acme``."""
        found = await submit(self.books, self.operator, document or shop(), HOUSE)
        return found.version

    async def approved(self, document: Json | None = None, **terms: Any) -> Version:  # noqa: ANN401 -- those of ``approve``
        """Submit a definition and approve it."""
        version = await self.submit(document)
        return await approve(self.books, self.operator, version.app, version.number, **terms)

    async def in_force(self, app: str = "acme") -> InForce:
        """The app as calls find it; it must stand."""
        found = await self.standing.app("acme", app)
        assert isinstance(found, InForce), found
        return found

    async def audit(self) -> list[AuditEntry]:
        """All entries of ``acme``, the oldest first."""
        page = await self.store.audit.list("acme", limit=500)
        return list(reversed(page.items))


@asynccontextmanager
async def open_server(
    place: Path | str,
    *,
    time: Time | None = None,
    answers: list[WireResponse | CallError] | None = None,
) -> AsyncIterator[Server]:
    """Open a store that has its schema, and put a node together around it.

    Args:
        place: a SQLite file, or the URL of a database.
        time: of the node; two nodes of one test may share it.
        answers: what apps say to a fetch; an empty catalog where nothing is given.
    """
    clock, ids = time or Time(), RandomIds()
    url = place if isinstance(place, str) else f"sqlite:///{place}"
    async with Store(url, readers=2) as store:
        books = Books(
            apps=store.apps,
            versions=store.versions,
            catalogs=store.catalogs,
            grants=store.grants,
            policies=store.policies,
            revisions=store.revisions,
            keys=store.keys,
            workspaces=store.workspaces,
            connections=store.connections,
            env=store.env,
            devices=store.devices,
            keeper=Vault(store.data_keys, masters("a")),
            clock=clock,
            wall=clock,
            fresh=ids,
        )
        memory = Memory(books.revisions, clock, books.bell)
        egress = ScriptedEgress(answers or [answer([])])
        refresher = Refresher(books, memory, egress)
        standing = Standing(books, memory, refresher)
        yield Server(
            store=store,
            books=books,
            memory=memory,
            refresher=refresher,
            standing=standing,
            consents=Consents(books, memory),
            wallet=Wallet(books, memory),
            egress=egress,
            time=clock,
        )


def shop(*tools: Json, **changes: object) -> Json:
    """A sound definition of the app ``acme`` with a read tool, unless others are given."""
    return definition(*(tools or (endpoint_tool("get_order"),)), **changes)
