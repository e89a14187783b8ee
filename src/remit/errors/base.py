"""The root of the tree, and the errors of whoever asks, reviews and operates."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class SessionBusy(RemitError):
    """A run goes on in the session."""

    code = "session_running"
    status = 409
    fault = "caller"


class SessionWaiting(RemitError):
    """The session waits for a person or a client."""

    code = "session_waiting"
    status = 409
    fault = "caller"


class SessionClosed(RemitError):
    """The session is closed; its log can still be read."""

    code = "session_closed"
    status = 409
    fault = "caller"


class NoModel(RemitError):
    """No language model is set for the session, nor one for all."""

    code = "no_model"
    status = 409
    fault = "operator"


class ModelFailed(RemitError):
    """A language model gave no answer that can be used.

    Its text is for a person: never a key, never the provider's whole text.

    Attributes:
        passing: whether the same request may do better a little later.
        text: what had been said by then.
    """

    def __init__(self, message: str, *, passing: bool = False, text: str = "") -> None:
        super().__init__(message)
        self.passing = passing
        self.text = text


class ModelUnavailable(ModelFailed):
    """The model cannot be reached or used: its server, its key, its quota."""

    code = "model_unavailable"
    status = 502
    fault = "operator"


class ModelRefused(ModelFailed):
    """The model, or its provider, will not answer this request."""

    code = "model_refused"
    status = 502
    fault = "caller"


class ModelInvalid(ModelFailed):
    """The model answered with what is no answer."""

    code = "model_invalid"
    status = 502
    fault = "upstream"


class ClaimRefused(RemitError):
    """The client may not have this call: another has it, or is asked first.

    Attributes:
        retry_after_ms: when the same claim may do better; None where it will not.
    """

    code = "claim_refused"
    status = 409
    fault = "caller"

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class CallOver(RemitError):
    """The call has ended already, in another way; nothing was changed."""

    code = "call_over"
    status = 409
    fault = "caller"


class DeviceTaken(RemitError):
    """Another user of the workspace has a device of that id; nothing was changed."""

    code = "device_taken"
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
