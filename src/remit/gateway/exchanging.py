"""What goes out to the app and what comes back: the request, and its polls (sections 5, 6)."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.answers import read_body, refusal, retry_after_ms
from remit.calls.lookup import MISSING
from remit.calls.polling import Progress, judge, status_request
from remit.calls.wire import CredentialUse, carries_credential, finish, use_credential
from remit.documents.canonical import compact_json
from remit.errors import (
    CallError,
    PollExhausted,
    PollFailed,
    ResponseInvalid,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from remit.gateway.sending import Line, limits_of, send_read
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from remit.calls.answers import Answer, Body
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.calls.wire import Sender, WireRequest
    from remit.catalog.model import Polling, Tool
    from remit.gateway.apps import App, World
    from remit.policy.decisions import SendableCall
    from remit.values.json import JsonValue
    from remit.values.secrets import Masker

MAX_POLL_WAIT_MS = 300_000
"""The longest wait between two polls that ``Retry-After`` can ask for."""

_MAX_STATUS_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """What one poll came to.

    Attributes:
        wait_ms: before the next one.
        progress: what the answer said; None where none could be read.
        done: the answer that ends the job; None while it runs.
    """

    wait_ms: int
    progress: Progress | None = None
    done: Body | None = None


class Exchange(Struct, frozen=True, kw_only=True):
    """The exchanges of one call: what it sends carries the credential, what it reads is masked.

    Attributes:
        timeout_ms: of each exchange.
        retry: whether a GET that meets a busy app may be sent again.
    """

    tool: Tool
    app: App
    world: World
    sender: Sender
    masker: Masker
    timeout_ms: int
    retry: bool = True

    async def first(self, sendable: SendableCall) -> tuple[Body, int]:
        """Send a call that may be sent: what came back, and the wait before a poll, in ms.

        Raises:
            CallError: no answer that could be read, or one that is not 2xx.
        """
        request = sendable.request
        answer: Answer
        if self.retry and request.method == "GET":
            answer = await send_read(self._finished(request), self._line())
        else:
            answer = await self._sent(request)
        if not answer.succeeded and (error := self._refusal(request, answer)) is not None:
            raise error
        # How long to wait matters to what is asked for again alone.
        asked_ms = None if self.tool.polling is None else retry_after_ms(answer)
        return read_body(self.tool, answer), asked_ms or 0

    def status_of(self, arguments: Arguments, request: FrozenRequest, first: Body) -> FrozenRequest:
        """The request that asks how the job is, made of the first answer.

        Raises:
            CallError: the answer does not lead to it; the job was started all the same.
        """
        try:
            return status_request(
                self.tool,
                self.app.definition,
                arguments,
                first,
                request,
                env_names=self.app.env.keys(),
            )
        except CallError as error:
            raise unread(self.tool, error) from None

    async def job(
        self,
        polling: Polling,
        arguments: Arguments,
        request: FrozenRequest,
        first: tuple[Body, int],
    ) -> Body:
        """Ask until the job says that it is done; what fails on the way counts as a poll.

        Raises:
            PollFailed, PollExhausted: the job failed, or was still running at the last poll.
            CallError: a poll that ends it: 4xx, another origin, an answer over its cap.
        """
        body, asked_ms = first
        asked = self.status_of(arguments, request, body)
        wait_ms = poll_wait_ms(polling, asked_ms)
        last: Progress | None = None
        for poll in range(1, polling.max_polls + 1):
            await self.world.clock.sleep(wait_ms)
            polled = await self.poll(asked, polling, poll)
            if polled.done is not None:
                return polled.done
            wait_ms, last = polled.wait_ms, polled.progress or last
        raise self.exhausted(polling, last)

    async def poll(self, asked: FrozenRequest, polling: Polling, poll: int) -> Polled:
        """Ask once; ``poll`` is its number, from 1.

        Raises:
            PollFailed: the job says that it failed.
            CallError: a poll that ends it.
        """
        tool = self.tool
        try:
            answer, wait_ms = await self._poll(asked, polling)
        except CallError as error:
            raise unread(tool, error) from None
        if answer is None:
            self.world.watcher.polled(tool.name, poll, polling.max_polls, "no answer")
            return Polled(wait_ms=wait_ms)
        progress = judge(polling, answer)
        status = self.said(progress.words)
        self.world.watcher.polled(tool.name, poll, polling.max_polls, status)
        if progress.state == "failed":
            details: dict[str, JsonValue] = {"status": status, "polls": poll}
            raise PollFailed(
                f'{tool.name}: the job ended with the status "{status}", which means that '
                "it failed.",
                details=details,
                sent=True,
            )
        done = answer if progress.state == "complete" else None
        return Polled(wait_ms=wait_ms, progress=progress, done=done)

    def exhausted(self, polling: Polling, last: Progress | None) -> PollExhausted:
        """The error of a job that was still running at its last poll."""
        return PollExhausted(
            f"{self.tool.name}: after {polling.max_polls} polls {self._seen(polling, last)}. "
            "The job may still finish: read its state before starting it again.",
            details={
                "polls": polling.max_polls,
                "lastStatus": None if last is None else self.said(last.words),
            },
            sent=True,
        )

    def _seen(self, polling: Polling, last: Progress | None) -> str:
        """What the polls showed, so that a wrong definition and a slow job can be told apart."""
        field = ".".join(polling.status_field)
        if last is None:
            return "no answer could be read"
        if last.status is MISSING:
            return f'the answers had nothing at "{field}"'
        ends = (*polling.complete_values, *polling.failed_values)
        wanted = " or ".join(self.said(compact_json(value)) for value in ends)
        return f'"{field}" was "{self.said(last.words)}"; only {wanted} ends the job'

    async def _poll(self, asked: FrozenRequest, polling: Polling) -> tuple[Body | None, int]:
        """One poll: the body, or None where it failed in passing; and the wait before the next."""
        try:
            answer = await self._sent(asked)
        except (UpstreamTimeout, UpstreamUnreachable, ResponseInvalid):
            return None, polling.poll_interval_ms
        wait_ms = poll_wait_ms(polling, retry_after_ms(answer) or 0)
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= 500:
            return None, wait_ms
        if (error := self._refusal(asked, answer)) is not None:
            raise error
        try:
            return read_body(self.tool, answer), wait_ms
        except ResponseInvalid:
            # No value at statusField means: still running.
            return None, wait_ms

    def _sent(self, request: FrozenRequest) -> Awaitable[Answer]:
        """Send a request once."""
        return self.world.egress.send(self._finished(request), limits_of(self.timeout_ms))

    def _finished(self, request: FrozenRequest) -> WireRequest:
        """The request with everything in it; nothing is added to it after this."""
        credential = CredentialUse()
        if carries_credential(self.tool):
            app = self.app
            credential = app.use or use_credential(app.definition.auth, app.credential)
        elif self.app.identity is not None:
            token = self.app.identity.reveal()
            credential = CredentialUse(header=("Authorization", f"Bearer {token}"))
        return finish(
            request, self.tool, credential=credential, env=self.app.env, sender=self.sender
        )

    def _line(self) -> Line:
        return Line(
            tool=self.tool,
            egress=self.world.egress,
            clock=self.world.clock,
            watcher=self.world.watcher,
            timeout_ms=self.timeout_ms,
        )

    def _refusal(self, request: FrozenRequest, answer: Answer) -> CallError | None:
        return refusal(
            self.tool,
            answer,
            request.origin.authority,
            credential=carries_credential(self.tool) and self.app.definition.auth.type != "none",
            masker=self.masker,
        )

    def said(self, words: str) -> str:
        """The app's word for the status, fit to be shown: masked, one line, nothing hidden."""
        line = visible(self.masker.text(words)).replace("\n", " ")
        return line if len(line) <= _MAX_STATUS_CHARACTERS else line[:_MAX_STATUS_CHARACTERS] + "…"


def unread(tool: Tool, error: CallError) -> CallError:
    """A poll that ends the call: the job was started, which the error alone would not say."""
    error.started = True
    error.message = (
        f"{tool.name}: the job was started, but its status could not be read: {error.message}"
    )
    return error


def poll_wait_ms(polling: Polling, asked_ms: int) -> int:
    """The wait before a poll: the interval, which ``Retry-After`` can lengthen."""
    return max(polling.poll_interval_ms, min(asked_ms, MAX_POLL_WAIT_MS))
