"""Language models as the use cases see them: what is asked, what comes back, what is kept.

``agent`` implements ``Model`` and ``Models``. The history is theirs to read: what is kept of it is
text that only the port understands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.values.json import JsonObject

#: Whose subset of JSON Schema a model takes.
Subset = Literal["openai", "anthropic", "gemini"]
EntryKind = Literal["user", "response", "results"]


class Entry(Struct, frozen=True, kw_only=True):
    """One entry of the history that the model reads; the text belongs to the ``Model`` port.

    Attributes:
        number: 1 for the first.
        format: which library wrote it, with its version.
    """

    kind: EntryKind
    body_json: str
    format: str
    number: int = 0


class ToolOffer(Struct, frozen=True, kw_only=True):
    """A tool as a model is offered it.

    Attributes:
        schema: fitted to the provider (``remit.offer``).
        strict: whether the provider's strict mode is on for it.
    """

    name: str
    description: str
    schema: JsonObject
    strict: bool = False


class ModelCall(Struct, frozen=True, kw_only=True):
    """A call that a model asks for; ``args_json`` is its text, however broken."""

    id: str
    name: str
    args_json: str


class CallReturn(Struct, frozen=True, kw_only=True):
    """What the model is told of a call that it made."""

    id: str
    name: str
    content: str
    failed: bool = False


class ModelResponse(Struct, frozen=True, kw_only=True):
    """A whole answer of a model.

    Attributes:
        entry: for the history.
        calls: in the model's order; ids may repeat those of earlier responses, never within one.
        tokens: input, output, cached.
        loose: whether no tool was strict in this request, whatever its offer says.
    """

    entry: Entry
    text: str
    calls: tuple[ModelCall, ...]
    tokens: tuple[int, int, int]
    loose: bool = False


class Model(Protocol):
    """A language model; it sees what it is given and nothing else."""

    @property
    def name(self) -> str:
        """As it is set: ``openai:gpt-…``."""
        ...

    @property
    def provider(self) -> Subset:
        """Whose subset of JSON Schema the tools are fitted to."""
        ...

    @property
    def packs(self) -> bool:
        """Whether it holds itself to some tools of a request, as many as its provider bounds.

        Known once it is ready.
        """
        ...

    async def ready(self) -> None:
        """Load what is needed, which may take seconds of another thread; the rest works after."""
        ...

    def user_entry(self, text: str) -> Entry:
        """A message of a person as an entry."""
        ...

    def results_entry(self, returns: Sequence[CallReturn]) -> Entry:
        """What became of all calls of the last response."""
        ...

    def calls_of(self, entry: Entry) -> tuple[ModelCall, ...]:
        """The calls of a response that was kept, ids as ``respond`` gave them."""
        ...

    def masked(self, entry: Entry, args_json: Mapping[str, str]) -> Entry:
        """A response with other arguments in place of what must not be kept, by call id."""
        ...

    async def respond(
        self,
        history: Sequence[Entry],
        *,
        instructions: str,
        tools: Sequence[ToolOffer],
        on_text: Callable[[str], None],
    ) -> ModelResponse:
        """Ask for the next answer; ``on_text`` is handed each piece of text as it comes.

        The request is made once; a second time without strict mode, where the provider refuses
        the first because its strict tools are too much together. A cancelled task drops the
        connection.

        Raises:
            ModelFailed: there is no whole answer.
        """
        ...


class Models(Protocol):
    """Finds models by the names that sessions are made with."""

    def find(self, name: str | None) -> Model | None:
        """The model of that name, the default one for None; None where none is set.

        Raises:
            InvalidRequest: no model can be made of that name.
        """
        ...
