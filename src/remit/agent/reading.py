"""Reads one streamed answer to its end, within its bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)

from remit.agent.faults import cut_off, empty, refused, too_long, unfinished
from remit.agent.texts import ends_in_half, mended
from remit.gateway.models import ModelCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_ai.messages import ModelResponsePart, ModelResponseStreamEvent
    from pydantic_ai.models import StreamedResponse

    from remit.agent.limits import ModelLimits


class Reader:
    """What has been said so far, and how much of it.

    Attributes:
        text: all pieces that ``on_text`` was handed.
        fault: what ``on_text`` raised, which is no fault of the model.
    """

    def __init__(
        self, limits: ModelLimits, on_text: Callable[[str], None], *, needs_reason: bool
    ) -> None:
        """Begin with nothing.

        Args:
            limits: of the answer.
            on_text: is handed each piece of text as it comes.
            needs_reason: whether an answer without the reason why it ended is cut off.
        """
        self._limits = limits
        self._on_text = on_text
        self._needs_reason = needs_reason
        self._pieces: list[str] = []
        self.fault: Exception | None = None
        self._half = ""
        self._said = 0
        self._thought = 0
        self._args: dict[int, int] = {}

    @property
    def text(self) -> str:
        """What has been said."""
        return "".join(self._pieces)

    async def read(self, stream: StreamedResponse) -> ModelResponse:
        """Read it to the end.

        Raises:
            ModelFailed: it is refused, cut off, empty, or longer than it may be.
        """
        async for event in stream:
            self._take(event)
        self._tell(mended(self._half))
        response = stream.get()
        if response.finish_reason == "content_filter":
            raise refused(self.text)
        if response.finish_reason == "length":
            raise cut_off(self.text)
        ended = response.finish_reason is not None or not self._needs_reason
        if response.finish_reason == "error" or response.state != "complete" or not ended:
            raise unfinished(self.text)
        if not any(isinstance(part, TextPart | ToolCallPart) for part in response.parts):
            raise empty()
        return response

    def _take(self, event: ModelResponseStreamEvent) -> None:
        if isinstance(event, PartStartEvent):
            self._begin(event.index, event.part)
        elif isinstance(event, PartDeltaEvent):
            delta = event.delta
            if isinstance(delta, TextPartDelta):
                self._say(delta.content_delta)
            elif isinstance(delta, ThinkingPartDelta):
                self._think(delta.content_delta or "")
            elif isinstance(delta, ToolCallPartDelta):
                self._ask(event.index, delta.args_delta)

    def _begin(self, index: int, part: ModelResponsePart) -> None:
        if isinstance(part, TextPart):
            self._say(part.content)
        elif isinstance(part, ThinkingPart):
            self._think(part.content)
        elif isinstance(part, ToolCallPart):
            self._args[index] = 0
            if len(self._args) > self._limits.calls:
                raise too_long(f"asks for more than {self._limits.calls} calls", self.text)
            self._ask(index, part.args)

    def _say(self, piece: str) -> None:
        piece = self._half + piece
        self._half = piece[-1] if ends_in_half(piece) else ""
        self._tell(mended(piece[:-1] if self._half else piece))

    def _tell(self, piece: str) -> None:
        if not piece:
            return
        self._said += len(piece.encode())
        if self._said > self._limits.text_bytes:
            raise too_long(f"says more than {self._limits.text_bytes // 1024} KiB", self.text)
        self._pieces.append(piece)
        try:
            self._on_text(piece)
        except Exception as fault:
            self.fault = fault
            raise

    def _think(self, piece: str) -> None:
        self._thought += len(piece.encode("utf-8", "surrogatepass"))
        if self._thought > self._limits.text_bytes:
            raise too_long(f"thinks more than {self._limits.text_bytes // 1024} KiB", self.text)

    def _ask(self, index: int, args: object) -> None:
        # Providers that give a whole value at once are bounded by the line it stands on.
        if isinstance(args, str):
            self._args[index] = self._args.get(index, 0) + len(args.encode("utf-8", "replace"))
            if self._args[index] > self._limits.args_bytes:
                most = self._limits.args_bytes // 1024
                raise too_long(f"gives a call more than {most} KiB of arguments", self.text)
            if sum(self._args.values()) > self._limits.all_args_bytes:
                most = self._limits.all_args_bytes // 1024
                raise too_long(f"gives its calls more than {most} KiB of arguments", self.text)


def made_good(response: ModelResponse) -> ModelResponse:
    """The same answer as it can be kept: no id of a call twice, and whole characters.

    Some servers repeat ids, or give none. Both calls are kept; the history holds the new id too,
    so that each result finds its call.
    """
    seen: set[str] = set()
    return replace(response, parts=[_made_good(part, seen) for part in response.parts])


def _made_good(part: ModelResponsePart, seen: set[str]) -> ModelResponsePart:
    if isinstance(part, TextPart | ThinkingPart):
        content = mended(part.content)
        return part if content is part.content else replace(part, content=content)
    if not isinstance(part, ToolCallPart):
        return part
    wanted = mended(part.tool_call_id or "call")
    id_, count = wanted, 1
    while id_ in seen:
        count += 1
        id_ = f"{wanted}-{count}"
    seen.add(id_)
    args = mended(part.args) if isinstance(part.args, str) else part.args
    name = mended(part.tool_name)
    if (id_, args, name) == (part.tool_call_id, part.args, part.tool_name):
        return part
    return replace(part, tool_name=name, args=args, tool_call_id=id_)


def with_args(response: ModelResponse, args_json: Mapping[str, str]) -> ModelResponse:
    """The same answer with other arguments for some calls, by their id."""
    return replace(
        response,
        parts=[
            replace(part, args=args_json[part.tool_call_id])
            if isinstance(part, ToolCallPart) and part.tool_call_id in args_json
            else part
            for part in response.parts
        ],
    )


def calls_of(response: ModelResponse) -> tuple[ModelCall, ...]:
    """The calls that it asks for; arguments as the model wrote them, however broken."""
    return tuple(
        ModelCall(id=part.tool_call_id, name=part.tool_name, args_json=_args_json(part))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )


def _args_json(part: ToolCallPart) -> str:
    # Nothing at all is how several servers write a call without arguments.
    if isinstance(part.args, str) and part.args.strip():
        return part.args
    return part.args_as_json_str()
