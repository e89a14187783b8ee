"""`remit lint` and `remit catalog` on what `toolsUrl` serves, against the real sample app."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.scenes_process import SCENES, RunningApp
from tests.main.conftest import Remit


@pytest.fixture
def modest(definition: str, scenes: RunningApp) -> str:
    """The definition of a modest ceiling, pointing at the running app; a path."""
    path = Path(definition).with_name("modest.yaml")
    text = (SCENES / "scenes-modest.yaml").read_text("utf-8")
    path.write_text(text.replace("127.0.0.1:8801", scenes.address), "utf-8")
    return str(path)


@pytest.fixture
def served(scenes: RunningApp) -> Iterator[Path]:
    """The file that the app serves as its catalog; put back at the end."""
    yield scenes.tools
    scenes.tools.write_bytes((SCENES / "catalog.json").read_bytes())


def test_findings_on_a_fetched_catalog_name_its_address(
    remit: Remit, modest: str, served: Path, scenes: RunningApp
) -> None:
    """A pointer of the served document has no line in the definition's file."""
    served.write_bytes((SCENES / "overreaching.json").read_bytes())
    ran = remit("lint", modest, "--fetch", "--format", "json")
    url = f"http://{scenes.address}/agent/tools"
    assert ran.code == 1
    assert {finding["file"] for finding in ran.json["findings"]} == {modest, url}
    own = [f for f in ran.json["findings"] if f["file"] == modest]
    alone = remit("lint", modest, "--format", "json").json["findings"]
    assert own == alone
    assert not {f["rule"] for f in ran.json["findings"] if f["file"] == url} & {"http-base-url"}
    text = remit("lint", modest, "--fetch").out
    assert re.search(rf"^get_scene +{re.escape(url)} +error +would-be-dropped$", text, re.MULTILINE)
    assert f"{url}:" not in text


@pytest.mark.promise("T-64")
def test_every_tool_that_a_session_would_drop_is_an_error(
    remit: Remit, modest: str, served: Path
) -> None:
    """`lint --fetch` fails for exactly the tools that `catalog` drops."""
    served.write_bytes((SCENES / "overreaching.json").read_bytes())
    dropped = {entry["name"] for entry in remit("catalog", modest).json["dropped"]}
    own = {f["tool"] for f in remit("lint", modest, "--format", "json").json["findings"]}
    findings = remit("lint", modest, "--fetch", "--format", "json").json["findings"]
    errors = {f["tool"] for f in findings if f["level"] == "error"}
    assert errors == dropped
    assert errors - own >= {"publish_scene", "tint_scene"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('[\n{"name": ]', "JSON that cannot be read: at line 2, column 10 "),
        ("<html>", "JSON that cannot be read: at line 1, column 1 "),
    ],
)
def test_catalog_of_broken_json_is_said_with_its_place(
    remit: Remit, modest: str, served: Path, body: str, words: str
) -> None:
    """A fault of JSON is not a wrong document, and whoever serves it must find it."""
    served.write_text(body, "utf-8")
    (found,) = [
        f
        for f in remit("lint", modest, "--fetch", "--format", "json").json["findings"]
        if f["rule"] == "tools-url-unreachable"
    ]
    assert (found["level"], found["file"], found["pointer"]) == ("error", modest, "/toolsUrl")
    assert words in found["message"]
    assert words in remit("catalog", modest).err


def test_catalog_that_is_none_is_a_finding_at_its_address(
    remit: Remit, modest: str, served: Path, scenes: RunningApp
) -> None:
    """It was served, and is another document."""
    served.write_text('{"items": []}', "utf-8")
    ran = remit("lint", modest, "--fetch", "--format", "json")
    last = ran.json["findings"][-1]
    assert (last["rule"], last["file"]) == ("wrong-type", f"http://{scenes.address}/agent/tools")
    served.write_text('{"tools": [], "version": 3}', "utf-8")
    assert remit("lint", modest, "--fetch").code == 0


def test_fetch_that_fails_is_a_finding(
    remit: Remit, modest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks to judge the served catalog is not told that all is well without it."""
    monkeypatch.setenv("REMIT_EGRESS_ALLOW", "")
    ran = remit("lint", modest, "--fetch")
    assert ran.code == 1
    assert "tools-url-unreachable" in ran.out
    # Where a line is wrapped depends on the length of the path.
    assert "not a public address" in " ".join(ran.out.split())
    assert "\\u000a" not in ran.out


def test_catalog_says_what_asks_a_person(remit: Remit, tmp_path: Path) -> None:
    """A destructive tool asks by default, declared or not (contract section 5, step 6)."""
    tool = {
        "description": "Does it.",
        "category": "write",
        "parameters": {"type": "object", "properties": {}},
        "endpoint": {"method": "POST", "path": "/x"},
    }
    tools = [
        {**tool, "name": "asks", "dangerLevel": "safe", "requiresApproval": True},
        {**tool, "name": "destroys", "dangerLevel": "destructive"},
        {**tool, "name": "runs", "dangerLevel": "moderate"},
    ]
    document = {"id": "an-app", "name": "A", "baseUrl": "https://a.example", "tools": tools}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**document, "auth": {"type": "none"}}), "utf-8")
    printed = remit("catalog", str(path)).json["tools"]
    assert {t["name"]: (t["requiresApproval"], t["asks"]) for t in printed} == {
        "asks": (True, True),
        "destroys": (False, True),
        "runs": (False, False),
    }
    lines = remit("catalog", str(path), "--format", "text").out.splitlines()
    assert [line.endswith("asks a person") for line in lines[2:]] == [True, True, False]


def test_text_is_wrapped_at_the_width_of_the_terminal(
    remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`COLUMNS` says it where there is no terminal; 100 at most."""
    path = tmp_path / "a.yaml"
    path.write_text("id: an-app\nname: A\ntools: []\nauht: {type: none}\n", "utf-8")
    counts: list[int] = []
    for columns, most in (("50", 50), ("300", 100), ("9", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        prose = [line for line in remit("lint", str(path)).out.splitlines() if line[:2] == "  "]
        assert max(map(len, prose)) <= most
        counts.append(len(prose))
    assert counts[1] < counts[0] < counts[2]


def test_bare_catalog_and_unreadable_file_are_called_so(remit: Remit, tmp_path: Path) -> None:
    """A finding of no tool says what it is about."""
    path = tmp_path / "a.json"
    tool = json.loads((SCENES / "catalog.json").read_text("utf-8"))["tools"][0]
    many = [{**tool, "name": f"tool_{n}"} for n in range(41)]
    path.write_text(json.dumps(many), "utf-8")
    assert "\ncatalog " in "\n" + remit("lint", str(path)).out
    path.write_text("{", "utf-8")
    assert remit("lint", str(path)).out.startswith("file  ")
