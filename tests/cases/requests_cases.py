"""Security cases that end in one request or in none: path, template, headers, pins, json_edge."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from tests.cases.judges import canonical_path, pairs_of, parsed, same, same_pairs, sound
from tests.cases.stage import ACME, Observed, Setting, Stage, declared, target_tool
from tests.cases.upstream import Answer, inflating
from tests.cases.verdicts import Json, UnknownShapeError, only

_TEST = "Test tool. Use only in tests."
_REJECTS = ("reject_definition", "reject", "reject_at_registration")
DECISION_KEYS = (
    "decision raw_path raw_query query_pairs raw_must_not_contain body value header headers "
    "headers_sent error secret_not_in_error or"
)


def definition(tool: Json, base_url: str = f"{ACME}/v1", auth: Json = None) -> dict[str, Json]:
    """A definition round one tool; a component that it names is there."""
    target = tool.get("target") or {}
    named = isinstance(target, dict) and isinstance(target.get("component"), str)
    components = {target["component"]: {"url": ACME}} if named else {}
    return {
        "id": "acme",
        "name": "Acme",
        "baseUrl": base_url,
        "auth": auth or {"type": "none"},
        "env": {"collection": "main", "environment": "production"},
        **({"components": components} if "$" not in "".join(components) and components else {}),
        "tools": [tool],
    }


def endpoint_tool(
    endpoint: Mapping[str, Json], parameters: Json, **more: Json
) -> dict[str, Json]:
    """An endpoint as a tool that needs nobody's approval."""
    method = endpoint["method"]
    return {
        "name": "t",
        "description": _TEST,
        "category": "read" if method == "GET" else "write",
        "dangerLevel": "safe",
        "parameters": parameters,
        "endpoint": dict(endpoint),
        **more,
    }


# -- what was decided ----------------------------------------------------------------------


def rejected(stage: Stage, document: Json) -> list[str]:
    """Whether the definition does not load; the faults where it does."""
    ran, findings = stage.lint(document)
    errors = [f for f in findings if f["level"] == "error"]
    if ran.exit_code == 1 and errors and "Traceback" not in ran.stderr:
        return []
    return [f"expected an error at load, seen exit {ran.exit_code}: {findings!r:.300} {ran.stderr[:200]}"]


def accepted(stage: Stage, document: Json) -> list[str]:
    """Whether the definition loads; the faults where it does not."""
    ran, findings = stage.lint(document)
    errors = [f"{f['rule']} {f['pointer']} {f['message']}" for f in findings if f["level"] == "error"]
    if ran.exit_code == 0 and not errors:
        return []
    return [f"expected no error at load, seen {errors!r:.300} {ran.stderr[:200]}"]


def refused(one: Observed) -> list[str]:
    """Nothing was sent, and an error says so."""
    if one.requests or one.ok or not one.error:
        return [f"expected a refusal, seen {one.brief()}"]
    return []


def sent(one: Observed, expect: Mapping[str, Json]) -> list[str]:
    """One request went out, as it is described."""
    if len(one.requests) != 1:
        return [f"expected one request, seen {one.brief()}"]
    got = one.requests[0]
    faults: list[str] = []
    path = expect.get("raw_path", expect.get("path"))
    if path is not None:
        want_path, _, want_query = path.partition("?")
        if canonical_path(want_path) != canonical_path(got.path):
            faults.append(f"expected the path {want_path!r}, seen {got.path!r}")
        if want_query and pairs_of(want_query) != pairs_of(got.raw_query):
            faults.append(f"expected the query {want_query!r}, seen {got.raw_query!r}")
    if "raw_query" in expect and expect["raw_query"] != got.raw_query:
        faults.append(f"expected the raw query {expect['raw_query']!r}, seen {got.raw_query!r}")
    if "query_pairs" in expect and not same_pairs(expect["query_pairs"], pairs_of(got.raw_query)):
        faults.append(f"expected the query {expect['query_pairs']!r}, seen {got.raw_query!r}")
    faults += [
        f"expected no {text!r} in {got.target!r}"
        for text in expect.get("raw_must_not_contain", [])
        if text in got.target
    ]
    for key in ("body", "value"):
        if key in expect and not same(parsed(got.body), expect[key]):
            faults.append(f"expected the body {expect[key]!r}, seen {got.body!r:.300}")
    for key in ("header", "headers", "headers_sent"):
        for name, value in expect.get(key, {}).items():
            if got.header(name) != value:
                faults.append(f"expected the header {name}: {value!r}, seen {got.header(name)!r}")
    return faults


