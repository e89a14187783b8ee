"""The store: one database, and everything that is kept in it."""

from __future__ import annotations

from typing import Self

from remit.store.apps import Apps
from remit.store.audit import Audit
from remit.store.base import Database
from remit.store.calls import Calls
from remit.store.catalogs import Catalogs
from remit.store.changes import Revisions
from remit.store.connections import Connections
from remit.store.data_keys import DataKeys
from remit.store.engine import is_sqlite, open_engine
from remit.store.env import EnvValues
from remit.store.grants import Grants
from remit.store.idempotency import Idempotency
from remit.store.inputs import Inputs
from remit.store.keys import Keys, Workspaces
from remit.store.policies import Policies
from remit.store.sealed_rows import SealedRows
from remit.store.signing import SigningKeys
from remit.store.usage import Usage
from remit.store.versions import Versions
from remit.store.work import Work

READERS = 4


class Store:
    """An open store; ``async with Store(url) as store``.

    Each attribute is one port of the gateway's ``governance``, ``access``, ``recording``,
    ``keeping`` and ``identity``. The schema has to be there: ``migrating.upgrade`` makes it.

    Args:
        url: see ``engine.open_engine``.
        readers: how many reads run side by side.

    Raises:
        WrongUse: the URL is no database of ours.
    """

    def __init__(self, url: str, *, readers: int = READERS) -> None:
        engine = open_engine(url, connections=readers + 1)
        self.shared = not is_sqlite(engine)
        database = Database(engine, readers=readers)
        self._database = database
        self.apps = Apps(database)
        self.audit = Audit(database)
        self.calls = Calls(database)
        self.catalogs = Catalogs(database)
        self.connections = Connections(database)
        self.data_keys = DataKeys(database)
        self.env = EnvValues(database)
        self.grants = Grants(database)
        self.idempotency = Idempotency(database)
        self.inputs = Inputs(database)
        self.keys = Keys(database)
        self.policies = Policies(database)
        self.revisions = Revisions(database)
        self.sealed_rows = SealedRows(database)
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

    async def now_ms(self) -> int:
        """The time by which leases run: the database's own where several nodes share it."""
        return await self._database.now_ms()
