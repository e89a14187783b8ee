"""Putting a workspace's policy in force (contract section 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.mistakes import errors_of
from remit.documents.canonical import compact_json
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import InvalidRequest
from remit.gateway.acting import act
from remit.gateway.admitting import require
from remit.gateway.preconditions import require_match, stale
from remit.gateway.records import PolicyVersion, Stale
from remit.policy.reading import load_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.mistakes import Mistake
    from remit.gateway.acting import Actor, Books
    from remit.policy.rules import Policy
    from remit.values.json import JsonValue

SUBJECT = "The policy"
MAX_POLICY_BYTES = 4 * 1024 * 1024


class InvalidPolicy(InvalidRequest):
    """A document is no policy.

    Attributes:
        mistakes: what is wrong with it, all at once; each has ``pointer``, ``message``, ``mend``.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        listed = "\n".join(str(mistake) for mistake in mistakes)
        super().__init__(f"This is no policy. Nothing was changed.\n{listed}")
        self.mistakes = tuple(mistakes)


async def read_policy(books: Books, actor: Actor) -> PolicyVersion:
    """The policy in force; number 0 and an empty document where none was ever put."""
    found = await books.policies.current(actor.workspace)
    if found is not None:
        return found
    return PolicyVersion(workspace=actor.workspace, number=0, document_json="{}", at=0, by="system")


async def put_policy(
    books: Books, actor: Actor, document: JsonValue, *, if_match: str | None
) -> PolicyVersion:
    """Put a policy in force, on this node at once and on every other within 2 s.

    Where it makes catalogs wait for a review, or freezes them, what they are now is let in: new
    is what comes from here on.

    Raises:
        Forbidden: the actor is no operator.
        InvalidPolicy: the document is none; every mistake is said.
        PreconditionRequired, PreconditionFailed: see ``preconditions``.
    """
    require(actor, "operator")
    before = await read_policy(books, actor)
    require_match(if_match, before.number, SUBJECT)
    loaded = load_policy(document)
    if loaded.policy is None:
        raise InvalidPolicy(errors_of(loaded.mistakes))
    was = policy_of(before)
    if (was is None or was.catalog == "live") and loaded.policy.catalog != "live":
        await _let_in(books, actor)
    entry = act(
        books,
        actor,
        "policy.put",
        f"policy/{before.number + 1}",
        {"rules": len(loaded.policy.rules), "catalog": loaded.policy.catalog},
    )
    found = await books.policies.put(
        actor.workspace, compact_json(document), if_number=before.number, act=entry
    )
    books.bell.ring()
    if isinstance(found, Stale):
        raise stale(SUBJECT, found.revision)
    return found


def policy_of(kept: PolicyVersion) -> Policy | None:
    """A kept policy; None where this release cannot read it any more."""
    try:
        document = parse_json(kept.document_json, max_bytes=MAX_POLICY_BYTES)
    except DocumentError:
        return None
    return load_policy(document).policy  # pyright: ignore[reportArgumentType] -- decoded JSON


async def _let_in(books: Books, actor: Actor) -> None:
    """Let the last good catalog of every app in."""
    cursor: str | None = None
    while True:
        page = await books.apps.list(actor.workspace, limit=500, cursor=cursor)
        for app in page.items:
            source = await books.catalogs.source(actor.workspace, app.id)
            if source is not None:
                entry = act(
                    books, actor, "catalog.accepted", f"app/{app.id}", {"snapshot": source.digest}
                )
                await books.catalogs.accept(actor.workspace, app.id, source.digest, act=entry)
        cursor = page.next
        if cursor is None:
            return
