"""What each session does: the answers of its model, which depend on nothing but the session."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.chaos.shop import ADD, GET, PUT, REFUND, RENDER, USERS

#: Orders of a session: its number times this, and more.
ORDERS = 100
_NUMBER = re.compile(r"Session (\d+):")


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model: a text, calls (tool and order), or both."""

    text: str
    calls: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A session as it is planned.

    Attributes:
        messages: of the user, each once the one before is done, or at once (``queues``).
        steps: the model's answers, over all messages.
        denies: whether the user says no to what needs them.
    """

    number: int
    user: str
    messages: tuple[str, str]
    steps: tuple[Step, ...]
    denies: bool
    queues: bool

    @property
    def orders(self) -> dict[int, str]:
        """Every call that the model makes: its order, which no other has, and its tool."""
        return {order: tool for step in self.steps for tool, order in step.calls}

    @property
    def said(self) -> tuple[str, ...]:
        """Every text that the model says."""
        return tuple(step.text for step in self.steps if step.text)


def talk(number: int) -> Talk:
    """The session of a number: reads, writes, a put, a refund that is asked for, a job."""
    first = number * ORDERS
    return Talk(
        number=number,
        user=USERS[number % len(USERS)],
        messages=(f"Session {number}: put the shop in order.", f"Session {number}: once more."),
        steps=(
            Step("I look at two orders first.", ((GET, first + 1), (GET, first + 2))),
            Step("", ((ADD, first + 3), (ADD, first + 4), (GET, first + 5))),
            Step("Now I put one.", ((PUT, first + 6),)),
            Step("", ((REFUND, first + 7), (ADD, first + 8))),
            Step("", ((RENDER, first + 9),)),
            Step(f"The first half of session {number} is done, and told at some length."),
            Step("", ((ADD, first + 10), (PUT, first + 11))),
            Step(f"Session {number} is done."),
        ),
        denies=number % 4 == 0,
        queues=number % 3 == 0,
    )


def number_in(text: str) -> int:
    """The session that a message of the user belongs to."""
    found = _NUMBER.search(text)
    if found is None:
        msg = f"no message of a session: {text[:80]!r}"
        raise ValueError(msg)
    return int(found[1])
