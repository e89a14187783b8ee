"""Security cases of the class approval: steps in words, walked at a server."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence

import httpx

from tests.cases.served import CANARY, Served, said, serve
from tests.cases.stream_cases import secret_case
from tests.cases.verdicts import Json, UnknownShapeError, only
from tests.gateway.fakes import answer

_Act = Callable[[Served], Awaitable[list[str]]]
_EXPECT = (
    "executed times executed_times executed_times_at_most final_state second_status_one_of "
    "status status_one_of card never_contains log_lines note"
)
_ASKED = re.compile(r"model asks \w+\(\w+=(?P<value>.*)\)", re.DOTALL)
# What a step speaks of that a later issue brings.
_LATER: Sequence[tuple[str, str]] = (
    (r"\bdevice\b|\bD1\b|\bD2\b|computerId", "needs sessions: action cards and their devices"),
    (r"upstream card|url target", "needs sessions: action cards"),
    (r"\d+ .*calls in a minute", "needs sessions: cards a minute are counted in one"),
    (r"button|press", "needs sessions: action cards"),
    (r"remember", "needs sessions: an answer is remembered for one"),
    (r"console|iframe|frame", "needs the console"),
)


def later(given: Json) -> str | None:
    """Why the steps cannot be walked yet."""
    steps = " ; ".join(given.get("steps", [])) if isinstance(given, dict) else ""
    return next((reason for words, reason in _LATER if re.search(words, steps)), None)


def approval_case(given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """Steps in; faults and what was not judged out."""
    given = only(given, "steps note", "input")
    expect = only(expect, _EXPECT, "expect")
    steps: list[str] = given["steps"]
    words = " ; ".join(steps).lower()
    if "cannot" in expect or not steps:
        raise UnknownShapeError(f"steps {steps}")
    if "credential" in words and "are read" in words:
        return [*serve(_secret(expect), *_LEAKING), *secret_case(CANARY)], []
    for pattern, act in _ACTS:
        if re.search(pattern, words):
            return serve(act(steps, expect)), _UNJUDGED.get(act.__name__, [])
    raise UnknownShapeError(f"steps {steps}")


def _asked(steps: Sequence[str]) -> dict[str, Json]:
    """The arguments that the model's call is made with."""
    found = next((match for step in steps if (match := _ASKED.match(step))), None)
    if found is None:
        return {"name": "1", "amount": 1}
    text = found["value"].strip()
    if not text.startswith("'"):
        return {"name": text, "amount": int(text) if text.isdigit() else 1}
    # The cases write escapes out, since a file shows them better so.
    body = text.strip("'").encode().decode("unicode_escape")
    return {"name": body, "amount": 1}


def _judge(expect: Mapping[str, Json], served: Served, response: httpx.Response) -> list[str]:
    """The status of the decisive answer, and how often the app was asked to do it."""
    faults: list[str] = []
    statuses = [expect["status"]] if "status" in expect else expect.get("status_one_of", [])
    if statuses and response.status_code not in statuses:
        faults.append(f"expected {statuses}, seen {said(response)}")
    return faults + _executed(expect, served)


def _executed(expect: Mapping[str, Json], served: Served) -> list[str]:
    faults: list[str] = []
    times = len(served.writes)
    faults += [
        f"expected {expect[key]} requests, seen {served.sent}"
        for key in ("times", "executed_times")
        if key in expect and times != expect[key]
    ]
    if times > expect.get("executed_times_at_most", times):
        faults.append(f"expected {expect['executed_times_at_most']} at most, seen {served.sent}")
    if expect.get("executed") == "nothing" and times:
        faults.append(f"expected no request, seen {served.sent}")
    return faults


