"""A whole Remit inside a test: the real server on loopback, with a store of its own."""

from __future__ import annotations

import asyncio
import json
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import httpx2

from remit.gateway.acting import system
from remit.gateway.admitting import create_key
from remit.main.embedding import embedded
from remit.main.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from remit.testing.completions import ScriptedModel

Json: TypeAlias = Any

WORKSPACE = "default"
_WAIT_S = 30.0
_REQUEST_S = 60.0
_RUNS = frozenset({"run_started", "run_finished"})
_RESTS = frozenset({"idle", "waiting_human", "waiting_client", "closed"})


class Refused(AssertionError):
    """Remit said no to something that a test did not expect a no to.

    Attributes:
        status: of the answer.
        problem: its problem document.
    """

    def __init__(self, what: str, status: int, problem: Json) -> None:
        known = cast("dict[str, Json]", problem) if isinstance(problem, dict) else {}
        super().__init__(f"{what}: {status} {known.get('detail') or json.dumps(known)}")
        self.status = status
        self.problem: Json = known


@dataclass(kw_only=True)
class RemitInProcess:
    """A Remit that runs.

    Attributes:
        url: its origin.
        http: a client with the back end's key.
        operator: a client with the operator's key.
        backend_key, operator_key: for clients of a test's own.
        faults: what Remit met that was no fault of a caller; a good test ends with none.
    """

    url: str
    http: httpx2.AsyncClient
    operator: httpx2.AsyncClient
    backend_key: str
    operator_key: str
    faults: list[BaseException] = field(default_factory=list[BaseException])

    async def install(self, definition: Mapping[str, Json]) -> str:
        """Submit and approve an app for every user, at its own ceiling; its id.

        Raises:
            Refused: the definition has mistakes.
        """
        made = await self.ask("POST", "/v1/apps", definition, by=self.operator)
        path = f"/v1/apps/{made['app']}/versions/{made['version']}/approve"
        await self.ask("POST", path, {"consent": "workspace"}, by=self.operator)
        return made["app"]

    async def connect(self, app: str, user: str, token: str) -> None:
        """Keep a bearer token as a user's credential for an app."""
        body = {"type": "bearer", "token": token}
        await self.ask("PUT", f"/v1/connections/{app}/{user}", body, by=self.operator)

    async def call(self, app: str, tool: str, args: Json = None, *, user: str) -> Json:
        """Call a tool for a user: the body of the answer, whether it ended or waits."""
        body: Json = {"user": user, "args": args or {}}
        return await self.ask("POST", f"/v1/tools/{app}/{tool}/call", body)

    async def session(self, apps: Sequence[str], *, user: str, **more: Json) -> SessionInProcess:
        """Begin a session; ``more`` are further fields of ``POST /v1/sessions``."""
        made = await self.ask("POST", "/v1/sessions", {"apps": [*apps], "user": user, **more})
        return SessionInProcess(remit=self, id=made["id"], token=made["clientToken"], user=user)

    async def ask(
        self, method: str, path: str, body: Json = None, *, by: httpx2.AsyncClient | None = None
    ) -> Json:
        """A request of the API, and the body of its answer.

        Raises:
            Refused: it is refused.
        """
        answer = await (by or self.http).request(method, path, json=body)
        read: Json = answer.json() if answer.content else None
        if answer.status_code >= 400:
            raise Refused(f"{method} {path}", answer.status_code, read)
        return read


@dataclass(kw_only=True)
class SessionInProcess:
    """A session of a Remit that runs.

    Attributes:
        token: of its client.
        user: who it serves, and who answers.
    """

    remit: RemitInProcess
    id: str
    token: str
    user: str

    async def say(self, text: str, **more: Json) -> list[Json]:
        """Send a message, and wait until the session rests: the events since.

        Raises:
            Refused: it cannot be said now.
        """
        since = (await self.read())["headSeq"]
        await self.remit.ask("POST", f"{self._path}/messages", {"text": text, **more})
        return await self.resting(since)

    async def answer(self, decision: Mapping[str, Json] | str) -> list[Json]:
        """Answer the one open input as the session's user; wait; the events since.

        Args:
            decision: ``approve`` or ``deny``, or the whole body of an answer.
        """
        reading = await self.read()
        (waiting,) = reading["inputs"]
        body = {"decision": decision} if isinstance(decision, str) else dict(decision)
        path = f"/v1/inputs/{waiting['id']}/answer"
        await self.remit.ask("POST", path, {"user": self.user, **body})
        return await self.resting(reading["headSeq"])

    async def read(self) -> Json:
        """The session as it is now."""
        return await self.remit.ask("GET", self._path)

    async def events(self, after: int = 0) -> list[Json]:
        """The log, after that number."""
        found: list[Json] = []
        while True:
            page = await self.remit.ask("GET", f"{self._path}/events?after={after}")
            found += page["events"]
            if not page["events"] or page["next"] is None:
                return found
            after = page["events"][-1]["seq"]

    async def resting(self, since: int) -> list[Json]:
        """Wait until something has happened and the session rests or waits; the events since.

        Raises:
            TimeoutError: it goes on for half a minute.
        """
        async with asyncio.timeout(_WAIT_S):
            while True:
                events = await self.events(since)
                statuses = [one["data"]["status"] for one in events if one["type"] == "status"]
                runs = [one["type"] for one in events if one["type"] in _RUNS]
                if statuses and statuses[-1] in _RESTS and runs[-1:] != ["run_started"]:
                    return events
                await asyncio.sleep(0.02)

    @property
    def _path(self) -> str:
        return f"/v1/sessions/{self.id}"


@asynccontextmanager
async def remit_in_process(
    *,
    definitions: Sequence[Mapping[str, Json]] = (),
    model: ScriptedModel | None = None,
    folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> AsyncGenerator[RemitInProcess]:
    """The real server with its store, on a free port of loopback, as long as the block runs.

    Args:
        definitions: apps that are installed at the start.
        model: who answers in sessions; started. None has no model.
        folder: where the store is; with the one of an earlier block, everything goes on from it.
            None is a folder that goes with the block.
        settings: more of them, as in the environment: ``{"REMIT_BRAND_NAME": "Acme"}``. The
            environment of the test itself is not read. Calls may go to ``127.0.0.1``.

    Raises:
        WrongUse: a setting that cannot be.
        Refused: a definition that has mistakes.
    """
    async with AsyncExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-")))
        faults: list[BaseException] = []
        given = _settings(folder, model, settings or {})
        server = await stack.enter_async_context(
            embedded(load_settings(None, given), on_fault=faults.append)
        )
        books = server.books
        await books.workspaces.make(WORKSPACE, at=books.wall.unix_ms())
        keys = [
            (await create_key(books, system(WORKSPACE), role, name=role)).secret.reveal()
            for role in ("operator", "backend")
        ]
        clients = [await stack.enter_async_context(_client(server.url, key)) for key in keys]
        remit = RemitInProcess(
            url=server.url,
            operator=clients[0],
            http=clients[1],
            operator_key=keys[0],
            backend_key=keys[1],
            faults=faults,
        )
        for definition in definitions:
            await remit.install(definition)
        yield remit


def _settings(folder: Path, model: ScriptedModel | None, more: Mapping[str, str]) -> dict[str, str]:
    given = {
        "REMIT_STORE_URL": f"sqlite:///{folder / 'remit.db'}",
        "REMIT_SERVER_HOST": "127.0.0.1",
        "REMIT_SERVER_PORT": "0",
        "REMIT_SERVER_DRAIN_S": "1",
        "REMIT_EGRESS_ALLOW": "127.0.0.1",
        "REMIT_CACHE_DIR": str(folder / "cache"),
    }
    if model is not None:
        given["REMIT_MODEL_NAME"] = "openai:scripted"
        given["REMIT_MODEL_BASE_URL"] = model.base_url
    return {**given, **more}


def _client(url: str, key: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=url,
        headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
        timeout=_REQUEST_S,
        trust_env=False,
    )
