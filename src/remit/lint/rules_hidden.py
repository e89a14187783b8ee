"""Rules on effects that hide: in a header, a query, a body, or behind letters of another script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.overrides import override_of
from remit.catalog.reading import is_object, shown
from remit.catalog.scales import Category, DangerLevel
from remit.documents.problems import escaped
from remit.lint.subject import Finding
from remit.lint.uses import strings_of
from remit.lint.words import ORDERS, destroys_in_path, destroys_in_query, mixed_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import ToolView

# The word that opens an operation of GraphQL; comments and other operations may stand before it.
_MUTATION = re.compile(r"(?:^|\})\s*(?:#[^\n]*\s*)*mutation\b\s*\w*\s*[({@]")
_SUSPECT = re.compile("mutation|" + "|".join(sorted(ORDERS)), re.IGNORECASE)
_RAISE = (
    "raise dangerLevel and category to what a mistake would cost, or say in the description why it "
    "is harmless"
)


def hidden_method(view: ToolView) -> Iterator[Finding]:
    """A request that asks to be treated as another method (contract section 3)."""
    if view.tool is None or view.tool.request is None:
        return
    override = override_of(view.tool.request)
    if override is not None:
        asked = f"as {shown(override.method)}" if override.method else "as what an argument says"
        yield Finding(
            f"/{view.form}",
            f"{override.where} asks the app to treat this {view.method} {asked}: who reads the "
            "method is told something else",
            "write the method that is meant, and leave the override out",
        )


def hidden_effect(view: ToolView) -> Iterator[Finding]:
    """A path, a query or a body that takes something away under a mild name."""
    if view.danger is not DangerLevel.SAFE and view.category is not Category.READ:
        return
    if not _SUSPECT.search(str(view.request)):
        return  # as nearly all: what follows is looked at closely
    called = "read" if view.category is Category.READ else "safe"
    for at, text in strings_of(view.request, f"/{view.form}"):
        if "mutation" in text and _MUTATION.search(text):
            message = (
                f"it sends a GraphQL mutation, which changes something, and is called {called}"
            )
            yield Finding(at, message, _RAISE)
    word = destroys_in_path(view.path)
    if word is not None:
        yield _taken(view.path_at, word, "path", called)
    for name, text, at in _query(view):
        if word := destroys_in_query(name, text):
            yield _taken(at, word, "query", called)


def _taken(at: str, word: str, where: str, called: str) -> Finding:
    message = f'"{shown(word)}" in the {where} says that something is taken away, yet it is called'
    return Finding(at, f"{message} {called}", _RAISE)


def _query(view: ToolView) -> Iterator[tuple[str, str, str]]:
    """Names and texts of the query as written, and where they stand."""
    for pair in view.path.partition("?")[2].split("&"):
        name, _, text = pair.partition("=")
        yield name, text, view.path_at
    key = "queryParams" if view.form == "endpoint" else "query"
    given = view.request.get(key)
    for name, value in given.items() if is_object(given) else ():
        text = value.get("value") if is_object(value) else value
        yield name, text if isinstance(text, str) else "", f"/{view.form}/{key}/{escaped(name)}"


def mixed_script(view: ToolView) -> Iterator[Finding]:
    """A title in which a letter of another script passes for a Latin one."""
    word = mixed_word(view.title)
    if word is not None:
        yield Finding(
            view.place("title" if "title" in view.record else "displayName"),
            f'"{shown(word)}" mixes Latin letters with others that look the same',
            "write the word in one script",
        )
