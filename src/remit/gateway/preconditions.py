"""``If-Match``: a change says which state it was made from (contract section 10, RFC 9110)."""

from __future__ import annotations

import re

from remit.errors import InvalidRequest, PreconditionFailed, PreconditionRequired

_NUMBER = re.compile(r"[0-9]{1,9}")
_TAG = re.compile(r'(?:W/)?"[^"]*"')
_TAGS = re.compile(rf"[\s,]*{_TAG.pattern}(?:\s*,[\s,]*{_TAG.pattern})*[\s,]*")


def etag_of(revision: int) -> str:
    """The ``ETag`` of a revision."""
    return f'"{revision}"'


def require_match(if_match: str | None, revision: int, subject: str) -> None:
    """Let a change through if it was made from this revision.

    Args:
        if_match: the header as it came: one entity tag or several, or ``*`` for any state.
        revision: the one that stands.
        subject: what is to be changed, as a message begins.

    Raises:
        InvalidRequest: it is no entity tag: one stands in double quotes.
        PreconditionRequired: there is no ``If-Match``.
        PreconditionFailed: it names another state. Weak tags match none (RFC 9110, 13.1.1).
    """
    if if_match is None:
        raise PreconditionRequired(
            f"{subject} is changed only from a state that you have seen. Read it, and send its "
            "ETag as If-Match."
        )
    if if_match.strip() == "*":
        return
    if _TAGS.fullmatch(if_match) is None:
        raise InvalidRequest(
            "The If-Match is no ETag: one stands in double quotes. Send it as it was given, quotes "
            f"included{_quoted(if_match.strip())}."
        )
    if etag_of(revision) not in _TAG.findall(if_match):
        raise stale(subject, revision)


def _quoted(bare: str) -> str:
    """What was sent, as it should have been, where that is plain."""
    return f": If-Match: {etag_of(int(bare))}" if _NUMBER.fullmatch(bare) else ""


def stale(subject: str, revision: int) -> PreconditionFailed:
    """Somebody else was faster."""
    return PreconditionFailed(
        f"{subject} was changed since you read it; its ETag is {etag_of(revision)} now. Read it "
        "again, and make the change there."
    )
