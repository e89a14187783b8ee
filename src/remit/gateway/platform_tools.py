"""The platform's tool ``computer``, as it is declared (contract section 10, devices).

It is declared as any tool is, so that its arguments are checked and its calls recorded as those
of others are. It only reads what is the user's own: no rule of a policy counts for it, and nobody
is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from remit.catalog.model import ClientTarget, Tool
from remit.catalog.parameters import Parameters
from remit.catalog.scales import Category, DangerLevel, Renderer

if TYPE_CHECKING:
    from remit.values.json import JsonObject

#: What ``target`` of a call record says of a call that the platform itself answers.
PLATFORM = "platform"
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"list": {"type": "object", "properties": {}, "additionalProperties": False}},
    "required": ["list"],
    "additionalProperties": False,
}
COMPUTER = Tool(
    name="computer",
    title="List the user's devices",
    description=(
        "Lists the user's devices: id, name, whether it is the current one, and when it was last "
        "seen. Use it where a tool asks for the id of a device or computer."
    ),
    category=Category.READ,
    danger_level=DangerLevel.SAFE,
    scales_declared=True,
    requires_approval=False,
    confirm=None,
    renderer=Renderer.TABLE,
    render={},
    parameters=Parameters(_SCHEMA),
    # It goes nowhere; no other destination makes no request.
    destination=ClientTarget(name=PLATFORM),
    response_mapping=None,
    polling=None,
    idempotent=True,
    timeout_ms=0,
    record={},
)


class Computer(Struct, frozen=True, kw_only=True):
    """The tool as it is offered; ``held`` where the provider holds the model to its schema."""

    held: bool = False
