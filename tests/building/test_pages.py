"""The pages of `remit explain` on app folders: each example is built."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from remit.building import build, missing_routes, mistakes_of
from remit.catalog.definitions import load_definition
from remit.catalog.mistakes import Mistake
from remit.catalog.model import Definition
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.lint.run import lint_definition
from remit.lint.table import FOLDER_RULES
from remit.main.pages import page
from remit.testing.upstream import AppAnswer, ScriptedUpstream
from tests.building import node
from tests.docs.console import blocks

RULES = {rule.id: rule for rule in FOLDER_RULES}
SECTIONS = ["What happened", "Why it matters", "An example that fails", "The same, mended"]
PAGES = Path(__file__).parents[2] / "src" / "remit" / "main" / "pages"
COMPONENT = "http://127.0.0.1:8802"
ROUTES = ("route-not-answered", "component-not-reached")


def read(rule: str) -> tuple[str, dict[str, str]]:
    """The head of a page and its sections."""
    text = page(rule)
    assert text is not None
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return head, {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def found(rule: str, section: str, root: Path) -> list[tuple[str, str]]:
    """Level and rule of everything that is found in the folder of an example."""
    example = root / "example.md"
    root.mkdir()
    example.write_text(read(rule)[1][section] + "\n", "utf-8")
    folder = root / "my-app"
    for block in blocks(example):
        if block.language == "console":
            (folder / "skills/bookmarks").mkdir(parents=True, exist_ok=True)
            subprocess.run(block.text.removeprefix("$ ").split(), cwd=folder, check=True)
        else:
            place = folder / block.title
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, "utf-8")
    with ScriptedUpstream(
        lambda request: AppAnswer(status=405 if request.target == "/save" else 404)
    ) as component:
        app = folder / "app.yaml"
        if app.is_file():
            app.write_text(app.read_text("utf-8").replace(COMPONENT, component.origin), "utf-8")
        # A busy machine takes longer than a person's to start a process.
        limit_s = 2 if rule == "tools-timeout" and section == SECTIONS[2] else 30
        built = build(folder, brand="Remit", limit_s=limit_s)
        if not built.sound:
            mistakes = [*mistakes_of(built, brand="Remit")]
        else:
            mistakes = [*lint_definition(built.document)]
            if rule in ROUTES:
                definition = load_definition(built.document).definition
                assert definition is not None
                mistakes += asyncio.run(_looked(definition))
    everything = [*(fault.mistake for fault in built.faults), *mistakes]
    return [(mistake.level, mistake.rule) for mistake in everything]


async def _looked(definition: Definition) -> tuple[Mistake, ...]:
    async with GuardedClient(parse_allowances(("127.0.0.1",))) as egress:
        return await missing_routes(definition, egress)


@pytest.mark.parametrize("rule", RULES)
def test_examples_of_a_page_fail_and_are_mended(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failing one gives its rule and no other error, the mended one nothing to look at."""
    if rule == "no-node":
        monkeypatch.setenv("PATH", str(tmp_path))
    elif rule == "no-type-stripper":
        program = node.of_machine()
        if program is None:
            node.lacking("there is no Node here")
        said = subprocess.run([str(program), "--version"], capture_output=True, check=True)
        if int(said.stdout.decode().removeprefix("v").partition(".")[0]) >= 22:
            pytest.skip("this Node takes types off itself")
    failing = found(rule, SECTIONS[2], tmp_path / "failing")
    assert (RULES[rule].level, rule) in failing
    assert [r for level, r in failing if level == "error" and r != rule] == []
    mended = found(rule, SECTIONS[3], tmp_path / "mended")
    assert [r for level, r in mended if level != "note"] == []


@pytest.mark.parametrize("rule", RULES)
def test_page_says_what_happened_and_why_in_a_few_words(rule: str) -> None:
    """Title, level and four sections; 60 to 150 words of prose."""
    head, sections = read(rule)
    assert head == f"# {rule}\n\nlevel: {RULES[rule].level}\n\n"
    assert list(sections) == SECTIONS
    assert 60 <= len(f"{sections[SECTIONS[0]]} {sections[SECTIONS[1]]}".split()) <= 150


def test_every_rule_that_a_build_can_give_has_a_page() -> None:
    """Those of other tables have theirs already."""
    room = Path(__file__).parents[2] / "src" / "remit" / "building"
    text = "".join(
        path.read_text("utf-8")
        for path in (*room.rglob("*.py"), *room.rglob("*.mjs"))
        if path.name != "kit.mjs"
    )
    quoted = set(re.findall(r"[\"']([a-z]+(?:-[a-z]+)+)[\"']", text))
    assert set(RULES) <= quoted
    assert all((PAGES / f"{rule}.md").is_file() for rule in RULES)
