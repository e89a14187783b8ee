"""What the parts of a turn share: the session under its claim, and the one way to write to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from remit.gateway.conversing import SessionRow, Step
    from remit.gateway.models import Entry, Model
    from remit.gateway.offering import Toolset
    from remit.gateway.talks import Talks
    from remit.session.events import FinishReason, RunFinished
    from remit.session.parts import Fault

T = TypeVar("T")


class Claimed(Protocol):
    """A session that this node works on.

    Attributes:
        row: as it was after the last step.
        toolset: of the run; None before one was begun.
    """

    talks: Talks
    row: SessionRow
    toolset: Toolset | None

    @property
    def model_name(self) -> str | None:
        """Of the model that is asked."""
        ...

    async def act(self, decide: Callable[[SessionRow], Step]) -> None:
        """Do one step under the claim; raises ``LostLease``."""
        ...

    async def opened(self) -> Model:
        """The model and the tools of this run, looked up once; raises ``NoModel``."""
        ...

    def known_toolset(self) -> Toolset:
        """The tools of a run that has begun."""
        ...

    async def history(self) -> tuple[Entry, ...]:
        """All that the model has read and said so far."""
        ...

    def kept(self, entry: Entry) -> None:
        """The history has an entry more."""
        ...

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What some work comes to; None where the run was stopped before."""
        ...

    async def finish(self, reason: FinishReason, error: Fault | None = None) -> None:
        """End the run."""
        ...

    def finished(self, now: SessionRow, reason: FinishReason, error: Fault | None) -> RunFinished:
        """The event of the run's end, with what it used."""
        ...

    def now(self) -> int:
        """The time of day, Unix ms."""
        ...
