"""A call at rest, as a row that any process can take up again (architecture, section 3)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from msgspec import structs

from remit.calls.planning import digest_of
from remit.catalog.definitions import surroundings_of
from remit.errors import Denied, NotApproved
from remit.gateway.freezing import Unreadable, decode, encode, secrets_with
from remit.gateway.journal import asked, requested
from remit.gateway.keeping import Place, Sealed
from remit.gateway.permitting import Case
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from remit.calls.planning import FrozenRequest
    from remit.gateway.apps import App
    from remit.gateway.freezing import FrozenCall
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import AppInForce, Node
    from remit.values.json import JsonObject

# A kept call begins with a brace; one that may hold a secret is sealed first, in pieces of what is
# sealed at once at most (its text is ASCII).
_SEALED = "sealed:"
_PIECE = 64 * 1024
#: What the record says of the call itself; what it does not say is not so.
_OF_THE_CALL = frozenset(
    {
        "id", "workspace", "user", "app", "version", "tool", "source", "args", "argOrigins",
        "refusedPins", "repaired", "request", "connectionId", "account",
    }
)  # fmt: skip


async def private_of(node: Node, case: Case, *, whole: bool = True) -> str:
    """What the row holds so that the call can go on; sealed where it may hold a secret.

    Args:
        node: seals.
        case: the call.
        whole: see ``freezing.encode``.

    Raises:
        VaultFault: there is no key to seal it with.
        StoreUnavailable: it has to be sealed, and the store does not give the key.
    """
    return await sealed_of(node, case, encode(case.frozen, whole=whole))


async def sealed_of(node: Node, case: Case, text: str) -> str:
    """What the row holds of a call that was encoded as ``text``; raises as ``private_of``."""
    if not holds_secrets(case):
        return text
    return await sealed_text(
        node, text, workspace=case.workspace, app=case.app, user=case.user, call=case.call_id
    )


def holds_secrets(case: Case) -> bool:
    """Whether an argument may be secret; a pin that the tool does not declare may be another's.

    A poll is made of an answer, which may tell the credential that it was called with.
    """
    frozen = case.frozen
    return (
        case.tool.parameters.secrets is not None
        or bool(frozen.arguments.undeclared_pins)
        or bool(frozen.hides)
        or frozen.poll is not None
    )


async def sealed_text(
    node: Node, text: str, *, workspace: str, app: str, user: str, call: str
) -> str:
    """What a call's row keeps, sealed to it; raises as ``private_of``."""
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    sealed: list[str] = []
    for number, piece in enumerate(pieces):
        place = _place(workspace, app, user, call, _which(number, len(pieces)))
        sealed.append((await node.keeper.seal(place, Secret(piece))).text)
    return _SEALED + " ".join(sealed)


async def opened_text(node: Node, row: CallRow) -> str:
    """What a call's row keeps, opened where it is sealed.

    Raises:
        VaultFault: it cannot be opened.
    """
    text = row.private or ""
    if text.startswith(_SEALED):
        return await _opened(node, row, text.removeprefix(_SEALED).split(" "))
    return text


async def restored(node: Node, row: CallRow, found: AppInForce) -> Case:
    """The call of a row, in the version that is in force now.

    Raises:
        NotApproved: that version does not carry it.
        Denied: it is not what was frozen.
        VaultFault: its arguments cannot be opened.
    """
    frozen = await _frozen(node, row, found)
    return Case(
        workspace=row.workspace,
        call_id=row.id,
        app=row.app,
        user=row.user,
        source=row.source,
        record=record_of(row),
        frozen=frozen,
    )


def record_of(row: CallRow) -> JsonObject:
    """The record of a row, as far as it is written; whose it is, the row says itself."""
    return {
        **cast("JsonObject", json.loads(row.record_json)),
        "id": row.id,
        "workspace": row.workspace,
        "user": row.user,
        "app": row.app,
        "version": row.version,
        "tool": row.tool,
        "source": row.source,
    }


def as_frozen(case: Case, app: App) -> JsonObject:
    """The record with what it says of the call made anew from what was frozen.

    What was kept of a call is held to its digests; the record beside it is not.

    Args:
        case: as ``restored`` gives it.
        app: what it goes out with; what it brings is masked as it was at first.
    """
    frozen = case.frozen
    secrets = secrets_with(frozen, app.catalog)
    # No credential was there when it was masked at first.
    masker = structs.replace(app, credential=None, identity=None).masker(secrets)
    said: JsonObject = {
        "id": case.call_id,
        "workspace": case.workspace,
        "user": case.user,
        "app": case.app,
        "version": frozen.request.version,
        "tool": case.tool.name,
        "source": case.source,
        **asked(case.tool, frozen.arguments, masker),
        "request": requested(frozen.request, masker),
    }
    if frozen.connection_id is not None:
        said["connectionId"] = frozen.connection_id
    if frozen.account is not None:
        said["account"] = frozen.account
    return {name: kept for name, kept in case.record.items() if name not in _OF_THE_CALL} | said


async def _frozen(node: Node, row: CallRow, found: AppInForce) -> FrozenCall:
    text = await opened_text(node, row)
    around = surroundings_of(found.definition, brand=node.terms.brand)
    try:
        frozen = decode(text, around, found.catalog.tool(row.tool))
        _refuse_changed(row, frozen)
        return frozen
    except Unreadable as error:
        raise NotApproved(
            f"{row.tool} was not called: {error}. Call again, so that the request is made anew."
        ) from None


async def _opened(node: Node, row: CallRow, sealed: list[str]) -> str:
    text = ""
    for number, piece in enumerate(sealed):
        which = _which(number, len(sealed))
        place = _place(row.workspace, row.app, row.user, row.id, which)
        text += (await node.keeper.open(place, Sealed(piece))).reveal()
    return text


def _refuse_changed(row: CallRow, frozen: FrozenCall) -> None:
    """Hold what was kept to its digest: what is sent is what was frozen, and nothing else.

    A poll is made of an answer and has no digest; it goes where the call went, and reads.

    Raises:
        Denied: it is another request than the digest is of.
    """
    request, poll = frozen.request, frozen.poll
    if (
        digest_of(request) != request.digest
        or not _is_of(request, row)
        or (
            poll is not None
            and not (_is_of(poll, row) and poll.origin == request.origin and poll.method == "GET")
        )
    ):
        raise Denied(
            f"{row.tool} was not called: its stored request is not the one that was frozen. "
            "Somebody changed it in the store. Call again."
        )


def _is_of(request: FrozenRequest, row: CallRow) -> bool:
    """Whether a request is one of the call of a row, and goes where it says."""
    there = str(request.origin)
    url = request.url if isinstance(request.url, str) else request.url.shown
    whose = (request.app, request.tool, request.version)
    return whose == (row.app, row.tool, row.version) and url.startswith((f"{there}/", f"{there}?"))


def kept_digest(private: str) -> str:
    """The digest of what a row keeps, for the input that was shown beside it."""
    return sha256(private.encode()).hexdigest()


def _place(workspace: str, app: str, user: str, call: str, which: tuple[str, ...]) -> Place:
    return Place(workspace=workspace, app=app, user=user, field=("call", call, *which))


def _which(number: int, count: int) -> tuple[str, ...]:
    """Which piece of how many, where there are several: none can be left out or moved."""
    return () if count == 1 else (str(number), str(count))
