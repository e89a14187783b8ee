"""The ``Model`` port on one model of pydantic-ai: entries, one request, one answer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs
from pydantic_ai import messages
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from remit.agent import faults
from remit.agent.history import History, response_entry, results_entry, user_entry
from remit.agent.reading import Reader, calls_of, made_good, with_args
from remit.agent.texts import mended
from remit.errors import ModelFailed
from remit.gateway.models import ModelResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai.models import Model

    from remit.agent.limits import ModelLimits
    from remit.gateway.models import CallReturn, Entry, ModelCall, Subset, ToolOffer

# Offers live as long as the catalogs that they are made from.
_MOST_TOOLS = 4096
# Sets of strict tools that a provider is known to refuse; a forgotten one is asked with again.
_MOST_REFUSED = 256


class _StrictTooMuch(Exception):
    """A provider cannot compile the strict tools of a request together."""


class LanguageModel:
    """One model of a provider.

    Nothing of pydantic-ai's own loop is used: no agent, no toolset, no retries. What is between
    two requests is ours.
    """

    def __init__(
        self,
        name: str,
        provider: Subset,
        served: Model,
        limits: ModelLimits,
    ) -> None:
        """Take what ``providers.provide`` made.

        Args:
            name: as it is set.
            provider: whose subset of JSON Schema the tools are fitted to.
            served: pydantic-ai's model.
            limits: of each request.
        """
        self.name = name
        self.provider: Subset = provider
        self._served = served
        self._limits = limits
        self.packs = provider == "anthropic" and bool(
            served.profile.get("supports_json_schema_output", False)
        )
        self._too_much: OrderedDict[frozenset[str], None] = OrderedDict()
        self._history = History()
        self._tools: OrderedDict[tuple[int, bool], tuple[ToolOffer, ToolDefinition]] = OrderedDict()

    def user_entry(self, text: str) -> Entry:
        """A message of a person as an entry."""
        return user_entry(text)

    def results_entry(self, returns: Sequence[CallReturn]) -> Entry:
        """What became of all calls of the last response, in their order."""
        return results_entry(returns)

    def calls_of(self, entry: Entry) -> tuple[ModelCall, ...]:
        """The calls of a response that was kept; none of another kind of entry.

        Raises:
            ModelFailed: it cannot be read.
        """
        (message,) = self._history.messages([entry])
        return calls_of(message) if isinstance(message, messages.ModelResponse) else ()

    def masked(self, entry: Entry, args_json: Mapping[str, str]) -> Entry:
        """A response with other arguments in place of what must not be kept, by call id.

        Raises:
            ModelFailed: it cannot be read.
        """
        (message,) = self._history.messages([entry])
        if not isinstance(message, messages.ModelResponse):
            return entry
        masked = response_entry(with_args(message, args_json))
        return structs.replace(masked, number=entry.number)

    async def respond(
        self,
        history: Sequence[Entry],
        *,
        instructions: str,
        tools: Sequence[ToolOffer],
        on_text: Callable[[str], None],
    ) -> ModelResponse:
        """Ask for the next answer; see the port."""
        said = self._history.messages(history)
        strict = frozenset(tool.name for tool in tools if tool.strict) if self.packs else None
        if not strict:
            return await self._ask(said, instructions, tools, on_text)
        if strict not in self._too_much:
            try:
                return await self._ask(said, instructions, tools, on_text)
            except _StrictTooMuch:
                # Nobody was asked yet: it is refused before the model reads it.
                self._too_much[strict] = None
                if len(self._too_much) > _MOST_REFUSED:
                    self._too_much.popitem(last=False)
        found = await self._ask(said, instructions, tools, on_text, loose=True)
        return structs.replace(found, loose=True)

    async def _ask(
        self,
        said: list[messages.ModelMessage],
        instructions: str,
        tools: Sequence[ToolOffer],
        on_text: Callable[[str], None],
        *,
        loose: bool = False,
    ) -> ModelResponse:
        asked = ModelRequestParameters(
            function_tools=[self._definition(tool, loose=loose) for tool in tools],
            instruction_parts=[messages.InstructionPart(content=mended(instructions))]
            if instructions
            else [],
        )
        reader = Reader(self._limits, on_text, needs_reason=self.provider != "openai")
        try:
            async with (
                asyncio.timeout(self._limits.total_s),
                model_request_stream(
                    self._served,
                    said,
                    model_request_parameters=asked,
                ) as stream,
            ):
                read = await reader.read(stream)
        except ModelFailed:
            raise
        except TimeoutError:
            raise faults.timed_out(self._limits.total_s, reader.text) from None
        except Exception as error:
            # Whatever a library makes of an answer ends the run, and not the node.
            if error is reader.fault:
                raise
            if self.packs and not loose and faults.is_strict_too_much(error):
                raise _StrictTooMuch from None
            # Without its cause: texts of providers quote keys.
            raise faults.failed(error, reader.text) from None
        response = made_good(read)
        usage = response.usage
        return ModelResponse(
            entry=response_entry(response),
            text=reader.text,
            calls=calls_of(response),
            tokens=(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens),
        )

    def _definition(self, offer: ToolOffer, *, loose: bool) -> ToolDefinition:
        """The tool for the library; made once for each offer."""
        key = (id(offer), loose)
        kept = self._tools.get(key)
        if kept is not None:
            return kept[1]
        made = ToolDefinition(
            name=offer.name,
            description=offer.description,
            parameters_json_schema=cast("dict[str, Any]", offer.schema),
            # None would let the library decide.
            strict=offer.strict and not loose,
        )
        # The offer is kept too, so that no other one gets its id.
        self._tools[key] = (offer, made)
        if len(self._tools) > _MOST_TOOLS:
            self._tools.popitem(last=False)
        return made
