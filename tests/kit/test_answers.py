"""Answers as typed values: written as the contract says, and refused where they are made."""

from __future__ import annotations

from typing import Any

import pytest

from remit.kit import AnswerError, Button, Card, ClientTarget, DomainError, Result

A = Button("a", "A")


def test_a_result_is_written_with_the_channels_that_it_has() -> None:
    """Content alone, or all three."""
    assert Result("Saved.").body() == {"content": "Saved."}
    assert Result("Saved.", "**Saved**", "http://127.0.0.1:8000/p?t=1#a").body() == {
        "content": "Saved.",
        "markdown": "**Saved**",
        "embedUrl": "http://127.0.0.1:8000/p?t=1#a",
    }
    assert Result("Saved.").status == 200


@pytest.mark.parametrize("content", ["", " \n", None, {"a": 1}])
def test_a_result_without_content_is_refused(content: Any) -> None:  # noqa: ANN401
    """It is what the model reads."""
    with pytest.raises(AnswerError, match="content of a result is empty"):
        Result(content)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param("/page", "is not absolute", id="a path"),
        pytest.param("//acme.example/page", "is not absolute", id="no scheme"),
        pytest.param("https:///page", "is not absolute", id="no host"),
        pytest.param("javascript:alert(1)", "is not absolute", id="a script"),
        pytest.param("http://acme.example/page", "is http", id="http"),
        pytest.param("http://localhost.acme.example/", "is http", id="nearly loopback"),
        pytest.param("https://u:p@acme.example/", "user name", id="a user"),
        pytest.param("https://acme.example/a b", "blanks", id="a blank"),
        pytest.param("https://acme.example:x/", "is no address", id="no port"),
        pytest.param("https://[acme/", "is no address", id="no address"),
    ],
)
def test_a_page_that_could_not_be_framed_is_refused(url: str, words: str) -> None:
    """Where it is made, not when a person misses it on the card."""
    with pytest.raises(AnswerError, match=words):
        Result("A page.", embed_url=url)


@pytest.mark.parametrize(
    "url",
    ["https://acme.example", "http://localhost:1/", "http://[::1]:1/", "http://127.8.0.1/a?b"],
)
def test_a_page_that_can_be_framed_is_taken(url: str) -> None:
    """https, or http on loopback."""
    assert Result("A page.", embed_url=url).body()["embedUrl"] == url


def test_a_card_is_written_as_the_contract_says() -> None:
    """Title, description, the assigned device, and buttons with and without target."""
    card = Card(
        "Connect Mail",
        "It is asked once.",
        [
            Button("go", "Go", "primary", {"scope": "read"}, ClientTarget("notify")),
            Button("b", "B"),
        ],
        assignee="dev_1",
    )

    assert card.body() == {
        "type": "action_required",
        "title": "Connect Mail",
        "description": "It is asked once.",
        "assignee": {"computerId": "dev_1"},
        "elements": [
            {
                "type": "button",
                "id": "go",
                "label": "Go",
                "variant": "primary",
                "input": {"scope": "read"},
                "target": {"type": "client", "name": "notify"},
            },
            {"type": "button", "id": "b", "label": "B", "variant": "secondary", "input": {}},
        ],
    }
    plain = Card("Go", buttons=[Button("b", "B", input=0)]).body()
    assert plain.keys() == {"type", "title", "elements"}
    assert plain["elements"][0]["input"] == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda: Card(" ", buttons=[A]), "title is missing", id="no title"),
        pytest.param(lambda: Card("a" * 201, buttons=[A]), "title has more", id="a long title"),
        pytest.param(lambda: Card("Go", "a" * 2_001, [A]), "description has more", id="more"),
        pytest.param(lambda: Card("Go"), "has 0 buttons", id="no button"),
        pytest.param(
            lambda: Card("Go", buttons=[Button(f"b{n}", "B") for n in range(11)]),
            "has 11 buttons",
            id="too many",
        ),
        pytest.param(lambda: Card("Go", buttons=[A, A]), "have one id", id="one id twice"),
        pytest.param(lambda: Card("Go", buttons=[Button("", "A")]), "id must be", id="no id"),
        pytest.param(lambda: Card("Go", buttons=[Button("a", "")]), "label is", id="no label"),
        pytest.param(
            lambda: Card("Go", buttons=[Button("a", "A", input="x" * 20_000)]),
            "larger than",
            id="much input",
        ),
        pytest.param(
            lambda: Card("Go", buttons=[Button("a", "A", input=1, target=ClientTarget("x"))]),
            "input is no object",
            id="no input of a target",
        ),
        pytest.param(
            lambda: Card("Go", buttons=[A], assignee=""), "computerId must be", id="no device"
        ),
        pytest.param(lambda: Result("a", "b" * 16_385), "markdown", id="a long note"),
        pytest.param(lambda: DomainError("", "No."), "a code", id="no code"),
        pytest.param(lambda: DomainError("no", ""), "a message", id="no message"),
        pytest.param(lambda: DomainError("no", "No.", 200), "not 200", id="a good status"),
        pytest.param(lambda: DomainError("no", "No.", 600), "not 600", id="no status"),
    ],
)
def test_what_remit_would_refuse_is_refused_where_it_is_made(make: Any, words: str) -> None:  # noqa: ANN401
    """With one sentence on what is missing."""
    with pytest.raises(AnswerError, match=words):
        make()


def test_a_domain_error_has_a_code_and_words() -> None:
    """409 unless another is said."""
    error = DomainError("connect_required", "Connect Mail first.")

    assert (error.status, str(error)) == (409, "Connect Mail first.")
    assert error.body() == {"code": "connect_required", "error": "Connect Mail first."}
    assert Card("Go", buttons=[Button("a", "A")], otherwise=error).refusal() is error
