"""What a node needs to make calls that are governed: its ports, its tasks, its terms.

The three protocols here are what a call asks of the rest of the gateway: which version stands now,
whether the user consented, with what credential it goes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Mapping

    from remit.calls.straight import Straights
    from remit.catalog.model import Definition, Tool
    from remit.gateway.acting import Fresh, WallClock
    from remit.gateway.devices import Devices
    from remit.gateway.endings import Endings
    from remit.gateway.identity import Minter
    from remit.gateway.keeping import Keeper
    from remit.gateway.ports import Clock, Egress, Ids, Watcher
    from remit.gateway.recording import Calls, Inputs, Usage, Work
    from remit.gateway.records import Version
    from remit.gateway.tasks import Tasks
    from remit.policy.catalogs import EffectiveCatalog
    from remit.policy.rules import Policy
    from remit.values.secrets import Secret

CatalogSource = Literal["fresh", "unchanged", "stale", "static"]
#: How long an input stays open (contract section 9).
INPUT_TTL_MS = 24 * 60 * 60 * 1000


class AppInForce(Protocol):
    """An app with the version that calls run under now."""

    @property
    def id(self) -> str:
        """Of the app."""
        ...

    @property
    def installation(self) -> str:
        """The id that survives new versions."""
        ...

    @property
    def version(self) -> int:
        """Number of the version."""
        ...

    @property
    def definition(self) -> Definition:
        """With the ceiling it was approved for."""
        ...

    @property
    def approved_version(self) -> Version:
        """The version as it was approved."""
        ...

    @property
    def policy(self) -> Policy:
        """The policy in force; the default one where the workspace has none."""
        ...

    @property
    def catalog(self) -> EffectiveCatalog:
        """What may be called now."""
        ...

    @property
    def catalog_digest(self) -> str:
        """Of the catalog, for the record."""
        ...

    @property
    def source(self) -> CatalogSource:
        """How the catalog came to be."""
        ...

    @property
    def age_s(self) -> int | None:
        """Since the app last confirmed the catalog; None for a static one."""
        ...

    @property
    def straights(self) -> Straights:
        """The straight ways to the requests of its tools."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStanding:
    """Why an app cannot be called now; ``reason`` is a whole sentence with its mend.

    ``unknown_app`` is also what another workspace's app is answered with.
    """

    code: Literal["unknown_app", "not_approved", "app_suspended"]
    reason: str


class Standing(Protocol):
    """What is in force now, at most two seconds old (contract section 7, "Suspend")."""

    async def app(self, workspace: str, app: str, *, now: bool = False) -> AppInForce | NotStanding:
        """The app as calls find it; ``now`` fetches its catalog however young it is."""
        ...

    def known(self, workspace: str, app: str) -> AppInForce | None:
        """The app as calls find it, where that is known and nobody has to be asked."""
        ...

    async def policy(self, workspace: str) -> Policy:
        """The policy in force; where there is none, one that adds nothing."""
        ...


class Consents(Protocol):
    """Whether users agreed (contract section 7)."""

    async def missing(self, workspace: str, app: AppInForce, user: str) -> str | None:
        """Why the user's consent to the version in force is missing, as a sentence, or None."""
        ...


class Held(Struct, frozen=True, kw_only=True):
    """A user's credential, opened for one call.

    Attributes:
        connection_id: another one whenever another account may stand behind it.
        account: whose it is, in words for a person, or None.
    """

    connection_id: str
    account: str | None
    secret: Secret


class Wallet(Protocol):
    """Opens what is sealed, for one call."""

    def credential(self, workspace: str, app: AppInForce, user: str) -> Awaitable[Held | str]:
        """The user's credential, or why there is none that can be used, as a sentence."""
        ...

    async def env(self, workspace: str, app: AppInForce, tool: Tool) -> Mapping[str, Secret]:
        """The env values that there are for a tool, by name (contract section 4)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is set for all calls of a node.

    Attributes:
        version: Remit's own, for ``User-Agent``.
        lease_ms: how long a node is held to be alive after it last said so.
        transcripts: origins on which a chat is shown: no page of an app is framed from one.
    """

    version: str = "0"
    brand: str = "Remit"
    input_ttl_ms: int = INPUT_TTL_MS
    lease_ms: int = 10_000
    transcripts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One process that makes calls.

    Attributes:
        id: of this process, new at each start: what an earlier one left is not its own.
        alarm: set when something is due sooner than whoever works the rows might look.
    """

    id: str
    calls: Calls
    inputs: Inputs
    work: Work
    usage: Usage
    devices: Devices
    standing: Standing
    consents: Consents
    wallet: Wallet
    minter: Minter
    keeper: Keeper
    egress: Egress
    clock: Clock
    wall: WallClock
    fresh: Fresh
    ids: Ids
    watcher: Watcher
    tasks: Tasks
    endings: Endings
    alarm: asyncio.Event
    terms: Terms
