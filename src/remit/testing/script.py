"""The script of a model: its turns as data, and which of them answers a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

Json: TypeAlias = Any

FaultKind = Literal[
    "drop", "early_end", "broken_json", "hang", "stall", "flood", "no_reason", "no_done", "linger"
]
#: What a server of a model may do wrong. ``drop``: no answer at all. ``early_end``: half of the
#: answer, then the connection closes. ``broken_json``: a piece is no JSON. ``hang``: nothing is
#: said. ``stall``: half of the answer, then nothing. ``flood``: text without end. ``no_reason``:
#: the answer ends with ``[DONE]`` alone, as some servers do. ``no_done``: neither reason nor
#: ``[DONE]``, though the answer ends well. ``linger``: all is said, and the answer does not end.
FAULTS: tuple[str, ...] = get_args(FaultKind)


class BadScript(ValueError):
    """A script does not say what a model shall do."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call that the model asks for.

    Attributes:
        name: of the tool as it is offered, or as its app has it: what one tool alone that is
            offered ends with. Any other name goes out as it is.
        args: a JSON object; a ``str`` goes out as it is, however broken.
        id: made up where there is none; equal ones are sent as they are.
    """

    name: str
    args: Mapping[str, Json] | str = field(default_factory=dict[str, Json])
    id: str | None = None

    @property
    def args_json(self) -> str:
        """The arguments on the wire."""
        return self.args if isinstance(self.args, str) else json.dumps(self.args)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer of the model.

    Attributes:
        thinking: sent as ``reasoning_content`` before the text.
        finish: why it ends; ``tool_calls`` with calls and ``stop`` without, where none is given.
        status: an HTTP status other than 200: an error instead of an answer, with ``code``.
        fault: what goes wrong.
        times: how many requests of a conversation for this turn meet the fault or the status;
            0 is all of them.
        delay_ms: before the first byte.
        chunk_chars: length of each piece of text and of arguments.
        pause_ms: between two pieces.
        tokens: input, output, cached; as the usage says.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    refusal: str = ""
    finish: str | None = None
    status: int = 200
    code: str | None = None
    fault: FaultKind | None = None
    times: int = 0
    delay_ms: int = 0
    chunk_chars: int = 16
    pause_ms: int = 0
    tokens: tuple[int, int, int] = (12, 6, 0)

    @property
    def reason(self) -> str:
        """Why it ends, on the wire."""
        return self.finish or ("tool_calls" if self.calls else "stop")


TurnLike: TypeAlias = "Turn | str | Mapping[str, Json]"


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """What the model was asked.

    Attributes:
        body: the request as it came.
        conversation: text of the first message of a person.
        turn: how many answers the conversation has by now: 0 for the first request.
        attempt: 1 for the first request for this turn of this conversation.
        authorization: the header, for a test that asks which key was used.
    """

    body: Mapping[str, Json]
    conversation: str
    turn: int
    attempt: int
    authorization: str | None

    @property
    def messages(self) -> list[dict[str, Json]]:
        """The conversation, instructions first."""
        return list(self.body["messages"])

    @property
    def tools(self) -> list[str]:
        """Names of the offered tools, in their order."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def said(self) -> str:
        """Text of the last message of a person."""
        return next((text_of(one) for one in reversed(self.messages) if one["role"] == "user"), "")

    @property
    def results(self) -> list[str]:
        """Texts of the results that came with this request, in their order."""
        texts: list[str] = []
        for message in reversed(self.messages):
            if message["role"] != "tool":
                break
            texts.insert(0, text_of(message))
        return texts


#: A list of turns for every conversation; one list for each, by a text that its first message
#: holds (``"*"`` is any other); or a function of the request.
Script: TypeAlias = (
    "Sequence[TurnLike] | Mapping[str, Sequence[TurnLike]] | Callable[[ModelRequest], TurnLike]"
)


def turn_for(script: Script, request: ModelRequest) -> Turn:
    """The turn that answers a request; a turn that says so where the script is at its end.

    Raises:
        BadScript: the script has no such conversation, or a turn is not one.
    """
    if callable(script):
        found = turn(script(request))
    else:
        by_name = isinstance(script, Mapping)
        turns = _conversation(script, request.conversation) if by_name else script
        if request.turn >= len(turns):
            return Turn(text="The script has no more turns.")
        found = turn(turns[request.turn])
    if found.times and request.attempt > found.times:
        return _well(found)
    return found


def turn(like: TurnLike) -> Turn:
    """A turn of what stands for one: a text, or an object with the keys of ``Turn`` in camelCase.

    Raises:
        BadScript: it is none.
    """
    if isinstance(like, Turn):
        return like
    if isinstance(like, str):
        return Turn(text=like)
    if not isinstance(like, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- a script of anybody
        msg = f"A turn is a text, a Turn or an object with its keys; this is {like!r}."
        raise BadScript(msg)
    fields: dict[str, Json] = {}
    for key, value in like.items():
        name = _KEYS.get(key)
        if name is None:
            msg = f"A turn has no key {key!r}. It has {', '.join(_KEYS)}."
            raise BadScript(msg)
        fields[name] = value
    fields["calls"] = tuple(_call(call) for call in fields.get("calls") or ())
    fault = fields.get("fault")
    if fault is not None and fault not in FAULTS:
        msg = f"There is no fault {fault!r}. There are {', '.join(FAULTS)}."
        raise BadScript(msg)
    if "tokens" in fields:
        fields["tokens"] = tuple(fields["tokens"])
    return Turn(**fields)


def read_script(text: str) -> Script:
    """A script of JSON: a list of turns, or an object of lists by conversation.

    Raises:
        BadScript: it is no script; every turn is looked at.
    """
    try:
        read: Json = json.loads(text)
    except ValueError as error:
        msg = f"The script is no JSON: {error}"
        raise BadScript(msg) from error
    if isinstance(read, list):
        return [turn(one) for one in cast("list[Json]", read)]
    if isinstance(read, dict):
        by_name = cast("dict[str, Json]", read)
        return {name: [turn(one) for one in turns] for name, turns in by_name.items()}
    msg = "A script is a list of turns, or an object with such a list for each conversation."
    raise BadScript(msg)


def text_of(message: Mapping[str, Json]) -> str:
    """The text of a message, which may come in parts."""
    content: Json = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


_KEYS = {
    "text": "text",
    "calls": "calls",
    "thinking": "thinking",
    "refusal": "refusal",
    "finish": "finish",
    "status": "status",
    "code": "code",
    "fault": "fault",
    "times": "times",
    "delayMs": "delay_ms",
    "chunkChars": "chunk_chars",
    "pauseMs": "pause_ms",
    "tokens": "tokens",
}


def _call(like: Call | Mapping[str, Json]) -> Call:
    if isinstance(like, Call):
        return like
    if "name" not in like or not like.keys() <= {"name", "args", "id"}:
        msg = 'A call reads {"name": …, "args": {…}}, with an "id" where it matters.'
        raise BadScript(msg)
    return Call(name=like["name"], args=like.get("args", {}), id=like.get("id"))


def _conversation(script: Mapping[str, Sequence[TurnLike]], first: str) -> Sequence[TurnLike]:
    for part, turns in script.items():
        if part != "*" and part in first:
            return turns
    if "*" in script:
        return script["*"]
    msg = f"The script has no conversation that begins with {first!r}."
    raise BadScript(msg)


def _well(found: Turn) -> Turn:
    return Turn(
        text=found.text,
        calls=found.calls,
        thinking=found.thinking,
        finish=found.finish,
        chunk_chars=found.chunk_chars,
        pause_ms=found.pause_ms,
        tokens=found.tokens,
    )
