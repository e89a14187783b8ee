"""What the event stream carries: texts that can do nothing to it, and no credential (section 9)."""

from __future__ import annotations

import json

from remit.testing import Call, Turn
from tests.cases.talk import Talk
from tests.cases.verdicts import Json, UnknownShapeError

#: An app that says the credential back in every way it has.
_ECHO: Json = {
    "name": "scrap_ship",
    "description": "Scraps a ship for good. Use only in tests.",
    "category": "action",
    "dangerLevel": "destructive",
    "parameters": {"type": "object", "properties": {"ship": {"type": "string"}}},
    "endpoint": {"method": "POST", "path": "/ships/{{args.ship}}/scrap"},
}
_KNOWN = {"events_parsed_by_client", "note"}


def forged_case(text: str, expect: Json) -> list[str]:
    """A user and a model say the text; a browser's reader finds each event once, and no other.

    Raises:
        UnknownShapeError: something else is expected.
    """
    if not set(expect) <= _KNOWN:
        raise UnknownShapeError(f"expect {sorted(expect)}")
    with Talk(app={"name": "Acme"}, tools=(), turns=[Turn(text=text)]) as talk:
        talk.say(text)
        talk.rests()
        streamed = talk.streamed()
        logged = talk.events()
    faults: list[str] = []
    for role in ("user", "assistant"):
        found = [
            one
            for one in streamed
            if one["event"] == "message" and one["data"]["data"]["role"] == role
        ]
        texts = [one["data"]["data"]["text"] for one in found]
        if len(found) != expect["events_parsed_by_client"] or texts != [text] * len(found):
            faults.append(f"expected one message of the {role} with the text, seen {texts}")
    if [one["data"] for one in streamed] != logged:
        faults.append("the stream holds other events than the log")
    if wrong := [
        one
        for one in streamed
        if one["id"] != str(one["data"]["seq"]) or one["event"] != one["data"]["type"]
    ]:
        faults.append(f"id or event are not those of the data: {wrong[:2]}")
    return faults


def secret_case(canary: str) -> list[str]:
    """A call with a credential, by an app that says it back: who reads along never sees it."""
    echoed = {"token": canary, canary: 1, "message": f"no such token {canary}"}
    calls = tuple(Call(name="integration_scrap_ship", args={"ship": name}) for name in ("a", "b"))
    with Talk(
        app={"name": "Acme", "auth": {"type": "bearer", "credential": canary}},
        tools=[_ECHO],
        turns=[Turn(calls=calls), Turn(text="Done.")],
        upstream_answers=[{"status": 200, "body": echoed}, {"status": 400, "body": echoed}],
    ) as talk:
        talk.say("Scrap both.")
        talk.rests()
        texts = {"the session as it waits": json.dumps(talk.read())}
        for one in talk.inputs:
            talk.answer(one["id"], ["approve"])
        talk.rests()
        texts |= {
            "the log": json.dumps(talk.events()),
            "the stream": json.dumps(talk.streamed()),
            "the audit": json.dumps(talk.ok("GET", "/v1/audit")),
            "the call records": json.dumps(talk.ok("GET", "/v1/calls")),
            "the model's context": json.dumps([dict(one.body) for one in talk.asked]),
            "stderr": talk.said,
        }
        seen = [request.header("authorization") for request in talk.requests]
    faults = [f"{where} has the credential" for where, text in texts.items() if canary in text]
    if seen != [f"Bearer {canary}"] * 2:
        faults.append(f"expected two calls with the credential, seen {len(seen)}")
    return faults
