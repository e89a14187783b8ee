"""``remit call`` against the real sample app over real HTTP."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.catalog import documents
from tests.examples.scenes_process import RunningApp
from tests.main.conftest import Remit
from tests.main.terminal import on_terminal

TOKEN = ("--token", "ana-token")
LAMP = {"sceneId": "scn_lobby", "assetId": "lamp", "x": 2, "y": -3}


def args(**values: object) -> tuple[str, str]:
    """The ``--args`` option."""
    return "--args", json.dumps(values)


def objects(scenes: RunningApp, scene: str) -> int:
    """How many objects the app's database has in a scene."""
    return scenes.rows("select count(*) from objects where scene_id = ?", scene)[0][0]


@pytest.mark.promise("T-02")
def test_read_gives_mapped_fields_and_display(remit: Remit, definition: str) -> None:
    """A call prints callId, outcome, result, content and display (contract section 13)."""
    ran = remit("call", definition, "list_scenes", *TOKEN)
    assert ran.code == 0
    printed = ran.json
    assert set(printed) == {"callId", "outcome", "result", "content", "display"}
    assert printed["outcome"] == "ok"
    assert {"id", "name", "objectCount"} == set(printed["result"]["scenes"][0])
    assert json.loads(printed["content"]) == printed["result"]
    assert printed["display"]["renderer"] == "table"


def test_write_reaches_the_app_once_with_its_key(
    remit: Remit, definition: str, scenes: RunningApp
) -> None:
    """Idempotency-Key is the call id, and one call is one request (contract section 3)."""
    before = objects(scenes, "scn_lobby")
    ran = remit("call", definition, "place_object", *TOKEN, *args(**LAMP))
    assert objects(scenes, "scn_lobby") == before + 1
    keys = scenes.rows("select idempotency_key from requests where method = 'POST'")
    assert [key for (key,) in keys].count(ran.json["callId"]) == 1


@pytest.mark.promise("T-31")
def test_pin_wins_and_the_attempt_is_said(
    remit: Remit, definition: str, scenes: RunningApp
) -> None:
    """A pin beats the argument, and the override is told (contract section 5, step 2)."""
    before = objects(scenes, "scn_q3_forecast")
    ran = remit(
        *("call", definition, "place_object", *TOKEN, "--pin", 'sceneId="scn_lobby"'),
        *args(**{**LAMP, "sceneId": "scn_q3_forecast"}),
    )
    assert ran.code == 0
    assert '"sceneId" was ignored: it is pinned' in ran.err
    assert objects(scenes, "scn_q3_forecast") == before


@pytest.mark.promise("T-38")
def test_job_is_awaited_with_progress(remit: Remit, definition: str) -> None:
    """With polling the result is the finished job's, and each poll is told (contract section 6)."""
    ran = remit("call", definition, "render_scene", *TOKEN, *args(sceneId="scn_lobby"))
    assert ran.code == 0
    assert ran.json["display"]["renderer"] == "image"
    assert "poll 1 of at most" in ran.err


def test_failed_job_is_an_error(remit: Remit, definition: str) -> None:
    """``failedValue`` ends polling as poll_failed; an empty scene cannot be rendered."""
    ran = remit("call", definition, "render_scene", *TOKEN, *args(sceneId="scn_blank"))
    assert ran.code == 1
    assert ran.json["error"]["code"] == "poll_failed"


@pytest.mark.promise("T-15")
def test_without_terminal_nothing_runs_unapproved(
    remit: Remit, definition: str, scenes: RunningApp
) -> None:
    """Without a terminal and without --yes an approval is a denial; nothing is sent."""
    ran = remit("call", definition, "delete_scene", *TOKEN, *args(sceneId="scn_lobby"))
    assert ran.code == 1
    assert ran.json["error"]["code"] == "denied"
    assert "--yes" in ran.err
    assert not scenes.rows("select 1 from requests where method = 'DELETE'")


