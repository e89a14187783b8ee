"""Run by Alembic: migrates over the connection, and in the transaction, of ``migrating``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from alembic import context

if TYPE_CHECKING:
    from sqlalchemy import Connection

context.configure(
    connection=cast("Connection", context.config.attributes["connection"]),
    # SQLite rolls its schema back too, when the driver is kept from committing by itself.
    transactional_ddl=True,
)
context.run_migrations()
