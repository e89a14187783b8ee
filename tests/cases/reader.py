"""Reads a folder of case files and runs every case by its shape."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.cases import address_cases, behaviour, document_cases, json_cases, requests_cases
from tests.cases.recipes import expand
from tests.cases.stage import Mode, Stage
from tests.cases.verdicts import Json, UnknownShapeError, Verdict, only, verdict

_Reader = Callable[[Stage, Json, Json], "list[str]"]
_SECURITY_KEYS = "id class level input expect why source note"
# Kinds of security cases that a later issue brings, by the first word of the class.
LATER: Mapping[str, str] = {
    "approval": "needs a server and sessions",
    "iso": "needs a server",
    "isolation": "needs a server",
    "jwt": "needs identity tokens",
    "markdown": "needs the chat's cards",
    "mcp": "needs MCP",
    "oauth": "needs OAuth",
    "vault": "needs the vault",
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
    if (reason := LATER.get(family) or _later(family, given, expect)) is not None:
        return Verdict(id=name, status="later", words=reason)
    with Stage(mode) as stage:
        if kind == "json.body":
            faults, later = json_cases.json_body(stage, given, expect)
            if later:
                return Verdict(id=name, status="later", words=later)
            note = "through --args; the HTTP status needs a server"
        else:
            reader = _NOW.get(kind) or _NOW.get(family)
            if reader is None:
                raise UnknownShapeError(f"class {kind!r}")
            # A schema is written out by its own reader, once: it may be deeper than this.
            inputs = given if family == "schema" else expand(given)
            faults, note = reader(stage, inputs, expect), ""
    return verdict(name, faults, note)


def _later(family: str, given: Json, expect: Json) -> str | None:
    """Cases of a kind that works now which name something of a later issue."""
    where = str(given.get("where", "")) if isinstance(given, dict) else ""
    via = str(given.get("via", "")) if isinstance(given, dict) else ""
    if "SDK" in where or "browser" in where.lower() or "console" in where.lower():
        return "needs the SDK"
    if via:
        return f"needs {'MCP' if via == 'MCP' else 'a server'}: through {via}"
    if isinstance(given, dict) and any(key.startswith("button_") for key in given):
        return "needs action cards"
    if isinstance(given, dict) and "steps" in given:
        return "needs a server"
    http = isinstance(given, dict) and ("allowed_hosts" in given or family == "json")
    status = isinstance(expect, dict) and ("status" in expect or "status_one_of" in expect)
    if http and status and "raw_body" not in str(list(given)) and "nested_depth_valid" not in given:
        return "needs a server"
    return None


def report(
    folder: Path, *, mode: Mode = "forked", only_ids: str = ""
) -> Iterator[tuple[Verdict, float]]:
    """Each verdict with its seconds, as they come."""
    for _, case in read_folder(folder):
        if only_ids and only_ids not in str(case.get("id")):
            continue
        started = time.monotonic()
        yield judge(case, mode), time.monotonic() - started
