"""What is measured: a write tool as a host app would write it, its arguments, an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # FastMCP's server reads this too, where Remit is not installed.
    from remit.values.json import JsonObject


def tool(number: int) -> JsonObject:
    """One tool as a host app would write it: five parameters, one nested object."""
    return {
        "name": f"pay_order_{number}",
        "title": f"Pay order {number}",
        "description": "Marks an order as paid for a customer. Use it once the money is there. "
        "Not for refunds, nor for orders that are void.",
        "category": "write",
        "dangerLevel": "moderate",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["order_id", "customer"],
            "properties": {
                "order_id": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Number of the order.",
                },
                "status": {
                    "type": "string",
                    "enum": ["open", "paid", "void"],
                    "description": "The status that the order gets.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100,
                    "description": "How many lines to give back.",
                },
                "dry_run": {"type": "boolean", "description": "Whether to change nothing."},
                "customer": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["id"],
                    "description": "Whom the order belongs to.",
                    "properties": {
                        "id": {"type": "integer", "description": "Number of the customer."},
                        "email": {"type": "string", "maxLength": 200, "description": "Address."},
                        "tags": {
                            "type": "array",
                            "items": {"type": "string"},
                            "maxItems": 10,
                            "description": "Labels.",
                        },
                    },
                },
            },
        },
        "endpoint": {
            "method": "POST",
            "path": "/orders/{{args.order_id}}/pay",
            "queryParams": {"limit": "{{args.limit}}", "dry_run": "{{args.dry_run}}"},
            "headers": {"X-Client": "bench"},
            "bodyTemplate": {"status": "{{args.status}}", "customer": "{{args.customer}}"},
        },
        "responseMapping": {
            "id": "id",
            "status": "status",
            "customer": "customer.name",
            "firstSku": "lines.0.sku",
            "skus": "lines.*.sku",
        },
    }


def definition(count: int, base_url: str = "https://api.acme.example/v1") -> JsonObject:
    """A definition of so many tools, of an app at an address."""
    return {
        "id": "bench",
        "name": "Bench",
        "baseUrl": base_url,
        "auth": {"type": "bearer"},
        "tools": [tool(number) for number in range(count)],
    }


ARGS: JsonObject = {
    "order_id": 4711,
    "status": "paid",
    "limit": 20,
    "dry_run": False,
    "customer": {"id": 17, "email": "ada@example.test", "tags": ["a", "b"]},
}
#: What the app answers to every call, about 1 kB.
ANSWER = json.dumps(
    {
        "id": 4711,
        "status": "paid",
        "customer": {"id": 17, "name": "Ada Example", "email": "ada@example.test"},
        "lines": [
            {"sku": f"SKU-{i:04}", "qty": i, "price": 9.5 * i, "title": "A line of the order"}
            for i in range(1, 8)
        ],
        "note": "x" * 147,
    }
)
#: Stands in every answer of a server that did its work, as it comes from the app.
EXPECTED = b"Ada Example"
