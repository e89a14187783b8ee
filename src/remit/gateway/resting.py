"""A call at rest, as a row that any process can take up again (architecture, section 3)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from remit.calls.planning import digest_of
from remit.catalog.definitions import surroundings_of
from remit.errors import Denied, InvalidArguments, NotApproved, WrongUse
from remit.gateway.freezing import Unreadable, decode, encode
from remit.gateway.keeping import Place, Sealed
from remit.gateway.permitting import Case
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from remit.gateway.freezing import FrozenCall
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import AppInForce, Node
    from remit.values.json import JsonObject

# A kept call begins with a brace; one with secret arguments is sealed first.
_SEALED = "sealed:"


async def private_of(node: Node, case: Case, *, whole: bool = True) -> str:
    """What the row holds so that the call can go on; sealed where an argument is secret.

    Args:
        node: seals.
        case: the call.
        whole: see ``freezing.encode``.

    Raises:
        InvalidArguments: its secret arguments are too large to be sealed.
        VaultFault: there is no key to seal them with.
    """
    text = encode(case.frozen, whole=whole)
    if case.tool.parameters.secrets is None:
        return text
    try:
        sealed = await node.keeper.seal(
            _place(case.workspace, case.app, case.user, case.call_id), Secret(text)
        )
    except WrongUse:
        raise InvalidArguments(
            f"{case.tool.name} was not called: arguments that hold a secret may have 64 KiB "
            "where the call has to wait. Send less at once."
        ) from None
    return _SEALED + sealed.text


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
    """The record of a row, as far as it is written."""
    return cast("JsonObject", json.loads(row.record_json))


async def _frozen(node: Node, row: CallRow, found: AppInForce) -> FrozenCall:
    text = row.private or ""
    if text.startswith(_SEALED):
        place = _place(row.workspace, row.app, row.user, row.id)
        opened = await node.keeper.open(place, Sealed(text.removeprefix(_SEALED)))
        text = opened.reveal()
    definition = found.definition
    around = surroundings_of(
        definition.auth,
        dict(definition.components),
        definition.base_url,
        brand=node.terms.brand,
    )
    try:
        frozen = decode(text, around, found.catalog.tool(row.tool))
        _refuse_changed(row, frozen)
        return frozen
    except Unreadable as error:
        raise NotApproved(
            f"{row.tool} was not called: {error}. Call again, so that the request is made anew."
        ) from None


def _refuse_changed(row: CallRow, frozen: FrozenCall) -> None:
    """Hold what was kept to its digest: what is sent is what was frozen, and nothing else.

    Raises:
        Denied: it is another request than the digest is of.
    """
    request = frozen.request
    whose = (request.app, request.tool, request.version)
    there = str(request.origin)
    url = request.url if isinstance(request.url, str) else request.url.shown
    if (
        digest_of(request) != request.digest
        or whose != (row.app, row.tool, row.version)
        or not url.startswith((f"{there}/", f"{there}?"))
    ):
        raise Denied(
            f"{row.tool} was not called: its stored request is not the one that was frozen. "
            "Somebody changed it in the store. Call again."
        )


def kept_digest(private: str) -> str:
    """The digest of what a row keeps, for the input that was shown beside it."""
    return sha256(private.encode()).hexdigest()


def _place(workspace: str, app: str, user: str, call: str) -> Place:
    return Place(workspace=workspace, app=app, user=user, field=("call", call))
