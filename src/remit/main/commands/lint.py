"""``remit lint``: errors, and what a reviewer would ask (contract section 13)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_definition
from remit.documents.problems import Problem
from remit.errors import InvalidDefinition
from remit.lint.report import Reviewed, as_json, as_lines, counts_of, pointers_of, strict
from remit.lint.run import lint_catalog, lint_definition, unreadable
from remit.main.files import read_source
from remit.main.output import paint, print_json, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.mistakes import Mistake
    from remit.lint.report import Span
    from remit.main.files import Source
    from remit.main.settings import Settings
    from remit.offer.bill import Bill
    from remit.values.json import JsonObject


def run(
    files: Sequence[str],
    settings: Settings,
    *,
    strictly: bool,
    fetch: bool,
    bill: bool,
    json: bool,
) -> int:
    """Review every file and print what was found; 1 when there is an error."""
    reviewed = [_review(name, settings, fetch=fetch, strictly=strictly) for name in files]
    bills = [_bill(name, settings) for name in files] if bill else []
    if json:
        report = as_json(reviewed)
        if bill:
            report["bills"] = [each.as_json() for each in bills if each]
        print_json(report)
    else:
        for line in as_lines(reviewed):
            print_text("".join(_painted(span) for span in line).rstrip())
        for each in bills:
            if each is not None:
                print_text(each.as_text())
    return 1 if counts_of(reviewed)["error"] else 0


def _painted(span: Span) -> str:
    return span.text if span.style == "plain" else paint(span.text, span.style, sys.stdout)


def _review(name: str, settings: Settings, *, fetch: bool, strictly: bool) -> Reviewed:
    try:
        source = read_source(name)
    except InvalidDefinition as error:
        problems = [p for p in error.mistakes if isinstance(p, Problem)]
        places = {p.pointer: (p.line, p.column or 1) for p in problems if p.line is not None}
        return Reviewed(file=name, mistakes=unreadable(problems), places=places)
    if source.is_catalog:
        found = lint_catalog(source.document, brand=settings.brand)
    else:
        found = lint_definition(source.document, brand=settings.brand)
    if strictly:
        found = strict(found)
    places = source.places(pointers_of(found))
    fetched = _fetched(source, settings) if fetch and not source.is_catalog else ()
    # What was fetched is another document: its pointers have no line in this file.
    return Reviewed(
        file=name, mistakes=(*found, *(strict(fetched) if strictly else fetched)), places=places
    )


def _fetched(source: Source, settings: Settings) -> tuple[Mistake, ...]:
    """Findings on the catalog that ``toolsUrl`` serves now."""
    import asyncio

    from remit.main.commands.refreshing import fetched_document

    definition = load_definition(source.document, brand=settings.brand).definition
    if definition is None or definition.tools_url is None:
        return ()
    document = asyncio.run(fetched_document(definition, settings))
    if document is None:
        return ()
    return lint_catalog(document, brand=settings.brand, definition=definition)


def _bill(name: str, settings: Settings) -> _Costs | None:
    """What the catalog costs in tokens; None where the file does not load."""
    from remit.offer.bill import bill

    try:
        source = read_source(name)
    except InvalidDefinition:
        return None
    definition = load_definition(source.document, brand=settings.brand).definition
    if definition is None:
        return None
    return _Costs(file=name, bill=bill(definition, definition.tools))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    """The bill of one file."""

    file: str
    bill: Bill

    def as_json(self) -> JsonObject:
        return {"file": self.file, **self.bill.as_json()}

    def as_text(self) -> str:
        rows = "\n".join(f"  {line}" for line in self.bill.lines())
        return f"\n{self.file} costs the model in every turn:\n{rows}"
