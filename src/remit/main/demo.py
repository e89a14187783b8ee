"""``remit demo``: the sample app and every step of a call, as it happens, in a minute."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from remit.main import demo_folder, demo_server, demo_tracker
from remit.main.example import RunningExample
from remit.main.output import print_text
from remit.main.walking import Demo, Ran

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = ("--token", "ana-token")
_OBJECTS = "select count(*) from objects where scene_id = ?"
_SCENE = "select count(*) from scenes where id = ?"
_REACHED = "select count(*) from requests where method = ? and path like ?"


def run(*, check: bool) -> int:
    """Walk through every step; 0 when each had its effect in the app's database."""
    person = not check and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="remit-demo-") as folder:
        demo = _without_server(Path(folder), person=person)
        _with_server(Path(folder), demo, check=check)
        _with_folder(Path(folder), demo, check=check)
        return _with_tracker(Path(folder), demo, check=check)


def _without_server(folder: Path, *, person: bool) -> Demo:
    mine = folder / "commands"
    mine.mkdir()
    with RunningExample(mine) as example:
        demo = Demo(example=example, person=person)
        print_text(
            f"Acme Scenes, a small app with its own database, runs on {example.url}.\n"
            "Its definition, scenes.yaml, says what an agent may do there."
        )
        for step in STEPS:
            step(demo)
    return demo


def _with_server(folder: Path, demo: Demo, *, check: bool) -> None:
    mine = folder / "server"
    mine.mkdir()
    print_text("\nNow the same app, with a fresh database, behind `remit serve`.")
    demo_server.run(mine, demo, check=check)


def _with_folder(folder: Path, demo: Demo, *, check: bool) -> None:
    mine = folder / "folder"
    mine.mkdir()
    print_text("\nNow another app, written as a folder, whose tools answer in cards and pages.")
    demo_folder.run(mine, demo, check=check)


def _with_tracker(folder: Path, demo: Demo, *, check: bool) -> int:
    mine = folder / "tracker"
    mine.mkdir()
    print_text(
        "\nLast an app in a browser: its pages lend the agent tools and widgets of their own."
    )
    with demo_tracker.walked(mine, demo, check=check) as stay:
        code = _summary(demo)
        if stay and demo.person:
            stay()
    return code


def _summary(demo: Demo) -> int:
    if demo.failed:
        print_text(f"\n{len(demo.failed)} of {demo.checked} effects were not as expected:")
        print_text("\n".join(f"  {words}" for words in demo.failed))
        return 1
    print_text(
        f"\nAll {demo.checked} effects were as expected; what reached the app and what it changed "
        "was read from its own data.\n"
        "Next: look at examples/scenes/scenes.yaml, examples/bookmarks and examples/tracker, then "
        "write your own:\n"
        "  remit lint FILE · remit show FILE · remit call FILE TOOL --dry-run · remit serve\n"
        "To talk with the bookmarks in a chat:\n"
        "  remit dev examples/bookmarks --component 'api=python examples/bookmarks/serve.py'"
    )
    return 0


# -- the steps -----------------------------------------------------------------------------


def _lint(demo: Demo) -> None:
    demo.step("Check the definition", "Every mistake at once, each with its place and its mend.")
    ran = demo.remit("lint", "scenes.yaml")
    demo.holds("lint finds no error", true=ran.code == 0)
    requests = demo.example.count("select count(*) from requests")
    demo.holds("the app has not been asked anything", true=requests == 0)


def _show(demo: Demo) -> None:
    demo.step(
        "Read the remit",
        "What a reviewer approves and a user consents to. This is the short form; without --short\n"
        "   it goes on to the worst single call, who is asked, and which host receives what.",
    )
    ran = demo.remit("show", "scenes.yaml", "--short")
    demo.holds("the remit is written", true=ran.code == 0 and bool(ran.out.strip()))


