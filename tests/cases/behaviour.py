"""Cases of behaviour: one file each, by surface."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.cases import fetched, handler_cases, offers, session_cases
from tests.cases.judges import (
    judge_lint,
    judge_never,
    judge_refused,
    judge_requests,
    judge_result,
    sound,
)
from tests.cases.recipes import expand
from tests.cases.stage import (
    ACME,
    Mode,
    Observed,
    Setting,
    Stage,
    definition_of,
    own_origins,
    target_tool,
)
from tests.cases.verdicts import Json, UnknownShapeError, Verdict, only, verdict

LATER = {
    "import": "needs the OpenAPI import",
    "mcp": "needs MCP",
    "client-sdk": "needs the SDK",
    "api": "needs a server",
    "server": "needs a server",
}
_CASE_KEYS = "id source kind input expect why note level class"
_INPUT_KEYS = (
    "surface app tool tools dialect target pins env args argsRawJson upstream runs thenCall "
    "approve note call formats lastGood context"
)
_RUN_KEYS = "app tool tools target pins env args argsRawJson upstream approve note call dialect"
_EXPECT_KEYS = (
    "requests requestCount refused result lint oneOf also never runs approvalShows thenCall"
)
_RUN_EXPECT_KEYS = "requests requestCount refused result lint oneOf also never approvalShows"


@dataclass
class _Told:
    """Faults and prose, gathered."""

    faults: list[str] = field(default_factory=list[str])
    prose: list[str] = field(default_factory=list[str])


def judge(case: Json, mode: Mode = "forked") -> Verdict:
    """Run one case.

    Raises:
        UnknownShapeError: it has a surface or key that is not known here.
    """
    case = only(case, _CASE_KEYS, "the case")
    given = case["input"]
    surface = given.get("surface") if isinstance(given, dict) else None
    if surface in LATER:
        return Verdict(id=case["id"], status="later", words=LATER[surface])
    if surface in ("session", "events"):
        return _conversation(case, given)
    if surface == "execute" and (reason := _later(given)) is not None:
        return Verdict(id=case["id"], status="later", words=reason)
    given = expand(given)
    told = _Told()
    with Stage(mode) as stage:
        if surface == "execute":
            _execute(stage, only(given, _INPUT_KEYS, "input"), case["expect"], told)
        elif surface == "lint":
            _lint(stage, given, case["expect"], told)
        elif surface == "catalog":
            told.faults, told.prose = fetched.judge(stage, given, case["expect"])
        elif surface == "export":
            told.faults, told.prose = offers.judge(stage, given, case["expect"])
        else:
            raise UnknownShapeError(f"surface {surface!r}")
    return verdict(case["id"], told.faults, prose=told.prose)


def _conversation(case: Json, given: Json) -> Verdict:
    """A case that is walked at a server process."""
    if (reason := session_cases.later(given)) is not None:
        return Verdict(id=case["id"], status="later", words=reason)
    walk = session_cases.session_case if "script" in given else handler_cases.handler_case
    faults, prose = walk(given, case["expect"])
    return verdict(case["id"], faults, prose=prose)


def _later(given: dict[str, Json]) -> str | None:
    """A call that cannot be made without a server (contract section 13)."""
    entries = [given, *(r for r in given.get("runs", []) if isinstance(r, dict))]
    tools = [t for e in entries for t in (e.get("tool"), e, *e.get("tools", []))]
    targets = [t.get("target") for t in tools if isinstance(t, dict)]
    kinds = {t.get("type") for t in targets if isinstance(t, dict)}
    if "app" in kinds:
        return "needs a server: a signed identity token"
    return "needs a client: the SDK" if "client" in kinds else None


# -- execute -------------------------------------------------------------------------------


def _execute(stage: Stage, given: dict[str, Json], expect: Json, told: _Told) -> None:
    expect = only(expect, _EXPECT_KEYS, "expect")
    runs = given.get("runs") or given.get("thenCall") or [{}]
    wanted = expect.get("runs")
    if wanted is None:
        # What counts requests counts those of all runs together.
        counted = ("requests", "requestCount", "never") if len(runs) > 1 else ()
        wanted = [{k: v for k, v in expect.items() if k not in ("thenCall", *counted)}] * len(runs)
        counts = {k: v for k, v in expect.items() if k in counted}
    else:
        counts = {k: v for k, v in expect.items() if k != "runs"}
    if len(wanted) != len(runs):
        raise UnknownShapeError(f"{len(runs)} runs, {len(wanted)} expectations")
    seen: list[Observed] = []
    for number, (run, want) in enumerate(zip(runs, wanted, strict=True), 1):
        at = f"run {number}: " if len(runs) > 1 else ""
        found = _one_run(stage, given, run, only(want, _RUN_EXPECT_KEYS, "a run"), told, seen)
        told.faults += [at + fault for fault in found]
    for where in (expect, *wanted):
        if "also" in where and (also := f"also {where['also']}") not in told.prose:
            told.prose.append(also)
    _judge_rest(counts, seen, told)


def _one_run(
    stage: Stage,
    given: dict[str, Json],
    run: Json,
    want: dict[str, Json],
    told: _Told,
    seen: list[Observed],
) -> list[str]:
    """Make one run, add what was seen, and judge it."""
    entry = dict(only(run, _RUN_KEYS, "a run"))
    if isinstance(entry.get("tool"), str):
        entry["call"] = entry.pop("tool")
    setting = _setting({**given, **entry})
    if "approvalShows" in want and setting.approve is None:
        setting = replace(setting, approve=True)
    one = stage.call(setting)
    seen.append(one)
    secrets = [setting.token] if setting.token else []
    return sound(one, secrets) + _judge_run(stage, setting, want, one, told, seen)


def _judge_rest(expect: dict[str, Json], seen: Sequence[Observed], told: _Told) -> None:
    """What stands beside ``runs`` and holds for all of them together."""
    faults, prose = judge_never(expect.get("never", []), seen)
    told.faults += faults
    told.prose += prose
    requests = [request for one in seen for request in one.requests]
    if "requestCount" in expect and expect["requestCount"] != len(requests):
        told.faults.append(
            f"expected {expect['requestCount']} requests in all, seen {len(requests)}"
        )
    if "requests" in expect:
        told.faults += judge_requests(expect["requests"], requests)
    if "result" in expect:
        told.faults += [f for one in seen for f in judge_result(expect["result"], one)]


def _judge_run(
    stage: Stage,
    setting: Setting,
    want: dict[str, Json],
    one: Observed,
    told: _Told,
    seen: Sequence[Observed],
) -> list[str]:
    faults: list[str] = []
    if "oneOf" in want:
        options = [
            _judge_run(stage, setting, only(o, _RUN_EXPECT_KEYS, "oneOf"), one, told, seen)
            for o in want["oneOf"]
        ]
        if all(options):
            faults.append(f"none of {len(options)} alternatives: {[o[0] for o in options]}")
    if "requests" in want:
        faults += judge_requests(want["requests"], one.requests)
    if "requestCount" in want and want["requestCount"] != len(one.requests):
        faults.append(f"expected {want['requestCount']} requests, seen {one.brief()}")
    if "refused" in want:
        faults += judge_refused(want["refused"], one)
    if "result" in want:
        faults += judge_result(want["result"], one)
    if "lint" in want:
        _, findings = stage.lint(setting.definition)
        faults += judge_lint(want["lint"], findings, [setting.tool])
    if "approvalShows" in want:
        faults += _judge_card(want["approvalShows"], one)
    if "never" in want:
        found, prose = judge_never(want["never"], [one])
        faults += found
        told.prose += [p for p in prose if p not in told.prose]
    return faults


def _judge_card(want: Json, one: Observed) -> list[str]:
    """The arguments stand on the card, each in a line of its own with its value."""
    card, asked, _ = one.shown.partition("go ahead")
    if not asked:
        return [f"expected an approval on the terminal, seen {one.shown[-300:]!r}"]
    faults: list[str] = []
    for name, value in want.items():
        text = value if isinstance(value, str) else json.dumps(value)
        lines = [line for line in card.splitlines() if line.strip().startswith(name)]
        if not any(line.strip().removeprefix(name).strip() == text for line in lines):
            faults.append(f"expected {name} = {text} on the card, seen {lines or card!r:.400}")
    return faults


def _setting(given: dict[str, Json]) -> Setting:
    """A run's input as one call."""
    args = given.get("args", {})
    tools = list(given.get("tools", []))
    if "tool" in given:
        tools.append(given["tool"])
    if "target" in given:
        if given.get("dialect", "reference") != "reference":
            raise UnknownShapeError(f"dialect {given['dialect']!r}")
        tools.append(target_tool(given["target"], args, given.get("pins")))
    if not tools:
        raise UnknownShapeError("no tool, tools or target")
    app = dict(given.get("app") or {"name": "Acme", "auth": {"type": "none"}})
    app.pop("toolsUrl", None)
    definition, token = definition_of(app, tools)
    if any("target" in tool for tool in tools if isinstance(tool, dict)):
        definition.setdefault("env", {"collection": "main", "environment": "production"})
    if not own_origins(definition):
        definition["baseUrl"] = ACME
    raw = given.get("argsRawJson")
    return Setting(
        definition=definition,
        tool=given.get("call") or tools[-1]["name"],
        args=(raw if raw is not None else json.dumps(args)).encode("utf-8", "surrogatepass"),
        pins=given.get("pins") or {},
        env=given.get("env") or {},
        token=token,
        answers=given.get("upstream") or (),
        approve=_approval(given.get("approve")),
    )


