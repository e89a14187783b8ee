"""``remit lint``: errors, and what a reviewer would ask (contract section 13)."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from remit.catalog.definitions import load_definition
from remit.documents.problems import Problem
from remit.errors import InvalidDefinition
from remit.lint.fetches import lint_fetch
from remit.lint.report import Reviewed, as_json, as_lines, counts_of, pointers_of, strict
from remit.lint.run import lint_catalog, lint_definition, unreadable
from remit.main.files import read_source
from remit.main.output import paint, print_json, print_text, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.catalog.mistakes import Mistake
    from remit.catalog.model import Definition
    from remit.gateway.catalogs import Fetched
    from remit.lint.report import Span
    from remit.main.files import Source
    from remit.main.settings import Settings
    from remit.offer.bill import Bill
    from remit.values.json import JsonObject

MAX_WIDTH = 100


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
    reviewed = [each for name in files for each in _review(name, settings, fetch=fetch)]
    if strictly:
        reviewed = [replace(each, mistakes=strict(each.mistakes)) for each in reviewed]
    bills = [_bill(name, settings) for name in files] if bill else []
    if json:
        report = as_json(reviewed)
        if bill:
            report["bills"] = [each.as_json() for each in bills if each]
        print_json(report)
    else:
        print_reviewed(reviewed)
        for each in bills:
            if each is not None:
                print_text(each.as_text())
    return 1 if counts_of(reviewed)["error"] else 0


def print_reviewed(reviewed: Sequence[Reviewed]) -> None:
    """Print findings for a person: each with rule, place and mend, then how many there are."""
    for line in as_lines(reviewed, width=width(MAX_WIDTH)):
        print_text("".join(_painted(span) for span in line).rstrip())


def _painted(span: Span) -> str:
    return span.text if span.style == "plain" else paint(span.text, span.style, sys.stdout)


def _review(name: str, settings: Settings, *, fetch: bool) -> Iterator[Reviewed]:
    """What is found in a file, and in the catalog that its ``toolsUrl`` serves now."""
    try:
        source = read_source(name)
    except InvalidDefinition as error:
        problems = [p for p in error.mistakes if isinstance(p, Problem)]
        places = {p.pointer: (p.line, p.column or 1) for p in problems if p.line is not None}
        yield Reviewed(file=name, mistakes=unreadable(problems), subject="file", places=places)
        return
    if source.is_catalog:
        found = lint_catalog(source.document, brand=settings.brand)
        yield _reviewed(source, found, "catalog")
        return
    found = lint_definition(source.document, brand=settings.brand)
    definition = (
        load_definition(source.document, brand=settings.brand).definition if fetch else None
    )
    if definition is None or definition.tools_url is None:
        yield _reviewed(source, found, "definition")
        return
    answer = _fetched(definition, settings)
    if isinstance(answer, str):
        found += lint_fetch(elapsed_ms=0, size_bytes=0, failure=answer)
        yield _reviewed(source, found, "definition")
        return
    found += lint_fetch(elapsed_ms=answer.elapsed_ms, size_bytes=answer.size_bytes)
    yield _reviewed(source, found, "definition")
    # Another document: its findings have its address, and no line in the file.
    served = lint_catalog(answer.value, brand=settings.brand, definition=definition)
    url = definition.tools_url.text
    yield Reviewed(file=url, mistakes=served, subject="catalog", fetched=True)


def _reviewed(
    source: Source, found: tuple[Mistake, ...], subject: Literal["definition", "catalog"]
) -> Reviewed:
    places = source.places(pointers_of(found))
    return Reviewed(file=source.name, mistakes=found, subject=subject, places=places)


def _fetched(definition: Definition, settings: Settings) -> Fetched | str:
    """The document that ``toolsUrl`` serves now, or why there is none."""
    import asyncio

    from remit.main.commands.refreshing import fetched_document

    return asyncio.run(fetched_document(definition, settings))


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
