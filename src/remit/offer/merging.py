"""Schemas merged into one: for providers without ``allOf``, or without combinators at the root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.reading import is_object
from remit.documents.canonical import compact_json
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.offer.removals import Report
    from remit.values.json import JsonObject, JsonValue

_MAX_TOLD = 1_000
_CONDITION = frozenset({"if", "then", "else"})
# What every provider refuses at the root, with the whole request.
AT_ROOT = ("allOf", "anyOf", "oneOf", "not", "enum", "const", "$ref")


def merged(
    into: JsonObject,
    parts: Sequence[JsonValue],
    definition: Callable[[str], JsonObject | None],
) -> bool:
    """Merge fitted schemas into one that asks for all that they agree on.

    Args:
        into: the schema that is changed; what it says itself stays.
        parts: the others.
        definition: a fitted definition by name; None while it is being made.

    Returns:
        Whether anything was lost: two of them say different things of one keyword, or one of
        them is only a reference back to where it stands.
    """
    lost = False
    for part in parts:
        resolved = _resolved(part, definition)
        if resolved is None:
            lost = True
            continue
        # One condition is one thing to say: its parts stay together, and apart from another's.
        other = not _CONDITION.isdisjoint(resolved) and not _CONDITION.isdisjoint(into)
        lost = lost or other
        for keyword, value in resolved.items():
            if other and keyword in _CONDITION:
                continue
            if keyword == "allOf" and isinstance(value, list):
                lost = merged(into, value, definition) or lost
            else:
                lost = not _merge_keyword(into, keyword, value) or lost
    return lost


def _resolved(part: JsonValue, definition: Callable[[str], JsonObject | None]) -> JsonObject | None:
    """A schema with its own reference merged in; None where it leads to no finished one."""
    if not is_object(part):
        return None
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return part
    target = None if reference == "#" else definition(reference.removeprefix("#/$defs/"))
    if target is None:
        return None
    result: JsonObject = {key: value for key, value in part.items() if key != "$ref"}
    return None if merged(result, [target], definition) else result


def _merge_keyword(into: JsonObject, keyword: str, value: JsonValue) -> bool:
    """Merge one keyword; whether nothing of it was lost."""
    own = into.get(keyword)
    if keyword not in into or own == value:
        into[keyword] = value
        return True
    if keyword == "properties" and is_object(own) and is_object(value):
        clash = any(name in own and own[name] != value[name] for name in value)
        into[keyword] = {**value, **own}
        return not clash
    if keyword == "required" and isinstance(own, list) and isinstance(value, list):
        into[keyword] = [*own, *(name for name in value if name not in own)]
        return True
    if keyword == "description":
        into[keyword] = f"{own}\n{value}"
        return True
    # The author's own title beside a reference takes the place of the target's.
    return keyword == "title"


def flattened_root(
    root: JsonObject,
    written: JsonObject,
    definition: Callable[[str], JsonObject | None],
    report: Report,
) -> JsonObject:
    """A root without combinators: one object with all their parameters, the rest in words.

    Args:
        root: fitted, its combinators left in place.
        written: the same root as it was before; the words tell of this one.
        definition: a fitted definition by name.
        report: takes note of what is left out.
    """
    if not any(keyword in root for keyword in AT_ROOT):
        return root
    result = {key: value for key, value in root.items() if key not in AT_ROOT}
    told: list[str] = []
    everything = root.get("allOf")
    parts = list(everything) if isinstance(everything, list) else []
    if "$ref" in root:
        parts.append({"$ref": root["$ref"]})
    # A merged part may bring combinators of its own; they are told in their turn.
    lost = merged(result, parts, definition)
    for keyword in ("allOf", "$ref"):
        if keyword in root:
            reason = "no provider takes it at the root; what it says is merged into the root"
            report("", keyword, reason, lost=lost)
    for keyword in ("anyOf", "oneOf", "not", "enum", "const"):
        for source in (root, result):
            if keyword not in source:
                continue
            value = source[keyword]
            if keyword in ("anyOf", "oneOf") and isinstance(value, list):
                _add_alternatives(result, value, definition)
            text = _told(keyword, written[keyword] if source is root else value)
            told += [text] if text and text not in told else []
            reason = "no provider takes it at the root" + (
                "; the description says it instead" if text else ""
            )
            report("", keyword, reason, lost=text is None)
        result.pop(keyword, None)
    if told:
        own = result.get("description")
        words = "\n".join(told)
        result["description"] = f"{own}\n{words}" if isinstance(own, str) and own else words
    return result


def _told(keyword: str, value: JsonValue) -> str | None:
    """What a combinator of the root asks for, in words; None where it is too long."""
    if keyword in ("anyOf", "oneOf") and isinstance(value, list):
        groups = [_required(branch) for branch in value]
        if all(groups):
            much = "at least" if keyword == "anyOf" else "exactly"
            text = f"Give {much} one of these: " + " | ".join(", ".join(group) for group in groups)
            return visible(text) if len(text) <= _MAX_TOLD else None
    text = visible(compact_json(value))
    return f"{keyword}: {text}" if len(text) <= _MAX_TOLD and '"$ref"' not in text else None


def _required(branch: JsonValue) -> list[str]:
    required = branch.get("required") if is_object(branch) else None
    return list(map(str, required)) if isinstance(required, list) else []


def _add_alternatives(
    result: JsonObject,
    branches: list[JsonValue],
    definition: Callable[[str], JsonObject | None],
) -> None:
    """Declare the parameters of each alternative at the root, as optional ones.

    One that other alternatives leave open keeps its type: in a union of shapes that is what the
    author means, and a model without it has only words to go by.
    """
    declared = result.get("properties")
    known: JsonObject = dict(declared) if is_object(declared) else {}
    closed = result.get("additionalProperties") is False
    found: dict[str, list[JsonValue]] = {}
    for branch in branches:
        resolved = _resolved(branch, definition)
        properties = resolved.get("properties") if resolved else None
        for name, schema in properties.items() if is_object(properties) else ():
            if schema not in found.setdefault(name, []):
                found[name].append(schema)
    for name, schemas in found.items():
        if name not in known and not closed:
            known[name] = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    result["properties"] = known
