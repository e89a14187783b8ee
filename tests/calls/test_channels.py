"""What a handler's answer is read as (contract section 8): a text, channels, or nothing good."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.answers import Body
from remit.calls.channels import (
    card_of,
    embed_origins,
    read_channels,
    takes_channels,
    why_not_embedded,
    without_query,
)
from remit.catalog.definitions import load_definition
from remit.catalog.model import Definition, Tool
from remit.errors import ResponseInvalid
from remit.values.json import JsonValue
from remit.values.secrets import NOTHING_SECRET, Masker, Secret
from tests.catalog.documents import Json, definition, endpoint_tool

HANDLER: Json = {
    "name": "show_chart",
    "description": "Shows a chart. Not for numbers.",
    "parameters": {"type": "object", "properties": {}},
    "target": {"type": "app", "component": "api", "path": "/t", "method": "POST"},
}
PAGES = frozenset({"https://pages.acme.example", "http://127.0.0.1:9000"})


def loaded(*tools: Json) -> Definition:
    """A definition with two components and a base address."""
    components = {
        "api": {"url": "https://api.acme.example/v1"},
        "pages": {"url": "https://pages.acme.example"},
    }
    found = load_definition(definition(*tools, components=components)).definition
    assert found is not None
    return found


def tool_of(record: Json = HANDLER) -> Tool:
    """The one tool of a definition."""
    (tool,) = loaded(record).tools
    return tool


def body(value: JsonValue) -> Body:
    """A decoded body."""
    return Body(kind="text" if isinstance(value, str) else "json", value=value)


def channels(value: JsonValue, masker: Masker = NOTHING_SECRET) -> object:
    """What is read, without the whole answer."""
    said = read_channels(tool_of(), body(value), masker, embeds=PAGES, embed_masker=NOTHING_SECRET)
    return (said.content, said.markdown, said.embed_url)


@pytest.mark.promise("K-28", "K-29", "K-30", "K-36")
@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("Saved", ("Saved", None, None)),
        ({"content": "c"}, ("c", None, None)),
        ({"content": "c", "markdown": "**m**"}, ("c", "**m**", None)),
        ({"content": "c", "markdown": "", "embedUrl": None}, ("c", None, None)),
        (
            {"content": "c", "markdown": "m", "embedUrl": "https://pages.acme.example/e?t=1#a"},
            ("c", "m", "https://pages.acme.example/e?t=1#a"),
        ),
        ({"content": "c", "more": 1}, ("c", None, None)),
    ],
    ids=["text", "content", "markdown", "empty", "embed", "unknown"],
)
def test_answer_is_read_in_its_channels(value: JsonValue, read: object) -> None:
    """Content is what the model reads; the others are for the person."""
    assert channels(value) == read


@pytest.mark.parametrize(
    "value",
    [
        None, "", "  \n", {}, {"markdown": "only"}, {"content": ""}, {"content": " "},
        {"content": None}, {"content": 3}, {"content": ["c"]}, [], ["c"], 3, True,
        {"content": "c", "markdown": 3}, {"content": "c", "embedUrl": ["x"]},
    ],
)  # fmt: skip
def test_answer_without_content_is_invalid(value: JsonValue) -> None:
    """Nothing is made up in the place of what the model would read."""
    with pytest.raises(ResponseInvalid, match="content that is not empty"):
        channels(value)


def test_secrets_are_taken_out_of_every_channel() -> None:
    """An app may echo what it was sent; its own page may be handed the identity token."""
    masker = Masker((Secret("tok_secret_1"),))
    said = read_channels(
        tool_of(),
        body(
            {
                "content": "a tok_secret_1",
                "markdown": "b tok_secret_1",
                "embedUrl": "https://pages.acme.example/?t=tok_secret_1",
                "more": {"c": "tok_secret_1"},
            }
        ),
        masker,
        embeds=PAGES,
        embed_masker=NOTHING_SECRET,
    )
    assert (said.content, said.markdown) == ("a ***", "b ***")
    assert said.embed_url == "https://pages.acme.example/?t=tok_secret_1"
    assert isinstance(said.result, dict)
    assert said.result["more"] == {"c": "***"}


@pytest.mark.promise("K-33")
@pytest.mark.parametrize(
    "address",
    [
        "/relative", "relative", "//pages.acme.example/e", "javascript:alert(1)",
        "data:text/html,x", "https://evil.example/e", "https://pages.acme.example.evil.example/",
        "https://user@pages.acme.example/", "http://pages.acme.example/", "HTTPS:pages", "",
        "https://pages.acme.example:444/", "https://pages.acme.example\\@evil.example/",
        " https://pages.acme.example/", "https://pages.acme.example/#\u202e",
        "https://pages.acme.example/#a b",
        f"https://pages.acme.example/#{'x' * 9_000}", "blob:https://pages.acme.example/1", "http://127.0.0.1/",
    ],
)  # fmt: skip
def test_address_that_is_not_the_apps_own_is_never_framed(address: str) -> None:
    """Absolute, https, on an origin of the app: everything else is left off."""
    assert why_not_embedded(address, PAGES) is not None


@pytest.mark.parametrize(
    "address",
    [
        "https://pages.acme.example", "https://PAGES.acme.example:443/e?x=1#top",
        "http://127.0.0.1:9000/e",
    ],
)  # fmt: skip
def test_page_of_the_app_is_framed(address: str) -> None:
    """Spelled as it likes; http on this machine alone."""
    assert why_not_embedded(address, PAGES) is None


def test_refused_page_leaves_the_rest() -> None:
    """What is left off is said, and is not in the result either."""
    answer = body({"content": "c", "embedUrl": "javascript:alert(1)"})
    said = read_channels(
        tool_of(), answer, NOTHING_SECRET, embeds=PAGES, embed_masker=NOTHING_SECRET
    )
    assert said.embed_url is None
    assert said.refused is not None
    assert said.result == {"content": "c"}


@pytest.mark.promise("K-34")
def test_page_is_framed_from_the_apps_origins_and_never_from_a_transcripts() -> None:
    """A frame of the chat's own origin could reach into it, whatever its sandbox says."""
    found = loaded(HANDLER)
    assert embed_origins(found, frozenset()) == {
        "https://api.acme.example",
        "https://pages.acme.example",
    } | ({str(found.base_url.origin)} if found.base_url else set())
    kept = embed_origins(found, frozenset({"https://pages.acme.example"}))
    assert "https://pages.acme.example" not in kept


