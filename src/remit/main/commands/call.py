"""``remit call``: one call, no server (contract sections 5 and 13)."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit import __version__
from remit.calls.answers import may_have_happened
from remit.calls.arguments import settle
from remit.calls.wire import Sender, masked_credential, owned_headers
from remit.catalog.mistakes import Mistake
from remit.catalog.model import ClientTarget
from remit.documents.problems import Problem
from remit.errors import (
    CallError,
    Cancelled,
    ClientUnavailable,
    InvalidArguments,
    InvalidDefinition,
)
from remit.gateway.calling import App, CallOutcome, World, call, find_tool
from remit.gateway.steps import freeze
from remit.main.commands.arguments import args_text, error_json, parse_args, tell
from remit.main.commands.pairs import read_env, read_pins, tell_idle_pins
from remit.main.commands.refreshing import client, refreshed
from remit.main.files import read_definition
from remit.main.output import is_terminal, print_json, say
from remit.main.terminal import FlagApprover, NobodyApprover, Progress, TerminalApprover
from remit.main.world import RandomIds, SystemClock
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from remit.catalog.model import Definition, Tool
    from remit.egress.client import GuardedClient
    from remit.main.settings import Settings
    from remit.values.json import JsonObject, JsonValue

UNKNOWN_OUTCOME = "This may have happened. Read the current state before trying again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user typed."""

    file: str
    tool: str
    args: str
    pins: tuple[str, ...]
    token: str | None
    env: tuple[str, ...]
    yes: bool


def run(wish: Wish, settings: Settings, *, dry_run: bool) -> int:
    """Make the call, or print the request that it would send; 0 when it ended well."""
    pins = read_pins(wish.pins)
    env = read_env(wish.env)
    text = args_text(wish.args)
    try:
        _, definition = read_definition(wish.file, brand=settings.brand)
    except InvalidDefinition as error:
        say(error.message)
        found = [_mistake_json(m) for m in error.mistakes]
        message = f"{wish.file} cannot be used; mistakes: {len(found)}." if found else error.message
        details = {"mistakes": found} if found else None
        print_json(error_json(error.code, message, wish.tool, details=details))
        return 1
    try:
        given = parse_args(text, wish.tool)
    except InvalidArguments as error:
        return _print_error(error, wish.tool, happened=False)
    credential = Secret(wish.token) if wish.token else None
    if definition.auth.type == "bearer" and (wish.token or "").lower().startswith("bearer "):
        say('The token begins with "Bearer"; Remit writes that word itself. Leave it out.')
    job = _Job(wish, settings, definition, given, pins, env, credential)
    return asyncio.run(job.dry_run() if dry_run else job.call())


def _mistake_json(mistake: object) -> JsonObject:
    """A mistake for a program: what and where, and the mend."""
    from remit.building import Fault

    if isinstance(mistake, Fault):
        return {"file": mistake.file, "line": mistake.line, **_mistake_json(mistake.mistake)}
    if isinstance(mistake, Mistake):
        return {
            "rule": mistake.rule,
            "tool": mistake.tool,
            "pointer": mistake.pointer,
            "message": mistake.message,
            "mend": mistake.mend,
        }
    if isinstance(mistake, Problem):
        return {
            "line": mistake.line,
            "column": mistake.column,
            "message": mistake.message,
            "mend": mistake.mend,
        }
    return {"message": str(mistake)}


