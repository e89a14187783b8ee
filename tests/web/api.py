"""The HTTP API over a scratch node, driven in process; keys of every role and another workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from remit.errors import CallError
from remit.gateway.acting import system
from remit.gateway.admitting import create_key, create_token
from remit.gateway.ports import WireResponse
from remit.web.app import make_app
from remit.web.services import HttpSettings, Services
from tests.gateway.fakes import ScriptedEgress
from tests.gateway.nodes import DEFINITION, Stage, furnish, open_stage

PUBLIC = "https://remit.acme.example"
CONSOLE = "https://console.acme.example"


@dataclass
class Api:
    """The API and its callers.

    Attributes:
        keys: secrets by who holds them: operator, backend, ana (a token), other (an operator of
            another workspace).
        faults: what the API told its operator.
    """

    stage: Stage
    app: ASGIApp
    client: httpx.AsyncClient
    keys: dict[str, str]
    faults: list[tuple[str, BaseException]] = field(default_factory=list[tuple[str, BaseException]])

    async def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        who: str | None = "operator",
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request: a JSON body, or bytes as they are."""
        sent = dict(headers or {})
        if who is not None:
            sent["authorization"] = f"Bearer {self.keys[who]}"
        more: dict[str, Any] = {}
        if content is not None:
            more["content"] = content
        elif body is not None:
            more["json"] = body
        return await self.client.request(method, path, headers=sent, **more)

    async def get(self, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 (those of send)
        """GET."""
        return await self.send("GET", path, **more)

    async def post(self, path: str, body: object = None, **more: Any) -> httpx.Response:  # noqa: ANN401 (those of send)
        """POST."""
        return await self.send("POST", path, body, **more)

    async def put(self, path: str, body: object = None, **more: Any) -> httpx.Response:  # noqa: ANN401 (those of send)
        """PUT."""
        return await self.send("PUT", path, body, **more)

    async def call(
        self,
        tool: str,
        args: object = None,
        *,
        who: str = "backend",
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Call a tool of ``acme`` for ``ana``."""
        body = {"user": "ana", "args": {} if args is None else args}
        return await self.post(f"/v1/tools/acme/{tool}/call", body, who=who, headers=headers)


@asynccontextmanager
async def open_api(
    place: Path | str,
    *answers: WireResponse | CallError,
    name: str = "node-1",
    egress: ScriptedEgress | None = None,
    furnished: bool = True,
    **settings: Any,  # noqa: ANN401 (those of HttpSettings)
) -> AsyncIterator[Api]:
    """The API on a store that has its schema; ``acme`` approved, ``ana`` consenting, connected."""
    async with open_stage(place, *answers, name=name, egress=egress) as stage:
        books = stage.server.books
        if furnished:
            await furnish(stage, DEFINITION)
        await books.workspaces.make("acme", at=0)
        await books.workspaces.make("globex", at=0)
        acme, globex = system("acme"), system("globex")
        keys = {
            "operator": await create_key(books, acme, "operator", name="ops"),
            "backend": await create_key(books, acme, "backend", name="shop"),
            "other": await create_key(books, globex, "operator", name="theirs"),
        }
        if furnished:
            keys["ana"] = await create_token(books, acme, user="ana", apps=["acme"], ttl_s=600)
        else:
            await stage.server.submit(DEFINITION)
            keys["token"] = await create_token(books, acme, user="ana", apps=["acme"], ttl_s=600)
        faults: list[tuple[str, BaseException]] = []

        async def now_ms() -> int:
            return stage.time.unix_ms()

        services = Services(
            books=books,
            node=stage.node,
            worker=stage.worker,
            standing=stage.server.standing,
            audit=stage.server.store.audit,
            idempotency=stage.server.store.idempotency,
            now_ms=now_ms,
            ping=stage.server.store.ping,
            on_fault=lambda request_id, fault: faults.append((request_id, fault)),
            settings=HttpSettings(
                **{"public_url": PUBLIC, "allowed_origins": (CONSOLE,), **settings}
            ),
        )
        app = make_app(services)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC) as client:
            secrets = {who: made.secret.reveal() for who, made in keys.items()}
            yield Api(stage=stage, app=app, client=client, keys=secrets, faults=faults)


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer, which must be that one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document = response.json()
    assert (document["code"], document["status"]) == (code, status)
    assert document["requestId"].startswith("req_")
    return document
