"""Conversations: turns a second with a model that answers at once, streams, sessions that wait.

The server under test has one core; the model, the app and whoever talks have the other. Turns by
CPU time say what one core would carry where others had a part of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPConnection
from pathlib import Path

import servers
from processes import NotStarted, Process, free_port

from remit.main.server_process import Reply, RunningServer
from remit.values.json import JsonObject

HERE = Path(__file__).resolve().parent
SESSIONS = 200
WAITING = 100_000
STREAMS = 1_000
_MESSAGES = 100
_PAUSE_S = 0.03
_IDLE_S = 4.0
_ENDS_WITHIN_S = 180
_ASKS: JsonObject = {
    "rules": [{"match": {"tool": "pay_order_1"}, "then": "ask", "reason": "The bench asks."}]
}
# Copies of one session that waits for a person: its row, its call, its input. A log costs disk.
_COPIED = {
    "session": ("id",),
    "call": ("id", "session", "input"),
    "input": ("id", "call", "session"),
}

_NUMBERS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)"


@dataclass(frozen=True, slots=True)
class Talk:
    """A store with an app, and a model beside it."""

    folder: Path
    env: dict[str, str]
    key: str
    core: int
    model: int

    @contextmanager
    def served(self) -> Generator[Served]:
        """`remit serve` on it, on the core that is measured.

        Raises:
            NotStarted: it does not listen.
        """
        port = free_port()
        env = {**self.env, "REMIT_SERVER_PORT": str(port)}
        command = [sys.executable, "-m", "remit.main", "serve"]
        log = self.folder / "serve.log"
        with Process(command, port=port, core=self.core, log=log, env=env) as process:
            took_s = time.perf_counter() - process.began
            yield Served(process, port, self.key, took_s)

    def texts(self) -> tuple[int, int]:
        """How many turns the model gave by now, and how many of them were texts."""
        with closing(HTTPConnection("127.0.0.1", self.model)) as connection:
            connection.request("GET", "/count")
            found = json.loads(connection.getresponse().read())
        return found["turns"], found["texts"]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that is measured; ``took_s`` until it listened."""

    process: Process
    port: int
    key: str
    took_s: float

    def posts(self, wanted: list[tuple[str, dict[str, object]]]) -> list[dict[str, str]]:
        """Send many requests over one connection, one after another.

        Raises:
            NotStarted: one was refused.
        """
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        found: list[dict[str, str]] = []
        with closing(HTTPConnection("127.0.0.1", self.port)) as connection:
            for path, body in wanted:
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read().decode()
                if answer.status >= 300:
                    raise NotStarted(f"Remit refused {path}: {text[:500]}")
                found.append(json.loads(text))
        return found

    def sessions(self, count: int) -> list[str]:
        """Make sessions; their ids."""
        body: dict[str, object] = {"apps": [{"id": "bench"}], "user": "ada"}
        return [made["id"] for made in self.posts([("/v1/sessions", body)] * count)]

    def say(self, sessions: list[str], text: str) -> None:
        """Say the same in each."""
        self.posts([(f"/v1/sessions/{one}/messages", {"text": text}) for one in sessions])


def measure() -> None:
    """Measure all of it and print it; says so where the machine cannot."""
    if not hasattr(os, "sched_setaffinity"):
        print("conversations: not measured; pinning processes to cores needs Linux")
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-bench-")))
            talk = _prepared(folder, core=max(allowed), beside=min(allowed), stack=stack)
            with talk.served() as server:
                _turns(talk, server)
            with talk.served() as server:
                _streams(talk, server)
            _waiting(talk)
    except NotStarted as error:
        print(f"conversations: not measured; {error}")
    finally:
        os.sched_setaffinity(0, allowed)


# -- turns ---------------------------------------------------------------------------------


def _turns(talk: Talk, server: Served) -> None:
    """Print how many turns a second the server reaches; each but the last makes a call."""
    _talk(talk, server, server.sessions(8))
    sessions = server.sessions(SESSIONS)
    turns, cpu_s, wall_s = _talk(talk, server, sessions)
    print(
        f"conversations, {SESSIONS} at once: {turns / wall_s:.0f} turns/s, core "
        f"{cpu_s / wall_s:.0%} busy, {cpu_s / turns * 1e3:.2f} ms of CPU a turn: "
        f"{turns / cpu_s:.0f} turns/s a core   goal 120"
    )


