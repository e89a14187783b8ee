"""Security cases over HTTP: raw bodies and their statuses, values on their way, hosts, origins."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from remit.web.services import MAX_CALL_BYTES
from tests.cases.served import Served, said, serve
from tests.cases.verdicts import Json, UnknownShapeError, only
from tests.catalog.documents import endpoint_tool
from tests.gateway.server import shop

_CALL = "/v1/tools/acme/get_order/call"
# One that is decoded by the call's own path, and one that every other route decodes as.
_PATHS = (_CALL, "/v1/grants")
# An app whose tool takes whatever is JSON.
_ANY = {
    **shop(endpoint_tool("take", endpoint={"method": "GET", "path": "/x"})),
    "id": "any-app",
    "auth": {"type": "none"},
}


def http_body(given: Json, expect: Json) -> list[str]:
    """A raw body: to a call, to another route, and inside a call's arguments."""
    statuses = [expect["status"]] if "status" in expect else expect["status_one_of"]
    media = given.get("content_type", "application/json")
    body = raw_body(given)
    if len(body) > MAX_CALL_BYTES and 400 in statuses:
        # Its size is seen before what is wrong in it (contract section 10).
        statuses = [*statuses, 413]

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        for path in _PATHS:
            # A body that is well-formed and no body of this route is 422, as section 10 says.
            fine = any(status < 300 for status in statuses)
            faults += await _posted(served, path, body, media, [*statuses, *([422] * fine)])
        anything = f"/v1/tools/{await served.add(_ANY)}/take/call"
        inside = b'{"user":"ana","args":' + (body or b" ") + b"}"
        faults += await _posted(served, anything, inside, media, statuses)
        served.api.stage.egress.sent.clear()
        healthy = await served.api.call("get_order", {"id": "7"})
        if healthy.status_code != 200:
            faults.append(f"afterwards: {said(healthy)}")
        return faults

    started = time.monotonic()
    faults = serve(act)
    took_ms = (time.monotonic() - started) * 1000
    limit_ms = expect.get("within_ms", 5_000)
    return faults + ([f"took {took_ms:.0f} ms"] if took_ms > limit_ms else [])


async def _posted(
    served: Served, path: str, body: bytes, media: str, statuses: list[int]
) -> list[str]:
    got = await served.api.post(path, content=body, headers={"content-type": media})
    faults: list[str] = []
    if got.status_code not in statuses:
        faults.append(f"{path} with {body[:40]!r}: expected {statuses}, seen {said(got)}")
    if got.status_code >= 400:
        if got.headers.get("content-type") != "application/problem+json":
            faults.append(f"{path}: no problem document, {said(got)}")
        if served.sent:
            faults.append(f"{path} with {body[:40]!r}: sent {served.sent}")
    return faults


def raw_body(given: Mapping[str, Json]) -> bytes:
    """The bytes of a body that a case writes out in one of several ways."""
    if "raw_body_hex" in given:
        return bytes.fromhex(given["raw_body_hex"])
    if "raw_body_repeat" in given:
        text, count, *rest = given["raw_body_repeat"]
        return (text * count + "".join(map(str, rest))).encode()
    if "nested_depth_valid" in given:
        depth = given["nested_depth_valid"]
        return (b'{"a":' * depth) + b"1" + b"}" * depth
    if isinstance(given.get("raw_body"), str):
        encoding = given.get("encoding") or "utf-8"
        return given["raw_body"].encode(encoding, "surrogatepass")
    raise UnknownShapeError(f"a body in {sorted(given)}")


def http_value(given: Json) -> list[str]:
    """One JSON value as an argument over the API: an answer, or a refusal, and a record."""
    if "arg_json" not in given or "where" in given:
        return []
    body = f'{{"user":"ana","args":{{"name":{given["arg_json"]}}}}}'.encode(
        "utf-8", "surrogatepass"
    )

    async def act(served: Served) -> list[str]:
        got = await served.api.post("/v1/tools/acme/add_order/call", content=body)
        await served.settled()
        faults: list[str] = []
        if got.status_code not in (200, 202, 400, 422):
            faults.append(f"over the API: {said(got)}")
        if "callId" in got.text:
            record = await served.api.get(f"/v1/calls/{got.json()['callId']}")
            if record.status_code != 200:
                faults.append(f"its record: {said(record)}")
        if got.status_code >= 400 and served.sent:
            faults.append(f"refused and sent: {served.sent}")
        return faults

    return serve(act)


def host_case(given: Json, expect: Json) -> list[str]:
    """A ``Host`` of a request, and the hosts that the server answers for."""
    given = only(given, "request allowed_hosts note", "input")
    expect = only(expect, "status_one_of status note", "expect")
    request = only(given["request"], "Host Origin path method", "request")
    hosts: list[str] = given["allowed_hosts"]
    if len(hosts) != 1:
        raise UnknownShapeError(f"hosts {hosts}")
    statuses = expect.get("status_one_of") or [expect["status"]]
    headers = {k.lower(): v for k, v in request.items() if k in ("Host", "Origin")}

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        for path in (request["path"], "/v1/apps", _CALL):
            for who in ("operator", None):
                method = "POST" if path.endswith("/call") else request.get("method", "GET")
                got = await served.api.send(method, path, who=who, headers=headers)
                if got.status_code not in statuses:
                    faults.append(f"{method} {path}: expected {statuses}, seen {said(got)}")
        return faults + ([f"sent {served.sent}"] if served.sent else [])

    return serve(act, public_url=f"https://{hosts[0]}")


def later_host(given: Mapping[str, Json]) -> str | None:
    """The ``Origin`` of MCP is judged where MCP is."""
    request = given.get("request", {})
    if "Origin" in request and re.match(r"/mcp\b", str(request.get("path"))):
        return "needs MCP: its own check of Origin"
    return None
