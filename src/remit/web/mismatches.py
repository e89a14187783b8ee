"""What is wrong with a body or a query, as a sentence: the decoder's own words name its types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import inspect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_AT = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>\$[^`]*)`)?", re.DOTALL)
_TYPE = r"Expected `(?P<type>[^`]+)`"
_KINDS: Mapping[str, str] = {
    "str": "a text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "datetime": "a time",
    "null": "null",
}
_PART = re.compile(r"\[[^]]*\]|[^.[\]]+")
_MOST_KEYS = 12
_TIME = "a time as RFC 3339 with its offset, such as 2026-01-31T12:00:00Z"


def words(error: msgspec.ValidationError, shape: object, whole: str) -> str:
    """A decoder's error as a clause that begins with what is wrong; no value is quoted.

    Args:
        error: of ``msgspec.convert``.
        shape: the type that was decoded; it names the values that an enumeration takes, and the
            keys that an object does.
        whole: what the outermost value is called: ``body``.
    """
    found = _AT.fullmatch(str(error))
    what, path = (found["what"], found["path"] or "$") if found else (str(error), "$")
    subject = _called(path, whole)
    if unknown := _UNKNOWN.fullmatch(what):
        return f'{subject} has "{unknown[1]}", which is not known here{_keys(path, shape)}'
    for pattern, said in _SAID:
        match = pattern.fullmatch(what)
        if match is not None:
            return said(subject, match)
    if what.startswith("Invalid enum value"):
        return f"{subject} must be {_one_of(_values(path, shape))}"
    # A message that this table does not know: what it begins with names no value.
    return f"{subject} is of another shape"


def _missing(subject: str, match: re.Match[str]) -> str:
    return f'{subject} has no "{match[1]}", and must have one'


def _long(subject: str, match: re.Match[str]) -> str:
    least, many = match["bound"] == ">=", int(match["count"])
    unit = "entry" if match["type"] in {"array", "object"} else "character"
    if many != 1:
        unit = "entries" if unit == "entry" else "characters"
    bound = "at least" if least else "at most"
    return f"{subject} must be {_kind(match['type'])} of {bound} {many:,} {unit}"


def _bounded(subject: str, match: re.Match[str]) -> str:
    bound = {">=": "at least ", "<=": "at most ", ">": "over ", "<": "under "}[match["bound"]]
    return f"{subject} must be {_kind(match['type'])}, {bound}{match['count']}"


def _another(subject: str, match: re.Match[str]) -> str:
    return f"{subject} must be {_kind(match['type'])}, and is {_kind(match['got'])}"


def _time(subject: str, _match: re.Match[str]) -> str:
    return f"{subject} must be {_TIME}"


_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_SAID: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], str]], ...] = (
    (re.compile(r"Object missing required field `([^`]+)`"), _missing),
    (re.compile(rf"{_TYPE} of length (?P<bound>[<>]=) (?P<count>\d+)"), _long),
    (re.compile(rf"{_TYPE} (?P<bound>[<>]=?) (?P<count>-?\d+)"), _bounded),
    (re.compile(rf"{_TYPE}, got `(?P<got>[^`]+)`"), _another),
    (re.compile(r"Invalid RFC3339 encoded datetime"), _time),
    (re.compile(r"Expected `datetime` with a timezone component"), _time),
)


def _kind(types: str) -> str:
    """``str | null`` as ``a text or null``."""
    return " or ".join(_KINDS.get(one, one) for one in types.split(" | "))


def _called(path: str, whole: str) -> str:
    """``$.ceiling.category`` as ``ceiling.category``; a key of any name as ``a value of …``."""
    if path == "$":
        return f"the {whole}"
    inner = path.removeprefix("$").removeprefix(".")
    if inner.endswith("[...]"):
        inner = inner.removesuffix("[...]")
        return f"a value of {inner or f'the {whole}'}"
    return inner


def _values(path: str, shape: object) -> tuple[object, ...]:
    """What an enumeration at a path takes."""
    return tuple(
        value
        for kind in _kinds(path, shape)
        if isinstance(kind, inspect.LiteralType)
        for value in kind.values
    )


def _keys(path: str, shape: object) -> str:
    """Which keys the object at a path takes, as the end of a clause; nothing where it has none."""
    # Of a union every member's: which one was meant is not said.
    found = list(dict.fromkeys(f.encode_name for f in _fields(_kinds(path, shape))))
    if not found:
        return ""
    more = len(found) - _MOST_KEYS
    listed = [*found[:_MOST_KEYS], *([f"{more} more"] if more > 0 else [])]
    return f"; it takes {listed[0] if len(listed) == 1 else _all_of(listed)}"


def _kinds(path: str, shape: object) -> list[inspect.Type]:
    """The types that a value at a path may have."""
    kinds = [*_each(inspect.type_info(shape))]
    for part in _PART.findall(path.removeprefix("$")):
        inner = (
            [one for kind in kinds for one in _entries(kind)]
            if part.startswith("[")
            else [field.type for field in _fields(kinds) if field.encode_name == part]
        )
        kinds = [one for kind in inner for one in _each(kind)]
    return kinds


def _fields(kinds: Sequence[inspect.Type]) -> list[inspect.Field]:
    return [one for kind in kinds if isinstance(kind, inspect.StructType) for one in kind.fields]


def _entries(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(kind, inspect.CollectionType):
        return (kind.item_type,)
    return (kind.value_type,) if isinstance(kind, inspect.DictType) else ()


def _each(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(kind, inspect.UnionType):
        return tuple(one for member in kind.types for one in _each(member))
    return _each(kind.type) if isinstance(kind, inspect.Metadata) else (kind,)


def _one_of(values: tuple[object, ...]) -> str:
    shown = ["true" if value is True else str(value) for value in values]
    if not shown:
        return "one of the values that are listed for it"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _all_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
