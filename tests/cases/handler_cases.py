"""Cases of what a handler of an app answers: channels and cards, in a session and over the API.

What a case expects it says in words; those that no machine can judge here are given back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from remit.testing import Call, Turn
from tests.cases.talk import USER, Talk
from tests.cases.verdicts import Json, UnknownShapeError, only

ORIGIN = "https://app.acme.test"
TOOL = "t"
# Each origin of a case stands on a server of this machine.
_ORIGIN = re.compile(r"https?://[^/)\s]+")


def handler_case(given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """Ask the tool once for each run; faults, and the words that nobody judged.

    Raises:
        UnknownShapeError: a key that is not known here.
    """
    given = only(given, "surface dialect target runs note", "input")
    expect = only(expect, "runs never also note", "expect")
    runs, wanted = given["runs"], expect["runs"]
    if len(runs) != len(wanted):
        raise UnknownShapeError(f"{len(runs)} runs, {len(wanted)} expectations")
    faults: list[str] = []
    prose: list[str] = [str(one) for one in expect.get("never", [])]
    for number, (run, words) in enumerate(zip(runs, wanted, strict=True), 1):
        found, left = _one(given["target"], only(run, "handler context", "a run"), str(words))
        faults += [f"run {number}: {fault}" for fault in found]
        prose += left
    return faults, prose


def _one(target: Json, run: dict[str, Json], words: str) -> tuple[list[str], list[str]]:
    tool = {
        "name": TOOL,
        "description": "Test tool. Use only in tests.",
        "parameters": {"type": "object", "properties": {}},
        "target": target,
    }
    app = {
        "name": "Acme",
        "baseUrl": ORIGIN,
        "components": {target["component"]: {"url": ORIGIN}},
    }
    turns = [Turn(calls=(Call(name=TOOL, args={}),)), Turn(text="So it is.")]
    with Talk(app=app, tools=[tool], turns=turns, upstream_answers=[_answer(run)]) as talk:
        if run.get("context") == "api":
            path = f"/v1/tools/acme-app/{TOOL}/call"
            seen = talk.ok("POST", path, {"user": USER, "args": {}})
            record = talk.ok("GET", f"/v1/calls/{seen['callId']}")
            waits = "inputId" in seen
        else:
            talk.say("Go on.")
            talk.rests()
            (seen,) = talk.data_of("tool_result")
            record = talk.ok("GET", f"/v1/calls/{seen['callId']}")
            waits = bool(talk.inputs)
        return _judged(words, run["handler"], seen, record, waits=waits)


def _answer(run: dict[str, Json]) -> dict[str, Json]:
    handler = run["handler"]
    if isinstance(handler, str):
        kind, _, text = handler.partition(": ")
        return {"headers": {"content-type": kind}, "bodyRaw": text}
    return {"body": handler}


def _judged(
    words: str,
    handler: Any,  # noqa: ANN401 - JSON
    seen: dict[str, Any],
    record: dict[str, Any],
    *,
    waits: bool,
) -> tuple[list[str], list[str]]:
    faults: list[str] = []
    display = seen.get("display") or {}
    content = str(seen.get("content"))

    def hold(ok: object, what: str) -> None:
        if not ok:
            faults.append(f"{what}: {seen}")

    if reads := re.search(r"model reads (\w+)", words):
        hold(content == reads[1], f"the model reads {reads[1]}")
    if "iframe" in words and "no iframe" not in words:
        hold(display == {"embedUrl": display.get("embedUrl")}, "a frame alone is shown")
    if "no iframe" in words:
        hold("embedUrl" not in display, "no frame")
        hold("embedRefused" in record, "the record says why")
    if "raw HTML escaped" in words:
        shown = _ORIGIN.sub("…", str(display.get("markdown")))
        hold(shown == _ORIGIN.sub("…", handler["markdown"]), "the note reaches the card as it came")
    if words.startswith("error") or "domain error" in words:
        hold(seen.get("outcome") == "error", "an error")
        hold(not waits, "nothing waits for a person")
    for word in re.findall(r"error: (\w+) is required", words):
        hold(word in content, f"the error names {word}")
    known: tuple[Callable[[str], object], ...] = (
        lambda text: "model reads" in text,
        lambda text: "iframe" in text,
        lambda text: "error" in text,
    )
    return faults, [words] if not any(holds(words) for holds in known) else []
