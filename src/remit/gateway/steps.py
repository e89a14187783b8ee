"""The steps of a call that are the same with and without a server (contract section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from msgspec import structs

from remit.calls.arguments import settle
from remit.calls.cards import preview_arguments
from remit.calls.lookup import MISSING, Found
from remit.calls.planning import plan
from remit.calls.polling import refuse_bad_status
from remit.calls.results import absent, content_of, shape
from remit.calls.wire import carries_credential, use_credential
from remit.catalog.parameters import all_masked
from remit.documents.canonical import compact_json
from remit.documents.schema_secrets import Secrets
from remit.errors import CallError, Denied, OverCeiling
from remit.gateway.apps import find_tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.calls.answers import Body
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.calls.results import Content
    from remit.catalog.mapping import ResponseMapping
    from remit.catalog.model import Tool
    from remit.gateway.apps import App
    from remit.gateway.exchanging import Exchange
    from remit.policy.catalogs import EffectiveCatalog
    from remit.policy.decisions import Deny, SendableCall
    from remit.values.json import JsonObject, JsonValue
    from remit.values.secrets import Masker, Secret

PREVIEW_TIMEOUT_MS = 5_000


def freeze(tool: Tool, app: App, arguments: Arguments, *, version: int = 0) -> FrozenRequest:
    """The request, frozen; all that arguments can be refused for is refused here.

    Raises:
        CallError: it cannot be sent as it is.
    """
    if arguments.undeclared_pins:
        tool = _knowing(tool, arguments, app.catalog)
    request = plan(tool, app.definition, arguments, version=version, env_names=app.env.keys())
    refuse_bad_status(tool, app.definition, arguments)
    return request


def secrets_of(tool: Tool, arguments: Arguments, catalog: EffectiveCatalog) -> tuple[Secret, ...]:
    """The texts and numbers of a call's arguments that may not be stored or shown.

    Of a pin that the tool does not declare, that is what another tool of the app calls a secret.
    """
    found = tool.parameters.secrets_in(arguments.values) if tool.parameters.secrets else ()
    if arguments.undeclared_pins:
        knowing = _knowing(tool, arguments, catalog).parameters
        found += knowing.secrets_in(arguments.undeclared_pins)
    return found


def _knowing(tool: Tool, arguments: Arguments, catalog: EffectiveCatalog) -> Tool:
    """The tool as if it had declared what others call a secret among the pins that it does not."""
    names = catalog.secret_names(arguments.undeclared_pins)
    if not names:
        return tool
    return replace(tool, parameters=tool.parameters.holding_back(Secrets(names)))


def hidden_pins(arguments: Arguments) -> Arguments:
    """The arguments as they may be stored or shown beside their tool: undeclared pins masked.

    All of them: the tool says nothing of them, and each may be the secret of another tool, also
    of one that is not in the catalog now, or is another app's (a token has its pins for all its
    apps). What one of them does stands in the request, where the tool has put it.
    """
    if not arguments.undeclared_pins:
        return arguments
    pins = {name: all_masked(value) for name, value in arguments.undeclared_pins.items()}
    return structs.replace(arguments, undeclared_pins=pins)


def refuse_without_credential(tool: Tool, app: App) -> None:
    """Look at the credential before anybody is asked: a yes should not be wasted.

    Raises:
        NotConnected: there is none that can be sent.
    """
    if carries_credential(tool):
        use_credential(app.definition.auth, app.credential)


def shaped(
    tool: Tool, body: Body, mapping: ResponseMapping | None, masker: Masker
) -> tuple[JsonValue, tuple[tuple[str, str], ...]]:
    """The mapped and masked result, and the mapped names that the answer did not have.

    Raises:
        ResponseInvalid: the answer is text, and fields of it are mapped.
    """
    result, missed = _mapped(tool, body, mapping)
    return masker.value(result), missed  # pyright: ignore[reportReturnType] -- JSON in, JSON out


def read_result(
    tool: Tool, body: Body, mapping: ResponseMapping | None, masker: Masker
) -> tuple[JsonValue, Content, tuple[tuple[str, str], ...]]:
    """As ``shaped``, with what the model reads: mostly the one text that is looked at and read.

    Raises:
        ResponseInvalid: the answer is text, and fields of it are mapped.
    """
    result, missed = _mapped(tool, body, mapping)
    text = compact_json(result)
    if masker.may_mask(text):
        result = cast("JsonValue", masker.value(result))
        return result, content_of(result), missed
    return result, content_of(result, text=text), missed


def _mapped(
    tool: Tool, body: Body, mapping: ResponseMapping | None
) -> tuple[JsonValue, tuple[tuple[str, str], ...]]:
    result = shape(tool, body, mapping)
    return result, absent(mapping, result) if mapping is not None and body.kind == "json" else ()


async def preview(
    tool: Tool,
    arguments: Arguments,
    pins: JsonObject,
    app: App,
    run: Callable[[Tool, Arguments], Awaitable[Found]],
    masker: Masker,
) -> tuple[Found, str | None]:
    """The mapped result of the preview that a card shows, or why there is none.

    Args:
        tool: the tool that is asked about.
        arguments: of the call that is asked about.
        pins: of that call; the preview has the same.
        app: where its preview tool is looked for.
        run: makes one read of a tool, asking nobody.
        masker: takes secrets out of what is shown.
    """
    declared = tool.confirm.preview if tool.confirm else None
    if declared is None:
        return MISSING, None
    try:
        reading = find_tool(app, declared.tool)
        given = preview_arguments(tool, arguments)
        return await run(reading, settle(reading, given, pins, source="caller")), None
    except CallError as error:
        return MISSING, masker.text(error.message)


async def read_once(exchange: Exchange, sendable: SendableCall) -> JsonValue:
    """The mapped result of a preview: sent once, never tried again.

    Raises:
        CallError: there is none.
    """
    body, _ = await exchange.first(sendable)
    tool = sendable.tool
    result, _ = shaped(tool, body, tool.response_mapping, exchange.masker)
    return result


def masked(error: CallError, masker: Masker) -> CallError:
    """The error with the credential taken out of all that the app said."""
    error.message = masker.text(error.message)
    if error.details is not None:
        details = masker.value(dict(error.details))
        error.details = details if isinstance(details, dict) else None  # pyright: ignore[reportUnknownMemberType]
    return error


def denial(tool: Tool, verdict: Deny) -> CallError:
    """What the agent is told of a rule's no."""
    message = f"{tool.name} was not called: {verdict.reason}."
    return OverCeiling(message) if verdict.code == "over_ceiling" else Denied(message)


def refused(name: str, note: str) -> Denied:
    """What the agent is told of a person's no (contract section 5)."""
    said = f' They said: "{note}".' if note else ""
    return Denied(
        f"{name} was denied by a person. Nothing was sent.{said} "
        "Do not repeat the same call unchanged.",
        details={"note": note} if note else None,
    )
