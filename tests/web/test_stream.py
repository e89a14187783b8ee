"""The event stream over a real server: all of a log, in order, once, until it ends for a reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from remit.session.events import Message
from remit.web import stream
from tests import databases
from tests.web.api import CONSOLE
from tests.web.streaming import Sent, Server, open_streams

pytestmark = databases.on_each_database


@pytest.fixture
async def server(store_url: str) -> AsyncIterator[Server]:
    """The API behind a real server."""
    async with open_streams(store_url) as opened:
        yield opened


def said(number: int, text: str = "Hello") -> Message:
    """An event of the log."""
    return Message(message_id=f"m{number}", role="assistant", text=text)


def texts(found: list[Sent]) -> list[str]:
    """Ids of the messages among events."""
    return [one.data["data"]["messageId"] for one in found if one.event == "message"]


async def test_stream_is_the_log_from_its_beginning_and_what_happens_then(server: Server) -> None:
    """``id``, ``event``, and the whole event as ``data`` on one line (contract section 9)."""
    session = await server.api.session()
    async with server.follow(session) as reader:
        (started,) = await reader.take(1)
        await server.api.happens(session, said(1, "two\nlines \u2028 and more"))
        (message,) = await reader.take(1)

    assert reader.status == 200
    assert reader.headers["content-type"] == "text/event-stream"
    assert reader.headers["cache-control"] == "no-store"
    assert reader.headers["x-accel-buffering"] == "no"
    assert (started.id, started.event, started.data["seq"]) == (1, "session_started", 1)
    assert (message.id, message.data["type"]) == (2, "message")
    assert message.data["data"]["text"] == "two\nlines \u2028 and more"
    assert set(message.data) == {"seq", "type", "at", "data"}
    assert message.data["at"].endswith("Z")


@pytest.mark.parametrize(
    ("query", "headers"),
    [("?after=3", {}), ("", {"last_event_id": "3"}), ("?after=1", {"last_event_id": "3"})],
    ids=("after", "last-event-id", "both"),
)
async def test_reader_that_comes_again_gets_what_it_has_not(
    server: Server, query: str, headers: dict[str, str]
) -> None:
    """The header wins over the query, which a browser repeats as it was at first."""
    session = await server.api.session()
    await server.api.happens(session, *(said(number) for number in range(2, 6)))
    async with server.follow(session, query=query, **headers) as reader:
        found = await reader.take(2)

    assert [one.id for one in found] == [4, 5]


async def test_long_log_comes_whole_and_in_order(server: Server) -> None:
    """More than a page of it, and more than the bus would let wait; events in between too."""
    session, count = await server.api.session(), 900
    for start in range(0, count, 300):
        await server.api.happens(session, *(said(start + number) for number in range(300)))
    async with server.follow(session) as reader:
        first = await reader.take(100)
        await server.api.happens(session, said(count))
        rest = await reader.take(count + 2 - 100)

    assert [one.id for one in first + rest] == list(range(1, count + 3))


async def test_many_readers_of_one_session_get_the_same(server: Server) -> None:
    """Whenever they came, each gets everything once, while events go on coming."""
    api = server.api
    session = await api.session()

    async def talk() -> None:
        for number in range(60):
            await api.happens(session, said(number))

    async def read() -> list[int | None]:
        async with server.follow(session) as reader:
            return [one.id for one in await reader.take(61)]

    talking = asyncio.ensure_future(talk())
    readers = [asyncio.ensure_future(read())]
    for _ in range(7):
        await asyncio.sleep(0)
        readers.append(asyncio.ensure_future(read()))
    await talking
    found = await asyncio.gather(*readers)

    assert found == [list(range(1, 62))] * 8


async def test_events_of_another_node_are_read_from_the_store(server: Server) -> None:
    """This node hears only that the log has grown; its own next event closes the gap as well."""
    api = server.api
    session = await api.session()

    async def elsewhere(number: int) -> int:
        heard, api.bus.happened = api.bus.happened, lambda *_: None  # type: ignore[method-assign]
        row = await api.happens(session, said(number))
        api.bus.happened = heard  # type: ignore[method-assign]
        return row.head_seq

    async with server.follow(session) as reader:
        await reader.take(1)
        api.bus.beyond("acme", session, await elsewhere(1))
        (first,) = await reader.take(1)
        await elsewhere(2)
        await api.happens(session, said(3))
        rest = await reader.take(2)

    assert [first.id, *(one.id for one in rest)] == [2, 3, 4]


async def test_text_streams_without_ids_and_a_late_reader_gets_it_from_its_start(
    server: Server,
) -> None:
    """``text_delta`` is on the stream alone; offset 0 with the text so far comes first."""
    api = server.api
    session = await api.session()

    def write(offset: int, text: str) -> None:
        api.bus.said("acme", session, run_id="run_1", message_id="m1", offset=offset, text=text)

    async with server.follow(session) as early:
        await early.take(1)
        write(0, "Hel")
        write(3, "lo ")
        async with server.follow(session) as late:
            joined = (await late.take(2))[1]
            write(6, "you")
            api.bus.unsaid("acme", session)
            await api.happens(session, said(1, "Hello you"))
            rest = await late.take(2)
        pieces = await early.take(4)

    assert joined == Sent(
        "text_delta", {"runId": "run_1", "messageId": "m1", "offset": 0, "text": "Hello "}
    )
    assert [(one.event, one.id) for one in rest] == [("text_delta", None), ("message", 2)]
    assert [one.data["offset"] for one in pieces[:3]] == [0, 3, 6]
    assert pieces[3].id == 2


async def test_piece_of_a_message_that_is_whole_is_not_sent_after_it(server: Server) -> None:
    """A reader that finds the message in the log hears no stale piece of it from the bus."""
    api = server.api
    session = await api.session()
    await api.happens(session, said(1, "Hello"))
    # As where the message was committed, and its node has not told its readers yet.
    api.bus.said("acme", session, run_id="run_1", message_id="m1", offset=0, text="Hello")
    async with server.follow(session) as reader:
        await reader.take(2)
        await api.happens(session, said(2))
        (following,) = await reader.take(1)

    assert following.data["data"]["messageId"] == "m2"


async def test_reader_from_the_future_is_reset(server: Server) -> None:
    """``reset`` with the head there is, then everything from the first event."""
    session = await server.api.session()
    async with server.follow(session, last_event_id="41") as reader:
        found = await reader.take(2)

    assert found[0] == Sent("reset", {"headSeq": 1})
    assert found[1].id == 1


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "99999999999999999999", "1 2", "\u0661"])
async def test_last_event_id_that_is_no_number_is_refused(server: Server, last: str) -> None:
    """422 before anything streams."""
    session = await server.api.session()
    async with server.follow(session, last_event_id=last) as reader:
        assert reader.status == 422
        assert (await reader.body())["code"] == "invalid_request"


@pytest.mark.parametrize("who", ["other tab", "other", "ana"])
async def test_foreign_reader_gets_no_stream(server: Server, who: str) -> None:
    """404 for another session's client and another workspace, 403 for an agent's token."""
    session = await server.api.session()
    await server.api.session(who="other tab")
    async with server.follow(session, who=who) as reader:
        assert reader.status == (403 if who == "ana" else 404)


async def test_request_that_cannot_be_meant_gets_no_stream(server: Server) -> None:
    """A wrong key, an unknown parameter."""
    session = await server.api.session()
    server.api.keys["nobody"] = "rk_client_wrong"
    async with server.follow(session, who="nobody") as reader:
        assert reader.status == 401
    async with server.follow(session, query="?from=1") as reader:
        assert reader.status == 422


async def test_closed_session_ends_its_streams(server: Server) -> None:
    """Also one that begins after it was closed, with everything before the end."""
    session = await server.api.session()
    async with server.follow(session) as reader:
        await reader.take(1)
        await server.api.post(f"/v1/sessions/{session}/close")
        found = await reader.rest()
    async with server.follow(session, last_event_id="2") as later:
        rest = await later.rest()

    assert found[-2].data["data"] == {"status": "closed"}
    assert found[-1] == Sent("end", {"reason": "session_closed"})
    assert rest == [Sent("end", {"reason": "session_closed"})]


async def test_token_that_expires_ends_its_stream(server: Server) -> None:
    """In the middle of it: nothing that happens later is sent."""
    session = await server.api.session()
    async with server.follow(session) as reader:
        await reader.take(1)
        server.api.stage.time.passed_ms += 900_000
        await server.api.happens(session, said(1))
        found = await reader.rest()

    assert found == [Sent("end", {"reason": "token_expired"})]


async def test_revoked_token_ends_its_stream(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up again while the stream goes on."""
    monkeypatch.setattr(stream, "RECHECK_S", 0)
    session = await server.api.session()
    keys = (await server.api.get("/v1/keys?role=client&limit=500")).json()["items"]
    token = next(one["id"] for one in keys if one.get("session") == session)
    async with server.follow(session) as reader:
        await reader.take(1)
        await server.api.send("DELETE", f"/v1/tokens/{token}")
        found = await reader.rest()

    assert found == [Sent("end", {"reason": "token_expired"})]


