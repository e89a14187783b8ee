"""The approval that a call waits for, made ready to be written down with it (section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from remit.calls.cards import approval_card
from remit.gateway.asking import Planned, input_row
from remit.gateway.previewing import previewed
from remit.gateway.resting import kept_digest, private_of
from remit.gateway.steps import hidden_pins

if TYPE_CHECKING:
    from remit.gateway.node import AppInForce, Node
    from remit.gateway.permitting import Case
    from remit.policy.decisions import Ask
    from remit.values.json import JsonObject
    from remit.values.secrets import Masker


async def approval_of(
    node: Node, case: Case, found: AppInForce, ask: Ask, *, pins: JsonObject, masker: Masker
) -> Planned:
    """The approval that a call waits for.

    Raises:
        EgressRefused: the request would be refused on its way out.
        VaultFault, StoreUnavailable: as ``resting.private_of``.
    """
    # A yes to what the guard will refuse would be wasted.
    await node.egress.admit(case.frozen.request.origin)
    preview, failed = await previewed(node, case, found, pins, masker)
    card = approval_card(
        case.tool,
        hidden_pins(case.frozen.arguments),
        case.frozen.request,
        reason=ask.reason,
        preview=preview,
        preview_failure=failed,
        account=case.frozen.account,
    )
    now = node.wall.unix_ms()
    input_id = node.fresh.fresh_id("inp")
    case = structs.replace(case, record={**case.record, "inputId": input_id})
    private = await private_of(node, case)
    waits = input_row(
        case,
        card,
        ask,
        input_id=input_id,
        kept_as=kept_digest(private),
        at=now,
        expires_at=now + node.terms.input_ttl_ms,
    )
    return Planned(case=case, input=waits, private=private)
