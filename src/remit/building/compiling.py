"""From an app folder to one definition, with the way back from each value to its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.building.faults import Fault, Faults, renamed
from remit.building.folder import APP_FILE, Look
from remit.building.places import Places, places_of
from remit.building.skill_file import FILE
from remit.building.tools_files import LIMIT_S, read_tools_file
from remit.catalog.definitions import load_definition
from remit.catalog.reading import is_object, kind
from remit.documents.load import locate, parse_document
from remit.documents.problems import DocumentError, pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from remit.building.folder import SkillFolder
    from remit.building.tools_files import Declared
    from remit.catalog.mistakes import Mistake
    from remit.values.json import JsonObject, JsonValue

_OF_SKILLS = {
    "tools": "tools stand in skills/<name>/tools.py or tools.ts",
    "skills": "a skill is a folder: skills/<name>/SKILL.md",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A folder, built.

    Attributes:
        root: the folder.
        document: the definition, as far as the folder gives one; what has a fault is not in it.
        faults: what is wrong with the folder itself; the definition is not judged here.
    """

    root: Path
    document: JsonObject
    faults: tuple[Fault, ...]
    app_bytes: bytes = field(repr=False)
    skills: tuple[SkillFolder, ...] = field(repr=False)
    tools: tuple[Declared, ...] = field(repr=False)

    @property
    def sound(self) -> bool:
        """Whether the folder itself has no error; its definition may have."""
        return not any(fault.mistake.level == "error" for fault in self.faults)

    def traced(self, mistakes: Iterable[Mistake]) -> tuple[Fault, ...]:
        """Mistakes of the document as faults of the files that their values came from."""
        found = tuple(mistakes)
        places: dict[str, Places] = {}
        return tuple(self._traced(mistake, places, found) for mistake in found)

    def _traced(
        self, mistake: Mistake, known: dict[str, Places], every: Sequence[Mistake]
    ) -> Fault:
        part, index, rest = _split(mistake.pointer)
        if part == "tools" and index is not None and index < len(self.tools):
            tool = self.tools[index]
            if tool.file not in known:
                names = [m.tool for m in every if m.tool]
                known[tool.file] = places_of(self.root / tool.file, names)
            place = known[tool.file].of(mistake.tool or "", rest)
            moved = renamed(mistake, f"/tools/{tool.index}{rest}")
            return Fault.at(tool.file, moved, place)
        if part == "skills" and index is not None and index < len(self.skills):
            skill = self.skills[index]
            file = skill.file
            place = None if file is None else file.places.get(rest) or file.places.get("")
            return Fault.at(f"{skill.at}/{FILE}", renamed(mistake, rest), place)
        return Fault.at(APP_FILE, mistake, _nearest(self.app_bytes, mistake.pointer))

    def all_faults(self, mistakes: Iterable[Mistake]) -> tuple[Fault, ...]:
        """The folder's own faults and those of its definition, file by file as a person reads."""
        return tuple(sorted((*self.faults, *self.traced(mistakes)), key=_in_order))


def build(root: Path, *, brand: str, limit_s: float = LIMIT_S) -> Built:
    """Build a folder; the code of its tools files runs, each file in a process of its own.

    Args:
        root: the folder; it is there.
        brand: the brand setting.
        limit_s: how long one tools file may take.
    """
    faults = Faults()
    look = Look(root, faults)
    data = look.app_file()
    app = None if data is None else _app_document(data, faults)
    skills = look.skills()
    declared: list[Declared] = []
    records: list[JsonValue] = []
    sources: dict[str, Declared] = {}
    for skill in skills:
        tools: tuple[Declared, ...] = ()
        if skill.tools is not None:
            file = f"{skill.at}/{skill.tools}"
            tools = read_tools_file(root, file, faults, brand=brand, limit_s=limit_s)
        declared += _unique(tools, sources, root, faults)
        if skill.file is not None:
            names = [t.record["name"] for t in tools if isinstance(t.record.get("name"), str)]
            records.append(
                {
                    "name": skill.file.name,
                    "description": skill.file.description,
                    "body": skill.file.body,
                    "tools": list(dict.fromkeys(str(name) for name in names)),
                }
            )
    document: JsonObject = {
        **(app or {}),
        "skills": records,
        "tools": [tool.record for tool in declared],
    }
    return Built(
        root=root,
        document=document,
        faults=tuple(faults.found),
        app_bytes=data or b"",
        skills=tuple(skill for skill in skills if skill.file is not None),
        tools=tuple(declared),
    )