@pytest.mark.promise("T-15")
@pytest.mark.parametrize(
    ("typed", "deleted"),
    [("y\n", True), ("yes\n", True), ("\n", False), ("n not this one\n", False), ("\x04", False)],
)
def test_person_at_the_terminal_decides(
    definition: str, scenes: RunningApp, tmp_path: Path, typed: str, deleted: bool
) -> None:
    """On a real pseudo-terminal only a yes deletes; Enter, no and end of input do not."""
    scene = _scene(scenes, "scn_pty_" + typed.encode().hex())
    command = [sys.executable, "-m", "remit.main", "call", definition, "delete_scene", *TOKEN]
    seen = on_terminal([*command, *args(sceneId=scene)], typed, tmp_path)
    gone = not scenes.rows("select 1 from scenes where id = ?", scene)
    assert gone is deleted
    sent = scenes.rows(
        "select 1 from requests where method = 'DELETE' and path like ?", f"%{scene}"
    )
    assert len(sent) == (1 if deleted else 0)
    assert "DELETES · cannot be undone" in seen.text
    assert seen.code == (0 if deleted else 1)
    if "not this one" in typed:
        assert "not this one" in seen.text.rpartition('"message"')[2]


def test_what_was_typed_before_the_question_is_no_answer(
    definition: str, scenes: RunningApp, tmp_path: Path
) -> None:
    """A person says yes to what stands on the screen, never to what is still to come."""
    scene = _scene(scenes, "scn_ahead")
    command = [sys.executable, "-m", "remit.main", "call", definition, "delete_scene", *TOKEN]
    seen = on_terminal([*command, *args(sceneId=scene)], "\n", tmp_path, ahead="y\n")
    assert seen.code == 1
    assert scenes.rows("select 1 from scenes where id = ?", scene)


def test_any_other_word_is_asked_again(definition: str, scenes: RunningApp, tmp_path: Path) -> None:
    """“ok” is neither yes nor no: it is not told to the agent as a person's reason."""
    scene = _scene(scenes, "scn_word")
    command = [sys.executable, "-m", "remit.main", "call", definition, "delete_scene", *TOKEN]
    seen = on_terminal([*command, *args(sceneId=scene)], "ok\nn later\n", tmp_path)
    assert "That is no answer" in seen.text
    assert 'They said: \\"later\\"' in seen.text
    assert scenes.rows("select 1 from scenes where id = ?", scene)


def _scene(scenes: RunningApp, scene: str) -> str:
    """A scene of Ana's to delete, written into the app's database."""
    with closing(sqlite3.connect(scenes.database, timeout=10)) as database, database:
        database.execute(
            "insert into scenes select ?, user_id, name, version, saved_version from scenes "
            "where id = 'scn_lobby'",
            (scene,),
        )
    return scene


def test_card_shows_pins_and_the_exact_request(
    definition: str, scenes: RunningApp, tmp_path: Path
) -> None:
    """What a person approves is what will be sent, pins included (contract section 5)."""
    command = [sys.executable, "-m", "remit.main", "call", definition, "delete_scene", *TOKEN]
    command += ["--pin", 'sceneId="scn_lobby"', *args(sceneId="scn_q3_forecast")]
    seen = on_terminal(command, "\n", tmp_path)
    card = seen.text.partition("Delete a scene?")[0]
    assert "/v1/scenes/scn_lobby" in card
    assert "scn_q3_forecast" not in card


def test_yes_approves_and_says_what(remit: Remit, definition: str, scenes: RunningApp) -> None:
    """--yes stands for the answer, and stderr says what it approved."""
    scene = _scene(scenes, "scn_flag")
    ran = remit("call", definition, "delete_scene", *TOKEN, "--yes", *args(sceneId=scene))
    assert ran.code == 0
    assert "--yes: approved without asking: DELETES" in ran.err