def _approved(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """Asked, shown, approved: what was shown is what is done, once."""

    async def act(served: Served) -> list[str]:
        args = _asked(steps)
        card = await served.waiting(args)
        before = list(served.writes)
        pressed = await served.press(card)
        await served.settled()
        faults = [] if pressed.status_code == 200 else [f"not approved: {said(pressed)}"]
        faults += [f"sent before the answer: {before}"] if before else []
        if card["args"] != args:
            faults.append(f"the card shows {card['args']}, expected {args}")
        shown = expect.get("executed")
        if isinstance(shown, dict):
            args |= {"amount": next(iter(shown.values()))}
        bodies = [json.loads(r.body) for r in served.api.stage.egress.sent if r.method == "POST"]
        if shown != "nothing" and bodies != [args]:
            faults.append(f"expected {args} executed, seen {bodies}")
        return faults + _executed(expect, served)

    return act


def _changed(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """Somebody who can write to the store changes the call, or the card, behind the person."""

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        for table, columns, old, new in _CHANGES:
            card = await served.waiting({"name": "1", "amount": 1})
            row = card["callId"] if table == "call" else card["id"]
            for column in columns:
                sql = f'UPDATE "{table}" SET {column} = replace({column}, ?, ?) WHERE id = ?'  # noqa: S608 -- our own names
                read = f'SELECT {column} FROM "{table}" WHERE id = ?'  # noqa: S608 -- our own names
                before = served.rows(read, row)
                served.rows(sql, old, new, row)
                if served.rows(read, row) == before:
                    raise AssertionError(f"{table}.{column} has no {old}")
            pressed = await served.press(card)
            await served.settled()
            requests = served.api.stage.egress.sent
            sent = [f"{r.url} {r.body}" for r in requests if r.method == "POST"]
            # What is only told of the call, or shown of it, decides nothing: then what was
            # approved may be sent, and never what was put in its place.
            nothing = "private" in columns and expect.get("executed") == "nothing"
            if (sent and nothing) or any(new in one for one in sent):
                faults.append(f"{table}.{columns} with {new}: sent {sent}, {said(pressed)}")
            requests.clear()
        return faults

    return act


# What somebody changes who can write to the store: table, columns, what stands there, what then.
_CHANGES = (
    ("call", ("private",), '"amount":1', '"amount":2'),
    ("call", ("private", "record_json"), '"amount":1', '"amount":2'),
    ("call", ("private", "record_json"), "/orders", "/others"),
    ("call", ("private",), '"method":"POST"', '"method":"PUT"'),
    ("call", ("record_json",), '"amount":1', '"amount":2'),
    ("input", ("body_json",), '"amount":1', '"amount":2'),
)


def _shown(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """What people read on the card has no control and no bidi character."""

    async def act(served: Served) -> list[str]:
        args = {"name": f"{_asked(steps)['name']}\u202e\u0007\u200bx", "amount": 1}
        card = await served.waiting(args)
        read = [card["title"], *(part["text"] for part in card["titleParts"])]
        read += [text for row in card["arguments"] for text in row.values()]
        hidden = [c for text in read for c in text if unicodedata.category(c) in ("Cc", "Cf")]
        faults = [f"not made visible: {hidden} in {read}"] if hidden else []
        # Shown, not left out: the reader sees that something is there.
        if not any("202E" in text.upper() for text in read):
            faults.append(f"U+202E is not named in {read}")
        return faults if "visible" in expect.get("card", "visible") else [f"expected {expect}"]

    return act


def _raced(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """Two answers at one instant, several times over, in both orders."""

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        second = "deny" if re.search(r"reject|deny", " ".join(steps)) else "approve"
        most = expect.get("executed_times_at_most", 1)
        for turn in range(6):
            card = await served.waiting({"name": f"n{turn}", "amount": 1})
            before = len(served.writes)
            order = ("approve", second) if turn % 2 else (second, "approve")
            answers = await asyncio.gather(*(served.press(card, one) for one in order))
            await served.settled()
            state = (await served.api.get(f"/v1/inputs/{card['id']}")).json()["status"]
            done = len(served.writes) - before
            told = {"approved": "approved", "denied": "rejected"}.get(state, "")
            named = re.split(r"[ ,]+", str(expect.get("final_state", state)))
            allowed = state in named or told in named
            if done > most or done != (state == "approved") or not (told and allowed):
                faults.append(f"{state}, {done} sent, {[said(one) for one in answers]}")
        return faults

    return act


def _repeated(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """One idempotency key with two bodies."""

    async def act(served: Served) -> list[str]:
        card = await served.waiting(_asked(steps))
        headers = {"idempotency-key": "K"}
        first = await served.press(card, headers=headers)
        second = await served.press(card, "deny", headers=headers)
        await served.settled()
        faults = [] if first.status_code == 200 else [f"the first: {said(first)}"]
        if second.status_code not in expect["second_status_one_of"]:
            faults.append(f"expected {expect['second_status_one_of']}, seen {said(second)}")
        if second.json().get("code") != "idempotency_key_reused" and "body" not in second.text:
            faults.append(f"not refused for its body: {said(second)}")
        return faults + ([] if len(served.writes) == 1 else [f"sent {served.sent}"])

    return act


def _foreign(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """Another tenant's key; the refusal is that of an input that never was."""

    async def act(served: Served) -> list[str]:
        card = await served.waiting(_asked(steps))
        pressed = await served.press(card, who="other")
        none = await served.press({**card, "id": "in_none"}, who="other")
        await served.settled()
        faults = _judge(expect, served, pressed)
        if pressed.json()["detail"].replace(card["id"], "in_none") != none.json()["detail"]:
            faults.append(f"tells more than {said(none)}: {said(pressed)}")
        return faults + await _still_open(served, card)

    return act


def _other_session(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """A session in the path that is not the input's, by both routes that name one."""

    async def act(served: Served) -> list[str]:
        api = served.api
        ours, theirs = await api.session("tab"), await api.session("other tab")
        of_theirs = (await api.get(f"/v1/inputs/{await api.waiting(theirs)}")).json()
        faults: list[str] = []
        # One that is of no session, and one that is of another one.
        for card in (await served.waiting(_asked(steps)), of_theirs):
            body = {"decision": "approve", "digest": card["digest"]}
            path = f"/v1/sessions/{ours}/human-input/{card['id']}"
            named = {**body, "threadId": ours, "inputId": card["id"]}
            for who in ("operator", "tab"):
                for place, sent in ((path, body), ("/chat/resume", named), (path, body)):
                    faults += _judge(expect, served, await api.post(place, sent, who=who))
                    await served.settled()
            faults += await _still_open(served, card)
        return faults

    return act


def _cross_site(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """A page elsewhere posts what a form can: no key of ours, or with one, is of use to it."""

    async def act(served: Served) -> list[str]:
        card = await served.waiting(_asked(steps))
        path = f"/v1/inputs/{card['id']}/answer"
        content = json.dumps({"decision": "approve", "digest": card["digest"]}).encode()
        faults: list[str] = []
        for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = {"content-type": media, "origin": "https://evil.test", "cookie": "remit=1"}
            pressed = await served.api.post(path, content=content, headers=headers)
            await served.settled()
            faults += _judge(expect, served, pressed)
            if "access-control-allow-origin" in pressed.headers:
                faults.append(f"its answer may be read: {dict(pressed.headers)}")
        bare = await served.api.post(
            path, json.loads(content), who=None, headers={"cookie": "remit=1"}
        )
        if bare.status_code != 401:
            faults.append(f"a cookie alone: {said(bare)}")
        return faults + await _still_open(served, card)

    return act


def _got(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """A GET changes nothing."""

    async def act(served: Served) -> list[str]:
        card = await served.waiting(_asked(steps))
        faults: list[str] = []
        for path in (f"/v1/inputs/{card['id']}/answer", f"/v1/sessions/s/human-input/{card['id']}"):
            got = await served.api.get(f"{path}?decision=approve&digest={card['digest']}")
            faults += _judge(expect, served, got)
        return faults + await _still_open(served, card)

    return act


def _logged(steps: Sequence[str], expect: Mapping[str, Json]) -> _Act:
    """A line break in an argument makes no second line: not in logs, exports or records."""

    async def act(served: Served) -> list[str]:
        args = _asked(steps)
        card = await served.waiting(args)
        await served.press(card)
        await served.settled()
        return await judge_lines(served, str(args["name"]), expect["log_lines"])

    return act


async def judge_lines(served: Served, text: str, count: int) -> list[str]:
    """One text from outside is so many records, and no line of anything begins in its midst."""
    tail = text.split("\n")[-1]
    faults: list[str] = []
    listed = (await served.api.get("/v1/calls")).json()["items"]
    if len(listed) != count:
        faults.append(f"expected {count} records, seen {len(listed)}")
    headers = {"accept": "application/x-ndjson"}
    exported = await served.api.get("/v1/audit", headers=headers)
    texts = [exported.text, *served.records.lines]
    lines = [line for text in texts for line in text.splitlines()]
    starts = [line for line in lines if line.lstrip().startswith(tail)]
    faults += [f"a line of its own: {line!r}" for line in starts]
    for line in filter(None, exported.text.splitlines()):
        json.loads(line)
    return faults if exported.status_code == 200 else [*faults, said(exported)]


async def _still_open(served: Served, card: Mapping[str, Json]) -> list[str]:
    state = (await served.api.get(f"/v1/inputs/{card['id']}")).json()["status"]
    faults = [] if state == "open" else [f"the input is {state}"]
    return faults + ([f"sent {served.writes}"] if served.writes else [])


# An app that echoes the credential wherever it can.
_LEAKING = (
    answer({"total": f"Bearer {CANARY}"}),
    answer({"id": CANARY, "error": {"message": f"no such token {CANARY}"}}, 400, x_echo=CANARY),
)


def _secret(expect: Mapping[str, Json]) -> _Act:
    async def act(served: Served) -> list[str]:
        if expect.get("never_contains") != "canary-token":
            raise UnknownShapeError(f"expect {expect}")
        api = served.api
        card = await served.waiting({"name": "7", "amount": 1})
        await served.press(card)
        await served.settled()
        call = f"/v1/calls/{card['callId']}"
        paths = ("/v1/inputs", call, "/v1/calls", "/v1/audit", "/v1/connections", "/v1/apps/acme")
        texts = {path: (await api.get(path)).text for path in (f"/v1/inputs/{card['id']}", *paths)}
        failed = await api.call("get_order", {"id": "7"})
        texts["the error"] = failed.text
        texts["logs"] = "\n".join(served.records.lines)
        texts["the store"] = served.dump()
        faults = [f"{where} has the credential" for where, text in texts.items() if CANARY in text]
        if not any(CANARY in str(request) or CANARY in _headers(request)
                   for request in api.stage.egress.sent):  # fmt: skip
            faults.append("the app itself never saw the credential")
        return faults

    return act


def _headers(request: Json) -> str:
    return " ".join(f"{name}: {getattr(value, 'reveal', lambda v=value: v)()}"
                    for name, value in request.headers)  # fmt: skip


_ACTS: Sequence[tuple[str, Callable[[Sequence[str], Mapping[str, Json]], _Act]]] = (
    (r"stored .*row is changed|changed .*behind", _changed),
    (r"same instant|at the same time|simultaneous|twice", _raced),
    (r"idempotency.key", _repeated),
    (r"tenant b's key|tenant a's input", _foreign),
    (r"session id of a .*input id of b", _other_session),
    (r"from another site|text/plain", _cross_site),
    (r"^get on the approval endpoint", _got),
    (r"\bcard$|\bcard ;", _shown),
    (r"card shows .* human approves", _approved),
    (r"^model asks \w+\(\w+='[^;]*\)$", _logged),
)
# What each act leaves to a later issue.
_UNJUDGED: Mapping[str, list[str]] = {
    "_cross_site": ["a cookie of the console: it comes later; any cookie is worth nothing now"],
}
