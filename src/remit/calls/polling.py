"""Waiting for a job, as decisions without a clock (contract section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin

from remit.calls.expansion import Frozen, Scope
from remit.calls.lookup import MISSING, Found, find
from remit.calls.planning import FrozenRequest, base_of, joined_url
from remit.catalog.references import Reference
from remit.errors import EgressRefused, ResponseInvalid
from remit.values.urls import UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Container

    from remit.calls.answers import Body
    from remit.calls.arguments import Arguments
    from remit.catalog.model import Definition, Polling, Tool
    from remit.values.json import JsonValue

State = Literal["running", "complete", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one poll said.

    Attributes:
        state: whether polling goes on.
        status: the value at ``statusField``; ``MISSING`` where there is none.
    """

    state: State
    status: Found

    @property
    def words(self) -> str:
        """The status for a person."""
        return self.status if isinstance(self.status, str) else "running"


def judge(polling: Polling, body: Body) -> Progress:
    """What the answer to one poll means; only the declared values end it."""
    status = find(body.value, polling.status_field) if body.kind == "json" else MISSING
    if status is not MISSING:
        if any(same_json(status, value) for value in polling.failed_values):
            return Progress(state="failed", status=status)
        if any(same_json(status, value) for value in polling.complete_values):
            return Progress(state="complete", status=status)
    return Progress(state="running", status=status)


def same_json(left: JsonValue, right: JsonValue) -> bool:
    """JSON equality: ``1`` and ``true`` differ, ``1`` and ``1.0`` do not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return type(left) is type(right) and left == right or _same_number(left, right)


def _same_number(left: JsonValue, right: JsonValue) -> bool:
    return isinstance(left, int | float) and isinstance(right, int | float) and left == right


def status_request(
    tool: Tool,
    definition: Definition,
    arguments: Arguments,
    first: Body,
    request: FrozenRequest,
    *,
    env_names: Container[str] = (),
) -> FrozenRequest:
    """The request that asks how the job is: a GET on the origin of the first call.

    Raises:
        MissingReference: the first answer has not what ``statusUrl`` needs.
        ResponseInvalid: what it gave is no address.
        EgressRefused: it gave an address of another origin; nothing is sent there.
    """
    polling = tool.polling
    if polling is None:
        msg = f"{tool.name} is not polled"
        raise TypeError(msg)
    scope = Scope(
        tool=tool.name,
        input=arguments.values,
        named={**arguments.values, **arguments.undeclared_pins},
        response=first.value if first.kind == "json" else MISSING,
        env_names=env_names,
    )
    url: Frozen
    if isinstance(polling.status, Reference):
        url = _given_url(tool, scope, polling.status, request)
    else:
        _, base_path = base_of(tool, definition)
        below = base_path if polling.relative else ""
        url = joined_url(scope, request.origin, below, polling.status, [])
    return FrozenRequest(
        app=request.app,
        version=request.version,
        tool=tool.name,
        method="GET",
        origin=request.origin,
        url=url,
        headers=(),
        has_body=False,
        body=MISSING,
        form=False,
    )


def _given_url(tool: Tool, scope: Scope, reference: Reference, request: FrozenRequest) -> str:
    """The address that the first answer gave, held to the origin of the first call."""
    value = scope.find(reference)
    if value is MISSING or value is None:
        raise scope.missing(reference)
    if isinstance(value, str) and value.startswith("/") and not value.startswith(("//", "/\\")):
        value = urljoin(str(request.origin), value)
    try:
        url = parse_url(value if isinstance(value, str) else "")
    except UrlFault as fault:
        raise ResponseInvalid(
            f"{tool.name}: {reference.dotted} should be the address to poll, but "
            f"{fault.reason}. The app's developers must correct the answer.",
            sent=True,
        ) from None
    if url.origin != request.origin:
        raise EgressRefused(
            f"{tool.name}: the app's answer points to {url.origin} for the status of the job; "
            f"the call went to {request.origin}. The credential is never sent elsewhere.",
            sent=True,
        )
    return value if isinstance(value, str) else ""