def test_dry_run_prints_the_request_and_sends_nothing(
    remit: Remit, definition: str, scenes: RunningApp
) -> None:
    """--dry-run masks the credential, gives placeholders and the same digest every time."""
    before = scenes.rows("select count(*) from requests")
    wish = ("call", definition, "place_object", "--dry-run", *args(**LAMP))
    first, second = remit(*wish, "--token", "ana-token"), remit(*wish)
    assert first.code == 0
    assert first.out == second.out
    assert "ana-token" not in first.out
    printed = first.json
    assert set(printed) == {"method", "url", "headers", "body", "digest"}
    assert printed["url"] == f"{scenes.url}/v1/scenes/scn_lobby/objects"
    headers = printed["headers"]
    assert headers["Authorization"] == "Bearer ***"
    assert headers["Idempotency-Key"] == "<call id>"
    assert headers["traceparent"] == "<trace>"
    assert not {"host", "content-length", "accept-encoding"} & {h.lower() for h in headers}
    assert printed["body"] == {"asset": "lamp", "position": {"x": 2, "y": -3}}
    assert len(printed["digest"]) == 64
    assert scenes.rows("select count(*) from requests") == before


def test_dry_run_refuses_what_a_call_refuses(remit: Remit, tmp_path: Path) -> None:
    """An argument that cannot stand in `statusUrl` is refused before anything is sent."""
    job = documents.endpoint_tool(
        "render",
        category="action",
        dangerLevel="moderate",
        endpoint={"method": "POST", "path": "/jobs"},
        parameters=documents.parameters("id", id="string"),
        polling={
            "statusUrl": "/jobs/{{args.id}}",
            "statusField": "status",
            "completeValue": "done",
            "pollIntervalMs": 1000,
            "maxPolls": 2,
        },
    )
    (tmp_path / "app.json").write_text(json.dumps(documents.definition(job)), "utf-8")
    ran = remit("call", str(tmp_path / "app.json"), "render", "--dry-run", *args(id=".."))

    assert ran.code == 1
    assert "leads elsewhere" in ran.err + ran.out


def test_dry_run_asks_nobody(remit: Remit, definition: str) -> None:
    """A dry run of a tool that must be approved prints it without a question."""
    ran = remit("call", definition, "delete_scene", "--dry-run", *args(sceneId="scn_lobby"))
    assert ran.code == 0
    assert ran.json["method"] == "DELETE"
    assert ran.json["body"] is None


@pytest.mark.parametrize(
    ("wish", "code", "words"),
    [
        (("list_scenes",), "not_connected", "credential"),
        (("list_scenes", "--token", "wrong"), "not_connected", "401"),
        (("lst_scenes", *TOKEN), "unknown_tool", "list_scenes"),
        (("get_scene", *TOKEN, "--args", '{"sceneId": 1}'), "invalid_arguments", "/sceneId"),
        (("get_scene", *TOKEN, "--args", "{"), "invalid_arguments", "JSON"),
        (("get_scene", *TOKEN, "--args", "[]"), "invalid_arguments", "object"),
        (
            ("get_scene", *TOKEN, "--args", '{"sceneId":"a","sceneId":"b"}'),
            "invalid_arguments",
            "twice",
        ),
        (("get_scene", *TOKEN, "--pin", "sceneId=1"), "invalid_pin", "/sceneId"),
        (("get_scene", *TOKEN, *args(sceneId="")), "invalid_arguments", "sceneId"),
        (("get_scene", *TOKEN, *args(sceneId="..")), "invalid_arguments", "sceneId"),
        (("get_scene", *TOKEN, *args(sceneId="nowhere")), "upstream_error", "404"),
    ],
)
def test_failed_call_has_one_shape(
    remit: Remit, definition: str, wish: tuple[str, ...], code: str, words: str
) -> None:
    """Every failure is {error: {code, message, tool}} on stdout and exit 1; no traceback."""
    ran = remit("call", definition, *wish)
    error = ran.json["error"]
    assert ran.code == 1
    assert error["code"] == code
    assert error["tool"] == wish[0]
    assert words in error["message"]
    assert "Traceback" not in ran.err
    assert "mayHaveHappened" not in error


