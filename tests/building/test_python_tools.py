"""tools.py runs in a process of its own; what it does wrong is told, and nothing of it stays."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from remit.building import build
from remit.building.faults import Fault
from tests.building.conftest import Folder
from tests.building.writing import TOOLS


def fault_of(root: Path, *, limit_s: float = 30) -> Fault:
    """The one fault of a folder."""
    (found,) = build(root, brand="Remit", limit_s=limit_s).faults
    assert found.file == "skills/bookmarks/tools.py"
    return found


def with_tools(text: str) -> dict[str, str | bytes | None]:
    """A folder whose tools.py is this."""
    return {"skills/bookmarks/tools.py": text}


@pytest.mark.parametrize(
    ("text", "rule", "words", "line"),
    [
        ("tools = [\n", "tools-failed", "SyntaxError: '[' was never closed", 1),
        ("x = 1\ntools = [y]\n", "tools-failed", "NameError: name 'y' is not defined", 2),
        ("import nothing_there\n", "tools-failed", '"nothing_there" cannot be found', 1),
        ("import sys\n\nsys.exit(0)\n", "tools-failed", "it ends the program", 3),
        ("import os\nos._exit(3)\n", "tools-failed", "(exit code 3)", None),
        ("import os\nos.abort()\n", "tools-failed", "(SIGABRT)", None),
        ("input()\n", "tools-failed", "EOFError", 1),
        ("", "no-tools-list", "it has no list named tools", None),
        ("tools = None\n", "no-tools-list", "its tools are a NoneType", None),
        ("tools = {1, 2}\n", "no-tools-list", "its tools are a set, and no list", None),
        ("tools = [{}]\n", "bad-tool", "it is a dict, and no tool", None),
        ("from remit.kit import Tool\n\ntools = [Tool]\n", "bad-tool", "no tool", None),
        (TOOLS.replace("input=SaveBookmark", "input=dict"), "tools-failed", "Pydantic", 14),
    ],
)
def test_what_cannot_be_run_is_told(
    folder: Folder, text: str, rule: str, words: str, line: int | None
) -> None:
    """In one sentence, with the line in the author's own file."""
    fault = fault_of(folder(with_tools(text)))
    assert (fault.mistake.rule, fault.line) == (rule, line)
    assert words in fault.mistake.message


@pytest.mark.parametrize(
    ("change", "rule", "at", "words"),
    [
        pytest.param(
            ("url: str", "url: __import__('typing').Callable"),
            "no-json-schema",
            "/input",
            "JSON",
            id="no JSON type",
        ),
        pytest.param(
            ('category="write"', 'response_mapping={"a": 1 + 2j}'),
            "bad-tool",
            "/responseMapping/a",
            "a complex",
            id="no JSON value",
        ),
        pytest.param(
            ('category="write"', 'response_mapping={"a": float("nan")}'),
            "bad-tool",
            "/responseMapping/a",
            "nan",
            id="not a number",
        ),
        pytest.param(
            ('category="write"', 'confirm={"title": "\\ud800"}'), "bad-tool",
            "/confirm/title", "surrogate",
            id="half a character",
        ),
    ],
)  # fmt: skip
def test_fault_of_one_tool_names_tool_and_field(
    folder: Folder, change: tuple[str, str], rule: str, at: str, words: str
) -> None:
    """The others are read all the same."""
    text = TOOLS.replace(*change)
    fault = fault_of(folder(with_tools(text)))
    assert (fault.mistake.rule, fault.mistake.at) == (rule, at)
    assert words in fault.mistake.message
    if at:
        assert fault.mistake.tool == "save_bookmark"
        assert fault.line is not None
        argument = {"/input": "input", "/confirm/title": "confirm"}.get(at, "response_mapping")
        assert f"{argument}=" in text.splitlines()[fault.line - 1]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("class E(Exception):\n    def __str__(self): raise KeyError\nraise E", "tools-failed"),
        (
            "class T:\n    def __getattr__(self, name): raise KeyboardInterrupt\ntools = [T()]",
            "bad-tool",
        ),
        ("class T:\n    def record(self): return {'x': 10**5000}\ntools = [T()]", "bad-tool"),
        ("class T:\n    def record(self): raise SystemExit(3)\ntools = [T()]", "bad-tool"),
    ],
    ids=["speechless", "no attributes", "huge number", "exits"],
)
def test_odd_object_is_a_fault_and_no_crash(folder: Folder, code: str, rule: str) -> None:
    """Whatever an author's object does when it is looked at, it is told with its file."""
    fault = fault_of(folder(with_tools(code)))
    assert fault.mistake.rule == rule
    assert "ended before" not in fault.mistake.message


def test_fault_in_an_imported_file_names_that_file(folder: Folder) -> None:
    """The skill's folder is the first on the path."""
    root = folder({**with_tools("import inner\n"), "skills/bookmarks/inner.py": "\n1 / 0\n"})
    fault = fault_of(root)
    assert fault.line == 1
    assert fault.mistake.message.endswith(
        "ZeroDivisionError: division by zero (skills/bookmarks/inner.py, line 2)"
    )