class _Job:
    """One run of the command."""

    def __init__(
        self,
        wish: Wish,
        settings: Settings,
        definition: Definition,
        given: JsonObject,
        pins: JsonObject,
        env: dict[str, Secret],
        credential: Secret | None,
    ) -> None:
        self.wish = wish
        self.settings = settings
        self.definition = definition
        self.given = given
        self.pins = pins
        self.env = env
        self.credential = credential
        self.progress = Progress()

    async def _app(self, egress: GuardedClient, *, fetch: bool) -> App:
        found = await refreshed(self.definition, egress, self.settings, fetch=fetch)
        return App(
            definition=self.definition,
            catalog=found.catalog,
            credential=self.credential,
            env=self.env,
            version=__version__,
            brand=self.settings.brand,
        )

    async def dry_run(self) -> int:
        """Print the request as it would be sent; nothing goes out, the catalog included."""
        async with client(self.settings) as egress:
            app = await self._app(egress, fetch=False)
        try:
            tool = find_tool(app, self.wish.tool)
            print_json(self._would_send(app, tool))
        except CallError as error:
            return _print_error(error, self.wish.tool, happened=False)
        return 0

    def _would_send(self, app: App, tool: Tool) -> dict[str, JsonValue]:
        if isinstance(tool.destination, ClientTarget):
            raise ClientUnavailable(
                f"{tool.name} runs in the client ({tool.destination.name}) and sends nothing."
            )
        arguments = settle(tool, self.given, self.pins, source="caller")
        tell(arguments, tool.name)
        tell_idle_pins(self.pins, (tool,))
        request = freeze(tool, app, arguments)
        use = masked_credential(app.definition.auth, tool)
        sender = Sender(
            call_id="<call id>",
            traceparent="<trace>",
            version=__version__,
            brand=self.settings.brand,
        )
        headers: dict[str, JsonValue] = dict(request.shown_headers)
        headers |= dict(owned_headers(request, tool, credential=use, sender=sender))
        url = request.shown_url
        if use.query is not None:
            url += ("&" if "?" in url else "?") + use.query
        return {
            "method": request.method,
            "url": url,
            "headers": headers,
            "body": request.shown_body,
            "digest": request.digest,
        }

    async def call(self) -> int:
        """Make the call and print how it ended."""
        async with client(self.settings) as egress:
            app = await self._app(egress, fetch=True)
            known = app.catalog.tool(self.wish.tool)
            if known is not None:
                tell_idle_pins(self.pins, (known,))
            world = World(
                egress=egress,
                approver=_approver(yes=self.wish.yes),
                clock=SystemClock(),
                ids=RandomIds(),
                watcher=self.progress,
            )
            running = asyncio.ensure_future(
                call(self.wish.tool, self.given, app, world, pins=self.pins)
            )
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGINT, lambda: self._interrupted(running, app)
            )
            try:
                outcome = await running
            except asyncio.CancelledError:
                return self._cancelled(app)
        return _print_outcome(outcome)

    def _interrupted(self, running: asyncio.Future[CallOutcome], app: App) -> None:
        """Ctrl-C: a read is dropped; a write that is out comes home, unless it is pressed again."""
        if self.progress.sending and not self.progress.warned and self._may_happen(app):
            self.progress.warned = True
            say(
                f"{self.wish.tool} is already on its way; waiting for its answer. "
                "Press Ctrl-C again to stop waiting."
            )
            return
        running.cancel()

    def _may_happen(self, app: App) -> bool:
        """Whether stopping now would leave it open if the action happened."""
        tool = app.catalog.tool(self.wish.tool)
        stopped = Cancelled("", sent=self.progress.sent)
        return tool is not None and may_have_happened(tool, stopped)

    def _cancelled(self, app: App) -> int:
        what = "Nothing was sent." if not self.progress.sent else "Its answer was not read."
        error = Cancelled(f"{self.wish.tool} was stopped. {what}", sent=self.progress.sent)
        _print_error(error, self.wish.tool, happened=self._may_happen(app))
        return 130


def _approver(*, yes: bool) -> TerminalApprover | FlagApprover | NobodyApprover:
    if yes:
        return FlagApprover()
    return TerminalApprover() if is_terminal(sys.stdin) else NobodyApprover()


def _print_outcome(outcome: CallOutcome) -> int:
    if outcome.arguments is not None:
        tell(outcome.arguments, outcome.tool)
    if outcome.error is not None or outcome.content is None or outcome.display is None:
        error = outcome.error or CallError("The call ended without a result.")
        return _print_error(
            error, outcome.tool, happened=outcome.may_have_happened, call_id=outcome.call_id
        )
    for name, path in outcome.absent:
        say(f'The answer had no "{path}", so the result has no "{name}".')
    if outcome.display.misfit is not None:
        say(f"Drawn as json: {outcome.display.misfit}.")
    printed: dict[str, JsonValue] = {
        "callId": outcome.call_id,
        "outcome": outcome.outcome,
        "result": outcome.result,
        "content": outcome.content.text,
        "display": outcome.display.as_json(),
    }
    print_json(printed)
    return 0


def _print_error(error: CallError, tool: str, *, happened: bool, call_id: str | None = None) -> int:
    message = f"{error.message} {UNKNOWN_OUTCOME}" if happened else error.message
    printed = error_json(error.code, message, tool, details=error.details, happened=happened)
    if call_id is not None:
        printed = {"callId": call_id, **printed}
    print_json(printed)
    if not is_terminal(sys.stdout):
        # On a terminal the message has just been read, as data.
        say(f"{error.code}: {message}")
    if error.code == "not_connected":
        say("Give the credential with --token, or in the variable REMIT_TOKEN.")
    say(f"`remit explain {error.code}` says more.")
    return 1
