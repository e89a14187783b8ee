"""Entries of a session's history as messages of pydantic-ai, and back.

An entry is the library's JSON of one message, in a list of one: what its adapter writes and reads.
Entries of older and newer versions are read as far as this one understands them; fields that it
does not know are left aside. ``tests/agent/histories`` keeps some of each release.
"""

from __future__ import annotations

from collections import OrderedDict
from importlib.metadata import version
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)

from remit.agent.texts import mended
from remit.errors import ModelInvalid
from remit.gateway.models import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage

    from remit.gateway.models import CallReturn, EntryKind

_LIBRARY = "pydantic-ai"
FORMAT = f"{_LIBRARY}/{version('pydantic-ai-slim')}"


class History:
    """Reads and writes entries; what was read lately is kept, up to a size."""

    def __init__(self, most_chars: int = 16 * 1024 * 1024) -> None:
        """Begin with nothing kept.

        Args:
            most_chars: length of all texts whose messages are kept.
        """
        self._kept: OrderedDict[str, ModelMessage] = OrderedDict()
        self._chars = 0
        self._most_chars = most_chars

    def messages(self, entries: Sequence[Entry]) -> list[ModelMessage]:
        """The messages of a history, in its order; they are shared, and nobody changes them.

        Raises:
            ModelInvalid: an entry cannot be read.
        """
        return [self._message(entry) for entry in entries]

    def _message(self, entry: Entry) -> ModelMessage:
        text = entry.body_json
        kept = self._kept.get(text)
        if kept is not None:
            self._kept.move_to_end(text)
            return kept
        message = _read(entry)
        self._kept[text] = message
        self._chars += len(text)
        while self._chars > self._most_chars:
            gone, _ = self._kept.popitem(last=False)
            self._chars -= len(gone)
        return message


def _read(entry: Entry) -> ModelMessage:
    if entry.format.startswith(f"{_LIBRARY}/"):
        try:
            (message,) = ModelMessagesTypeAdapter.validate_json(entry.body_json)
        except (ValidationError, ValueError):
            pass
        else:
            return message
    msg = (
        f"The history of this session cannot be read: entry {entry.number} was written by"
        f" {entry.format}, and this server has {FORMAT}. Begin a new session."
    )
    raise ModelInvalid(msg)


def user_entry(text: str) -> Entry:
    """A message of a person."""
    return _entry("user", ModelRequest(parts=[UserPromptPart(mended(text))]))


def results_entry(returns: Sequence[CallReturn]) -> Entry:
    """What became of the calls of one response, in their order."""
    return _entry(
        "results",
        ModelRequest(
            parts=[
                ToolReturnPart(
                    one.name,
                    mended(one.content),
                    one.id,
                    outcome="failed" if one.failed else "success",
                )
                for one in returns
            ]
        ),
    )


def response_entry(response: ModelResponse) -> Entry:
    """An answer of a model, what it thought included."""
    return _entry("response", response)


def _entry(kind: EntryKind, message: ModelMessage) -> Entry:
    text = ModelMessagesTypeAdapter.dump_json([message], exclude_none=True).decode()
    return Entry(kind=kind, body_json=text, format=FORMAT)
