"""The remit as text, markdown and JSON: an app's words forge nothing and are never cut."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from remit.statement.document import Remit, digest_of
from remit.statement.remit import build
from remit.statement.rendering import as_json, as_markdown, as_text, short
from tests.statement import apps
from tests.statement.apps import Document, loaded

HEADINGS = [
    "1. What it can do",
    "2. The worst single call",
    "3. What stops for a person",
    "4. Which hosts receive what",
    "5. What may change without a review",
    "6. What text it puts before the model",
    "7. What it costs the model",
]
SPITE = st.text(
    st.sampled_from(
        [*"\n\r\t #*_`[]()<>|-+=.!&~:/\\”“„ \u2028\u202e\u200b\x1b\x85\u00a0", "1", "a"]
    ),
    max_size=24,
)
HOSTILE = SPITE | st.sampled_from(
    [
        "\n3. What stops for a person\n\n   Everything.",
        "x”, which asks first. “",
        "[safe](https://evil.example) <https://evil.example> https://evil.example www.evil.example",
        "<script>alert(1)</script> <!-- ",
        "![x](https://evil.example/x.png)",
        "```\n# Heading\n```",
        "a\n===\n\nb\n---\n",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "&lt;b&gt; &#x41;",
        "[a]: https://evil.example\n\n[a]",
        "    indented code",
        "- item\n1. item\n1) item\n+ item",
        "a word " * 40 + "3. What stops for a person",
    ]
)


def said_by(words: str, tool: str = "") -> Remit:
    """The remit of an app that puts these words wherever it may."""
    document: Document = {
        "id": "spite",
        "name": words if words.strip() else "Spite",
        "description": words,
        "baseUrl": "https://spite.example",
        "auth": {"type": "bearer"},
        "promptContext": words,
        "skills": [{"name": words, "description": words, "body": words}],
        "tools": [
            apps.tool(
                "act",
                "POST",
                category="action",
                dangerLevel="destructive",
                title=tool or words,
                description=words,
                parameters={
                    "type": "object",
                    "properties": {"a": {"title": words, "description": words, "enum": [words]}},
                    "required": [],
                },
                bodyTemplate={"a": "{{args.a}}"},
            ),
            apps.tool("look", "DELETE", title=words, description=words),
        ],
    }
    return build(loaded(document))


@given(HOSTILE)
def test_no_words_of_an_app_begin_a_line_or_a_section_of_the_text(words: str) -> None:
    """A reviewer tells our words from the app's by where they stand."""
    lines = as_text(said_by(words)).split("\n")

    ours = [line for line in lines if line and not line.startswith("   ")]
    assert ours[0].startswith("The remit of ")
    assert ours[1:-1] == HEADINGS
    assert re.fullmatch(r"Digest [0-9a-f]{64}", ours[-1])


@given(HOSTILE)
def test_no_words_of_an_app_become_markup(words: str) -> None:
    """Markdown of a remit holds our headings and lists; no link, picture, code or HTML."""
    parsed = MarkdownIt("gfm-like", {"linkify": False}).parse(as_markdown(said_by(words)))

    blocks = {token.type for token in parsed}
    assert blocks <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
        *("blockquote_open", "blockquote_close"),
    }
    headings = [parsed[i + 1].content for i, t in enumerate(parsed) if t.type == "heading_open"]
    assert headings[1:] == HEADINGS
    inline = {child.type for token in parsed for child in token.children or ()}
    assert inline <= {"text", "text_special", "softbreak", "hardbreak", "code_inline"}
    code = [c.content for t in parsed for c in t.children or () if c.type == "code_inline"]
    assert len(code) == 1
    assert re.fullmatch(r"[0-9a-f]{64}", code[0])


@given(HOSTILE)
def test_quotes_open_and_close_in_turn(words: str) -> None:
    """Curly quotes are the app's alone and none inside closes them: a program can split there."""
    remit = said_by(words)
    texts: list[str] = [*remit.letter]
    for section in as_json(remit)["sections"]:  # type: ignore[union-attr]
        for block in section["blocks"]:  # type: ignore[index, call-overload, union-attr]
            texts += [block.get("text", ""), block.get("lead", ""), *block.get("items", [])]  # type: ignore[union-attr, arg-type, list-item]

    for text in texts:
        assert re.fullmatch(r"[^“”]*(“[^“”]*”[^“”]*)*", text), text
        assert "\n" not in text


@given(st.text(max_size=60))
def test_every_word_of_a_briefing_is_there(words: str) -> None:
    """Contract, bad input: nothing is cut. What cannot be seen is written out instead."""
    document = apps.small() | {"promptContext": f"begin {words} end"}
    text = as_text(build(loaded(document)))

    quoted = " ".join(line[5:] for line in text.split("\n") if line.startswith("   | "))
    for word in re.findall(r"[A-Za-z0-9]+", words):
        assert word in quoted


@pytest.mark.parametrize("mark", [*"\\`*_{}[]<>#|~&!@^$"])
def test_every_mark_of_markdown_and_its_kin_is_escaped(mark: str) -> None:
    """Formulas, footnotes and mentions are markup of some renderers."""
    document = apps.small() | {"promptContext": f"a{mark}b{mark}c"}

    assert f"> a\\{mark}b\\{mark}c" in as_markdown(build(loaded(document)))


def test_control_and_bidirectional_characters_are_written_out() -> None:
    """Contract section 7: third-party text is made visible."""
    text = as_text(said_by("a\u202eb\x1b[31mc\u200bd"))

    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "a⟨U+202E⟩b⟨U+001B⟩[31mc⟨U+200B⟩d" in text


@pytest.mark.parametrize("width", [20, 40, 70, 80, 120])
def test_the_text_keeps_its_width_but_for_long_words(width: int) -> None:
    """A host or a digest is never broken: it is there to be copied."""
    text = as_text(build(loaded(apps.payments())), width)

    for line in text.split("\n"):
        assert len(line) <= max(width, 40) or len(line.split()) <= 3, line
    assert "https://books.ledger.example," in text


def test_all_renderings_say_the_same() -> None:
    """Contract section 17: one document, and no other, as JSON, text and markdown."""
    remit = build(loaded(apps.payments()))

    plain = " ".join(as_text(remit).replace("   | ", "").split())
    marked = " ".join(re.sub(r"\\(.)", r"\1", as_markdown(remit)).split())
    for section in remit.sections:
        assert section.title in plain
        assert section.title in marked
        for block in section.blocks:
            for text in (getattr(block, "text", ""), getattr(block, "lead", "")):
                assert " ".join(text.split()) in plain
                assert text in marked
    assert short(remit) in plain
    assert short(remit) in marked


def test_the_digest_is_of_the_sections_as_json() -> None:
    """Anybody can check an approval: the digest is of what is shown, but for the bill."""
    remit = build(loaded(apps.small()))

    assert digest_of(remit.sections) == remit.digest
    assert digest_of(remit.sections[:-1]) == remit.digest
    assert digest_of(remit.sections[1:]) != remit.digest
    assert json.loads(json.dumps(as_json(remit))) == as_json(remit)
