"""Every error that Remit raises, in one tree.

    RemitError
    ├── WrongUse                 the command or setting was used wrongly (exit 2)
    ├── InvalidDefinition        a document of the author cannot be loaded; carries its mistakes
    ├── InvalidRequest           what was asked cannot be done as it was asked
    ├── Unauthorized             no key, or one that opens nothing
    ├── Forbidden                the key's role does not reach this
    ├── NotFound                 no such thing, or it belongs to another workspace
    ├── AlreadyDecided           a reviewer decided on this version before
    ├── StaleDigest              what was shown is not what stands there now
    ├── PreconditionFailed       somebody else changed it since it was read
    ├── PreconditionRequired     a change must say which state it was made from
    ├── StoreUnavailable         the database cannot be reached or written
    └── CallError                a call ended without its result
        ├── refused before anything was sent
        │   ├── UnknownTool          no tool of that name in the catalog
        │   ├── InvalidArguments     the arguments break the tool's schema
        │   ├── InvalidPin           a pin breaks the tool's schema
        │   ├── MissingReference     the request needs a value that is not there
        │   ├── Denied               a person or a policy said no
        │   ├── OverCeiling          the tool is above what the app was approved for
        │   ├── NotConnected         no usable credential
        │   ├── ConsentRequired      the user has not consented to the version in force
        │   ├── NotApproved          no version of the app is approved
        │   ├── AppSuspended         the app is suspended
        │   ├── RateLimited          a limit of the policy is used up
        │   ├── Expired              nobody answered in time
        │   ├── ClientUnavailable    no client that could execute it
        │   └── EgressRefused        the guard refused the address
        └── after the first byte may have gone out
            ├── UpstreamError        the app answered with an error status
            ├── UpstreamTimeout      the app did not answer in time
            ├── UpstreamUnreachable  no connection, or it broke
            ├── ResponseTooLarge     the answer is over its cap
            ├── ResponseInvalid      the answer is not what the tool promises
            ├── PollFailed           the job said that it failed
            ├── PollExhausted        the job was still running at the last poll
            ├── Cancelled            the caller stopped it
            └── OutcomeUnknown       the server stopped in between; nobody knows what happened

Each class owns its ``code`` (contract section 5), its HTTP ``status`` (contract section 10)
and whose ``fault`` it is. Surfaces look these up; they never test for classes one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Fault = Literal["caller", "author", "upstream", "operator", "us"]


class RemitError(Exception):
    """The root of the tree; its text is a message for a person."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    fault: ClassVar[Fault] = "us"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class WrongUse(RemitError):
    """The command, a flag or a setting was used in a way that cannot work."""

    code = "wrong_use"
    status = 400
    fault = "caller"


class InvalidDefinition(RemitError):
    """A document of the author cannot be loaded.

    Attributes:
        mistakes: what is wrong with it, all at once; each has ``pointer``, ``message``, ``mend``.
    """

    code = "invalid_definition"
    status = 422
    fault = "author"

    def __init__(self, message: str, *, mistakes: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.mistakes = tuple(mistakes)


class InvalidRequest(RemitError):
    """What was asked for cannot be done as it was asked; nothing was changed."""

    code = "invalid_request"
    status = 422
    fault = "caller"


class Unauthorized(RemitError):
    """There is no key in the request, or it is wrong, revoked or expired."""

    code = "unauthorized"
    status = 401
    fault = "caller"


class Forbidden(RemitError):
    """The key is good, and its role does not reach what was asked."""

    code = "forbidden"
    status = 403
    fault = "caller"


class NotFound(RemitError):
    """There is no such thing in the workspace; one of another workspace is answered the same."""

    code = "not_found"
    status = 404
    fault = "caller"


class AlreadyDecided(RemitError):
    """The version is not waiting for a decision any more."""

    code = "already_decided"
    status = 409
    fault = "caller"


class StaleDigest(RemitError):
    """The digest is not of what stands there now: something else was shown."""

    code = "stale_digest"
    status = 409
    fault = "caller"


class PreconditionFailed(RemitError):
    """It was changed since the state that ``If-Match`` names."""

    code = "precondition_failed"
    status = 412
    fault = "caller"


class PreconditionRequired(RemitError):
    """A change came without ``If-Match``, so that it could undo another one unseen."""

    code = "precondition_required"
    status = 428
    fault = "caller"


class StoreUnavailable(RemitError):
    """The database cannot be reached, or what was to be written could not be.

    Whether a write that met this was kept is not known: it may have failed at the commit.
    """

    code = "store_unavailable"
    status = 503
    fault = "operator"


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
    """The answer is not what the tool promises: broken JSON, or text where fields are mapped."""

    code = "response_invalid"
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
