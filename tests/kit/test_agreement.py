"""Kit and server hold cards to the same rules, and each is written without the other."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remit.calls import action_cards, channels
from remit.catalog.requests import Surroundings
from remit.errors import ResponseInvalid
from remit.kit import answers, card_rules
from remit.kit.card_rules import card_faults

AROUND = Surroundings(components=frozenset({"api"}))
TARGET = {"type": "app", "component": "api", "path": "/x", "method": "POST", "body": "${input}"}


def texts(most: int) -> st.SearchStrategy[Any]:
    """Texts around a bound, and what is no text."""
    return st.sampled_from(["a", "a" * most, "a" * (most + 1), "", " ", "a\nb", "☕", 1, None, []])


def some(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object of which any key may be missing."""
    return st.fixed_dictionaries({}, optional=values)


buttons = some(
    id=texts(card_rules.MAX_ID),
    label=texts(card_rules.MAX_LABEL),
    variant=st.sampled_from(["primary", "danger", "big", None, 1]),
    input=st.sampled_from([{}, {"a": 1}, None, 0, "x" * 20_000, []]),
    target=st.sampled_from([TARGET, None, {"type": "other"}, "x", {}]),
).map(lambda button: {"type": "button"} | button)
good_buttons = st.fixed_dictionaries(
    {"type": st.just("button"), "id": st.sampled_from("abc"), "label": st.just("A")},
    optional={"input": st.just({}), "target": st.just(TARGET)},
)
cards = st.fixed_dictionaries(
    {
        "type": st.just("action_required"),
        "title": texts(card_rules.MAX_TITLE) | st.just("Go"),
        "elements": st.lists(good_buttons, max_size=12)
        | st.lists(buttons | good_buttons | st.sampled_from([1, {}]), max_size=3)
        | st.sampled_from([None, {}, "x"]),
    },
    optional={
        "description": texts(card_rules.MAX_DESCRIPTION),
        "assignee": some(computerId=texts(card_rules.MAX_COMPUTER_ID)) | st.sampled_from([None, 1]),
        "more": st.just(1),
    },
)


def taken_by_the_server(card: dict[str, Any]) -> bool:
    """Whether it reads the card."""
    try:
        action_cards.read_card("tool", card, AROUND)
    except ResponseInvalid:
        return False
    return True


@given(cards)
def test_a_card_is_good_for_the_kit_where_it_is_for_the_server(card: dict[str, Any]) -> None:
    """What an author is not told of must not fail in a conversation, nor the other way round."""
    assert (card_faults(card) == []) == taken_by_the_server(card), card_faults(card)


def test_a_note_may_be_as_long_for_the_kit_as_for_the_server() -> None:
    """One bound."""
    assert answers.MAX_MARKDOWN == channels.MAX_MARKDOWN
