"""Signing keys of identity tokens (``identity.SigningKeys``); they belong to the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from remit.gateway.identity import SigningKey
from remit.gateway.keeping import SERVER, signing_place
from remit.store.base import Database, keep_new, many
from remit.store.schema import signing_keys
from remit.store.sealed_rows import sealing

if TYPE_CHECKING:
    from sqlalchemy import Connection


class SigningKeys:
    """See ``identity.SigningKeys``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[SigningKey, ...]:
        """See the port."""
        query = select(signing_keys).order_by(signing_keys.c.number)
        return await self._database.read(
            lambda connection: many(SigningKey, connection.execute(query).mappings())
        )

    async def add(self, key: SigningKey, *, after: str | None) -> bool:
        """See the port."""
        newest = (
            select(signing_keys.c.kid, signing_keys.c.number)
            .order_by(signing_keys.c.number.desc())
            .limit(1)
        )

        def unit(connection: Connection) -> bool:
            row = connection.execute(newest).one_or_none()
            if after != (None if row is None else row.kid):
                return False
            return keep_new(
                connection, signing_keys, key,
                workspace=SERVER,
                number=1 if row is None else row.number + 1,
                **sealing(signing_place(key.kid), key.sealed),
            )  # fmt: skip

        return await self._database.write(unit)

    async def remove(self, kid: str) -> bool:
        """See the port."""
        statement = delete(signing_keys).where(signing_keys.c.kid == kid)
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )
