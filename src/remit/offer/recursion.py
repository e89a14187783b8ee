"""Which definitions of a bundled schema lead back to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from remit.catalog.reading import is_object
from remit.catalog.subschemas import children

if TYPE_CHECKING:
    from remit.offer.bundling import Bundle
    from remit.values.json import JsonValue


@final
class Reach:
    """Which definitions lead to which, in any number of steps; the root is ``""``."""

    __slots__ = ("_reached",)

    def __init__(self, bundled: Bundle) -> None:
        self._reached: dict[str, set[str]] = {}
        steps = {"": _references(bundled.root)} | {
            name: _references(schema) for name, schema in bundled.definitions.items()
        }
        for start in steps:
            found: set[str] = set()
            waiting = list(steps[start])
            while waiting:
                name = waiting.pop()
                if name not in found:
                    found.add(name)
                    waiting += steps[name]
            self._reached[start] = found

    def cyclic(self, home: str, target: str) -> bool:
        """Whether a reference from one definition to another is part of a circle."""
        return home in self._reached[target]


def _references(schema: JsonValue) -> set[str]:
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if is_object(here):
            reference = here.get("$ref")
            if isinstance(reference, str):
                found.add("" if reference == "#" else reference.removeprefix("#/$defs/"))
            waiting += [child for _, _, child in children(here)]
    return found
