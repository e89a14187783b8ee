"""What a model asks for, on its way into a call: its arguments, its record, what a person said.

A model's arguments are text, however broken. What of them may not be kept is masked before
anything is written down (contract section 2, ``writeOnly``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct, structs

from remit.documents.canonical import canonical_json, compact_json
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import CallError, InvalidArguments
from remit.gateway.acting import Actor
from remit.gateway.asking import detail_of
from remit.gateway.commands import Command, Remembered
from remit.gateway.conversing import RememberedTool
from remit.gateway.journal import kept
from remit.gateway.offering import AppTool, OfferedByClient
from remit.gateway.platform_tools import COMPUTER, Computer
from remit.session.events import OpenCall, ToolCall
from remit.values.secrets import MASK, Masker

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.gateway.conversing import AskedCall, SessionRow, Task
    from remit.gateway.ledger import InputRow
    from remit.gateway.models import Entry, Model, ModelCall, ModelResponse
    from remit.gateway.offering import Offered, Toolset
    from remit.values.json import JsonObject, JsonValue

MAX_ARGS_BYTES = 256 * 1024
_MAX_NAME = 80


class Marks(Struct, frozen=True, kw_only=True):
    """What an answer leaves in the session: a no for this very call, a yes for the tool."""

    denied: str | None = None
    remembered: RememberedTool | None = None

    def on(self, task: Task) -> Task:
        """The task with it."""
        if self.denied is not None and self.denied not in task.denied:
            task = structs.replace(task, denied=(*task.denied, self.denied))
        if self.remembered is not None:
            task = structs.replace(task, remembered=(*task.remembered, self.remembered))
        return task


def announced_call(toolset: Toolset, asked: AskedCall, given: ModelCall, run_id: str) -> ToolCall:
    """The event of a call that the model asks for, before anything of it is done."""
    offered = toolset.tools.get(given.name)
    tool = tool_of(offered)
    args = shown_args(tool, given.args_json)
    if isinstance(offered, AppTool):
        return ToolCall(
            call_id=asked.id,
            app=offered.app.id,
            tool=offered.tool.name,
            offered_as=offered.offered_as,
            title=offered.tool.label,
            args=args,
            run_id=run_id,
        )
    name = given.name[:_MAX_NAME]
    return ToolCall(
        call_id=asked.id,
        app=None,
        tool=name if tool is None else tool.name,
        offered_as=name,
        title=name if tool is None else tool.label,
        args=args,
        run_id=run_id,
        origin="client" if isinstance(offered, OfferedByClient) else "platform",
    )


def tool_of(offered: Offered | None) -> Tool | None:
    """The declared tool behind an offered one; None where there is none: of ``load_skill``, say."""
    if isinstance(offered, AppTool):
        return offered.tool
    if isinstance(offered, Computer):
        return COMPUTER
    return offered.what.tool if isinstance(offered, OfferedByClient) else None


def shown_args(tool: Tool | None, args_json: str) -> JsonValue:
    """A model's arguments as they may be kept and shown; broken ones as their text.

    Where a tool takes secrets, whatever is no declared argument may be one in the wrong place.
    """
    hides = tool is not None and tool.parameters.secrets is not None
    try:
        args = parse_json(args_json or "{}", max_bytes=MAX_ARGS_BYTES)
    except DocumentError:
        return MASK if hides else kept(args_json)
    if tool is None or not hides:
        return kept(cast("JsonValue", args))
    if not isinstance(args, dict):
        return MASK
    return kept(_without_secrets(tool, cast("JsonObject", args)))


def _without_secrets(tool: Tool, args: JsonObject) -> JsonValue:
    parameters = tool.parameters
    masked = {
        name: value if name in parameters.names else MASK
        for name, value in parameters.masked(args).items()
    }
    return cast("JsonValue", Masker(tuple(parameters.secrets_in(args))).value(masked))


def masked_entry(model: Model, toolset: Toolset, response: ModelResponse) -> Entry:
    """The response as it is kept: secret arguments masked."""
    masked: dict[str, str] = {}
    for given in response.calls:
        tool = tool_of(toolset.tools.get(given.name))
        if tool is None or tool.parameters.secrets is None:
            continue
        shown = shown_args(tool, given.args_json)
        masked[given.id] = compact_json(shown if isinstance(shown, dict) else {})
    return model.masked(response.entry, masked) if masked else response.entry


def parsed(name: str, args_json: str) -> JsonObject | CallError:
    """A model's arguments, parsed strictly (contract section 5, step 1); or why they cannot be."""
    try:
        args = parse_json(args_json or "{}", max_bytes=MAX_ARGS_BYTES)
    except DocumentError as error:
        first = error.problems[0]
        where = "" if first.line is None else f" (line {first.line}, column {first.column})"
        return InvalidArguments(
            f"{name} was not called: its arguments are no JSON that can be used: "
            f"{first.message}{where}. Send one JSON object.",
            details={
                "faults": [
                    {"pointer": "", "rule": "json", "message": str(problem)}
                    for problem in error.problems[:10]
                ]
            },
        )
    if not isinstance(args, dict):
        return InvalidArguments(
            f"{name} was not called: its arguments are {_kind(args)}. Send one JSON object.",
            details={"faults": [{"pointer": "", "rule": "type", "message": "not an object"}]},
        )
    return cast("JsonObject", args)


