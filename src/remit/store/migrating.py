"""Brings the schema up to date, and says whether it is.

Alembic is imported only where something is migrated: a start that finds the schema right needs
one query.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text
from sqlalchemy.exc import SQLAlchemyError

from remit.store.engine import fault_of, is_missing, is_sqlite, open_engine, writing
from remit.store.schema import HEAD

if TYPE_CHECKING:
    from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"
# Any number that is ours: two nodes that start together migrate one after the other.
_LOCK = 7_236_481


def upgrade(url: str) -> str:
    """Bring the schema up to date, all or nothing; nothing happens where it is.

    Returns:
        The revision that it has now.

    Raises:
        StoreUnavailable: the database cannot be reached or changed; it is as it was.
        WrongUse: the URL is no database of ours.
    """
    engine = open_engine(url, connections=1)
    try:
        with writing(engine.connect()) as connection, connection.begin():
            if not is_sqlite(engine):
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            _migrate(connection)
    except SQLAlchemyError as error:
        raise fault_of(error) from None
    finally:
        engine.dispose()
    return HEAD


def current(url: str) -> str | None:
    """The revision that the schema has; None for an empty database, which is not made here.

    Raises:
        StoreUnavailable: the database cannot be reached.
        WrongUse: the URL is no database of ours.
    """
    if is_missing(url):
        return None
    engine = open_engine(url, connections=1)
    try:
        with engine.connect() as connection:
            return _current(connection)
    except SQLAlchemyError as error:
        raise fault_of(error) from None
    finally:
        engine.dispose()


def behind(url: str) -> bool:
    """Whether the schema is not the one that this release needs; raises as ``current`` does."""
    return current(url) != HEAD


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _migrate(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
