"""Two nodes on one PostgreSQL: readers on one hear what happens on the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from remit.gateway.conversing import Acted, Step
from remit.gateway.live import Bus, Subscription
from remit.session.events import Event, TextDelta
from remit.store import listening
from remit.store.listening import Listening
from remit.store.store import Store
from tests import databases
from tests.store.making import NOW, STARTED, W, message, session

PATIENCE_S = 20


class Node:
    """A node: its store, its readers, and what it hears of others."""

    def __init__(self, url: str, name: str) -> None:
        self.faults: list[Exception] = []
        self.store = Store(url)
        self.bus = Bus()
        live = self.store.listening(self.bus, node=name, on_fault=self.faults.append)
        assert isinstance(live, Listening)
        self.live = live

    async def say(self, session_id: str) -> Acted:
        """Something happens in a session, and whoever reads is told."""
        step = Step(events=(message(),))
        done = await self.store.sessions.act(W, session_id, lambda _: step, at=NOW)
        assert isinstance(done, Acted)
        self.live.happened(W, session_id, done.events)
        return done

    def write(self, session_id: str, offset: int, text: str, message_id: str = "m1") -> None:
        """A piece of a message is written."""
        self.live.said(W, session_id, run_id="r1", message_id=message_id, offset=offset, text=text)


class Reader:
    """A reader of a session on one node."""

    def __init__(self, node: Node, session_id: str) -> None:
        self._stir = asyncio.Event()
        self.on: Subscription = node.bus.subscribe(W, session_id, self._stir.set)
        self.text = ""
        self.pieces: list[TextDelta] = []
        self.events: list[Event] = []

    async def until(self, whole: str | None = None, head: int = 0, ended: bool = False) -> None:
        """Read until the text, the head or the end is there."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self._stir.clear()
                for heard in self.on.take():
                    if isinstance(heard.what, Event):
                        self.events.append(heard.what)
                        continue
                    self.pieces.append(heard.what)
                    if heard.what.offset == 0:
                        self.text = ""
                    assert heard.what.offset == len(self.text)
                    self.text += heard.what.text
                if (
                    self.on.head >= head
                    and (whole is None or self.text == whole)
                    and (not ended or self.on.ended is not None)
                ):
                    return
                await self._stir.wait()


@asynccontextmanager
async def nodes(url: str) -> AsyncIterator[tuple[Node, Node]]:
    """Two nodes that listen."""
    pair = Node(url, "n1"), Node(url, "n2")
    for node in pair:
        await node.live.start()
    try:
        yield pair
    finally:
        for node in pair:
            await node.live.stop()
            await node.store.close()


@pytest.fixture
def url(migrated_postgres: str) -> str:
    """An empty PostgreSQL."""
    databases.empty(migrated_postgres)
    return migrated_postgres


async def made(node: Node) -> str:
    """The id of a session."""
    return (await node.store.sessions.make(W, session(), [STARTED])).row.id


async def test_reader_hears_of_events_of_another_node(url: str) -> None:
    """Its own node's at once and whole; of another's it is told how far the log is."""
    async with nodes(url) as (first, second):
        mine, other = await made(first), await made(first)
        near, far = Reader(first, mine), Reader(second, mine)
        apart = Reader(second, other)
        await first.say(mine)
        done = await first.say(mine)

        await far.until(head=done.row.head_seq)
        await near.until(head=done.row.head_seq)
        assert [event.seq for event in near.events] == [2, 3]
        assert far.events == []
        log = await second.store.sessions.events(W, mine, after=1, limit=9)
        assert tuple(near.events) == log
        assert apart.on.head <= 1


async def test_text_of_another_node_comes_in_order_and_whole(url: str) -> None:
    """Pieces of whatever characters, gathered, larger than a payload can be."""
    async with nodes(url) as (first, second):
        mine = await made(first)
        far = Reader(second, mine)
        words = ["Hëllo ", "\x00\x01\n", "🦘" * 3_000, "end"]
        offset = 0
        for word in words:
            first.write(mine, offset, word)
            offset += len(word)

        await far.until("".join(words))


async def test_reader_that_joins_elsewhere_in_the_middle_gets_the_text_so_far(url: str) -> None:
    """One with offset 0 first, on any node (contract section 9)."""
    async with nodes(url) as (first, second):
        mine = await made(first)
        first.write(mine, 0, "Hello ")
        # It has gone out to a node where nobody read along.
        early = Reader(second, mine)
        await early.until("Hello ")
        first.write(mine, 6, "you ")
        await early.until("Hello you ")
        late = Reader(second, mine)
        await late.until("Hello you ")
        first.write(mine, 10, "all")
        for reader in (early, late):
            await reader.until("Hello you all")
            assert reader.pieces[0].offset == 0


async def test_next_message_begins_anew(url: str) -> None:
    """What was written before it is not told again to whoever joins."""
    async with nodes(url) as (first, second):
        mine = await made(first)
        far = Reader(second, mine)
        first.write(mine, 0, "One")
        first.live.unsaid(W, mine)
        first.write(mine, 0, "Two", "m2")
        await far.until("Two")
        first.live.unsaid(W, mine)
        done = await first.say(mine)
        await far.until(head=done.row.head_seq)

        late = Reader(second, mine)
        done = await first.say(mine)
        await late.until(head=done.row.head_seq)
        assert late.pieces == []


async def test_hint_that_was_lost_costs_a_moment_and_no_more(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node may die between its commit and what it tells: heads are looked up besides."""
    monkeypatch.setattr(listening, "POLL_S", 0.05)
    async with nodes(url) as (first, second):
        mine = await made(first)
        far = Reader(second, mine)
        step = Step(events=(message(),))
        await first.store.sessions.act(W, mine, lambda _: step, at=NOW)

        await far.until(head=2)
        await first.store.sessions.erase(W, mine, at=NOW)
        await far.until(ended=True)
        assert far.on.ended == "session_closed"


def ended(connection: psycopg.Connection) -> int:
    """End the connections of those that listen and tell; how many there were."""
    return connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ "
        "'LISTEN|pg_notify|synchronous_commit' AND pid <> pg_backend_pid()"
    ).rowcount


async def test_broken_connections_are_made_anew(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database was restarted, say: both listen and tell again, and say what was wrong."""
    monkeypatch.setattr(listening, "_AGAIN_S", 0.05)
    async with nodes(url) as (first, second):
        mine = await made(first)
        far = Reader(second, mine)
        with psycopg.connect(url, autocommit=True) as connection:
            # They connect in their own time.
            async with asyncio.timeout(PATIENCE_S):
                while not ended(connection):  # noqa: ASYNC110 (the database tells nobody)
                    await asyncio.sleep(0.01)

        async def write() -> None:
            offset = 0
            while True:
                first.write(mine, offset, "x")
                offset += 1
                await asyncio.sleep(0.05)

        writing = asyncio.ensure_future(write())
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not far.text:
                    await asyncio.sleep(0.01)
                    await far.until()
        finally:
            writing.cancel()
        assert first.faults or second.faults
        assert all(isinstance(fault, psycopg.Error) for fault in first.faults + second.faults)


async def test_sqlite_has_nobody_to_tell(migrated_sqlite: object) -> None:
    """There is one node."""
    async with Store(f"sqlite:///{migrated_sqlite}") as store:
        assert store.listening(Bus(), node="n1", on_fault=print) is None
