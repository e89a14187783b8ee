"""The life of calls as a state machine, held against a model of it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec import structs

from remit.gateway.ledger import ENDED, MOVES, Answered, CallChange, CallRow, CallStatus, InputRow
from remit.store import migrating
from remit.store.store import Store
from tests.store.making import NOW, OTHER, W, act, call, input_of, yes

T = TypeVar("T")
STATUSES = st.sampled_from(get_args(CallStatus))
OUTCOME_OF = {"done": "ok", "failed": "error", "denied": "denied", "unknown": "outcome_unknown"}


class CallLedger(RuleBasedStateMachine):
    """Any order of moves, legal or not, of any of a few calls, from the right tenant or not."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shutil.copy(self.template, self.folder / "remit.db")
        self.loop = asyncio.new_event_loop()
        self.store = Store(f"sqlite:///{self.folder / 'remit.db'}", readers=1)
        self.rows: dict[str, CallRow] = {}
        self.inputs: dict[str, InputRow] = {}
        self.time = NOW

    def free(self, row: CallRow, was: CallStatus) -> bool:
        """Whether it may move: it is what it was, and nobody is being asked."""
        asked = any(one.call == row.id and one.status == "open" for one in self.inputs.values())
        return row.status == was and not (was == "await_input" and asked)

    def done(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Begin something on this machine's loop, and run to its end."""

        async def awaited() -> T:
            return await begin()

        return self.loop.run_until_complete(awaited())

    def pick(self, number: int) -> CallRow | None:
        """One of the calls so far."""
        rows = list(self.rows.values())
        return rows[number % len(rows)] if rows else None

    @rule(status=st.sampled_from(("planned", "sending", "await_client")))
    def plan(self, status: CallStatus) -> None:
        """A call begins."""
        row = call(status=status)
        assert self.done(lambda: self.store.calls.plan(W, row)) is True
        self.rows[row.id] = row

    @rule(number=st.integers(0, 9), was=STATUSES, status=STATUSES, mine=st.booleans())
    def move(self, number: int, was: CallStatus, status: CallStatus, mine: object) -> None:
        """It moves when the move is legal, the status is what it was, and the tenant is right."""
        row = self.pick(number)
        if row is None or status == "await_input":
            return
        self.time += 1
        outcome = OUTCOME_OF.get(status)
        change = CallChange(status=status, at=self.time, outcome=outcome, record_json="{}")
        mover = W if mine else OTHER
        moving = partial(self.store.calls.move, mover, row.id, was=was, change=change)
        try:
            moved = self.done(moving)
        except ValueError:
            assert status not in MOVES[was]
            return
        assert moved is bool(mine and self.free(row, was) and status in MOVES[was])
        if moved:
            ended = {"private": None, "node": None} if status in ENDED else {}
            self.rows[row.id] = structs.replace(
                row, status=status, outcome=outcome, record_json="{}", updated_at=self.time, **ended
            )

    @rule(number=st.integers(0, 9), was=STATUSES, status=st.sampled_from(sorted(ENDED)))
    def finish(self, number: int, was: CallStatus, status: CallStatus) -> None:
        """It ends once."""
        row = self.pick(number)
        if row is None:
            return
        self.time += 1
        outcome = OUTCOME_OF[status]
        ending = partial(
            self.store.calls.finish,
            W,
            row.id,
            was=was,
            status=status,
            outcome=outcome,
            record_json="[]",
            at=self.time,
        )
        try:
            ended = self.done(ending)
        except ValueError:
            assert status not in MOVES[was]
            return
        assert ended is (self.free(row, was) and status in MOVES[was])
        if ended:
            self.rows[row.id] = structs.replace(
                row, status=status, outcome=outcome, record_json="[]", updated_at=self.time,
                node=None,
            )  # fmt: skip

    @rule(
        number=st.integers(0, 9),
        was=st.sampled_from(("planned", "sending", "polling", "await_input")),
    )
    def wait(self, number: int, was: CallStatus) -> None:
        """It waits for a person."""
        row = self.pick(number)
        if row is None:
            return
        self.time += 1
        waits = input_of(row)
        change = CallChange(status="await_input", at=self.time)
        opened = self.done(lambda: self.store.inputs.open(W, waits, was=was, change=change))
        assert opened is self.free(row, was)
        if opened:
            self.inputs[waits.id] = waits
            self.rows[row.id] = structs.replace(
                row, status="await_input", node=None, updated_at=self.time
            )

    @rule(number=st.integers(0, 9), by=st.sampled_from(("user:ada", "user:bob")))
    def answer(self, number: int, by: str) -> None:
        """The first answer decides, and the call itself stays where it is."""
        waiting = list(self.inputs.values())
        if not waiting:
            return
        waits = waiting[number % len(waiting)]
        self.time += 1
        given = yes(by=by, at=self.time)
        result = self.done(lambda: self.store.inputs.answer(W, waits.id, given, act=act()))
        assert isinstance(result, Answered) is (waits.status == "open")
        if not isinstance(result, Answered):
            return
        self.inputs[waits.id] = result.input
        row = self.rows[waits.call]
        if row.status == "await_input":
            self.rows[row.id] = structs.replace(row, node=given.node, updated_at=self.time)

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        """Whatever was refused left no trace."""
        if not self.rows:
            return
        kept = self.done(lambda: self.store.calls.list(W, limit=500))
        assert {row.id: row for row in kept.items} == self.rows
        assert self.done(lambda: self.store.calls.list(OTHER)).items == ()

    def teardown(self) -> None:
        """Close the store of this run."""
        self.done(self.store.close)
        self.loop.close()
        shutil.rmtree(self.folder)


def test_calls_move_as_the_table_says(migrated_sqlite: Path) -> None:
    """Illegal moves leave the row untouched; a call ends once; an input is answered once."""
    from hypothesis.stateful import run_state_machine_as_test

    migrating.behind(f"sqlite:///{migrated_sqlite}")
    CallLedger.template = migrated_sqlite
    run_state_machine_as_test(
        CallLedger, settings=settings(max_examples=25, stateful_step_count=20, deadline=None)
    )
