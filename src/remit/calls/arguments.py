"""The arguments of one call: pins merged, lossless repair, validation (contract section 5, 1-4).

The order is fixed: pins are merged over what the model gave, exact names, whole top-level keys;
then the schema judges the result; only where it fails is a repair tried, and never on a pin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from remit.calls.repair import Repair, repair
from remit.documents.problems import shortened
from remit.errors import InvalidArguments, InvalidPin
from remit.values.json import same_json
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.model import Tool
    from remit.documents.schema import Fault
    from remit.values.json import JsonObject

_MAX_PLACE = 200
ArgumentOrigin = Literal["model", "pin", "repair", "button", "caller"]


class Arguments(Struct, frozen=True, kw_only=True):
    """What a call runs with.

    Attributes:
        values: the declared arguments, pinned or not: what ``${input}`` is.
        undeclared_pins: reached only by their own name.
        origins: where each of ``values`` and ``undeclared_pins`` came from.
        refused_pins: names that the caller tried to set against a pin.
        repaired: what was changed to fit the schema, without loss.
        ignored: names given that the tool does not declare; they reach nothing.
    """

    values: JsonObject
    undeclared_pins: JsonObject
    origins: Mapping[str, ArgumentOrigin]
    refused_pins: tuple[str, ...]
    repaired: tuple[Repair, ...]
    ignored: tuple[str, ...]


def settle(
    tool: Tool,
    given: JsonObject,
    pins: JsonObject,
    *,
    source: ArgumentOrigin = "model",
) -> Arguments:
    """Merge, repair and validate the arguments of one call.

    Args:
        tool: the tool that is called.
        given: what the caller gave, already parsed strictly.
        pins: fixed values by argument name; presence decides, not truth.
        source: who gave ``given``.

    Raises:
        InvalidArguments: the result breaks the schema; ``details.faults`` has each fault.
        InvalidPin: a pin breaks the schema.
    """
    parameters = tool.parameters
    names = parameters.names
    merged = given
    undeclared: JsonObject = {}
    refused: tuple[str, ...] = ()
    if pins:
        undeclared = {name: value for name, value in pins.items() if name not in names}
        refused = tuple(
            n for n, value in pins.items() if n in given and not same_json(given[n], value)
        )
        merged = {
            name: value for name, value in {**given, **pins}.items() if name not in undeclared
        }
    repaired: tuple[Repair, ...] = ()
    faults = parameters.compiled.validate(merged)
    if faults:
        merged, repaired, faults = repair(parameters, merged, faults, keep=pins.keys())
        faults = tuple(fault for fault in faults if not _is_pinned(fault, undeclared))
        if faults:
            raise _refusal(tool, faults, pins)
    ignored: tuple[str, ...] = ()
    if merged.keys() - names and not parameters.admits_others:
        ignored = tuple(name for name in merged if name not in names)
        merged = {name: value for name, value in merged.items() if name in names}
    return Arguments(
        values=merged,
        undeclared_pins=undeclared,
        origins=_origins(merged, pins, repaired, source),
        refused_pins=refused,
        repaired=repaired,
        ignored=ignored,
    )


def _origins(
    merged: JsonObject, pins: JsonObject, repaired: tuple[Repair, ...], source: ArgumentOrigin
) -> dict[str, ArgumentOrigin]:
    origins: dict[str, ArgumentOrigin] = dict.fromkeys(merged, source)
    for change in repaired:
        if change.name in origins:
            origins[change.name] = "repair"
    for name in pins:
        origins[name] = "pin"
    return origins


def _is_pinned(fault: Fault, undeclared: JsonObject) -> bool:
    """Whether all that is missing is set aside: a pin satisfies ``required``, declared or not."""
    return not fault.pointer and fault.rule == "required" and fault.property in undeclared


def _refusal(
    tool: Tool, faults: tuple[Fault, ...], pins: JsonObject
) -> InvalidArguments | InvalidPin:
    """The error for faults that no repair mended; one in a pin outweighs the caller's."""
    pinned = tuple(fault for fault in faults if _top(fault) in pins)
    told = pinned or faults
    details = {
        "faults": [
            {"pointer": fault.pointer, "rule": fault.rule, "message": fault.message}
            for fault in told
        ]
    }
    listed = "; ".join(_said(fault) for fault in told)
    if pinned:
        return InvalidPin(
            f"{tool.name} was not called: a pinned value does not fit: {listed}. "
            "Whoever set the pin must correct it.",
            details=details,
        )
    return InvalidArguments(
        f"{tool.name} was not called: {listed}. Correct the arguments and call again.",
        details=details,
    )


def _said(fault: Fault) -> str:
    """A fault and its place in words, on one line in which nothing hides."""
    message = visible(fault.message).replace("\n", " ")
    if fault.pointer:
        at = visible(shortened(fault.pointer, _MAX_PLACE)).replace("\n", " ")
        return f"{at}: {message}"
    # Of the whole, the faults about a property say all by themselves.
    return message if message.startswith("the ") else f"the arguments: {message}"


def _top(fault: Fault) -> str:
    """The argument that a fault is in."""
    first = fault.pointer[1:].split("/", 1)[0]
    return first.replace("~1", "/").replace("~0", "~")
