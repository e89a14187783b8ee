"""One timer closes whatever connection was silent for too long, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from remit.main.idling import Wait, Waits

KEPT_S = 5.0
LATE_S = 0.1


@dataclass
class Loop:
    """What is used of a loop, with a clock that is set by hand; counts the timers it has."""

    now: float = 100.0
    due: list[tuple[float, Callable[..., None], tuple[object, ...]]] = field(default_factory=list)

    def time(self) -> float:
        """Seconds."""
        return self.now

    def call_later(self, delay: float, call: Callable[..., None], *args: object) -> object:
        """Call it once the clock is so much further."""
        self.due.append((self.now + delay, call, args))
        return self.due[-1]

    def pass_to(self, until: float) -> None:
        """Let time pass, and do what falls due meanwhile."""
        while self.due and min(at for at, _, _ in self.due) <= until:
            first = min(self.due, key=lambda one: one[0])
            self.due.remove(first)
            self.now = max(self.now, first[0])
            first[1](*first[2])
        self.now = until


_STEPS = st.lists(
    st.tuples(st.floats(0.0, 3.0), st.integers(0, 4), st.booleans()), min_size=1, max_size=40
)


@given(_STEPS)
def test_each_connection_is_closed_in_time_unless_it_asks_again(
    steps: list[tuple[float, int, bool]],
) -> None:
    """Whatever begins and ends its wait when: none early, none late, one timer for all."""
    loop, waits = Loop(), Waits(KEPT_S)
    open_: dict[int, tuple[float, Wait]] = {}

    def begin(which: int) -> None:
        since = loop.now

        def close() -> None:
            assert KEPT_S <= loop.now - since <= KEPT_S + LATE_S
            del open_[which]

        open_[which] = since, waits.begin(cast("asyncio.AbstractEventLoop", loop), close)

    for passes, which, asks in steps:
        loop.pass_to(loop.now + passes)
        assert all(loop.now - since <= KEPT_S + LATE_S for since, _ in open_.values())
        if which in open_:
            open_.pop(which)[1].cancel()
        if asks:
            begin(which)
        assert len(loop.due) <= 1
    loop.pass_to(loop.now + 2 * KEPT_S)
    assert not open_
    assert not loop.due


def test_wait_that_is_over_may_be_cancelled_again() -> None:
    """The server takes its timers back at the end of a connection, whatever became of them."""
    loop, waits, closed = Loop(), Waits(KEPT_S), list[str]()
    wait = waits.begin(cast("asyncio.AbstractEventLoop", loop), lambda: closed.append("a"))
    loop.pass_to(loop.now + KEPT_S)
    wait.cancel()
    wait.cancel()
    assert closed == ["a"]
