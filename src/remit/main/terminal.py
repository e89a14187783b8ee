"""A person at the terminal: shown the card, asked, and told how a call goes on."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import termios
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from remit.catalog.reading import is_object
from remit.documents.canonical import compact_json
from remit.gateway.ports import Denial, Unasked
from remit.main.output import paint, say
from remit.policy.decisions import Approval
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.calls.cards import Card
    from remit.values.json import JsonValue


_MAX_ROWS = 20
_MAX_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """What an approval card shows, wherever it comes from.

    Attributes:
        title: pieces of the app's words; true for a value that was inserted.
        rows: arguments under their titles.
        preview: of what it is about; None where there is none.
        method, url, headers, body, digest: of the exact request; ``body`` None is none.
    """

    act: str
    danger: str
    host: str
    account: str | None
    title: Sequence[tuple[str, bool]]
    rows: Sequence[tuple[str, str]]
    preview: JsonValue
    preview_failure: str | None
    reason: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None
    digest: str


def draw(card: Card) -> str:
    """The card of a call that is made here."""
    request = card.request
    return drawn(
        Face(
            act=card.act,
            danger=card.danger,
            host=card.host,
            account=card.account,
            title=[(part.text, part.inserted) for part in card.title],
            rows=card.arguments,
            preview=card.preview,
            preview_failure=card.preview_failure,
            reason=card.reason,
            method=request.method,
            url=request.shown_url,
            headers=request.shown_headers,
            body=compact_json(request.shown_body) if request.has_body else None,
            digest=request.digest,
        )
    )


def drawn(face: Face) -> str:
    """The card as text: the platform's line first, then the app's words, then the facts."""
    err = sys.stderr
    account = f" as {one_line(face.account)}" if face.account else " with your credential"
    title = "".join(_set_apart(text) if inserted else text for text, inserted in face.title)
    lines = [
        "",
        paint(one_line(f"{face.act} · {face.danger}"), "bold", err),
        paint(one_line(f"on {face.host}") + account, "dim", err),
        "",
        f"  {one_line(title)}",
    ]
    rows = [(_name(name), one_line(value)) for name, value in face.rows]
    width = max((len(name) for name, _ in rows), default=0)
    lines += [f"  {name:<{width}}  {value}" for name, value in rows]
    if face.preview is not None:
        lines += ["", "  What it is about, read just now:"]
        lines += _fields(face.preview)
    if face.preview_failure is not None:
        lines += ["", f"  The preview could not be read: {one_line(face.preview_failure)}"]
    lines += ["", f"  Asked because {one_line(face.reason)}.", "", "  The exact request"]
    lines.append(one_line(f"    {face.method} {face.url}"))
    lines += [one_line(f"    {name}: {value}") for name, value in face.headers.items()]
    if face.body is not None:
        lines.append(f"    {one_line(face.body)}")
    lines += [paint(f"    digest {face.digest}", "dim", err), ""]
    return "\n".join(lines)


def _set_apart(value: str) -> str:
    """An inserted value between marks that it cannot close by itself."""
    inner = value.replace("«", "\u2039").replace("»", "\u203a")
    return f"«{inner}»"


def _fields(preview: object) -> list[str]:
    if not is_object(preview):
        return [f"    {_short(preview)}"]
    # The names may be the app's answer's own: they hide nothing, and push nothing off the screen.
    rows = [(_name(name), _short(value)) for name, value in islice(preview.items(), _MAX_ROWS)]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"    {name:<{width}}  {value}" for name, value in rows]
    left = len(preview) - len(rows)
    return [*lines, f"    … and {left:,} more"] if left else lines


def _name(text: str) -> str:
    name = one_line(text[: _MAX_NAME + 1])
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def _short(value: object) -> str:
    text = one_line(value if isinstance(value, str) else compact_json(value))
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text):,} characters)"


def one_line(text: str) -> str:
    """A text as one line: what an app or a model wrote must not look like lines of the card."""
    return visible(text).replace("\n", " ⏎ ")


class TerminalApprover:
    """Asks at the terminal. Only ``y`` or ``yes`` goes ahead; Enter alone does not."""

    async def ask(self, card: Card) -> Approval | Denial:
        """Show the card and read an answer; end of input is a denial.

        What was typed before the question stood on the screen is no answer to it.
        """
        say(draw(card))
        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        question = f"{card.verb}?  y = go ahead · Enter = not now · n REASON = no, and say why: "
        while True:
            sys.stderr.write(question)
            sys.stderr.flush()
            line = await _read_line()
            words = (line or "").strip()
            first, _, rest = words.partition(" ")
            if words.lower() in ("y", "yes"):
                return Approval(digest=card.request.digest, by="terminal")
            if not words or first.lower() in ("n", "no"):
                return Denial(note=visible(rest.strip())[:500])
            question = "That is no answer. y = go ahead · Enter = not now · n REASON = no: "


async def _read_line() -> str | None:
    """One line of standard input, without blocking the loop; cancellation gives it up."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() or None


class FlagApprover:
    """Stands for ``--yes``: approves, and says on stderr what it approved."""

    async def ask(self, card: Card) -> Approval | Denial:
        """Approve the very request that the card shows."""
        title = "".join(part.text for part in card.title)
        say(f"--yes: approved without asking: {card.act} on {card.host}: {title}")
        if card.preview_failure is not None:
            say(f"The preview could not be read: {one_line(card.preview_failure)}")
        return Approval(digest=card.request.digest, by="--yes")


class NobodyApprover:
    """Stands where there is no terminal: nobody can say yes."""

    async def ask(self, card: Card) -> Unasked:
        """Say how it can be approved."""
        del card
        return Unasked(
            why="there is no terminal, and --yes was not given",
            mend="Run it in a terminal and answer there, or add --yes.",
        )


class Progress:
    """Tells on stderr how a call goes on, and keeps what an interruption must know.

    Attributes:
        sending: a request is out and not answered yet.
        sent: a request has gone out at all.
        warned: the user was told that it is on its way.
    """

    def __init__(self) -> None:
        self.sending = False
        self.sent = False
        self.warned = False

    def started(self, tool: str) -> None:
        """A request goes out now."""
        del tool
        self.sending = self.sent = True

    def answered(self, tool: str) -> None:
        """Its answer was read, or it ended without one."""
        del tool
        self.sending = False

    def polled(self, tool: str, poll: int, max_polls: int, status: str) -> None:
        """One line a poll."""
        say(paint(f"{tool}: {status} (poll {poll} of at most {max_polls})", "dim", sys.stderr))

    def retrying(self, tool: str, delay_ms: int, status: int) -> None:
        """Say why it takes longer."""
        say(f"{tool}: the app answered {status}; trying the read again in {delay_ms / 1000:g} s.")
