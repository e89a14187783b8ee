"""What stands in an app folder: ``app.yaml`` and skills, and what should not stand there."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.building.skill_file import FILE, read_skill_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from remit.building.faults import Faults
    from remit.building.skill_file import SkillFile

APP_FILE = "app.yaml"
SKILLS = "skills"
PYTHON, TYPESCRIPT = "tools.py", "tools.ts"
REFUSED = "tools.json"
#: What somebody might take for a tools file; it would be passed over without a word.
_NEAR_TOOLS = ("tools.js", "tools.mjs", "tools.mts", "tools.tsx", "tools.yaml", "tools.yml")
_NEAR_APP = ("app.yml", "app.json", "App.yaml")
MAX_SKILLS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolder:
    """A folder in ``skills``.

    Attributes:
        at: its path from the app folder.
        path: the folder itself.
        file: what its ``SKILL.md`` says; None where that has a fault.
        tools: ``tools.py`` or ``tools.ts``, or None.
    """

    at: str
    path: Path
    file: SkillFile | None
    tools: str | None


class Look:
    """One look at a folder; every fault of its files and names is noted.

    Args:
        root: the folder; it may be a link itself.
        faults: takes what is wrong.
    """

    def __init__(self, root: Path, faults: Faults) -> None:
        self._root = root
        self._real = root.resolve()
        self._faults = faults

    def app_file(self) -> bytes | None:
        """The bytes of ``app.yaml``; None where there is none to read."""
        if not self._there(APP_FILE):
            near = next((name for name in _NEAR_APP if (self._root / name).is_file()), None)
            mend = f"rename {near} to it" if near else "write one: id, name, auth and components"
            self._faults.add("", "no-app-yaml", f"the folder has no {APP_FILE}", mend)
            return None
        return self._bytes(APP_FILE)

    def skills(self) -> tuple[SkillFolder, ...]:
        """Every skill, sorted by name, the faulty ones included."""
        self._refuse("", (REFUSED,))
        for name in (PYTHON, TYPESCRIPT):
            if self._there(name):
                self._faults.add(
                    name,
                    "misplaced-tools",
                    "tools stand in a skill, and this file stands beside app.yaml",
                    f"move it to {SKILLS}/<name>/{name}, or give it another name",
                    level="warning",
                )
        names = self._names(SKILLS)
        if names is None:
            return ()
        self._refuse(SKILLS, (REFUSED, *_NEAR_TOOLS))
        found: list[SkillFolder] = []
        for name in names[:MAX_SKILLS]:
            at = f"{SKILLS}/{name}"
            if name.startswith("."):
                continue
            if self._is_folder(at):
                found.append(self._skill(at, name))
            elif name in (PYTHON, TYPESCRIPT):
                self._faults.add(
                    at,
                    "misplaced-tools",
                    "tools stand in a skill, and this file stands in none",
                    f"move it to {SKILLS}/<name>/{name}",
                )
        if len(names) > MAX_SKILLS:
            self._faults.add(
                SKILLS,
                "out-of-range",
                f"there are {len(names):,} files and folders; {MAX_SKILLS} are looked at",
                "make two apps of it",
            )
        return tuple(found)

    def _skill(self, at: str, name: str) -> SkillFolder:
        file: SkillFile | None = None
        if not self._there(f"{at}/{FILE}"):
            self._faults.add(
                at,
                "no-skill-file",
                f"the skill has no {FILE}",
                f"write {at}/{FILE}: front matter with name and description, then instructions",
            )
        elif (data := self._bytes(f"{at}/{FILE}")) is not None:
            file = read_skill_file(data, f"{at}/{FILE}", name, self._faults)
        self._refuse(at, (REFUSED, *_NEAR_TOOLS))
        present = [n for n in (PYTHON, TYPESCRIPT) if self._there(f"{at}/{n}")]
        if len(present) == 2:
            self._faults.add(
                f"{at}/{TYPESCRIPT}",
                "two-tools-files",
                f"the skill has {PYTHON} and {TYPESCRIPT}",
                "keep one of them; one skill declares its tools in one language",
            )
            present = []
        tools = next((n for n in present if self._readable(f"{at}/{n}")), None)
        return SkillFolder(at=at, path=self._root / at, file=file, tools=tools)

    def _refuse(self, at: str, names: Iterable[str]) -> None:
        for name in names:
            inside = f"{at}/{name}" if at else name
            if not self._there(inside):
                continue
            self._faults.add(
                inside,
                "tools-json",
                f"no tools are read from a {name}",
                f"declare them in {PYTHON} or {TYPESCRIPT}, and take this file away",
            )

    # --- files -----------------------------------------------------------------------------------

    def _there(self, at: str) -> bool:
        try:
            (self._root / at).lstat()
        except OSError:
            return False
        return True

    def _is_folder(self, at: str) -> bool:
        """Whether it is one; a link that cannot be followed is noted."""
        path = self._root / at
        if path.is_symlink() and not self._stays(at):
            return False
        return path.is_dir()

    def _names(self, at: str) -> list[str] | None:
        """The names in a folder, sorted; None where there is no such folder."""
        if not self._there(at):
            return None
        if not self._is_folder(at):
            if self._stays(at, tell=False):
                self._faults.add(at, "wrong-type", "it is no folder", "make it one of skills")
            return None
        try:
            return sorted(entry.name for entry in (self._root / at).iterdir())
        except OSError as error:
            self._cannot(at, error)
            return None

    def _stays(self, at: str, *, tell: bool = True) -> bool:
        """Whether what a path leads to is in the folder."""
        try:
            stays = (self._root / at).resolve().is_relative_to(self._real)
        except (OSError, RuntimeError):
            stays = False
        if not stays and tell:
            self._faults.add(
                at,
                "link-leaves-folder",
                "it is a link that leads out of the folder, or nowhere",
                "put the file itself there; only what is in the folder is built",
            )
        return stays

    def _readable(self, at: str) -> bool:
        """Whether it is a file of the folder; what is none is noted."""
        if not self._stays(at):
            return False
        try:
            mode = (self._root / at).stat().st_mode
        except OSError as error:
            self._cannot(at, error)
            return False
        if not stat.S_ISREG(mode):
            self._faults.add(at, "wrong-type", "it is no file", "put a file there")
            return False
        return True

    def _bytes(self, at: str) -> bytes | None:
        if not self._readable(at):
            return None
        try:
            with (self._root / at).open("rb") as file:
                return file.read(_MAX_READ + 1)
        except OSError as error:
            self._cannot(at, error)
            return None

    def _cannot(self, at: str, error: OSError) -> None:
        why = (error.strerror or "it failed").lower()
        self._faults.add(at, "bad-document", f"it cannot be read: {why}", "let it be read")


# More than any of the readers takes: each says itself that a file is too large.
_MAX_READ = 32 * 1024 * 1024
