"""The pages to learn from: every command in them runs, and what they show is what happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from remit.catalog.definitions import load_catalog, load_definition
from remit.catalog.requests import Surroundings
from remit.catalog.schemas import schema_of
from remit.documents.load import parse_document
from remit.policy.reading import load_policy
from tests.docs.console import Step, blocks, run, steps
from tests.examples.scenes_process import SCENES, RunningApp, start_app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LEARNING = sorted(p for part in ("start", "guide", "operate") for p in (DOCS / part).glob("*.md"))
# Their commands go to a server: tests of their own type them.
SERVED = {DOCS / "start" / name for name in ("server.md", "conversation.md", "folders.md")}
ALL = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
DECLARED = "127.0.0.1:8801"
COMMAND = "$ remit "


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningApp]:
    """The example app and a folder as the pages have them."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "REMIT_EGRESS_ALLOW": "127.0.0.1",
        "REMIT_TOKEN": "ana-token",
        "REMIT_CACHE_DIR": str(tmp_path / "cache"),
        # Somebody may have a server running while the tests do.
        "REMIT_SERVER_PORT": "0",
        "NO_COLOR": "1",
        "COLUMNS": "96",
    }.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:
        app = start_app(stack, tmp_path)
        for example in SCENES.glob("*.yaml"):
            text = example.read_text("utf-8").replace(DECLARED, app.address)
            Path(example.name).write_text(text, "utf-8")
        yield app


def check(step: Step, app: RunningApp) -> None:
    """Run a step and compare."""
    code, shown = run(step)
    shown = "".join(
        f"{line.rstrip()}\n" for line in shown.replace(app.address, DECLARED).splitlines()
    )
    assert code == step.code, f"$ {step.command}\n{shown}"
    if step.shown.strip():
        fits = step.pattern().fullmatch(shown) is not None
        assert fits, f"The page shows\n{step.shown}\nbut $ {step.command}\n{shown}"


@pytest.mark.parametrize("page", [page for page in LEARNING if page not in SERVED], ids=_name)
def test_commands_of_a_page_do_what_it_shows(page: Path, app: RunningApp) -> None:
    """A reader types what is there and sees what is there, from top to bottom."""
    for block in blocks(page):
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text.replace(DECLARED, app.address), "utf-8")
        if block.language == "console" and block.text.startswith(COMMAND):
            for step in steps(block.text):
                check(step, app)


TOOL = {
    "name": "a_tool",
    "description": "Does it.",
    "category": "write",
    "dangerLevel": "moderate",
    "parameters": {"type": "object", "properties": {}},
    "endpoint": {"method": "POST", "path": "/x"},
}
DEFINITION = {
    "id": "an-app",
    "name": "An App",
    "baseUrl": "https://api.example/v1",
    "auth": {"type": "none"},
    "components": {"api": {"url": "https://component.example"}},
}


def _as_definition(document: Any) -> Any:  # noqa: ANN401 - a decoded document
    """A fragment of a page as the definition it is cut from."""
    if isinstance(document, list):
        return {**DEFINITION, "tools": document}
    tool_keys = schema_of("tool")["$defs"]["tool"]["properties"]  # type: ignore[index, call-overload]
    if "auth" in document or not set(document) <= set(tool_keys):
        return {**DEFINITION, **document}
    base = {k: v for k, v in TOOL.items() if not (k == "endpoint" and "target" in document)}
    return {**DEFINITION, "tools": [{**base, **document}]}


@pytest.mark.parametrize("page", LEARNING, ids=_name)
def test_every_definition_and_fragment_on_a_page_loads(page: Path) -> None:
    """What a reader copies is sound."""
    for block in blocks(page):
        if block.language != "yaml":
            continue
        document = parse_document(block.text.encode(), name="page.yaml")
        if isinstance(document, dict) and "rules" in document:
            assert load_policy(document).mistakes == (), block.text
            continue
        found = load_definition(_as_definition(document)).mistakes
        assert [str(mistake) for mistake in found] == [], block.text
        if isinstance(document, list):
            loaded = load_catalog(document, Surroundings(components=frozenset({"api"})))
            assert loaded is not None
            assert loaded.mistakes == ()


@pytest.mark.parametrize("page", ALL, ids=_name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A link is a promise."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index_of_its_folder() -> None:
    """A page that no index names is found by nobody."""
    for page in sorted(DOCS.rglob("*.md")):
        if page.name != "README.md":
            assert f"({page.name})" in (page.parent / "README.md").read_text("utf-8"), page
