"""The other commands, as a user types them, against the real sample app."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from remit.main import demo_folder
from remit.main.example import RunningExample
from remit.main.walking import Demo
from tests.examples import bookmarks_process
from tests.examples.scenes_process import SCENES, RunningApp, Start
from tests.examples.tracker_process import TRACKER
from tests.main.conftest import Remit

#: What each journey through the tracker came to.
TRACKER_EFFECTS = (
    "the page keeps that Ana is there, and has a chat",
    "the page is at /issues/WEB-1 now, and the conversation is the one it was",
    "the agent was told of the 2 urgent issues that the page's store has",
    "its card stands in the chat, drawn by the page's own component",
    "the store has it in review, by a person; the card in the chat followed",
    "the page's store has Eva on it, by the agent",
    "the read has both: Eva, and the status that was set by hand",
    "the tracker's database has 5 points, saved once, by Ana; the card shows them",
    "both were refused, with a reason for the agent, and the page is where it was",
    "it waits for Ana, and WEB-5 is in the store",
    "WEB-5 is gone from the store and nothing else, and the conversation went on",
)


@pytest.mark.promise("T-53")
def test_catalog_says_what_was_dropped_and_why(
    remit: Remit, definition: str, scenes: RunningApp
) -> None:
    """Every dropped tool is there with its reason, under its catalog name (contract section 13)."""
    scenes.tools.write_bytes((SCENES / "overreaching.json").read_bytes())
    modest = Path(definition).with_name("modest.yaml")
    text = (SCENES / "scenes-modest.yaml").read_text("utf-8")
    modest.write_text(text.replace("127.0.0.1:8801", scenes.address), "utf-8")
    try:
        printed = remit("catalog", str(modest)).json
    finally:
        scenes.tools.write_bytes((SCENES / "catalog.json").read_bytes())
    assert set(printed) == {"source", "ageSeconds", "tools", "dropped"}
    assert printed["source"] == "fresh"
    kept = {tool["name"]: tool for tool in printed["tools"]}
    assert kept["place_object"]["category"] == "write"
    assert "save_scene" in kept
    assert "tint_scene" not in kept
    dropped = {entry["name"]: entry["reason"] for entry in printed["dropped"]}
    assert "action is above write" in dropped["publish_scene"]
    assert "harmless" in dropped["tint_scene"]


@pytest.mark.promise("T-47", "T-48")
def test_last_good_catalog_serves_when_the_app_is_down(
    remit: Remit, start: Start, tmp_path: Path
) -> None:
    """The snapshot outlives the process and says that it is stale, with its age (section 7)."""
    app = start()
    path = tmp_path / "down.yaml"
    text = (SCENES / "scenes.yaml").read_text("utf-8")
    path.write_text(text.replace("127.0.0.1:8801", app.address), "utf-8")
    assert remit("catalog", str(path)).json["source"] == "fresh"
    assert remit("catalog", str(path)).json["source"] == "unchanged"
    app.process.terminate()
    app.process.wait(10)
    ran = remit("catalog", str(path))
    assert ran.json["source"] == "stale"
    assert isinstance(ran.json["ageSeconds"], int)
    assert "count_objects" in {tool["name"] for tool in ran.json["tools"]}
    assert "last good catalog" in ran.err
    ran = remit("catalog", str(path), "--no-fetch")
    assert ran.json["source"] == "stale"


def test_without_snapshot_the_static_catalog_serves(
    remit: Remit, definition: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With nothing fetched yet the definition's own tools are there (contract section 7)."""
    monkeypatch.setenv("REMIT_CACHE_DIR", str(tmp_path / "empty"))
    printed = remit("catalog", definition, "--no-fetch").json
    assert printed["source"] == "static"
    assert printed["ageSeconds"] is None
    assert len(printed["tools"]) == 9


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mcp"])
def test_export_hides_pins_from_every_model(remit: Remit, definition: str, provider: str) -> None:
    """A pinned parameter is not in what a model sees (contract section 2)."""
    open_, pinned = (
        remit("export", definition, "--for", provider, *pin).out
        for pin in ((), ("--pin", 'sceneId="scn_lobby"'))
    )
    assert '"sceneId"' in open_
    assert '"sceneId"' not in pinned
    json.loads(pinned)


