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
from remit.main.files import is_app_folder, read_source, source_of
from remit.main.output import paint, print_json, print_text, say, width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self, TextIO

    from remit.building import Built
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
    read = [_Read.of(name, settings) for name in files]
    reviewed = [each for one in read for each in _review(one, settings, fetch=fetch)]
    if strictly:
        reviewed = [replace(each, mistakes=strict(each.mistakes)) for each in reviewed]
    bills = [_bill(one, settings) for one in read] if bill else []
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


def print_reviewed(reviewed: Sequence[Reviewed], *, aside: bool = False) -> None:
    """Print findings for a person: each with rule, place and mend, then how many there are.

    Args:
        reviewed: what was found.
        aside: to stderr, where stdout is for something else.
    """
    stream, tell = (sys.stderr, say) if aside else (sys.stdout, print_text)
    for line in as_lines(reviewed, width=width(MAX_WIDTH)):
        tell("".join(_painted(span, stream) for span in line).rstrip())


def _painted(span: Span, stream: TextIO) -> str:
    return span.text if span.style == "plain" else paint(span.text, span.style, stream)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One file or folder as it was read; its code, where it has some, has run once.

    Attributes:
        name: as the user typed it.
        source: None where it cannot be decoded, or the folder has faults.
        problems: why it cannot be decoded.
        built: the folder, where it is one.
    """

    name: str
    source: Source | None = None
    problems: tuple[Problem, ...] = ()
    built: Built | None = None

    @classmethod
    def of(cls, name: str, settings: Settings) -> Self:
        if is_app_folder(name):
            from remit.main.folders import build_folder

            built = build_folder(name, brand=settings.brand)
            return cls(
                name=name, source=source_of(built, name) if built.sound else None, built=built
            )
        try:
            return cls(name=name, source=read_source(name))
        except InvalidDefinition as error:
            return cls(
                name=name, problems=tuple(p for p in error.mistakes if isinstance(p, Problem))
            )


def _review(one: _Read, settings: Settings, *, fetch: bool) -> Iterator[Reviewed]:
    """What is found in a file or folder, and in the catalog that its ``toolsUrl`` serves now."""
    source = one.source
    if source is None:
        yield from _faulty(one, settings)
        return
    if source.is_catalog:
        found = lint_catalog(source.document, brand=settings.brand)
        yield from _reviewed(source, found, "catalog")
        return
    found = lint_definition(source.document, brand=settings.brand)
    definition = (
        load_definition(source.document, brand=settings.brand).definition if fetch else None
    )
    if definition is None or definition.tools_url is None:
        yield from _reviewed(source, found, "definition")
        return
    answer = _fetched(definition, settings)
    if isinstance(answer, str):
        found += lint_fetch(elapsed_ms=0, size_bytes=0, failure=answer)
        yield from _reviewed(source, found, "definition")
        return
    found += lint_fetch(elapsed_ms=answer.elapsed_ms, size_bytes=answer.size_bytes)
    yield from _reviewed(source, found, "definition")
    # Another document: its findings have its address, and no line in the file.
    served = lint_catalog(answer.value, brand=settings.brand, definition=definition)
    url = definition.tools_url.text
    yield Reviewed(file=url, mistakes=served, subject="catalog", fetched=True)


def _faulty(one: _Read, settings: Settings) -> tuple[Reviewed, ...]:
    """What is found in a file that cannot be decoded, or a folder that cannot be built."""
    if one.built is not None:
        from remit.building import mistakes_of
        from remit.main.folders import reviewed_folder

        found = mistakes_of(one.built, brand=settings.brand)
        return reviewed_folder(one.built, found, one.name)
    places = {p.pointer: (p.line, p.column or 1) for p in one.problems if p.line is not None}
    found = unreadable(one.problems)
    return (Reviewed(file=one.name, mistakes=found, subject="file", places=places),)


def _reviewed(
    source: Source, found: tuple[Mistake, ...], subject: Literal["definition", "catalog"]
) -> tuple[Reviewed, ...]:
    if source.built is not None:
        from remit.main.folders import reviewed_folder

        return reviewed_folder(source.built, found, source.name)
    places = source.places(pointers_of(found))
    return (Reviewed(file=source.name, mistakes=found, subject=subject, places=places),)


def _fetched(definition: Definition, settings: Settings) -> Fetched | str:
    """The document that ``toolsUrl`` serves now, or why there is none."""
    import asyncio

    from remit.main.commands.refreshing import fetched_document

    return asyncio.run(fetched_document(definition, settings))


def _bill(one: _Read, settings: Settings) -> _Costs | None:
    """What the catalog costs in tokens; None where the file does not load."""
    from remit.offer.bill import bill

    if one.source is None:
        return None
    definition = load_definition(one.source.document, brand=settings.brand).definition
    if definition is None:
        return None
    return _Costs(file=one.name, bill=bill(definition, definition.tools))


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
