"""A process that is killed: what it had committed is there, and says how far it got."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from remit.store.store import Store
from tests.store.making import NOW, W, call

# Plans a call, says so, and would finish it; then is told to go on, or is killed.
PROGRAM = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from remit.store.store import Store
from tests.store.making import call

async def main():
    async with Store(sys.argv[1]) as store:
        await store.work.join("victim", at=int(sys.argv[3]), lease_ms=5_000)
        row = call(id="the-call", node="victim", sent_at=1)
        assert await store.calls.plan("acme", row)
        print("planned", flush=True)
        background = [asyncio.ensure_future(store.calls.plan("acme", call())) for _ in range(500)]
        if sys.stdin.readline():
            await store.calls.finish(
                "acme", row.id, was="sending", status="done", outcome="ok", record_json="{}", at=2
            )
            print("finished", flush=True)
            sys.stdin.readline()

asyncio.run(main())
"""


def start(url: str) -> subprocess.Popen[str]:
    """The victim, as soon as it has planned its call."""
    victim = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, str(Path(__file__).parents[2]), str(NOW)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdout is not None
    assert victim.stdout.readline() == "planned\n"
    return victim


def kill(victim: subprocess.Popen[str]) -> None:
    """As the machine would: without a word."""
    victim.send_signal(signal.SIGKILL)
    assert victim.wait(10) == -signal.SIGKILL
    for pipe in (victim.stdin, victim.stdout):
        if pipe is not None:
            pipe.close()


async def test_killed_between_plan_and_finish_the_call_is_still_sending(url: str) -> None:
    """The intent was committed before the send, so that nobody sends it again unknowingly."""
    kill(start(url))

    async with Store(url) as store:
        row = await store.calls.get(W, "the-call")
        assert row is not None
        assert (row.status, row.outcome, row.sent_at, row.node) == ("sending", None, 1, "victim")
        early = await store.work.abandoned("n2", at=NOW + 4_999, limit=900)
        late = await store.work.abandoned("n2", at=NOW + 5_000, limit=900)
        assert "the-call" not in {row.id for row in early}
        assert "the-call" in {row.id for row in late}
        rows = [call() for _ in range(20)]
        assert all(await asyncio.gather(*(store.calls.plan(W, row) for row in rows)))


async def test_killed_after_finish_the_call_is_done(url: str) -> None:
    """The outcome is committed, then announced (contract section 5, step 10)."""
    victim = start(url)
    assert victim.stdin is not None
    assert victim.stdout is not None
    victim.stdin.write("go on\n")
    victim.stdin.flush()
    assert victim.stdout.readline() == "finished\n"
    kill(victim)

    async with Store(url) as store:
        row = await store.calls.get(W, "the-call")
        assert row is not None
        assert (row.status, row.outcome) == ("done", "ok")