def test_show_prints_the_same_document_in_each_form(remit: Remit, definition: str) -> None:
    """Text, markdown, JSON and the short form come from one document (contract section 17)."""
    data = remit("show", definition, "--format", "json").json
    assert set(data) == {"digest", "sections"}
    text = remit("show", definition).out
    assert data["digest"] in text
    assert remit("show", definition, "--format", "md").out.startswith("#")
    assert len(remit("show", definition, "--short").out) < len(text) / 4


def test_lock_check_says_in_words_what_an_agent_could_now_do(remit: Remit, definition: str) -> None:
    """A loosened tool makes `lock --check` exit 1 and say it (contract section 17)."""
    path = Path(definition)
    assert remit("lock", definition).code == 0
    assert path.with_name("remit.lock").is_file()
    assert remit("lock", definition, "--check").code == 0
    loosened = path.read_text("utf-8").replace(
        "dangerLevel: destructive\n    requires", "dangerLevel: safe\n    requires", 1
    )
    assert loosened != path.read_text("utf-8")
    path.write_text(loosened, "utf-8")
    ran = remit("lock", definition, "--check")
    assert ran.code == 1
    assert "delete_scene" in ran.out


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}'])
def test_broken_lock_is_a_clear_error(remit: Remit, definition: str, content: str) -> None:
    """A lock file that cannot be read is named, with the mend, and no traceback."""
    Path(definition).with_name("remit.lock").write_text(content, "utf-8")
    ran = remit("lock", definition, "--check")
    assert ran.code in (1, 2)
    assert "remit.lock" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.promise("T-08")
def test_diff_calls_a_rename_a_removal_and_an_addition(remit: Remit, definition: str) -> None:
    """A rename is said as what it is to every agent (contract section 13)."""
    path = Path(definition)
    other = path.with_name("new.yaml")
    other.write_text(
        path.read_text("utf-8").replace("name: get_preview", "name: fetch_preview"), "utf-8"
    )
    ran = remit("diff", definition, str(other))
    assert ran.code == 0
    assert "removal" in ran.out
    assert "addition" in ran.out
    printed = remit("diff", definition, str(other), "--format", "json").json
    assert printed["change"] == "edit"
    assert printed["needsConsent"] is False


def test_diff_of_equal_definitions_is_none(remit: Remit, definition: str) -> None:
    """Nothing changed is said as such."""
    printed = remit("diff", definition, definition, "--format", "json").json
    assert printed == {"change": "none", "reasons": [], "needsConsent": False, "diff": []}


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (("https://a.example/", "--resolve", "a.example=93.184.215.14"), 0),
        (("https://a.example/", "--resolve", "a.example=93.184.215.14,10.0.0.1"), 1),
        (("https://b.example/", "--resolve", "a.example=93.184.215.14"), 1),
        (("http://10.1.2.3/", "--allow", "10.1.0.0/16"), 0),
        (("http://10.2.2.3/", "--allow", "10.1.0.0/16"), 1),
        (("https://a.example/", "--resolve", "nonsense"), 2),
    ],
)
def test_egress_check_prints_the_decision(remit: Remit, wish: tuple[str, ...], code: int) -> None:
    """Exit 0 for allow, 1 for refuse; decision, reason and addresses on stdout (section 13)."""
    ran = remit("egress", "check", *wish)
    assert ran.code == code
    if code < 2:
        assert {"decision", "reason", "addresses"} <= set(ran.json)
        assert ran.json["decision"] == ("allow" if code == 0 else "refuse")


