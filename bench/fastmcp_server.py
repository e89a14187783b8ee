"""The peer: FastMCP made from the same tool as OpenAPI. Arguments: its port, the app's URL.

It runs in `.venv-bench`, with what `requirements-bench.txt` names and without Remit. It speaks
streamable HTTP without sessions and answers with JSON, which is the cheapest that it can do.
"""
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import sys
from typing import Any

import httpx2
from fastmcp import FastMCP
from workload import tool

_PORT, _URL = int(sys.argv[1]), sys.argv[2]
_IN_PATH, _IN_QUERY = ("order_id",), ("limit", "dry_run")


def openapi() -> dict[str, object]:
    """The first tool as an operation: the same path, query and body as Remit sends."""
    made: dict[str, Any] = tool(0)
    properties = made["parameters"]["properties"]
    places = {**dict.fromkeys(_IN_PATH, "path"), **dict.fromkeys(_IN_QUERY, "query")}
    body = {
        "type": "object",
        "additionalProperties": False,
        "required": ["customer"],
        "properties": {name: properties[name] for name in properties if name not in places},
    }
    operation = {
        "operationId": made["name"],
        "summary": made["title"],
        "description": made["description"],
        "parameters": [
            {"name": name, "in": place, "required": place == "path", "schema": properties[name]}
            for name, place in places.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {
                "description": "The order",
                "content": {"application/json": {"schema": {"type": "object"}}},
            }
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Bench", "version": "1"},
        "servers": [{"url": _URL}],
        "paths": {"/orders/{order_id}/pay": {"post": operation}},
    }


if __name__ == "__main__":
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    client = httpx2.AsyncClient(base_url=_URL, trust_env=False, limits=limits)
    FastMCP.from_openapi(openapi(), client=client, name="bench", validate_output=False).run(
        transport="http",
        host="127.0.0.1",
        port=_PORT,
        stateless_http=True,
        json_response=True,
        show_banner=False,
        log_level="WARNING",
        uvicorn_config={"loop": "uvloop", "http": "httptools", "access_log": False},
    )
