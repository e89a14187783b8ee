"""A conversation as an app has one: a server process, a scripted model, an app, and HTTP alone."""

from __future__ import annotations

import atexit
import json
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from remit.testing import ModelRequest, ScriptedModel, Turn
from tests.cases.origins import Hosts
from tests.cases.stage import ACME, definition_of, own_origins
from tests.cases.upstream import Received, Upstream, answer_of
from tests.cases.verdicts import Json
from tests.main.processes import Serving, run, serving

WAIT_S = 40
USER = "ana"
# For how long nothing happens in a run that waits for a person beside something else.
_QUIET_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer that somebody gave: what, to which input, and what the server said."""

    input_id: str
    decision: str
    note: str
    status: int


@dataclass
class Talk:
    """One session of ``ana`` with the app of a case.

    Args:
        app: as a case describes it; ``tools`` are added.
        turns: what the model says, in order.
        upstream_answers: what the app says; the last one repeats.
    """

    app: Json
    tools: Sequence[Json]
    turns: Sequence[Turn]
    upstream_answers: Sequence[Json] = ()
    #: Answers in the order in which they were begun.
    given: list[Given] = field(default_factory=list[Given])
    #: How many requests had reached the app when the first answer was given.
    sent_before_answers: int | None = None

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _open(self) -> None:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-talk-"))
        self._key, store = _template()
        self.folder = Path(shutil.copytree(store, Path(folder) / "server"))
        self._upstream = self._stack.enter_context(Upstream())
        definition, token = definition_of(self.app, self.tools)
        definition.setdefault("baseUrl", ACME)
        hosts = Hosts(upstream=self._upstream, own=own_origins(definition), stack=self._stack)
        self._hosts = hosts
        self._upstream.answers = [answer_of(hosts.inward(a)) for a in self.upstream_answers]
        self.model = self._stack.enter_context(ScriptedModel(list(self.turns)))
        self._start()
        self._furnish(hosts.inward(definition), token)
        made = self.ok("POST", "/v1/sessions", {"apps": [{"id": definition["id"]}], "user": USER})
        self.session, self.token = str(made["id"]), str(made["clientToken"])

    def _start(self) -> None:
        self._server: Serving = self._stack.enter_context(
            serving(
                self.folder,
                REMIT_EGRESS_ALLOW="127.0.0.1,127.0.0.2",
                REMIT_MODEL_NAME="openai:scripted",
                REMIT_MODEL_BASE_URL=self.model.base_url,
            )
        )
        self._http = self._stack.enter_context(
            httpx.Client(base_url=self._server.url, timeout=WAIT_S, trust_env=False)
        )

    def _furnish(self, definition: Json, token: str | None) -> None:
        app = definition["id"]
        self.ok("POST", "/v1/apps", definition)
        self.ok("POST", f"/v1/apps/{app}/versions/1/approve", {"consent": "workspace"})
        if token is not None:
            body = {"type": "bearer", "token": token}
            self.ok("PUT", f"/v1/connections/{app}/{USER}", body)

    # -- what is sent --------------------------------------------------------------------------

    def send(
        self, method: str, path: str, body: Json = None, *, token: str | None = None
    ) -> httpx.Response:
        """One request, as the operator unless a token is given."""
        headers = {"authorization": f"Bearer {token or self._key}"}
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["content-type"] = "application/json"
        return self._http.request(method, path, content=content, headers=headers)

    def ok(self, method: str, path: str, body: Json = None) -> dict[str, Json]:
        """The same, which must go well."""
        response = self.send(method, path, body)
        if response.status_code >= 300:
            raise AssertionError(f"{method} {path}: {response.status_code} {response.text[:300]}")
        return response.json() if response.content else {}

    def say(self, text: str) -> None:
        """A message of the user, from their browser."""
        path = f"/v1/sessions/{self.session}/messages"
        response = self.send("POST", path, {"text": text}, token=self.token)
        if response.status_code != 202:
            raise AssertionError(f"message: {response.status_code} {response.text[:300]}")

    def answer(self, input_id: str, decisions: Sequence[str], note: str = "") -> None:
        """Answers of the user to one input, all at once."""
        if self.sent_before_answers is None:
            self.sent_before_answers = len(self.requests)
        path = f"/v1/sessions/{self.session}/human-input/{input_id}"
        ready = threading.Barrier(len(decisions))

        def press(decision: str) -> Given:
            body = {"decision": decision, **({"note": note} if note else {})}
            ready.wait(WAIT_S)
            status = self.send("POST", path, body, token=self.token).status_code
            return Given(input_id=input_id, decision=decision, note=note, status=status)

        with ThreadPoolExecutor(len(decisions)) as pool:
            self.given += pool.map(press, decisions)
        if any(one.status == 200 for one in self.given):
            self.until(lambda: input_id in self.resolved())

    def reload(self) -> list[dict[str, Json]]:
        """The page is opened anew: another token, the session, its log from the start."""
        made = self.ok("POST", f"/v1/sessions/{self.session}/tokens", {})
        self.token = str(made["clientToken"])
        self.read()
        return self.streamed()

    def kill(self, number: int = signal.SIGKILL) -> None:
        """The server ends, and another one is started on its store."""
        self._server.end(number)
        self._start()

    # -- what is seen --------------------------------------------------------------------------

    def read(self) -> dict[str, Json]:
        """The session, as its client reads it."""
        response = self.send("GET", f"/v1/sessions/{self.session}", token=self.token)
        if response.status_code != 200:
            raise AssertionError(f"session: {response.status_code} {response.text[:300]}")
        return response.json()

    @property
    def inputs(self) -> list[dict[str, Json]]:
        """The open inputs."""
        return self.read()["inputs"]

    def rests(self) -> str:
        """Wait until the agent does nothing more by itself; the status."""
        quiet: tuple[int, float] = (0, time.monotonic())

        def resting() -> bool:
            nonlocal quiet
            session = self.read()
            if session["status"] != "waiting_human":
                return session["status"] != "running"
            # One input is open; others may be about to be.
            events = self.events()
            if len(events) != quiet[0]:
                quiet = (len(events), time.monotonic())
            runs = [e["type"] for e in events if e["type"] in ("run_started", "run_finished")]
            return runs[-1:] == ["run_finished"] or time.monotonic() - quiet[1] > _QUIET_S

        self.until(resting)
        return str(self.read()["status"])

    def events(self) -> list[dict[str, Json]]:
        """The log, as pages."""
        found: list[dict[str, Json]] = []
        after: int | None = 0
        while after is not None:
            path = f"/v1/sessions/{self.session}/events?after={after}"
            response = self._http.get(path, headers=self._reading("application/json"))
            page = response.json()
            found += page["events"]
            after = page["next"]
        return found

    def streamed(self, after: int | None = None) -> list[dict[str, Json]]:
        """The log as the stream has it, up to its head, each event as ``{id, event, data}``."""
        head = self.read()["headSeq"]
        headers = self._reading("text/event-stream")
        if after is not None:
            headers["last-event-id"] = str(after)
        reader, found = Reader(), list[dict[str, Json]]()
        path = f"/v1/sessions/{self.session}/events"
        with self._http.stream("GET", path, headers=headers) as response:
            for text in response.iter_text():
                found += [one for one in reader.read(text) if "id" in one]
                if found and int(found[-1]["id"]) >= head:
                    return found
        raise AssertionError(f"the stream ended before event {head}: {found[-1:]}")

    def _reading(self, accept: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}", "accept": accept}

    def data_of(self, kind: str) -> list[dict[str, Json]]:
        """The data of every event of a type."""
        return [event["data"] for event in self.events() if event["type"] == kind]

    def resolved(self) -> dict[str, dict[str, Json]]:
        """How inputs were closed, by their ids."""
        return {data["inputId"]: data for data in self.data_of("human_input_resolved")}

    @property
    def requests(self) -> list[Received]:
        """What reached the app."""
        return list(self._upstream.received)

    @property
    def asked(self) -> list[ModelRequest]:
        """What the model was asked."""
        return list(self.model.requests)

    @property
    def strays(self) -> list[tuple[str, Received]]:
        """What reached any other host that the case names."""
        return [(o, r) for o, server in self._hosts.elsewhere.items() for r in server.received]

    @property
    def said(self) -> str:
        """What the server said on stderr."""
        return self._server.err

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; fails when it never does."""
        ends = time.monotonic() + WAIT_S
        while not holds():
            if time.monotonic() > ends:
                seen = [
                    f"{e['seq']} {e['type']} {json.dumps(e['data'])[:80]}" for e in self.events()
                ]
                raise AssertionError(f"it never came: {seen[-8:]}; {self.said[-500:]}")
            threading.Event().wait(0.05)


