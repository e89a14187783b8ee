"""References as the local runner fills them: what the engine does with the same target."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.kit import AppTarget
from remit.kit.filling import FillingError, fill

ARGS: dict[str, Any] = {
    "text": "a&b ☕", "n": 3, "yes": True, "none": None, "list": ["x", 2],
    "in": {"a-b": {"0": "deep"}},
}  # fmt: skip


def body(template: Any, args: Any = ARGS) -> Any:  # noqa: ANN401
    """A body as it is sent."""
    sent = fill(AppTarget("api", "/x", "POST", body=template), args).body
    return None if sent is None else json.loads(sent)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        pytest.param("${input}", ARGS, id="all"),
        pytest.param("${ input.n }", 3, id="blanks inside"),
        pytest.param("${input.in.a-b.0}", "deep", id="into objects"),
        pytest.param("${input.list.1}", 2, id="into a list"),
        pytest.param("${input.none}", None, id="null keeps its type"),
        pytest.param("n=${input.n} ${input.yes} ${input.text}", "n=3 true a&b ☕", id="in a text"),
        pytest.param("$${input.n}", "${input.n}", id="as a text"),
        pytest.param("$$${input.n}", "$${input.n}", id="three signs"),
        pytest.param({"a": ["${input.n}", 1.5]}, {"a": [3, 1.5]}, id="anywhere"),
        pytest.param({"${input.n}": "$ {input} {{args.n}}"}, None, id="nowhere"),
    ],
)
def test_a_body_is_filled(template: Any, filled: Any) -> None:  # noqa: ANN401
    """With the JSON type where the text is exactly the reference."""
    assert body(template) == (
        template if filled is None and template != "${input.none}" else filled
    )


@given(st.text(max_size=30))
def test_what_a_value_holds_is_not_filled_again(text: str) -> None:
    """Once is all, whatever it looks like."""
    assert body("${input.a}|", {"a": f"${{input}}{text}"}) == f"${{input}}{text}|"


def test_queries_and_headers_are_filled_as_texts() -> None:
    """A list repeats in a query."""
    target = AppTarget(
        "api",
        "/x",
        "GET",
        {"t": "${input.text}", "l": "${input.list}", "b": "${input.yes}"},
        {"X-N": "n ${input.n}"},
    )

    sent = fill(target, ARGS)

    assert sent.path == "/x?t=a%26b%20%E2%98%95&l=x&l=2&b=true"
    assert sent.headers == {"X-N": "n 3"}
    assert sent.body is None


@pytest.mark.parametrize(
    ("template", "words"),
    [
        pytest.param("${input.other}", "leads to nothing", id="missing"),
        pytest.param("${input.list.2}", "leads to nothing", id="beyond a list"),
        pytest.param("${input.text.a}", "leads to nothing", id="into a text"),
        pytest.param("${env.KEY}", "by a server alone", id="an env value"),
        pytest.param("${inputs.n}", "is no reference", id="another word"),
        pytest.param("${input.}", "is no reference", id="a dot too many"),
        pytest.param("${}", "is no reference", id="empty"),
        pytest.param("a ${input.n", "is not closed", id="open"),
        pytest.param("a ${input.in}", "an object or a list", id="an object in a text"),
        pytest.param("a ${input.none}", "is null", id="null in a text"),
    ],
)
def test_a_reference_that_cannot_be_filled_ends_the_call(template: str, words: str) -> None:
    """Nothing empty goes out in its place."""
    with pytest.raises(FillingError, match=words):
        body(template)


@pytest.mark.parametrize("value", ["a\r\nX: y", "☕", "\0"])
def test_a_header_stays_one_line_of_ascii(value: str) -> None:
    """As the engine holds it."""
    with pytest.raises(FillingError, match="visible ASCII"):
        fill(AppTarget("api", "/x", "GET", headers={"X-A": "${input.a}"}), {"a": value})
