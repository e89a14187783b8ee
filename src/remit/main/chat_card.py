"""What waits for a person, as a card in the terminal, and what the person typed as an answer."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.documents.canonical import compact_json
from remit.main.chat_api import object_of, objects, text
from remit.main.chat_button import buttons_of, continues_on, drawn_card
from remit.main.output import paint
from remit.main.terminal import Face, drawn, one_line
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.values.json import JsonObject

_MAX_NOTE = 2_000
_WAITS_FOR = {"operator": "an operator of the workspace", "other": "another person"}


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to the input, as the API takes it."""

    body: JsonObject


@dataclass(frozen=True, slots=True)
class Instead:
    """Words that take the place of what was asked."""

    words: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is to be stopped."""


@dataclass(frozen=True, slots=True)
class Later:
    """Nothing is decided; it goes on waiting."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """That was no answer."""


Typed = Answered | Instead | Stop | Later | Unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An input as it is put to a person.

    Attributes:
        card: what is shown first.
        question: one line; the answer is typed behind it.
        decides: whether the person at this terminal can decide on it.
    """

    card: str
    question: str
    decides: bool


def asked_of(found: JsonObject, user: str) -> Asked:
    """How an input is put to its user."""
    kind = found.get("kind")
    if kind == "connect":
        return _connect(found, user)
    if kind == "action":
        return _action(found)
    verb = one_line(text(found.get("verb")) or text(found.get("tool")))
    card = drawn(_face(found))
    waits_for = _WAITS_FOR.get(text(found.get("by")))
    if waits_for is not None:
        return Asked(
            card=f"{card}\n  Waits for {waits_for}.",
            question="Enter = wait · s = stop · m TEXT = take it back and say TEXT: ",
            decides=False,
        )
    more = " · a = yes, for the whole session" if found.get("rememberable") is True else ""
    return Asked(
        card=card,
        question=(
            f"{verb}?\n  y = go ahead{more} · Enter = not now · n REASON = no, and say why\n"
            "  m TEXT = take it back and say TEXT: "
        ),
        decides=True,
    )


def typed(found: JsonObject, line: str) -> Typed:
    """What a line means as an answer to an input; it never approves by default."""
    words = visible(line.strip())
    first, _, rest = words.partition(" ")
    letter, rest = first.lower(), rest.strip()
    if letter == "m" and rest:
        return Instead(rest)
    kind = found.get("kind")
    if kind == "action":
        return _of_action(found, words.lower())
    if kind == "connect":
        return _of_waiting(letter, denies=True)
    if text(found.get("by")) in _WAITS_FOR:
        return _of_waiting(letter, denies=False)
    return _of_approval(found, words, letter, rest)


def _of_approval(found: JsonObject, words: str, letter: str, rest: str) -> Typed:
    approve: JsonObject = {"decision": "approve", "digest": text(found.get("digest"))}
    if words.lower() in ("y", "yes"):
        return Answered(approve)
    if words.lower() == "a" and found.get("rememberable") is True:
        return Answered({**approve, "remember": "session"})
    if not words or letter in ("n", "no"):
        note = rest[:_MAX_NOTE]
        return Answered({"decision": "deny", "note": note} if note else {"decision": "deny"})
    return Unclear()


def _of_waiting(letter: str, *, denies: bool) -> Typed:
    if not letter:
        return Later()
    if letter == "s":
        return Stop()
    return Answered({"decision": "deny"}) if denies and letter == "g" else Unclear()


def _of_action(found: JsonObject, words: str) -> Typed:
    if words == "s":
        return Answered({"skip": True})
    if words == "c":
        return Answered({"cancel": True})
    if continues_on(found) is not None:
        return Unclear() if words else Later()
    # Enter alone decides nothing, and does not put the card away: it can be pressed here alone.
    pressed = buttons_of(found)
    if words.isascii() and words.isdecimal() and len(words) < 3 and 1 <= int(words) <= len(pressed):
        return Answered({"press": text(pressed[int(words) - 1].get("id"))})
    return Unclear()


def _face(found: JsonObject) -> Face:
    line, request = object_of(found.get("line")), object_of(found.get("request"))
    parts = [
        (text(part.get("text")), part.get("inserted") is True)
        for part in objects(found.get("titleParts"))
    ]
    body = request.get("body")
    return Face(
        act=text(line.get("act")),
        danger=text(line.get("danger")),
        host=text(line.get("host")),
        account=text(found.get("account")) or None,
        title=parts or [(text(found.get("title")), False)],
        rows=[
            (text(row.get("title")), text(row.get("text")))
            for row in objects(found.get("arguments"))
        ],
        preview=found.get("preview"),
        preview_failure=text(found.get("previewFailure")) or None,
        reason=text(found.get("reason")),
        method=text(request.get("method")),
        url=text(request.get("url")),
        headers={key: text(value) for key, value in object_of(request.get("headers")).items()},
        body=None if body is None else compact_json(body),
        digest=text(found.get("digest")),
    )


def _connect(found: JsonObject, user: str) -> Asked:
    app = one_line(text(found.get("app")))
    return Asked(
        card=(
            f"\n{paint(f'{app} waits until {user} is connected to it.', 'bold', sys.stderr)}\n"
            f"  {_how_to_connect(app, user)}"
        ),
        question="Enter = wait · g = go on without it · s = stop · m TEXT = say TEXT instead: ",
        decides=False,
    )


def _how_to_connect(app: str, user: str) -> str:
    return (
        f"Connect in your product, or with PUT /v1/connections/{app}/{user}. It then goes on by "
        "itself."
    )


def _action(found: JsonObject) -> Asked:
    card = drawn_card(found)
    if (name := continues_on(found)) is not None:
        return Asked(
            card=f"{card}\n\n{paint(f'Continue on {name}.', 'bold', sys.stderr)}",
            question=(
                "s = skip · c = cancel, and stop the agent · Enter = wait\n"
                "  m TEXT = take it back and say TEXT: "
            ),
            decides=False,
        )
    return Asked(
        card=card,
        question=(
            "A number = press that button · s = skip · c = cancel, and stop the agent\n"
            "  m TEXT = take it back and say TEXT: "
        ),
        decides=True,
    )


def left_open(found: JsonObject, user: str) -> str:
    """What is said of an input where there is no terminal to ask at."""
    tool, app = one_line(text(found.get("tool"))), one_line(text(found.get("app")))
    if found.get("kind") == "connect":
        return f"{tool} waits until {user} is connected to {app}. {_how_to_connect(app, user)}"
    return f"{tool} waits for an answer, and there is no terminal to ask at."


def resume_command(session: str, server: str | None) -> str:
    """The command that goes on with a session."""
    given = ["remit", "chat", "--session", session]
    return shlex.join([*given, "--server", server] if server else given)
