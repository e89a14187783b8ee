"""What HTTP itself refuses, before a use case is asked; branches of the one error tree."""

from __future__ import annotations

from remit.errors import RemitError


class MalformedBody(RemitError):
    """The body is no strict JSON (or YAML, where that may be posted)."""

    code = "malformed_body"
    status = 400
    fault = "caller"


class NoSuchRoute(RemitError):
    """There is no route of that path."""

    code = "not_found"
    status = 404
    fault = "caller"


class MethodNotAllowed(RemitError):
    """The path is there, and does not take this method."""

    code = "method_not_allowed"
    status = 405
    fault = "caller"


class BodyTooLarge(RemitError):
    """The body has more bytes than the route takes."""

    code = "body_too_large"
    status = 413
    fault = "caller"


class UnsupportedMedia(RemitError):
    """The body is of a type that the route does not take."""

    code = "unsupported_media_type"
    status = 415
    fault = "caller"


class Misdirected(RemitError):
    """The request names a host that this server does not answer for."""

    code = "misdirected_request"
    status = 421
    fault = "caller"


class KeyReused(RemitError):
    """The ``Idempotency-Key`` was used before with another body."""

    code = "idempotency_key_reused"
    status = 422
    fault = "caller"


class StillRunning(RemitError):
    """The first request with this ``Idempotency-Key`` still runs."""

    code = "idempotency_in_progress"
    status = 409
    fault = "caller"


class Busy(RemitError):
    """Too many requests of this key are under way."""

    code = "rate_limited"
    status = 429
    fault = "caller"


class AnsweredBefore(RemitError):
    """Another answer decided on the input before."""

    code = "already_answered"
    status = 409
    fault = "caller"


class VaultUnavailable(RemitError):
    """What is sealed cannot be opened, or nothing can be sealed: the vault has no usable key."""

    code = "vault_unavailable"
    status = 503
    fault = "operator"
