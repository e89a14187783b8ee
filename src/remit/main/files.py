"""Reading an author's file and telling what is wrong with it, place by place."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_definition
from remit.catalog.mistakes import sentence
from remit.catalog.tools import as_records
from remit.documents.load import MAX_DOCUMENT_BYTES, locate_all, media_of, parse_document
from remit.documents.problems import DocumentError, Problem
from remit.errors import InvalidDefinition, WrongUse
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.building import Built
    from remit.catalog.model import Definition
    from remit.documents.load import Media
    from remit.values.json import JsonValue

ENDINGS = (".yaml", ".yml", ".json")
# A folder of more is not looked through for a name.
MAX_LISTED = 1_000
_EMPTY = Problem(
    pointer="",
    message="the file is empty",
    mend="write a definition: an object with id, name, auth, baseUrl and tools",
    line=1,
    column=1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document as it was read.

    Attributes:
        name: the path as the user typed it; ``-`` for standard input.
        data: its bytes, to find the line of a pointer when there is something to say.
        built: the app folder that ``document`` was built from, without an error of its own;
            None where it is a file's.
    """

    name: str
    data: bytes
    media: Media
    document: JsonValue
    built: Built | None = None

    def places(self, pointers: Iterable[str]) -> Mapping[str, tuple[int, int]]:
        """Line and column, 1-based, of each pointer that can be found in the file ``name``."""
        if self.built is not None:
            return {}
        return locate_all(self.data, pointers, media=self.media)

    @property
    def is_catalog(self) -> bool:
        """Whether it is a bare catalog: a list of tools, or an object with nothing but tools."""
        return self.built is None and as_records(self.document) is not None


def read_bytes(name: str, *, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The bytes of a file, or of standard input for ``-``.

    A device or a pipe may never end, so no more is read than can be used.

    Raises:
        WrongUse: there is no such file, it cannot be read, or it has more than ``max_bytes``.
    """
    data = _first_bytes(name, max_bytes + 1)
    if len(data) > max_bytes:
        raise WrongUse(f"{name}: is larger than {max_bytes:,} bytes. Make it smaller, or split it.")
    return data


def _first_bytes(name: str, limit: int) -> bytes:
    if name == "-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] -- a closed one is
            raise WrongUse("-: standard input is closed. Name a file.")
        return sys.stdin.buffer.read(limit)
    try:
        with Path(name).open("rb") as file:
            return file.read(limit)
    except FileNotFoundError:
        near = _near(Path(name))
        hint = f" Did you mean {near}?" if near else ""
        raise WrongUse(f"{name}: there is no such file.{hint}") from None
    except IsADirectoryError:
        raise WrongUse(f"{name}: is a folder. Name a definition file in it.") from None
    except OSError as error:
        raise WrongUse(f"{name}: cannot be read: {error.strerror}.") from None
    except ValueError:
        raise WrongUse(f"{name[:80]!a}: is no name of a file.") from None


def _near(path: Path) -> str | None:
    """A file of the same folder that was likely meant, as the user would write it."""
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), MAX_LISTED)]
    except (OSError, ValueError):
        return None
    others = [name for name in names if name.endswith(ENDINGS)]
    # A wrong ending first, then a slip of the fingers.
    same = next((name for name in sorted(others) if Path(name).stem == path.stem), None)
    near = same or nearest(path.name, others)
    return str(path.with_name(near)) if near else None


def refuse_swapped(file: str, tool: str) -> None:
    """Say it where FILE and TOOL stand in the wrong order.

    Raises:
        WrongUse: the tool is a file that exists, and the file does not.
    """
    try:
        swapped = tool.endswith(ENDINGS) and Path(tool).is_file() and not Path(file).exists()
    except (OSError, ValueError):
        return
    if swapped:
        raise WrongUse(
            f"{file}: there is no such file. The file comes first: remit call {tool} {file}"
        )


def read_source(name: str, *, brand: str | None = None) -> Source:
    """Read and decode a YAML or JSON document, or build an app folder.

    Args:
        name: the path; ``-`` is standard input.
        brand: the brand setting, where a folder may stand; None where only a file may.

    Raises:
        WrongUse: the file cannot be read.
        InvalidDefinition: it cannot be decoded or built; the message has each place.
    """
    if brand is not None and is_app_folder(name):
        return _built_source(name, brand)
    data = read_bytes(name)
    media = media_of(data, name)
    try:
        document = _decoded(data, name, media)
    except DocumentError as error:
        lines = [
            f"{name}:{p.line}:{p.column}: {sentence(p.message)} {sentence(p.mend)}"
            if p.line is not None
            else f"{name}: {sentence(p.message)} {sentence(p.mend)}"
            for p in error.problems
        ]
        raise InvalidDefinition("\n".join(lines), mistakes=error.problems) from None
    return Source(name=name, data=data, media=media, document=document)  # pyright: ignore[reportArgumentType] -- a decoded JSON value


def _decoded(data: bytes, name: str, media: Media) -> object:
    if not data.strip():
        raise DocumentError([_EMPTY])
    return parse_document(data, name=name, media=media)


def _built_source(name: str, brand: str) -> Source:
    # Most commands read no folder, and do not wait for what builds one.
    from remit.building import mistakes_of
    from remit.main.folders import build_folder, unusable

    built = build_folder(name, brand=brand)
    if not built.sound:
        raise unusable(built, mistakes_of(built, brand=brand), name)
    return source_of(built, name)


def source_of(built: Built, name: str) -> Source:
    """A folder that was built without a fault of its own, as what a command reads."""
    return Source(name=name, data=b"", media="json", document=built.document, built=built)


def read_definition(name: str, *, brand: str) -> tuple[Source, Definition]:
    """Read a definition that loads without an error.

    Raises:
        WrongUse: the file cannot be read.
        InvalidDefinition: it has errors; all of them are in ``mistakes``.
    """
    source = read_source(name, brand=brand)
    return source, definition_of(source, brand=brand)


def definition_of(source: Source, *, brand: str) -> Definition:
    """The definition that a source is, loaded without an error.

    Raises:
        InvalidDefinition: it has errors; all of them are in ``mistakes``.
    """
    name = source.name
    if source.is_catalog:
        raise InvalidDefinition(
            f"{name} is a bare catalog: a list of tools. This command needs a definition: "
            "an object with id, name, auth, baseUrl and tools."
        )
    loaded = load_definition(source.document, brand=brand)
    errors = tuple(mistake for mistake in loaded.mistakes if mistake.level == "error")
    if source.built is not None and (errors or loaded.definition is None):
        from remit.main.folders import unusable

        raise unusable(source.built, errors, name)
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
    return loaded.definition


def is_app_folder(name: str) -> bool:
    """Whether a name is that of a folder which has, or should have, an ``app.yaml``."""
    path = Path(name)
    try:
        return path.is_dir() and any((path / part).exists() for part in ("app.yaml", "skills"))
    except (OSError, ValueError):
        return False
