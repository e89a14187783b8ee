"""``If-Match``: a change says which state it was made from (contract section 10, RFC 9110)."""

from __future__ import annotations

from remit.errors import PreconditionFailed, PreconditionRequired


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
        PreconditionRequired: there is no ``If-Match``.
        PreconditionFailed: it names another state. Weak tags match none (RFC 9110, 13.1.1).
    """
    if if_match is None:
        raise PreconditionRequired(
            f"{subject} is changed only from a state that you have seen. Read it, and send its "
            "ETag as If-Match."
        )
    tags = [tag.strip() for tag in if_match.split(",")]
    if etag_of(revision) not in tags and tags != ["*"]:
        raise stale(subject, revision)


def stale(subject: str, revision: int) -> PreconditionFailed:
    """Somebody else was faster."""
    return PreconditionFailed(
        f"{subject} was changed since you read it; its ETag is {etag_of(revision)} now. Read it "
        "again, and make the change there."
    )
