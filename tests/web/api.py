"""The HTTP API over a scratch node, driven in process; keys of every role and another workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from remit.errors import CallError
from remit.gateway.acting import system
from remit.gateway.admitting import create_client_token, create_key, create_token
from remit.gateway.conversing import Acted, SessionRow, Step
from remit.gateway.live import Bus
from remit.gateway.ports import WireResponse
from remit.gateway.talks import Talks, act
from remit.session.events import Data
from remit.web.app import make_app
from remit.web.services import HttpSettings, Services
from tests.gateway.conversations import Conversation, Line, ScriptedPort, talk_on
from tests.gateway.fakes import ScriptedEgress
from tests.gateway.nodes import DEFINITION, Stage, furnish, open_stage

PUBLIC = "https://remit.acme.example"
CONSOLE = "https://console.acme.example"


@dataclass
class Api:
    """The API and its callers.

    Attributes:
        keys: secrets by who holds them: operator, backend, ana (a token), other (an operator of
            another workspace), client (of a session that is not there).
        talk: the node's conversations; it works when it is told to.
        faults: what the API told its operator.
    """

    stage: Stage
    app: ASGIApp
    client: httpx.AsyncClient
    keys: dict[str, str]
    talk: Conversation
    faults: list[tuple[str, BaseException]] = field(default_factory=list[tuple[str, BaseException]])
    waits: int = 0

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

    @property
    def talks(self) -> Talks:
        """What the node converses with."""
        return self.talk.talks

    @property
    def bus(self) -> Bus:
        """The readers of the node."""
        return self.talk.bus

    async def patch(self, path: str, body: object = None, **more: Any) -> httpx.Response:  # noqa: ANN401 (those of send)
        """PATCH."""
        return await self.send("PATCH", path, body, **more)

    async def device(self, id: str, user: str = "ana") -> None:  # noqa: A002 (as the row has it)
        """A device of a user, registered."""
        body = {"user": user, "name": id.capitalize()}
        made = await self.put(f"/v1/devices/{id}", body, who="backend")
        assert made.status_code == 200, made.text

    async def session(self, who: str = "tab", **more: object) -> str:
        """A new session of ``ana`` over ``acme``; its client token is kept under ``who``."""
        body = {"apps": ["acme"], "user": "ana", **more}
        made = await self.post("/v1/sessions", body, who="backend")
        assert made.status_code == 201, made.text
        self.keys[who] = made.json()["clientToken"]
        return made.json()["id"]

    async def waiting(self, session: str, tool: str = "refund") -> str:
        """A call of a session's run that waits for a person; gives its input."""
        self.waits += 1
        model = {"run": "run_1", "response_seq": self.waits, "model_call_id": "m1"}
        order = {"name": "chair", "amount": 1}
        row = await self.stage.waiting(tool, order, session=session, source="session", **model)
        return row.id

    async def happens(self, session: str, *events: Data, **more: Any) -> SessionRow:  # noqa: ANN401 (fields of Step)
        """Something happens in a session, as its run would let it."""
        done = await act(self.talks, "acme", session, lambda _: Step(events=events, **more))
        assert isinstance(done, Acted), done
        return done.row

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
    lines: Sequence[Line] = ("Hello.",),
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
            keys["client"] = await create_client_token(
                books, acme, session="ses_none", user="ana", ttl_s=600
            )
        else:
            await stage.server.submit(DEFINITION)
            keys["token"] = await create_token(books, acme, user="ana", apps=["acme"], ttl_s=600)
            keys["client"] = await create_client_token(
                books, acme, session="1", user="ana", ttl_s=600
            )
        faults: list[tuple[str, BaseException]] = []

        async def now_ms() -> int:
            return stage.time.unix_ms()

        talk = talk_on(stage, ScriptedPort(list(lines)))
        services = Services(
            talks=talk.talks,
            bus=talk.bus,
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
        async with httpx.AsyncClient(
            transport=transport, base_url=settings.get("public_url", PUBLIC)
        ) as client:
            secrets = {who: made.secret.reveal() for who, made in keys.items()}
            yield Api(
                stage=stage,
                app=app,
                client=client,
                keys=secrets,
                talk=talk,
                faults=faults,
            )
            await talk.talker.stop()


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer, which must be that one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document = response.json()
    assert (document["code"], document["status"]) == (code, status)
    assert document["requestId"].startswith("req_")
    return document
