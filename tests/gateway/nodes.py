"""A node that makes governed calls: the real store and vault, a scripted app, a clock of the test.

A second node on the same file is the server started anew after it died.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from remit.errors import CallError
from remit.gateway import governed
from remit.gateway.acting import Actor
from remit.gateway.awaiting import Waiting
from remit.gateway.connecting import GivenCredential, connect
from remit.gateway.consenting import grant
from remit.gateway.endings import Endings
from remit.gateway.governed import Called, Command
from remit.gateway.journal import Ended
from remit.gateway.ledger import CallRow, InputRow
from remit.gateway.node import Node, Terms
from remit.gateway.ports import Limits, WireRequest, WireResponse
from remit.gateway.ruling import put_policy
from remit.gateway.tasks import Tasks
from remit.gateway.working import Worker
from remit.values.json import JsonObject
from remit.values.secrets import Secret
from remit.vault.signing import Signer
from tests.catalog.documents import Json, endpoint_tool, parameters
from tests.gateway.fakes import CREDENTIAL, Notes, ScriptedEgress, answer
from tests.gateway.server import Server, Time, open_server, shop

BACKEND = Actor(key_id="k_back", role="backend", workspace="acme", name="shop")
OPERATOR = Actor(key_id="k_op", role="operator", workspace="acme", name="ops")

GET = endpoint_tool(
    "get_order",
    parameters=parameters("id", id="string"),
    endpoint={"method": "GET", "path": "/orders/{{args.id}}"},
    responseMapping={"total": "total"},
)
ADD = endpoint_tool(
    "add_order",
    category="write",
    dangerLevel="moderate",
    parameters=parameters("name", name="string", amount="integer"),
    endpoint={
        "method": "POST",
        "path": "/orders",
        "bodyTemplate": {"name": "{{args.name}}", "amount": "{{args.amount}}"},
    },
)
PUT = {
    **ADD,
    "name": "put_order",
    "idempotent": True,
    "endpoint": {**cast("Json", ADD["endpoint"]), "method": "PUT"},
}
REFUND = {
    **ADD,
    "name": "refund",
    "category": "action",
    "requiresApproval": True,
    "confirm": {
        "title": "Refund {{args.name}}, {{preview.total}} in all",
        "preview": {"tool": "get_order", "args": {"id": "{{args.name}}"}},
    },
}
JOB = {
    **ADD,
    "name": "render",
    "polling": {
        "statusUrl": "/jobs/{{response.id}}",
        "statusField": "status",
        "completeValue": "done",
        "failedValue": "broken",
        "resultMapping": {"url": "url"},
        "pollIntervalMs": 1_000,
        "maxPolls": 3,
    },
}
DEFINITION = shop(GET, ADD, PUT, REFUND, JOB)


@dataclass
class HeldEgress(ScriptedEgress):
    """An app that says nothing before it is let go: the bytes have left, no answer has come.

    Attributes:
        left: set once a request went out.
        go: the answers come once it is set.
    """

    left: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Record, wait, answer."""
        self.sent.append(request)
        self.left.set()
        await self.go.wait()
        self.sent.pop()
        return await super().send(request, limits)


