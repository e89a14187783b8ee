"""Reading an author's file and telling what is wrong with it, place by place."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_definition
from remit.catalog.tools import as_records
from remit.documents.load import locate_all, media_of, parse_document
from remit.documents.problems import DocumentError
from remit.errors import InvalidDefinition, WrongUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.catalog.model import Definition
    from remit.documents.load import Media
    from remit.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document as it was read.

    Attributes:
        name: the path as the user typed it; ``-`` for standard input.
        data: its bytes, to find the line of a pointer when there is something to say.
    """

    name: str
    data: bytes
    media: Media
    document: JsonValue

    def places(self, pointers: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Line and column, 1-based, of each pointer that can be found."""
        return locate_all(self.data, pointers, media=self.media)

    @property
    def is_catalog(self) -> bool:
        """Whether it is a bare catalog: a list of tools, or an object with nothing but tools."""
        return as_records(self.document) is not None


def read_bytes(name: str) -> bytes:
    """The bytes of a file, or of standard input for ``-``.

    Raises:
        WrongUse: there is no such file, or it cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer.read()
    path = Path(name)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise WrongUse(f"{name}: there is no such file.") from None
    except IsADirectoryError:
        raise WrongUse(f"{name}: is a folder. Name a definition file in it.") from None
    except (OSError, ValueError) as error:
        raise WrongUse(f"{name}: cannot be read: {error}.") from None


def read_source(name: str) -> Source:
    """Read and decode a YAML or JSON document.

    Raises:
        WrongUse: the file cannot be read.
        InvalidDefinition: it cannot be decoded; the message has each place.
    """
    data = read_bytes(name)
    media = media_of(data, name)
    try:
        document = parse_document(data, name=name, media=media)
    except DocumentError as error:
        lines = [
            f"{name}:{p.line}:{p.column}: {p.message}. {p.mend}"
            if p.line is not None
            else f"{name}: {p.message}. {p.mend}"
            for p in error.problems
        ]
        raise InvalidDefinition("\n".join(lines), mistakes=error.problems) from None
    return Source(name=name, data=data, media=media, document=document)  # pyright: ignore[reportArgumentType] -- a decoded JSON value


def read_definition(name: str, *, brand: str) -> tuple[Source, Definition]:
    """Read a definition that loads without an error.

    Raises:
        WrongUse: the file cannot be read.
        InvalidDefinition: it has errors; all of them are in ``mistakes``.
    """
    source = read_source(name)
    if source.is_catalog:
        raise InvalidDefinition(
            f"{name} is a bare catalog: a list of tools. This command needs a definition: "
            "an object with id, name, auth, baseUrl and tools."
        )
    loaded = load_definition(source.document, brand=brand)
    errors = tuple(mistake for mistake in loaded.mistakes if mistake.level == "error")
    if errors or loaded.definition is None:
        places = source.places(mistake.pointer for mistake in errors)
        listed: list[str] = []
        for mistake in sorted(errors, key=lambda m: places.get(m.pointer, (0, 0))):
            line = places.get(mistake.pointer)
            where = f"{name}:{line[0]}:{line[1]}" if line else name
            listed.append(f"{where}  {mistake}")
        count = f"{len(errors)} error{'s' if len(errors) != 1 else ''}"
        raise InvalidDefinition(
            "\n".join([*listed, f"{name} cannot be used: {count}."]), mistakes=errors
        )
    return source, loaded.definition