def _talk(talk: Talk, server: Served, sessions: list[str]) -> tuple[int, float, float]:
    """Let all of them talk; turns, and seconds of CPU and of wall time."""
    before, texts = talk.texts()
    cpu_s, began = server.process.cpu_s(), time.perf_counter()
    server.say(sessions, "pay the order")
    while talk.texts()[1] < texts + len(sessions):
        if time.perf_counter() > began + _ENDS_WITHIN_S:
            raise NotStarted(f"only {talk.texts()[1] - texts} of {len(sessions)} sessions ended")
        time.sleep(0.02)
    wall_s = time.perf_counter() - began
    return talk.texts()[0] - before, server.process.cpu_s() - cpu_s, wall_s


# -- streams -------------------------------------------------------------------------------


def _streams(talk: Talk, server: Served) -> None:
    """Print what open streams cost, and how soon an event is at its reader."""
    sessions = server.sessions(STREAMS)
    before_mb, _ = _idle(talk, server)
    waits, rss_mb = asyncio.run(_read(server, sessions))
    print(
        f"{STREAMS:,} live streams: {rss_mb:.0f} MB, {before_mb:.0f} MB before them, "
        f"{(rss_mb - before_mb) * 1e3 / STREAMS:.0f} kB each   goal < 200 MB"
    )
    waits.sort()
    print(
        f"from an event, before its commit, to its reader, beside {STREAMS:,} streams: p50 "
        f"{statistics.median(waits):.0f} ms, p95 {waits[len(waits) * 95 // 100]:.0f} ms, of "
        f"{len(waits)}   goal 50 ms"
    )


async def _read(server: Served, sessions: list[str]) -> tuple[list[float], float]:
    """Open a stream of each; what the events of some messages waited, in ms, and memory."""
    waits: list[float] = []
    following: list[asyncio.Task[None]] = []
    # A writer that nobody has any more hangs up.
    writers: list[asyncio.StreamWriter] = []
    try:
        for session in sessions:
            reader, writer = await _opened(server, session)
            writers.append(writer)
            following.append(asyncio.ensure_future(_follow(reader, waits)))
        rss_mb = server.process.rss_mb()
        for session in sessions[:_MESSAGES]:
            await asyncio.to_thread(server.say, [session], "hello")
            await asyncio.sleep(_PAUSE_S)
        return waits, max(rss_mb, server.process.rss_mb())
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        for writer in writers:
            writer.close()


async def _opened(
    server: Served, session: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream that has told all that is in the log by now.

    Raises:
        NotStarted: it is refused.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.key}\r\nAccept: text/event-stream\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head:
        raise NotStarted(f"a stream was refused: {head} {await reader.read(600)}")
    await reader.readuntil(b"session_started")
    return reader, writer


async def _follow(reader: asyncio.StreamReader, waits: list[float]) -> None:
    """Note how old each event is when it is read."""
    began_ms = time.time() * 1e3
    while line := await reader.readline():
        if line.startswith(b'data: {"seq"'):
            at_ms = datetime.fromisoformat(json.loads(line[6:])["at"]).timestamp() * 1e3
            if at_ms >= began_ms:
                waits.append(time.time() * 1e3 - at_ms)


# -- sessions that wait --------------------------------------------------------------------


