"""The local runner: one call to a handler, and what is wrong with the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from remit.kit import App, ClientTarget, Tool, ToolContext
from remit.kit.__main__ import main
from remit.kit.testing import API, THREAD, Issuer, NotSent, Outcome
from remit.main.free_port import free_port
from tests.kit import bookmarks
from tests.kit.bookmark_tools import AUDIENCE, SAVE, SEARCH, SaveBookmark
from tests.kit.serving import wsgi

ARGS: dict[str, Any] = {"url": "https://a.example"}
BUTTON = {"type": "button", "id": "a", "label": "A"}
CARD: dict[str, Any] = {"type": "action_required", "title": "Go", "elements": [BUTTON]}


def answered(
    body: object, status: str = "200 OK", kind: str = "application/json", *,
    tool: Tool = SAVE, context: ToolContext = THREAD,
) -> Outcome:  # fmt: skip
    """Call a component that answers this to everything."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def app(_environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        start(status, [("Content-Type", kind)] if kind else [])
        return [data]

    with Issuer() as issuer, wsgi(app) as url:
        return issuer.call(tool, ARGS, component_url=url, audience=AUDIENCE, context=context)


GOOD = [
    pytest.param({"content": "Saved.", "more": 1}, {}, id="content"),
    pytest.param({"content": "a", "embedUrl": "http://127.0.0.1:1/"}, {}, id="a page"),
    pytest.param(b"Saved.", {"kind": "text/plain"}, id="a text"),
    pytest.param("Saved.", {}, id="a text as JSON"),
    pytest.param({"content": "a", "embedUrl": "", "markdown": None}, {}, id="empty channels"),
    pytest.param(b"Saved.", {"kind": ""}, id="a text of no kind"),
    pytest.param(CARD, {}, id="a card"),
    pytest.param(
        CARD | {"description": "b", "assignee": {"computerId": "d"}}, {}, id="an assigned card"
    ),
    pytest.param(
        {"code": "no", "error": "No."}, {"status": "409 No", "context": API}, id="an error"
    ),
]
BAD = [
    pytest.param({"markdown": "a"}, {}, ["content is missing"], id="no content"),
    pytest.param({"content": ""}, {}, ["content is missing"], id="empty content"),
    pytest.param({"content": ["a"]}, {}, ["content is missing"], id="content no text"),
    pytest.param({"content": "a", "markdown": 1}, {}, ["markdown is no text"], id="markdown"),
    pytest.param(
        {"content": "a", "embedUrl": "/b"}, {}, ["embedUrl is not absolute"], id="a relative page"
    ),
    pytest.param(
        {"content": "a", "embedUrl": "http://acme.example"}, {}, ["embedUrl is http"], id="http"
    ),
    pytest.param({"content": "a", "embedUrl": 1}, {}, ["embedUrl is no text"], id="no address"),
    pytest.param({"content": " "}, {}, ["content is missing"], id="blank content"),
    pytest.param(["a"], {}, ["neither a text nor an object"], id="a list"),
    pytest.param(None, {}, ["neither a text nor an object"], id="null"),
    pytest.param(b"{", {}, ["cannot be read"], id="broken JSON"),
    pytest.param(
        {"content": "a", "markdown": "b" * 16_385}, {}, ["markdown has more"], id="a long note"
    ),
    pytest.param(b'{"content":"a","content":"b"}', {}, ["cannot be read"], id="a name twice"),
    pytest.param(b"", {"kind": "text/plain"}, ["The answer is empty"], id="nothing"),
    pytest.param(CARD, {"context": API}, ["A card needs a thread"], id="a card to the API"),
    pytest.param(
        {"type": "action_required", "description": 1, "assignee": "d"},
        {},
        ["title is missing", "description is missing", "computerId must", "has 0 buttons"],
        id="an empty card",
    ),
    pytest.param(
        CARD | {"elements": [BUTTON, BUTTON]}, {}, ["Two buttons of the card"], id="one id twice"
    ),
    pytest.param(
        CARD | {"elements": ["a", {"type": "button", "variant": "big", "target": {"type": "x"}}]},
        {},
        ["elements/0: It is no", "id must", "label is missing", "variant is none", "target is no"],
        id="a broken button",
    ),
    pytest.param(b"Oh", {"status": "500 Oh", "kind": ""}, ["no JSON of the form"], id="a crash"),
    pytest.param(
        b"", {"status": "404 No", "kind": ""}, ["no such route", "no JSON of"], id="no route"
    ),
    pytest.param({"content": "a"}, {"status": "302 Found"}, ["Redirects are not"], id="a redirect"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "more"), GOOD)
def test_a_good_answer_has_no_fault(body: object, more: dict[str, Any]) -> None:
    """Text, channels, a card in a thread, an error with code and words."""
    assert answered(body, **more).faults == ()


@pytest.mark.parametrize(("body", "more", "faults"), BAD)
def test_each_fault_of_an_answer_is_said(
    body: object, more: dict[str, Any], faults: list[str]
) -> None:
    """By the contract, before a person or a model meets it."""
    found = answered(body, **more).faults

    assert len(found) == len(faults)
    assert all(words in fault for words, fault in zip(faults, found, strict=True)), found


