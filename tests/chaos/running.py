"""One run from the first process to the last comparison."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from remit.main.server_process import RunningServer, ServerGone
from tests.chaos.checking import Evidence, sent_again, violations
from tests.chaos.driving import STALLED_S, Call, Driver, planned
from tests.chaos.lives import Kill, Lives
from tests.chaos.records import Input, Record, read_inputs, read_records
from tests.chaos.setting import Store, compiled, done, furnish, program, store
from tests.chaos.shop import GET, PUT
from tests.chaos.upstream import read_ledger
from tests.main.processes import environment

_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is made of."""

    calls: int
    kills: int
    store: Store = "sqlite"
    seed: int = 1
    connections: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run came to.

    Attributes:
        calls_s, all_s: how long the calls took, and all of it.
        counts: what the driver counted.
        violations: what did not hold.
    """

    plan: Plan
    evidence: Evidence
    calls_s: float
    all_s: float
    counts: Counter[str]
    violations: list[str]

    @property
    def outcomes(self) -> Counter[str]:
        """How the calls ended."""
        return Counter(one.outcome for one in self.evidence.records)

    @property
    def again(self) -> Counter[str]:
        """How many calls of a tool that may be sent again were."""
        return sent_again(self.evidence.visits)

    def lines(self) -> Iterator[str]:
        """The report as a person reads it."""
        plan, kills, again = self.plan, self.evidence.kills, self.again
        out = sum(kill.out for kill in kills)
        yield f"{plan.calls:,} calls, {plan.kills} kills, {plan.store}, seed {plan.seed}"
        yield (
            f"  calls     {self.calls_s:.1f} s, {plan.calls / self.calls_s:,.0f} a second with "
            f"the restarts; {self.all_s:.1f} s in all"
        )
        yield f"  kills     {len(kills)}; after {out} of them a write was out without an answer"
        yield (
            f"  repeats   {self.counts['repeats']:,} requests sent again for want of an answer; "
            f"{self.counts['replays']:,} answers given again"
        )
        ended = ", ".join(f"{count:,} {name}" for name, count in self.outcomes.most_common())
        yield f"  outcomes  {ended}"
        yield (
            f"  upstream  {len(self.evidence.visits):,} requests; sent again: {again[PUT]:,} "
            f"idempotent writes, {again[GET]:,} reads"
        )
        if not self.violations:
            yield "Nothing was sent twice, nothing was lost, and every record says what happened."
            return
        yield f"{len(self.violations):,} violations:"
        yield from (f"  {line}" for line in self.violations[:_NAMED])


def _silent(_: str) -> None:
    """Tell nobody."""


def run(plan: Plan, folder: Path, tell: Callable[[str], None] = _silent) -> Report:
    """Run it in a folder of its own, which keeps the store and the ledger.

    Args:
        plan: what is made.
        folder: empty.
        tell: is told how far it is.

    Raises:
        RuntimeError: the server or the upstream cannot be set up.
    """
    began = time.monotonic()
    with ExitStack() as stack:
        url = stack.enter_context(store(plan.store))
        env = {"REMIT_EGRESS_ALLOW": "127.0.0.1", **url, **compiled(folder)}
        ledger = folder / "ledger"
        upstream = stack.enter_context(program("tests.chaos.upstream", str(ledger), str(plan.seed)))
        if plan.store == "postgresql":
            done(folder, "db", "upgrade", env=env)
        operator = done(folder, "keys", "create", "--role", "operator", env=env)
        server = stack.enter_context(RunningServer(folder, environment(env)))
        server.start()
        backend = furnish(server, operator, upstream)
        calls = planned(plan.calls, plan.seed)
        driven = asyncio.run(_driven(plan, calls, server, upstream, backend, tell))
        if (code := server.stop()) != 0:
            driven.faults.append(f"the server was asked to stop and ended with {code}")
    evidence = Evidence(
        calls=calls,
        records=driven.records,
        inputs=driven.inputs,
        visits=read_ledger(ledger),
        kills=driven.kills,
    )
    return Report(
        plan=plan,
        evidence=evidence,
        calls_s=driven.calls_s,
        all_s=time.monotonic() - began,
        counts=driven.counts,
        violations=[*driven.faults, *violations(evidence)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driven:
    """What is known when the calls are made."""

    records: list[Record]
    inputs: list[Input]
    kills: list[Kill]
    faults: list[str]
    counts: Counter[str]
    calls_s: float


async def _driven(
    plan: Plan,
    calls: list[Call],
    server: RunningServer,
    upstream: str,
    key: str,
    tell: Callable[[str], None],
) -> _Driven:
    lives = Lives(
        server=server,
        upstream=upstream,
        kills=plan.kills,
        calls=plan.calls,
        seed=plan.seed,
        tell=tell,
    )
    driver = Driver(calls, lives, key, plan.connections)
    lives.up.set()
    began = time.monotonic()
    killing = asyncio.create_task(lives.run())
    await driver.drive()
    calls_s = time.monotonic() - began
    try:
        async with asyncio.timeout(STALLED_S):
            await killing
    except (ServerGone, TimeoutError) as error:
        lives.faults.append(f"the kills stopped after {len(lives.done)}: {error!r}")
    records, inputs = list[Record](), list[Input]()
    if lives.up.is_set():
        records = await read_records(server.url, key)
        inputs = await read_inputs(server.url, key)
        lives.listen()
    return _Driven(
        records=records,
        inputs=inputs,
        kills=lives.done,
        faults=lives.faults,
        counts=driver.counts,
        calls_s=calls_s,
    )
