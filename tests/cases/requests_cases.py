"""Security cases that end in one request or in none: path, template, headers, pins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from tests.cases.judges import canonical_path, pairs_of, parsed, same, same_pairs, sound
from tests.cases.stage import ACME, Observed, Setting, Stage, declared, target_tool
from tests.cases.upstream import Received
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


def endpoint_tool(endpoint: Mapping[str, Json], parameters: Json, **more: Json) -> dict[str, Json]:
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
    return [
        f"expected an error at load, seen exit {ran.exit_code}: {findings!r:.300} "
        f"{ran.stderr[:200]}"
    ]


def accepted(stage: Stage, document: Json) -> list[str]:
    """Whether the definition loads; the faults where it does not."""
    ran, findings = stage.lint(document)
    errors = [
        f"{f['rule']} {f['pointer']} {f['message']}" for f in findings if f["level"] == "error"
    ]
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
    faults = _judge_target(got, expect)
    for key in ("body", "value"):
        if key in expect and not same(parsed(got.body), expect[key]):
            faults.append(f"expected the body {expect[key]!r}, seen {got.body!r:.300}")
    for key in ("header", "headers", "headers_sent"):
        for name, value in expect.get(key, {}).items():
            if got.header(name) != value:
                faults.append(f"expected the header {name}: {value!r}, seen {got.header(name)!r}")
    return faults


def _judge_target(got: Received, expect: Mapping[str, Json]) -> list[str]:
    faults: list[str] = []
    path = expect.get("raw_path", expect.get("path"))
    if path is not None:
        want_path, _, want_query = path.partition("?")
        if canonical_path(want_path) != canonical_path(got.path):
            faults.append(f"expected the path {want_path!r}, seen {got.path!r}")
        if want_query and pairs_of(want_query) != pairs_of(got.raw_query):
            faults.append(f"expected the query {want_query!r}, seen {got.raw_query!r}")
    if expect.get("raw_query", got.raw_query) != got.raw_query:
        faults.append(f"expected the raw query {expect['raw_query']!r}, seen {got.raw_query!r}")
    if "query_pairs" in expect and not same_pairs(expect["query_pairs"], pairs_of(got.raw_query)):
        faults.append(f"expected the query {expect['query_pairs']!r}, seen {got.raw_query!r}")
    return faults + [
        f"expected no {text!r} in {got.target!r}"
        for text in expect.get("raw_must_not_contain", [])
        if text in got.target
    ]


_OPTIONS = {"refuse", "send", "reject", "reject_definition", "allow"}


def _decision(expect: Mapping[str, Json]) -> str:
    """What is expected; ``error`` and a bare description of a request say it in other words."""
    decision = expect.get("decision")
    if decision is None and "error" in expect:
        decision = {True: "refuse", False: "send", "at_registration": "reject_definition"}.get(
            expect["error"]
        )
    elif decision is None:
        decision = "send"
    if not isinstance(decision, str):
        raise UnknownShapeError(f"decision {decision!r}, error {expect.get('error')!r}")
    return decision


def decided(stage: Stage, setting: Setting, expect: Json) -> list[str]:
    """Hold a call against ``expect.decision`` and what goes with it."""
    expect = only(expect, DECISION_KEYS, "expect")
    decision = _decision(expect)
    if decision in _REJECTS:
        return rejected(stage, setting.definition) + _nothing_sent(stage, setting)
    if decision in ("accept_definition", "accept"):
        return accepted(stage, setting.definition)
    options = set(decision.split("_or_"))
    if options - _OPTIONS:
        raise UnknownShapeError(f"decision {decision!r}")
    if "or" in expect:
        if expect["or"] not in ("refused", "refuse", "error"):
            raise UnknownShapeError(f"or {expect['or']!r}")
        options.add("refuse")
    one = stage.call(setting)
    told: list[list[str]] = []
    if "refuse" in options:
        told.append(refused(one))
    if options & {"send", "allow"}:
        told.append(sent(one, expect))
    if options & {"reject", "reject_definition"}:
        told.append(rejected(stage, setting.definition))
    faults = sound(one, _secrets(setting, expect))
    if all(told):
        faults += [fault for option in told for fault in option]
    return faults


def _secrets(setting: Setting, expect: Mapping[str, Json]) -> list[str]:
    if not expect.get("secret_not_in_error") or setting.token is None:
        return []
    return [part for part in re.split(r"[\r\n\x00]+", setting.token) if len(part) >= 4]


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
        tool = target_tool(
            {"type": "url", "url": f"{ACME}/x", "method": "GET", "headers": headers}, args
        )
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
        told.append(
            sent(one, only(expect["sent"], "path query_pairs body headers raw_path", "sent"))
        )
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
        if not any(
            re.fullmatch(rf"{re.escape(name)}\s+{re.escape(text)}", line.strip())
            for line in card.splitlines()
        ):
            faults.append(f"expected {name} = {text} on the card, seen {card!r:.400}")
        if not any(text in pairs_and_path(r.target) for r in one.requests):
            faults.append(f"expected {text} on the wire, seen {one.brief()}")
    return faults


def pairs_and_path(target: str) -> str:
    """A target, decoded, to search in."""
    path, _, query = target.partition("?")
    return f"{canonical_path(path)} {pairs_of(query)}"
