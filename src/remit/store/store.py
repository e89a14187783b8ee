"""The store: one database, and everything that is kept in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from remit.store.apps import Apps
from remit.store.audit import Audit
from remit.store.base import Database
from remit.store.calls import Calls
from remit.store.catalogs import Catalogs
from remit.store.changes import Revisions
from remit.store.clients import Clients
from remit.store.connections import Connections
from remit.store.data_keys import DataKeys
from remit.store.devices import Devices
from remit.store.engine import is_sqlite, open_engine
from remit.store.env import EnvValues
from remit.store.grants import Grants
from remit.store.idempotency import Idempotency
from remit.store.inputs import Inputs
from remit.store.keys import Keys, Workspaces
from remit.store.policies import Policies
from remit.store.sealed_rows import SealedRows
from remit.store.sessions import Sessions
from remit.store.signing import SigningKeys
from remit.store.usage import Usage
from remit.store.versions import Versions
from remit.store.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.gateway.live import Bus
    from remit.store.listening import Listening

READERS = 4


class Store:
    """An open store; ``async with Store(url) as store``.

    Each attribute is one port of the gateway's ``governance``, ``access``, ``recording``,
    ``conversing``, ``clients``, ``devices``, ``keeping`` and ``identity``. The schema has to be
    there: ``migrating.upgrade`` makes it.

    Args:
        url: see ``engine.open_engine``.
        readers: how many reads run side by side.

    Raises:
        WrongUse: the URL is no database of ours.
    """

    def __init__(self, url: str, *, readers: int = READERS) -> None:
        engine = open_engine(url, connections=readers + 1)
        self.shared = not is_sqlite(engine)
        self._libpq = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        database = Database(engine, readers=readers)
        self._database = database
        self.apps = Apps(database)
        self.audit = Audit(database)
        self.calls = Calls(database)
        self.catalogs = Catalogs(database)
        self.clients = Clients(database)
        self.connections = Connections(database)
        self.data_keys = DataKeys(database)
        self.devices = Devices(database)
        self.env = EnvValues(database)
        self.grants = Grants(database)
        self.idempotency = Idempotency(database)
        self.inputs = Inputs(database)
        self.keys = Keys(database)
        self.policies = Policies(database)
        self.revisions = Revisions(database)
        self.sealed_rows = SealedRows(database)
        self.sessions = Sessions(database)
        self.signing_keys = SigningKeys(database)
        self.usage = Usage(database)
        self.versions = Versions(database)
        self.work = Work(database)
        self.workspaces = Workspaces(database)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Write what waits and close the database; nothing can be kept after."""
        await self._database.close()

    async def ping(self) -> None:
        """Ask the database for a sign of life.

        Raises:
            StoreUnavailable: it gives none.
        """
        await self._database.ping()

    def listening(
        self, bus: Bus, *, node: str, on_fault: Callable[[Exception], None]
    ) -> Listening | None:
        """What tells readers of all nodes what happens; None where there is one node (SQLite).

        Args:
            bus: the readers of this node.
            node: its id.
            on_fault: told why a connection broke.
        """
        if not self.shared:
            return None
        # It brings the driver's asyncio half with it.
        from remit.store.listening import Listening  # noqa: PLC0415

        return Listening(self._libpq, bus, self.sessions.heads, node=node, on_fault=on_fault)

    async def now_ms(self) -> int:
        """The time by which leases run: the database's own where several nodes share it."""
        return await self._database.now_ms()
