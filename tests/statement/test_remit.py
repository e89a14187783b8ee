"""The remit as one document: whole texts, its digest, and what a stranger can tell from it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.offer.bill import bill
from remit.statement.remit import build
from remit.statement.rendering import as_json, as_markdown, as_text, short
from tests.statement import apps
from tests.statement.apps import Document, loaded

GOLDEN = Path(__file__).parent / "golden"


def text_of(document: Document) -> str:
    """The remit of a document as text."""
    return as_text(build(loaded(document)))


@pytest.mark.promise("T-03")
@pytest.mark.parametrize("name", apps.ALL)
def test_the_whole_text_is_as_it_was_read_and_accepted(name: str) -> None:
    """Contract section 17: a reviewer reads this; a changed word is a change to look at."""
    assert text_of(apps.ALL[name]()) == (GOLDEN / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["small", "ugly"])
def test_the_markdown_is_as_it_was_read_and_accepted(name: str) -> None:
    """Contract section 17: the same document as markdown."""
    found = as_markdown(build(loaded(apps.ALL[name]())))

    assert found == (GOLDEN / f"{name}.md").read_text("utf-8")


@pytest.mark.promise("T-03")
def test_the_sections_stand_in_the_order_of_the_contract() -> None:
    """Contract section 17: abilities, worst, stops, hosts, changes, texts, bill; JSON has both."""
    document = as_json(build(loaded(apps.payments())))

    assert sorted(document) == ["digest", "sections"]
    sections = document["sections"]
    assert isinstance(sections, list)
    assert [s["id"] for s in sections if isinstance(s, dict)] == [
        "abilities",
        "worst",
        "stops",
        "hosts",
        "changes",
        "texts",
        "bill",
    ]


@pytest.mark.promise("T-03")
def test_a_stranger_can_answer_the_three_questions() -> None:
    """Issue 2: what is the worst, to whom does data go, what stops, from the output alone."""
    text = " ".join(text_of(apps.payments()).split())

    assert "The worst is “Refund a charge” (refund_charge): destructive" in text
    assert "The worst that runs without asking anybody is “Charge a card” (charge_card)" in text
    assert "https://books.ledger.example, an outside host, not the app's own." in text
    assert "LEDGER_KEY of “main/production”" in text
    assert "you are asked, and nothing can lift that: - “Post to the ledger”" in text
    assert "the workspace's policy may lift that: - “Refund a charge”" in text
    assert "Nobody is asked before the other 4 tools" in text


def reordered(value: object) -> object:
    """A document with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return [reordered(item) for item in value]
    return value


@pytest.mark.parametrize("name", apps.ALL)
def test_the_order_of_keys_changes_neither_text_nor_digest(name: str) -> None:
    """Contract section 17: always the same for the same input."""
    document = apps.ALL[name]()
    other = reordered(deepcopy(document))
    assert isinstance(other, dict)

    assert build(loaded(document)) == build(loaded(other))


def test_the_bill_is_shown_and_is_no_part_of_the_digest() -> None:
    """A better tokenizer must not make an approved document another one."""
    definition = loaded(apps.small())

    bare = build(definition)
    counted = build(definition, bill=bill(definition, definition.tools))

    assert counted.digest == bare.digest
    assert counted.sections[:-1] == bare.sections[:-1]
    assert "With every turn the model reads about" in as_text(counted)
    assert "Not counted in this copy" in as_text(bare)


def at(*path: str | int, to: object) -> Callable[[Document], None]:
    """A change of one place of a document."""

    def change(document: Document) -> None:
        place = document
        for step in path[:-1]:
            place = place[step]  # type: ignore[index]
        place[path[-1]] = to  # type: ignore[index]

    return change


FIXED = [
    at("name", to="Paylane Two"),
    at("baseUrl", to="https://api.paylane.example:444/2"),
    at("components", "risk", "url", to="https://risk2.paylane.example/score"),
    at("components", "risk", "env", "environment", to="staging"),
    at("auth", "type", to="bearer"),
    at("auth", "name", to="X-Other-Key"),
    at("env", "collection", to="other"),
    at("ceiling", to={"category": "action", "dangerLevel": "moderate"}),
    at("tools", 3, "target", "url", to="https://books2.ledger.example/lines"),
    at("tools", 3, "target", "url", to="https://api.paylane.example/lines"),
    at("tools", 3, "target", "headers", to={"X-Key": "${env.OTHER}"}),
    at("tools", 3, "requiresApproval", to=False),
    at("tools", 1, "requiresApproval", to=True),
    at("tools", 1, "dangerLevel", to="safe"),
    at("tools", 1, "category", to="write"),
    at("tools", 2, "endpoint", "method", to="PUT"),
    at("tools", 2, "name", to="refund"),
    at("tools", 5, "target", "name", to="copy_text"),
    # Texts are approved as well.
    at("promptContext", to="Amounts are in euros."),
    at("tools", 0, "description", to="Finds."),
    at("tools", 1, "parameters", "properties", "amount", "description", to="In euros."),
    at("skills", 0, "body", to="Refund all."),
    at("toolsUrl", to="https://api.paylane.example/tools"),
]


@pytest.mark.parametrize("change", FIXED)
def test_the_digest_changes_with_all_that_an_approval_fixes(
    change: Callable[[Document], None],
) -> None:
    """Contract section 17: an approval approves the digest, so it must see every such change."""
    document = apps.payments()
    document["skills"][0]["tools"] = []
    before = build(loaded(document)).digest

    change(document)
    if document["auth"]["type"] == "bearer":
        document["auth"] = {"type": "bearer"}

    assert build(loaded(document)).digest != before


LEVELS = st.tuples(
    st.sampled_from(["read", "write", "action"]),
    st.sampled_from(["safe", "moderate", "destructive"]),
    st.booleans(),
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
)


def held(levels: list[tuple[str, str, bool, str]]) -> Document:
    """Three tools held so, under a moderate ceiling, so that some are dropped."""
    tools = [
        apps.tool(f"tool_{index}", method, category=category, dangerLevel=danger) | approval
        for index, (category, danger, asks, method) in enumerate(levels)
        for approval in [{"requiresApproval": asks}]
    ]
    ceiling = {"category": "action", "dangerLevel": "moderate"}
    return apps.small() | {"tools": tools, "ceiling": ceiling}


@given(st.lists(LEVELS, min_size=3, max_size=3), st.lists(LEVELS, min_size=3, max_size=3))
def test_two_reaches_never_share_a_digest(
    one: list[tuple[str, str, bool, str]], other: list[tuple[str, str, bool, str]]
) -> None:
    """Category, danger, approval and method of every tool are in the document that is approved."""
    same = build(loaded(held(one))).digest == build(loaded(held(other))).digest

    assert same == (_admitted(one) == _admitted(other))


def _admitted(levels: list[tuple[str, str, bool, str]]) -> object:
    """The judgements; of a dropped destructive tool the flag says nothing: it stops either way."""
    return [
        (c, d, a or d == "destructive", m) if d == "destructive" else (c, d, a, m)
        for c, d, a, m in levels
    ]


def test_two_hundred_tools_are_all_there_and_can_be_read() -> None:
    """Nothing is hidden in a long catalog, and no list is one line for each of 200 tools."""
    document = apps.small()
    document["tools"] = [apps.tool(f"get_{number}", description="") for number in range(200)]

    text = text_of(document)

    assert all(f"get_{number}" in text for number in range(200))
    assert text.count("\n") < 200
    assert "and 196 more tools" in short(build(loaded(document)))
