"""Security cases about documents: ceiling, same_origin, schema_bomb."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.cases import fetched
from tests.cases.judges import sound
from tests.cases.recipes import expand
from tests.cases.requests_cases import definition, encoded, endpoint_tool
from tests.cases.stage import ACME, Setting, Stage, declared, read_json
from tests.cases.upstream import Answer, Upstream
from tests.cases.verdicts import Json, UnknownShapeError, only

_JSON = (("content-type", "application/json"),)
_HIGHEST = {"category": "action", "dangerLevel": "destructive"}


# -- ceiling -------------------------------------------------------------------------------


def whole_tool(partial: Mapping[str, Json]) -> dict[str, Json]:
    """A tool with what the case leaves out filled in."""
    record = {k: v for k, v in partial.items() if k not in ("method", "path")}
    method = partial.get("method") or ("GET" if partial.get("category") == "read" else "POST")
    defaults: dict[str, Json] = {
        "description": "Test tool. Use only in tests.",
        "parameters": {"type": "object", "properties": {}},
    }
    if "endpoint" not in record and "target" not in record:
        defaults["endpoint"] = {"method": method, "path": partial.get("path", "/x")}
    return {**defaults, **record}


def ceiling_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """A fetched tool under a ceiling: whether it is kept, and as what."""
    known = "ceiling tool tools raw_json catalog approved_tool refreshed_tool note"
    given = only(given, known, "input")
    ceiling = given.get("ceiling", _HIGHEST)
    static: list[Json] = []
    if "refreshed_tool" in given:
        static = [whole_tool(given["approved_tool"])] if "approved_tool" in given else []
        body = json.dumps([whole_tool(given["refreshed_tool"])])
    elif "raw_json" in given:
        body = _filled(given["raw_json"])
    elif "tool" in given:
        tool = given["tool"]
        body = json.dumps([whole_tool(tool) if isinstance(tool, dict) else tool])
    else:
        catalog = given.get("catalog", given.get("tools"))
        body = catalog if isinstance(catalog, str) else json.dumps(_whole(catalog))
    app = {"name": "Acme", "baseUrl": ACME, "auth": {"type": "none"}, "ceiling": ceiling}
    answer = Answer(headers=_JSON, body=body.encode("utf-8", "surrogatepass"))
    found = fetched.effective(stage, app, [answer], static=static)
    return _judge_kept(expect, given, found)


def _whole(catalog: Json) -> Json:
    if isinstance(catalog, dict) and isinstance(catalog.get("tools"), list):
        return {**catalog, "tools": _whole(catalog["tools"])}
    if isinstance(catalog, list):
        return [whole_tool(t) if isinstance(t, dict) else t for t in catalog]
    return catalog


def _filled(text: str) -> str:
    """A raw catalog with the missing keys of its tools, its own text otherwise as it is."""
    filled: list[str] = []
    for key, value in whole_tool({"category": "read"}).items():
        if f'"{key}"' not in text:
            filled.append(f"{json.dumps(key)}:{json.dumps(value)}")
    name = text.find('"name"')
    if name < 0:
        return text
    return (
        text[:name]
        + "".join(f"{part}," for part in filled if '"category"' not in part)
        + text[name:]
    )


_EFFECTIVE = ("dangerLevel", "category", "requiresApproval")


def _judge_kept(expect: Json, given: Mapping[str, Json], found: fetched.Fetched) -> list[str]:
    known = "kept kept_as or offered decision method_effective "
    expect = only(expect, known + " ".join(f"{key}_effective" for key in _EFFECTIVE), "expect")
    printed, said = found.printed, found.said
    tools = {tool["name"]: tool for tool in printed.get("tools", [])}
    dropped = {d["name"]: d["reason"] for d in printed.get("dropped", [])}
    seen = f"seen {sorted(tools)}, dropped {dropped}, {printed.get('source')} {said[:160]}"
    if not printed:
        refused = "cannot be used" in said
        wanted = expect.get("kept") is False or expect.get("decision") == "reject_definition"
        return [] if refused and wanted else [f"no catalog was printed: {said[:300]}"]
    if "decision" in expect:
        return [f"expected the definition refused, {seen}"]
    name = _name_of(given)
    faults: list[str] = []
    if "kept" in expect:
        kept = bool(tools) if "catalog" in given or "raw_json" in given else name in tools
        # Of a refresh: whether what came is in force. The tool as reviewed may stay.
        kept = kept and not ("refreshed_tool" in given and name in dropped)
        if kept is not expect["kept"]:
            faults.append(f"expected kept {expect['kept']}, {seen}")
        if not kept and not dropped and not said.strip():
            faults.append(f"dropped without a word, {seen}")
    told = _judge_in_force(expect, tools.get(name, {}), seen)
    if "or" in expect and name not in tools and (dropped or said.strip()):
        told = []
    if "offered" in expect and sorted(tools) != sorted(expect["offered"]):
        faults.append(f"expected {expect['offered']} offered, {seen}")
    return faults + told


def _name_of(given: Mapping[str, Json]) -> str:
    for key in ("refreshed_tool", "tool"):
        record = given.get(key)
        if isinstance(record, dict) and isinstance(record.get("name"), str):
            return record["name"]
    return "t"


def _judge_in_force(expect: Mapping[str, Json], tool: Mapping[str, Json], seen: str) -> list[str]:
    """The judgement that is in force on a tool; an empty record is no tool."""
    wanted = dict(expect.get("kept_as") or {})
    wanted |= {k: expect[f"{k}_effective"] for k in _EFFECTIVE if f"{k}_effective" in expect}
    faults = [
        f"expected {key} {value!r} in force, seen {tool.get(key)!r}; {seen}"
        for key, value in wanted.items()
        if tool.get(key) != value
    ]
    method = expect.get("method_effective")
    if method is not None and tool.get("endpoint", {}).get("method") != method:
        faults.append(f"expected the method {method}, {seen}")
    return faults


# -- same_origin ---------------------------------------------------------------------------


def origin_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """``toolsUrl``, a redirect of it, or a ``statusUrl``, against the origin of ``baseUrl``."""
    given = only(given, "baseUrl toolsUrl statusUrl first_response response note", "input")
    if "statusUrl" in given:
        return _polled(stage, given, expect)
    if "response" in given:
        return _redirected(stage, given, expect)
    expect = only(expect, "same_origin", "expect")
    document = {
        "id": "acme",
        "name": "Acme",
        "baseUrl": given["baseUrl"],
        "toolsUrl": given["toolsUrl"],
        "auth": {"type": "none"},
        "ceiling": _HIGHEST,
        "tools": [],
    }
    ran, findings = stage.lint(document)
    errors = [f for f in findings if f["level"] == "error"]
    if "Traceback" in ran.stderr:
        return [f"a traceback reached the user: {ran.stderr[-300:]}"]
    at_tools = [f for f in errors if f["pointer"] in ("/toolsUrl", "/baseUrl")]
    if expect["same_origin"] is True:
        return [f"expected no error, seen {errors!r:.300}"] if errors else []
    if expect["same_origin"] is False:
        return [] if at_tools else [f"expected an error at /toolsUrl, seen {findings!r:.300}"]
    raise UnknownShapeError(f"same_origin {expect['same_origin']!r}")


def _redirected(stage: Stage, given: Mapping[str, Json], expect: Json) -> list[str]:
    """A catalog that answers with a redirect: the last good one stays, nothing else is asked."""
    expect = only(expect, "catalog fetched decision never_send_to", "expect")
    response = only(given["response"], "status Location headers body", "response")
    if not re.search("stale|kept|last good|snapshot", str(expect.get("catalog", "kept"))):
        raise UnknownShapeError(f"catalog {expect['catalog']!r}")
    location = response.get("Location", response.get("headers", {}).get("Location", ""))
    app = {"name": "Acme", "baseUrl": given["baseUrl"], "toolsUrl": given["toolsUrl"],
           "auth": {"type": "none"}, "ceiling": _HIGHEST}  # fmt: skip
    good = Answer(
        headers=_JSON,
        body=json.dumps(
            [whole_tool({"name": "a", "category": "read", "dangerLevel": "safe"})]
        ).encode(),
    )
    with Upstream(host="127.0.0.2") as other:
        places = [location]
        if "//" in location:
            places.append(other.origin + "/" + location.split("//", 1)[1].partition("/")[2])
        faults: list[str] = []
        for place in places:
            reserve = Upstream()
            reserve.start()
            reserve.stop()
            cache = str(stage.folder / f"kept-{reserve.port}")
            fetched.effective(stage, app, [good], port=reserve.port, cache=cache)
            answer = Answer(status=response["status"], headers=(("location", place),))
            printed, _, said, targets = fetched.effective(
                stage, app, [answer, good], port=reserve.port, cache=cache
            )
            if len(targets) != len(expect.get("fetched", targets)):
                faults.append(f"expected {expect['fetched']} asked for, seen {targets}")
            if fetched.offered(printed) != ["a"] or printed.get("source") != "stale":
                faults.append(f"expected the last good catalog, seen {printed!r:.200} {said[:200]}")
        if other.received:
            faults.append(f"the redirect was followed: {[r.target for r in other.received]}")
    return faults


def _polled(stage: Stage, given: Mapping[str, Json], expect: Json) -> list[str]:
    """A ``statusUrl`` that the app's first answer chooses.

    ``{{result.…}}`` is written ``{{response.…}}`` (contract section 6): both are driven.
    """
    expect = only(expect, "decision never_send_to send_to polled", "expect")
    faults: list[str] = []
    for status_url in {given["statusUrl"], given["statusUrl"].replace("{{result.", "{{response.")}:
        polling = {
            "statusUrl": status_url, "statusField": "status", "completeValue": "done",
            "pollIntervalMs": 100, "maxPolls": 2,
        }  # fmt: skip
        tool = endpoint_tool(
            {"method": "POST", "path": "/jobs"},
            {"type": "object", "properties": {}},
            polling=polling,
        )
        answers = [
            {"status": 202, "body": given.get("first_response", {})},
            {"status": 200, "body": {"status": "done"}},
        ]
        setting = Setting(
            definition=definition(tool, given["baseUrl"], {"type": "bearer"}),
            tool="t",
            token="canary-token",
            answers=answers,
        )
        one = stage.call(setting)
        if expect.get("decision", "refuse") == "refuse":
            if one.ok or len(one.requests) > 1:
                faults.append(f"expected a refusal, seen {one.brief()}")
        elif expect.get("decision") in ("send", "allow", "poll"):
            if "{{result." not in status_url and (not one.ok or len(one.requests) != 2):
                faults.append(f"expected a poll, seen {one.brief()}")
        else:
            raise UnknownShapeError(f"decision {expect.get('decision')!r}")
        faults += sound(one, ["canary-token"])
    return faults


# -- schema_bomb ---------------------------------------------------------------------------


def schema_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """A schema at registration, and an instance against it."""
    given = expand(only(given, "parameters instance note args", "input"))
    known = (
        "decision within_ms validate_within_ms never_fetch process_survives no_500 valid "
        "peak_memory_mb_under"
    )
    expect = only(expect, known, "expect")
    tool = endpoint_tool({"method": "POST", "path": "/x", "bodyTemplate": {}}, given["parameters"])
    document = definition(tool, ACME)
    ran = stage.run("lint", str(stage.file(document)), "--format", "json", timeout_s=20, apart=True)
    faults: list[str] = []
    if ran.exit_code not in (0, 1) or "Traceback" in ran.stderr:
        faults.append(
            f"lint ended with {ran.exit_code} in {ran.seconds:.1f} s: {ran.stderr[-300:]!r}"
        )
    limit = expect.get("within_ms", 5_000)
    if ran.seconds * 1000 > limit:
        faults.append(f"lint took {ran.seconds * 1000:.0f} ms of {limit}")
    printed = read_json(ran.stdout)
    errors = [f for f in (printed or {}).get("findings", []) if f["level"] == "error"]
    decision = expect.get("decision")
    if decision == "reject_definition" and not errors:
        faults.append(f"expected an error at load, seen {ran.stdout[:300]}")
    elif decision in ("accept_definition", "accept") and errors:
        faults.append(f"expected no error, seen {errors!r:.300}")
    elif decision not in (
        None,
        "reject_definition",
        "reject_definition_or_bounded",
        "accept_definition",
        "accept",
    ):
        raise UnknownShapeError(f"decision {decision!r}")
    instance = given.get("instance", given.get("args"))
    if instance is not None and not errors:
        faults += _validated(stage, document, instance, expect)
    return faults


def _validated(
    stage: Stage, document: Json, instance: Json, expect: Mapping[str, Json]
) -> list[str]:
    setting = Setting(
        definition=document, tool="t", args=encoded(instance), dry=True, timeout_s=20, apart=True
    )
    idle = stage.call(
        Setting(
            definition=definition(endpoint_tool({"method": "POST", "path": "/x"}, declared({}))),
            tool="t",
            dry=True,
            apart=True,
        )
    )
    one = stage.call(setting)
    faults = sound(one)
    took_ms = (one.ran.seconds - idle.ran.seconds) * 1000
    if took_ms > expect.get("validate_within_ms", 5_000):
        faults.append(f"validation took {took_ms:.0f} ms")
    valid = one.ran.exit_code == 0
    if "valid" in expect and valid is not expect["valid"]:
        faults.append(f"expected valid {expect['valid']}, seen {one.brief()}")
    if not valid and one.code != "invalid_arguments":
        faults.append(f"expected a request or invalid_arguments, seen {one.brief()}")
    return faults