@pytest.mark.parametrize(
    "wish",
    [
        ("nowhere.yaml", "t"),
        ("{definition}", "get_scene", "--args", "@nowhere.json"),
        ("{definition}", "get_scene", "--pin", "sceneId"),
        ("{definition}", "get_scene", "--pin", "sceneId=bare"),
        ("{definition}", "get_scene", "--env", "NAME"),
        ("{definition}",),
        ("{definition}", "get_scene", "--colour"),
    ],
)
def test_wrong_use_exits_two(remit: Remit, definition: str, wish: tuple[str, ...]) -> None:
    """Wrong use is exit 2, words on stderr, nothing on stdout (contract section 13)."""
    ran = remit("call", *(word.format(definition=definition) for word in wish))
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.strip()


def test_broken_definition_names_every_mistake(remit: Remit, tmp_path: Path) -> None:
    """A definition with errors is refused with all of them, each with place and mend."""
    path = tmp_path / "bad.yaml"
    path.write_text(
        "id: acme\nname: Acme\nauth: {type: none}\nbaseUrl: https://api.acme.example\ntools:\n"
        "  - {name: a, description: d, category: raed, dangerLevel: safe,\n"
        "     parameters: {type: object, properties: {}}, endpoint: {method: GET, path: /a}}\n"
        "  - {name: b, description: d, category: read, dangerLevel: safe,\n"
        "     parameters: {type: string, properties: {}}, endpoint: {method: GET, path: /a}}\n",
        "utf-8",
    )
    ran = remit("call", str(path), "a")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "invalid_definition"
    for words in ("bad.yaml:6:", "raed", 'did you mean "read"', "bad.yaml:9:", "object"):
        assert words.lower() in ran.err.lower()


def test_pin_that_holds_nothing_is_said(remit: Remit, definition: str) -> None:
    """A misspelt pin is a fence that stands open; it must not stay unseen."""
    ran = remit(
        *("call", definition, "get_scene", *TOKEN, "--pin", 'sceneID="scn_lobby"'),
        *args(sceneId="scn_q3_forecast"),
    )
    assert 'The pin "sceneID" holds nothing' in ran.err
    assert '"sceneId"?' in ran.err
    assert "sceneID" in remit("export", definition, "--for", "mcp", "--pin", "sceneID=1").err


def test_mapped_path_that_leads_nowhere_is_said(remit: Remit, definition: str) -> None:
    """A wrong path leaves its key out; whoever wrote it is told which."""
    path = Path(definition)
    lines = path.read_text("utf-8").splitlines()
    # Without a fetched catalog the file's own tools are the ones that run.
    text = "\n".join(line for line in lines if not line.startswith("toolsUrl:"))
    path.write_text(text.replace("{name: name, objectCount", "{name: nam, objectCount"), "utf-8")
    ran = remit("call", definition, "get_scene", *TOKEN, "--pin", 'sceneId="scn_lobby"')
    assert ran.code == 0
    assert 'The answer had no "nam", so the result has no "name".' in ran.err


@pytest.mark.parametrize("redirect", ["<&-", ">&-", ">/dev/full", "2>&-"])
def test_closed_stream_is_no_fault_of_remits(
    definition: str, tmp_path: Path, redirect: str
) -> None:
    """A daemon may close them; a call goes on, or says what cannot be written."""
    command = f'"{sys.executable}" -m remit.main call "{definition}" list_scenes {redirect}'
    done = subprocess.run(
        ["sh", "-c", command],
        env={
            **os.environ,
            "REMIT_TOKEN": "ana-token",
            "REMIT_EGRESS_ALLOW": "127.0.0.1",
            "REMIT_CACHE_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 2)
    assert "fault of its own" not in done.stderr
    assert "Traceback" not in done.stderr
