"""Calls that wait until their user has connected the app (contract sections 7 and 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import structs

from remit.documents.canonical import compact_json
from remit.errors import Denied
from remit.gateway.asking import Planned, asks
from remit.gateway.ledger import CallChange, InputRow
from remit.gateway.resting import kept_digest, private_of
from remit.policy.decisions import Ask
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.gateway.ledger import CallStatus
    from remit.gateway.node import Node
    from remit.gateway.permitting import Case
    from remit.values.json import JsonObject

#: Credentials that a user brings; the others are made for each call, or are none.
_BROUGHT = frozenset({"bearer", "basic", "apiKey", "oauth2"})


def connectable(definition: Definition) -> bool:
    """Whether the user can do something about a credential that is missing."""
    return definition.auth.type in _BROUGHT


def unconnected(waits: InputRow, note: str, *, tried: bool) -> Denied:
    """What the agent is told of a user who would not connect the app.

    Args:
        waits: denied.
        note: the user's.
        tried: whether it was sent before, and the app refused the credential.
    """
    so_far = "The app refused the credential and did nothing." if tried else "Nothing was sent."
    said = f' They said: "{note}".' if note else ""
    return Denied(
        f"{waits.tool} was not called: the user did not connect {waits.app}. {so_far}{said}",
        details={"note": note} if note else None,
    )


async def connect_input_of(node: Node, case: Case, app_name: str, why: str) -> Planned:
    """The input of a call that waits until its user has connected the app.

    Args:
        node: where it is made.
        case: the call; which account it goes out as is seen once there is one.
        app_name: for people.
        why: the message of the error that the call would have ended with.

    Raises:
        VaultFault, StoreUnavailable: as ``resting.private_of``.
    """
    now = node.wall.unix_ms()
    input_id = node.fresh.fresh_id("inp")
    frozen = structs.replace(case.frozen, connection_id=None, account=None)
    record = {**case.record, "inputId": input_id}
    case = structs.replace(case, frozen=frozen, record=record, yes=None)
    private = await private_of(node, case)
    title = f"Connect {' '.join(visible(app_name).split())}"
    body: JsonObject = {
        "title": title,
        "titleParts": [{"text": title, "inserted": False}],
        "line": {
            "act": "CONNECTS",
            "danger": "the agent acts in the app as you",
            "host": frozen.request.origin.authority,
        },
        "verb": "Connect",
        "args": record.get("args", {}),
        "request": record["request"],
        **asks(Ask(reason=why), kept_digest(private)),
    }
    waits = InputRow(
        workspace=case.workspace,
        id=input_id,
        call=case.call_id,
        kind="connect",
        app=case.app,
        tool=case.tool.name,
        user=case.user,
        by="user",
        digest=frozen.request.digest,
        body_json=compact_json(body),
        created_at=now,
        expires_at=now + node.terms.input_ttl_ms,
        session=cast("str | None", record.get("sessionId")),
    )
    return Planned(case=case, input=waits, private=private)


async def let_wait(node: Node, planned: Planned, *, was: CallStatus) -> bool:
    """Let a call wait for its next input; False where it is not what it was any more."""
    case = planned.case
    change = CallChange(
        status="await_input",
        at=node.wall.unix_ms(),
        rests=True,
        record_json=compact_json(case.record),
        private=planned.private,
    )
    return await node.inputs.open(case.workspace, planned.input, was=was, change=change)
