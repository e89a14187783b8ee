"""A process that was stopped and goes on: it blocks nobody, and is not taken for dead too long."""

from __future__ import annotations

from remit.store.engine import STOPPED_TIMEOUT_MS, open_engine
from remit.store.store import Store
from tests.store.making import NOW, W, call


async def test_call_of_a_node_that_goes_on_is_not_taken_from_it(store: Store) -> None:
    """It makes calls before it has said again that it is alive (section 5, unknown outcomes)."""
    old, fresh = call(node="was-stopped"), call(node="was-stopped", updated_at=NOW + 9_500)
    for row in (old, fresh):
        await store.calls.plan(W, row)

    taken = await store.work.abandoned("n1", at=NOW + 10_000, limit=9, quiet_ms=1_000)

    assert [row.id for row in taken] == [old.id]


def test_stopped_process_lets_go_of_its_locks(migrated_postgres: str) -> None:
    """Else others could not take up its sessions before it goes on, if ever it does."""
    engine = open_engine(migrated_postgres, connections=1)
    with engine.connect() as connection:
        shown = connection.exec_driver_sql(
            "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'"
        ).scalar_one()
    engine.dispose()

    assert int(shown) == STOPPED_TIMEOUT_MS
