"""A ``SKILL.md``: front matter after the open Agent Skills format, then instructions. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remit.catalog.reading import is_object, kind, shown
from remit.documents.load import locate_all, parse_document
from remit.documents.problems import DocumentError, pointer
from remit.documents.text import byte_order_mark, decode, place
from remit.values.json import nearest

if TYPE_CHECKING:
    from remit.building.faults import Faults
    from remit.values.json import JsonObject, JsonValue

FILE = "SKILL.md"
MAX_BYTES = 1024 * 1024
#: In characters; it holds a name, a description and a few words more.
MAX_FRONT_MATTER = 32 * 1024
MAX_NAME = 64
MAX_DESCRIPTION = 1_024
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FENCE = re.compile(r"---[ \t]*")
_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_FORM = "begin it with a line ---, then name and description, then a line ---"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """What a ``SKILL.md`` says.

    Attributes:
        body: the instructions, without blank lines around them.
        places: line and column, 1-based, of ``/name``, ``/description`` and ``/body``.
    """

    name: str
    description: str
    body: str
    places: dict[str, tuple[int, int]]


def read_skill_file(data: bytes, file: str, folder: str, faults: Faults) -> SkillFile | None:
    """Read a ``SKILL.md``; None where it has a fault, which is noted.

    Args:
        data: its bytes.
        file: its path from the app folder, for the faults.
        folder: the name of the folder it stands in, which must be its own.
        faults: takes every fault of it.
    """
    text = _text(data, file, faults)
    if text is None:
        return None
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        faults.add(file, "bad-front-matter", "it has no front matter", _FORM, place=(1, 1))
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if end is None:
        faults.add(
            file,
            "bad-front-matter",
            "its front matter, which begins here, has no end",
            "write a line --- after its last key",
            place=(1, 1),
        )
        return None
    if (size := sum(map(len, lines[1:end]))) > MAX_FRONT_MATTER:
        faults.add(
            file,
            "bad-front-matter",
            f"its front matter has {size:,} characters; {MAX_FRONT_MATTER:,} are allowed",
            "leave a name and a description there; the instructions stand below it",
            place=(1, 1),
        )
        return None
    return _Reader(lines[1:end], lines[end + 1 :], end, file, faults).read(folder)


def _text(data: bytes, file: str, faults: Faults) -> str | None:
    try:
        text = decode(data, max_bytes=MAX_BYTES)
    except DocumentError as error:
        faults.undecoded(file, error)
        return None
    before = len(faults.found)
    if byte_order_mark(text):
        faults.add(
            file,
            "bad-document",
            "it begins with a byte order mark",
            "save it as UTF-8 without one",
            place=(1, 1),
        )
    if (at := text.find("\r")) >= 0:
        faults.add(
            file,
            "bad-document",
            "a line ends with CR here",
            "save it with line ends of LF alone",
            place=place(text, at),
        )
    if (at := text.find("\0")) >= 0:
        faults.add(
            file,
            "bad-document",
            "a NUL character stands here",
            "take it out",
            place=place(text, at),
        )
    return text if len(faults.found) == before else None


class _Reader:
    """One front matter and what follows it."""

    def __init__(
        self, front: list[str], rest: list[str], end: int, file: str, faults: Faults
    ) -> None:
        self._data = "\n".join(front).encode()
        self._rest = rest
        self._end = end
        self._file = file
        self._faults = faults

    def read(self, folder: str) -> SkillFile | None:
        before = len(self._faults.found)
        values = self._values()
        if values is None:
            return None
        for key in values:
            if key not in _KEYS:
                near = nearest(key, _KEYS)
                mend = f'did you mean "{near}"?' if near else "leave it out, or put it in metadata"
                self._note("unknown-key", key, f'a skill has no key "{shown(key)}"', mend)
        name, description = self._required(values, "name"), self._required(values, "description")
        if name is not None:
            self._check_name(name, folder)
        if description is not None:
            self._check_description(description)
        if name is None or description is None or len(self._faults.found) > before:
            return None
        places = self._places("/name", "/description")
        body = "\n".join(self._rest).strip("\n").rstrip()
        blank = next((at for at, line in enumerate(self._rest) if line.strip()), 0)
        return SkillFile(
            name=name,
            description=description,
            body=body,
            places={**places, "/body": (self._end + 2 + blank, 1), "": (1, 1)},
        )

    def _values(self) -> JsonObject | None:
        try:
            # Blank front matter is YAML's null, and no document to its reader.
            value: object = {}
            if self._data.strip():
                value = parse_document(self._data, name="", media="yaml")
        except DocumentError as error:
            self._faults.undecoded(self._file, error, below=1)
            return None
        if is_object(value):
            return value
        self._faults.add(
            self._file,
            "bad-front-matter",
            f"its front matter must be keys with values; it is {kind(cast('JsonValue', value))}",
            "write name: and description: on lines of their own",
            place=(2, 1),
        )
        return None

    def _required(self, values: JsonObject, key: str) -> str | None:
        if key not in values:
            self._note("missing-key", "", f'a skill needs "{key}"', f"write its {key}")
            return None
        value = values[key]
        if isinstance(value, str):
            return value
        self._note(
            "wrong-type", key, f'"{key}" must be text; it is {kind(value)}', "write it as text"
        )
        return None

    def _check_name(self, name: str, folder: str) -> None:
        if len(name) > MAX_NAME or not _NAME.fullmatch(name):
            self._note(
                "bad-name",
                "name",
                f'"{shown(name)}" is no name of a skill',
                f"use at most {MAX_NAME} lower-case letters, digits and single -, none at its ends",
            )
        elif name != folder:
            self._note(
                "skill-name",
                "name",
                f'the skill is named "{name}", and its folder "{shown(folder)}"',
                "give both the same name",
            )

    def _check_description(self, description: str) -> None:
        if not description.strip():
            self._note(
                "missing-key", "description", "the description is empty", "say when to use it"
            )
        elif len(description) > MAX_DESCRIPTION:
            self._note(
                "too-long",
                "description",
                f"the description has {len(description):,} characters; "
                f"{MAX_DESCRIPTION:,} are allowed",
                "shorten it; the instructions below may be long",
            )

    def _note(self, rule: str, key: str, message: str, mend: str) -> None:
        at = pointer(key) if key else ""
        place = self._places(at).get(at) if key else (1, 1)
        self._faults.add(self._file, rule, message, mend, pointer=at, place=place)

    def _places(self, *pointers: str) -> dict[str, tuple[int, int]]:
        found = locate_all(self._data, pointers, media="yaml")
        return {at: (line + 1, column) for at, (line, column) in found.items()}
