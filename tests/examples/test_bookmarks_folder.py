"""The app folder of Acme Bookmarks: what `remit build` and `remit lint` make of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.building.node import lacking
from tests.examples.bookmarks_process import BOOKMARKS, component, packages
from tests.main.developing import within
from tests.main.processes import run

TOOLS = ["save_bookmark", "search_bookmarks", "show_dashboard", "import_from_mail"]


@pytest.fixture(scope="module")
def installed() -> None:
    """What its tools.ts needs is there."""
    if not packages():
        lacking("there is no Node with npm here")


@pytest.fixture(scope="module")
def built(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - JSON
    """Its definition."""
    folder = tmp_path_factory.mktemp("built")
    ran = run(folder, "build", str(BOOKMARKS), "-o", "bookmarks.json", "--no-routes")
    assert ran.code == 0, ran.err
    return json.loads((folder / "bookmarks.json").read_text("utf-8"))


@pytest.mark.promise("K-01", "K-02")
def test_two_skills_in_two_languages_are_one_definition(built: Any) -> None:  # noqa: ANN401 - JSON
    """Each tool has typed inputs and one target, whichever language declares it."""
    assert [(one["name"], one["tools"]) for one in built["skills"]] == [
        ("bookmarks", TOOLS[:3]),
        ("mail", TOOLS[3:]),
    ]
    assert [tool["name"] for tool in built["tools"]] == TOOLS
    for tool in built["tools"]:
        assert tool["target"]["type"] == "app"
        assert tool["parameters"]["additionalProperties"] is False


@pytest.mark.usefixtures("installed")
def test_a_reviewer_has_nothing_to_ask(tmp_path: Path) -> None:
    """No error and no warning, also under --strict."""
    ran = run(tmp_path, "lint", str(BOOKMARKS), "--strict")
    assert ran.code == 0, ran.out
    assert not re.search(r"  (warning|error)  ", ran.out)


@pytest.mark.usefixtures("installed")
def test_every_route_that_the_tools_name_is_answered(tmp_path: Path) -> None:
    """The build asks the running component, and has nothing to warn of."""
    with component(tmp_path) as here:
        folder = tmp_path / "bookmarks"
        shutil.copytree(BOOKMARKS, folder, ignore=shutil.ignore_patterns("node_modules", "*.db*"))
        (folder / "node_modules").symlink_to(BOOKMARKS / "node_modules")
        app = folder / "app.yaml"
        text = app.read_text("utf-8").replace("http://127.0.0.1:8802", here.url)
        app.write_text(text, "utf-8")
        said: list[str] = []

        def built() -> bool:
            ran = run(
                tmp_path, "build", "bookmarks", "-o", "b.json", REMIT_EGRESS_ALLOW="127.0.0.1"
            )
            said.append(ran.err)
            # A component may take longer than a build waits, on a machine that is busy.
            return ran.code == 0 and "did not answer within" not in ran.err

        within(built)
    assert said[-1].startswith("Wrote b.json: 2 skills, 4 tools.")


@pytest.mark.usefixtures("installed")
def test_the_tools_in_typescript_have_the_types_of_the_kit() -> None:
    """As its author's editor says it; the kit is the one of this repository."""
    if not (BOOKMARKS.parents[1] / "sdk" / "dist" / "kit" / "index.d.ts").is_file():
        lacking("the npm package is not built: run .ci/sdk check")
    done = subprocess.run(
        ["npm", "run", "--silent", "check"],
        cwd=BOOKMARKS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_lock_names_no_host() -> None:
    """It installs from whichever registry is set."""
    lock = (BOOKMARKS / "package-lock.json").read_text("utf-8")
    assert "://" not in lock.replace("https://github.com/sponsors/", "")
