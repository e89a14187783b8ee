"""The tables keep what the values hold, and no tenant's row without its tenant."""

from __future__ import annotations

import ast
import inspect

import pytest

from remit.gateway import clients, conversing, ledger, models, records
from remit.gateway.keeping import DataKey
from remit.session import events
from remit.store import schema
from remit.store.store import Store
from remit.store.types import NamesText

# What is no tenant's: the tenants themselves, and the processes that serve all of them.
OF_NO_WORKSPACE = {"workspace", "node"}
# What finds the workspace, what is the server's own, and scans that take no id of a row.
WITHOUT_WORKSPACE = {
    "api_key.find",
    "data_key.add", "data_key.masters", "data_key.rewrap", "data_key.under_other",
    "data_key.workspaces",
    "input.expire", "input.next_expiry_at",
    "revision.changes",
    "session.claim", "session.heads", "session.next_due_at", "session.renew",
    "sealed_row.replace",
    "signing_key.add", "signing_key.all", "signing_key.remove",
    "work.abandoned", "work.due_polls", "work.forget_answers", "work.join", "work.leave",
    "work.next_poll_at",
    "workspace.all",
}  # fmt: skip
AGGREGATES = {
    "apps": "app", "versions": "version", "catalogs": "catalog", "grants": "grant",
    "connections": "connection", "env": "env", "keys": "api_key", "policies": "policy",
    "audit": "audit", "calls": "call", "inputs": "input", "idempotency": "answer",
    "usage": "usage", "data_keys": "data_key", "signing_keys": "signing_key",
    "sealed_rows": "sealed_row", "revisions": "revision", "work": "work",
    "workspaces": "workspace", "sessions": "session", "clients": "client",
    "devices": "device",
}  # fmt: skip


@pytest.mark.parametrize("table", schema.metadata.sorted_tables, ids=lambda table: table.name)
def test_workspace_leads_every_primary_key(table: schema.Table) -> None:
    """Two ids on every query (threats, rule 7), from the first migration."""
    if table.name in OF_NO_WORKSPACE:
        return
    assert next(iter(table.primary_key.columns)).name == "workspace"
    assert not table.c.workspace.nullable


async def test_workspace_comes_first_in_every_function(store: Store) -> None:
    """There is no function that takes an id without the workspace."""
    without: set[str] = set()
    for attribute, name in AGGREGATES.items():
        aggregate = getattr(store, attribute)
        for method in [one for one in dir(type(aggregate)) if not one.startswith("_")]:
            parameters = list(inspect.signature(getattr(aggregate, method)).parameters)
            if parameters[:1] != ["workspace"]:
                without.add(f"{name}.{method}")
    assert without == WITHOUT_WORKSPACE
    assert set(AGGREGATES) == {
        name for name in vars(store) if not name.startswith("_") and name != "shared"
    }


PAIRS = [
    (records.Workspace, schema.workspaces, set()),
    (records.App, schema.apps, set()),
    (records.Version, schema.versions, set()),
    (records.Edit, schema.edits, set()),
    (records.CatalogSource, schema.catalog_sources, set()),
    (records.CatalogSnapshot, schema.catalog_snapshots, set()),
    (records.Grant, schema.grants, set()),
    (records.Connection, schema.connections, {"sealed_by", "row_id"}),
    (records.EnvValue, schema.env_values, {"sealed_by", "row_id"}),
    (records.ApiKey, schema.api_keys, {"sealed_by", "row_id"}),
    (records.PolicyVersion, schema.policies, set()),
    (records.AuditEntry, schema.audit, set()),
    (ledger.CallRow, schema.calls, set()),
    (ledger.InputRow, schema.inputs, set()),
    (DataKey, schema.data_keys, {"number"}),
    (conversing.SessionRow, schema.sessions, {"sealed_by", "row_id", "status", "apps"}),
    (events.Event, schema.session_events, {"workspace", "session"}),
    (models.Entry, schema.session_entries, {"workspace", "session"}),
    (clients.ClientRow, schema.session_clients, set()),
    (clients.ClientCallRow, schema.client_calls, set()),
]


@pytest.mark.parametrize(
    ("value", "table", "extra"), PAIRS, ids=[table.name for _, table, _ in PAIRS]
)
def test_columns_are_the_fields_of_the_value(
    value: type, table: schema.Table, extra: set[str]
) -> None:
    """No field is forgotten, and what may be None may be null."""
    declared = {name: str(kind) for name, kind in value.__annotations__.items()}
    assert {column.name for column in table.columns} == set(declared) | extra
    for name, type_ in declared.items():
        assert table.c[name].nullable == type_.endswith("None"), name


def test_prepared_tables_have_plain_columns_alone() -> None:
    """A prepared insert gives its values to the driver as they are."""
    for table in (schema.calls, schema.audit, schema.session_events, schema.session_entries):
        for column in table.columns:
            assert column.type.python_type in {str, int}
            assert not isinstance(column.type, NamesText)


def test_every_status_is_in_the_table_of_moves() -> None:
    """One table says what may follow on what; nothing follows on an end."""
    assert set(ledger.MOVES) == set(ledger.CallStatus.__args__)
    assert {status for status, after in ledger.MOVES.items() if not after} == ledger.ENDED
    for after in ledger.MOVES.values():
        assert after <= set(ledger.MOVES)
    assert "denied" not in ledger.MOVES["sending"] | ledger.MOVES["polling"]
    assert "sending" not in ledger.MOVES["sending"] | ledger.MOVES["polling"]
    assert ast.literal_eval(repr(sorted(ledger.ENDED))) == ["denied", "done", "failed", "unknown"]