def _read(demo: Demo) -> None:
    demo.step("Read", "With Ana's own token; only the mapped fields come back.")
    ran = demo.remit("call", "scenes.yaml", "list_scenes", *TOKEN, shown=_result)
    reached = demo.example.count(_REACHED + " and user_id = 'ana'", "GET", "/v1/scenes")
    demo.holds("the app's log has one GET /v1/scenes, as Ana", true=ran.code == 0 and reached == 1)


def _write(demo: Demo) -> None:
    demo.step("Write", "Checked against the schema, frozen, sent once with its own key.")
    before = demo.example.count(_OBJECTS, "scn_lobby")
    ran = demo.remit(
        *("call", "scenes.yaml", "place_object", *TOKEN),
        *("--args", '{"sceneId": "scn_lobby", "assetId": "lamp", "x": 2, "y": "-3"}'),
        shown=_result,
    )
    after = demo.example.count(_OBJECTS, "scn_lobby")
    demo.holds(f"the lobby has {after} objects, it had {before}", true=after == before + 1)
    demo.holds("“-3” given as text was taken as the number", true="Repaired /y" in ran.err)


def _wrong(demo: Demo) -> None:
    demo.step("Get it wrong", "An argument that breaks the schema goes back with pointer and rule.")
    ran = demo.remit(
        *("call", "scenes.yaml", "place_object", *TOKEN),
        *("--args", '{"sceneId": "scn_lobby", "assetId": "dragon", "x": 2, "y": 0}'),
        shown=lambda ran: ran.err.rstrip(),
    )
    dragons = demo.example.count("select count(*) from objects where kind = 'dragon'")
    demo.holds("nothing was sent", true=ran.error_code == "invalid_arguments" and dragons == 0)


def _job(demo: Demo) -> None:
    demo.step(
        "Wait for a job", "Rendering answers at once with a job; Remit asks until it is done."
    )
    ran = demo.remit(
        "call",
        "scenes.yaml",
        "render_scene",
        *TOKEN,
        "--args",
        '{"sceneId": "scn_lobby"}',
        shown=_result,
    )
    done = demo.example.count("select count(*) from jobs where status = 'done'")
    started = demo.example.count(_REACHED, "POST", "/v1/scenes/scn_lobby/renders")
    demo.holds(
        "the app started one job, and it is done", true=ran.code == 0 and done == started == 1
    )


def _deny(demo: Demo) -> None:
    demo.step(
        "Say no",
        "Deleting asks a person first. Say no: press Enter, or n and a reason.",
    )
    demo.remit_asked(
        "n Ana still needs it",
        *(
            "call",
            "scenes.yaml",
            "delete_scene",
            *TOKEN,
            "--args",
            '{"sceneId": "scn_q3_forecast"}',
        ),
    )
    sent = demo.example.count(_REACHED, "DELETE", "%scn_q3_forecast%")
    there = demo.example.count(_SCENE, "scn_q3_forecast")
    if demo.person and sent:
        demo.holds("you said yes, and the scene is gone", true=there == 0)
        return
    demo.holds(
        "the scene is still there, and no DELETE reached the app", true=there == 1 and sent == 0
    )


def _approve(demo: Demo) -> None:
    demo.step("Say yes", "The same question about the blank stage. Say yes: press y.")
    demo.remit_asked(
        "y",
        *("call", "scenes.yaml", "delete_scene", *TOKEN, "--args", '{"sceneId": "scn_blank"}'),
    )
    sent = demo.example.count(_REACHED, "DELETE", "%scn_blank%")
    there = demo.example.count(_SCENE, "scn_blank")
    if demo.person and not sent:
        demo.holds("you said no, and the scene is still there", true=there == 1)
        return
    demo.holds("the scene is gone, by exactly one DELETE", true=there == 0 and sent == 1)