def decided(stage: Stage, setting: Setting, expect: Json, known: str = DECISION_KEYS) -> list[str]:
    """Hold a call against ``expect.decision`` and what goes with it."""
    expect = only(expect, known, "expect")
    decision = expect.get("decision")
    if decision is None:
        decision = "send"
        if "error" in expect:
            decision = {True: "refuse", "at_registration": "reject_definition"}.get(expect["error"])
        if decision is None:
            raise UnknownShapeError(f"error {expect['error']!r}")
    if decision in _REJECTS:
        return rejected(stage, setting.definition) + _nothing_sent(stage, setting)
    if decision in ("accept_definition", "accept"):
        return accepted(stage, setting.definition)
    one = stage.call(setting)
    faults = sound(one, _secrets(setting, expect))
    options = set(decision.split("_or_")) if isinstance(decision, str) else set()
    if not options or options - {"refuse", "send", "reject", "reject_definition", "allow"}:
        raise UnknownShapeError(f"decision {decision!r}")
    told: list[list[str]] = []
    if "or" in expect:
        if expect["or"] not in ("refused", "refuse", "error"):
            raise UnknownShapeError(f"or {expect['or']!r}")
        options.add("refuse")
    if "refuse" in options:
        told.append(refused(one))
    if options & {"send", "allow"}:
        told.append(sent(one, expect))
    if options & {"reject", "reject_definition"}:
        told.append(rejected(stage, setting.definition))
    if all(told):
        faults += [fault for option in told for fault in option]
    return faults


def _secrets(setting: Setting, expect: Mapping[str, Json]) -> list[str]:
    if not expect.get("secret_not_in_error") or setting.token is None:
        return []
    return [part for part in re.split(r"[\r\n\x00]+", setting.token) if len(part) >= 3]


def _nothing_sent(stage: Stage, setting: Setting) -> list[str]:
    one = stage.call(setting)
    return sound(one) + refused(one)


# -- path ----------------------------------------------------------------------------------


def path_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """``baseUrl``, ``path`` and ``args`` in, the raw path on the wire out."""
    given = only(given, "baseUrl path query queryParams method args pins env body note", "input")
    endpoint: dict[str, Json] = {"method": given.get("method", "GET"), "path": given["path"]}
    query = given.get("query", given.get("queryParams"))
    if query is not None:
        endpoint["queryParams"] = query
    if "body" in given:
        endpoint |= {"method": given.get("method", "POST"), "bodyTemplate": given["body"]}
    args = given.get("args", {})
    tool = endpoint_tool(endpoint, declared(args, given.get("pins")))
    setting = Setting(
        definition=definition(tool, given.get("baseUrl", ACME)),
        tool="t",
        args=encoded(args),
        pins=given.get("pins", {}),
        env=given.get("env", {}),
    )
    return decided(stage, setting, expect)


def encoded(args: Json) -> bytes:
    """Arguments as JSON, lone surrogates as their escapes."""
    return json.dumps(args).encode()


# -- template ------------------------------------------------------------------------------


def template_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """A template, arguments and env in; what it becomes out."""
    given = only(given, "family template args env pins target method note path", "input")
    args = given.get("args", {})
    if "target" in given:
        tool = target_tool(given["target"], args, given.get("pins"))
    elif given.get("family") == "mustache-args":
        endpoint = {
            "method": given.get("method", "POST"),
            "path": given.get("path", "/x"),
            "bodyTemplate": given["template"],
        }
        tool = endpoint_tool(endpoint, declared(args, given.get("pins")))
    elif given.get("family") == "dollar-input":
        target = {"type": "url", "url": f"{ACME}/x", "method": "POST", "body": given["template"]}
        tool = target_tool(target, args, given.get("pins"))
    else:
        raise UnknownShapeError(f"template family {given.get('family')!r}")
    setting = Setting(
        definition=definition(tool, ACME),
        tool="t",
        args=encoded(args),
        pins=given.get("pins", {}),
        env={k: str(v) for k, v in given.get("env", {}).items()},
    )
    return decided(stage, setting, expect)


# -- headers -------------------------------------------------------------------------------


