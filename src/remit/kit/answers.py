"""What a handler may answer, as typed values (contract section 8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from remit.kit.addresses import embed_fault
from remit.kit.card_rules import card_faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.kit.tools import Json, Record, Target

Variant: TypeAlias = Literal["primary", "secondary", "danger"]
MAX_MARKDOWN: Final = 16 * 1024
_OK: Final = 200


class AnswerError(ValueError):
    """An answer that Remit would refuse, found where it is made: a fault of the handler."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call.

    Attributes:
        content: what the model reads, and all of it; never empty.
        markdown: a short note for the tool's card; HTML in it is shown as text. At most 16,384
            characters.
        embed_url: an absolute address of a page of the app, which is framed on the card; with
            it ``markdown`` is not shown. https, or http on loopback.

    Raises:
        AnswerError: the content is empty, the note too long, or the address none that can be
            framed.
    """

    content: str
    markdown: str | None = None
    embed_url: str | None = None

    def __post_init__(self) -> None:
        """Find faults where the answer is made."""
        content = cast("object", self.content)
        if not (isinstance(content, str) and content.strip()):
            raise AnswerError("The content of a result is empty. Say what the model is to read.")
        if self.markdown is not None and len(self.markdown) > MAX_MARKDOWN:
            raise AnswerError(f"The markdown of a result has more than {MAX_MARKDOWN} characters.")
        if self.embed_url is not None and (fault := embed_fault(self.embed_url)):
            raise AnswerError(f"embed_url {fault}.")

    @property
    def status(self) -> int:
        """200."""
        return _OK

    def body(self) -> Record:
        """The JSON answer."""
        body: Record = {"content": self.content}
        if self.markdown is not None:
            body["markdown"] = self.markdown
        if self.embed_url is not None:
            body["embedUrl"] = self.embed_url
        return body


class DomainError(Exception):
    """The handler's own no, which reaches agent and caller as it stands; raise or return it.

    Attributes:
        code: for programs, such as ``connect_required``.
        message: for the agent and for people: what is wrong, and what can be done.
        status: 400 to 599.

    Raises:
        AnswerError: the code or message is empty, or the status is none of an error.
    """

    def __init__(self, code: str, message: str, status: int = 409) -> None:
        super().__init__(message)
        if not code or not message:
            raise AnswerError("A DomainError needs a code and a message.")
        if not 400 <= status <= 599:
            raise AnswerError(f"A DomainError has a status from 400 to 599, not {status}.")
        self.code = code
        self.message = message
        self.status = status

    def body(self) -> Record:
        """The JSON answer."""
        return {"code": self.code, "error": self.message}


@dataclass(frozen=True, slots=True)
class Button:
    """One choice on a card.

    Attributes:
        id: unique on its card; at most 64 characters.
        label: what people read; at most 80.
        variant: how it looks.
        input: without a target, the tool's result when it is pressed; with one an object, its
            ``${input}``. At most 16 KiB.
        target: what a press runs; its result becomes the tool's. May be the tool's own.
    """

    id: str
    label: str
    variant: Variant = "secondary"
    input: Json = None
    target: Target | None = None

    def record(self) -> Record:
        """As it stands on a card."""
        record: Record = {
            "type": "button",
            "id": self.id,
            "label": self.label,
            "variant": self.variant,
            "input": {} if self.input is None else self.input,
        }
        if self.target is not None:
            record["target"] = self.target.record()
        return record


@dataclass(frozen=True, slots=True)
class Card:
    """Stops the thread until a person presses a button; in a thread only.

    Attributes:
        title: what is to be done; at most 200 characters.
        description: more on it; at most 2,000.
        buttons: 1 to 10; each id once.
        assignee: the id of the one device that may press them, from the tool ``computer``.
        otherwise: what is answered where no thread calls; left out, 409 ``action_unavailable``.

    Raises:
        AnswerError: it could not be shown or pressed; the message says all that is wrong.
    """

    title: str
    description: str | None = None
    buttons: Sequence[Button] = field(default_factory=tuple[Button, ...])
    assignee: str | None = None
    otherwise: DomainError | None = None

    def __post_init__(self) -> None:
        """Find faults where the card is made."""
        if faults := card_faults(self.body()):
            raise AnswerError(" ".join(faults))

    @property
    def status(self) -> int:
        """200."""
        return _OK

    def body(self) -> Record:
        """The JSON answer."""
        body: Record = {"type": "action_required", "title": self.title}
        if self.description is not None:
            body["description"] = self.description
        if self.assignee is not None:
            body["assignee"] = {"computerId": self.assignee}
        body["elements"] = [button.record() for button in self.buttons]
        return body

    def refusal(self) -> DomainError:
        """What the API is told in the card's place."""
        return self.otherwise or DomainError(
            "action_unavailable",
            f"A person has to act first: {self.title.rstrip('.')}. "
            "That can be asked only in a conversation.",
        )


Answer: TypeAlias = "str | Result | Card | DomainError"
