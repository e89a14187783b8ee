"""The use case of one call, from arguments to outcome (contract section 5), for one process."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from remit.calls.answers import may_have_happened, read_body, refusal
from remit.calls.arguments import settle
from remit.calls.cards import approval_card, preview_arguments
from remit.calls.lookup import MISSING, Found
from remit.calls.planning import plan
from remit.calls.polling import judge, status_request
from remit.calls.results import Content, Display, content_of, display_of, shape
from remit.calls.wire import CredentialUse, Sender, carries_credential, finish, use_credential
from remit.catalog.model import AppTarget, ClientTarget
from remit.errors import (
    CallError,
    ClientUnavailable,
    Denied,
    NotConnected,
    OverCeiling,
    PollExhausted,
    PollFailed,
    ResponseInvalid,
    UnknownTool,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from remit.gateway.ports import Approver, Clock, Denial, Egress, Ids, Watcher
from remit.gateway.sending import Line, retry_after_ms, send
from remit.policy.decisions import AllowedCall, Approval, Ask, Deny, SendableCall, decide, recheck
from remit.values.json import nearest
from remit.values.secrets import Masker, Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.calls.answers import Answer, Body
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.calls.wire import FinishedRequest
    from remit.catalog.model import Definition, Polling, Tool
    from remit.policy.catalogs import EffectiveCatalog
    from remit.values.json import JsonObject, JsonValue

PREVIEW_TIMEOUT_MS = 5_000
Outcome = Literal["ok", "error", "denied", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The ports that a call needs."""

    egress: Egress
    approver: Approver
    clock: Clock
    ids: Ids
    watcher: Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The app that a call is made in, with what the user brought.

    Attributes:
        catalog: the effective one: what is not in it cannot be called.
        credential: the user's own, or None.
        env: values by name.
    """

    definition: Definition
    catalog: EffectiveCatalog
    credential: Secret | None = None
    env: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    version: str = "0"
    brand: str = "Remit"

    @property
    def masker(self) -> Masker:
        """Takes the credential and the env values out of what the app says."""
        known = list(self.env.values())
        if self.credential is not None:
            known.append(self.credential)
            if self.definition.auth.type == "basic":
                known += [Secret(p) for p in self.credential.reveal().split(":", 1)[1:]]
        return Masker(tuple(known))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """How a call ended.

    Attributes:
        result: the mapped result; None unless ``ok``.
        content, display: what the model reads, how it is drawn; None unless ``ok``.
        error: None where ``ok``.
        may_have_happened: the action may have happened although the call failed.
        arguments: what it ran with; None where the arguments were refused.
    """

    call_id: str
    outcome: Outcome
    tool: str
    result: JsonValue = None
    content: Content | None = None
    display: Display | None = None
    error: CallError | None = None
    may_have_happened: bool = False
    arguments: Arguments | None = None


def find_tool(app: App, name: str) -> Tool:
    """The tool of that name in the effective catalog.

    Raises:
        OverCeiling: it is declared, but above the ceiling.
        UnknownTool: it is not there, or was dropped; the message says why.
    """
    tool = app.catalog.tool(name)
    if tool is not None:
        return tool
    reason = app.catalog.reason(name)
    if reason is not None and reason.startswith("over the ceiling"):
        raise OverCeiling(
            f"{name} cannot be called: {reason}. "
            "Raising the ceiling is a change of the definition, and a reviewer must approve it."
        )
    if reason is not None:
        raise UnknownTool(f"{name} was dropped from the catalog: {reason}.")
    near = nearest(name, (known.name for known in app.catalog.tools))
    hint = f'Did you mean "{near}"?' if near else "`remit catalog` lists the tools."
    raise UnknownTool(f'{app.definition.name} has no tool "{name}". {hint}')


async def call(
    name: str, given: JsonObject, app: App, world: World, *, pins: JsonObject | None = None
) -> CallOutcome:
    """Call one tool.

    Args:
        name: catalog name of the tool.
        given: the arguments, parsed strictly.
        app: the app with its effective catalog and credential.
        world: the ports.
        pins: arguments fixed by the session's context.

    Returns:
        The outcome; a failed call is a value, never an exception.
    """
    call_id = world.ids.call_id()
    arguments: Arguments | None = None
    tool: Tool | None = None
    try:
        tool = find_tool(app, name)
        arguments = settle(tool, given, pins or {}, source="caller")
        result = await _Run(call_id, tool, arguments, pins or {}, app, world).finished()
    except CallError as error:
        return CallOutcome(
            call_id=call_id,
            outcome="denied" if isinstance(error, Denied) else "error",
            tool=name,
            error=_masked(error, app.masker),
            may_have_happened=tool is not None and may_have_happened(tool, error),
            arguments=arguments,
        )
    return CallOutcome(
        call_id=call_id,
        outcome="ok",
        tool=name,
        result=result,
        content=content_of(result),
        display=display_of(tool, result),
        arguments=arguments,
    )


def _masked(error: CallError, masker: Masker) -> CallError:
    """The error with the credential taken out of all that the app said."""
    error.message = masker.text(error.message)
    if error.details is not None:
        details = masker.value(dict(error.details))
        error.details = details if isinstance(details, dict) else None  # pyright: ignore[reportUnknownMemberType]
    return error


class _Run:
    """One call on its way: frozen, decided, checked again, sent, awaited, shaped."""

    def __init__(  # noqa: PLR0913 -- the parts of a call, given once
        self,
        call_id: str,
        tool: Tool,
        arguments: Arguments,
        pins: JsonObject,
        app: App,
        world: World,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.pins = pins
        self.app = app
        self.world = world
        self.sender = Sender(
            call_id=call_id,
            traceparent=world.ids.traceparent(),
            version=app.version,
            brand=app.brand,
        )

    async def finished(self) -> JsonValue:
        """The result, or a ``CallError``."""
        _refuse_without_server(self.tool, self.app)
        request = plan(
            self.tool, self.app.definition, self.arguments, env_names=self.app.env.keys()
        )
        # The credential is looked at before anybody is asked: a yes should not be wasted.
        if carries_credential(self.tool):
            use_credential(self.app.definition.auth, self.app.credential)
        allowed = await self._allowed(request)
        sendable = recheck(allowed, ceiling=self.app.definition.ceiling)
        if isinstance(sendable, Deny):
            raise _denial(self.tool, sendable)
        self.world.watcher.started(self.tool.name)
        try:
            body = await self.exchange(sendable)
        finally:
            self.world.watcher.answered(self.tool.name)
        mapping = self.tool.response_mapping
        if self.tool.polling is not None:
            body = await self._job(self.tool.polling, body, request)
            mapping = self.tool.polling.result_mapping
        return self.app.masker.value(shape(self.tool, body, mapping))  # pyright: ignore[reportReturnType] -- JSON in, JSON out

    # -- deciding --------------------------------------------------------------------------

    async def _allowed(self, request: FrozenRequest) -> AllowedCall:
        verdict = decide(self.tool, self.app.definition.ceiling)
        if isinstance(verdict, Deny):
            raise _denial(self.tool, verdict)
        approval: Approval | None = None
        if isinstance(verdict, Ask):
            preview, failure = await self._preview()
            card = approval_card(
                self.tool,
                self.arguments,
                request,
                reason=verdict.reason,
                preview=preview,
                preview_failure=failure,
            )
            answer = await self.world.approver.ask(card)
            if isinstance(answer, Denial):
                raise _refused(self.tool, answer)
            approval = answer
        return AllowedCall(request=request, tool=self.tool, approval=approval)

    async def _preview(self) -> tuple[Found, str | None]:
        """The mapped result of the preview, or why there is none."""
        preview = self.tool.confirm.preview if self.tool.confirm else None
        if preview is None:
            return MISSING, None
        try:
            tool = find_tool(self.app, preview.tool)
            given = preview_arguments(self.tool, self.arguments)
            arguments = settle(tool, given, self.pins, source="caller")
            run = _Run(self.world.ids.call_id(), tool, arguments, self.pins, self.app, self.world)
            request = plan(tool, self.app.definition, arguments, env_names=self.app.env.keys())
            verdict = recheck(
                AllowedCall(request=request, tool=tool, approval=None),
                ceiling=self.app.definition.ceiling,
            )
            if isinstance(verdict, Deny):
                return MISSING, verdict.reason
            body = await run.exchange(verdict, timeout_ms=PREVIEW_TIMEOUT_MS)
            result = self.app.masker.value(shape(tool, body, tool.response_mapping))
        except CallError as error:
            return MISSING, self.app.masker.text(error.message)
        return result, None  # pyright: ignore[reportReturnType] -- JSON in, JSON out

    # -- sending ---------------------------------------------------------------------------

    def _line(self, timeout_ms: int | None) -> Line:
        return Line(
            tool=self.tool,
            egress=self.world.egress,
            clock=self.world.clock,
            watcher=self.world.watcher,
            timeout_ms=timeout_ms or self.tool.timeout_ms,
        )

    def _finished(self, request: FrozenRequest) -> FinishedRequest:
        """The request with everything in it; nothing is added to it after this."""
        credential = CredentialUse()
        if carries_credential(self.tool):
            credential = use_credential(self.app.definition.auth, self.app.credential)
        return finish(
            request, self.tool, credential=credential, env=self.app.env, sender=self.sender
        )

    def _refusal(self, request: FrozenRequest, answer: Answer) -> CallError | None:
        credential = carries_credential(self.tool) and self.app.definition.auth.type != "none"
        host = request.origin.authority
        return refusal(self.tool, answer, host, credential=credential)

    async def exchange(self, sendable: SendableCall, *, timeout_ms: int | None = None) -> Body:
        """Send a call that may be sent, and read what came back."""
        request = sendable.request
        line = self._line(timeout_ms)
        answer = await send(self._finished(request), line, retry=request.method == "GET")
        if (error := self._refusal(request, answer)) is not None:
            raise error
        return read_body(self.tool, answer)

    # -- waiting ---------------------------------------------------------------------------

    async def _job(self, polling: Polling, first: Body, request: FrozenRequest) -> Body:
        """Ask until the job says that it is done; what fails on the way counts as a poll."""
        asked = status_request(
            self.tool,
            self.app.definition,
            self.arguments,
            first,
            request,
            env_names=self.app.env.keys(),
        )
        wait_ms = polling.poll_interval_ms
        status: str = "unknown"
        for poll in range(1, polling.max_polls + 1):
            await self.world.clock.sleep(wait_ms)
            body, wait_ms = await self._poll(asked, polling)
            if body is None:
                self.world.watcher.polled(self.tool.name, poll, polling.max_polls, "no answer")
                continue
            progress = judge(polling, body)
            status = progress.words
            self.world.watcher.polled(self.tool.name, poll, polling.max_polls, status)
            if progress.state == "complete":
                return body
            if progress.state == "failed":
                raise PollFailed(
                    f"{self.tool.name}: the job ended with the status "
                    f"{self.app.masker.text(str(progress.status))!r}, which means that it failed.",
                    details={"status": progress.status, "polls": poll},
                    sent=True,
                )
        raise PollExhausted(
            f"{self.tool.name}: the job was still running ({status}) after {polling.max_polls} "
            "polls. It may still finish: read its state before starting it again.",
            details={"polls": polling.max_polls, "lastStatus": status},
            sent=True,
        )

    async def _poll(self, asked: FrozenRequest, polling: Polling) -> tuple[Body | None, int]:
        """One poll: the body, or None where it failed in passing; and the wait before the next."""
        try:
            answer = await send(self._finished(asked), self._line(None), retry=False)
        except (UpstreamTimeout, UpstreamUnreachable):
            return None, polling.poll_interval_ms
        wait_ms = max(polling.poll_interval_ms, retry_after_ms(answer) or 0)
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= 500:
            return None, wait_ms
        if (error := self._refusal(asked, answer)) is not None:
            raise error
        try:
            return read_body(self.tool, answer), wait_ms
        except ResponseInvalid:
            # No value at statusField means: still running.
            return None, wait_ms


def _refuse_without_server(tool: Tool, app: App) -> None:
    """Calls that only a server can make (contract section 13)."""
    if isinstance(tool.destination, ClientTarget):
        raise ClientUnavailable(
            f"{tool.name} runs in the user's client ({tool.destination.name}); "
            "without a server there is none. Use it in a session."
        )
    if isinstance(tool.destination, AppTarget):
        raise NotConnected(
            f"{tool.name} needs a signed identity token for the component "
            f"{tool.destination.component}; only a Remit server can sign one."
        )
    if carries_credential(tool) and app.definition.auth.type == "identity":
        raise NotConnected(
            f"{tool.name} needs a signed identity token; only a Remit server can sign one."
        )


def _denial(tool: Tool, verdict: Deny) -> CallError:
    message = f"{tool.name} was not called: {verdict.reason}."
    return OverCeiling(message) if verdict.code == "over_ceiling" else Denied(message)


def _refused(tool: Tool, denial: Denial) -> Denied:
    """What the agent is told of a person's no (contract section 5)."""
    note = f' They said: "{denial.note}".' if denial.note else ""
    return Denied(
        f"{tool.name} was denied by a person. Nothing was sent.{note} "
        "Do not repeat the same call unchanged.",
        details={"note": denial.note} if denial.note else None,
    )
