"""RFC 9457 problem documents, by look-up from the error tree (contract section 10)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from remit.documents.canonical import compact_json
from remit.errors import (
    CallError,
    ClaimRefused,
    InvalidDefinition,
    RateLimited,
    RemitError,
    Unauthorized,
)
from remit.gateway.announcements import InvalidAnnouncement
from remit.gateway.ruling import InvalidPolicy
from remit.web.answers import Answer
from remit.web.refusals import Busy, StillRunning

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA = "application/problem+json"
#: Limits by day and by run end no sooner; a caller need not ask more often.
RETRY_AFTER_S = {RateLimited: 60, Busy: 1, StillRunning: 1}
_WITH_MISTAKES = (InvalidDefinition, InvalidPolicy, InvalidAnnouncement)
_SERVER_FAULT = 500


def problem(
    error: RemitError, request_id: str, *, more: Mapping[str, object] | None = None
) -> Answer:
    """The problem document of an error.

    Args:
        error: owns its code, its status and its words, which name no secret.
        request_id: by which the operator finds the request.
        more: further members: the id of a call that was recorded, the input as it stands.
    """
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": _title(error.status),
        "status": error.status,
        "code": error.code,
        "detail": error.message,
        "requestId": request_id,
    }
    document.update(more or {})
    if isinstance(error, CallError) and error.details:
        document["details"] = dict(error.details)
    if isinstance(error, _WITH_MISTAKES) and error.mistakes:
        document["findings"] = [finding(mistake) for mistake in error.mistakes]
    return Answer(
        status=error.status,
        body=compact_json(document).encode(),
        media=MEDIA,
        headers=_headers(error),
    )


def internal(request_id: str) -> Answer:
    """The problem document of a fault of ours; what it was is in the server's log alone."""
    return problem(
        RemitError(
            "Remit met a fault of its own. Give the operator this request's id: the log says more."
        ),
        request_id,
    )


def finding(mistake: object) -> dict[str, object]:
    """A mistake of a document as the API lists it (contract section 13, ``lint``)."""
    names = ("rule", "level", "tool", "pointer", "message", "mend", "line", "column")
    found = {name: getattr(mistake, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _title(status: int) -> str:
    return HTTPStatus(status).phrase


def _headers(error: RemitError) -> Mapping[str, str]:
    if isinstance(error, Unauthorized):
        return {"www-authenticate": "Bearer"}
    if isinstance(error, ClaimRefused) and error.retry_after_ms is not None:
        return {"retry-after": str(-(-error.retry_after_ms // 1000))}
    wait_s = RETRY_AFTER_S.get(type(error))  # pyright: ignore[reportArgumentType] -- any class
    if wait_s is None and error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        wait_s = 1
    return {} if wait_s is None else {"retry-after": str(wait_s)}
