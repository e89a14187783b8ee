"""A server that is killed between the bytes leaving and the answer arriving (section 5)."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from pathlib import Path
from typing import Any, cast

from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.gateway.awaiting import as_it_stands
from remit.gateway.journal import Ended
from remit.values.json import JsonObject
from tests import databases
from tests.egress.upstream import Upstream, Visit
from tests.gateway.nodes import ADD, GET, PUT, REFUND, Stage, furnish, open_stage
from tests.gateway.server import shop

pytestmark = databases.on_each_database

# Makes four calls side by side, one of them approved by a person, and says each call's id.
PROGRAM = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.gateway.answering import Answer, answer
from tests.gateway.nodes import BACKEND, open_stage

ARGS = {"name": "o1", "amount": 600}

async def main():
    client = GuardedClient(parse_allowances(("127.0.0.1",)))
    async with client, open_stage(sys.argv[1], name="victim", egress=client) as stage:
        await stage.worker.start()
        waits = await stage.waiting("refund", ARGS)
        await answer(stage.node, BACKEND, waits.id, Answer(decision="approve", user="ana"))
        calls = [waits.call]
        for tool, args in (("get_order", {"id": "slow"}), ("put_order", ARGS), ("add_order", ARGS)):
            calls.append((await stage.call(tool, args, wait_ms=0)).call_id)
        print(*calls, flush=True)
        await stage.node.tasks.drain(60)

asyncio.run(main())
"""
SENT = 4


class App:
    """An app that answers no call before it is told to, but for the preview of the card."""

    def __init__(self) -> None:
        self.calls: list[bytes] = []
        self.all_left = asyncio.Event()
        self.answers = False

    async def visit(self, visit: Visit) -> None:
        """Count a request; answer, or say nothing for as long as the client is there."""
        request = await visit.request()
        preview = request.startswith(b"GET /v1/orders/o1 ")
        if not preview:
            self.calls.append(request)
        if len(self.calls) == SENT:
            self.all_left.set()
        if not preview and not self.answers:
            await visit.until_closed()
            return
        body = b'{"total":7}'
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        await visit.say(head.encode() + b"\r\nconnection: close\r\n\r\n" + body)

    def keys(self, start: bytes) -> list[bytes]:
        """The key of each request that begins so."""
        found = [one for one in self.calls if one.startswith(start)]
        return [cast("Any", re.search(rb"(?i)idempotency-key: *(\S+)", one))[1] for one in found]


async def ended(stage: Stage, call: str) -> Ended:
    """How a call ended."""
    found = await as_it_stands(stage.node, "acme", call)
    assert isinstance(found, Ended), found
    return found


def statuses(call: Ended) -> list[object]:
    """What became of each attempt that the record tells of."""
    attempts = cast("list[JsonObject]", call.record["attempts"])
    return [one["status"] for one in attempts]


async def test_killed_server_sends_no_write_twice_and_says_what_is_not_known(
    store_url: str,
) -> None:
    """A real process, a real kill: what nobody knows is said, what is harmless is repeated."""
    app = App()
    async with Upstream(app.visit) as upstream:
        base = f"http://127.0.0.1:{upstream.port}/v1"
        async with open_stage(store_url) as stage:
            await furnish(stage, shop(GET, ADD, PUT, REFUND, baseUrl=base))
        victim = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, store_url, str(Path.cwd()),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert victim.stdout is not None
        async with asyncio.timeout(30):
            refund, read, put, add = (await victim.stdout.readline()).decode().split()
            await app.all_left.wait()
        victim.send_signal(signal.SIGKILL)
        assert await victim.wait() == -signal.SIGKILL

        app.answers = True
        client = GuardedClient(parse_allowances(("127.0.0.1",)))
        async with client, open_stage(store_url, name="after", egress=cast("Any", client)) as after:
            await after.work()
            assert (await ended(after, read)).result == {"total": 7}
            again = await ended(after, put)
            assert again.outcome == "ok"
            assert statuses(again) == [None, 200]
            for call in (refund, add):
                found = await ended(after, call)
                assert found.outcome == "outcome_unknown"
                assert cast("JsonObject", found.error)["mayHaveHappened"] is True
                assert statuses(found) == [None]
            assert after.faults == []

    assert len(app.calls) == SENT + 2
    assert app.keys(b"PUT") == [put.encode()] * 2
    assert sorted(app.keys(b"POST")) == sorted([refund.encode(), add.encode()])
