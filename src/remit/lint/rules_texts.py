"""Rules on what the model and a person read: descriptions, titles, the briefing."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from remit.catalog.reading import is_object, shown
from remit.documents.problems import escaped
from remit.lint.subject import Finding
from remit.lint.words import says_when_not
from remit.values.visible import hides, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import AppView, ToolView

_SHOWN_CODE = re.compile("⟨U\\+[0-9A-F]+⟩")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all|any|every|the|your|previous|prior|above|earlier|other)"
    r"(?:\s+\w+){0,3}\s+(?:instructions?|rules?|prompts?|messages?|tools?|guidelines?|directions?)\b"
    r"|\b(?:do "
    r"not|don['\u2019]t|never)\s+(?:tell|inform|mention|reveal|show|notify|ask|alert|warn)\b[^.]{0,30}"
    r"\b(?:user|users|human|person|anyone|anybody|operator)\b"
    r"|\bwithout\s+(?:telling|informing|asking|notifying|alerting|warning)\s+(?:the\s+)?(?:user|human|person|anyone)\b"
    r"|\byou\s+must\s+(?:always\s+|first\s+|now\s+|immediately\s+)*(?:call|invoke|run|use|execute|send|read|include)\b"
    r"|\bbefore\s+(?:using|calling|running)\s+(?:this|any|every|all|other|another)\b[^.]{0,12}\btools?\b"
    r"|\balways\s+(?:call|use|run|prefer)\s+this\s+(?:tool|function)\b"
    r"|\byou\s+are\s+(?:now|no longer)\b|\bnew\s+instructions?\s*:|\b(?:system|hidden)\s+prompt\b"
    r"|\beven\s+if\s+(?:the\s+)?(?:user|human)\b"
    r"|^[ \t]*(?:system|assistant|developer)[ \t]*:"
    r"|</?\s*(?:important|system|instructions?|secret|hidden|admin|assistant|user|tool_call|function_calls)\b[^>]{0,200}>"
    r"|<\|[a-z_]+\|>|\[/?INST\]|^#{2,}\s*(?:system|instructions?)\b",
    re.IGNORECASE | re.MULTILINE,
)
# One of these is in every order above. Looking for them costs a tenth of trying the patterns.
_TRIGGERS = (
    *("ignore", "disregard", "forget", "override", "user", "human", "person", "anyone", "anybody"),
    *("operator", "must", "before", "always", "you", "instruction", "prompt", "even"),
    *("system", "assistant", "developer", "<", "inst]", "##"),
)
_SHORTEST_BLOB = 80
_BLOB = re.compile(
    r"(?<![\w+/])(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*[0-9])[A-Za-z0-9+/]{80,}={0,2}"
)
# A briefing is judged sentence by sentence: how it begins, and what is inside.
_SENTENCE_ENDS = re.compile(r"[.!?;:\n]+")
_BULLET = " \t\r-*\u2022\u2013"
_COMMAND_OPENS = re.compile(
    r"(?:first,?\s+)?(?:please\s+)?(?:"
    r"(?:always|never)\s+(?!(?:the|a|an|is|are|has|have|was)\b)[a-z]+"
    r"|(?:do not|don['\u2019]t|make sure|be sure|ensure|remember to)\b"
    r"|(?:call|use|run|invoke|ask|tell|reply|respond|answer|prefer|avoid|refuse|ignore|pretend"
    r"|act as)\s+\w+)",
    re.IGNORECASE,
)
_COMMAND_INSIDE = re.compile(
    r"\byou\s+(?:must|should|have to|need to|are required to|may not|shall|will|cannot|can't)\b"
    r"|\b(?:must|should)\s+(?:always\s+|never\s+|first\s+)?"
    r"be\s+(?:called|used|run|invoked|asked)\b"
    r"|\bcall\s+\w+\s+first\b|\bignore\s+(?:all|any|previous|the)\b",
    re.IGNORECASE,
)


def empty_description(view: ToolView) -> Iterator[Finding]:
    """A tool whose description is there and says nothing."""
    value = view.record.get("description")
    if isinstance(value, str) and not value.strip():
        yield Finding(
            "/description",
            "the description is empty: the model can only guess from the name when to call this "
            "tool",
            "say what it does, when to use it and when not",
        )


def vague_description(view: ToolView) -> Iterator[Finding]:
    """A description that adds nothing to the name."""
    text = view.description
    if text.strip() and view.is_vague:
        yield Finding(
            "/description",
            f'the description "{_shown(text)}" is too vague to choose the tool by',
            "say what it does, when to use it, when not, and what its arguments mean in your "
            "domain",
        )


def no_when_not(view: ToolView) -> Iterator[Finding]:
    """A description that never says when not to use the tool."""
    text = view.description
    if text.strip() and not view.is_vague and not says_when_not(text):
        yield Finding(
            "/description",
            "the description does not say when not to use this tool",
            "add a sentence such as: Not for moving an object; use move_object for that",
        )


def hidden_characters(view: ToolView) -> Iterator[Finding]:
    """A text of a tool with characters that a reviewer cannot see."""
    if view.all_texts.isascii() and view.all_texts.isprintable():
        return
    for at, text in view.texts:
        yield from _hidden(at, text)


def order_to_the_model(view: ToolView) -> Iterator[Finding]:
    """A text of a tool that speaks to the model instead of describing."""
    lower = view.all_texts.lower()
    triggered = any(word in lower for word in _TRIGGERS)
    for at, text in view.texts:
        if triggered and (found := _order_in(text)):
            yield Finding(
                at,
                f'"{_shown(found)}" reads as an order to the model, not as a description',
                "describe the tool; what the agent may do is decided by the platform and the user",
            )
        elif len(text) >= _SHORTEST_BLOB and (blob := _BLOB.search(text)):
            yield Finding(
                at,
                f"the text holds {len(blob[0])} characters of encoded data, "
                "which no reviewer can read",
                "write it in plain words, or leave it out",
            )


def _order_in(text: str) -> str | None:
    lower = text.lower()
    found = _ORDERS.search(text) if any(word in lower for word in _TRIGGERS) else None
    return found[0] if found else None


def app_texts(app: AppView) -> Iterator[Finding]:
    """Hidden characters in the texts of the app itself and of its skills."""
    for at, text in _app_texts(app):
        yield from _hidden(at, text)


def app_orders(app: AppView) -> Iterator[Finding]:
    """An app's description that gives orders (the briefing has a rule of its own)."""
    for at, text in _app_texts(app):
        if at in ("/name", "/description") and (found := _ORDERS.search(text)):
            yield Finding(
                at,
                f'"{_shown(found[0])}" reads as an order to the model, not as a description',
                "describe the app; what the agent may do is decided by the platform and the user",
            )


