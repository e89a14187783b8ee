"""Where in a tools file a tool stands, as far as its source shows it. The file is read, not run."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.building.folder import PYTHON
from remit.documents import text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_SOURCE_BYTES = 4 * 1024 * 1024
#: What a key of a record is called in ``remit.kit.Tool``, where it is not the same with _.
_RENAMED = {"parameters": "input", "title": "display_name"}
# A name in a literal begins a tool; what stands up to the next one is its own.
_NAME = re.compile(r"""\bname\s*:\s*(["'`])([\w-]+)\1""")
_KEY = re.compile(r"[{,]\s*(\w+)\s*:")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Lines and columns, 1-based, of tools and of their fields.

    Attributes:
        tools: by name.
        fields: by name, then by the key as Python would write it.
    """

    tools: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    fields: dict[tuple[str, str], tuple[int, int]] = field(
        default_factory=dict[tuple[str, str], tuple[int, int]]
    )

    def of(self, tool: str, at: str = "") -> tuple[int, int] | None:
        """The place of a field of a tool, or of the tool; ``at`` is a pointer below it."""
        key = at.split("/")[1] if at else ""
        argument = _RENAMED.get(key) or _WORD.sub("_", key).lower()
        return self.fields.get((tool, argument)) or self.tools.get(tool)


def places_of(path: Path, names: Iterable[str]) -> Places:
    """The places of tools in a tools file; those that are made by code have none."""
    wanted = frozenset(names)
    if not wanted:
        return Places()
    try:
        with path.open("rb") as file:
            source = file.read(MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return Places()
    return _of_python(source, wanted) if path.name == PYTHON else _of_typescript(source, wanted)


def _of_python(source: str, wanted: frozenset[str]) -> Places:
    found = Places()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        named = {keyword.arg: keyword for keyword in node.keywords if keyword.arg}
        first = named["name"].value if "name" in named else (node.args[0] if node.args else None)
        name = first.value if isinstance(first, ast.Constant) else None
        if isinstance(name, str) and name in wanted and name not in found.tools:
            found.tools[name] = (node.lineno, node.col_offset + 1)
            for argument, keyword in named.items():
                found.fields[name, argument] = (keyword.lineno, keyword.col_offset + 1)
    return found


def _of_typescript(source: str, wanted: frozenset[str]) -> Places:
    tools: dict[str, int] = {}
    fields: dict[tuple[str, str], int] = {}
    names = list(_NAME.finditer(source))
    ends = [match.start() for match in names[1:]] + [len(source)]
    # Without a name that stands there there is one end, and nothing to place.
    for match, end in zip(names, ends, strict=False):
        name = match[2]
        if name not in wanted or name in tools:
            continue
        tools[name] = match.start()
        for key in _KEY.finditer(source, match.end(), end):
            argument = _WORD.sub("_", key[1]).lower()
            fields.setdefault((name, argument), key.start(1))
    places = text.places(source, (*tools.values(), *fields.values()))
    return Places(
        tools={name: places[offset] for name, offset in tools.items()},
        fields={which: places[offset] for which, offset in fields.items()},
    )
