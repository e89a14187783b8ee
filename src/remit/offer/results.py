"""What a tool answers with, as a schema for MCP clients (contract section 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.mapping import Each

if TYPE_CHECKING:
    from remit.catalog.mapping import ResponseMapping
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject


def output_schema(tool: Tool) -> JsonObject | None:
    """The shape of a mapped result; None where the whole body is the result.

    Polling has a mapping of its own, and without it none (contract section 6). No key is
    required: a path that is not in the answer leaves its key out. A value is whatever the app
    answers with, so it has no type.
    """
    mapping = tool.polling.result_mapping if tool.polling else tool.response_mapping
    return None if mapping is None else _schema_of(mapping)


def _schema_of(mapping: ResponseMapping) -> JsonObject:
    properties: JsonObject = {}
    for name, rule in mapping.entries:
        if not isinstance(rule, Each):
            properties[name] = {}
            continue
        items: JsonObject = {key: {} for key, _ in rule.items}
        # A null where the list should be is kept as null.
        properties[name] = {
            "type": ["array", "null"],
            "items": {"type": "object", "properties": items},
        }
        if rule.limit is not None:
            properties[f"{name}More"] = {"type": "integer"}
    return {"type": "object", "properties": properties}
