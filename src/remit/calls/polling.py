"""Waiting for a job, as decisions without a clock (contract section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.calls.encoding import scalar_text
from remit.calls.expansion import Frozen, Scope, path_segment
from remit.calls.lookup import MISSING, Found, find
from remit.calls.planning import (
    FrozenRequest,
    Shown,
    base_of,
    joined_url,
    reachable,
    refuse_long_url,
)
from remit.catalog.references import Reference, Text
from remit.documents.canonical import compact_json
from remit.errors import (
    CallError,
    EgressRefused,
    InvalidArguments,
    MissingReference,
    ResponseInvalid,
)
from remit.values.json import same_json
from remit.values.urls import UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Container

    from remit.calls.answers import Body
    from remit.calls.arguments import Arguments
    from remit.catalog.model import Definition, Polling, Tool

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
        if self.status is MISSING:
            return "no status yet"
        return scalar_text(self.status) or compact_json(self.status)


def judge(polling: Polling, body: Body) -> Progress:
    """What the answer to one poll means; only the declared values end it."""
    status = find(body.value, polling.status_field) if body.kind == "json" else MISSING
    if status is not MISSING:
        if any(same_json(status, value) for value in polling.failed_values):
            return Progress(state="failed", status=status)
        if any(same_json(status, value) for value in polling.complete_values):
            return Progress(state="complete", status=status)
    return Progress(state="running", status=status)


def refuse_bad_status(tool: Tool, definition: Definition, arguments: Arguments) -> None:
    """Look at the arguments in ``statusUrl`` before anything is sent.

    A job that was started and cannot be asked for is the worst of both; what the first answer
    must bring is not known yet.

    Raises:
        MissingReference, InvalidArguments: an argument is not there or cannot stand in a URL.
        EgressRefused: the address is not of the origin that the tool calls.
    """
    polling = tool.polling
    if polling is None or isinstance(polling.status, Reference):
        return
    origin, _ = base_of(tool, definition)
    if polling.origin is not None and polling.origin != origin:
        raise EgressRefused(
            f"{tool.name} was not called: its statusUrl is on {polling.origin}; the call goes to "
            f"{origin}. The credential is never sent elsewhere."
        )
    scope = Scope(
        tool=tool.name, input=arguments.values, named=reachable(tool, arguments), response={}
    )
    texts = [*polling.status.segments, *([polling.status.query] if polling.status.query else [])]
    for text in texts:
        for reference in text.references:
            if reference.root == "args":
                path_segment(scope, _alone(text, reference))


def _alone(text: Text, reference: Reference) -> Text:
    """One reference with a letter beside it: judged as a value, not as a whole segment."""
    return text if text.whole is not None else Text(("x", reference))


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

    It carries what the first call carried: the same credential, and the author's own headers,
    because on a ``url`` target they are the credential.

    Raises:
        ResponseInvalid: the first answer has not what ``statusUrl`` needs, or no address there.
        EgressRefused: it gave an address of another origin; nothing is sent there.
    """
    polling = tool.polling
    if polling is None:
        msg = f"{tool.name} is not polled"
        raise TypeError(msg)
    scope = Scope(
        tool=tool.name,
        input=arguments.values,
        named=reachable(tool, arguments),
        response=first.value if first.kind == "json" else MISSING,
        env_names=env_names,
    )
    url: Frozen
    try:
        if isinstance(polling.status, Reference):
            url = _given_url(tool, scope, polling.status, request)
        else:
            _, base_path = base_of(tool, definition)
            below = base_path if polling.relative else ""
            url = joined_url(scope, request.origin, below, polling.status, [])
            refuse_long_url(tool.name, url if isinstance(url, str) else url.shown)
    except (MissingReference, InvalidArguments) as error:
        raise _unusable(tool, error) from None
    headers = tuple(pair for pair in request.headers if pair[0].lower() != "content-type")
    shown_headers = request.shown.headers
    return FrozenRequest(
        app=request.app,
        version=request.version,
        tool=tool.name,
        method="GET",
        origin=request.origin,
        url=url,
        headers=headers,
        has_body=False,
        body=MISSING,
        form=False,
        shown=Shown(
            url=url if isinstance(url, str) else url.shown,
            headers={name: shown_headers[name] for name, _ in headers},
            body=None,
        ),
    )


def _unusable(tool: Tool, error: CallError) -> ResponseInvalid:
    """The arguments were looked at before: what is wrong now came with the first answer."""
    why = error.message.partition("was not called: ")[2].partition(". Give it")[0].rstrip(".")
    return ResponseInvalid(
        f"{tool.name}: the app's first answer cannot be followed to the status of the job: {why}. "
        "The app's developers must correct the answer, or the definition its statusUrl.",
        details=error.details,
        sent=True,
    )


def _given_url(tool: Tool, scope: Scope, reference: Reference, request: FrozenRequest) -> str:
    """The address that the first answer gave, held to the origin of the first call."""
    value = scope.find(reference)
    if value is MISSING or value is None:
        raise scope.missing(reference)
    text = value if isinstance(value, str) else ""
    if text.startswith("/") and not text.startswith("//"):
        text = f"{request.origin}{text}"
    try:
        url = parse_url(text)
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
    return url.text