def mistakes_of(built: Built, *, brand: str) -> tuple[Mistake, ...]:
    """The errors of a built definition that the folder's own faults do not explain."""
    if not built.app_bytes:
        return ()
    loaded = load_definition(built.document, brand=brand)
    errors = tuple(m for m in loaded.mistakes if m.level == "error")
    if built.sound:
        return errors
    # A tool that is not there may be in a file that could not be read.
    return tuple(m for m in errors if not m.pointer.endswith("/confirm/preview/tool"))


def _app_document(data: bytes, faults: Faults) -> JsonObject | None:
    """What ``app.yaml`` says, without what does not stand there; None where it is no object."""
    try:
        value = parse_document(data, name=APP_FILE)
    except DocumentError as error:
        faults.undecoded(APP_FILE, error)
        return None
    if not is_object(value):
        faults.add(
            APP_FILE,
            "wrong-type",
            f"an app must be an object; it is {kind(value)}",
            "write id, name, auth and components",
            place=(1, 1),
        )
        return None
    for key, where in _OF_SKILLS.items():
        if key in value:
            at = pointer(key)
            faults.add(
                APP_FILE,
                "misplaced-key",
                f'"{key}" does not stand in {APP_FILE}',
                where,
                pointer=at,
                place=locate(data, at, media="yaml"),
            )
    return {key: member for key, member in value.items() if key not in _OF_SKILLS}


def _unique(
    tools: Iterable[Declared], sources: dict[str, Declared], root: Path, faults: Faults
) -> list[Declared]:
    """The tools whose names no other has; the second of two is noted with both files."""
    kept: list[Declared] = []
    again: list[tuple[Declared, str, Declared]] = []
    for tool in tools:
        name = tool.record.get("name")
        first = sources.get(name) if isinstance(name, str) else None
        if not isinstance(name, str) or first is None:
            if isinstance(name, str):
                sources[name] = tool
            kept.append(tool)
        else:
            again.append((tool, name, first))
    if not again:
        return kept
    # They are all of one file, which is read once.
    places = places_of(root / again[0][0].file, [name for _, name, _ in again])
    for tool, name, first in again:
        where = "twice in this file" if first.file == tool.file else f"in {first.file}, too"
        faults.add(
            tool.file,
            "duplicate-name",
            f'the name "{name}" stands {where}',
            "give one of the two tools another name; it is the name that the model calls",
            pointer=f"/tools/{tool.index}/name",
            at="/name",
            tool=name,
            place=places.of(name, "/name"),
        )
    return kept


def _in_order(fault: Fault) -> tuple[bool, str, bool, str, int, int]:
    """app.yaml first, then skill by skill its SKILL.md first, each from its top to its end."""
    folder, _, name = fault.file.rpartition("/")
    if name.startswith("tools") or name == FILE or not folder:
        return bool(folder), folder, name != FILE, name, fault.line or 0, fault.column or 0
    # A skill's folder itself, before what is in it.
    return True, fault.file, False, "", 0, 0


def _split(at: str) -> tuple[str, int | None, str]:
    """``/tools/3/description`` as its first part, the index and the rest."""
    _, part, *more = (at or "/").split("/")
    if not more or not more[0].isdecimal():
        return part, None, ""
    return part, int(more[0]), "".join(f"/{one}" for one in more[1:])


def _nearest(data: bytes, at: str) -> tuple[int, int] | None:
    """The place of a pointer, or of what it stands in."""
    while True:
        found = locate(data, at, media="yaml")
        if found is not None or not at:
            return found
        at = at.rpartition("/")[0]
