"""What clients of a session announce, and the calls that they execute (contract section 9)."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class ClientRow(Struct, frozen=True, kw_only=True):
    """A client that is attached to a session: a tab, say.

    Attributes:
        announced_json: ``{tools, widgets}`` as it was announced and checked.
        seen_at: when it last announced or sent a heartbeat; Unix ms.
    """

    workspace: str
    session: str
    client: str
    announced_json: str
    first_at: int
    seen_at: int
    device: str | None = None


class ClientCallRow(Struct, frozen=True, kw_only=True):
    """A call that waits for a client, is held by one, or is over.

    Attributes:
        schema_digest: of the tool as it was announced: only a client that has that very tool
            may claim the call. Empty for an app's tool whose target is the client: any may.
        args_json: as they may be shown; what is executed is in the call's row of the ledger.
        offered_at: since when it waits; ``client`` and ``claim`` are None until it is claimed.
        claim: what whoever claimed it proves that with; it stays when the call is over.
        claims: how often it was claimed.
        wanted: the client that is preferred; others get it after ``PREFERRED_MS``.
        ended_json: how it ended; None while it is open. It decides, the ledger follows.
    """

    workspace: str
    session: str
    call: str
    tool: str
    schema_digest: str
    args_json: str
    offered_at: int
    timeout_ms: int
    idempotent: bool = False
    wanted: str | None = None
    client: str | None = None
    claim: str | None = None
    claimed_at: int | None = None
    claims: int = 0
    ended_json: str | None = None


class Clients(Protocol):
    """Clients of sessions and the calls that they execute."""

    async def announce(self, workspace: str, row: ClientRow) -> None:
        """Keep what a client announces, in the place of what it announced before."""
        ...

    async def client(self, workspace: str, session: str, client: str) -> ClientRow | None:
        """One client, however long it was not seen."""
        ...

    async def seen(self, workspace: str, session: str, client: str, *, at: int) -> bool:
        """A heartbeat; False where the client is not attached."""
        ...

    async def detach(self, workspace: str, session: str, client: str) -> bool:
        """A client is gone; a call that it holds stays its own until its silence is too long."""
        ...

    async def attached(self, workspace: str, session: str, *, since: int) -> tuple[ClientRow, ...]:
        """The clients seen since then, the one seen last first."""
        ...

    async def offer(self, workspace: str, row: ClientCallRow) -> bool:
        """Let a call wait for a client; False where it is there already, over or not."""
        ...

    async def call(self, workspace: str, session: str, call: str) -> ClientCallRow | None:
        """One call, over or not; None where it was never offered."""
        ...

    async def open_calls(self, workspace: str, session: str) -> tuple[ClientCallRow, ...]:
        """The calls of a session that wait or are held, in the order they were offered."""
        ...

    async def claim(
        self, workspace: str, session: str, call: str, *, client: str, claim: str, at: int
    ) -> ClientCallRow | None:
        """Give an open call to a client if nobody has it, and count that in ``claims``.

        Returns:
            The row as it stands then: whose claim it has says who won.
        """
        ...

    async def offer_again(self, workspace: str, session: str, call: str, *, claim: str) -> bool:
        """Take an open call from whoever holds it under that claim, and let it wait again.

        ``client``, ``claim``, ``claimed_at`` and ``wanted`` become None; ``offered_at`` stays.
        """
        ...

    async def settle(
        self, workspace: str, session: str, call: str, *, claim: str | None, ended_json: str
    ) -> bool:
        """The call is over, if it is open and its claim is still that one.

        ``claim`` None is a call that nobody holds. Of several that say so one wins: the row keeps
        how it ended, whoever held it, and the claim.
        """
        ...
