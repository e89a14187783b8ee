"""What a value breaks in its schema, in a person's words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from remit.documents.problems import pointer, quoted, shortened
from remit.documents.shapes import is_array, is_object
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jsonschema_rs import ValidationError

#: Options of an enum that a message names; the count of the rest is said.
_MAX_OPTIONS = 12
_TYPES = MappingProxyType(
    {
        "array": "an array",
        "boolean": "true or false",
        "integer": "an integer",
        "null": "null",
        "number": "a number",
        "object": "an object",
        "string": "a string",
    }
)
_FORMATS = MappingProxyType(
    {
        "date": "a date, as in 2026-11-30",
        "date-time": "a date and time with an offset, as in 2026-11-30T12:00:00Z",
        "email": "an e-mail address",
        "uri": "an absolute URI, as in https://example.com/a",
        "uuid": "a UUID, as in 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that a value breaks in its schema.

    Attributes:
        pointer: JSON Pointer of the value at fault; of the object where a property is missing
            or should not be there.
        rule: the keyword that is broken, as in "type" or "required".
        message: what it must be and what it is, for a person; no secret value is in it, and no
            full stop at its end.
        expected_types: the types that would do, for a type fault, and for "anyOf" and "oneOf"
            those of all their branches; else ().
        schema_pointer: JSON Pointer of the broken keyword in the schema.
        property: the missing, or the unwanted, property; else None.
    """

    pointer: str
    rule: str
    message: str
    expected_types: tuple[str, ...] = ()
    schema_pointer: str = ""
    property: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the words of a fault are made with.

    Attributes:
        instance: the whole value that was validated.
        is_secret: whether what stands at a path of it may not be quoted.
        declared: the names of the properties that the schema at a schema path declares.
    """

    instance: object
    is_secret: Callable[[Sequence[str | int]], bool]
    declared: Callable[[Sequence[str | int]], Iterable[str]]


def faults_of(error: ValidationError, words: Words) -> Iterator[Fault]:
    """The faults that one error of the validator stands for: one for each unwanted property."""
    path = error.instance_path
    rule = _rule(error)
    at, schema_at = pointer(*path), pointer(*error.schema_path)
    details = error.kind.as_dict()
    found = _value_at(words.instance, path)
    unwanted = details.get("unexpected", ())
    if rule == "additionalProperties" and is_object(found) and not unwanted:
        # Where the schema declares no property at all, the validator names none of those found.
        unwanted = tuple(found)
    if rule in ("additionalProperties", "unevaluatedProperties"):
        for name in cast("Sequence[str]", unwanted):
            yield Fault(
                pointer=at,
                rule=rule,
                message=_unwanted(name, error, words),
                schema_pointer=schema_at,
                property=name,
            )
        return
    secret = words.is_secret(path)
    shown = "" if secret else f"; it is {_shown(found)}"
    message = _message(error, rule, details, found, shown, words)
    yield Fault(
        pointer=at,
        rule=rule,
        message=_SECRET[rule] if secret and rule in _SECRET else message,
        expected_types=_expected(error, path),
        schema_pointer=schema_at,
        property=cast("str | None", details.get("property")),
    )


def _rule(error: ValidationError) -> str:
    last = error.schema_path[-1] if error.schema_path else ""
    if error.kind.name in ("required", "contains") and isinstance(last, str):
        return last
    if error.kind.name == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        return "additionalProperties"
    return error.kind.name


def _message(
    error: ValidationError,
    rule: str,
    details: Mapping[str, object],
    found: object,
    shown: str,
    words: Words,
) -> str:
    if rule in ("anyOf", "oneOf"):
        return _branches(error, shown, words)
    if rule == "propertyNames":
        return _name_words(cast("ValidationError", details["error"]), words)
    simple = _SIMPLE.get(rule)
    if simple is not None:
        return simple(details, found) + (shown if rule in _QUOTING else "")
    if rule == "required":
        return f"the property {quoted(str(details['property']))} is missing"
    if rule == "dependentRequired":
        return f"with these properties, {quoted(str(details['property']))} is required too"
    return f'does not fit the rule "{rule}" of its schema'


def _type_words(details: Mapping[str, object], _found: object) -> str:
    return f"must be {_types(cast('list[str]', details['types']))}"


def _enum_words(details: Mapping[str, object], _found: object) -> str:
    options = cast("list[object]", details["options"])
    listed = ", ".join(_literal(option) for option in options[:_MAX_OPTIONS])
    more = f" and {len(options) - _MAX_OPTIONS:,} more" if len(options) > _MAX_OPTIONS else ""
    return f"must be one of {listed}{more}" if len(options) != 1 else f"must be {listed}"


def _length_words(details: Mapping[str, object], found: object, *, least: bool) -> str:
    one, many = "property", "properties"
    if isinstance(found, str):
        one, many = "character", "characters"
    elif is_array(found):
        one, many = "item", "items"
    limit = details["limit"]
    unit = one if limit == 1 else many
    size = len(found) if isinstance(found, str) or is_array(found) or is_object(found) else 0
    bound = f"{limit:,}" if isinstance(limit, int) else limit
    return f"must have at {'least' if least else 'most'} {bound} {unit}; it has {size:,}"


def _least(details: Mapping[str, object], found: object) -> str:
    return _length_words(details, found, least=True)


def _most(details: Mapping[str, object], found: object) -> str:
    return _length_words(details, found, least=False)


def _format_words(details: Mapping[str, object], _found: object) -> str:
    name = str(details["format"])
    return f"must be {_FORMATS.get(name, name)}"


_SIMPLE: Mapping[str, Callable[[Mapping[str, object], object], str]] = MappingProxyType(
    {
        "type": _type_words,
        "enum": _enum_words,
        "const": lambda details, _found: f"must be {_literal(details['expected_value'])}",
        "format": _format_words,
        "minLength": _least,
        "minItems": _least,
        "minProperties": _least,
        "maxLength": _most,
        "maxItems": _most,
        "maxProperties": _most,
        "minimum": lambda details, _found: f"must be at least {_literal(details['limit'])}",
        "maximum": lambda details, _found: f"must be at most {_literal(details['limit'])}",
        "exclusiveMinimum": lambda details, _found: (
            f"must be more than {_literal(details['limit'])}"
        ),
        "exclusiveMaximum": lambda details, _found: (
            f"must be less than {_literal(details['limit'])}"
        ),
        "multipleOf": lambda details, _found: (
            f"must be a multiple of {_literal(details['multiple_of'])}"
        ),
        "pattern": lambda details, _found: f"must match {shortened(str(details['pattern']))}",
        "uniqueItems": lambda _details, _found: "must not hold the same item twice",
        "contains": lambda _details, _found: "holds no item of the kind that it must hold",
        "minContains": lambda _details, _found: "holds too few items of the kind that it must hold",
        "maxContains": lambda _details, _found: (
            "holds too many items of the kind that it must hold"
        ),
        "falseSchema": lambda _details, _found: "is not allowed here",
        "not": lambda _details, _found: 'fits what its schema excludes with "not"',
        "unevaluatedItems": lambda _details, _found: "holds items that its schema does not name",
    }
)
#: What is said of a secret where the usual words would tell something of it.
_SECRET = MappingProxyType(
    {
        "enum": "must be one of the values that its schema allows",
        "const": "must be the value that its schema asks for",
        "minLength": "is too short",
        "maxLength": "is too long",
    }
)
#: The rules whose message ends with the value itself.
_QUOTING = frozenset(
    {
        "type",
        "enum",
        "const",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "not",
    }
)


def _name_words(error: ValidationError, words: Words) -> str:
    name = error.instance
    of_name = Words(instance=name, is_secret=lambda _: False, declared=words.declared)
    fault = next(faults_of(error, of_name), None)
    return f"the property name {quoted(str(name))} {fault.message if fault else 'is not allowed'}"


def _unwanted(name: str, error: ValidationError, words: Words) -> str:
    close = nearest(name, words.declared(error.schema_path[:-1]))
    hint = f" (did you mean {quoted(close)}?)" if close else ""
    return f"the property {quoted(name)} is not declared{hint}"


def _branches(error: ValidationError, shown: str, words: Words) -> str:
    """The words of an anyOf or oneOf that nothing fits, or too much."""
    branches = cast("list[list[ValidationError]]", error.kind.as_dict()["context"])
    if any(not branch for branch in branches):
        return f"fits more than one of the {len(branches)} forms of which it must fit exactly one"
    types = _expected(error, error.instance_path)
    own = [fault for branch in branches for fault in branch[:1]]
    if types and all(fault.kind.name == "type" for fault in own):
        return f"must be {_types(types)}{shown}"
    leaf = _closest(error)
    fault = next(faults_of(leaf, words), None)
    if fault is None:
        return f"fits none of the {len(branches)} allowed forms"
    place = pointer(*leaf.instance_path[len(error.instance_path) :])
    at = f"at {place} " if place else "it "
    return f"fits none of the {len(branches)} allowed forms; of the closest, {at}{fault.message}"


def _closest(error: ValidationError) -> ValidationError:
    """The fault of the branch that went wrong deepest: the one that was most likely meant."""
    while error.kind.name in ("anyOf", "oneOf"):
        branches = cast("list[list[ValidationError]]", error.kind.as_dict()["context"])
        if not all(branches):
            break
        error = max(branches, key=lambda found: (len(found[0].instance_path), -len(found)))[0]
    return error


def _expected(error: ValidationError, path: Sequence[str | int]) -> tuple[str, ...]:
    """The types that would do at ``path``, each once."""
    details = error.kind.as_dict()
    if error.kind.name == "type" and list(error.instance_path) == list(path):
        return tuple(cast("list[str]", details["types"]))
    if error.kind.name not in ("anyOf", "oneOf"):
        return ()
    found: dict[str, None] = {}
    for branch in cast("list[list[ValidationError]]", details["context"]):
        for fault in branch:
            found.update(dict.fromkeys(_expected(fault, path)))
    return tuple(found)


def _types(names: Sequence[str]) -> str:
    """The types in words, null at the end: it is seldom what is meant."""
    words = [_TYPES.get(name, name) for name in sorted(names, key=lambda name: name == "null")]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    try:
        return shortened(json.dumps(value, ensure_ascii=False, default=str))
    except ValueError:
        return "a very large number"


def _shown(value: object) -> str:
    if is_object(value):
        return "an object"
    if is_array(value):
        return f"an array of {len(value):,} item{'' if len(value) == 1 else 's'}"
    return _literal(value)


def _value_at(instance: object, path: Sequence[str | int]) -> object:
    for part in path:
        if is_object(instance):
            instance = instance.get(str(part))
        elif is_array(instance) and isinstance(part, int):
            instance = instance[part]
    return instance
