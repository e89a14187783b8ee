"""One self-contained schema: every reference leads into its own ``$defs``, and nothing is unused.

Authors put definitions anywhere, name them by pointer or anchor, and leave some unused. Providers
take ``$defs`` at the root. So each target in use is moved there, each reference rewritten;
what only leads back to itself, or nowhere, is taken out and reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from remit.catalog.reading import is_object
from remit.catalog.subschemas import IN_PLACE, LISTS, MAPS, SINGLES, Targets, children
from remit.documents.problems import parts_of, pointer
from remit.offer.nodes import SIMPLE, is_plain_schema
from remit.offer.removals import Removal

if TYPE_CHECKING:
    from remit.values.json import JsonObject, JsonValue

# What only serves to find and to read schemas; it says nothing to a model.
_BOOKKEEPING = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$vocabulary",
        "$comment",
        "$defs",
        "definitions",
    }
)
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A schema whose references are ``#`` or ``#/$defs/<name>``.

    Attributes:
        root: without ``$defs``.
        definitions: by name, in the order of their first use.
        places: where in the author's schema each definition stands, by name.
        removals: references that were taken out.
        is_simple: whether the root holds nothing but ``SIMPLE`` keywords, each in its usual form.
    """

    root: JsonObject
    definitions: dict[str, JsonValue]
    places: dict[str, str]
    removals: tuple[Removal, ...]
    is_simple: bool = False


def bundle(root: JsonObject, origin: JsonObject) -> Bundle:
    """Bundle ``root``, a schema made from ``origin``, whose references mean places in ``origin``.

    Where the two are one, ``#`` stays what it is; else it leads to a definition of its own, since
    the root no longer says the same.
    """
    if is_plain_schema(root, SIMPLE):  # none of these refers to another place
        return Bundle(root=root, definitions={}, places={}, removals=(), is_simple=True)
    return _Bundling(root, origin).done()


@final
class _Bundling:
    __slots__ = ("_circles", "_definitions", "_names", "_places", "_removals", "_root", "_targets")

    def __init__(self, root: JsonObject, origin: JsonObject) -> None:
        self._root = root
        self._targets = Targets(origin)
        self._names: dict[str, str] = {"": ""} if root is origin else {}
        self._places: dict[str, str] = {}
        self._definitions: dict[str, JsonValue] = {}
        self._removals: list[Removal] = []
        self._circles: dict[str, bool] = {}

    def done(self) -> Bundle:
        root = self._rewritten(self._root, "")
        waiting = [place for place, name in self._names.items() if name]
        while waiting:
            for place in waiting:
                name = self._names[place]
                self._places[name] = place
                self._definitions[name] = self._child(self._targets.at(place), place)
            waiting = [
                place
                for place, name in self._names.items()
                if name and name not in self._definitions
            ]
        return Bundle(
            root=root,
            definitions=self._definitions,
            places=self._places,
            removals=tuple(self._removals),
        )

    def _rewritten(self, schema: JsonObject, at: str) -> JsonObject:
        result: JsonObject = {}
        for keyword, value in schema.items():
            if keyword in ("$ref", "$dynamicRef"):
                self._refer(keyword, value, at, result)
            elif keyword in LISTS and isinstance(value, list):
                result[keyword] = [
                    self._child(item, f"{at}{pointer(keyword, index)}")
                    for index, item in enumerate(value)
                ]
            elif keyword in _BOOKKEEPING:
                self._leave_out(keyword, at)
            elif keyword in MAPS and is_object(value):
                result[keyword] = {
                    name: self._child(item, f"{at}{pointer(keyword, name)}")
                    for name, item in value.items()
                }
            elif keyword in SINGLES:
                result[keyword] = self._child(value, f"{at}{pointer(keyword)}")
            else:
                result[keyword] = value
        return result

    def _child(self, schema: JsonValue, at: str) -> JsonValue:
        return self._rewritten(schema, at) if is_object(schema) else schema

    def _refer(self, keyword: str, value: JsonValue, at: str, result: JsonObject) -> None:
        target = self._targets.find(value)
        if target is None or self._turns_in_a_circle(target[0]):
            reason = (
                "it leads to no schema of this document"
                if target is None
                else "it only leads back to itself"
            )
            self._removals.append(
                Removal(pointer=f"{at}/{keyword}", keyword=keyword, reason=reason, lost=True)
            )
            return
        name = self._name(target[0])
        result["$ref"] = f"#/$defs/{name}" if name else "#"

    def _leave_out(self, keyword: str, at: str) -> None:
        if keyword not in ("$defs", "definitions"):
            self._removals.append(
                Removal(
                    pointer=f"{at}/{keyword}",
                    keyword=keyword,
                    reason="it says nothing to a model",
                    lost=False,
                )
            )

    def _turns_in_a_circle(self, place: str) -> bool:
        """Whether a schema refers to itself without going into the value."""
        if place not in self._circles:
            self._circles[place] = self._reaches_itself(place)
        return self._circles[place]

    def _reaches_itself(self, place: str) -> bool:
        seen: set[str] = set()
        waiting = [place]
        while waiting:
            for reference in _in_place_references(self._targets.at(waiting.pop())):
                target = self._targets.find(reference)
                if target is None:
                    continue
                if target[0] == place:
                    return True
                if target[0] not in seen:
                    seen.add(target[0])
                    waiting.append(target[0])
        return False

    def _name(self, place: str) -> str:
        if place not in self._names:
            parts = parts_of(place)
            base = _UNFIT.sub("_", parts[-1] if parts else "root")[:48] or "schema"
            name, number = base, 1
            while name in self._names.values():
                number += 1
                name = f"{base}_{number}"
            self._names[place] = name
        return self._names[place]


def _in_place_references(schema: JsonValue) -> list[JsonValue]:
    """The references of a schema that speak of the same value as it does."""
    found: list[JsonValue] = []
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if is_object(here):
            found += [here[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in here]
            waiting += [child for keyword, _, child in children(here) if keyword in IN_PLACE]
    return found
