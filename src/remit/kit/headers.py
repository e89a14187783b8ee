"""What Remit says of a call in headers, besides the identity token (contract section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from remit.kit.strict_json import strict_object

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CONTEXT_CHARS: Final = 4_096
_CONTEXT_HEADER: Final = "-tool-context"


class Headers(Protocol):
    """The headers of a request, in any letter case: a ``dict``, or what a framework has."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Name and value of each."""
        ...


class ToolContextError(ValueError):
    """The tool context is missing or broken: the request was not made by Remit for this route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call comes from.

    Attributes:
        source: ``thread``: a conversation; ``api``: the Tools API or MCP, where no person sees
            a card.
        thread_id: which conversation; None from the API.
    """

    source: Literal["thread", "api"]
    thread_id: str | None = None


def values_of(headers: Headers, name: str) -> list[str]:
    """Every value of a header; its name in lower case."""
    return [value for key, value in headers.items() if key.lower() == name]


def tool_context(headers: Headers) -> ToolContext:
    """Read the one header whose name ends in ``-Tool-Context``, under any brand.

    Raises:
        ToolContextError: there is none, there are several, or it is no context.
    """
    found = [
        value
        for key, value in headers.items()
        if key.lower().endswith(_CONTEXT_HEADER) and len(key) > len(_CONTEXT_HEADER)
    ]
    if len(found) != 1:
        count = "no header" if not found else "more than one header"
        raise ToolContextError(f"The request has {count} whose name ends in -Tool-Context.")
    return _context(found[0])


def is_thread(context: ToolContext) -> bool:
    """Whether a conversation calls: only there can a handler answer with a card."""
    return context.source == "thread"


def _context(text: str) -> ToolContext:
    if len(text) > MAX_CONTEXT_CHARS:
        raise ToolContextError(f"The tool context has more than {MAX_CONTEXT_CHARS} characters.")
    try:
        # Header values reach a program as Latin-1; one beyond that encodes to no JSON of Remit.
        said = strict_object(text.encode("latin-1"))
    except ValueError:
        raise ToolContextError("The tool context is no strict JSON object.") from None
    if said.get("source") == "api":
        return ToolContext(source="api")
    thread_id = said.get("threadId")
    if said.get("source") != "thread" or not (isinstance(thread_id, str) and thread_id):
        raise ToolContextError("The tool context names neither a thread with its id nor the API.")
    return ToolContext(source="thread", thread_id=thread_id)
