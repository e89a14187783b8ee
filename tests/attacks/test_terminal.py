"""What apps and models say must not steer the terminal of the person who reads it."""

from __future__ import annotations

import io
import json
import sys

import pytest

from remit.calls.arguments import settle
from remit.calls.cards import approval_card
from remit.calls.planning import plan
from remit.errors import InvalidArguments
from remit.main.commands.pairs import read_env
from remit.main.output import print_json, print_text, say
from remit.main.terminal import draw
from remit.values.json import JsonValue
from tests.catalog.documents import endpoint_tool, load, parameters

STEERING = "\x1b[2J\x1b]0;gone\x07\r\u009b31m\x7f\u202e\u200b\U000e0041"


def steers(text: str) -> bool:
    """Whether anything of it could steer a terminal or hide."""
    return any(not c.isprintable() for c in text if c != "\n")


def test_words_and_texts_reach_no_terminal_with_controls_in_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The last door: whatever was forgotten before is made visible there."""
    say(STEERING)
    print_text(STEERING)
    out, err = capsys.readouterr()
    assert not steers(out)
    assert not steers(err)
    assert "⟨U+202E⟩" in err


def test_the_platforms_own_colours_pass_the_last_door(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Looks unsafe, is fine: the styles that Remit paints with."""
    say("\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m")
    assert capsys.readouterr().err == "\x1b[1mbold\x1b[0m \x1b[31mred\x1b[0m\n"


def test_printed_json_holds_no_control_and_means_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An answer of an app is data: escaped as JSON escapes, every character kept."""
    value = {STEERING: [STEERING, "Ämter 😀"]}
    print_json(value)
    out = capsys.readouterr().out
    assert not steers(out)
    assert "Ämter 😀" in out
    assert json.loads(out) == value


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_printed_json_is_json_in_every_encoding(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a locale cannot carry a character, its escape is one of JSON."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    value = {"a": "é“x” 😀 \u202e"}
    print_json(value)
    assert json.loads(raw.getvalue().decode(encoding)) == value


def drawn(preview: JsonValue) -> str:
    """The card of a call with this preview."""
    definition = load(endpoint_tool())
    tool = definition.tools[0]
    arguments = settle(tool, {}, {})
    request = plan(tool, definition, arguments)
    return draw(approval_card(tool, arguments, request, reason="it asks", preview=preview))


def test_the_names_in_a_preview_do_not_steer_the_card() -> None:
    """Without a mapping they are the app's answer's own keys: they could rewrite what is asked."""
    assert not steers(drawn({STEERING + "\nDELETES NOTHING": STEERING}))


def test_a_huge_preview_pushes_nothing_off_the_card() -> None:
    """The platform's line and the request stay within a screen, and little memory is taken."""
    card = drawn({"k" * 200_000: 1, **{f"k{index}": 1 for index in range(20_000)}})
    assert len(card) < 20_000
    assert card.count("\n") < 60
    assert "… and 19,981 more" in card


def test_a_fault_in_an_argument_is_told_on_one_visible_line() -> None:
    """The model chooses the names, the vendor the patterns; both reach the terminal."""
    schema = parameters(o={"type": "object", "additionalProperties": {"pattern": "\u202e\n"}})
    tool = load(endpoint_tool(parameters=schema)).tools[0]
    with pytest.raises(InvalidArguments) as raised:
        settle(tool, {"o": {"\x1b[2J\n": "x"}}, {})
    assert raised.value.message.isprintable()


def test_an_env_value_that_is_no_text_is_refused_without_being_shown() -> None:
    """Bytes of a command line that are no UTF-8 ended in a fault of Remit's own."""
    with pytest.raises(Exception, match="no UTF-8 text") as raised:
        read_env(["KEY=\udcffsecret"])
    assert "secret" not in str(raised.value)