def _approval(value: Json) -> bool | None:
    if value in (None, True, "approve"):
        return None
    if value in (False, "deny"):
        return False
    raise UnknownShapeError(f"approve {value!r}")


# -- lint ----------------------------------------------------------------------------------


def _lint(stage: Stage, given: Json, expect: Json, told: _Told) -> None:
    given = only(
        given,
        "surface app tools tool catalog definition raw yaml dialect target note args",
        "input",
    )
    expect = only(expect, "lint also oneOf never", "expect")
    tools = [*given.get("tools", []), *([given["tool"]] if "tool" in given else [])]
    if "target" in given:
        tools.append(target_tool(given["target"], given.get("args", {})))
    whole = next((k for k in ("catalog", "definition", "raw", "yaml") if k in given), None)
    document: Json = given[whole] if whole else None
    if whole is None:
        document, _ = definition_of(given.get("app") or {"name": "Acme", "baseUrl": ACME}, tools)
    ran, findings = stage.lint(document, "app.yaml" if isinstance(document, str) else "app.json")
    names = [str(t.get("name")) for t in tools if isinstance(t, dict)]
    wants = expect.get("oneOf", [expect])
    options = [judge_lint(w["lint"], findings, names) if "lint" in w else [] for w in wants]
    if all(options):
        told.faults += options[0]
    errors = any(finding["level"] == "error" for finding in findings)
    if ran.exit_code != (1 if errors else 0):
        told.faults.append(f"expected exit {int(errors)}, seen {ran.exit_code}: {ran.stderr[:300]}")
    if "Traceback" in ran.stderr:
        told.faults.append(f"a traceback reached the user: {ran.stderr[-300:]}")
    told.prose += [f"also {w['also']}" for w in (expect, expect.get("lint", {})) if "also" in w]
    told.prose += [f"never {phrase}" for phrase in expect.get("never", [])]
