"""Values to keep, with what a test does not care about filled in."""

from __future__ import annotations

import itertools

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.gateway.clients import ClientCallRow, ClientRow
from remit.gateway.conversing import SessionApp, SessionRow, Settings
from remit.gateway.devices import DeviceRow
from remit.gateway.governance import Decision
from remit.gateway.keeping import Sealed
from remit.gateway.ledger import CallRow, InputAnswer, InputRow
from remit.gateway.models import Entry
from remit.gateway.records import (
    ApiKey,
    AuditEntry,
    CatalogSnapshot,
    Connection,
    Grant,
    Version,
)
from remit.session.events import AppRef, Message, SessionStarted

NOW = 1_764_500_000_000
W = "acme"
OTHER = "globex"
NODE = "node-1"
CEILING = Ceiling(category=Category.WRITE, danger_level=DangerLevel.MODERATE)

_numbers = itertools.count(1)


def fresh(prefix: str) -> str:
    """An id that no other value of this run has."""
    return f"{prefix}_{next(_numbers):06d}"


def act(workspace: str = W, kind: str = "test.done", at: int = NOW) -> AuditEntry:
    """An entry of the audit."""
    return AuditEntry(
        workspace=workspace, id=fresh("act"), at=at, actor="key:k1", kind=kind, subject="test"
    )


def call(workspace: str = W, **fields: object) -> CallRow:
    """A write that is about to be sent."""
    given: dict[str, object] = {
        "id": fresh("call"),
        "app": "scenes",
        "version": 1,
        "tool": "place_object",
        "user": "ada",
        "status": "sending",
        "category": "write",
        "danger_level": "moderate",
        "source": "api",
        "at": NOW,
        "updated_at": NOW,
        "record_json": '{"n":12345678901234567890,"text":"ü\\u0000"}',
        "node": NODE,
        **fields,
    }
    return CallRow(workspace=workspace, **given)


def waiting(workspace: str = W, **fields: object) -> CallRow:
    """A call that waits for a person."""
    return call(workspace, **{"status": "await_input", "node": None, **fields})


def input_of(row: CallRow, **fields: object) -> InputRow:
    """An open input of a call."""
    given: dict[str, object] = {
        "id": fresh("input"),
        "kind": "approval",
        "by": "user",
        "digest": "d1",
        "body_json": "{}",
        "created_at": NOW,
        "expires_at": NOW + 86_400_000,
        **fields,
    }
    return InputRow(
        workspace=row.workspace,
        call=row.id,
        app=row.app,
        tool=row.tool,
        user=row.user,
        session=row.session,
        **given,
    )


def yes(by: str = "user:ada", at: int = NOW + 1, **fields: object) -> InputAnswer:
    """An approval."""
    return InputAnswer(**{"status": "approved", "by": by, "at": at, "node": NODE, **fields})


def draft(workspace: str = W, app: str = "scenes", **fields: object) -> Version:
    """A version to be submitted."""
    given: dict[str, object] = {
        "definition_json": '{"id":"scenes"}',
        "remit_digest": "r1",
        "submitted_at": NOW,
        "submitted_by": "key:vendor",
        **fields,
    }
    return Version(workspace=workspace, app=app, **given)


def approval(**fields: object) -> Decision:
    """A reviewer's yes."""
    given = {"by": "key:reviewer", "at": NOW, "ceiling": CEILING, "consent": "user", **fields}
    return Decision(**given)


def grant(workspace: str = W, **fields: object) -> Grant:
    """A consent."""
    given: dict[str, object] = {
        "id": fresh("grant"), "app": "scenes", "user": "ada", "version": 1, "at": NOW,
        "by": "user:ada", **fields,
    }  # fmt: skip
    return Grant(workspace=workspace, **given)


def sealed(text: str = "c2VjcmV0", key: str = "dk1") -> Sealed:
    """Something that looks as the vault's."""
    return Sealed(f"v1.{key}.bm9uY2U.{text}")


def connection(workspace: str = W, **fields: object) -> Connection:
    """A credential."""
    given: dict[str, object] = {
        "app": "scenes", "user": "ada", "id": fresh("conn"), "type": "bearer",
        "sealed": sealed(), "created_at": NOW, "updated_at": NOW, "account": "ada@acme",
        "expires_at": NOW + 1000, **fields,
    }  # fmt: skip
    return Connection(workspace=workspace, **given)


def key(workspace: str = W, **fields: object) -> ApiKey:
    """An API key."""
    given: dict[str, object] = {
        "id": fresh("key"), "role": "backend", "name": "ci", "secret_hash": fresh("hash"),
        "prefix": "rk_abcd", "created_at": NOW, "created_by": "system", **fields,
    }  # fmt: skip
    return ApiKey(workspace=workspace, **given)


def device(workspace: str = W, **fields: object) -> DeviceRow:
    """A device of Ada's that nobody has used."""
    given: dict[str, object] = {
        "id": fresh("device"), "user": "ada", "name": "Phone", "created_at": NOW, **fields,
    }  # fmt: skip
    return DeviceRow(workspace=workspace, **given)


def snapshot(workspace: str = W, **fields: object) -> CatalogSnapshot:
    """A fetched catalog."""
    given: dict[str, object] = {
        "app": "scenes", "digest": "c1", "body": '{"tools":[]}', "diff_json": "[]",
        "dropped_json": "[]", "at": NOW, **fields,
    }  # fmt: skip
    return CatalogSnapshot(workspace=workspace, **given)


def session(workspace: str = W, **fields: object) -> SessionRow:
    """A session before its first event."""
    given: dict[str, object] = {
        "id": fresh("sess"), "user": "ada", "created_at": NOW, "updated_at": NOW,
        "settings": Settings(apps=(SessionApp(id="scenes", version=1),)), **fields,
    }  # fmt: skip
    return SessionRow(workspace=workspace, **given)


STARTED = SessionStarted(
    apps=(AppRef(id="scenes", version=1),), user="ada", pins=("scene",), model="test:model"
)


def message(text: str = "hello", **fields: object) -> Message:
    """Somebody says something."""
    return Message(**{"message_id": fresh("msg"), "role": "user", "text": text, **fields})


def entry(body: str = '{"said":"hello"}', **fields: object) -> Entry:
    """An entry of a history."""
    return Entry(**{"kind": "user", "body_json": body, "format": "lib/1", **fields})


def client(session_id: str, workspace: str = W, **fields: object) -> ClientRow:
    """A tab that announced nothing."""
    given: dict[str, object] = {
        "client": fresh("client"), "announced_json": '{"tools":[]}', "first_at": NOW,
        "seen_at": NOW, **fields,
    }  # fmt: skip
    return ClientRow(workspace=workspace, session=session_id, **given)


def client_call(session_id: str, workspace: str = W, **fields: object) -> ClientCallRow:
    """A call that waits for a client."""
    given: dict[str, object] = {
        "call": fresh("call"), "tool": "select", "schema_digest": "d1", "args_json": '{"id":1}',
        "offered_at": NOW, "timeout_ms": 120_000, **fields,
    }  # fmt: skip
    return ClientCallRow(workspace=workspace, session=session_id, **given)
