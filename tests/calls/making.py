"""Calls of one tool, as far as they go without sending: settled, planned, shaped."""

from __future__ import annotations

from remit.calls.arguments import Arguments, settle
from remit.calls.planning import FrozenRequest, plan
from remit.catalog.model import Definition, Tool
from remit.values.json import JsonObject, JsonValue
from tests.catalog.documents import Json, endpoint_tool, load_tool, parameters, target_tool

ANY = {"description": "anything"}
APP = {"components": {"api": {"url": "https://api.kit.example/base/"}}}


def settled(tool: Tool, args: JsonObject, pins: JsonObject | None = None) -> Arguments:
    """The arguments of a call."""
    return settle(tool, args, pins or {})


def planned(
    loaded: tuple[Tool, Definition],
    args: JsonObject,
    pins: JsonObject | None = None,
    *,
    env: tuple[str, ...] = (),
) -> FrozenRequest:
    """The frozen request of a call."""
    tool, definition = loaded
    return plan(tool, definition, settled(tool, args, pins), env_names=env)


def with_path(path: str, *names: str) -> tuple[Tool, Definition]:
    """A GET tool with a path and parameters of any type."""
    return load_tool(
        endpoint_tool(
            endpoint={"method": "GET", "path": path},
            parameters=parameters(**dict.fromkeys(names, ANY)),
        )
    )


def with_query(query: Json, *names: str) -> tuple[Tool, Definition]:
    """A GET tool with query parameters."""
    return load_tool(
        endpoint_tool(
            endpoint={"method": "GET", "path": "/q", "queryParams": query},
            parameters=parameters(**dict.fromkeys(names, ANY)),
        )
    )


def with_body(body: JsonValue, *names: str, **endpoint: object) -> tuple[Tool, Definition]:
    """A POST tool with a body."""
    return load_tool(
        endpoint_tool(
            category="write",
            endpoint={"method": "POST", "path": "/b", "bodyTemplate": body, **endpoint},
            parameters=parameters(**dict.fromkeys(names, ANY)),
        )
    )


def with_target(target: Json, *names: str) -> tuple[Tool, Definition]:
    """A tool with a target and parameters of any type."""
    record = target_tool(target, parameters=parameters(**dict.fromkeys(names, ANY)))
    return load_tool(record, **APP)


def path_of(request: FrozenRequest) -> str:
    """The raw path of a request's URL."""
    assert isinstance(request.url, str)
    return request.url.partition("?")[0].removeprefix("https://api.acme.example")


def query_of(request: FrozenRequest) -> str | None:
    """The raw query of a request's URL; None where there is none."""
    _, mark, query = request.shown_url.partition("?")
    return query if mark else None