def test_channels_belong_to_app_targets_without_a_mapping() -> None:
    """Elsewhere such keys are data."""
    assert takes_channels(tool_of())
    assert not takes_channels(tool_of({**HANDLER, "responseMapping": {"content": "content"}}))
    assert not takes_channels(tool_of(endpoint_tool("get_order")))


@pytest.mark.parametrize(
    ("value", "is_card"),
    [
        ({"type": "action_required"}, True),
        ({"type": "action_required", "content": "c"}, True),
        ({"type": "other"}, False),
        ("action_required", False),
        ([{"type": "action_required"}], False),
    ],
)
def test_card_is_told_by_its_type(value: JsonValue, *, is_card: bool) -> None:
    """And by nothing else."""
    assert (card_of(body(value)) is not None) == is_card


@given(st.text(alphabet="ab?#/%=&", max_size=20))
def test_query_and_fragment_never_reach_a_record(rest: str) -> None:
    """What stands behind the path is masked, wherever it begins."""
    kept = re.split(r"[?#]", rest, maxsplit=1)
    shown = without_query(f"https://a.example/{rest}")
    assert re.fullmatch(r"([?#]\*\*\*)?", shown.removeprefix(f"https://a.example/{kept[0]}"))
    assert shown.endswith("***") == (len(kept) == 2)
