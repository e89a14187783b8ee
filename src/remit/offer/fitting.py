"""A bundled schema, fitted into one provider's subset.

What the provider refuses is rewritten where something of the same meaning exists, else told in the
description, else taken out; each is reported. A fitted schema never asks for more than the
author's: at worst it asks for less, and Remit enforces the rest. (One thing apart: a parameter that
stands in one alternative of a union at the root keeps its type there, see ``merging``.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

from remit.catalog.nulls import admits_null
from remit.catalog.reading import is_object
from remit.catalog.subschemas import LISTS, MAPS, SINGLES, children
from remit.documents.canonical import compact_json
from remit.documents.problems import pointer
from remit.offer.dialects import MAX_TOLD, TAKEN_AS_THEY_ARE, TOLD
from remit.offer.merging import AT_ROOT, flattened_root, merged
from remit.offer.nodes import as_enum, is_plain, is_scalar, kinds_of, nullable, types_of_values
from remit.offer.recursion import Reach
from remit.offer.refused_names import tell_of_refused_names
from remit.offer.removals import Removal
from remit.values.visible import visible

if TYPE_CHECKING:
    from typing import TypeGuard

    from remit.offer.bundling import Bundle
    from remit.offer.dialects import Dialect
    from remit.values.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A schema that a provider takes, and what was taken out of the author's for it."""

    schema: JsonObject
    removals: tuple[Removal, ...]


def fit(bundled: Bundle, dialect: Dialect) -> Fitted:
    """Fit a bundled schema into a dialect; every reference of the result leads somewhere."""
    return _Fitting(bundled, dialect).done()


