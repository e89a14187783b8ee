"""`remit serve` beside a bare proxy and FastMCP, on the same call, in interleaved rounds.

The server under test has one core; the app that it calls and the load have the other. Every figure
is a median over the rounds, and every ratio is one of the same round: on a shared machine nothing
else means much. Where a core is not busy, others had it: the ratio by CPU says what the one in
requests would be without them.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import load
import peer_venv
from processes import NotStarted, Process, free_port
from workload import ARGS, EXPECTED, definition

from remit.main.server_process import RunningServer
from remit.values.json import JsonObject

HERE = Path(__file__).resolve().parent
CONNECTIONS = (16, 64)
_STARTS = 5
_WARM_S = 0.3
_USER = "ada"
_TOOL = "pay_order_0"
_CONSENT: JsonObject = {"consent": "workspace"}
_CREDENTIAL: JsonObject = {"type": "bearer", "token": "tok_4f9c2b7a10d84c1e9f35a6b7c8d9e0f1"}


@dataclass(frozen=True, slots=True)
class Subject:
    """A server that is asked: its process, and what it is asked."""

    process: Process
    asked: load.Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one window with one subject showed; CPU and memory are its process tree's."""

    calls_s: float
    cpu_us: float
    busy: float
    p50_ms: float
    p99_ms: float
    rss_mb: float
    wrong: int
    sample: bytes


