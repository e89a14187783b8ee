"""The app that the calls go to, and what may be said of each of its tools."""

from __future__ import annotations

from typing import Any

from tests.catalog.documents import definition, endpoint_tool, parameters

APP = "acme"
TOKEN = "chaos-token"
USERS = ("ana", "ben", "cleo")

ADD, PUT, GET, RENDER, REFUND = "add_order", "put_order", "get_order", "render", "refund"
#: How many calls of a hundred each tool gets.
SHARES = {ADD: 40, PUT: 20, GET: 16, RENDER: 10, REFUND: 14}
WRITES = frozenset({ADD, PUT, RENDER, REFUND})
#: What must reach the upstream once at most, whatever happens.
ONCE = frozenset({ADD, RENDER, REFUND})
TIMEOUT_MS = 3_000
MAX_POLLS = 12
_BODY = {"order": "{{args.order}}"}


def shop(base_url: str) -> dict[str, Any]:
    """Its definition."""
    return definition(
        _tool(ADD, "POST", "/orders"),
        _tool(PUT, "PUT", "/orders", idempotent=True),
        endpoint_tool(
            GET,
            parameters=parameters("order", order="integer"),
            endpoint={"method": "GET", "path": "/orders/{{args.order}}"},
            responseMapping={"order": "order"},
            timeoutMs=TIMEOUT_MS,
        ),
        _tool(
            RENDER,
            "POST",
            "/jobs",
            polling={
                "statusUrl": "/jobs/{{response.id}}",
                "statusField": "status",
                "completeValue": "done",
                "failedValue": "broken",
                "resultMapping": {"order": "order"},
                "pollIntervalMs": 100,
                "maxPolls": MAX_POLLS,
            },
        ),
        _tool(REFUND, "POST", "/refunds", requiresApproval=True),
        id=APP,
        baseUrl=base_url,
    )


def _tool(name: str, method: str, path: str, **changes: object) -> dict[str, Any]:
    return endpoint_tool(
        name,
        category="write",
        dangerLevel="moderate",
        parameters=parameters("order", order="integer"),
        endpoint={"method": method, "path": path, "bodyTemplate": _BODY},
        responseMapping={"order": "order"},
        timeoutMs=TIMEOUT_MS,
        **changes,
    )
