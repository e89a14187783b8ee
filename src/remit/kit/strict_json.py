"""JSON as Remit writes it: what two readers could read in two ways is refused."""

from __future__ import annotations

import json
from math import isfinite
from typing import NoReturn, cast


def strict_object(data: bytes) -> dict[str, object]:
    """A JSON object, strictly (see ``strict_json``).

    Raises:
        ValueError: it is not that.
    """
    value = strict_json(data)
    if not isinstance(value, dict):
        msg = "it is no JSON object"
        raise ValueError(msg)  # noqa: TRY004 - it is about a text
    return cast("dict[str, object]", value)


def strict_json(data: bytes) -> object:
    """A JSON value, strictly: UTF-8, no name twice at any depth, no NaN, no infinity.

    Raises:
        ValueError: it is not that.
    """
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_pairs,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except RecursionError:
        msg = "it is nested too deeply"
        raise ValueError(msg) from None


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a name stands twice"
        raise ValueError(msg)
    return found


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        msg = "a number is beyond all bounds"
        raise ValueError(msg)
    return number
