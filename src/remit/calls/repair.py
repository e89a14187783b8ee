"""Lossless repair of arguments that break the schema (contract section 5, step 3).

Tried only where validation fails, at the very place that fails, never on a pin. A repair that
would lose a digit or guess a meaning is none: ``"007"`` stays text.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import TYPE_CHECKING, cast

from remit.calls.lookup import MISSING, Found
from remit.catalog.nulls import drop_optional_nulls
from remit.documents.problems import DocumentError, parts_of
from remit.documents.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from remit.catalog.parameters import Parameters
    from remit.documents.schema import Fault
    from remit.values.json import JsonObject, JsonValue

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MAX_DEPTH = 64
"""How deep arguments may nest (contract section 5, step 1); a repair makes them no deeper."""
_MAX_ROUNDS = 16
_MAX_DIGITS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One change that was made to fit the schema.

    Attributes:
        name: the top-level argument it is in.
        pointer: where in the arguments.
        words: what was done, without the value.
    """

    name: str
    pointer: str
    words: str


def repair(
    parameters: Parameters,
    values: JsonObject,
    faults: tuple[Fault, ...],
    *,
    keep: Collection[str],
) -> tuple[JsonObject, tuple[Repair, ...], tuple[Fault, ...]]:
    """Repair what can be repaired.

    Args:
        parameters: the schema that was broken.
        values: the arguments; never changed in place.
        faults: how they break it.
        keep: names of pinned arguments, which are never repaired.

    Returns:
        The arguments, what was repaired, and the faults that remain.
    """
    repaired: list[Repair] = []
    copy = deepcopy(values)
    if parameters.closed:
        free = {name: value for name, value in copy.items() if name not in keep}
        free, dropped = drop_optional_nulls(parameters.schema, free)
        copy = {**free, **{name: value for name, value in copy.items() if name in keep}}
        repaired += [
            _told(pointer, "a null for an optional value was left out") for pointer in dropped
        ]
        if dropped:
            faults = parameters.compiled.validate(copy)
    for _ in range(_MAX_ROUNDS):
        changes = [change for fault in faults if (change := _mend(copy, fault, keep))]
        if not changes:
            break
        repaired += changes
        faults = parameters.compiled.validate(copy)
        if not faults:
            break
    return copy, tuple(repaired), faults


def _told(pointer: str, words: str) -> Repair:
    return Repair(name=parts_of(pointer)[0], pointer=pointer, words=words)


def _mend(values: JsonObject, fault: Fault, keep: Collection[str]) -> Repair | None:
    """Mend one fault in place, or None where there is no lossless way."""
    parts = parts_of(fault.pointer)
    if not fault.expected_types or not parts or parts[0] in keep:
        return None
    parent, key = _parent(values, parts)
    if parent is None:
        return None
    current = cast("object", parent[key])  # pyright: ignore[reportArgumentType, reportCallIssue]
    if not isinstance(current, str):
        return None
    for expected in fault.expected_types:
        better, words = _read_as(current, expected, max_depth=MAX_DEPTH - len(parts))
        if better is not MISSING:
            parent[key] = better  # pyright: ignore[reportArgumentType, reportCallIssue]
            return Repair(name=parts[0], pointer=fault.pointer, words=words)
    return None


def _parent(
    values: JsonObject, parts: Sequence[str]
) -> tuple[dict[str, JsonValue] | list[JsonValue] | None, str | int]:
    """The container of the place that a pointer names, and its key there."""
    at: JsonValue = values
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if isinstance(at, dict) and part in at:
            if last:
                return at, part
            at = at[part]
        elif isinstance(at, list) and part.isdigit() and int(part) < len(at):
            if last:
                return at, int(part)
            at = at[int(part)]
        else:
            return None, part
    return None, ""


def _read_as(text: str, expected: str, *, max_depth: int) -> tuple[Found, str]:
    """The value of another JSON type that a text spells exactly, at most so deep."""
    if expected == "integer" and _INTEGER.fullmatch(text) and len(text) <= _MAX_DIGITS:
        return int(text), "a number given as text was taken as the number"
    if expected == "number" and _NUMBER.fullmatch(text) and len(text) <= _MAX_DIGITS:
        if _INTEGER.fullmatch(text):
            return int(text), "a number given as text was taken as the number"
        number = float(text)
        if _spells(text, number):
            return number, "a number given as text was taken as the number"
    if expected == "boolean" and text in ("true", "false"):
        return text == "true", "true or false given as text was taken as the value"
    if expected in ("object", "array"):
        try:
            value = parse_json(text, max_depth=max_depth)
        except DocumentError:
            return MISSING, ""
        if isinstance(value, dict if expected == "object" else list):
            return cast(
                "JsonValue", value
            ), f"an {expected} given as JSON text was taken as the {expected}"
    return MISSING, ""


def _spells(text: str, number: float) -> bool:
    """Whether a float is exactly the number that a text spells."""
    if isinf(number):
        return False
    try:
        return Decimal(text) == Decimal(repr(number))
    except InvalidOperation:
        # An exponent beyond what can be counted.
        return False