def test_what_the_file_prints_goes_to_stderr(
    folder: Folder, capfd: pytest.CaptureFixture[str]
) -> None:
    """From Python and from a process that it starts; the answer holds none of it."""
    head = "import subprocess\nprint('{\"tools\": 1}')\nsubprocess.run(['echo', 'child'])\n"
    found = build(folder(with_tools(head + TOOLS)), brand="Remit", limit_s=30)
    out, err = capfd.readouterr()
    assert found.faults == ()
    assert out == ""
    assert '{"tools": 1}' in err
    assert "child" in err


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("end", "rule"),
    [
        pytest.param("while True:\n    pass\n", "tools-timeout", id="never returns"),
        pytest.param("process.wait()\n", "tools-timeout", id="waits"),
        pytest.param("1 / 0\n", "tools-failed", id="fails"),
    ],
)
def test_nothing_that_the_file_started_lives_on(
    folder: Folder, tmp_path: Path, end: str, rule: str
) -> None:
    """The whole group is killed, when time is up and when the file is done."""
    pids = tmp_path / "pids"
    text = (
        "import os, signal, subprocess\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "process = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{process.pid}}')\n"
    )
    fault = fault_of(folder(with_tools(text + end)), limit_s=4)
    assert fault.mistake.rule == rule
    started = [int(pid) for pid in pids.read_text("utf-8").split()]
    until = time.monotonic() + 10
    while any(map(_alive, started)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [pid for pid in started if _alive(pid)] == []


def test_limit_is_said_with_what_to_do(folder: Folder) -> None:
    """A tools.py that never returns is a named error (issue 5)."""
    fault = fault_of(folder(with_tools("import threading\nthreading.Event().wait()\n")), limit_s=1)
    assert fault.mistake.rule == "tools-timeout"
    assert "within 1 s" in fault.mistake.message
    assert "--timeout" in fault.mistake.mend


def test_process_that_leaves_the_group_does_not_hold_the_build(folder: Folder) -> None:
    """It keeps the pipe open, and the answer is there all the same."""
    head = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.close(2)\n"
        "    time.sleep(20)\n"
        "    os._exit(0)\n"
    )
    found = build(folder(with_tools(head + TOOLS)), brand="Remit", limit_s=15)
    assert found.faults == ()


def test_answer_that_is_too_large_is_refused(folder: Folder) -> None:
    """The parent reads no more than it can use."""
    text = TOOLS + '\ntools[0].input.__doc__ = "x" * 20_000_000\n'
    fault = fault_of(folder(with_tools(text)))
    assert "more than 16,777,216 bytes" in fault.mistake.message


def test_settings_of_remit_do_not_reach_the_file(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys are nothing to a declaration; what a component is told stays."""
    monkeypatch.setenv("REMIT_KEY", "a-secret")
    monkeypatch.setenv("REMIT_APP_COMPONENT_URL", "http://127.0.0.1:8802")
    text = (
        "import os\n"
        + TOOLS
        + "\nnames = sorted(name for name in os.environ if name.startswith('REMIT_'))\n"
        "raise SystemError(' '.join(names))\n"
    )
    assert fault_of(folder(with_tools(text))).mistake.message.endswith(
        "SystemError: REMIT_APP_COMPONENT_URL"
    )


@pytest.mark.promise("K-05")
def test_pydantic_model_is_enforced_with_strictness_and_formats(folder: Folder) -> None:
    """Bounds, formats, closed objects and nested models reach the definition."""
    model = (
        "class Tag(BaseModel):\n    name: str\n\n\nclass SaveBookmark(BaseModel):\n"
        '    model_config = ConfigDict(extra="forbid")\n\n'
        "    url: AnyUrl\n    rank: int = Field(ge=1, le=5)\n    tags: list[Tag] = []\n"
    )
    start = TOOLS.index("class SaveBookmark")
    end = TOOLS.index("\n\ntools = [")
    text = (TOOLS[:start] + model + TOOLS[end:]).replace(
        "BaseModel, ConfigDict", "AnyUrl, BaseModel, ConfigDict, Field"
    )
    found = build(folder(with_tools(text)), brand="Remit", limit_s=30)
    assert found.faults == ()
    assert refusals(found.document, {"url": "https://a.example", "rank": 5}) == []
    assert refusals(found.document, {"url": "nowhere", "rank": 5}) == ["/url"]
    assert refusals(found.document, {"url": "https://a.example", "rank": 6}) == ["/rank"]
    assert refusals(
        found.document, {"url": "https://a.example", "rank": 1, "tags": [{"name": 1}]}
    ) == ["/tags/0/name"]
    assert refusals(found.document, {"url": "https://a.example", "rank": 1, "x": 1}) != []


def refusals(document: object, arguments: dict[str, object]) -> list[str]:
    """Where the first tool's parameters refuse arguments: pointers."""
    from remit.calls.arguments import settle
    from remit.catalog.definitions import load_definition
    from remit.errors import InvalidArguments

    loaded = load_definition(document)  # type: ignore[arg-type] -- built just now
    assert loaded.definition is not None, [str(m) for m in loaded.mistakes]
    try:
        settle(loaded.definition.tools[0], arguments, {})  # type: ignore[arg-type]
    except InvalidArguments as error:
        return [fault["pointer"] for fault in (error.details or {})["faults"]]  # type: ignore[attr-defined]
    return []


def test_user_environment_reaches_the_file(folder: Folder) -> None:
    """A module of the app may read its own settings when it is imported."""
    text = f"import os\nassert os.environ['PATH'] == {os.environ['PATH']!r}\n" + TOOLS
    found = build(folder(with_tools(text)), brand="Remit", limit_s=30)
    assert found.faults == ()
    assert json.dumps(found.document["tools"])