def test_channels_are_data_where_fields_are_mapped() -> None:
    """A tool with a mapping may answer any JSON object."""
    mapped = Tool(
        "save", description="Saves.", input=SaveBookmark, target=SAVE.target,
        response_mapping={"id": "id"},
    )  # fmt: skip

    assert answered({"id": 1}, tool=mapped).faults == ()


def test_arguments_are_held_to_the_model() -> None:
    """As a server would, before anything is sent."""
    with Issuer() as issuer, pytest.raises(ValidationError):
        issuer.call(SAVE, {"url": "x"}, component_url="http://127.0.0.1:9", audience=AUDIENCE)


@pytest.mark.parametrize(
    ("tool", "url", "words"),
    [
        pytest.param(SAVE, "http://127.0.0.1:9", "did not answer", id="nobody there"),
        pytest.param(SAVE, "127.0.0.1:9", "is no http", id="no address"),
        pytest.param(SEARCH, "http://127.0.0.1:9", "leads to nothing", id="a missing reference"),
        pytest.param(
            Tool("a", description="A.", input=SaveBookmark, target=ClientTarget("notify")),
            "http://127.0.0.1:9",
            "no app target",
            id="another target",
        ),
    ],
)
def test_a_call_that_cannot_be_made_says_why(tool: Tool, url: str, words: str) -> None:
    """One sentence."""
    args = {"words": ["a"]} if tool is SEARCH else ARGS
    with Issuer() as issuer, pytest.raises(NotSent, match=words):
        issuer.call(tool, args, component_url=url, audience=AUDIENCE)


TOOLS = """
from __future__ import annotations
from pydantic import BaseModel
from remit.kit import AppTarget, ClientTarget, Tool
from shared import SAVE, SEARCH

class Node(BaseModel):
    kids: list[Node] = []

tools = [
    SAVE,
    SEARCH,
    Tool("note", description="Notes.", input=Node, target=ClientTarget("notify")),
]
"""


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    """A file of tools that takes some of them from a file beside it."""
    shared = "from tests.kit.bookmark_tools import SAVE, SEARCH\n"
    (tmp_path / "shared.py").write_text(shared, "utf-8")
    (tmp_path / "tools.py").write_text(TOOLS, "utf-8")
    return str(tmp_path / "tools.py")


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m remit.kit call` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "remit.kit", "call", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )


def test_the_command_calls_a_handler(tools_file: str) -> None:
    """Again and again, each time with another key, and for the user that is named."""
    port = str(free_port())
    app = App(issuer=f"http://127.0.0.1:{port}", audience=AUDIENCE)
    with bookmarks.flask_app(app, bookmarks.save) as url:
        given = [tools_file, "save_bookmark", "--component", f"api={url}", "--issuer-port", port]
        given += ["--app", "bookmarks"]
        args = ["--args", json.dumps(ARGS)]
        first = ran(*given, *args)
        second = ran(*given, *args, "--user", "u2", "--brand", "Kazzle")
        card = ran(
            *given, "--source", "api", "--args",
            json.dumps(ARGS | {"title": "card"}),
        )  # fmt: skip
        other = ran(*given, *args, "--app", "other")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert json.loads(first.stdout) == {
        "status": 200,
        "contentType": "application/json",
        "answer": {"content": "Saved for user_1 in thread_1"},
        "faults": [],
    }
    assert json.loads(second.stdout)["answer"] == {"content": "Saved for u2 in thread_1"}
    assert card.returncode == 1
    assert json.loads(card.stdout)["answer"]["code"] == "action_unavailable"
    assert (other.returncode, json.loads(other.stdout)["status"]) == (1, 401)
    assert f"REMIT_APP_ISSUER=http://127.0.0.1:{port}" in other.stderr
    assert "REMIT_APP_AUDIENCE=other/api" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["other", "--component", "api=http://127.0.0.1:9"], 2, "has no tool other",
                     id="no tool"),
        pytest.param(["note", "--component", "api=http://127.0.0.1:9"], 2, "no app target",
                     id="a client target"),
        pytest.param(["search", "--component", "web=http://127.0.0.1:9"], 2, "component api",
                     id="another component"),
        pytest.param(["search", "--component", "api"], 2, "NAME=URL", id="no address"),
        pytest.param(["search", "--component", "api=http://127.0.0.1:9", "--args", "{"], 2,
                     "is no JSON", id="no JSON"),
        pytest.param(["search", "--component", "api=http://127.0.0.1:9", "--args", "[]"], 2,
                     "no JSON object", id="no object"),
        pytest.param(["search", "--component", "api=http://127.0.0.1:9"], 1,
                     "words: Field required", id="arguments that do not fit"),
        pytest.param(
            ["save_bookmark", "--component", "api=http://127.0.0.1:9", "--args", json.dumps(ARGS)],
            1, "did not answer", id="nobody there",
        ),
    ],
)  # fmt: skip
def test_the_command_says_what_it_cannot_do(
    tools_file: str,
    arguments: list[str],
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One sentence on stderr, and nothing on stdout."""
    # The command makes the file's folder and module its process's own.
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("tools", "shared"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)

    done = main(["call", tools_file, *arguments, "--issuer-port", str(free_port())])

    said = capsys.readouterr()
    assert (done, said.out) == (code, "")
    assert words in said.err