def headers_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """Header names of an author, header values of a model, a credential with a line break."""
    known = (
        "definition_headers headers header template name value values args env credential auth "
        "target note"
    )
    given = only(given, known, "input")
    expect = only(expect, DECISION_KEYS, "expect")
    args = given.get("args", {})
    auth: Json = None
    token = given.get("credential")
    if token is not None:
        auth = given.get("auth") or {"type": "bearer"}
    if "definition_headers" in given:
        endpoint = {"method": "GET", "path": "/x", "headers": given["definition_headers"]}
        tool = endpoint_tool(endpoint, declared(args))
    elif "target" in given:
        tool = target_tool(given["target"], args)
    elif token is not None:
        tool = endpoint_tool({"method": "GET", "path": "/x"}, declared(args))
    else:
        headers, args = _header_template(given, args)
        tool = target_tool({"type": "url", "url": f"{ACME}/x", "method": "GET", "headers": headers}, args)
    document = definition(tool, ACME, auth)
    setting = Setting(definition=document, tool="t", args=encoded(args), env=given.get("env", {}))
    if token is None:
        return decided(stage, setting, expect)
    return decided(stage, replace(setting, token=token), expect)


def _header_template(given: Mapping[str, Json], args: Json) -> tuple[dict[str, Json], Json]:
    """A header whose value holds a reference, however the case writes it."""
    for key in ("headers", "template", "header"):
        value = given.get(key)
        if isinstance(value, dict):
            return value, args
        if isinstance(value, str):
            name, colon, text = value.partition(":")
            if colon:
                return {name.strip(): text.strip()}, args
            if "value" in given:
                return {value: "${input.v}"}, {"v": given["value"]}
    if "value" in given:
        return {given.get("name", "X-Note"): "${input.v}"}, {"v": given["value"]}
    raise UnknownShapeError(f"a header case with {sorted(given)}")


# -- pins ----------------------------------------------------------------------------------

_PIN_TOOL = {
    "path": "/scenes/{{args.sceneId}}/x",
    "query": {"note": "{{args.note}}"},
    "parameters": {
        "type": "object",
        "properties": {"sceneId": {"type": "string"}, "note": {"type": "string"}},
    },
}


def pins_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """Pins and the model's arguments in; what is sent, shown or refused out."""
    known = "tool pins model_args requiresApproval args_json model_args_json note"
    given = only(given, known, "input")
    expect = only(
        expect, "sent or sent_scene approval_shows executed_equals_shown refused decision", "expect"
    )
    shape = only(given.get("tool", _PIN_TOOL), "path query parameters body method headers", "tool")
    method = shape.get("method", "POST" if "body" in shape else "GET")
    endpoint: dict[str, Json] = {"method": method, "path": shape["path"]}
    if shape.get("query"):
        endpoint["queryParams"] = shape["query"]
    if "body" in shape:
        endpoint["bodyTemplate"] = shape["body"]
    approval = bool(given.get("requiresApproval"))
    tool = endpoint_tool(endpoint, shape["parameters"], requiresApproval=approval)
    raw = given.get("model_args_json", given.get("args_json"))
    setting = Setting(
        definition=definition(tool, ACME),
        tool="t",
        args=raw.encode() if isinstance(raw, str) else encoded(given.get("model_args", {})),
        pins=given.get("pins", {}),
        approve=True if "approval_shows" in expect else None,
    )
    one = stage.call(setting)
    faults = sound(one)
    told: list[list[str]] = []
    if "sent" in expect:
        told.append(sent(one, only(expect["sent"], "path query_pairs body headers raw_path", "sent")))
    if "sent_scene" in expect:
        told.append(sent(one, {"path": f"/scenes/{expect['sent_scene']}/x"}))
    if expect.get("or", expect.get("decision")) in ("refused", "refuse") or expect.get("refused"):
        told.append(refused(one))
    elif "or" in expect:
        raise UnknownShapeError(f"or {expect['or']!r}")
    if "approval_shows" in expect:
        told.append(_shown(expect["approval_shows"], one))
    if not told:
        raise UnknownShapeError("nothing is expected")
    if all(told):
        faults += [fault for option in told for fault in option]
    return faults


