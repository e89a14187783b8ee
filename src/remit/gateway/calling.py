"""The use case of one call, from arguments to outcome (contract section 5), for one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.calls.answers import may_have_happened
from remit.calls.arguments import settle
from remit.calls.cards import approval_card
from remit.calls.results import Content, Display, content_of, display_of
from remit.calls.wire import Sender, carries_credential
from remit.catalog.model import AppTarget, ClientTarget
from remit.errors import CallError, ClientUnavailable, Denied, NotConnected
from remit.gateway.apps import App, World, find_tool
from remit.gateway.exchanging import Exchange
from remit.gateway.ports import Denial, Unasked
from remit.gateway.steps import (
    PREVIEW_TIMEOUT_MS,
    denial,
    freeze,
    hidden_pins,
    masked,
    preview,
    read_once,
    refuse_without_credential,
    refused,
    secrets_of,
    shaped,
)
from remit.policy.decisions import AllowedCall, Approval, Ask, Deny, decide, recheck

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.calls.lookup import Found
    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue
    from remit.values.secrets import Masker

__all__ = ["PREVIEW_TIMEOUT_MS", "App", "CallOutcome", "Outcome", "World", "call", "find_tool"]

Outcome = Literal["ok", "error", "denied", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """How a call ended.

    Attributes:
        result: the mapped result; None unless ``ok``.
        content, display: what the model reads, how it is drawn; None unless ``ok``.
        error: None where ``ok``.
        may_have_happened: the action may have happened although the call failed.
        arguments: what it ran with; None where the arguments were refused.
        absent: mapped names that the answer did not have, with their paths.
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
    absent: tuple[tuple[str, str], ...] = ()


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
    masker = app.masker()
    try:
        tool = find_tool(app, name)
        arguments = settle(tool, given, pins or {}, source="caller")
        if secrets := secrets_of(tool, arguments, app.catalog):
            masker = app.masker(secrets)
        run = _Run(call_id, tool, arguments, pins or {}, app, world, masker)
        result = await run.result()
    except CallError as error:
        return CallOutcome(
            call_id=call_id,
            outcome="denied" if isinstance(error, Denied) else "error",
            tool=name,
            error=masked(error, masker),
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
        absent=run.absent,
    )


class _Run:
    """One call on its way: frozen, decided, checked again, sent, awaited, shaped."""

    def __init__(
        self,
        call_id: str,
        tool: Tool,
        arguments: Arguments,
        pins: JsonObject,
        app: App,
        world: World,
        masker: Masker,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.pins = pins
        self.app = app
        self.world = world
        self.masker = masker
        self.absent: tuple[tuple[str, str], ...] = ()
        self.sender = Sender(
            call_id=call_id,
            traceparent=world.ids.traceparent(),
            version=app.version,
            brand=app.brand,
        )

    async def result(self) -> JsonValue:
        """The result, or a ``CallError``."""
        request = self._planned()
        allowed = await self._allowed(request)
        sendable = recheck(allowed, ceiling=self.app.definition.ceiling)
        if isinstance(sendable, Deny):
            raise denial(self.tool, sendable)
        exchange = self._exchange(self.tool.timeout_ms)
        self.world.watcher.started(self.tool.name)
        try:
            first = await exchange.first(sendable)
        finally:
            self.world.watcher.answered(self.tool.name)
        body, mapping = first[0], self.tool.response_mapping
        if self.tool.polling is not None:
            body = await exchange.job(self.tool.polling, self.arguments, request, first)
            mapping = self.tool.polling.result_mapping
        result, self.absent = shaped(self.tool, body, mapping, self.masker)
        return result

    def _planned(self) -> FrozenRequest:
        """The request, frozen; all that can be refused beforehand is refused here."""
        _refuse_without_server(self.tool, self.app)
        request = freeze(self.tool, self.app, self.arguments)
        refuse_without_credential(self.tool, self.app)
        return request

    def _exchange(self, timeout_ms: int, *, retry: bool = True) -> Exchange:
        return Exchange(
            tool=self.tool,
            app=self.app,
            world=self.world,
            sender=self.sender,
            masker=self.masker,
            timeout_ms=timeout_ms,
            retry=retry,
        )

    async def _allowed(self, request: FrozenRequest) -> AllowedCall:
        """The request with the yes that it needs, or a ``CallError``."""
        verdict = decide(self.tool, self.app.definition.ceiling)
        if isinstance(verdict, Deny):
            raise denial(self.tool, verdict)
        approval: Approval | None = None
        if isinstance(verdict, Ask):
            # A yes to what the guard will refuse would be wasted, too.
            await self.world.egress.admit(request.origin)
            preview, failure = await self._preview()
            card = approval_card(
                self.tool,
                hidden_pins(self.arguments),
                request,
                reason=verdict.reason,
                preview=preview,
                preview_failure=failure,
            )
            answer = await self.world.approver.ask(card)
            if isinstance(answer, Unasked):
                raise _unasked(self.tool, verdict, answer)
            if isinstance(answer, Denial):
                raise refused(self.tool.name, answer.note)
            approval = answer
        return AllowedCall(request=request, tool=self.tool, approval=approval)

    async def _preview(self) -> tuple[Found, str | None]:
        """The mapped result of the preview, or why there is none."""

        async def run(tool: Tool, arguments: Arguments) -> Found:
            call_id = self.world.ids.call_id()
            inner = _Run(call_id, tool, arguments, self.pins, self.app, self.world, self.masker)
            return await inner.previewed()

        return await preview(self.tool, self.arguments, self.pins, self.app, run, self.masker)

    async def previewed(self) -> Found:
        """The mapped result of this call as a preview: run once, and only if nobody must be asked.

        Raises:
            CallError: there is none.
        """
        call = AllowedCall(request=self._planned(), tool=self.tool, approval=None)
        verdict = recheck(call, ceiling=self.app.definition.ceiling)
        if isinstance(verdict, Deny):
            raise denial(self.tool, verdict)
        timeout_ms = min(PREVIEW_TIMEOUT_MS, self.tool.timeout_ms)
        return await read_once(self._exchange(timeout_ms, retry=False), verdict)


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


def _unasked(tool: Tool, verdict: Ask, answer: Unasked) -> Denied:
    """What is told where a person must say yes and there is none: nobody said no either."""
    return Denied(
        f"{tool.name} must be approved, because {verdict.reason}; nobody could be asked: "
        f"{answer.why}. Nothing was sent. {answer.mend}"
    )