def was_masked(tool: Tool, args: JsonObject) -> bool:
    """Whether a secret argument is only its mask: what was kept is not what the model gave."""
    if tool.parameters.secrets is None:
        return False
    return MASK in canonical_json(args).decode() and tool.parameters.masked(args) == args


def command_of(
    row: SessionRow, asked: AskedCall, offered: AppTool, args: JsonObject, model: str | None
) -> Command:
    """The call that is asked for, as every surface asks."""
    app, tool = offered.app.id, offered.tool.name
    return structs.replace(
        _command(row, asked, app, tool, model),
        args=args,
        pins=offered.pins,
        held=offered.held and not asked.loose,
        denied=row.task.denied,
        remembered=_remembered(row.task, app, tool),
    )


def client_command_of(
    row: SessionRow, asked: AskedCall, offered: OfferedByClient, model: str | None
) -> Command:
    """The same for what a client announced: it belongs to no app."""
    tool = offered.what.tool.name
    return structs.replace(
        _command(row, asked, "", tool, model), remembered=_remembered(row.task, "", tool)
    )


def computer_command_of(
    row: SessionRow, asked: AskedCall, offered: Computer, model: str | None
) -> Command:
    """The same for the platform's own tool."""
    held = offered.held and not asked.loose
    return structs.replace(_command(row, asked, "", COMPUTER.name, model), held=held)


def command_as_announced(
    row: SessionRow, asked: AskedCall, known: OpenCall, model: str | None
) -> Command:
    """A call as the log announced it, without its arguments: to be refused under its id."""
    return _command(row, asked, known.app or "", known.tool, model)


def _command(row: SessionRow, asked: AskedCall, app: str, tool: str, model: str | None) -> Command:
    return Command(
        actor=Actor(key_id="", role="user", workspace=row.workspace, user=row.user),
        app=app,
        tool=tool,
        user=row.user,
        args={},
        source="session",
        call_id=asked.id,
        origin="model",
        offered_as=asked.name,
        session=row.id,
        run=row.state.run,
        response_seq=row.task.number,
        model_call_id=asked.model_id,
        model=model,
    )


def _remembered(task: Task, app: str, tool: str) -> Remembered | None:
    """Who said that calls of a tool need no second yes."""
    for one in task.remembered:
        if (one.app, one.tool) == (app, tool):
            return Remembered(by=one.by, is_user=one.is_user, is_operator=one.is_operator)
    return None


def marks_of(closed: InputRow | None) -> Marks:
    """What the answer of an input leaves in its session."""
    if closed is None:
        return Marks()
    if closed.status == "denied":
        return Marks(denied=closed.digest)
    detail = detail_of(closed)
    if closed.status == "approved" and detail.get("remember") == "session":
        return Marks(
            remembered=RememberedTool(
                app=closed.app,
                tool=closed.tool,
                by=closed.answered_by or "",
                is_user=detail.get("isUser") is True,
                is_operator=detail.get("isOperator") is True,
            )
        )
    return Marks()


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "no object"