def briefing_orders(app: AppView) -> Iterator[Finding]:
    """A briefing written as commands (seed: domain briefing, not commands)."""
    orders = tuple(dict.fromkeys(_commands(app.text("promptContext"))))
    if not orders:
        return
    quoted = ", ".join(f'"{order}"' for order in orders[:3])
    more = f" and {len(orders) - 3} more" if len(orders) > 3 else ""
    yield Finding(
        "/promptContext",
        f"the briefing gives orders: {quoted}{more}",
        "write facts about your domain; the model is told that this text has no authority, "
        "so an order in it is not obeyed the way you expect",
    )


def _commands(text: str) -> Iterator[str]:
    """The words of a briefing that order something, in the order of the text."""
    for written in _SENTENCE_ENDS.split(text):
        sentence = written.strip(_BULLET)
        found = _COMMAND_OPENS.match(sentence) or _COMMAND_INSIDE.search(sentence)
        if found is not None:
            yield _shown(found[0])
        elif order := _order_in(sentence):
            yield _shown(order)


def same_title(app: AppView) -> Iterator[Finding]:
    """Two tools that a person cannot tell apart on a card."""
    first: dict[str, ToolView] = {}
    for view in app.tools:
        title = view.title.strip().casefold()
        other = first.setdefault(title, view)
        # Two tools of one name have a graver mistake.
        if title and other is not view and other.name != view.name:
            yield Finding(
                view.place("title") or view.place("displayName"),
                f'the title "{_shown(view.title)}" is also the title of '
                f"{other.name or 'another tool'}",
                "give each a title of its own: a person who is asked for approval reads only this",
                tool_index=view.index,
            )


def same_description(app: AppView) -> Iterator[Finding]:
    """Two tools that the model cannot choose between."""
    first: dict[str, ToolView] = {}
    for view in app.tools:
        text = " ".join(view.description.split()).casefold()
        other = first.setdefault(text, view)
        if text and other is not view and other.name != view.name:
            yield Finding(
                "/description",
                f"the description is word for word that of {other.name or 'another tool'}",
                "say what sets the two apart; the model chooses by this text",
                tool_index=view.index,
            )


def skill_description(app: AppView) -> Iterator[Finding]:
    """A skill that the agent has no reason to load."""
    skills = app.record.get("skills")
    for index, skill in enumerate(skills if isinstance(skills, list) else ()):
        if is_object(skill) and "description" in skill and not str(skill["description"]).strip():
            yield Finding(
                f"/skills/{index}/description",
                "the skill's description is empty: the agent sees nothing else before it loads "
                "the skill",
                "say in a sentence what the skill is for",
            )


def _app_texts(app: AppView) -> Iterator[tuple[str, str]]:
    for key in ("name", "description", "promptContext"):
        if text := app.text(key):
            yield f"/{escaped(key)}", text
    skills = app.record.get("skills")
    for index, skill in enumerate(skills if isinstance(skills, list) else ()):
        if not is_object(skill):
            continue
        for key in ("name", "description", "body"):
            text = skill.get(key)
            if isinstance(text, str) and text:
                yield f"/skills/{index}/{key}", text


def _hidden(at: str, text: str) -> Iterator[Finding]:
    if (text.isascii() and text.isprintable()) or not hides(text):
        return
    # What stood in the text as such a code already is no hidden character.
    written = Counter(_SHOWN_CODE.findall(text))
    found = Counter(_SHOWN_CODE.findall(visible(text))) - written
    total = sum(found.values())
    many = "a character" if total == 1 else f"{total} characters"
    yield Finding(
        at,
        f"the text holds {many} that a reader cannot see: {shown(', '.join(found))}",
        "take them out; Remit shows them to the model and to people by these codes",
    )


def _shown(text: str) -> str:
    """An author's words for a message: in one line, and short."""
    return shown(" ".join(text.split()))
