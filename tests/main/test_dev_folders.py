"""`remit dev` on app folders: built, served with their components, built again on change."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.main.developing import Dev, developing, within
from tests.main.test_serving import Answer, Api

APP = """
id: acme
name: Acme
auth: {type: none}
components:
  api:
"""
SKILL = "---\nname: places\ndescription: Where things are.\n---\n\nSay it in one word.\n"
INPUTS = "from pydantic import BaseModel\n\n\nclass Where(BaseModel, extra='forbid'):\n    pass\n"
TOOLS = """
from inputs import Where
from remit.kit import AppTarget, Tool

tools = [
    Tool(
        "where",
        description="Says where the component answers, and for whom. Use it for that alone.",
        input=Where,
        target=AppTarget("api", "/where", "POST", body="${input}"),
        category="read",
        danger_level="safe",
    )
]
"""
#: Says what its environment says; its token is verified by the kit before.
COMPONENT = """
import os

import uvicorn
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.routing import Route

from remit.kit import Call, component_url
from remit.kit.starlette import handler


class Where(BaseModel):
    pass


@handler
def where(wish: Where, call: Call) -> str:
    return f"for {call.user} at {component_url('/where')}, {os.environ.get('REMIT_MODEL_API_KEY')}"


routes = [Route("/where", where, methods=["POST", "OPTIONS"])]
uvicorn.run(Starlette(routes=routes), port=int(os.environ["PORT"]), log_level="error")
"""
COMMAND = f"api={sys.executable} component.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An app folder with a component beside it, which has no address of its own."""
    skill = tmp_path / "app" / "skills" / "places"
    skill.mkdir(parents=True)
    (tmp_path / "component.py").write_text(COMPONENT, "utf-8")
    (tmp_path / "app" / "app.yaml").write_text(APP, "utf-8")
    (tmp_path / "app" / "inputs.py").write_text(INPUTS, "utf-8")
    (skill / "SKILL.md").write_text(SKILL, "utf-8")
    (skill / "tools.py").write_text(TOOLS, "utf-8")
    return tmp_path / "app"


def state(api: Api) -> Any:  # noqa: ANN401 - JSON
    """Of the one app."""
    return api.done("GET", "/dev/state")["apps"][0]


def answered(api: Api) -> Answer:
    """What the tool answers once the component listens."""
    found: list[Answer] = []

    def once() -> bool:
        found.append(api.ask("POST", "/v1/tools/acme/where/call", {"user": "ana", "args": {}}))
        return found[-1].json.get("error", {}).get("code") != "upstream_unreachable"

    within(once)
    return found[-1]


def running(dev: Dev) -> tuple[Api, str]:
    """The API, and the address of the component."""
    api = dev.enter()
    (component,) = api.done("GET", "/dev/state")["components"]
    return api, component["url"]


@pytest.mark.promise("K-09", "K-46")
@pytest.mark.parametrize("brand", ["Remit", "Kazzle"])
def test_a_folder_is_served_and_its_component_told_what_it_needs(
    folder: Path, tmp_path: Path, brand: str
) -> None:
    """Its public URL, and which tokens to believe; without an address in app.yaml, and no key."""
    env = {"REMIT_BRAND_NAME": brand, "REMIT_MODEL_API_KEY": "sesame"}
    with developing(tmp_path, "app", "--component", COMMAND, port=0, **env) as dev:
        api, url = running(dev)
        assert (state(api)["id"], state(api)["version"], state(api)["fault"]) == ("acme", 1, "")
        answer = answered(api)
        assert answer.json["content"] == f"for ana at {url}/where, None"
        (skill,) = api.done("GET", "/v1/apps/acme/versions/1")["definition"]["skills"]
        assert (skill["name"], skill["tools"]) == ("places", ["where"])
    del folder


