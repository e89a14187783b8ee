"""How a call ends without its result: refused before it was sent, or after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors.base import RemitError

if TYPE_CHECKING:
    from collections.abc import Mapping


class CallError(RemitError):
    """A call ended without its result.

    Args:
        message: for a person: what went wrong, where, what to do.
        details: further facts, JSON values, or None.
        sent: whether the first byte of the request went out (contract section 5, unknown
            outcomes); the surface makes ``mayHaveHappened`` of it and of the tool's category.

    Attributes:
        started: the app had said yes to the call itself, and what failed came after it: the
            status of the job it started could not be read.
    """

    def __init__(
        self, message: str, *, details: Mapping[str, object] | None = None, sent: bool = False
    ) -> None:
        super().__init__(message)
        self.details = details
        self.sent = sent
        self.started = False


class UnknownTool(CallError):
    """The effective catalog has no tool of that name."""

    code = "unknown_tool"
    status = 404
    fault = "caller"


class InvalidArguments(CallError):
    """The arguments break the tool's schema or cannot stand where the request needs them."""

    code = "invalid_arguments"
    status = 422
    fault = "caller"


class InvalidPin(CallError):
    """A pinned value breaks the tool's schema: the fault of who made the session."""

    code = "invalid_pin"
    status = 422
    fault = "operator"


class MissingReference(CallError):
    """The request refers to a value that is not there."""

    code = "missing_reference"
    status = 422
    fault = "caller"


class Denied(CallError):
    """A person or a policy refused the call; nothing was sent."""

    code = "denied"
    status = 403
    fault = "caller"


class OverCeiling(CallError):
    """The tool is above the category or danger level that the app was approved for."""

    code = "over_ceiling"
    status = 403
    fault = "author"


class NotConnected(CallError):
    """There is no usable credential for the app."""

    code = "not_connected"
    status = 409
    fault = "caller"


class ConsentRequired(CallError):
    """The user has not consented to the version of the app that is in force."""

    code = "consent_required"
    status = 403
    fault = "caller"


class NotApproved(CallError):
    """No version of the app is approved, or the approved one does not carry this call."""

    code = "not_approved"
    status = 403
    fault = "operator"


class AppSuspended(CallError):
    """The app is suspended: no call starts, and none that waited goes on."""

    code = "app_suspended"
    status = 403
    fault = "operator"


class RateLimited(CallError):
    """A limit of the policy in force is used up."""

    code = "rate_limited"
    status = 429
    fault = "caller"


class Expired(CallError):
    """Nobody answered before the input's time was over; nothing was sent."""

    code = "expired"
    status = 409
    fault = "caller"


class Skipped(CallError):
    """The person skipped what the app asked for, and the agent goes on without it."""

    code = "skipped"
    status = 409
    fault = "caller"


class ClientUnavailable(CallError):
    """No client is attached that could execute the tool."""

    code = "client_unavailable"
    status = 409
    fault = "caller"


class EgressRefused(CallError):
    """The egress guard refused the destination; nothing was sent to it."""

    code = "egress_refused"
    status = 502
    fault = "author"


class UpstreamError(CallError):
    """The app answered with a status that is not 2xx.

    ``details`` is ``{status, code?, message?, body?}`` (contract section 5, step 9).
    """

    code = "upstream_error"
    status = 502
    fault = "upstream"


class UpstreamTimeout(CallError):
    """The app did not answer in time."""

    code = "upstream_timeout"
    status = 504
    fault = "upstream"


class UpstreamUnreachable(CallError):
    """No connection to the app could be made, or it broke before the answer was read."""

    code = "upstream_unreachable"
    status = 502
    fault = "upstream"


class ResponseTooLarge(CallError):
    """The answer is larger than its cap, decompressed."""

    code = "response_too_large"
    status = 502
    fault = "upstream"


class ResponseInvalid(CallError):
    """The answer is not what the tool promises: broken JSON, say, or text where fields are mapped.

    Of a handler of an app: no content, or an action card that cannot be shown.
    """

    code = "response_invalid"
    status = 502
    fault = "upstream"


class ClientError(CallError):
    """The tool threw an error in the user's client."""

    code = "client_error"
    status = 502
    fault = "upstream"


class UnserializableResult(CallError):
    """The tool ran in the user's client, and what it gave back is no plain JSON.

    The action may have happened.
    """

    code = "unserializable_result"
    status = 502
    fault = "upstream"


class PollFailed(CallError):
    """The job that the call started reported its failure."""

    code = "poll_failed"
    status = 502
    fault = "upstream"


class PollExhausted(CallError):
    """The job was still running at the last poll; it may still finish."""

    code = "poll_exhausted"
    status = 504
    fault = "upstream"


class Cancelled(CallError):
    """The caller stopped the call."""

    code = "cancelled"
    status = 409
    fault = "caller"


class OutcomeUnknown(CallError):
    """The server stopped between sending and reading: the action may already have happened."""

    code = "outcome_unknown"
    status = 502
    fault = "us"
