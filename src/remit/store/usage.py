"""What has been used of the limits of a policy (contract section 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from remit.store.base import Database, insert_or
from remit.store.schema import token_usage

if TYPE_CHECKING:
    from sqlalchemy import Connection

_DAY_MS = 86_400_000


class Usage:
    """See ``recording.Usage``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_tokens(self, workspace: str, user: str, *, tokens: int, at: int) -> None:
        """See the port."""
        row = {"workspace": workspace, "user": user, "day": at // _DAY_MS, "tokens": tokens}

        def unit(connection: Connection) -> None:
            connection.execute(
                insert_or(token_usage, connection)
                .values(row)
                .on_conflict_do_update(
                    index_elements=["workspace", "user", "day"],
                    set_={"tokens": token_usage.c.tokens + tokens},
                )
            )

        await self._database.write(unit)

    async def tokens_of_day(self, workspace: str, user: str, *, at: int) -> int:
        """See the port."""
        query = select(token_usage.c.tokens).where(
            token_usage.c.workspace == workspace,
            token_usage.c.user == user,
            token_usage.c.day == at // _DAY_MS,
        )
        return await self._database.read(lambda connection: connection.scalar(query) or 0)
