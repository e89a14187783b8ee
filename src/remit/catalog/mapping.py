"""Response mappings, compiled: result names to paths into the body (contract section 5).

A path is dotted. A number indexes an array, ``*`` collects over one; on an object every segment
is a key. ``.`` alone is the value itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from remit.catalog.reading import Fields, is_object, kind, shown

if TYPE_CHECKING:
    from remit.catalog.mistakes import Mistakes
    from remit.values.json import JsonObject

Path: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """One object per item of an array.

    Attributes:
        array: path to the array in the body.
        items: result key and path in the item.
        limit: how many items at most; what is left out is said under ``<key>More``.
    """

    array: Path
    items: tuple[tuple[str, Path], ...]
    limit: int | None


@dataclass(frozen=True, slots=True)
class ResponseMapping:
    """Result names in the order written, and where each comes from."""

    entries: tuple[tuple[str, Path | Each], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that the result may have."""
        return tuple(name for name, _ in self.entries)


def parse_path(text: str) -> Path | None:
    """A dotted path, or None where the text is none."""
    if text == ".":
        return ()
    parts = tuple(text.split("."))
    return parts if all(parts) else None


def read_mapping(record: JsonObject, at: str, mistakes: Mistakes) -> ResponseMapping:
    """Compile a ``responseMapping`` or ``resultMapping``; mistakes are noted, not raised."""
    fields = Fields(record, at, mistakes)
    entries: list[tuple[str, Path | Each]] = []
    for name, value in record.items():
        if not name:
            fields.wrong("bad-mapping", name, "a result has an empty name", "give it a name")
        elif isinstance(value, str):
            if (path := _path(fields, name, value)) is not None:
                entries.append((name, path))
        elif is_object(value):
            if (each := _read_each(value, fields.place(name), mistakes)) is not None:
                entries.append((name, each))
        else:
            fields.wrong(
                "bad-mapping",
                name,
                f'"{shown(name)}" is {kind(value)}, which is no path',
                "write a dotted path such as items.0.id, or {each, map}",
            )
    _refuse_clashes(fields, entries)
    return ResponseMapping(tuple(entries))


def _path(fields: Fields, key: str, text: str) -> Path | None:
    path = parse_path(text)
    if path is None:
        fields.wrong(
            "bad-mapping",
            key,
            f'"{shown(text)}" is no path: a part of it is empty',
            "write parts with single dots between them, or . for the whole value",
        )
    return path


def _read_each(record: JsonObject, at: str, mistakes: Mistakes) -> Each | None:
    fields = Fields(record, at, mistakes)
    fields.only(("each", "map", "limit"), "a mapping over an array")
    for key in ("each", "map"):
        if key not in record:
            fields.missing(key, "a mapping over an array", "write {each: <path>, map: {…}}")
    array_text = fields.text("each")
    inner = fields.object("map")
    limit = fields.whole("limit", 1)
    if array_text is None or inner is None:
        return None
    if not inner:
        fields.wrong("bad-mapping", "map", '"map" names no result', "name at least one field")
    array = _path(fields, "each", array_text)
    item_fields = Fields(inner, fields.place("map"), mistakes)
    items: list[tuple[str, Path]] = []
    for name in inner:
        if not name:
            item_fields.wrong("bad-mapping", name, "a result has an empty name", "give it a name")
        text = item_fields.text(name)
        if text is not None and (path := _path(item_fields, name, text)) is not None:
            items.append((name, path))
    if array is None:
        return None
    return Each(array=array, items=tuple(items), limit=limit)


def _refuse_clashes(fields: Fields, entries: list[tuple[str, Path | Each]]) -> None:
    """``<key>More`` says what a limit left out, so no other result may have that name."""
    names = {name for name, _ in entries}
    for name, rule in entries:
        if isinstance(rule, Each) and rule.limit is not None and f"{name}More" in names:
            fields.wrong(
                "bad-mapping",
                f"{name}More",
                f'"{name}More" is where the count of items left out of "{name}" goes',
                "give this result another name",
            )
