"""The second part of ``remit demo``: the same app behind a server, governed and recorded.

A vendor submits, a reviewer approves less than was asked for, a user is connected, and a call
over a limit waits for a second person while the server is killed and started again.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from remit.main import demo_talk
from remit.main.demo_model import Speaker
from remit.main.example import RunningExample
from remit.main.output import paint, print_text
from remit.main.server_process import RunningServer
from remit.main.server_walk import APP, INPUT, TOKEN, Walk, beginning, fields, key_shown
from remit.main.walking import indented

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.main.walking import Demo
    from remit.values.json import JsonObject

_VERSION = f"/v1/apps/{APP}/versions/1"
_EVERY_CALL = "select count(*) from requests where path like '/v1/%'"
_REACHED = "select count(*) from requests where method = ? and path = ? and user_id = 'ana'"
_OBJECTS = "select count(*) from objects where scene_id = 'scn_lobby'"
_AT_THE_EDGE = f"{_OBJECTS} and x = 9"
_REASON = "Beyond 8 m a second person decides"
_POLICY: JsonObject = {
    "rules": [
        {
            "match": {"app": APP, "tool": "place_object"},
            "when": {"properties": {"x": {"exclusiveMinimum": 8}}, "required": ["x"]},
            "then": "ask",
            "by": "other",
            "reason": _REASON,
        }
    ]
}
# Who may do what: the name of a key, and its role.
_KEYS = {"vendor": "operator", "reviewer": "operator", "backend": "backend"}


def run(folder: Path, demo: Demo, *, check: bool) -> None:
    """Walk through the steps with an app and a server of their own; ``demo`` keeps the score.

    Args:
        folder: for the app, the store and what they say.
        demo: the walk so far.
        check: whether every effect has to be known: then a script plays the model.

    Raises:
        ExampleMissing, ServerGone: a process does not start, or does not answer.
    """
    with RunningExample(folder) as example, Speaker(folder, check=check) as speaker:
        demo.example = example
        with RunningServer(folder, {**demo.environment(), **speaker.settings}) as server:
            walk = Walk(demo=demo, server=server, speaker=speaker.words)
            for step in (*STEPS, *demo_talk.steps(speaker.scripted), _stop):
                step(walk)


# -- the steps -----------------------------------------------------------------------------


def _start(walk: Walk) -> None:
    demo = walk.demo
    demo.step(
        "Start the server",
        "From here on everything goes through it: reviewed, governed and recorded. The vendor and\n"
        "   the reviewer have a key each; Acme's back end has one to call for its users.",
    )
    for who, role in _KEYS.items():
        ran = demo.remit("keys", "create", "--role", role, "--name", who, shown=key_shown)
        walk.keys[who] = ran.out.strip()
    _serve(walk)
    ready = walk.server.ask("GET", "/readyz")
    demo.holds("it answers that it is ready", true=ready.status == 200)


def _submit(walk: Walk) -> None:
    demo = walk.demo
    demo.step("The vendor submits the app", "Nothing of it can be called before it is approved.")
    _speak_as(walk, "vendor")
    ran = demo.remit("apply", "scenes.yaml", shown=lambda ran: f"{ran.out}{ran.err}")
    reply = walk.call("list_scenes", {})
    demo.holds(
        "version 1 waits for a reviewer, and a call is refused",
        true=ran.code == 1 and reply.status == 403 and reply.code == "not_approved",
    )
    demo.holds("no call has reached the app", true=demo.example.count(_EVERY_CALL) == 0)


def _review(walk: Walk) -> None:
    demo = walk.demo
    demo.step(
        "The reviewer approves less than was asked for",
        "The remit says all that the app may do. It asks for actions; it gets writes.",
    )
    walk.ask("reviewer", "GET", f"{_VERSION}/remit?format=text", shown=beginning)
    remit = walk.server.ask("GET", f"{_VERSION}/remit", key=walk.keys["reviewer"]).body
    body: JsonObject = {
        "ceiling": {"category": "write", "dangerLevel": "destructive"},
        "digest": remit.get("digest"),
    }
    approved = walk.ask(
        "reviewer",
        "POST",
        f"{_VERSION}/approve",
        body,
        shown=fields("status", "ceiling", "decidedBy"),
    ).body
    demo.holds(
        "version 1 is approved under the lower ceiling, by the digest of what was read",
        true=approved.get("status") == "approved" and approved.get("ceiling") == body["ceiling"],
    )


def _connect(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Ana agrees and is connected", "Her token is sealed; nobody can read it back.")
    grant: JsonObject = {"app": APP, "user": "ana", "version": 1}
    walk.ask("backend", "POST", "/v1/grants", grant, shown=fields("id", "user", "version"))
    refused = walk.call("list_scenes", {})
    demo.holds(
        "before she is connected a call is refused, and nothing is sent",
        true=refused.code == "not_connected" and demo.example.count(_EVERY_CALL) == 0,
    )
    credential: JsonObject = {"type": "bearer", "token": TOKEN}
    reply = walk.ask(
        "backend",
        "PUT",
        f"/v1/connections/{APP}/ana",
        credential,
        shown=fields("id", "user", "type"),
    )
    read = walk.server.ask("GET", "/v1/connections?user=ana", key=walk.keys["backend"])
    demo.holds(
        "the connection is there, and no answer holds the token",
        true=read.status == 200 and '"ana"' in read.text and TOKEN not in reply.text + read.text,
    )


def _use(walk: Walk) -> None:
    demo = walk.demo
    demo.step(
        "Calls through the Tools API",
        "One reads. One writes, and comes twice with one Idempotency-Key, as after a lost answer.",
    )
    read = walk.call("list_scenes", {})
    reached = demo.example.count(_REACHED, "GET", "/v1/scenes")
    demo.holds(
        "the app's log has one GET /v1/scenes, as Ana", true=read.status == 200 and reached == 1
    )
    before = demo.example.count(_OBJECTS)
    for _ in range(2):
        walk.call("place_object", _lamp(x=2), once="demo-1")
    after = demo.example.count(_OBJECTS)
    demo.holds(f"the lobby has {after} objects, it had {before}", true=after == before + 1)


def _over_ceiling(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Ask for more than was approved", "Rendering is an action, and the ceiling is write.")
    reply = walk.call("render_scene", {"sceneId": "scn_lobby"})
    jobs = demo.example.count("select count(*) from jobs")
    demo.holds(
        "it is refused, and the app has no job",
        true=reply.status == 403 and reply.code == "over_ceiling" and jobs == 0,
    )


def _own_answer(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Ask Ana herself", "Deleting waits for the person whom it concerns.")
    waiting = walk.call("delete_scene", {"sceneId": "scn_blank"})
    there = demo.example.count("select count(*) from scenes where id = 'scn_blank'")
    demo.holds("the call waits, and the scene is there", true=waiting.status == 202 and there == 1)
    walk.answer("ana", waiting.body)
    record = walk.ended(waiting.body.get("callId"))
    there = demo.example.count("select count(*) from scenes where id = 'scn_blank'")
    sent = demo.example.count(_REACHED, "DELETE", "/v1/scenes/scn_blank")
    demo.holds(
        "Ana approves; the scene is gone, by exactly one DELETE",
        true=record.get("outcome") == "ok" and there == 0 and sent == 1,
    )


def _policy(walk: Walk) -> None:
    demo = walk.demo
    demo.step(
        "Set a limit",
        "A policy is data. Up to 8 m an agent places objects alone; beyond, a second person "
        "decides,\n   as for a refund over a limit.",
    )
    etag = walk.server.ask("GET", "/v1/policy", key=walk.keys["reviewer"]).etag
    put = walk.ask(
        "reviewer", "PUT", "/v1/policy", _POLICY, headers={"If-Match": etag}, shown=fields("number")
    )
    sent = _sent(demo)
    reply = walk.call("place_object", _lamp(x=9))
    walk.waiting = reply.body
    demo.holds(
        "the call over the limit waits, and nothing was sent",
        true=put.status == 200
        and reply.status == 202
        and reply.body.get("outcome") == "waiting_human"
        and _sent(demo) == sent,
    )
    refused = walk.answer("ana", walk.waiting)
    demo.holds(
        "Ana cannot approve her own", true=refused.status == 403 and refused.code == "forbidden"
    )


def _kill(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Kill the server while the call waits", "SIGKILL: it has no time to tidy up.")
    print_text(f"   {paint('$ kill -9 <the server>', 'cyan', sys.stdout)}\n")
    code = walk.server.kill()
    _serve(walk)
    path = f"/v1/inputs/{walk.waiting.get('inputId')}"
    reply = walk.ask("backend", "GET", path, shown=INPUT)
    demo.holds(
        "after the start the call waits as before, and nothing was sent",
        true=code == -signal.SIGKILL
        and reply.body.get("status") == "open"
        and _at_the_edge(demo) == 0,
    )


def _second(walk: Walk) -> None:
    demo = walk.demo
    demo.step("A second person approves", "Ben looks at it, and his yes holds for that request.")
    before, sent = demo.example.count(_OBJECTS), _sent(demo)
    walk.answer("ben", walk.waiting)
    record = walk.ended(walk.waiting.get("callId"))
    after = demo.example.count(_OBJECTS)
    demo.holds(
        "the lamp stands at x = 9, placed by exactly one POST, as Ana",
        true=record.get("outcome") == "ok"
        and after == before + 1
        and _at_the_edge(demo) == 1
        and _sent(demo) == sent + 1,
    )


def _why(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Ask why it happened", "One page, for somebody who was not there.")
    _speak_as(walk, "reviewer")
    ran = demo.remit("why", str(walk.waiting.get("callId")))
    told = ("user:ben", _REASON, "(ok)", "POST ")
    demo.holds(
        "it names the rule, who answered, what was sent and how it ended",
        true=ran.code == 0 and all(words in ran.out for words in told),
    )
    kept = b"".join(file.read_bytes() for file in demo.example.folder.glob("remit.db*"))
    demo.holds(
        "in all the files of the store Ana's token is nowhere to be read",
        true=b"place_object" in kept and TOKEN.encode() not in kept,
    )


def _stop(walk: Walk) -> None:
    demo = walk.demo
    demo.step("Stop the server", "SIGTERM: what is under way runs to its end.")
    stopped = walk.server.stop()
    demo.holds("the server stops when it is asked to, with nothing cut off", true=stopped == 0)


STEPS: tuple[Callable[[Walk], None], ...] = (
    _start,
    _submit,
    _review,
    _connect,
    _use,
    _over_ceiling,
    _own_answer,
    _policy,
    _kill,
    _second,
    _why,
)


def _serve(walk: Walk) -> None:
    print_text(f"   {paint('$ remit serve', 'cyan', sys.stdout)}")
    line = walk.server.start()
    print_text(indented("\n".join(filter(None, (walk.server.said, line)))) + "\n")


def _speak_as(walk: Walk, who: str) -> None:
    walk.demo.settings |= {"REMIT_SERVER_URL": walk.server.url, "REMIT_KEY": walk.keys[who]}


def _lamp(*, x: int) -> JsonObject:
    return {"sceneId": "scn_lobby", "assetId": "lamp", "x": x, "y": 0}


def _sent(demo: Demo) -> int:
    return demo.example.count(_REACHED, "POST", "/v1/scenes/scn_lobby/objects")


def _at_the_edge(demo: Demo) -> int:
    return demo.example.count(_AT_THE_EDGE)
