"""Reads a folder of case files and runs every case by its shape."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.cases import (
    address_cases,
    approval_cases,
    behaviour,
    document_cases,
    http_cases,
    isolation_cases,
    json_cases,
    jwt_cases,
    requests_cases,
    vault_cases,
)
from tests.cases.recipes import expand
from tests.cases.stage import Mode, Stage
from tests.cases.verdicts import Json, UnknownShapeError, Verdict, only, verdict

_Reader = Callable[[Stage, Json, Json], "list[str]"]
_SECURITY_KEYS = "id class level input expect why source note"
# Kinds of security cases that a later issue brings, by the first word of the class.
LATER: Mapping[str, str] = {
    "markdown": "needs the chat's cards",
    "mcp": "needs MCP",
    "oauth": "needs OAuth",
}
# Those that are judged at a server, by the first word of the class: later, and now.
_LATER_SERVED: Mapping[str, Callable[[Json], str | None]] = {
    "approval": approval_cases.later,
    "headers": http_cases.later_host,
    "iso": isolation_cases.later,
    "isolation": isolation_cases.later,
    "vault": vault_cases.later,
}
_SERVED: Mapping[str, Callable[[Json, Json], tuple[list[str], list[str]]]] = {
    "approval": approval_cases.approval_case,
    "headers.inbound_host": lambda given, expect: (http_cases.host_case(given, expect), []),
    "iso": lambda given, expect: (isolation_cases.isolation_case(given, expect), []),
    "isolation": lambda given, expect: (isolation_cases.isolation_case(given, expect), []),
    "jwt": lambda given, expect: (jwt_cases.jwt_case(given, expect), []),
    "vault": vault_cases.vault_case,
}
_NOW: Mapping[str, _Reader] = {
    "path": requests_cases.path_case,
    "template": requests_cases.template_case,
    "headers": requests_cases.headers_case,
    "pins": requests_cases.pins_case,
    "ceiling": document_cases.ceiling_case,
    "origin": document_cases.origin_case,
    "schema": document_cases.schema_case,
    "ssrf": address_cases.ssrf_case,
    "json.body": json_cases.json_body,
    "json.value": json_cases.json_value,
    "json.upstream": json_cases.json_upstream,
}


def read_folder(folder: Path) -> Iterator[tuple[str, Json]]:
    """Every case of every JSON file below a folder, with the file's name.

    Raises:
        UnknownShapeError: there is none.
    """
    files = sorted(folder.rglob("*.json")) if folder.is_dir() else [folder]
    if not files:
        raise UnknownShapeError(f"{folder}: no case file")
    for file in files:
        document = json.loads(file.read_text("utf-8"))
        for case in document if isinstance(document, list) else [document]:
            yield file.name, case


def judge(case: Json, mode: Mode = "forked") -> Verdict:
    """Run one case; what is wrong with it is said in the verdict."""
    name = str(case.get("id", "?")) if isinstance(case, dict) else "?"
    try:
        return _judged(case, name, mode)
    except UnknownShapeError as error:
        return Verdict(id=name, status="FAILED", words=f"a shape that is not known: {error}")
    except Exception as error:  # noqa: BLE001 -- a case that breaks its reader has failed
        return Verdict(id=name, status="FAILED", words=f"{type(error).__name__}: {error!s:.500}")


def _judged(case: Json, name: str, mode: Mode) -> Verdict:
    if not isinstance(case, dict):
        raise UnknownShapeError("a case that is no object")
    if "surface" in (case.get("input") or {}):
        return behaviour.judge(case, mode)
    case = only(case, _SECURITY_KEYS, "the case")
    given, expect, kind = case["input"], case["expect"], str(case["class"])
    family = kind.partition(".")[0]
    if (reason := LATER.get(family) or _later(family, given)) is not None:
        return Verdict(id=name, status="later", words=reason)
    if (served := _SERVED.get(kind) or _SERVED.get(family)) is not None:
        faults, prose = served(given, expect)
        return verdict(name, faults, prose=prose)
    reader = _NOW.get(kind) or _NOW.get(family)
    if reader is None:
        raise UnknownShapeError(f"class {kind!r}")
    with Stage(mode) as stage:
        # A schema is written out by its own reader, once: it may be deeper than this.
        inputs = given if family == "schema" else expand(given)
        return verdict(name, reader(stage, inputs, expect))


def _later(family: str, given: Json) -> str | None:
    """Cases of a kind that works now which name something of a later issue."""
    if not isinstance(given, dict):
        return None
    if (served := _LATER_SERVED.get(family)) is not None and (reason := served(given)) is not None:
        return reason
    where, via = str(given.get("where", "")), str(given.get("via", ""))
    if "SDK" in where or "browser" in where.lower() or "console" in where.lower():
        return "needs the SDK"
    if via:
        return f"needs {'MCP' if via == 'MCP' else 'sessions'}: through {via}"
    if any(key.startswith("button_") for key in given):
        return "needs sessions: action cards"
    if "steps" in given and family not in _SERVED:
        return "has steps that no reader walks"
    return None


def _is_call(case: Json) -> bool:
    """Whether the case is one tool call, which the API makes as well as the command line."""
    given = case.get("input") if isinstance(case, dict) else None
    return isinstance(given, dict) and given.get("surface") == "execute"


def report(
    folder: Path, *, mode: Mode = "forked", only_ids: str = ""
) -> Iterator[tuple[Verdict, float]]:
    """Each verdict with its seconds, as they come."""
    for _, case in read_folder(folder):
        if only_ids and only_ids not in str(case.get("id")):
            continue
        if mode == "api" and not _is_call(case):
            continue
        started = time.monotonic()
        yield judge(case, mode), time.monotonic() - started