def _shown(want: Mapping[str, Json], one: Observed) -> list[str]:
    """The card shows the arguments, and the request carries them."""
    card = one.shown.partition("go ahead")[0]
    faults: list[str] = []
    for name, value in want.items():
        text = value if isinstance(value, str) else json.dumps(value)
        if not any(re.fullmatch(rf"{re.escape(name)}\s+{re.escape(text)}", line.strip()) for line in card.splitlines()):
            faults.append(f"expected {name} = {text} on the card, seen {card!r:.400}")
        if not any(text in pairs_and_path(r.target) for r in one.requests):
            faults.append(f"expected {text} on the wire, seen {one.brief()}")
    return faults


def pairs_and_path(target: str) -> str:
    """A target, decoded, to search in."""
    path, _, query = target.partition("?")
    return f"{canonical_path(path)} {pairs_of(query)}"


# -- json_edge -----------------------------------------------------------------------------

_BODY_KEYS = (
    "method content_type raw_body encoding raw_body_hex raw_body_repeat nested_depth_valid note"
)


def json_body(stage: Stage, given: Json, expect: Json) -> tuple[list[str], str]:
    """A raw body, given as ``--args``: a 400 is a refusal there. The status itself needs a server."""
    given = only(given, _BODY_KEYS, "input")
    expect = only(expect, "status status_one_of process_survives within_ms", "expect")
    statuses = [expect["status"]] if "status" in expect else expect.get("status_one_of", [])
    if not statuses or not set(statuses) <= {200, 201, 202, 204, 400, 413, 415, 422}:
        raise UnknownShapeError(f"statuses {statuses}")
    if given.get("content_type", "application/json") != "application/json" or statuses == [415]:
        return [], "needs a server: a media type"
    raw = _raw_body(given)
    tool = endpoint_tool({"method": "POST", "path": "/x", "bodyTemplate": {}}, {"type": "object", "properties": {}})
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
    return faults, ""


def _raw_body(given: Mapping[str, Json]) -> bytes:
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
    if expect.get("refused") or expect.get("decision") == "refuse" or expect.get("status") in (400, 422):
        faults += refused(one)
    if not one.ok and refused(one):
        faults.append(f"expected a result or a refusal, seen {one.brief()}")
    return faults


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
    tool = endpoint_tool({"method": "GET", "path": "/x"}, {"type": "object", "properties": {}}, **mapping)
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
    if encoding := given.get("content_encoding"):
        headers.append(("content-encoding", encoding))
    if "inflates_to_bytes" in given:
        return Answer(headers=tuple(headers), stream=inflating(given["inflates_to_bytes"]))
    if "body_bytes" in given:
        count = given["body_bytes"] // 65_536
        if (length := given.get("content_length")) is not None:
            headers.append(("content-length", str(length)))
        return Answer(headers=tuple(headers), stream=(b"[", b" " * 65_536, count), chunked=length is None)
    status = given.get("status", 200)
    for key in ("json", "raw", "raw_json", "body"):
        if key in given:
            text = given[key] if isinstance(given[key], str) else json.dumps(given[key])
            return Answer(status=status, headers=tuple(headers), body=text.encode("utf-8", "surrogatepass"))
    if "raw_hex" in given:
        return Answer(status=status, headers=tuple(headers), body=bytes.fromhex(given["raw_hex"]))
    if "json_repeat" in given:
        text, count = given["json_repeat"]
        return Answer(status=status, headers=tuple(headers), body=(text * count).encode())
    if "nested_depth_valid" in given:
        depth = given["nested_depth_valid"]
        return Answer(headers=tuple(headers), body=b"[" * depth + b"]" * depth)
    if "wire_bytes" in given:
        return Answer(headers=tuple(headers), body=_stacked(str(encoding), given["wire_bytes"]))
    raise UnknownShapeError(f"an upstream answer in {sorted(given)}")


def _stacked(encoding: str, size: int) -> bytes:
    """A JSON body under every encoding named, about so many bytes long on the wire."""
    body = b'{"ok":true}' + b" " * size
    for name in encoding.split(","):
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
    for key in ("mapped", "result", "value"):
        if key in expect and not same(result, expect[key]):
            faults.append(f"expected the result {expect[key]!r}, seen {one.brief()}")
    if one.ran.peak_mb > expect.get("peak_memory_mb_under", 1e9):
        faults.append(f"took {one.ran.peak_mb:.0f} MB")
    if one.bytes_said > expect.get("bytes_read_under", 1e15):
        faults.append(f"{one.bytes_said:,} bytes went over the wire")
    if one.ran.seconds * 1000 > expect.get("within_ms", 40_000):
        faults.append(f"took {one.ran.seconds:.1f} s")
    return faults