async def test_stopping_server_ends_its_streams(server: Server) -> None:
    """With everything that was heard before; whoever comes then is told the same."""
    session = await server.api.session()
    async with server.follow(session) as reader:
        await reader.take(1)
        await server.api.happens(session, said(1))
        server.api.bus.end_all("shutdown")
        found = await reader.rest()
    async with server.follow(session) as later:
        assert (await later.rest())[-1] == Sent("end", {"reason": "shutdown"})

    assert [one.event for one in found] == ["message", "end"]
    assert found[-1].data == {"reason": "shutdown"}


async def test_silent_stream_has_a_heartbeat(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment, which readers skip."""
    monkeypatch.setattr(stream, "BEAT_S", 1)
    session = await server.api.session()
    async with server.follow(session) as reader:
        await reader.take(1)
        await reader.heartbeat()
        await server.api.happens(session, said(1))
        (following,) = await reader.take(1)

    assert following.id == 2


async def test_slow_reader_is_cut_off_and_holds_up_nobody(server: Server) -> None:
    """It stops reading; others go on, and what waits for it is bounded. Coming back, it is told."""
    api = server.api
    session = await api.session()
    count, text = 100, "x" * 100_000
    async with server.follow(session) as slow, server.follow(session) as quick:
        await slow.take(1)
        await quick.take(1)
        for number in range(count):
            await api.happens(session, said(number, text))
            (event,) = await quick.take(1)
            assert event.id == number + 2
        found = await slow.rest()

    assert found[-1] == Sent("end", {"reason": "slow_reader"})
    ids = [one.id for one in found[:-1]]
    assert ids == list(range(2, len(ids) + 2))
    assert len(ids) < count
    async with server.follow(session, last_event_id=str(ids[-1])) as again:
        assert [one.id for one in await again.take(count - len(ids))][-1] == count + 1


async def test_reader_that_left_is_forgotten(server: Server) -> None:
    """Nothing is kept of it, and its token may follow another stream."""
    session = await server.api.session()
    for _ in range(stream.MAX_OF_CLIENT + 2):
        async with server.follow(session) as reader:
            await reader.take(1)
        async with asyncio.timeout(10):
            while tuple(server.api.bus.readers()):  # noqa: ASYNC110 (nothing tells of it)
                await asyncio.sleep(0.005)


async def test_open_streams_are_counted(server: Server) -> None:
    """For whoever runs the server."""
    session = await server.api.session()
    async with server.follow(session) as reader:
        await reader.take(1)
        assert "remit_event_streams 1.0" in (await server.api.get("/metrics", who=None)).text


async def test_token_follows_so_many_streams_and_no_more(server: Server) -> None:
    """429 beyond that; other readers of the session come in."""
    session = await server.api.session()
    async with asyncio.timeout(20):
        opened = []
        for _ in range(stream.MAX_OF_CLIENT):
            following = server.follow(session)
            opened.append(following)
            await (await following.__aenter__()).take(1)
        async with server.follow(session) as one_more:
            assert one_more.status == 429
        async with server.follow(session, who="operator") as reader:
            await reader.take(1)
        for following in opened:
            await following.__aexit__(None, None, None)


async def test_page_of_an_allowed_origin_may_read(server: Server) -> None:
    """CORS with the headers that a reader sends; another origin's page may not."""
    session = await server.api.session()
    async with server.follow(session, origin=CONSOLE) as reader:
        await reader.take(1)
        assert reader.headers["access-control-allow-origin"] == CONSOLE
    async with server.follow(session, origin="https://evil.example") as reader:
        assert "access-control-allow-origin" not in reader.headers
    preflight = await server.api.client.options(
        f"/v1/sessions/{session}/events",
        headers={
            "host": "127.0.0.1",
            "origin": CONSOLE,
            "access-control-request-method": "GET",
            "access-control-request-headers": "authorization, last-event-id",
        },
    )
    assert preflight.status_code == 200
