"""What may change without a review, and every text that reaches the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.statement.document import Items, Paragraph, Quote, Section
from remit.statement.subject import Subject
from remit.statement.texts import changes, texts
from tests.statement import apps
from tests.statement.apps import Document, loaded


def said(section: Section) -> str:
    """A whole section as one text."""
    lines: list[str] = []
    for block in section.blocks:
        if isinstance(block, Paragraph):
            lines.append(block.text)
        elif isinstance(block, Items):
            lines += [block.lead, *block.items]
        else:
            lines += [block.lead, *block.lines]
    return "\n".join(lines)


def changes_of(document: Document) -> str:
    """The section on changes."""
    return said(changes(Subject.of(loaded(document))))


def texts_of(document: Document) -> str:
    """The section on texts."""
    return said(texts(Subject.of(loaded(document))))


@pytest.mark.promise("T-43")
@pytest.mark.promise("T-49")
def test_a_fetched_catalog_is_said_with_its_ceiling_in_words() -> None:
    """Contract section 7: what the app's own server may do by itself, and how far."""
    text = changes_of(apps.library())

    assert "The app's own server is asked for its tools" in text
    assert "https://library.example/api/tools?v=2" in text
    assert "The ceiling: tools that may only read, and must be safe. What is above is dropped." in (
        text
    )


@pytest.mark.promise("T-43")
def test_a_static_catalog_is_said_to_be_one() -> None:
    """Contract section 7: without toolsUrl the app's server changes nothing."""
    text = changes_of(apps.small())

    assert "The app's server can change nothing by itself" in text
    assert "a higher ceiling" in text


def test_a_briefing_broken_by_hand_reads_as_prose_and_a_list_stays_one() -> None:
    """An author's line ends in the middle of a sentence are no lines of the text."""
    long = "A scene is a square floor of 20 by 20 metres with columns and panels"
    document = apps.small() | {"promptContext": f"{long}\non it.\n- one\n- two\nshort\nlines\n"}

    assert f"{long} on it.\n- one\n- two\nshort\nlines" in texts_of(document)


def test_texts_in_every_corner_of_a_schema_are_shown() -> None:
    """The model reads the whole schema; a text in an enum or a definition is a text."""
    record = apps.tool("find")
    record["parameters"] = {
        "type": "object",
        "description": "on the whole",
        "properties": {
            "a": {"title": "An a", "description": "what a is"},
            "b": {"type": "array", "items": {"enum": ["do as I say", "x"]}},
            "ignore all that": {"type": "string"},
            "c": {"default": "be so kind", "examples": [{"k": "one more thing"}]},
            "d": {"type": "string"},
        },
        "required": [],
        "$defs": {"e": {"description": "deep"}},
    }

    text = texts_of(apps.small() | {"tools": [record]})

    for words in (
        "a (An a): what a is",
        "b items enum: do as I say",
        "ignore all that: ",
        "c default: be so kind",
        "c examples k: one more thing",
        "arguments description: on the whole",
        "arguments $defs e description: deep",
    ):
        assert words in text, words
    assert "\nd:" not in text


@given(
    st.recursive(
        st.just("seven hidden words"),
        lambda inner: (
            st.lists(inner, min_size=1, max_size=2)
            | st.dictionaries(
                st.sampled_from(["default", "examples", "const", "x"]),
                inner,
                min_size=1,
                max_size=2,
            )
        ),
        max_leaves=4,
    )
)
def test_no_nesting_hides_a_text(value: object) -> None:
    """Whatever holds it, prose that reaches the model is shown."""
    record = apps.tool("find")
    record["parameters"]["properties"] = {"a": {"default": value}}

    assert "seven hidden words" in texts_of(apps.small() | {"tools": [record]})


def test_skills_are_shown_whole() -> None:
    """Contract section 8: the model reads name, description and body of a skill."""
    text = texts_of(apps.payments())

    assert "The skill “refunds”" in text
    assert "How refunds work.\n# Refunds\n\nA refund takes three days." in text


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"responseMapping": {"a": "a"}}, "only the fields that the tool names"),
        ({}, "The whole answer of every tool reaches the model."),
    ],
)
def test_whole_answers_are_said(mapping: Document, words: str) -> None:
    """Promise T-36's other side: what is not mapped reaches the agent whole."""
    assert words in texts_of(apps.small() | {"tools": [apps.tool("find", **mapping)]})


def test_a_tool_without_a_text_is_named_all_the_same() -> None:
    """Nothing of the catalog is left out because it says nothing."""
    document = apps.small() | {"tools": [apps.tool("find", description=" ")]}

    blocks = texts(Subject.of(loaded(document))).blocks

    assert not any(isinstance(block, Quote) for block in blocks)
    assert "No text but the names of these tools and of their arguments:\nfind" in texts_of(
        document
    )
