"""The pages of `remit explain`: each is run, and each says what the code does."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import remit
from remit.catalog.definitions import load_definition
from remit.catalog.mistakes import Mistake
from remit.documents.load import parse_document
from remit.documents.problems import DocumentError
from remit.lint.fetches import lint_fetch
from remit.lint.run import lint_catalog, unreadable
from remit.lint.table import FOLDER_RULES, LOAD_RULES, every_rule
from remit.main.pages import ids, page
from tests.lint.documents import findings

SOURCE = Path(remit.__file__).parent
# Those of app folders have folders for examples: tests/building/test_pages.py builds them.
RULES = {rule.id: rule for rule in every_rule() if rule not in FOLDER_RULES}
RULE_ID = re.compile(r"[a-z]+(?:-[a-z]+)+")
SECTIONS = ["What happened", "Why it matters", "An example that fails", "The same, mended"]
FETCHED = re.compile(r"# toolsUrl answers (?:in (\d+) ms|(\d+))\n")


def read(rule: str) -> tuple[str, dict[str, str]]:
    """The head of a page and its sections."""
    text = page(rule)
    assert text is not None
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return head, {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def example(section: str) -> str:
    """The one fenced YAML text of a section."""
    (found,) = re.findall(r"```yaml\n(.*?)```", section, flags=re.DOTALL)
    return found


def lint(section: str) -> tuple[Mistake, ...]:
    """The findings of an example.

    Its first line may say how a toolsUrl answered, and a JSON text what it serves.
    """
    text = example(section)
    try:
        document = parse_document(text.encode(), name="example.yaml")
    except DocumentError as error:
        return unreadable(error.problems)
    for served in re.findall(r"```json\n(.*?)```", section, flags=re.DOTALL):
        definition = load_definition(document).definition  # type: ignore[arg-type]
        assert definition is not None
        return (*findings(document), *lint_catalog(json.loads(served), definition=definition))
    told = FETCHED.match(text)
    if told is None:
        return findings(document)
    failure = f"answered {told[2]}" if told[2] else None
    return (
        *lint_fetch(elapsed_ms=int(told[1] or 0), size_bytes=0, failure=failure),
        *findings(document),
    )


@pytest.mark.parametrize("rule", RULES)
def test_the_failing_example_of_a_page_gives_its_rule(rule: str) -> None:
    """Issue 2, point 4: a failing input that a test runs."""
    found = lint(read(rule)[1][SECTIONS[2]])
    assert rule in [m.rule for m in found]
    assert [m.rule for m in found if m.level == "error" and m.rule != rule] == []


@pytest.mark.parametrize("rule", RULES)
def test_the_mended_example_of_a_page_has_no_error_and_not_its_rule(rule: str) -> None:
    """Issue 2, point 4: and its mended form."""
    found = lint(read(rule)[1][SECTIONS[3]])
    assert rule not in [m.rule for m in found]
    assert [str(m) for m in found if m.level != "note"] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_page_says_what_happened_and_why_in_a_few_words(rule: str) -> None:
    """Title, level and four sections; 60 to 150 words of prose."""
    head, sections = read(rule)
    assert head == f"# {rule}\n\nlevel: {RULES[rule].level}\n\n"
    assert list(sections) == SECTIONS
    assert 60 <= len(f"{sections[SECTIONS[0]]} {sections[SECTIONS[1]]}".split()) <= 150


def test_every_rule_has_a_page_and_every_page_of_a_rule_has_one() -> None:
    """Codes of a call have underscores or are one word; rules have hyphens."""
    assert {name for name in ids() if "-" in name} == {rule.id for rule in every_rule()}


def emitted(folder: Path) -> set[str]:
    """Every rule that a room's code notes: the first argument of its collectors, written out."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = node.args[:1] if node.func.attr in ("wrong", "add") else []
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "rule":
                named = [node.value]
            else:
                continue
            texts = (c.value for n in named for c in ast.walk(n) if isinstance(c, ast.Constant))
            found |= {text for text in texts if isinstance(text, str) and RULE_ID.fullmatch(text)}
    return found


def test_every_rule_that_loading_can_give_is_in_the_table() -> None:
    """A new mistake without a page would leave a person alone with its id, and the reverse."""
    assert emitted(SOURCE / "catalog") | {"bad-document"} == set(LOAD_RULES)


def test_every_id_stands_in_the_table_once() -> None:
    """A rule that looks at tools and at the app has one id and one page."""
    assert len(RULES) + len(FOLDER_RULES) == len(every_rule())
    assert all(RULE_ID.fullmatch(rule) for rule in RULES)


@pytest.mark.parametrize(
    "name", ["", "..", "../cli", "nope", "EMPTY-DESCRIPTION", "empty-description.md", "a/b"]
)
def test_what_is_no_id_has_no_page(name: str) -> None:
    """A page is looked up by id, never by path."""
    assert page(name) is None