def test_every_file_of_a_folder_is_watched_and_a_fault_leaves_the_last_good_one(
    folder: Path, tmp_path: Path
) -> None:
    """A module that the tools import, too; the fault is told with its file and line."""
    tools = folder / "skills" / "places" / "tools.py"
    with developing(tmp_path, "app", "--component", COMMAND) as dev:
        api, _ = running(dev)
        answered(api)
        wider = INPUTS.replace("    pass\n", "    floor: int | None = None\n")
        (folder / "inputs.py").write_text(wider, "utf-8")

        def offered() -> Any:  # noqa: ANN401 - JSON
            return api.done("GET", "/v1/apps/acme/catalog")["tools"][0]["parameters"]

        within(lambda: "floor" in offered()["properties"])

        tools.write_text(TOOLS.replace("input=Where,", "input=Here,"), "utf-8")
        within(lambda: state(api)["fault"])
        assert "app/skills/places/tools.py:9:1" in state(api)["fault"]
        assert "NameError" in state(api)["fault"]
        dev.said_within("app has a fault; the last good one goes on:")
        assert answered(api).status == 200

        tools.write_text(TOOLS, "utf-8")
        (folder / "skills" / "places" / "SKILL.md").write_text(SKILL + "Or in two.\n", "utf-8")
        within(lambda: not state(api)["fault"])
        number = state(api)["version"]
        newest = api.done("GET", f"/v1/apps/acme/versions/{number}")["definition"]
        assert newest["skills"][0]["body"].endswith("Or in two.")

        (folder / "kept.db").write_bytes(b"what a running component writes")
        revision = api.done("GET", "/dev/state")["revision"]
        (folder / "skills" / "places" / "notes.txt").write_text("a file more", "utf-8")
        within(lambda: api.done("GET", "/dev/state")["revision"] == revision + 1)


@pytest.mark.promise("K-26")
def test_a_route_that_is_not_answered_is_told_once_the_component_is_up(
    folder: Path, tmp_path: Path
) -> None:
    """On the page and in the terminal, with the tool's place; it goes when the path is mended."""
    tools = folder / "skills" / "places" / "tools.py"
    tools.write_text(TOOLS.replace('"/where"', '"/nowhere"'), "utf-8")
    with developing(tmp_path, "app", "--component", COMMAND) as dev:
        api, _ = running(dev)
        within(lambda: state(api)["warning"])
        assert "app/skills/places/tools.py:10:" in state(api)["warning"]
        assert 'component "api" has no route POST /nowhere' in state(api)["warning"]
        assert state(api)["fault"] == ""
        dev.said_within("app: a route is not answered:")
        tools.write_text(TOOLS, "utf-8")
        within(lambda: state(api)["warning"] == "")
        dev.said_within("app: every route that its tools name is there.")


def test_a_component_that_two_apps_have_is_told_of(folder: Path, tmp_path: Path) -> None:
    """One command serves one of them; how the other gets its own is said."""
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    (other / "app.yaml").write_text(
        APP.replace("id: acme", "id: other").replace("api:\n", "api: {url: http://127.0.0.1:9}\n"),
        "utf-8",
    )
    with developing(tmp_path, "app", "other", "--component", COMMAND) as dev:
        told = dev.said.read_text("utf-8")
        assert "acme and other have one of that name, and it serves acme." in told
        assert "Write --component other/api=… for the other." in told


def test_a_folder_with_a_fault_starts_its_component_when_it_is_mended(
    folder: Path, tmp_path: Path
) -> None:
    """An author begins with a folder that is not done yet; every fault of it is told."""
    good = (folder / "app.yaml").read_text("utf-8")
    (folder / "app.yaml").write_text(good + "colour: red\n", "utf-8")
    (folder / "skills" / "places" / "tools.json").write_text("[]", "utf-8")
    with developing(tmp_path, "app", "--component", COMMAND) as dev:
        api = dev.enter()
        assert state(api)["version"] == 0
        assert "colour" in state(api)["fault"]
        assert "o tools are read from a tools.json" in state(api)["fault"]
        # Where its component runs is given, and no fault.
        assert "/components/api" not in state(api)["fault"]
        assert api.done("GET", "/dev/state")["components"] == []
        (folder / "skills" / "places" / "tools.json").unlink()
        (folder / "app.yaml").write_text(good, "utf-8")
        within(lambda: state(api)["version"] == 1)
        within(lambda: api.done("GET", "/dev/state")["components"])
        assert answered(api).status == 200
