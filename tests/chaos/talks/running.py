"""One run from the first process to the last comparison."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.records import Record, read_records
from tests.chaos.setting import Store, compiled, done, furnish, program, store
from tests.chaos.shop import ONCE, PUT
from tests.chaos.talks.checking import Evidence, violations
from tests.chaos.talks.deaths import Fleet, Node, Server, Watch
from tests.chaos.talks.driving import Driver, Held
from tests.chaos.talks.host import read_ledger
from tests.chaos.talks.script import talk
from tests.main.processes import environment

_NAMED = 20
#: A lost node's run is taken up within this (issue: "It must reach").
TAKEN_WITHIN_S = 15
_ENDS_WITHIN_S = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is made of.

    Attributes:
        deaths: kills on SQLite; on PostgreSQL, with two servers, a kill of one and a stop of the
            other each.
        at_once: sessions that are held side by side.
        stopped_s: longer than the leases of sessions and nodes (10 s).
    """

    sessions: int
    deaths: int
    store: Store = "sqlite"
    seed: int = 1
    at_once: int = 24
    stopped_s: float = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run came to."""

    plan: Plan
    evidence: Evidence
    talks_s: float
    counts: Counter[str]
    violations: list[str]

    @property
    def outcomes(self) -> Counter[str]:
        """How the calls ended."""
        return Counter(one.outcome for one in self.evidence.records)

    @property
    def taken_s(self) -> float:
        """The longest that it took until a lost node's runs were taken up; 0 on SQLite."""
        return max((death.taken_s or 0 for death in self.evidence.deaths), default=0)

    @property
    def settled_s(self) -> float:
        """The longest that it took until its calls were settled; 0 on SQLite."""
        return max((death.settled_s or 0 for death in self.evidence.deaths), default=0)

    def lines(self) -> Iterator[str]:
        """The report as a person reads it."""
        plan, evidence = self.plan, self.evidence
        ledger, deaths = evidence.ledger, evidence.deaths
        kinds = Counter(death.kind for death in deaths)
        events = sum(len(held.events) for held in evidence.talks)
        came = Counter((one.kind, one.order) for one in ledger.visits)
        writes = sum(count for (kind, _), count in came.items() if kind in ONCE)
        again = sum(count > 1 for (kind, _), count in came.items() if kind == PUT)
        yield (
            f"{plan.sessions} sessions, {kinds['kill']} kills, {kinds['stop']} stops, "
            f"{plan.store}, seed {plan.seed}"
        )
        yield (
            f"  sessions  {sum(held.settled for held in evidence.talks)} ended, {events:,} events, "
            f"{self.talks_s:.0f} s with the restarts"
        )
        out = sum(death.out for death in deaths)
        yield f"  deaths    {out} while a write was surely out without an answer"
        if plan.store == "postgresql":
            held = sum(death.held for death in deaths)
            yield (
                f"  taken up  {held} runs of lost nodes, within {self.taken_s:.1f} s "
                f"(goal {TAKEN_WITHIN_S}); calls that they were making were settled within "
                f"{self.settled_s:.1f} s"
            )
        yield (
            f"  repeats   {self.counts['repeats']:,} requests sent again for want of an answer; "
            f"{self.counts['streams lost']:,} streams lost"
        )
        ended = ", ".join(f"{count:,} {name}" for name, count in self.outcomes.most_common())
        yield f"  outcomes  {ended}"
        yield f"  app       {writes:,} writes came; {again} idempotent ones came again"
        if not self.violations:
            yield "No write was sent twice, no session and no message was lost."
            return
        yield f"{len(self.violations):,} violations:"
        yield from (f"  {line}" for line in self.violations[:_NAMED])


def _silent(_: str) -> None:
    """Tell nobody."""


def run(plan: Plan, folder: Path, tell: Callable[[str], None] = _silent) -> Report:
    """Run it in a folder of its own, which keeps the store and what the app saw.

    Raises:
        RuntimeError: a server, the model or the app cannot be set up.
    """
    talks = [Held(talk(number)) for number in range(1, plan.sessions + 1)]
    with ExitStack() as stack:
        shared = stack.enter_context(store(plan.store))
        database = folder / "app.db"
        host = stack.enter_context(program("tests.chaos.talks.host", str(database)))
        model = stack.enter_context(program("tests.chaos.talks.model"))
        env = {
            "REMIT_EGRESS_ALLOW": "127.0.0.1",
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": f"{model}/v1",
            **shared,
            **compiled(folder),
        }
        if plan.store == "postgresql":
            done(folder, "db", "upgrade", env=env)
        operator = done(folder, "keys", "create", "--role", "operator", env=env)
        nodes = list[Node]()
        for name in ("one", "two")[: 2 if plan.store == "postgresql" else 1]:
            home = folder if plan.store == "sqlite" else folder / name
            home.mkdir(exist_ok=True)
            nodes.append(Node(stack.enter_context(Server(home, environment(env)))))
        watch = Watch(shared["REMIT_STORE_URL"]) if shared else None
        if watch is not None:
            stack.callback(watch.close)
        chance = random.Random(plan.seed)
        # There are others still to be held then.
        last = max(0, plan.sessions * 9 // 10 - plan.at_once)
        fleet = Fleet(
            nodes=nodes,
            host=host,
            sessions=plan.sessions,
            moments=sorted(chance.randint(0, last) for _ in range(plan.deaths)),
            seed=plan.seed,
            stopped_s=plan.stopped_s,
            tell=tell,
            watch=watch,
        )
        driven = asyncio.run(_driven(plan, talks, fleet, operator, host))
        for node in nodes:
            if (code := node.server.stop()) != 0:
                fleet.faults.append(f"a server was asked to stop and ended with {code}")
    evidence = Evidence(
        talks=talks, records=driven.records, ledger=read_ledger(database), deaths=fleet.done
    )
    return Report(
        plan=plan,
        evidence=evidence,
        talks_s=driven.talks_s,
        counts=driven.counts,
        violations=[*fleet.faults, *violations(evidence)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driven:
    records: list[Record]
    counts: Counter[str]
    talks_s: float


async def _driven(plan: Plan, talks: list[Held], fleet: Fleet, operator: str, host: str) -> _Driven:
    for node in fleet.nodes:
        await fleet.start(node)
    first = fleet.nodes[0].server
    key = await asyncio.to_thread(furnish, first, operator, host)
    driver = Driver(talks, fleet, key, at_once=plan.at_once)
    began = time.monotonic()
    deaths = asyncio.ensure_future(fleet.run())
    try:
        await driver.drive()
        talks_s = time.monotonic() - began
        await asyncio.wait({deaths}, timeout=_ENDS_WITHIN_S)
    finally:
        deaths.cancel()
        await asyncio.gather(deaths, return_exceptions=True)
    if not deaths.cancelled() and (fault := deaths.exception()) is not None:
        raise fault
    records = await read_records(first.url, key)
    fleet.listen()
    return _Driven(records=records, counts=driver.counts, talks_s=talks_s)
