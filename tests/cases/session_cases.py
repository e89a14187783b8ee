"""Cases of the surfaces session and events: a script, walked at a real server over HTTP alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remit.testing import Call, Turn
from tests.cases import session_judges
from tests.cases.talk import Talk
from tests.cases.verdicts import Json, UnknownShapeError, only

_INPUT_KEYS = "surface app tools tool script upstream note"
_STEPS = "user model human expect server browser note"
_STATUSES = r"\b(idle|running|waiting_human|waiting_client|closed)\b"
_COUNTS = {"no": 0, "one": 1, "two": 2, "three": 3}
_START = "Go on."


@dataclass
class Walk:
    """A script as it is walked.

    Attributes:
        shown: the inputs as they were seen last.
        faults: what was expected, and seen; prose: what no machine judged.
    """

    talk: Talk
    calls: Sequence[Call]
    shown: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    faults: list[str] = field(default_factory=list[str])
    prose: list[str] = field(default_factory=list[str])

    def step(self, kind: str, words: str) -> None:
        """Do one step."""
        if kind == "user":
            self.talk.say(words)
        elif kind != "model":
            self.talk.rests()
            self._keep_what_is_shown()
            _DO[kind](self, words)

    def _keep_what_is_shown(self) -> None:
        if not self.shown:
            self.shown = self.talk.inputs

    def input_of(self, words: str) -> str:
        """The id of the input that a step means.

        Raises:
            UnknownShapeError: there is none.
        """
        wanted = re.search(r"\bc\d+\b", words)
        if wanted:
            announced = self.talk.data_of("tool_call")
            mine = dict(zip([c.id for c in self.calls], announced, strict=False)).get(wanted[0])
            ids = [one["id"] for one in self.shown if mine and one["callId"] == mine["callId"]]
        else:
            ids = [self.talk.given[-1].input_id] if "again" in words else []
            ids = ids or [one["id"] for one in self.shown]
        if not ids:
            raise UnknownShapeError(f"no input for {words!r}")
        return str(ids[0])


def session_case(given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """Walk the script of a case; its faults, and the conditions that no machine judged.

    Raises:
        UnknownShapeError: a key or a step that is not known here.
    """
    given = only(given, _INPUT_KEYS, "input")
    walk = walked(given)
    faults, prose = session_judges.judge(
        walk.seen, expect, again=lambda: walked(_without_reasons(given)).seen
    )
    return walk.faults + faults, walk.prose + prose


def later(given: Json) -> str | None:
    """Why a case of these surfaces cannot be walked yet."""
    return None if "script" in given or "runs" in given else "has no script that a reader walks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """A script that was walked, and all that was seen of it."""

    seen: session_judges.Seen
    faults: list[str]
    prose: list[str]


def walked(given: dict[str, Json]) -> Walked:
    """Walk a script from its first step to rest."""
    steps = [only(step, _STEPS, "a step") for step in given["script"]]
    tools = [*given.get("tools", []), *([given["tool"]] if "tool" in given else [])]
    turns = [_turn(step["model"], tools) for step in steps if "model" in step]
    calls = [call for turn in turns for call in turn.calls]
    with Talk(
        app=given.get("app") or {"name": "Acme"},
        tools=tools,
        turns=turns,
        upstream_answers=given.get("upstream") or (),
    ) as talk:
        walk = Walk(talk=talk, calls=calls)
        if "user" not in steps[0]:
            talk.say(_START)
        for step in steps:
            for kind, words in step.items():
                walk.step(kind, words)
        talk.rests()
        seen = session_judges.Seen.of(talk, calls)
    return Walked(seen=seen, faults=walk.faults, prose=walk.prose)


def _turn(said: Json, tools: Sequence[Json]) -> Turn:
    if isinstance(said, str):
        return Turn(text=said)
    mapped = {tool["name"] for tool in tools if "endpoint" in tool}
    calls = tuple(
        Call(
            id=call.get("id"),
            name=f"integration_{call['call']}" if call["call"] in mapped else call["call"],
            args=call.get("argsRawJson", call.get("args", {})),
        )
        for call in (only(one, "call id args argsRawJson", "a call") for one in said)
    )
    return Turn(calls=calls)


def _without_reasons(given: dict[str, Json]) -> dict[str, Json]:
    """The same case, in which nobody says why."""
    script = [
        {k: re.sub(r",? with(?: the)? (?:reason|note) '.*?'", "", v) if k == "human" else v}
        for step in given["script"]
        for k, v in step.items()
    ]
    return {**given, "script": script}


# -- steps in words ----------------------------------------------------------------------------


def _human(walk: Walk, words: str) -> None:
    note = re.search(r"(?:reason|note) '(.*?)'", words)
    plain = words if note is None else words.replace(note[0], "")
    decisions = re.findall(r"\b(approve|deny)\b", plain.replace("reject", "deny"))
    if not decisions:
        raise UnknownShapeError(f"human {words!r}")
    at_once = "at once" in words
    for answers in [decisions] if at_once else [[one] for one in decisions]:
        walk.talk.answer(walk.input_of(words), answers, "" if note is None else note[1])


def _expect(walk: Walk, words: str) -> None:
    session = walk.talk.read()
    left = words
    if status := re.search(_STATUSES, words):
        left = left.replace(status[0], "")
        if session["status"] != status[0]:
            walk.faults.append(f"expected {status[0]}, seen {session['status']}")
    if event := re.search(r"(\w+) human_input_needed with tool (\w+) and args \{(.*?)\}", words):
        left = left.replace(event[0], "")
        _judge_event(walk, event)
    for name, key in (("inputId", "id"), ("args", "args")):
        if re.search(rf"same {name}\b", words):
            left = re.sub(rf"same {name}\b", "", left)
            before, now = ([one[key] for one in some] for some in (walk.shown, session["inputs"]))
            if before != now or not now:
                walk.faults.append(f"expected the same {name} {before}, seen {now}")
    walk.shown = session["inputs"] or walk.shown
    left = re.sub(r"\b(state|still)\b|[;,. ]", "", left)
    if left:
        walk.prose.append(f"expect {words}")


def _judge_event(walk: Walk, wanted: re.Match[str]) -> None:
    needed = walk.talk.data_of("human_input_needed")
    count = _COUNTS.get(wanted[1])
    args = dict(re.findall(r"(\w+): *([^,]+)", wanted[3]))
    if count is not None and len(needed) != count:
        walk.faults.append(f"expected {count} human_input_needed, seen {len(needed)}")
    for one in needed:
        seen = {name: str(value) for name, value in one["args"].items()}
        if one["tool"] != wanted[2] or seen != args:
            walk.faults.append(f"expected {wanted[2]} {args}, seen {one['tool']} {seen}")


def _server(walk: Walk, words: str) -> None:
    if not re.search(r"kill|restart|start", words):
        raise UnknownShapeError(f"server {words!r}")
    before = walk.talk.events()
    walk.talk.kill()
    after = walk.talk.events()
    if after[: len(before)] != before:
        walk.faults.append("the log after the restart is not the one before")


def _browser(walk: Walk, words: str) -> None:
    found = re.search(r"Last-Event-ID:? (\d+)", words)
    if found:
        seen = [int(one["id"]) for one in walk.talk.streamed(int(found[1]))]
        head = walk.talk.read()["headSeq"]
        if seen != list(range(int(found[1]) + 1, head + 1)):
            walk.faults.append(f"expected events {int(found[1]) + 1} to {head}, seen {seen}")
    elif re.search(r"reload|read|open", words):
        streamed = [one["data"] for one in walk.talk.reload()]
        if streamed != walk.talk.events():
            walk.faults.append("the stream and the pages of the log are not the same")
    else:
        raise UnknownShapeError(f"browser {words!r}")


def _note(walk: Walk, words: str) -> None:
    del walk, words


_DO: dict[str, Callable[[Walk, str], None]] = {
    "human": _human,
    "expect": _expect,
    "server": _server,
    "browser": _browser,
    "note": _note,
}
