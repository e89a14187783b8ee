"""`remit build`, and folders where other commands take a file, as a user types them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from remit.testing.loopback import HttpRequest
from remit.testing.upstream import AppAnswer, ScriptedUpstream
from tests.building.writing import APP, SKILL, TOOLS, write
from tests.main.conftest import Remit

BROKEN = SKILL.replace("description", "descripton")


@pytest.fixture
def app(remit: Remit) -> Path:
    """An app folder in the folder where commands run; ``remit`` made that."""
    return write(Path("my-app"), {})


def test_definition_is_printed_or_written(remit: Remit, app: Path) -> None:
    """The same one, and the same every time; stdout has nothing else on it."""
    printed = remit("build", "my-app", "--no-routes")
    assert (printed.code, printed.err) == (0, "")
    written = remit("build", "my-app", "--no-routes", "-o", "app.json")
    assert (written.code, written.out) == (0, "")
    assert "Wrote app.json: 1 skill, 1 tool." in written.err
    first = Path("app.json").read_bytes()
    assert json.loads(first) == printed.json
    remit("build", "my-app", "--no-routes", "-o", "app.json")
    assert Path("app.json").read_bytes() == first
    assert remit("lint", "app.json").code == 0


def test_fault_is_told_on_stderr_and_nothing_is_written(remit: Remit, app: Path) -> None:
    """The file of the last good build stays as it was."""
    remit("build", "my-app", "--no-routes", "-o", "app.json")
    before = Path("app.json").read_bytes()
    write(app, {"skills/bookmarks/SKILL.md": BROKEN})
    for output in ((), ("-o", "app.json")):
        ran = remit("build", "my-app", "--no-routes", *output)
        assert (ran.code, ran.out) == (1, "")
        assert "my-app/skills/bookmarks/SKILL.md:3:1" in ran.err
        assert "did you mean" in ran.err.lower()
        assert "Next: remit explain" in ran.err
    assert Path("app.json").read_bytes() == before
    assert {path.name for path in Path().iterdir()} == {"my-app", "app.json"}


def test_error_of_lint_stops_the_build(remit: Remit, app: Path) -> None:
    """What would not be sent as written is not handed on."""
    write(app, {"app.yaml": APP + "ceiling: {category: read, dangerLevel: safe}\n"})
    ran = remit("build", "my-app", "--no-routes")
    assert (ran.code, ran.out) == (1, "")
    assert "over-ceiling" in ran.err
    assert "my-app/skills/bookmarks/tools.py:" in ran.err


@pytest.mark.promise("K-26")
def test_missing_route_is_a_warning_of_the_build(remit: Remit, app: Path) -> None:
    """The definition is written all the same; --no-routes asks nobody."""

    def answer(request: HttpRequest) -> AppAnswer:
        return AppAnswer(status=404)

    with ScriptedUpstream(answer) as component:
        write(app, {"app.yaml": APP.replace("http://127.0.0.1:8802", component.origin)})
        ran = remit("build", "my-app")
        asked = len(component.http)
        quiet = remit("build", "my-app", "--no-routes")
        assert len(component.http) == asked == 1
    assert (ran.code, quiet.code, quiet.err) == (0, 0, "")
    assert ran.out == quiet.out
    told = " ".join(ran.err.split())
    assert "save_bookmark /target/path my-app/skills/bookmarks/tools.py:19:9 warning" in told
    assert 'The component "api" has no route POST /tools/save-bookmark' in told


def test_component_that_is_not_there_is_a_warning(remit: Remit, app: Path) -> None:
    """It need not run where the folder is built."""
    write(app, {"app.yaml": APP.replace("8802", "1")})
    ran = remit("build", "my-app")
    assert ran.code == 0
    assert ran.json["id"] == "bookmarks"
    assert "my-app/app.yaml:5:9  warning  component-not-reached" in ran.err


def test_time_limit_is_an_option(remit: Remit, app: Path) -> None:
    """Ten seconds unless it is said."""
    write(app, {"skills/bookmarks/tools.py": "while True:\n    pass\n"})
    ran = remit("build", "my-app", "--timeout", "0.5")
    assert ran.code == 1
    assert "within 0.5 s" in ran.err


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("nowhere",), "nowhere: there is no such folder."),
        (("my-app/app.yaml",), "is a file. Name the folder with app.yaml."),
        (("a" * 300,), "is no name of a folder."),
        (("my-app", "-o", "app.yaml"), "a definition is written as JSON."),
        (("my-app", "-o", "no/app.json"), "there is no folder no. Make it first."),
        (("my-app", "-o", "my-app"), "my-app: is a folder."),
        (("my-app", "-o", "/dev/null"), "/dev/null: is no file."),
        (("my-app", "--timeout", "0"), "--timeout"),
    ],
)
def test_wrong_use_is_told_before_any_code_runs(
    remit: Remit, app: Path, typed: tuple[str, ...], words: str
) -> None:
    """The tools file would end the whole test."""
    write(app, {"skills/bookmarks/tools.py": "raise SystemExit\n"})
    ran = remit("build", *typed)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "tools-failed" not in ran.err


def test_file_that_is_written_keeps_its_permissions_and_its_link(remit: Remit, app: Path) -> None:
    """It is put in place whole, and is the same file for whoever looks through a link."""
    Path("real.json").write_text("{}", "utf-8")
    Path("real.json").chmod(0o640)
    Path("app.json").symlink_to("real.json")
    assert remit("build", "my-app", "--no-routes", "-o", "app.json").code == 0
    assert Path("app.json").is_symlink()
    assert stat.S_IMODE(Path("real.json").stat().st_mode) == 0o640
    assert json.loads(Path("real.json").read_text("utf-8"))["id"] == "bookmarks"


def test_commands_that_take_a_file_take_a_folder(remit: Remit, app: Path) -> None:
    """Built in memory first: what is printed is what the built file would give."""
    remit("build", "my-app", "--no-routes", "-o", "app.json")
    for command in (
        ("show", "{}"),
        ("catalog", "{}"),
        ("export", "{}", "--for", "openai"),
        ("diff", "{}", "app.json"),
        (
            "call", "{}", "save_bookmark", "--args", '{"url": "https://a.example"}', "--dry-run",
        ),
    ):  # fmt: skip
        of_folder, of_file = (
            remit(*(part.format(name) if part == "{}" else part for part in command))
            for name in ("my-app", "app.json")
        )
        assert (of_folder.code, of_file.code) == (0, 0), command
        assert of_folder.out == of_file.out


def test_lock_stands_in_the_folder(remit: Remit, app: Path) -> None:
    """Where version control has the rest of the app."""
    assert remit("lock", "my-app").code == 0
    assert (app / "remit.lock").is_file()
    assert remit("lock", "my-app", "--check").code == 0


def test_lint_names_the_file_of_each_finding(remit: Remit, app: Path) -> None:
    """In text with line and column, in JSON with the pointer into that file."""
    write(app, {"skills/bookmarks/tools.py": TOOLS.replace("Not for notes; use save_note for", "")})
    text = remit("lint", "my-app")
    assert "my-app/skills/bookmarks/tools.py:17:9" in text.out
    assert "in my-app." in text.out
    (finding,) = [
        f
        for f in remit("lint", "my-app", "--format", "json").json["findings"]
        if f["rule"] == "no-when-not"
    ]
    assert (finding["file"], finding["tool"]) == (
        "my-app/skills/bookmarks/tools.py",
        "save_bookmark",
    )
    assert finding["pointer"] == "/tools/0/description"


def test_lint_of_a_folder_with_faults_tells_all(remit: Remit, app: Path) -> None:
    """Those of its files and those of its definition."""
    write(app, {"app.yaml": APP + "nmae: a\n", "skills/bookmarks/SKILL.md": BROKEN})
    ran = remit("lint", "my-app", "--format", "json")
    assert ran.code == 1
    found = {(f["file"], f["rule"]) for f in ran.json["findings"]}
    assert found == {
        ("my-app/app.yaml", "unknown-key"),
        ("my-app/skills/bookmarks/SKILL.md", "unknown-key"),
        ("my-app/skills/bookmarks/SKILL.md", "missing-key"),
    }


def test_folder_without_a_finding_is_said_to_be_well(remit: Remit, app: Path) -> None:
    """Quiet when all is well."""
    text = TOOLS.replace("    title: str | None = None\n", "").replace(
        "    url: str", '    url: str = Field(description="Where it is.")'
    )
    text = text.replace("BaseModel, ConfigDict", "BaseModel, ConfigDict, Field")
    write(app, {"skills/bookmarks/tools.py": text})
    ran = remit("lint", "my-app", "--format", "json")
    assert [f for f in ran.json["findings"] if f["level"] != "note"] == []


@pytest.mark.parametrize("command", ["show", "call", "export", "catalog", "lock"])
def test_faulty_folder_is_told_wherever_a_file_is_taken(
    remit: Remit, app: Path, command: str
) -> None:
    """Each fault with its place, then that the folder cannot be used."""
    write(app, {"skills/bookmarks/SKILL.md": BROKEN})
    more = {"call": ("save_bookmark",), "export": ("--for", "mcp")}.get(command, ())
    ran = remit(command, "my-app", *more)
    assert ran.code == 1
    assert "my-app/skills/bookmarks/SKILL.md:3:1  /descripton" in ran.err
    assert "my-app cannot be used: 2 errors." in ran.err
    if command == "call":
        (first, *_) = ran.json["error"]["details"]["mistakes"]
        assert first["file"] == "skills/bookmarks/SKILL.md"
