"""The functions as a model, or an MCP client, sees them (contract sections 2, 13 and 14).

Each export is what goes into a request as it is: for OpenAI the ``tools`` of chat completions, for
Anthropic the ``tools`` of messages, for Gemini the ``tools`` of generateContent (one entry with all
``functionDeclarations``, in the ``parametersJsonSchema`` form), for MCP the result of tools/list.

OpenAI's eligible tools are strict. Anthropic's are not marked: strict tools are bounded per
request, in part by limits that only show when the request fails, so that only who makes the
request, and can make it again, may mark them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.model import ClientTarget
from remit.catalog.scales import Category, DangerLevel
from remit.offer.descriptions import description_of, fitted_description
from remit.offer.dialects import OPENAI_MAX_FUNCTIONS, Provider
from remit.offer.names import mcp_names, session_names
from remit.offer.offering import offered
from remit.offer.results import output_schema
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from remit.catalog.model import Definition, Tool
    from remit.offer.eligibility import Eligibility
    from remit.offer.offering import Offered
    from remit.offer.removals import Removal
    from remit.values.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One tool of an export.

    Attributes:
        tool: the catalog name.
        name: the offered one.
        function: the entry as it goes out.
        strict: whether the provider is told to hold the model to it.
    """

    tool: str
    name: str
    function: JsonObject
    strict: bool
    eligibility: Eligibility
    removals: tuple[Removal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An app's tools for one provider.

    Attributes:
        value: the JSON value that goes into the request.
        tools: each tool of it, in the order of the catalog.
        left_out: names of tools that are not listed there, and why.
        notes: what the reader must know of the whole, for a person.
    """

    value: JsonValue
    tools: tuple[OfferedTool, ...]
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def export(
    definition: Definition,
    tools: Sequence[Tool],
    provider: Provider,
    pins: Collection[str] = (),
) -> Export:
    """Export the tools of one app.

    Args:
        definition: who offers them.
        tools: the effective catalog.
        provider: for whom.
        pins: names of pinned arguments; a mapping by name will do.
    """
    hidden = [tool for tool in tools if provider == "mcp" and _is_the_clients(tool)]
    listed = [tool for tool in tools if provider != "mcp" or not _is_the_clients(tool)]
    names = (mcp_names if provider == "mcp" else session_names)([(definition.id, listed)])
    entries = tuple(
        offer_tool(definition, tool, names.of(definition.id, tool.name), provider, pins)
        for tool in listed
    )
    functions: list[JsonValue] = [entry.function for entry in entries]
    left_out = tuple(
        (tool.name, "it runs in the user's client, which an MCP client is not") for tool in hidden
    )
    return Export(
        value=_ENVELOPES[provider](functions),
        tools=entries,
        left_out=left_out,
        notes=_notes(provider, len(entries)),
    )


def _is_the_clients(tool: Tool) -> bool:
    return isinstance(tool.destination, ClientTarget)


def offer_tool(
    definition: Definition,
    tool: Tool,
    name: str,
    provider: Provider,
    pins: Collection[str] = (),
    *,
    strict: bool | None = None,
) -> OfferedTool:
    """Offer one tool under a name that is settled for the whole session; see ``offered``."""
    found = offered(tool.parameters, provider, pins, strict=strict)
    text = description_of(definition.name, tool)
    return OfferedTool(
        tool=tool.name,
        name=name,
        function=(
            _mcp(tool, name, text, found)
            if provider == "mcp"
            else _FUNCTIONS[provider](name, text, found)
        ),
        strict=found.strict,
        eligibility=found.eligibility,
        removals=found.removals,
    )


def _notes(provider: Provider, count: int) -> tuple[str, ...]:
    if provider == "openai" and count > OPENAI_MAX_FUNCTIONS:
        return (
            f"{count:,} functions: OpenAI refuses a request with more than "
            f"{OPENAI_MAX_FUNCTIONS}. Send some of them at a time.",
        )
    return ()


def _openai(name: str, text: str, found: Offered) -> JsonObject:
    description, parameters = fitted_description(text, found.schema)
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": found.strict,
        },
    }


def _anthropic(name: str, text: str, found: Offered) -> JsonObject:
    function: JsonObject = {"name": name, "description": text, "input_schema": found.schema}
    if found.strict:
        function["strict"] = True
    return function


def _gemini(name: str, text: str, found: Offered) -> JsonObject:
    return {"name": name, "description": text, "parametersJsonSchema": found.schema}


def _mcp(tool: Tool, name: str, text: str, found: Offered) -> JsonObject:
    entry: JsonObject = {"name": name}
    if tool.title:
        entry["title"] = visible(tool.title)
    entry |= {"description": text, "inputSchema": found.schema}
    output = output_schema(tool)
    if output is not None:
        entry["outputSchema"] = output
    entry["annotations"] = {
        "readOnlyHint": tool.category is Category.READ,
        "destructiveHint": tool.danger_level is DangerLevel.DESTRUCTIVE,
        "idempotentHint": tool.idempotent or tool.category is Category.READ,
        "openWorldHint": tool.category is Category.ACTION,
    }
    return entry


_FUNCTIONS: dict[Provider, Callable[[str, str, Offered], JsonObject]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
_ENVELOPES: dict[Provider, Callable[[list[JsonValue]], JsonValue]] = {
    "openai": lambda functions: functions,
    "anthropic": lambda functions: functions,
    "gemini": lambda functions: [{"functionDeclarations": functions}] if functions else [],
    "mcp": lambda functions: {"tools": functions},
}
