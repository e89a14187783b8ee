"""`remit dev`: from a definition to a conversation and a playground (contract section 13)."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import urllib.request
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from remit.main.dev_serving import NO_MODEL
from remit.testing import Call, ScriptedModel, Turn
from tests.catalog.documents import definition, parameters
from tests.examples.scenes_process import RunningApp
from tests.main.conftest import Remit
from tests.main.developing import TOKEN, developing, within
from tests.main.dialog import Dialog
from tests.main.processes import COMMAND, WAIT_S, environment, run
from tests.main.test_serving import Api

# How every key begins.
KEY_TEXT = "rk_"
PAGES = resources.files("remit.web") / "pages"


def test_one_command_goes_from_a_file_to_a_playground(
    scenes: RunningApp, definition: str, tmp_path: Path
) -> None:
    """Loaded, approved at its own ceiling, the user connected; calls are those of production."""
    with developing(
        tmp_path, definition, "--user", "ana", "--token", f"acme-scenes={TOKEN}"
    ) as dev:
        api = dev.enter()
        state = api.done("GET", "/dev/state")
        assert state["user"] == "ana"
        assert state["model"] is None
        assert state["noModel"] == NO_MODEL
        assert [(a["id"], a["version"], a["wants"], a["fault"]) for a in state["apps"]] == [
            ("acme-scenes", 1, "", "")
        ]
        read = api.ask(
            "POST", "/v1/tools/acme-scenes/list_scenes/call", {"user": "ana", "args": {}}
        )
        assert (read.status, read.json["outcome"]) == (200, "ok")
        # The tool asks, here as everywhere; nothing is sent before.
        args = {"sceneId": "scn_blank"}
        waits = api.ask(
            "POST", "/v1/tools/acme-scenes/delete_scene/call", {"user": "ana", "args": args}
        )
        assert (waits.status, waits.json["outcome"]) == (202, "waiting_human")

        assert dev.process.send_signal(signal.SIGINT) is None
        assert dev.process.wait(WAIT_S) == 0
        told = dev.said.read_text("utf-8")
    assert "Connected as ana." in told
    assert TOKEN not in told
    assert api.key not in told
    # The scratch store goes with the run.
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("remit-dev-")] == []
    del scenes


def test_a_link_opens_once_and_only_for_its_own_host(definition: str, tmp_path: Path) -> None:
    """Whoever finds the link later, or reaches the port by another name, gets nothing."""
    with developing(tmp_path, definition) as dev:
        rebound = dev.ask("GET", "/dev", Host="attacker.example")
        assert (rebound.status, rebound.json["code"]) == (421, "misdirected_request")
        assert dev.ask("GET", "/dev/state").status == 401
        assert dev.ask("POST", "/dev/enter", {"code": "0" * len(dev.code)}).status == 401
        assert dev.ask("POST", "/dev/enter", {"code": 1}).status == 422
        assert dev.ask("GET", "/dev/enter").status == 405
        assert dev.ask("GET", "/dev/../main.py").status == 404
        api = dev.enter()
        token = api.done("POST", "/v1/tokens", {"user": "dev", "apps": ["acme-scenes"], "ttlS": 60})
        agent = Api(url=api.url, key=token["token"])
        assert agent.ask("GET", "/dev/state").status == 403
        again = dev.ask("POST", "/dev/enter", {"code": dev.code})
        assert (again.status, again.json["code"]) == (401, "unauthorized")


def test_enter_prints_another_link_and_ctrl_c_ends(definition: str, tmp_path: Path) -> None:
    """For a second browser; each link has a code of its own."""
    command = [*COMMAND, "dev", definition, "--port", "0"]
    env = {**environment({}), "TMPDIR": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    with Dialog(command, folder=tmp_path, env=env) as person:
        person.see("/dev#code=")
        person.see("Ctrl-C stops.")
        person.type("")
        person.see("/dev#code=")
        person.see("\n")
        person.interrupt()
        assert person.end() == 0
        codes = re.findall(r"#code=([0-9a-f]+)", person.text)
    assert len(set(codes)) == 2
    assert KEY_TEXT not in person.text


def test_a_faulty_file_leaves_the_last_good_one_and_is_shown(
    definition: str, tmp_path: Path
) -> None:
    """Terminal and page say the place and the mend; the next save is taken."""
    file = Path(definition)
    good = file.read_text("utf-8")
    with developing(tmp_path, definition) as dev:
        api = dev.enter()

        def app() -> dict[str, Any]:
            return api.done("GET", "/dev/state")["apps"][0]

        file.write_text(good.replace("method: GET", "method: GTE", 1), "utf-8")
        within(lambda: app()["fault"])
        assert 'is "GTE"' in app()["fault"]
        assert app()["version"] == 1
        dev.said_within("has a fault; the last good one goes on:")
        tools = api.done("GET", "/v1/apps/acme-scenes/catalog")["tools"]
        assert "list_scenes" in {tool["name"] for tool in tools}

        # Another id would be another app.
        file.write_text(good.replace("id: acme-scenes", "id: acme-stages", 1), "utf-8")
        within(lambda: "another app" in app()["fault"])

        # More than an edit is approved like the first version.
        file.write_text(good.replace("name: Acme Scenes", "name: Acme Stages", 1), "utf-8")
        within(lambda: (app()["version"], app()["name"], app()["fault"]) == (2, "Acme Stages", ""))
        assert api.done("GET", "/v1/apps/acme-scenes")["inForce"] == 2


def test_a_fault_at_the_start_is_told_and_mended_while_it_runs(tmp_path: Path) -> None:
    """An author begins with a file that is not done yet."""
    file = tmp_path / "app.yaml"
    file.write_text("id: acme\n", "utf-8")
    with developing(tmp_path, "app.yaml") as dev:
        api = dev.enter()
        app = api.done("GET", "/dev/state")["apps"][0]
        assert (app["id"], app["version"]) == (None, 0)
        assert "app.yaml" in app["fault"]
        file.write_text(json.dumps(plain()), "utf-8")
        within(lambda: api.done("GET", "/dev/state")["apps"][0]["version"] == 1)
        # What is sound and yet not good is not kept from its author.
        definition = plain()
        definition["tools"][0]["description"] = "Tool."
        file.write_text(json.dumps(definition), "utf-8")
        dev.said_within("`remit lint app.yaml` says which.")


COMPONENT = """
import http.server, json, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"content": os.environ["REMIT_APP_COMPONENT_URL"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


def plain(**changes: object) -> dict[str, Any]:
    """A definition with a tool on a component."""
    tool = {
        "name": "where",
        "description": "Says where the component answers. Use it for that alone.",
        "parameters": parameters(),
        "target": {"type": "app", "component": "api", "method": "GET", "path": "/where"},
    }
    document: dict[str, Any] = definition_of(tool)
    return {**document, "components": {"api": {"url": "https://api.acme.example"}}, **changes}


def definition_of(*tools: dict[str, Any]) -> dict[str, Any]:
    """A definition without a credential."""
    return {**definition(*tools), "auth": {"type": "none"}}


def test_components_are_started_and_called_where_they_run(tmp_path: Path) -> None:
    """The author's own process answers in the place of the address of the definition."""
    (tmp_path / "app.json").write_text(json.dumps(plain()), "utf-8")
    (tmp_path / "component.py").write_text(COMPONENT, "utf-8")
    command = f"api={sys.executable} component.py"
    given = ("--component", command, "--token", "sesame=acme")
    with developing(tmp_path, "app.json", *given) as dev:
        api = dev.enter()
        told = dev.said.read_text("utf-8")
        assert "--token names an app that no file has. The apps are: acme." in told
        assert "sesame" not in told
        component = api.done("GET", "/dev/state")["components"][0]
        assert component["running"] is True

        def answer() -> Any:  # noqa: ANN401 - JSON
            return api.ask("POST", "/v1/tools/acme/where/call", {"user": "dev", "args": {}}).json

        # It says that it listens to nobody: it is asked until it does.
        within(lambda: answer()["outcome"] == "ok")
        assert component["url"] in answer()["content"]


def test_a_conversation_goes_on_after_the_process_was_killed(
    scenes: RunningApp, definition: str, tmp_path: Path
) -> None:
    """With --keep: killed while an approval waits, started again, answered, done once."""
    del scenes
    script = [
        Turn(
            text="I delete it.", calls=(Call(name="delete_scene", args={"sceneId": "scn_lobby"}),)
        ),
        Turn(text="It is gone."),
    ]
    with ScriptedModel(script) as model:
        env = {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "none",
        }
        given = (definition, "--user", "ana", "--token", f"acme-scenes={TOKEN}", "--keep", "kept")
        with developing(tmp_path, *given, **env) as dev:
            api = dev.enter()
            assert api.done("GET", "/dev/state")["model"] == "openai:scripted"
            session = api.ask(
                "POST", "/v1/sessions", {"user": "ana", "apps": [{"id": "acme-scenes"}]}
            )
            path = f"/v1/sessions/{session.json['id']}"
            said = api.ask("POST", f"{path}/messages", {"text": "delete the lobby"})
            assert said.status == 202, said
            within(lambda: api.done("GET", path)["status"] == "waiting_human")
            dev.process.send_signal(signal.SIGKILL)
            dev.process.wait(WAIT_S)
        with developing(tmp_path, *given, **env) as dev:
            # The key of a page that is still open goes on, too.
            api = Api(url=dev.api.url, key=api.key)
            waiting = api.done("GET", path)["inputs"][0]
            assert waiting["tool"] == "delete_scene"
            body = {"decision": "approve", "digest": waiting["digest"], "user": "ana"}
            assert (
                api.done("POST", f"/v1/inputs/{waiting['id']}/answer", body)["status"] == "approved"
            )
            within(lambda: api.done("GET", path)["status"] == "idle")
            log = api.ask("GET", f"{path}/events", headers={"Accept": "application/json"}).json
            ends = [e["data"]["outcome"] for e in log["events"] if e["type"] == "tool_result"]
            texts = [e["data"]["text"] for e in log["events"] if e["type"] == "message"]
    assert ends == ["ok"]
    assert texts == ["delete the lobby", "I delete it.", "It is gone."]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.yaml",), "there is no such file"),
        (("folder",), "the folder has no app.yaml"),
        (("app.json", "--token", "sesame"), "write --token APP=T"),
        (("app.json", "--token", "acme=a", "--token", "acme=sesame"), "is given twice"),
        (("app.json", "--component", "api=no-such-program"), "cannot be started"),
        (("app.json", "--user", "two words"), "The user's id must have"),
    ],
    ids=["no file", "folder", "bare token", "token twice", "no program", "no user"],
)
def test_wrong_use_is_one_message_without_a_secret(
    arguments: tuple[str, ...], said: str, tmp_path: Path, remit: Remit
) -> None:
    """Before anything is served; exit code 2."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "app.json").write_text(json.dumps(plain()), "utf-8")
    ran = remit("dev", "--no-open", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "sesame" not in ran.err


# -- the page ----------------------------------------------------------------------------------


class Links(HTMLParser):
    """What a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.inline = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses, and code that stands in the page itself."""
        names = dict(attrs)
        self.found |= {value for key, value in attrs if key in {"src", "href"} and value}
        self.inline |= tag == "style" or (tag == "script" and "src" not in names)
        self.inline |= any(name == "style" or name.startswith("on") for name in names)


def test_the_page_is_served_whole_under_a_policy_that_runs_nothing_else(
    definition: str, tmp_path: Path, scenes: RunningApp
) -> None:
    """Every part is there and of its type; nothing from elsewhere runs, and no key is in it."""
    with developing(tmp_path, definition) as dev:

        def get(path: str) -> tuple[str, Any]:
            with urllib.request.urlopen(f"{dev.api.url}{path}") as answer:
                return answer.read().decode(), answer.headers

        html, headers = get("/dev")
        policy = headers["Content-Security-Policy"]
        assert (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" in policy
        )
        assert f"img-src 'self' http://{scenes.address};" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        links = Links()
        links.feed(html)
        assert not links.inline
        parts = {one.name for one in PAGES.iterdir() if one.name != "index.html"}
        imported = set(links.found)
        for name in parts:
            text, headers = get(f"/dev/{name}")
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
            imported |= set(re.findall(r'from "([^"]+)"', text))
        assert imported == {f"/dev/{name}" for name in parts}
        assert get("/")[0] == html


def test_whatever_the_page_shows_is_text() -> None:
    """No HTML is ever made of a text of an app or a model, and no address is built in."""
    for part in PAGES.iterdir():
        text = part.read_text("utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
        ):
            assert word not in text, (part.name, word)
        addresses = set(re.findall(r"https?://[\w.-]+", text)) - {"http://www.w3.org"}
        assert addresses == set(), part.name


def test_a_port_that_is_taken_is_said_with_the_option_that_chose_it(tmp_path: Path) -> None:
    """`remit dev` has `--port`; what is set for a server does not count here."""
    (tmp_path / "app.json").write_text(json.dumps(definition()), "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run(tmp_path, "dev", "--no-open", "--port", port, "app.json", "--user", "ana")
    assert done.code == 2
    assert f"--port {port}: nothing can listen there" in done.err
    assert "set another --port" in done.err