def _pin(demo: Demo) -> None:
    demo.step(
        "Pin an argument", "The session fixes the scene; what the model says does not matter."
    )
    lobby, other = (demo.example.count(_OBJECTS, s) for s in ("scn_lobby", "scn_q3_forecast"))
    demo.remit(
        *("call", "scenes.yaml", "place_object", *TOKEN, "--pin", 'sceneId="scn_lobby"'),
        *("--args", '{"sceneId": "scn_q3_forecast", "assetId": "plant", "x": 0, "y": 0}'),
        shown=_result,
    )
    now = [demo.example.count(_OBJECTS, s) for s in ("scn_lobby", "scn_q3_forecast")]
    demo.holds(
        "the plant stands in the pinned lobby, not in Q3 forecast", true=now == [lobby + 1, other]
    )


def _ceiling(demo: Demo) -> None:
    demo.step(
        "Ask for too much",
        "The app now serves a greedier catalog than it was approved for (write, moderate).",
    )
    _serve(demo, "overreaching.json")
    ran = demo.remit("catalog", "scenes-modest.yaml", "--format", "text")
    dropped = all(
        name in ran.out.partition("dropped")[2] for name in ("publish_scene", "clear_workspace")
    )
    demo.holds("publish_scene and clear_workspace are dropped, with the reason", true=dropped)
    ran = demo.remit(
        "call", "scenes-modest.yaml", "clear_workspace", *TOKEN, shown=lambda ran: ran.err.rstrip()
    )
    scenes = demo.example.count("select count(*) from scenes where user_id = 'ana'")
    reached = demo.example.count("select count(*) from requests where path like '%workspace%'")
    demo.holds(
        "calling one is refused, and nothing reached the app",
        true=ran.error_code == "over_ceiling" and scenes > 0 and reached == 0,
    )


def _down(demo: Demo) -> None:
    demo.step(
        "Lose the app", "It goes down; the last good catalog serves, and says that it is old."
    )
    _serve(demo, "catalog.json")
    demo.remit(
        "catalog", "scenes.yaml", "--format", "text", shown=lambda ran: ran.out.splitlines()[0]
    )
    demo.example.stop()
    ran = demo.remit("catalog", "scenes.yaml", "--format", "text")
    demo.holds(
        "the fetched tool count_objects is still offered, marked stale",
        true="count_objects" in ran.out and "stale" in ran.out,
    )
    before = demo.example.count("select count(*) from requests")
    ran = demo.remit(
        "call", "scenes.yaml", "list_scenes", *TOKEN, shown=lambda ran: ran.err.rstrip()
    )
    after = demo.example.count("select count(*) from requests")
    demo.holds(
        "a call ends with a clear error, not a hang",
        true=ran.error_code == "upstream_unreachable" and before == after,
    )


def _guard(demo: Demo) -> None:
    demo.step("Point it inward", "An address that hands out a cloud machine's credentials.")
    ran = demo.remit("egress", "check", "http://169.254.169.254/latest/meta-data/")
    demo.holds("the guard refuses before anything is sent", true=ran.code == 1)
    text = (demo.example.folder / "scenes.yaml").read_text("utf-8")
    inward = text.replace(demo.example.url, "http://169.254.169.254")
    (demo.example.folder / "inward.yaml").write_text(inward, "utf-8")
    ran = demo.remit(
        "call", "inward.yaml", "list_scenes", *TOKEN, shown=lambda ran: ran.err.rstrip()
    )
    demo.holds(
        "so is a call to a definition that points there", true=ran.error_code == "egress_refused"
    )


STEPS: tuple[Callable[[Demo], None], ...] = (
    _lint,
    _show,
    _read,
    _write,
    _wrong,
    _job,
    _deny,
    _approve,
    _pin,
    _ceiling,
    _down,
    _guard,
)


def _serve(demo: Demo, catalog: str) -> None:
    """Let the app serve another catalog."""
    if isinstance(demo.example, RunningExample):
        demo.example.serve(catalog)


def _result(ran: Ran) -> str:
    """The result, with what was said about the call before it."""
    result = ran.answer.get("result")
    said = f"{ran.err.rstrip()}\n" if ran.err.strip() else ""
    if result is None:
        return said + ran.out.rstrip()
    return f"{said}result of the printed JSON: {json.dumps(result, ensure_ascii=False)}"
