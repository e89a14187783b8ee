"""May a client execute this call: judged as it is made, after an approval, and at the claim.

The rules are those of any call (contract sections 5 and 18). An app's tool stands under its app: in
force, within the ceiling, consented. A tool that a client announced stands under the session's
``clientCeiling`` and the policy alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.planning import reachable
from remit.documents.canonical import compact_json
from remit.errors import (
    CallError,
    Cancelled,
    ConsentRequired,
    Denied,
    NotConnected,
    NotFound,
    OverCeiling,
    UnknownTool,
)
from remit.gateway.asking import kept_as, yes_of
from remit.gateway.client_kept import kept_of
from remit.gateway.ending import end, failure
from remit.gateway.journal import ruled
from remit.gateway.keeping import VaultFault
from remit.gateway.ledger import CallChange
from remit.gateway.permitting import standing, stricter
from remit.gateway.resting import kept_digest
from remit.gateway.steps import denial
from remit.policy.decisions import Ask, Deny, may_answer
from remit.policy.verdicts import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.model import Tool
    from remit.gateway.client_kept import Kept
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow, InputRow
    from remit.gateway.node import AppInForce, Node
    from remit.gateway.permitting import Yes
    from remit.policy.limits import Limits
    from remit.policy.verdicts import Ruling
    from remit.values.json import JsonObject


class Judged(Struct, frozen=True, kw_only=True):
    """What the rules say of a call now; ``found`` is the app whose tool it is."""

    ruling: Ruling
    limits: Limits
    found: AppInForce | None


async def judge(node: Node, workspace: str, user: str, kept: Kept) -> Judged:
    """Judge a call by what is in force now.

    Raises:
        CallError: it may not run, whatever the rules say: its app is suspended, say.
    """
    tool, found, ceiling = kept.tool, None, kept.ceiling
    if kept.app:
        found = await _standing(node, workspace, user, kept)
        policy, ceiling = found.policy, found.definition.ceiling
        tool = stricter(tool, found.catalog.tool(tool.name))
    else:
        policy = await node.standing.policy(workspace)
    ruling = evaluate(
        policy,
        tool,
        app=kept.app,
        ceiling=ceiling,
        args=reachable(tool, kept.arguments),
        source=kept.source,
    )
    return Judged(ruling=ruling, limits=policy.limits, found=found)


async def require_permitted(
    node: Node, workspace: str, user: str, kept: Kept, yes: Yes | None
) -> Judged:
    """Judge a call again, with the yes that it has.

    Raises:
        CallError: it may not run now.
    """
    judged = await judge(node, workspace, user, kept)
    verdict, tool = judged.ruling.verdict, kept.tool
    if isinstance(verdict, Deny):
        raise denial(tool, verdict)
    if isinstance(verdict, Ask):
        if yes is None or yes.approval.digest != kept.digest:
            raise Denied(f"{tool.name} was not called: nobody approved it: {verdict.reason}.")
        if not may_answer(verdict, is_user=yes.is_user, is_operator=yes.is_operator):
            raise Denied(
                f"{tool.name} was not called: the policy in force wants another person's yes than "
                f"the one it has: {verdict.reason}. Call again."
            )
    return judged


def yes_among(inputs: Sequence[InputRow], kept: Kept) -> Yes | None:
    """The yes that a call of a client has: an approval, or the press of the button that made it."""
    pressed = kept.source == "button"
    # An approval of the call that the card came from is of another request.
    status = "answered" if pressed else "approved"
    given = [one for one in inputs if one.kind != "connect" and one.status == status]
    if not given:
        return None
    return yes_of(given[-1], kept.digest if pressed else None)


async def offer_approved(
    node: Node, row: CallRow, record: JsonObject, waits: InputRow, yes: Yes
) -> Ended | None:
    """Let an approved call wait for a client, if it still may run; None where it waits now.

    Args:
        node: which goes on with it.
        row: of the call, in ``await_input``.
        record: with the answer.
        waits: the input that was approved.
        yes: what was said.
    """
    try:
        if kept_digest(row.private or "") != kept_as(waits):
            raise Denied(
                f"{row.tool} was not called: what was kept of the call is not what was shown. "
                "Somebody changed it in the store. Call again."
            )
        kept = await opened(node, row)
        judged = await require_permitted(node, row.workspace, row.user, kept, yes)
    except CallError as error:
        return await end(node, row.workspace, failure(record, error, None), was="await_input")
    change = CallChange(
        status="await_client",
        at=node.wall.unix_ms(),
        rests=True,
        record_json=compact_json({**record, **ruled(judged.ruling.fired)}),
    )
    await node.calls.move(row.workspace, row.id, was="await_input", change=change)
    return None


async def opened(node: Node, row: CallRow) -> Kept:
    """What was kept of a call.

    Raises:
        NotApproved: this release cannot read it.
        NotConnected: its arguments cannot be opened.
    """
    try:
        return await kept_of(node, row)
    except VaultFault as error:
        raise NotConnected(f"{row.tool} was not called: {error.message}") from None


async def _standing(node: Node, workspace: str, user: str, kept: Kept) -> AppInForce:
    """The app as it stands now, if this user may use this tool of it."""
    tool = kept.tool
    try:
        found = await standing(node, workspace, kept.app)
    except NotFound as error:
        raise Cancelled(f"{tool.name} was not called: {error.message}") from None
    if found.catalog.tool(tool.name) is None:
        raise _missing(found, tool)
    missing = await node.consents.missing(workspace, found, user)
    if missing is not None:
        raise ConsentRequired(f"{tool.name} was not called: {missing}")
    return found


def _missing(found: AppInForce, tool: Tool) -> CallError:
    dropped = found.catalog.dropped_tool(tool.name)
    if dropped is None:
        return UnknownTool(f"{tool.name} was not called: the app does not offer it any more.")
    message = f"{tool.name} was not called: {dropped.reason}."
    return OverCeiling(message) if dropped.over_ceiling else UnknownTool(message)
