"""A button's target as a tool, so that it takes the same path as any call (contract section 8).

What a target may do is what the tool may do that goes to the same place: its name, for the rules
that name it, its category and danger level, its ceiling. A target that no tool goes to counts as a
tool that says nothing (contract section 2), under the name of the tool that asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from remit.calls.arguments import settle
from remit.calls.cards import act_words, danger_words
from remit.catalog.definitions import load_catalog, surroundings_of
from remit.catalog.model import AppTarget, ClientTarget, Endpoint
from remit.catalog.overrides import FIELD, override_of
from remit.catalog.reading import is_object
from remit.catalog.scales import Method
from remit.errors import CallError, ResponseInvalid
from remit.gateway.apps import App
from remit.gateway.permitting import env_of
from remit.gateway.steps import freeze
from remit.policy.catalogs import over_ceiling
from remit.policy.reach import place_of, why_elsewhere
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.calls.action_cards import ActionCard, Button
    from remit.catalog.model import Definition, Destination, RequestTemplate, Tool
    from remit.catalog.references import Text
    from remit.catalog.requests import Surroundings
    from remit.gateway.node import AppInForce, Node
    from remit.values.json import JsonObject, JsonValue

_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
#: Where a call goes that the user's client executes, in the platform's own line.
CLIENT_HOST = "the user's client"


def tool_of(name: str, button: Button, found: AppInForce, around: Surroundings) -> Tool:
    """The target of a button as a tool.

    Args:
        name: of the tool that asked.
        button: has a target; its input is what the tool takes.
        found: the app in force.
        around: what the target stands in.

    Raises:
        ResponseInvalid: it cannot be called.
    """
    return _as_tool(name, button, twin_of(button, found), around)


def _as_tool(name: str, button: Button, twin: Tool | None, around: Surroundings) -> Tool:
    given = cast("JsonObject", button.input)
    record: JsonObject = {
        "name": name if twin is None else twin.name,
        "title": button.label,
        "description": f"The button {button.label}.",
        "parameters": {
            "type": "object",
            "properties": {key: {} for key in given},
            "additionalProperties": True,
        },
        "target": button.record,
    }
    if twin is not None and isinstance(button.target, ClientTarget):
        # Its handler relies on what it declares.
        record["parameters"] = twin.parameters.schema
    if twin is not None:
        record |= {
            "category": twin.category.word,
            "dangerLevel": twin.danger_level.word,
            "idempotent": twin.idempotent,
            "timeoutMs": twin.timeout_ms,
        }
    loaded = load_catalog([record], around)
    if loaded is None or not loaded.tools:
        raise ResponseInvalid(f"{name}: the target of the button cannot be called.", sent=True)
    return loaded.tools[0]


def twin_of(button: Button, found: AppInForce) -> Tool | None:
    """The tool that goes where a button does, whatever it sends there; of several the strictest.

    One that is above the ceiling counts, too: else a card would lift it.
    """
    target, definition = button.target, found.definition
    if target is None:
        return None
    named = {one.name for one in found.catalog.tools}
    tools = [*found.catalog.tools, *(t for t in definition.tools if t.name not in named)]
    given = button.input if is_object(button.input) else {}
    twins = [one for one in tools if _same_place(one.destination, target, given, definition)]
    return max(twins, key=lambda one: (one.danger_level, one.category), default=None)


async def why_not_pressed(
    node: Node, workspace: str, name: str, button: Button, found: AppInForce
) -> str | None:
    """Why a press could never be sent; None where it can.

    Args:
        node: knows the env values.
        workspace: of the call.
        name: of the tool that asked.
        button: of its card.
        found: the app in force.
    """
    target, definition = button.target, found.definition
    if target is None:
        return None
    twin = twin_of(button, found)
    if isinstance(target, ClientTarget):
        if twin is None:
            return f"no tool of the app runs {visible(target.name[:80])} in the user's client"
    else:
        origin = place_of(target, definition).origin
        elsewhere = why_elsewhere(definition, target, origin, target.request.env_names)
        if elsewhere is not None:
            return elsewhere
    around = surroundings_of(definition, brand=node.terms.brand)
    tool = _as_tool(name, button, twin, around)
    if (over := over_ceiling(tool, definition.ceiling)) is not None:
        return over if twin is not None else f"{_counts_as(tool, button)} {over}"
    env = await env_of(node, workspace, found, tool)
    app = App(definition=definition, catalog=found.catalog, env=env, brand=node.terms.brand)
    try:
        arguments = settle(tool, cast("JsonObject", button.input), {}, source="button")
        if not isinstance(target, ClientTarget):
            freeze(tool, app, arguments, version=found.version)
    except CallError as error:
        return error.message.rstrip(".")
    return None


def shown_with_words(
    name: str, card: ActionCard, found: AppInForce, around: Surroundings
) -> JsonObject:
    """A card as it is shown: beside each target the platform's own words for what a press does.

    They are those of an approval (contract section 5): kind of act, how bad, where it goes. A press
    stands for the yes that the tool would ask for.
    """
    shown = card.shown().as_json()
    elements = [cast("JsonObject", one) for one in cast("list[JsonValue]", shown["elements"])]
    for button, element in zip(card.buttons, elements, strict=True):
        if button.target is None:
            continue
        tool = tool_of(name, button, found, around)
        on_client = isinstance(button.target, ClientTarget)
        origin = "" if on_client else place_of(button.target, found.definition).origin
        element["does"] = {
            "act": act_words(tool),
            "danger": danger_words(tool),
            "host": CLIENT_HOST if on_client else origin.partition("://")[2],
        }
    return {**shown, "elements": [*elements]}


def _counts_as(tool: Tool, button: Button) -> str:
    """Why a target that no tool goes to is judged as it is."""
    written = button.record or {}
    where = visible(str(written.get("path") or written.get("url") or "")[:200]).replace("\n", " ")
    return (
        f"no tool of the app goes to {written.get('method')} {where}, so that it counts as "
        f"{tool.category.word} and {tool.danger_level.word}. Declare a tool with that target, or a "
        "ceiling that admits it:"
    )


def _same_place(
    one: Destination, other: Destination, given: JsonObject, definition: Definition
) -> bool:
    if isinstance(one, ClientTarget) or isinstance(other, ClientTarget):
        return one == other
    if not _methods(one.request, {}) & _methods(other.request, given):
        return False
    if place_of(one, definition).origin != place_of(other, definition).origin:
        return False
    here, there = _path(one, definition), _path(other, definition)
    return len(here) == len(there) and all(map(_may_be, here, there))


def _path(destination: Destination, definition: Definition) -> list[str | None]:
    """The segments of a path, that of its base first; None for one that arguments fill.

    As servers compare them: unreserved characters decoded, no slash at the end (RFC 3986, 6.2.2.2).
    """
    base = ""
    if isinstance(destination, Endpoint) and definition.base_url is not None:
        base = definition.base_url.path
    elif isinstance(destination, AppTarget):
        component = definition.components.get(destination.component)
        base = "" if component is None else component.url.path
    own: tuple[Text, ...] = ()
    if not isinstance(destination, ClientTarget):
        own = destination.request.location.segments
    path = [*(one for one in base.split("/") if one), *(text.literal for text in own)]
    plain = [None if one is None else _ENCODED.sub(_decoded, one) for one in path]
    while plain and plain[-1] == "":
        plain.pop()
    return plain


def _methods(request: RequestTemplate, given: JsonObject) -> set[str]:
    """The methods that a server may take a request for: its own, and one that it names besides.

    One that an argument names, or that stands in the input, may be any.
    """
    override = override_of(request)
    if FIELD in given or (override is not None and not override.method):
        return {method.value for method in Method}
    return {request.method.value} | ({override.method} if override is not None else set())


def _decoded(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if _UNRESERVED.fullmatch(character) else found[0].upper()


def _may_be(here: str | None, there: str | None) -> bool:
    return here is None or there is None or here == there