def test_egress_check_looks_nothing_up_when_told_the_addresses(
    remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --resolve no name is looked up for real (contract section 13)."""

    def refuse(*_: object, **__: object) -> list[object]:
        msg = "a name was looked up"
        raise AssertionError(msg)

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    ran = remit("egress", "check", "https://b.example/", "--resolve", "a.example=93.184.215.14")
    assert ran.code == 1


@pytest.mark.parametrize("kind", ["definition", "catalog", "tool"])
def test_schema_is_printed(remit: Remit, kind: str) -> None:
    """``remit schema`` prints a JSON Schema 2020-12."""
    assert remit("schema", kind).json["$schema"].endswith("2020-12/schema")


def test_explain_knows_what_the_commands_say(remit: Remit) -> None:
    """Every code that a message names has its page; an unknown one gets a hint."""
    assert "denied" in remit("explain", "denied").out
    ran = remit("explain", "denid")
    assert ran.code == 2
    assert "denied" in ran.err
    assert remit("explain").code == 0


def test_lint_finds_all_and_exits_by_level(remit: Remit, definition: str, tmp_path: Path) -> None:
    """No error is exit 0, an error 1; JSON has findings and counts (contract section 13)."""
    assert remit("lint", definition).code == 0
    bad = tmp_path / "bad.json"
    bad.write_text('[{"name": 5}]', "utf-8")
    ran = remit("lint", definition, str(bad), "--format", "json")
    assert ran.code == 1
    assert ran.json["counts"]["error"] > 0
    keys = {"rule", "level", "file", "tool", "pointer", "message", "mend"}
    assert all(set(finding) == keys for finding in ran.json["findings"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"a: [",
        b"- &a [*a]\n",
        b"x: 1\nx: 2\n",
        b"!!python/object:os.system x",
    ],
)
@pytest.mark.parametrize("command", ["lint", "show", "lock", "catalog"])
def test_unreadable_file_never_gives_a_traceback(
    remit: Remit, tmp_path: Path, command: str, content: bytes
) -> None:
    """Whatever the bytes, the answer is one clear error and exit 1 (issue: bad input)."""
    path = tmp_path / "broken.yaml"
    path.write_bytes(content)
    ran = remit(command, str(path))
    assert ran.code == 1
    said = ran.err + ran.out
    assert "broken.yaml" in said
    assert "fault of its own" not in said


def test_bare_catalog_can_be_linted_and_diffed_but_not_called(remit: Remit, tmp_path: Path) -> None:
    """A list of tools lacks what a call needs, and the message says what (contract section 13)."""
    path = tmp_path / "tools.json"
    path.write_bytes((SCENES / "catalog.json").read_bytes())
    assert remit("lint", str(path)).code == 0
    assert remit("diff", str(path), str(path)).code == 0
    ran = remit("show", str(path))
    assert ran.code == 1
    assert "definition" in ran.err


def test_settings_file_is_read_and_its_mistakes_are_named(
    remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """remit.toml of the folder is used; an unknown key is wrong use with a hint (section 12)."""
    monkeypatch.delenv("REMIT_EGRESS_ALLOW")
    settings = tmp_path / "remit.toml"
    settings.write_text('[egress]\nallow = ["10.1.0.0/16"]\n', "utf-8")
    assert remit("egress", "check", "http://10.1.2.3/").code == 0
    settings.write_text("[egress]\nalow = []\n", "utf-8")
    ran = remit("egress", "check", "http://10.1.2.3/")
    assert ran.code == 2
    assert '"allow"' in ran.err


def test_demo_check_proves_each_step(remit: Remit) -> None:
    """``remit demo --check`` exits 0 when every step had its effect in the app's own data."""
    with_mail = bookmarks_process.packages()
    with_page = (TRACKER / "dist/index.html").is_file()
    ran = remit("demo", "--check")
    assert ran.code == 0, ran.out
    assert "✗" not in ran.out
    assert ("[Connect and import]" in ran.out) is with_mail
    in_a_browser = with_page and "No Chromium was found" not in ran.out
    for effect in TRACKER_EFFECTS:
        assert (f"✓ {effect}" in ran.out) is in_a_browser, effect
    if with_mail and in_a_browser:
        assert "All 63 effects were as expected" in ran.out
    assert "press Enter to end" not in ran.out


def test_demo_goes_on_without_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says in one line what it leaves out, and does the rest."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    scenes = RunningExample(tmp_path / "not run")
    demo = Demo(example=scenes, person=False)
    demo_folder.run(tmp_path, demo, check=True)
    said = capsys.readouterr().out
    assert demo.failed == []
    assert "Without Node 20 and the example's npm packages, the skill mail is left out." in said
    assert "1 skill, 3 tools are one definition, and none of their routes is missing" in said
    assert "in a browser" in said


def test_lint_answers_without_importing_what_it_does_not_need(definition: str) -> None:
    """Lint of a small file loads no HTTP client, tokenizer or TLS: it must answer at once."""
    import subprocess

    code = (
        "import sys; from remit.main.cli import main; main(['lint', sys.argv[1]]); "
        "print(sorted({'httptools', 'tiktoken', 'ssl'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, definition], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip().endswith("[]")
