"""The use case of one call, from arguments to outcome (contract section 5), for one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.calls.answers import may_have_happened
from remit.calls.arguments import settle
from remit.calls.cards import approval_card, preview_arguments
from remit.calls.lookup import MISSING, Found
from remit.calls.planning import plan
from remit.calls.polling import refuse_bad_status
from remit.calls.results import Content, Display, absent, content_of, display_of, shape
from remit.calls.wire import Sender, carries_credential, use_credential
from remit.catalog.model import AppTarget, ClientTarget
from remit.errors import CallError, ClientUnavailable, Denied, NotConnected, OverCeiling
from remit.gateway.apps import App, World, find_tool
from remit.gateway.exchanging import Exchange
from remit.gateway.ports import Denial, Unasked
from remit.policy.decisions import AllowedCall, Approval, Ask, Deny, decide, recheck

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue
    from remit.values.secrets import Masker

__all__ = ["PREVIEW_TIMEOUT_MS", "App", "CallOutcome", "Outcome", "World", "call", "find_tool"]

PREVIEW_TIMEOUT_MS = 5_000
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
        if tool.parameters.secrets is not None:
            masker = app.masker(tool.parameters.secrets_in(arguments.values))
        run = _Run(call_id, tool, arguments, pins or {}, app, world, masker)
        result = await run.result()
    except CallError as error:
        return CallOutcome(
            call_id=call_id,
            outcome="denied" if isinstance(error, Denied) else "error",
            tool=name,
            error=_masked(error, masker),
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


def _masked(error: CallError, masker: Masker) -> CallError:
    """The error with the credential taken out of all that the app said."""
    error.message = masker.text(error.message)
    if error.details is not None:
        details = masker.value(dict(error.details))
        error.details = details if isinstance(details, dict) else None  # pyright: ignore[reportUnknownMemberType]
    return error


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
            raise _denial(self.tool, sendable)
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
        result = shape(self.tool, body, mapping)
        if mapping is not None and body.kind == "json":
            self.absent = absent(mapping, result)
        return self.masker.value(result)  # pyright: ignore[reportReturnType] -- JSON in, JSON out

    def _planned(self) -> FrozenRequest:
        """The request, frozen; all that can be refused beforehand is refused here."""
        definition = self.app.definition
        _refuse_without_server(self.tool, self.app)
        request = plan(self.tool, definition, self.arguments, env_names=self.app.env.keys())
        refuse_bad_status(self.tool, definition, self.arguments)
        # The credential is looked at before anybody is asked: a yes should not be wasted.
        if carries_credential(self.tool):
            use_credential(definition.auth, self.app.credential)
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
            raise _denial(self.tool, verdict)
        approval: Approval | None = None
        if isinstance(verdict, Ask):
            # A yes to what the guard will refuse would be wasted, too.
            await self.world.egress.admit(request.origin)
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
            if isinstance(answer, Unasked):
                raise _unasked(self.tool, verdict, answer)
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
            run = _Run(
                self.world.ids.call_id(),
                tool,
                arguments,
                self.pins,
                self.app,
                self.world,
                self.masker,
            )
            return await run.previewed(), None
        except CallError as error:
            return MISSING, self.masker.text(error.message)

    async def previewed(self) -> Found:
        """The mapped result of this call as a preview: run once, and only if nobody must be asked.

        Raises:
            CallError: there is none.
        """
        call = AllowedCall(request=self._planned(), tool=self.tool, approval=None)
        verdict = recheck(call, ceiling=self.app.definition.ceiling)
        if isinstance(verdict, Deny):
            raise _denial(self.tool, verdict)
        timeout_ms = min(PREVIEW_TIMEOUT_MS, self.tool.timeout_ms)
        body, _ = await self._exchange(timeout_ms, retry=False).first(verdict)
        result = shape(self.tool, body, self.tool.response_mapping)
        return self.masker.value(result)  # pyright: ignore[reportReturnType] -- JSON in, JSON out


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


def _unasked(tool: Tool, verdict: Ask, answer: Unasked) -> Denied:
    """What is told where a person must say yes and there is none: nobody said no either."""
    return Denied(
        f"{tool.name} must be approved, because {verdict.reason}; nobody could be asked: "
        f"{answer.why}. Nothing was sent. {answer.mend}"
    )
