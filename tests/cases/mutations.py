"""Makes expectations wrong, one at a time: each must then fail, or it is not judged."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from tests.cases.verdicts import Json

# Words for people, and alternatives or bounds that a wrong value only widens.
_PROSE = frozenset(
    (
        "also",
        "never",
        "or",
        "why",
        "note",
        "thenCall",
        "export",
        "within_ms",
        "validate_within_ms",
        "peak_memory_mb_under",
        "bytes_read_under",
        "process_survives",
        "never_fetch",
        "no_500",
        "never_connect",
        "never_send",
        "never_send_to",
        "raw_must_not_contain",
        "noHeaders",
        "textLacks",
        "secret_not_in_error",
        "executed_equals_shown",
        "catalog",
        "executed_times_at_most",
    )
)
_FLIPS: dict[str, str] = {
    "refuse": "send",
    "send": "refuse",
    "allow": "refuse",
    "reject_definition": "accept_definition",
    "accept_definition": "reject_definition",
}


def mutations(case: Json) -> Iterator[tuple[str, Json]]:
    """Where something was made wrong, and the case with it."""
    for path, value in _leaves(case["expect"], ()):
        for wrong in _wrong(path, value, case):
            changed = deepcopy(case)
            node = changed["expect"]
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = wrong
            yield "/".join(map(str, path)), changed


def _leaves(value: Json, path: tuple[Json, ...]) -> Iterator[tuple[tuple[Json, ...], Json]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in _PROSE:
                yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and path[-1:] != ("oneOf",):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    elif not isinstance(value, list) and path:
        yield path, value


def _wrong(path: tuple[Json, ...], value: Json, case: Json) -> Iterator[Json]:
    """A wrong value for a right one; none where a change cannot make it wrong."""
    last = path[-1]
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield {200: 400}.get(value, 200) if last == "status" else value + 1
    elif value is None:
        yield "not null"
    elif last in ("decision", "same_origin"):
        if value in _FLIPS and not ("ssrf" in str(case.get("class")) and value == "refuse"):
            yield _FLIPS[value]
        elif value == "refuse":
            yield "allow"
    elif last in ("error", "fetched"):
        return
    elif last == "level":
        yield "no such level"
    elif isinstance(value, str):
        yield f"{value}-x" if not value.startswith("offered") else "offered [zz]"