@dataclass
class DeafEgress(HeldEgress):
    """An app whose first answer does not come before it is let go; the others come at once."""

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Record, and wait if it is the first."""
        first = not self.sent
        self.sent.append(request)
        self.left.set()
        if first:
            await self.go.wait()
        return answer({"total": 7})


@dataclass
class Stage:
    """One node and its app.

    Attributes:
        faults: what its tasks raised; a test that wants none looks here.
    """

    server: Server
    node: Node
    egress: ScriptedEgress
    worker: Worker
    faults: list[BaseException]

    @property
    def time(self) -> Time:
        """The clock."""
        return self.server.time

    async def call(self, tool: str, args: JsonObject | None = None, **more: object) -> Called:
        """Call a tool for ``ana`` by the back end's key."""
        fields = cast("Any", {"actor": BACKEND, "app": "acme", "user": "ana", **more})
        return await governed.call(self.node, Command(tool=tool, args=args or {}, **fields))

    async def ended(self, tool: str, args: JsonObject | None = None, **more: object) -> Ended:
        """Call a tool that ends at once."""
        found = await self.call(tool, args, **more)
        assert isinstance(found, Ended), found
        return found

    async def waiting(self, tool: str, args: JsonObject | None = None, **more: object) -> InputRow:
        """Call a tool that waits for a person; gives its input."""
        found = await self.call(tool, args, **more)
        assert isinstance(found, Waiting), found
        row = await self.server.store.inputs.get("acme", found.input_id)
        assert row is not None
        return row

    async def row(self, call: str) -> CallRow:
        """A call as the ledger has it."""
        row = await self.server.store.calls.get("acme", call)
        assert row is not None
        return row

    async def record(self, call: str) -> dict[str, Any]:
        """The record of a call."""
        return json.loads((await self.row(call)).record_json)

    async def settled(self) -> None:
        """Wait for all that the node has begun."""
        assert await self.node.tasks.drain(10)

    async def work(self) -> None:
        """One round of the worker, and all that it began."""
        await self.worker.round()
        await self.settled()

    async def policy(self, *rules: Json, **more: object) -> None:
        """Put a policy in force."""
        books = self.server.books
        current = await books.policies.current("acme")
        number = 0 if current is None else current.number
        document = cast("Any", {"rules": list(rules), **more})
        await put_policy(books, self.server.operator, document, if_match=f'"{number}"')

    async def connect(self, token: str = CREDENTIAL, account: str = "ana@acme") -> str:
        """Connect ``ana``; gives the connection's id."""
        given = GivenCredential(type="bearer", token=Secret(token), account=account)
        books, operator = self.server.books, self.server.operator
        return (await connect(books, operator, "acme", "ana", given)).id


@asynccontextmanager
async def open_stage(
    place: Path | str,
    *answers: WireResponse | CallError,
    name: str = "node-1",
    time: Time | None = None,
    egress: ScriptedEgress | None = None,
) -> AsyncIterator[Stage]:
    """A node on a store that has its schema; it has no app yet."""
    faults: list[BaseException] = []
    async with open_server(place, time=time) as server:
        app = egress or ScriptedEgress([])
        app.answers = list(answers) or [answer({"total": 5})]
        ids = cast("Any", server.books.fresh)
        store = server.store
        signer = Signer(
            issuer="https://remit.acme.example",
            keys=store.signing_keys,
            keeper=server.books.keeper,
        )
        node = Node(
            id=name,
            calls=store.calls,
            inputs=store.inputs,
            work=store.work,
            usage=store.usage,
            devices=store.devices,
            standing=server.standing,
            consents=server.consents,
            wallet=server.wallet,
            minter=signer,
            keeper=server.books.keeper,
            egress=app,
            clock=server.time,
            wall=server.time,
            fresh=ids,
            ids=ids,
            watcher=Notes(),
            tasks=Tasks(faults.append),
            endings=Endings(),
            alarm=asyncio.Event(),
            terms=Terms(version="0.1.0"),
        )

        async def now_ms() -> int:
            return server.time.unix_ms()

        worker = Worker(node, now_ms, alone=True, on_fault=faults.append)
        yield Stage(server=server, node=node, egress=app, worker=worker, faults=faults)
        await node.tasks.drain(5)


async def furnish(stage: Stage, document: Json | None = None) -> None:
    """The app approved, ``ana`` consenting and connected."""
    books, operator = stage.server.books, stage.server.operator
    await books.workspaces.make("acme", at=0)
    version = await stage.server.approved(document or DEFINITION)
    await grant(books, operator, version.app, "ana", version.number)
    await stage.connect()


def restarted(stage: Stage, name: str = "node-2") -> Stage:
    """The same store as a node that starts after the first one died: nothing of it is left."""
    node = replace(
        stage.node,
        id=name,
        tasks=Tasks(stage.faults.append),
        endings=Endings(),
        alarm=asyncio.Event(),
    )

    async def now_ms() -> int:
        return stage.time.unix_ms()

    worker = Worker(node, now_ms, alone=True, on_fault=stage.faults.append)
    return replace(stage, node=node, worker=worker)
