"""A conversation with tabs: what clients of a session do, in a few words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from remit.gateway.acting import Actor
from remit.gateway.announcing import Announcement, Lease, announce, detach
from remit.gateway.claiming import Claimed, ClientFault, Result, claim, result
from remit.gateway.clients import ClientCallRow
from tests.gateway.conversations import Conversation

Json = dict[str, Any]

OPEN: Json = {
    "name": "open_order",
    "description": "Opens an order for the user.",
    "parameters": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    },
}
READ: Json = {**OPEN, "name": "read_page", "category": "read", "dangerLevel": "safe"}
SAFE: Json = {**OPEN, "name": "scroll", "idempotent": True}
CARD: Json = {
    "name": "orderCard",
    "description": "Shows an order.",
    "parameters": OPEN["parameters"],
}


def tools(*records: Json, widgets: tuple[Json, ...] = (), **more: Any) -> Announcement:  # noqa: ANN401 -- its fields
    """An announcement."""
    return Announcement(tools=records, widgets=widgets, **more)


@dataclass
class Tab:
    """One client of a session.

    Attributes:
        has: what it announces.
    """

    talk: Conversation
    name: str
    has: Announcement = field(default_factory=lambda: tools(OPEN))

    @property
    def actor(self) -> Actor:
        """Whoever holds its token."""
        return Actor(
            key_id="tok_1",
            role="client",
            workspace="acme",
            user="ana",
            session=self.talk.id,
            device="dev_1",
        )

    async def announce(self, has: Announcement | None = None) -> Lease:
        """Announce, or send the heartbeat."""
        self.has = has or self.has
        return await announce(self.talk.talks, self.actor, self.talk.id, self.name, self.has)

    async def detach(self) -> None:
        """Go."""
        await detach(self.talk.talks, self.actor, self.talk.id, self.name)

    async def claim(self, call: str) -> Claimed:
        """Take a call."""
        return await claim(self.talk.talks, self.actor, self.talk.id, call, self.name)

    async def post(self, call: str, held: Claimed | str, value: Any = None) -> None:  # noqa: ANN401 -- any JSON
        """Post a result."""
        key = held if isinstance(held, str) else held.claim
        await self._post(call, Result(claim=key, value=value))

    async def fail(self, call: str, held: Claimed, fault: ClientFault) -> None:
        """Post an error."""
        await self._post(call, Result(claim=held.claim, error=fault))

    async def _post(self, call: str, given: Result) -> None:
        await result(self.talk.talks, self.actor, self.talk.id, call, given)


async def asked(talk: Conversation, number: int = -1) -> str:
    """The id of a call that the log asks clients for; the last one."""
    return (await talk.data("client_tool_call"))[number]["callId"]


async def held(talk: Conversation, call: str) -> ClientCallRow:
    """A call as its client's row has it."""
    row = await talk.talks.clients.call("acme", talk.id, call)
    assert row is not None
    return row


async def told(talk: Conversation, call: str) -> Json:
    """The one result that the log has of a call."""
    (found,) = [one for one in await talk.data("tool_result") if one["callId"] == call]
    return found


def error(told_result: Json) -> Json:
    """The error in what the model reads."""
    return json.loads(told_result["content"])["error"]