@final
class _Fitting:
    def __init__(self, bundled: Bundle, dialect: Dialect) -> None:
        self._bundle = bundled
        self._dialect = dialect
        self._whole: JsonObject = {**bundled.root, "$defs": bundled.definitions}
        self._removals = list(bundled.removals)
        self._definitions: dict[str, JsonObject | None] = {}

    @cached_property
    def _reach(self) -> Reach | None:
        return Reach(self._bundle) if self._dialect.optional_recursion else None

    def done(self) -> Fitted:
        root = self._node(self._bundle.root, _Place(at="", home="", optional=False))
        root = flattened_root(root, self._bundle.root, self._definition, self._report)
        root = {"type": "object", **root, "properties": root.get("properties", {})}
        root["type"] = "object"
        tell_of_refused_names(root, self._dialect, self._report)
        self._fit_required(root, "")
        used = self._used(root)
        if used:
            root["$defs"] = used
        return Fitted(schema=root, removals=tuple(self._removals))

    def _report(self, at: str, keyword: str, reason: str, *, lost: bool = False) -> None:
        self._removals.append(
            Removal(pointer=f"{at}{pointer(keyword)}", keyword=keyword, reason=reason, lost=lost)
        )

    def _used(self, root: JsonObject) -> JsonObject:
        """The fitted definitions that the root reaches, in the order of their first use."""
        used: JsonObject = {}
        if not self._bundle.definitions:
            return used
        waiting: list[JsonValue] = [root]
        while waiting:
            here = waiting.pop(0)
            if not is_object(here):
                continue
            reference = here.get("$ref")
            if isinstance(reference, str) and reference != "#":
                name = reference.removeprefix("#/$defs/")
                if name not in used:
                    used[name] = self._definition(name) or {}
                    waiting.append(used[name])
            waiting += [child for _, _, child in children(here)]
        return used

    def _definition(self, name: str) -> JsonObject | None:
        """A definition, fitted; None while it is being fitted."""
        if name not in self._definitions:
            self._definitions[name] = None
            place = _Place(at=self._bundle.places[name], home=name, optional=False)
            self._definitions[name] = self._node(self._bundle.definitions[name], place)
        return self._definitions[name]

    # One schema

    def _node(self, schema: JsonValue, place: _Place) -> JsonObject:
        if not is_object(schema):
            return {} if schema is not False else self._nothing(place.at, "")
        out: JsonObject = {}
        told: list[str] = []
        known = self._dialect.keywords
        for keyword, value in schema.items():
            if keyword in TAKEN_AS_THEY_ARE and (known is None or keyword in known):
                out[keyword] = visible(value) if isinstance(value, str) else value
            elif not self._rewrite(keyword, value, schema, place, out):
                if self._takes(keyword, value):
                    out[keyword] = self._inside(keyword, value, schema, place)
                else:
                    self._leave_out(keyword, value, place, told)
        if told:
            words = "; ".join(told)
            own = out.get("description")
            out["description"] = f"{own} ({words})" if isinstance(own, str) and own else words
        self._finish(schema, place, out)
        return out

    def _below(
        self,
        schema: JsonValue,
        place: _Place,
        *path: str | int,
        optional: bool = False,
        merging: bool = False,
    ) -> JsonObject:
        """A schema at a path below a place; most are scalars, which need no place of their own."""
        if self._takes_whole(schema):
            return _shown(schema)
        return self._node(schema, place.step(*path, optional=optional, merging=merging))

    def _nothing(self, at: str, keyword: str) -> JsonObject:
        """A schema object that admits nothing, for ``false``; ``{}`` where there is none."""
        if self._dialect.keywords is None:
            self._report(at, keyword, f"{self._dialect.label} wants an object: a not that is empty")
            return {"not": {}}
        self._report(at, keyword, "no provider takes a schema that admits nothing", lost=True)
        return {}

    def _takes_whole(self, schema: JsonValue) -> TypeGuard[JsonObject]:
        """Whether the provider takes a schema of a scalar as it is."""
        keywords = self._dialect.keywords
        return (
            is_scalar(schema)
            and "pattern" not in schema
            and (keywords is None or keywords.issuperset(schema))
        )

    def _takes(self, keyword: str, value: JsonValue) -> bool:
        dialect = self._dialect
        if dialect.keywords is not None and keyword not in dialect.keywords:
            return False
        if keyword == "format" and dialect.formats is not None:
            return value in dialect.formats
        if keyword == "minItems" and dialect.min_items is not None:
            return value in dialect.min_items
        if keyword in ("enum", "const") and dialect.keywords is not None:
            values = value if isinstance(value, list) and keyword == "enum" else [value]
            return all(is_plain(each, numbers_and_texts=dialect.plain_enums) for each in values)
        return True

    def _leave_out(self, keyword: str, value: JsonValue, place: _Place, told: list[str]) -> None:
        text = visible(compact_json(value))
        if keyword in TOLD and len(text) <= MAX_TOLD and '"$ref"' not in text:
            told.append(f"{keyword}: {text}")
            reason = f"{self._dialect.label} does not take it; the description says it instead"
            self._report(place.at, keyword, reason)
        else:
            self._report(place.at, keyword, f"{self._dialect.label} does not take it", lost=True)

    def _inside(
        self, keyword: str, value: JsonValue, schema: JsonObject, place: _Place
    ) -> JsonValue:
        """The value of a keyword that is taken, its own schemas fitted."""
        if keyword in LISTS and isinstance(value, list):
            merging = place.is_root and keyword in AT_ROOT
            return [
                self._below(item, place, keyword, index, merging=merging)
                for index, item in enumerate(value)
            ]
        if keyword == "properties" and is_object(value):
            return self._properties(value, schema, place)
        if keyword in MAPS and is_object(value):
            return {name: self._below(item, place, keyword, name) for name, item in value.items()}
        if keyword in SINGLES and not isinstance(value, bool):
            return self._below(value, place, keyword)
        return value

    def _properties(self, value: JsonObject, schema: JsonObject, place: _Place) -> JsonObject:
        found: JsonObject = {}
        required = schema.get("required")
        # Left out of an open object, a name that is never valid would be valid: under a "not"
        # or in a "oneOf" that refuses more.
        is_open = (
            self._dialect.keywords is None
            and schema.get("additionalProperties") is not False
            and not place.is_root
        )
        needed = required if isinstance(required, list) else []
        for name, item in value.items():
            if item is False and not is_open:
                at = place.step("properties").at
                self._report(at, name, "no value of it is ever valid", lost=False)
            else:
                optional = name not in needed
                found[name] = self._below(item, place, "properties", name, optional=optional)
        return found

    # Rewriting: each returns whether it dealt with the keyword

    def _rewrite(
        self, keyword: str, value: JsonValue, schema: JsonObject, place: _Place, out: JsonObject
    ) -> bool:
        dialect = self._dialect
        if keyword in AT_ROOT and place.is_root:
            out[keyword] = self._inside(keyword, value, schema, place)
            return True
        if keyword == "$ref":
            return self._refer(value, place, out)
        if dialect.keywords is None:
            return False
        if keyword == "oneOf" and "anyOf" not in schema and "oneOf" not in dialect.keywords:
            out["anyOf"] = self._inside("oneOf", value, schema, place)
            self._report(place.at, "oneOf", f"{dialect.label} takes anyOf, which stands for it")
            return True
        if keyword == "allOf" and "allOf" not in dialect.keywords:
            return True  # merged when the rest of the schema is there
        if keyword == "additionalProperties" and "patternProperties" in schema:
            self._report(place.at, keyword, "the patterns beside it cannot be said", lost=True)
            return True
        if keyword == "items" and isinstance(value, bool):
            if value:
                out["items"] = {}
            else:
                self._report(place.at, keyword, "false is no schema that it takes", lost=True)
            return True
        return self._rewrite_values(keyword, value, schema, place, out)

    def _rewrite_values(
        self, keyword: str, value: JsonValue, schema: JsonObject, place: _Place, out: JsonObject
    ) -> bool:
        if keyword not in ("const", "enum") or (keyword == "const" and "enum" in schema):
            return False
        dialect = self._dialect
        if not dialect.plain_enums:
            return False
        values = [value] if keyword == "const" else value
        rewritten = as_enum(values if isinstance(values, list) else [], schema)
        if rewritten is None or ("anyOf" in rewritten and ("anyOf" in schema or "oneOf" in schema)):
            return False
        out |= rewritten
        if keyword == "const" or "anyOf" in rewritten:
            self._report(
                place.at,
                keyword,
                f"{dialect.label} takes a list of texts or numbers, which stands for it",
            )
        return True

    def _refer(self, value: JsonValue, place: _Place, out: JsonObject) -> bool:
        name = "" if value == "#" else str(value).removeprefix("#/$defs/")
        if self._reach is not None and not place.optional and self._reach.cyclic(place.home, name):
            target = self._bundle.definitions[name] if name else self._bundle.root
            kinds = kinds_of(target)
            if kinds:
                out["type"] = kinds[0] if len(kinds) == 1 else list(kinds)
            self._report(
                place.at,
                "$ref",
                f"{self._dialect.label} takes recursion only below an optional property",
                lost=True,
            )
            return True
        out["$ref"] = value
        return True

    # What depends on more than one keyword

    def _finish(self, schema: JsonObject, place: _Place, out: JsonObject) -> None:
        dialect = self._dialect
        if dialect.keywords is not None:
            if "allOf" in schema and "allOf" not in dialect.keywords and not place.is_root:
                self._merge(schema["allOf"], place, out)
            values = schema.get("enum", [schema["const"]] if "const" in schema else None)
            if "type" not in out and "anyOf" not in out and isinstance(values, list):
                kinds = types_of_values(values)
                out["type"] = kinds[0] if len(kinds) == 1 else kinds
        if out.get("required") == []:
            del out["required"]
        if dialect.typed_arrays and "array" in kinds_of(out) and not is_object(out.get("items")):
            if out.get("items") is False:
                out["items"] = self._nothing(place.at, "items")
            else:
                out["items"] = {}
        if dialect.declared_required and not (place.is_root or place.merging):
            self._fit_required(out, place.at)
        if dialect.all_required and is_object(out.get("properties")):
            self._require_all(schema, out)
        if dialect.lone_references and "$ref" in out and len(out) > 1 and not place.is_root:
            self._set_apart(place, out)

    def _merge(self, branches: JsonValue, place: _Place, out: JsonObject) -> None:
        parts = [
            self._below(branch, place, "allOf", index, merging=True)
            for index, branch in enumerate(branches if isinstance(branches, list) else [])
        ]
        if len(parts) == 1 and set(parts[0]) == {"$ref"} and "$ref" not in out:
            out["$ref"] = parts[0]["$ref"]
            self._report(place.at, "allOf", "its one schema stands in its place")
            return
        lost = merged(out, parts, self._definition)
        reason = f"{self._dialect.label} does not take it; its schemas are merged"
        self._report(place.at, "allOf", reason, lost=lost)

    def _set_apart(self, place: _Place, out: JsonObject) -> None:
        reference = {"$ref": out.pop("$ref")}
        if "anyOf" in out:
            self._report(place.at, "$ref", f"{self._dialect.label} takes it alone only", lost=True)
        else:
            out["anyOf"] = [reference]

    def _fit_required(self, out: JsonObject, at: str) -> None:
        required, declared = out.get("required"), out.get("properties")
        if not self._dialect.declared_required or not isinstance(required, list):
            return
        names = declared if is_object(declared) else {}
        kept = [name for name in required if name in names]
        if len(kept) < len(required):
            reason = f"{self._dialect.label} takes only names that are declared beside it"
            self._report(at, "required", reason, lost=True)
        out.pop("required")
        if kept:
            out["required"] = [*kept]

    def _require_all(self, schema: JsonObject, out: JsonObject) -> None:
        """Strict mode wants every property required: the optional ones become nullable."""
        declared = out["properties"]
        written = schema.get("properties")
        required = out.get("required")
        if not is_object(declared):
            return
        for name, item in declared.items():
            original = written.get(name, True) if is_object(written) else True
            optional = not isinstance(required, list) or name not in required
            if optional and is_object(item) and not admits_null(original, self._whole):
                declared[name] = nullable(item)
        out["required"] = [*declared]


def _shown(schema: JsonObject) -> JsonObject:
    """A schema whose keywords are all taken as they are."""
    return {
        keyword: visible(value) if isinstance(value, str) else value
        for keyword, value in schema.items()
    }


class _Place(NamedTuple):
    """Where a schema stands.

    Attributes:
        at: its pointer in the author's parameters.
        home: the definition it is in; "" for the root.
        optional: whether it is below an optional property of its home.
        merging: whether it will be merged into the schema around it.
    """

    at: str
    home: str
    optional: bool
    merging: bool = False

    @property
    def is_root(self) -> bool:
        """Whether the root of the parameters stands here, and no definition."""
        return not self.at and not self.home

    def step(self, *path: str | int, optional: bool = False, merging: bool = False) -> _Place:
        return _Place(
            at=self.at + pointer(*path),
            home=self.home,
            optional=self.optional or optional,
            merging=merging,
        )
