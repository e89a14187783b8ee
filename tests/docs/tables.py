"""Tables of the reference made from the code: `python -m tests.docs.tables` writes them.

The words above a table are the page's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from remit import errors
from remit.lint.table import every_rule
from remit.web import refusals
from tests.docs import event_tables

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGES = "../../src/remit/main/pages"

WORDS = {
    "caller": "who called",
    "author": "the definition's author",
    "upstream": "the app",
    "operator": "who runs Remit, or made the session",
    "us": "Remit",
}


def error_classes(
    root: type[errors.RemitError] = errors.RemitError,
) -> Iterator[type[errors.RemitError]]:
    """Every class of the tree that a page can be about, as the tree draws them."""
    for child in root.__subclasses__():
        if not child.__module__.startswith((f"{errors.__name__}.", refusals.__name__)):
            continue
        if child.code != errors.RemitError.code:
            yield child
        yield from error_classes(child)


def summary(error: type[errors.RemitError]) -> str:
    """The class's one sentence."""
    return (error.__doc__ or "").strip().split("\n", 1)[0]


def codes() -> str:
    """The table of all codes."""
    # HTTP refuses under some codes of the use cases: one code is one row, the first.
    by_code: dict[str, type[errors.RemitError]] = {}
    for error in error_classes():
        by_code.setdefault(error.code, error)
    rows = [
        f"| [`{error.code}`]({PAGES}/{error.code}.md) | {error.status} | {WORDS[error.fault]} "
        f"| {summary(error)} |"
        for error in by_code.values()
    ]
    head = "| code | status | at fault | what happened |\n|---|---|---|---|"
    return "\n".join([head, *rows]) + "\n"


def rules() -> str:
    """The table of all rules."""
    rows = [
        f"| [`{rule.id}`]({PAGES}/{rule.id}.md) | {rule.level} | {rule.summary} |"
        for rule in every_rule()
    ]
    head = "| rule | level | what it finds |\n|---|---|---|"
    return "\n".join([head, *rows]) + "\n"


TABLES = {"codes.md": codes, "rules.md": rules, "events.md": event_tables.made}


def renewed(text: str, table: str) -> str:
    """A page's text with its last part, from the first table on, made anew."""
    return text[: text.index("\n| ") + 1] + table


if __name__ == "__main__":
    for name, table in TABLES.items():
        page = REFERENCE / name
        page.write_text(renewed(page.read_text("utf-8"), table()), "utf-8")
