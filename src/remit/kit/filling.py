"""References of a target filled from an input, for the local runner: the common part of section 4.

It is no engine: no ``${env.…}``, no pins, no guard. ``remit dev`` has all of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.kit.tools import AppTarget, Json

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_INPUT_PATH: Final = re.compile(r"input(?:\.[A-Za-z0-9_-]+)*")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e\t]*")


class FillingError(ValueError):
    """A reference leads nowhere, or its value cannot stand where it is wanted; nothing is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A request as it goes out, without what Remit adds.

    Attributes:
        path: with its query.
        headers: the author's.
        body: JSON, or None where none is sent.
    """

    path: str
    headers: Mapping[str, str]
    body: bytes | None


def fill(target: AppTarget, args: Mapping[str, Json]) -> Filled:
    """Fill ``${input}`` and ``${input.<path>}`` in query, headers and body, once.

    Raises:
        FillingError: see there; also for what only a server can fill.
    """
    given = cast("Json", dict(args))
    pairs: list[tuple[str, str]] = []
    for name, template in (target.query or {}).items():
        value = _filled(template, given)
        items = value if isinstance(value, list) else [value]
        pairs += [(name, _text(item, f"the query parameter {name}")) for item in items]
    headers: dict[str, str] = {}
    for name, template in (target.headers or {}).items():
        headers[name] = _text(_filled(template, given), f"the header {name}")
        if not _HEADER_VALUE.fullmatch(headers[name]):
            raise FillingError(f"The header {name} may hold visible ASCII, blanks and tabs only.")
    body = None
    if target.body is not None:
        value = _filled(target.body, given)
        body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    query = f"?{urlencode(pairs, quote_via=quote)}" if pairs else ""
    return Filled(path=target.path + query, headers=headers, body=body)


def _filled(template: Json, given: Json) -> Json:
    if isinstance(template, dict):
        return {key: _filled(value, given) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(item, given) for item in template]
    if not isinstance(template, str):
        return template
    whole = _REFERENCE.fullmatch(template)
    if whole is not None and whole[1] is not None:
        return _looked_up(whole[1], given)

    def text(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        if match[1] is None:
            raise FillingError(f"A reference in {template!r} is not closed.")
        return _text(_looked_up(match[1], given), f"the text {template!r}")

    return _REFERENCE.sub(text, template)


def _looked_up(reference: str, given: Json) -> Json:
    path = reference.strip()
    if path.startswith("env."):
        raise FillingError(f"${{{path}}} is filled by a server alone: use `remit dev`.")
    if not _INPUT_PATH.fullmatch(path):
        raise FillingError(f"${{{path}}} is no reference. Write ${{input}} or ${{input.<path>}}.")
    value = given
    for part in path.split(".")[1:]:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise FillingError(f"${{{path}}} leads to nothing in the input. Give it, or drop it.")
    return value


def _text(value: Json, where: str) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, dict | list):
        kind = "null" if value is None else "an object or a list"
        raise FillingError(
            f"A value for {where} is {kind}; only a text or a number can stand there."
        )
    return json.dumps(value, allow_nan=False)