Rounds = dict[str, list[Round]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where things run, and how long.

    Attributes:
        folder: for stores and logs; thrown away.
        core: of the server under test.
        seconds: of one window.
        rounds: windows of each subject.
        app: URL of the host app.
    """

    folder: Path
    core: int
    seconds: float
    rounds: int
    app: str

    def start(
        self,
        name: str,
        command: list[str],
        port: int,
        request: bytes,
        *,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Subject:
        """Start a server on the core that is measured.

        Raises:
            NotStarted: it does not listen.
        """
        log = (folder or self.folder) / f"{name}.log"
        process = Process(command, port=port, core=self.core, log=log, env=env)
        return Subject(process, load.Asked(port=port, request=request, expected=EXPECTED))

    def bare(self) -> Subject:
        """The bare proxy."""
        port = free_port()
        request = load.http_request(port, "/call", json.dumps(ARGS).encode(), {})
        return self.start(
            "bare", [sys.executable, str(HERE / "bare.py"), str(port), self.app], port, request
        )

    def fastmcp(self, python: Path) -> Subject:
        """FastMCP, asked as an MCP client asks: one `tools/call` a request."""
        port = free_port()
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": _TOOL, "arguments": ARGS},
        }
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        request = load.http_request(port, "/mcp", json.dumps(message).encode(), headers)
        return self.start(
            "fastmcp",
            [str(python), str(HERE / "fastmcp_server.py"), str(port), self.app],
            port,
            request,
        )

    def interleaved(
        self, subjects: Mapping[str, Subject], connections: int, rounds: int, seconds: float
    ) -> Rounds:
        """So many rounds of one window with each subject, in turn forth and back."""
        for subject in subjects.values():
            load.run(subject.asked, connections, _WARM_S)
        found: Rounds = {name: [] for name in subjects}
        order = list(subjects)
        for _ in range(rounds):
            for name in order:
                found[name].append(_window(subjects[name], connections, seconds))
            order.reverse()
        return found


def _window(subject: Subject, connections: int, seconds: float) -> Round:
    before = subject.process.cpu_s()
    seen = load.run(subject.asked, connections, seconds)
    cpu_s = subject.process.cpu_s() - before
    calls = len(seen.waits)
    return Round(
        calls_s=calls / seen.seconds,
        cpu_us=cpu_s / max(calls, 1) * 1e6,
        busy=cpu_s / seen.seconds,
        p50_ms=_at(seen.waits, 0.5) * 1e3,
        p99_ms=_at(seen.waits, 0.99) * 1e3,
        rss_mb=subject.process.rss_mb(),
        wrong=seen.wrong,
        sample=seen.sample,
    )


# -- Remit ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Remit:
    """A store of a workspace with one app that is approved, and one user who is connected."""

    folder: Path
    env: dict[str, str]
    key: str

    def start(self, bench: Bench) -> Subject:
        """Start `remit serve` on it."""
        port = free_port()
        body = json.dumps({"user": _USER, "args": ARGS}).encode()
        path = f"/v1/tools/bench/{_TOOL}/call"
        request = load.http_request(port, path, body, {"Authorization": f"Bearer {self.key}"})
        env = {**self.env, "REMIT_SERVER_PORT": str(port)}
        return bench.start("serve", [_remit(), "serve"], port, request, folder=self.folder, env=env)

    def copied(self, folder: Path) -> Remit:
        """The same store in another folder; no server may run on it."""
        shutil.copytree(self.folder, folder)
        return Remit(folder, self.env, self.key)


def prepared(bench: Bench, tools: int) -> Remit:
    """A store of which everything that a call needs is done, for an app of so many tools."""
    folder = bench.folder / f"remit-{tools}"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    env["REMIT_EGRESS_ALLOW"] = "127.0.0.1"
    keys = {
        role: subprocess.run(
            [_remit(), "keys", "create", "--role", role],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for role in ("operator", "backend")
    }
    with RunningServer(folder, env) as server:
        server.start()
        for role, method, path, body in (
            ("operator", "POST", "/v1/apps", definition(tools, bench.app)),
            ("operator", "POST", "/v1/apps/bench/versions/1/approve", _CONSENT),
            ("backend", "PUT", f"/v1/connections/bench/{_USER}", _CREDENTIAL),
        ):
            reply = server.ask(method, path, body, key=keys[role])
            if reply.status >= 300:
                raise NotStarted(f"Remit refused {method} {path}: {reply.text[:500]}")
        server.stop()
    return Remit(folder, env, keys["backend"])


def _remit() -> str:
    return str(Path(sys.executable).with_name("remit"))


def first_answer(bench: Bench, remit: Remit) -> tuple[float, float]:
    """Seconds, of wall time and of CPU, from the spawn of a server to its first answered call."""
    subject = remit.start(bench)
    with subject.process:
        seen = load.run(subject.asked, 1, 0)
        took = time.perf_counter() - subject.process.began, subject.process.cpu_s()
    if seen.wrong:
        raise NotStarted(f"Remit answered its first call with {seen.sample[:500]!r}")
    return took


# -- what is printed -----------------------------------------------------------------------


def measure(seconds: float, rounds: int) -> None:
    """Run the whole comparison and print it; says so where the machine cannot."""
    if not hasattr(os, "sched_setaffinity"):
        print("servers: not measured; pinning processes to cores needs Linux")
        return
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        print("servers: there is one core only; the load takes CPU away from what is measured")
    python = peer_venv.python()
    load_core = min(allowed)
    os.sched_setaffinity(0, {load_core})
    try:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-bench-")))
            port = free_port()
            command = [sys.executable, str(HERE / "upstream.py"), str(port)]
            log = folder / "upstream.log"
            stack.enter_context(Process(command, port=port, core=load_core, log=log))
            app = f"http://127.0.0.1:{port}/v1"
            bench = Bench(folder=folder, core=max(allowed), seconds=seconds, rounds=rounds, app=app)
            few, many = prepared(bench, 10), prepared(bench, 2_000)
            # Both catalogs get stores that have seen no calls.
            fresh = few.copied(folder / "remit-10-fresh")
            starts = [first_answer(bench, few) for _ in range(_STARTS)]
            _beside_others(bench, few, python)
            wall, cpu = map(statistics.median, zip(*starts, strict=True))
            print(
                f"Remit, start to first answer: {wall:.2f} s, {cpu:.2f} s of CPU, the median of "
                f"{_STARTS} (best {min(starts)[0]:.2f})   goal < 1.5 s"
            )
            _with_catalogs(bench, fresh, many)
    except NotStarted as error:
        print(f"servers: not measured; {error}")
    finally:
        os.sched_setaffinity(0, allowed)


def _beside_others(bench: Bench, remit: Remit, python: Path | None) -> None:
    with ExitStack() as stack:
        subjects = {"bare proxy": bench.bare()}
        stack.enter_context(subjects["bare proxy"].process)
        if python is not None:
            try:
                subjects["FastMCP"] = bench.fastmcp(python)
            except NotStarted as error:
                print(f"FastMCP is left out; {error}")
            else:
                stack.enter_context(subjects["FastMCP"].process)
        subjects["Remit"] = remit.start(bench)
        stack.enter_context(subjects["Remit"].process)
        for connections in CONNECTIONS:
            found = bench.interleaved(subjects, connections, bench.rounds, bench.seconds)
            print(f"a call through a server, {connections} connections, {bench.rounds} rounds:")
            for name, rounds in found.items():
                print(_row(name, rounds))
            for to, goal in (("bare proxy", "0.7"), ("FastMCP", "8")):
                if to in found:
                    ours, theirs = found["Remit"], found[to]
                    times = _quartiles(ours, theirs, lambda one: one.calls_s)
                    cpu = _quartiles(theirs, ours, lambda one: one.cpu_us)
                    print(f"  Remit / {to}: {times}   goal >= {goal}   (by CPU {cpu})")
        rss = subjects["Remit"].process.rss_mb()
        print(f"Remit, memory after the run: {rss:.0f} MB   goal < 130 MB")


def _with_catalogs(bench: Bench, few: Remit, many: Remit) -> None:
    connections, rounds = CONNECTIONS[0], 3 * bench.rounds
    with ExitStack() as stack:
        subjects = {"10 tools": few.start(bench)}
        stack.enter_context(subjects["10 tools"].process)
        subjects["2,000 tools"] = many.start(bench)
        stack.enter_context(subjects["2,000 tools"].process)
        # Shorter windows and more of them: the difference is smaller than the noise of one.
        found = bench.interleaved(subjects, connections, rounds, bench.seconds / 2)
    print(f"a call with a catalog, {connections} connections, {rounds} rounds:")
    for name, seen in found.items():
        print(_row(name, seen))
    times = _quartiles(found["2,000 tools"], found["10 tools"], lambda one: one.cpu_us)
    print(f"  CPU of a call, 2,000 tools / 10 tools: {times}   goal <= 1.05")


def _row(name: str, rounds: list[Round]) -> str:
    def mid(of: Callable[[Round], float]) -> float:
        return statistics.median(map(of, rounds))

    wrong = sum(one.wrong for one in rounds)
    sample = next((one.sample for one in rounds if one.wrong), b"")
    return (
        f"  {name:<11} {mid(lambda r: r.calls_s):6.0f} req/s  {mid(lambda r: r.cpu_us):5.0f} us of "
        f"CPU  p50 {mid(lambda r: r.p50_ms):6.2f}  p99 {mid(lambda r: r.p99_ms):6.2f} ms  "
        f"{rounds[-1].rss_mb:4.0f} MB  core {mid(lambda r: r.busy):4.0%} busy"
    ) + (f"  NO RESULT: {wrong} wrong answers, such as {sample[:300]!r}" if wrong else "")


def _quartiles(ours: list[Round], theirs: list[Round], of: Callable[[Round], float]) -> str:
    """The median of our figure over theirs of the same round, and the quartiles."""
    ratios = [of(our) / (of(their) or math.nan) for our, their in zip(ours, theirs, strict=True)]
    low, middle, high = (
        statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    )
    return f"{middle:.2f} [{low:.2f} to {high:.2f}]"


def _at(waits: list[float], share: float) -> float:
    return waits[min(len(waits) - 1, int(len(waits) * share))] if waits else float("nan")