def _waiting(talk: Talk) -> None:
    """Print what sessions cost that wait for a person, beside a store that has but one of them."""
    with talk.served() as server:
        session = server.sessions(1)[0]
        server.say([session], "ask before you pay")
        _until_waits(server, session)
    found: list[tuple[float, float, float]] = []
    for count in (1, WAITING):
        with talk.served() as server:
            took_s = server.took_s
            rss_mb, idle_ms = _idle(talk, server)
            _until_waits(server, session)
        found.append((took_s, rss_mb, idle_ms))
        print(
            f"{count:,} waiting: listens after {took_s:.2f} s, {rss_mb:.0f} MB, {idle_ms:.2f} ms "
            "of CPU in an idle second"
        )
        if count == 1:
            _copy(talk.folder / "remit.db", session)
    (_, few_mb, few_ms), (_, many_mb, many_ms) = found
    size_mb = (talk.folder / "remit.db").stat().st_size / 1e6
    print(
        f"{WAITING:,} waiting cost {many_mb - few_mb:+.0f} MB, {many_ms - few_ms:+.2f} ms of CPU "
        f"in an idle second; {size_mb:.0f} MB on disk   goal no memory, < 1 ms"
    )


def _until_waits(server: Served, session: str) -> None:
    headers = {"Authorization": f"Bearer {server.key}"}
    until = time.perf_counter() + _ENDS_WITHIN_S
    with closing(HTTPConnection("127.0.0.1", server.port)) as connection:
        while time.perf_counter() < until:
            connection.request("GET", f"/v1/sessions/{session}", headers=headers)
            if json.loads(connection.getresponse().read()).get("status") == "waiting_human":
                return
            time.sleep(0.1)
    raise NotStarted(f"the session {session} does not wait")


def _idle(talk: Talk, server: Served) -> tuple[float, float]:
    """Megabytes, and milliseconds of CPU of a second in which nobody asks anything."""
    # The model's libraries are loaded then, and what a start leaves to be done is done.
    _talk(talk, server, server.sessions(1))
    time.sleep(_IDLE_S)
    rss_mb, before = server.process.rss_mb(), server.process.cpu_s()
    time.sleep(_IDLE_S)
    return rss_mb, (server.process.cpu_s() - before) * 1e3 / _IDLE_S


def _copy(store: Path, session: str) -> None:
    """Add so many copies of a session that waits; no server may run on the store."""
    with closing(sqlite3.connect(store, isolation_level=None)) as rows:
        rows.execute("BEGIN IMMEDIATE")
        for table, own in _COPIED.items():
            names = [row[1] for row in rows.execute(f"PRAGMA table_info({table})")]
            copied = ", ".join(
                f"\"{name}\" || printf('%06d', n)" if name in own else f'"{name}"' for name in names
            )
            which = "id" if table == "session" else "session"
            source = f'FROM "{table}", number WHERE "{which}" = ?'
            copies = f'{_NUMBERS} INSERT INTO "{table}" SELECT {copied} {source}'
            rows.execute(copies, (WAITING - 1, session))
        rows.execute("COMMIT")


# -- setting up ----------------------------------------------------------------------------


def _prepared(folder: Path, *, core: int, beside: int, stack: ExitStack) -> Talk:
    """App and model as processes, and a store in which the app is approved."""
    ports = dict[str, int]()
    for name in ("upstream", "model"):
        ports[name] = free_port()
        command = [sys.executable, str(HERE / f"{name}.py"), str(ports[name])]
        log = folder / f"{name}.log"
        stack.enter_context(Process(command, port=ports[name], core=beside, log=log))
    app = f"http://127.0.0.1:{ports['upstream']}/v1"
    bench = servers.Bench(folder=folder, core=core, seconds=0, rounds=0, app=app)
    made = servers.prepared(bench, 10)
    env = {
        **made.env,
        "REMIT_MODEL_NAME": "openai:bench",
        "REMIT_MODEL_BASE_URL": f"http://127.0.0.1:{ports['model']}/v1",
    }
    operator = subprocess.run(
        [sys.executable, "-m", "remit.main", "keys", "create", "--role", "operator"],
        cwd=made.folder,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    with RunningServer(made.folder, env) as server:
        server.start()
        match = {"If-Match": _good(server.ask("GET", "/v1/policy", key=operator)).etag}
        _good(server.ask("PUT", "/v1/policy", _ASKS, key=operator, headers=match))
        server.stop()
    return Talk(made.folder, env, made.key, core, ports["model"])


def _good(reply: Reply) -> Reply:
    if reply.status >= 300:
        raise NotStarted(f"Remit refused the policy: {reply.text[:500]}")
    return reply


if __name__ == "__main__":
    measure()
