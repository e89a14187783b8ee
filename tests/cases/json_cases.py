"""Security cases of JSON: raw bodies as ``--args``, values on their way, answers of an app."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from tests.cases.http_cases import http_body, http_value, raw_body
from tests.cases.judges import parsed, same, sound
from tests.cases.requests_cases import definition, endpoint_tool, refused
from tests.cases.stage import ACME, Observed, Setting, Stage
from tests.cases.upstream import Answer, inflating
from tests.cases.verdicts import Json, UnknownShapeError, only

_BODY_KEYS = (
    "method content_type raw_body encoding raw_body_hex raw_body_repeat nested_depth_valid note"
)


def json_body(stage: Stage, given: Json, expect: Json) -> list[str]:
    """A raw body, given as ``--args``, where a 400 is a refusal, and over HTTP."""
    given = only(given, _BODY_KEYS, "input")
    expect = only(expect, "status status_one_of process_survives within_ms", "expect")
    statuses = [expect["status"]] if "status" in expect else expect.get("status_one_of", [])
    if not statuses or not set(statuses) <= {200, 201, 202, 204, 400, 413, 415, 422}:
        raise UnknownShapeError(f"statuses {statuses}")
    if given.get("content_type", "application/json") != "application/json" or statuses == [415]:
        return http_body(given, expect)
    raw = raw_body(given)
    tool = endpoint_tool(
        {"method": "POST", "path": "/x", "bodyTemplate": {}}, {"type": "object", "properties": {}}
    )
    one = stage.call(Setting(definition=definition(tool, ACME), tool="t", args=raw, apart=True))
    faults = sound(one)
    told: list[list[str]] = []
    if any(status >= 400 for status in statuses):
        told.append(refused(one))
    if any(status < 300 for status in statuses):
        told.append([] if one.ok else [f"expected a call, seen {one.brief()}"])
    if all(told):
        faults += told[0]
    if one.ran.seconds * 1000 > expect.get("within_ms", 5_000):
        faults.append(f"took {one.ran.seconds:.1f} s")
    return faults + http_body(given, expect)


def json_value(stage: Stage, given: Json, expect: Json) -> list[str]:
    """One JSON value through an argument, a template and a request body."""
    given = only(given, "arg_json where note args_json", "input")
    expect = only(
        expect,
        "forwarded_exactly_or_refused forwarded_exactly forwarded no_500 refused decision "
        "process_survives status",
        "expect",
    )
    tool = endpoint_tool(
        {"method": "POST", "path": "/x", "bodyTemplate": {"v": "{{args.v}}"}},
        {"type": "object", "properties": {"v": {}}},
    )
    raw = f'{{"v":{given["arg_json"]}}}'.encode("utf-8", "surrogatepass")
    one = stage.call(Setting(definition=definition(tool, ACME), tool="t", args=raw))
    faults = sound(one)
    for key in ("forwarded_exactly_or_refused", "forwarded_exactly", "forwarded"):
        if key in expect and not _forwarded(one, expect[key]):
            if key.endswith("refused") and not refused(one):
                continue
            faults.append(f"expected {expect[key]!r} forwarded, seen {one.brief()}")
    if (
        expect.get("refused")
        or expect.get("decision") == "refuse"
        or expect.get("status") in (400, 422)
    ):
        faults += refused(one)
    if expect.get("refused") is False and not one.ok:
        faults.append(f"expected a result, seen {one.brief()}")
    if not one.ok and refused(one):
        faults.append(f"expected a result or a refusal, seen {one.brief()}")
    return faults + http_value(given)


def _forwarded(one: Observed, token: Json) -> bool:
    """The very token stands as ``v`` of the body."""
    if len(one.requests) != 1:
        return False
    body = one.requests[0].body.decode("utf-8", "replace")
    text = token if isinstance(token, str) else json.dumps(token)
    value = re.sub(r'^\{\s*"v"\s*:\s*|\s*\}$', "", body)
    if value == text or (isinstance(token, str) and parsed(body.encode()) == {"v": token}):
        return True
    try:
        return Decimal(value) == Decimal(text)
    except InvalidOperation:
        return False


def json_upstream(stage: Stage, given: Json, expect: Json) -> list[str]:
    """What an app may answer: bombs, endless bodies, broken JSON, paths that are not there."""
    known = (
        "json raw raw_json body map content_encoding inflates_to_bytes wire_bytes body_bytes "
        "content_length content_type status note raw_hex json_repeat nested_depth_valid"
    )
    given = only(given, known, "input")
    expect = only(
        expect,
        "tool_error peak_memory_mb_under bytes_read_under field_absent_or_null no_500 mapped "
        "result process_survives within_ms field value",
        "expect",
    )
    mapping = {"responseMapping": given["map"]} if "map" in given else {}
    tool = endpoint_tool(
        {"method": "GET", "path": "/x"}, {"type": "object", "properties": {}}, **mapping
    )
    measured = "peak_memory_mb_under" in expect
    setting = Setting(
        definition=definition(tool, ACME),
        tool="t",
        answers=[_upstream_answer(given)],
        apart=measured,
    )
    one = stage.call(setting)
    return sound(one) + _judge_upstream(expect, one)


def _upstream_answer(given: Mapping[str, Json]) -> Answer:
    headers = [("content-type", given.get("content_type", "application/json"))]
    if "content_encoding" in given:
        headers.append(("content-encoding", given["content_encoding"]))
    if "inflates_to_bytes" in given:
        return Answer(headers=tuple(headers), stream=inflating(given["inflates_to_bytes"]))
    if "body_bytes" in given:
        count = given["body_bytes"] // 65_536
        if (length := given.get("content_length")) is not None:
            headers.append(("content-length", str(length)))
        return Answer(
            headers=tuple(headers), stream=(b"[", b" " * 65_536, count), chunked=length is None
        )
    status = given.get("status", 200)
    return Answer(status=status, headers=tuple(headers), body=_upstream_body(given))


def _upstream_body(given: Mapping[str, Json]) -> bytes:
    for key in ("json", "raw", "raw_json", "body"):
        if key in given:
            text = given[key] if isinstance(given[key], str) else json.dumps(given[key])
            return text.encode("utf-8", "surrogatepass")
    if "raw_hex" in given:
        return bytes.fromhex(given["raw_hex"])
    if "json_repeat" in given:
        text, count = given["json_repeat"]
        return (text * count).encode()
    if "nested_depth_valid" in given:
        depth = given["nested_depth_valid"]
        return b"[" * depth + b"]" * depth
    if "wire_bytes" in given:
        return _stacked(str(given.get("content_encoding", "")), given["wire_bytes"])
    raise UnknownShapeError(f"an upstream answer in {sorted(given)}")


def _stacked(encoding: str, size: int) -> bytes:
    """A JSON body under every encoding named, about so many bytes long on the wire."""
    body = b'{"ok":true}' + b" " * size
    for name in filter(None, encoding.split(",")):
        body = gzip.compress(body) if "gzip" in name else zlib.compress(body)
    return body


def _judge_upstream(expect: Mapping[str, Json], one: Observed) -> list[str]:
    faults: list[str] = []
    result = one.printed.get("result") if isinstance(one.printed, dict) else None
    record = result if isinstance(result, dict) else {}
    if expect.get("tool_error") is True and (one.ok or not one.error):
        faults.append(f"expected a tool error, seen {one.brief()}")
    if expect.get("tool_error") is False and not one.ok:
        faults.append(f"expected a result, seen {one.brief()}")
    if (field := expect.get("field_absent_or_null")) is not None and (
        not one.ok or record.get(field) is not None
    ):
        faults.append(f"expected no {field}, seen {one.brief()}")
    faults += [
        f"expected the result {expect[key]!r}, seen {one.brief()}"
        for key in ("mapped", "result", "value")
        if key in expect and not same(result, expect[key])
    ]
    if one.ran.peak_mb > expect.get("peak_memory_mb_under", 1e9):
        faults.append(f"took {one.ran.peak_mb:.0f} MB")
    if one.bytes_said > expect.get("bytes_read_under", 1e15):
        faults.append(f"{one.bytes_said:,} bytes went over the wire")
    if one.ran.seconds * 1000 > expect.get("within_ms", 40_000):
        faults.append(f"took {one.ran.seconds:.1f} s")
    return faults
