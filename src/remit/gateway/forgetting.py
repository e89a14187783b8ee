"""What is left of a call once its session was erased (contract section 10, ``DELETE``).

Ids, times, digests and outcomes stay, so that it can still be said that something was done, by
whom and when. Text, arguments and results go.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from remit.documents.canonical import compact_json

if TYPE_CHECKING:
    from remit.gateway.ledger import InputRow
    from remit.values.json import JsonObject, JsonValue

# No value among these was written by a model, a person or an app.
_STAYS = (
    "id", "at", "workspace", "user", "actor", "app", "version", "catalogDigest", "tool",
    "offeredAs", "source", "sessionId", "runId", "seq", "model", "traceId", "inputId",
    "answeredBy", "remembered", "connectionId", "attempts", "outcome", "cut",
)  # fmt: skip


def reduced_record(record_json: str) -> str:
    """The record of a call that ended, with nothing in it of what was said, sent and answered."""
    record = cast("JsonObject", json.loads(record_json))
    rest: JsonObject = {name: record[name] for name in _STAYS if name in record}
    if "args" in record:
        rest |= {"args": {}, "argOrigins": {}}
    rules = record.get("policy")
    if isinstance(rules, list):
        rest["policy"] = [_some(rule, "rule", "verdict") for rule in rules]
    if "request" in record:
        rest["request"] = _some(record["request"], "method", "digest")
    if "error" in record:
        rest["error"] = _some(record["error"], "code", "tool", "mayHaveHappened")
    return compact_json({**rest, "mapped": None, "content": "", "erased": True})


def reduced_body(row: InputRow) -> str:
    """What was shown of an input, with nothing of it left but its digest."""
    body: JsonObject = {"title": row.tool, "args": {}, "request": {"digest": row.digest}}
    return compact_json({**body, "erased": True})


def _some(value: JsonValue, *names: str) -> JsonObject:
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else {}