@cache
def _template() -> tuple[str, Path]:
    """An operator's key, and a folder with the store that knows it; made once."""
    folder = tempfile.mkdtemp(prefix="remit-talk-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = run(Path(folder), "keys", "create", "--role", "operator")
    return made.out.strip(), Path(folder)


class Reader:
    """Reads server-sent events as the HTML Standard has a browser read them."""

    def __init__(self) -> None:
        self._rest = ""
        self._fields: dict[str, str] = {}

    def read(self, text: str) -> list[dict[str, Json]]:
        """The events that are whole by now; ``data`` of each as JSON."""
        self._rest += text
        found: list[dict[str, Json]] = []
        while (line := self._line()) is not None:
            if line:
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if name == "data" and "data" in self._fields:
                    value = f"{self._fields['data']}\n{value}"
                if name:
                    self._fields[name] = value
            elif fields := self._dispatched():
                found.append(fields)
        return found

    def _line(self) -> str | None:
        ends = [n for n in (self._rest.find("\n"), self._rest.find("\r")) if n >= 0]
        if not ends:
            return None
        end = min(ends)
        if self._rest[end] == "\r" and end + 1 == len(self._rest):
            # A line feed may follow, and would belong to it.
            return None
        line = self._rest[:end]
        self._rest = self._rest[end + (2 if self._rest.startswith("\r\n", end) else 1) :]
        return line

    def _dispatched(self) -> dict[str, Json]:
        fields: Mapping[str, str] = self._fields
        self._fields = {}
        if "data" not in fields:
            return {}
        return {**fields, "data": json.loads(fields["data"])}
