"""A frozen call as text and back, so that another process can go on with it (section 5).

What is written holds no credential and no env value: they stand in it as references, as in the
``FrozenRequest`` itself. Arguments are in it, secret ones too: who keeps the text of a tool that
has such arguments seals it first.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from remit.calls.arguments import Arguments
from remit.calls.expansion import EnvText, Frozen
from remit.calls.lookup import MISSING, Found
from remit.calls.planning import FrozenRequest, Shown
from remit.calls.repair import Repair
from remit.catalog.definitions import load_catalog
from remit.catalog.references import Reference
from remit.catalog.scales import Category, DangerLevel
from remit.documents.schema_secrets import Secrets
from remit.gateway.steps import secrets_of
from remit.values.secrets import Secret
from remit.values.urls import Origin

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.catalog.requests import Surroundings
    from remit.policy.catalogs import EffectiveCatalog
    from remit.values.json import JsonObject, JsonValue

_FORM = 1
_write = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class FrozenCall(Struct, frozen=True, kw_only=True):
    """Everything that a call needs to be sent, or polled, by whoever takes it up.

    Attributes:
        tool: as it was when the request was frozen; the catalog may have changed since.
        traceparent: of its requests.
        connection_id, account: what was shown to whoever approved; None where no credential
            of the user goes out.
        poll: the request that asks how the job is; None before the first answer.
        hides: secrets that an earlier call was sent with, of which this one is the button.
    """

    request: FrozenRequest
    tool: Tool
    arguments: Arguments
    traceparent: str
    connection_id: str | None = None
    account: str | None = None
    poll: FrozenRequest | None = None
    hides: tuple[str, ...] = ()


class Unreadable(ValueError):
    """A kept call cannot be read: written by a newer release, or its tool no longer loads."""


def secrets_with(call: FrozenCall, catalog: EffectiveCatalog) -> tuple[Secret, ...]:
    """What may not be stored or shown of a call, and of the one whose button it is."""
    return (*secrets_of(call.tool, call.arguments, catalog), *map(Secret, call.hides))


def encode(call: FrozenCall, *, whole: bool = True) -> str:
    """The call as text.

    Args:
        call: what is written.
        whole: with the tool, which may be large: for a call that waits. One that is being sent
            is taken up at once, if at all, and finds its tool in the catalog; which of its
            arguments were secret is written all the same.
    """
    tool, arguments = call.tool, call.arguments
    return _write(
        {
            "form": _FORM,
            "request": _request(call.request),
            "tool": tool_json(tool) if whole else None,
            "secrets": _secrets(tool),
            "args": [
                arguments.values,
                arguments.undeclared_pins,
                dict(arguments.origins),
                arguments.refused_pins,
                [[change.name, change.pointer, change.words] for change in arguments.repaired],
                arguments.ignored,
            ],
            "trace": call.traceparent,
            "connection": call.connection_id,
            "account": call.account,
            "poll": None if call.poll is None else _request(call.poll),
            "hides": call.hides,
        }
    )


def decode(text: str, around: Surroundings, current: Tool | None = None) -> FrozenCall:
    """The call that ``encode`` wrote.

    Args:
        text: what it wrote.
        around: the definition in force, in which the tool is read again.
        current: the tool in the catalog in force, for a call that was written without its own.
            What either of the two calls a secret is one.

    Raises:
        Unreadable: it is of another form, or the tool does not load there.
    """
    try:
        record = cast("dict[str, Any]", json.loads(text))
        if record["form"] != _FORM:
            raise Unreadable(f"kept calls of form {record['form']} cannot be read here")
        poll = record["poll"]
        return FrozenCall(
            request=_read_request(record["request"]),
            tool=_as_secret(
                tool_of(record["tool"], around, current), record.get("secrets"), current
            ),
            arguments=_read_arguments(record["args"]),
            traceparent=record["trace"],
            connection_id=record["connection"],
            account=record["account"],
            poll=None if poll is None else _read_request(poll),
            hides=tuple(record.get("hides", ())),
        )
    except (KeyError, TypeError, IndexError, json.JSONDecodeError) as error:
        raise Unreadable(f"a kept call is broken ({type(error).__name__})") from None


def tool_json(tool: Tool) -> JsonValue:
    """The tool as its author wrote it, with the judgement that a refresh may have made of it."""
    return [tool.record, tool.category.value, tool.danger_level.value, tool.requires_approval]


def tool_of(kept: list[Any] | None, around: Surroundings, current: Tool | None = None) -> Tool:
    """The tool that ``tool_json`` wrote; the current one where nothing was kept.

    Raises:
        Unreadable: there is none, or it does not load there.
    """
    if kept is None:
        if current is None:
            raise Unreadable("the tool is not in the catalog any more")
        return current
    record, category, danger_level, requires_approval = kept
    loaded = load_catalog([record], around)
    if loaded is None or len(loaded.tools) != 1:
        raise Unreadable("the tool does not fit the version of the app that is in force")
    return replace(
        loaded.tools[0],
        category=Category(category),
        danger_level=DangerLevel(danger_level),
        requires_approval=requires_approval,
    )


def _secrets(tool: Tool) -> JsonValue:
    """The names that hold a secret, and whether all do; None where nothing is one."""
    secrets = tool.parameters.secrets
    return None if secrets is None else [[*sorted(secrets.names)], secrets.everything]


def _as_secret(tool: Tool, kept: list[Any] | None, current: Tool | None) -> Tool:
    """The tool with its secret arguments as they were, and as they are in force."""
    parameters = tool.parameters
    if kept is not None:
        parameters = parameters.holding_back(Secrets(kept[0], everything=kept[1]))
    if current is not None and (secrets := current.parameters.secrets) is not None:
        parameters = parameters.holding_back(secrets)
    return tool if parameters is tool.parameters else replace(tool, parameters=parameters)


def _read_arguments(kept: list[Any]) -> Arguments:
    values, undeclared, origins, refused, repaired, ignored = kept
    return Arguments(
        values=values,
        undeclared_pins=undeclared,
        origins=origins,
        refused_pins=tuple(refused),
        repaired=tuple(Repair(name=n, pointer=p, words=w) for n, p, w in repaired),
        ignored=tuple(ignored),
    )


def _request(request: FrozenRequest) -> JsonObject:
    tagged = bool(request.env_names)
    shown = request.shown
    # Where nothing is hidden what is shown is what is sent.
    same = (
        shown.body is (None if request.body is MISSING else request.body)
        and shown.url == request.url
        and dict(shown.headers) == dict(request.headers)
    )
    written: dict[str, Any] = {
        "app": request.app,
        "version": request.version,
        "tool": request.tool,
        "method": request.method,
        "origin": [request.origin.scheme, request.origin.host, request.origin.port],
        "url": _text(request.url),
        "headers": [[name, _text(value)] for name, value in request.headers],
        "form": request.form,
        "env": request.env_names,
        "digest": request.digest,
    }
    if request.has_body:
        written["body"] = _tagged(request.body) if tagged else request.body
    if not same:
        written["shown"] = [shown.url, dict(shown.headers), shown.body]
    return cast("JsonObject", written)


def _read_request(record: dict[str, Any]) -> FrozenRequest:
    scheme, host, port = record["origin"]
    names = tuple(cast("list[str]", record["env"]))
    url = _read_text(record["url"])
    headers = tuple((name, _read_text(value)) for name, value in record["headers"])
    body: Found = MISSING
    if "body" in record:
        body = _untagged(record["body"]) if names else record["body"]
    if "shown" in record:
        shown_url, shown_headers, shown_body = record["shown"]
        shown = Shown(url=shown_url, headers=shown_headers, body=shown_body)
    else:
        shown = Shown(
            url=cast("str", url),
            headers=cast("dict[str, str]", dict(headers)),
            body=None if body is MISSING else body,
        )
    return FrozenRequest(
        app=record["app"],
        version=record["version"],
        tool=record["tool"],
        method=record["method"],
        origin=Origin(scheme=scheme, host=host, port=port),
        url=url,
        headers=headers,
        has_body="body" in record,
        body=body,
        form=record["form"],
        shown=shown,
        env_names=names,
        digest=record["digest"],
    )


def _text(text: Frozen) -> JsonValue:
    """A text; one with env references as the list of its parts, each reference as ``[name]``."""
    if isinstance(text, str):
        return text
    return [part if isinstance(part, str) else list(part.path) for part in text.parts]


def _read_text(written: str | list[str | list[str]]) -> Frozen:
    if isinstance(written, str):
        return written
    return EnvText(
        tuple(
            part if isinstance(part, str) else Reference(root="env", path=tuple(part))
            for part in written
        )
    )


def _tagged(value: Found) -> JsonValue:
    """A body that may hold env references: containers and references say what they are."""
    if isinstance(value, EnvText):
        return ["e", _text(value)]
    if isinstance(value, dict):
        return ["o", {key: _tagged(item) for key, item in value.items()}]
    if isinstance(value, list):
        return ["l", [_tagged(item) for item in value]]
    return cast("JsonValue", value)


def _untagged(written: JsonValue) -> Found:
    if not isinstance(written, list):
        return written
    kind, inner = written
    if kind == "e":
        return _read_text(cast("list[str | list[str]]", inner))  # pyright: ignore[reportReturnType] -- EnvText is filled before it is JSON
    if kind == "o":
        items = cast("JsonObject", inner).items()
        return {key: _untagged(item) for key, item in items}  # pyright: ignore[reportReturnType] -- as above
    return [_untagged(item) for item in cast("list[JsonValue]", inner)]  # pyright: ignore[reportReturnType] -- as above
