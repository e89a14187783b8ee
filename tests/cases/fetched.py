"""Cases of the surface ``catalog``: what is offered after a fetch that went well or badly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.cases.judges import judge_lint
from tests.cases.stage import ACME, Stage, definition_of, read_json
from tests.cases.upstream import Answer, Upstream, answer_of
from tests.cases.verdicts import Json, UnknownShapeError, only

_JSON = (("content-type", "application/json"),)
# "not delayed beyond a few seconds".
_FEW_SECONDS = 6.0
_BLANK = {
    "description": "Test tool. Use only in tests.",
    "category": "read",
    "dangerLevel": "safe",
    "parameters": {"type": "object", "properties": {}, "required": []},
}


class Fetched(NamedTuple):
    """What came of a fetch.

    Attributes:
        said: the words for people.
        targets: what ``toolsUrl``'s server was asked for.
    """

    printed: dict[str, Json]
    seconds: float
    said: str
    targets: tuple[str, ...]


def judge(stage: Stage, given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """The faults, and the conditions in prose."""
    given = only(given, "surface app tools tool lastGood runs note upstream", "input")
    expect = only(expect, "runs offered dropped lint also never oneOf", "expect")
    prose = [f"also {expect['also']}"] if "also" in expect else []
    prose += [f"never {phrase}" for phrase in expect.get("never", [])]
    if "oneOf" in expect:
        options = [_one_catalog(stage, given, option) for option in expect["oneOf"]]
        return (options[0] if all(options) else []), prose
    if "runs" in given:
        wanted = expect.get("runs", [])
        if len(wanted) != len(given["runs"]):
            raise UnknownShapeError(f"{len(given['runs'])} runs, {len(wanted)} expectations")
        faults: list[str] = []
        for run, want in zip(given["runs"], wanted, strict=True):
            faults += [f"{run!r}: {fault}" for fault in _degraded(stage, given, run, want)]
        return faults, prose
    return _one_catalog(stage, given, expect), prose


# -- a catalog as it is fetched ------------------------------------------------------------


def _one_catalog(stage: Stage, given: Json, expect: Json) -> list[str]:
    """The tools served from ``toolsUrl``; what is offered, dropped and said of the static form."""
    tools = [*given.get("tools", []), *([given["tool"]] if "tool" in given else [])]
    app = given.get("app") or {"name": "Acme", "baseUrl": ACME}
    faults: list[str] = []
    if "lint" in expect:
        document, _ = definition_of(app, tools)
        _, findings = stage.lint(document)
        names = [str(t.get("name")) for t in tools if isinstance(t, dict)]
        faults += judge_lint(expect["lint"], findings, names)
    body = json.dumps(tools).encode()
    printed, _, said, _ = effective(stage, app, [Answer(headers=_JSON, body=body)])
    if "offered" in expect and offered(printed) != sorted(expect["offered"]):
        faults.append(f"expected {expect['offered']} offered, seen {printed!r:.300} {said[:200]}")
    told = {d["name"]: d["reason"] for d in printed.get("dropped", [])}
    for name in expect.get("dropped", []):
        if not told.get(name):
            faults.append(f"expected {name} dropped with a reason, seen {told}")
    silent = [
        t["name"]
        for t in tools
        if isinstance(t, dict) and t.get("name") not in (*offered(printed), *told)
    ]
    if silent:
        faults.append(f"left out without a word: {silent}")
    return faults


def offered(printed: Json) -> list[str]:
    """Catalog names of what is offered, sorted."""
    return sorted(tool["name"] for tool in printed.get("tools", []))


def effective(
    stage: Stage,
    app: Json,
    answers: Sequence[Answer],
    *,
    static: Sequence[Json] = (),
    port: int = 0,
    closed: bool = False,
    cache: str | None = None,
) -> Fetched:
    """What ``remit catalog`` prints when ``toolsUrl`` answers so."""
    upstream = Upstream(answers=answers, port=port)
    upstream.start()
    if closed:
        upstream.stop()
    try:
        definition, _ = definition_of(app, static)
        local = re.sub(r"(?i)^https?://[^/?#]*", upstream.origin, str(definition["baseUrl"]))
        definition["baseUrl"] = local
        given = definition.get("toolsUrl") or f"{ACME}/tools.json"
        definition["toolsUrl"] = re.sub(r"(?i)^https?://[^/?#]*", upstream.origin, given)
        definition.setdefault("ceiling", {"category": "action", "dangerLevel": "destructive"})
        file = stage.file(definition, "fetched.json")
        env = {"REMIT_CACHE_DIR": cache or str(stage.folder / f"cache-{upstream.port}")}
        ran = stage.run("catalog", str(file), env=env, timeout_s=90)
    finally:
        if not closed:
            upstream.stop()
    if "Traceback" in ran.stderr:
        raise AssertionError(ran.stderr[-600:])
    printed = read_json(ran.stdout)
    record = printed if isinstance(printed, dict) else {}
    return Fetched(
        printed=record,
        seconds=ran.seconds,
        said=ran.stderr,
        targets=tuple(request.target for request in upstream.received),
    )


# -- a catalog that was good once ----------------------------------------------------------

_Maker = Callable[[re.Match[str]], Answer | None]


def _html(_: re.Match[str]) -> Answer:
    page = b"<!doctype html><title>Sign in</title>"
    return Answer(headers=(("content-type", "text/html"),), body=page)


def _large(found: re.Match[str]) -> Answer:
    count = int(found.group(1)) * (1 << 20) // 65_536
    return Answer(headers=_JSON, stream=(b"[", b" " * 65_536, count))


def _redirect(found: re.Match[str]) -> Answer:
    status = int(found.group(1))
    return Answer(status=status, headers=(("location", "http://127.0.0.2:9/tools.json"),))


def _raw(found: re.Match[str]) -> Answer:
    return Answer(headers=_JSON, body=found.group(1).encode())


_RUNS: tuple[tuple[str, _Maker], ...] = (
    (r"(?:connection )?refused|connection refused|unreachable|DNS failure", lambda _: None),
    (r"(?:HTTP )?(30[12378])(?: .*)?", _redirect),
    (r"(?:HTTP )?([45]\d\d)(?: .*)?", lambda f: Answer(status=int(f.group(1)))),
    (r"(?:HTTP )?204(?: .*)?", lambda _: Answer(status=204)),
    (r"200 with (?:an )?HTML(?: .*)?", _html),
    (r"200 with (\d+) MB(?: .*)?", _large),
    (r"200 with an empty body|200 with nothing|200 empty", lambda _: Answer(headers=_JSON)),
    (r"200 with `(.*)`", _raw),
    (r"no answer for (\d+) s|timeout|hangs?", lambda _: Answer(hang=True)),
    (r"(?:connection )?reset|accepts and resets", lambda _: Answer(reset=True)),
)


def _answer(run: str) -> Answer | None:
    """What the words of a run say; None means that nobody listens."""
    for pattern, maker in _RUNS:
        if found := re.fullmatch(pattern, run, re.IGNORECASE):
            return maker(found)
    if found := re.fullmatch(r"200 (?:with )?(\[.*\]|\{.*\}|null|\"[^\"]*\"|\d+)", run):
        return Answer(headers=_JSON, body=_catalog(found.group(1)).encode())
    raise UnknownShapeError(f"a catalog answer {run!r}")


def _catalog(text: str) -> str:
    """``[valid b, {"name": 5}]`` with ``valid b`` written out."""

    def written(found: re.Match[str]) -> str:
        name = found.group(1)
        tool = {"name": name, **_BLANK, "endpoint": {"method": "GET", "path": f"/{name}"}}
        return json.dumps(tool)

    return re.sub(r"\bvalid (\w+)", written, text)


def _degraded(stage: Stage, given: Json, run: Json, want: Json) -> list[str]:
    """The last good catalog first, then the answer that the run names, from the same address."""
    if isinstance(want, dict):
        record = only(want, "offered dropped also", "an expected catalog run")
        want = f"offered [{', '.join(record['offered'])}]" + " dropped" * bool(
            record.get("dropped")
        )
    if not isinstance(want, str) or not isinstance(run, str | dict):
        raise UnknownShapeError(f"a catalog run {run!r} -> {want!r}")
    answer = answer_of(run) if isinstance(run, dict) else _answer(run)
    good = Answer(headers=_JSON, body=json.dumps(given.get("lastGood", [])).encode())
    reserve = Upstream()
    reserve.start()
    reserve.stop()
    cache = str(stage.folder / f"last-good-{reserve.port}")
    if "lastGood" in given:
        effective(stage, given["app"], [good], port=reserve.port, cache=cache)
    printed, seconds, said, _ = effective(
        stage,
        given["app"],
        [answer or good],
        port=reserve.port,
        closed=answer is None,
        cache=cache,
    )
    seen = f"seen {offered(printed)} ({printed.get('source')}) in {seconds:.1f} s; {said[:200]}"
    options = re.findall(r"offered \[([^\]]*)\]([^\[]*)", want)
    if not options:
        raise UnknownShapeError(f"a catalog expectation {want!r}")
    for names, rest in options:
        told = not re.search("reported|dropped", rest) or bool(printed.get("dropped"))
        listed = sorted(n.strip() for n in names.split(",") if n.strip())
        if offered(printed) == listed and told:
            break
    else:
        return [f"expected {want!r}, {seen}"]
    if seconds > _FEW_SECONDS:
        return [f"expected an answer within seconds, {seen}"]
    return []
