"""Calls that leave no record: the platform's own, and those that were never made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from remit.documents.canonical import compact_json
from remit.errors import CallError, InvalidArguments, RemitError, UnknownTool
from remit.gateway.governed import Refused
from remit.gateway.model_calls import parsed
from remit.gateway.offering import LOAD_SKILL, Skills

if TYPE_CHECKING:
    from remit.gateway.awaiting import StillRunning, Waiting
    from remit.gateway.governed import Called
    from remit.gateway.journal import Ended
    from remit.gateway.models import ModelCall
    from remit.values.json import JsonValue


class Said(Struct, frozen=True):
    """How a call ended that has no record: the platform's own, or one that was never made."""

    outcome: str
    content: str
    display: JsonValue = None


def standing_of(called: Called) -> Ended | Waiting | StillRunning | Said:
    """How a call stands that was made just now; one without a record as what is said of it."""
    if not isinstance(called, Refused):
        return called
    if called.ended is not None:
        return called.ended
    return failed(called.error, "error")


def unknown(name: str) -> Said:
    """What a model is told that invents a tool."""
    shown = name[:80]
    error = UnknownTool(
        f'There is no tool "{shown}" in this session. Use one of the tools that you are given, '
        "under its exact name."
    )
    return failed(error, "error", shown)


def loaded(skills: Skills, given: ModelCall) -> Said:
    """What ``load_skill`` answers."""
    args = parsed(LOAD_SKILL, given.args_json)
    if isinstance(args, CallError):
        return failed(args, "error", LOAD_SKILL)
    name, app = args.get("name"), args.get("app")
    body = None
    if isinstance(name, str):
        body = skills.load(name, app if isinstance(app, str) else None)
    if body is None:
        error = InvalidArguments(
            "There is no skill of that name. Load one of those that the apps list, by its name."
        )
        return failed(error, "error", LOAD_SKILL)
    return Said("ok", body)


def failed(error: RemitError, outcome: str, tool: str | None = None) -> Said:
    """An error as every surface gives it."""
    told: dict[str, JsonValue] = {"code": error.code, "message": error.message}
    if tool is not None:
        told["tool"] = tool
    return Said(outcome, compact_json({"error": told}), {"error": told})
