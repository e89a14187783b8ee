"""One run of a server as a process, with all that a person, an agent and an app do to it."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

from remit.gateway.keeping import signing_place
from remit.main.opening import open_store, open_vault, vault_settings
from remit.main.settings import Settings, load_settings
from remit.vault.envelopes import wrap_binding
from remit.vault.sources import find_masters
from tests.canary.apps import (
    CREDENTIALS,
    GIVEN_BACK,
    MADE,
    PLACE,
    UNAWARE,
    USER,
    App,
    canary_of,
    make_app,
)
from tests.canary.capture import Capture, Client
from tests.canary.leaky import LeakyApp
from tests.canary.mistakes import WRONG_KEY, mistake
from tests.canary.searching import Canary, make
from tests.main.processes import WAIT_S, Serving, serving

OPEN = ("sending", "polling", "waiting_human")
#: Not the secret of any app: what a person puts into a wrong place.
STORE_PASSWORD = make("store password", "pw", "!x")
_SHOWN = 4
#: So many identity tokens are looked for.
_TOKENS = 2
_REPEATED = frozenset({"body", "error", "redirect", "drop", "mapped"})


@dataclass
class Journey:
    """The run, and the secrets in it.

    Attributes:
        outcomes: how calls ended: outcome or error code.
    """

    capture: Capture
    apps: Sequence[App]
    upstreams: dict[str, LeakyApp]
    canaries: list[Canary] = field(default_factory=list[Canary])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    outcomes: set[str] = field(default_factory=set[str])

    def client(self, server: Serving, role: str = "operator") -> Client:
        """The API with the key of a role."""
        return Client(capture=self.capture, url=server.url, key=self.keys[role])


def travel(folder: Path, store_url: str, env: dict[str, str], kinds: Sequence[str]) -> Journey:
    """Do it all once.

    Args:
        folder: where the processes run; all of it is looked at.
        store_url: of the store; on PostgreSQL an empty database.
        env: settings of the processes.
        kinds: the secrets that apps are called with.
    """
    settings = {
        "HOME": str(folder),
        "REMIT_CACHE_DIR": str(folder / "cache"),
        "REMIT_EGRESS_ALLOW": "127.0.0.1",
        "REMIT_STORE_URL": store_url,
        **env,
    }
    with ExitStack() as stack:
        upstreams = {kind: stack.enter_context(LeakyApp(GIVEN_BACK[kind])) for kind in kinds}
        apps = [make_app(kind, upstream) for kind, upstream in upstreams.items()]
        capture = Capture(folder=folder, store_url=store_url, env=settings)
        journey = Journey(capture=capture, apps=apps, upstreams=upstreams)
        journey.canaries += [canary_of(kind) for kind in kinds if kind in MADE]
        if store_url.startswith("postgresql"):
            assert capture.command("db", "upgrade").code == 0
        _make_keys(journey)
        _first_life(journey)
        _second_life(journey)
        capture.look("stopped")
        capture.wires(upstreams.items())
        _add_inner_canaries(journey)
    return journey


def _make_keys(journey: Journey) -> None:
    for role in ("operator", "backend"):
        made = journey.capture.command("keys", "create", "--role", role, "--name", f"our {role}")
        _keep_key(journey, role, made.out.strip())


def _keep_key(journey: Journey, role: str, key: str) -> None:
    journey.keys[role] = key
    shown = key.rindex("_") + 1 + _SHOWN
    core = key[shown:].encode()
    journey.canaries.append(Canary(name=f"the {role}'s API key", core=core))


def _first_life(journey: Journey) -> None:
    """Set up, call everything, wait for a person; killed while calls are out."""
    with (
        ThreadPoolExecutor(8) as pool,
        serving(journey.capture.folder, **journey.capture.env) as server,
    ):
        operator = journey.client(server)
        for app in journey.apps:
            _set_up(operator, app)
        token = operator.done(
            "POST",
            "/v1/tokens",
            {"user": USER, "apps": [app.document["id"] for app in journey.apps], "ttlS": 600},
            what="token",
        )
        # The answer to this request alone may hold it; that to the next one is kept for a repeat.
        _forget_last(journey.capture)
        _keep_key(journey, "user", token["token"])
        _pin_argument(journey, operator)
        body, once = {"role": "operator", "name": "made"}, {"idempotency-key": "once"}
        made = operator.ask("POST", "/v1/keys", body, what="key", headers=once)
        _forget_last(journey.capture)
        _keep_key(journey, "made", made.json["key"])
        _call_everything(journey, pool, journey.client(server, "backend"))
        _ask_people(journey, server)
        out = _hang(journey, pool, server)
        server.end(signal.SIGKILL)
        for one in out:
            with suppress(OSError, HTTPException):
                one.result(WAIT_S)
        _keep_rest(journey.capture, server, "killed")
    journey.capture.look("killed")


def _second_life(journey: Journey) -> None:
    """Goes on with what was left; people mistake; everything is read; keys are rotated."""
    capture = journey.capture
    with ThreadPoolExecutor(8) as pool, serving(capture.folder, **capture.env) as server:
        operator = journey.client(server)
        _answer_rest(operator)
        mistake(operator, journey.keys, arguments="argument" in journey.upstreams)
        journey.canaries.append(Canary(name="a key that opens nothing", core=WRONG_KEY.core))
        _until_ended(operator)
        _read_everything(journey, server)
        _command_everything(journey, server)
        _call_everything(journey, pool, journey.client(server, "user"), tools=("ok", "body"))
        _call_pinned(journey, journey.client(server, "pinned"))
        _call_unaware(journey, journey.client(server, "pinned"), operator)
        operator.done("DELETE", f"/v1/connections/app-bearer/{USER}")
        assert server.end() == 0
        _keep_rest(capture, server, "stopped")


def _pin_argument(journey: Journey, operator: Client) -> None:
    """A token that fixes the secret argument of an app, for whoever must not know it."""
    terms = {"user": USER, "apps": ["app-argument"], "pins": {"pw": MADE["argument"].value}}
    token = operator.done("POST", "/v1/tokens", {**terms, "ttlS": 600}, what="pinned token")
    _forget_last(journey.capture)
    _keep_key(journey, "pinned", token["token"])
    assert token["pins"] == ["pw"]
    operator.done("GET", f"/v1/tokens/{token['id']}")


def _call_pinned(journey: Journey, client: Client) -> None:
    """Its pin is sent, also by a process that did not make it."""
    (app,) = (app for app in journey.apps if app.kind == "argument")
    for tool in ("ok", "body", "error"):
        assert _call(client, replace(app, args={"x": "plain"}), tool)["outcome"] in {"ok", "error"}
    assert MADE["argument"].core in journey.upstreams["argument"].requests[-1]


def _call_unaware(journey: Journey, client: Client, operator: Client) -> None:
    """Its pin in calls of tools that do not declare it; one of them still waits at the end."""
    (app,) = (app for app in journey.apps if app.kind == "argument")
    app = replace(app, args={"x": "plain"})
    upstream = journey.upstreams["argument"]
    for tool in UNAWARE:
        if tool != "unaware_ask":
            assert _call(client, app, tool)["outcome"] == "ok", tool
    before = len(upstream.requests)
    first, _ = [_call(client, app, "unaware_ask")["inputId"] for _ in range(2)]
    operator.done("POST", f"/v1/inputs/{first}/answer", {"decision": "approve"})
    _until(lambda: any(MADE["argument"].core in sent for sent in upstream.requests[before + 2 :]))


def _keep_rest(capture: Capture, server: Serving, when: str) -> None:
    """What it said on stdout; what it said on stderr is in a file of the folder."""
    assert server.process.stdout is not None
    capture.keep(f"remit serve: stdout ({when})", server.process.stdout.read().encode())


def _forget_last(capture: Capture) -> None:
    capture.places.popitem()


def _set_up(operator: Client, app: App) -> None:
    name = app.document["id"]
    operator.done("POST", "/v1/apps", app.document)
    operator.done("POST", f"/v1/apps/{name}/versions/1/approve", {"consent": "workspace"})
    if app.kind in CREDENTIALS:
        operator.done("PUT", f"/v1/connections/{name}/{USER}", CREDENTIALS[app.kind])
    if app.kind == "env":
        path = f"/v1/apps/{name}/env/{PLACE['collection']}/{PLACE['environment']}"
        operator.done("PUT", path, {"PARTNER": MADE["env"].value})


def _call(client: Client, app: App, tool: str, headers: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - JSON
    path = f"/v1/tools/{app.document['id']}/{tool}/call"
    return client.ask("POST", path, {"user": USER, "args": app.args}, headers=headers).json


def _call_everything(
    journey: Journey, pool: ThreadPoolExecutor, client: Client, tools: Sequence[str] = ()
) -> None:
    """Every tool of every app under an idempotency key; some are repeated under it."""

    def call(app: App, tool: str) -> list[Any]:
        key = f"{client.key[:10]}-{app.kind}-{tool}"
        times = 2 if tool in _REPEATED else 1
        return [_call(client, app, tool, {"idempotency-key": key}) for _ in range(times)]

    made = [
        pool.submit(call, app, tool)
        for app in journey.apps
        for tool in tools or app.tools
        if not tool.startswith("long_")
    ]
    for one in made:
        journey.outcomes |= {
            found.get("error", {}).get("code") or found.get("outcome") or found["code"]
            for found in one.result(WAIT_S)
        }


def _asking(journey: Journey) -> list[App]:
    return [app for app in journey.apps if app.kind != "env"]


def _ask_people(journey: Journey, server: Serving) -> None:
    """Approved, denied with a note, and left open, by each app that has something to ask."""
    operator, backend = journey.client(server), journey.client(server, "backend")
    for app in _asking(journey):
        for answer in ({"decision": "approve"}, {"decision": "deny", "note": "Too much."}, None):
            waits = _call(backend, app, "ask")
            assert waits["outcome"] == "waiting_human", waits
            card = operator.done("GET", f"/v1/inputs/{waits['inputId']}")
            if answer is not None:
                given = {**answer, "digest": card["digest"]}
                operator.done("POST", f"/v1/inputs/{waits['inputId']}/answer", given)


def _hang(journey: Journey, pool: ThreadPoolExecutor, server: Serving) -> list[Future[Any]]:
    """Jobs that are asked for, and calls that are out, when the process is killed."""
    backend = journey.client(server, "backend")
    asking = _asking(journey)
    soon = {"prefer": "wait=2"}
    jobs = [pool.submit(_call, backend, app, "long_job", soon) for app in asking]
    assert {one.result(WAIT_S)["outcome"] for one in jobs} == {"polling"}
    before = {app.kind: len(journey.upstreams[app.kind].requests) for app in asking}
    out = [pool.submit(_call, backend, app, "long_hang") for app in asking]
    _until(
        lambda: all(len(journey.upstreams[app.kind].requests) > before[app.kind] for app in asking)
    )
    return out


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until
        threading.Event().wait(0.02)


def _answer_rest(operator: Client) -> None:
    """What waited while the process was killed."""
    for row in operator.done("GET", "/v1/inputs?status=open&limit=100")["items"]:
        operator.done("POST", f"/v1/inputs/{row['id']}/answer", {"decision": "approve"})


def _until_ended(operator: Client) -> None:
    """Every call came to its end; what the kill cut off, too, where no lease holds it."""

    def all_ended() -> bool:
        asked = [f"/v1/calls?tool={tool}&limit=100" for tool in ("ask", "long_hang")]
        rows = [row for path in asked for row in operator.done("GET", path)["items"]]
        alone = not operator.capture.store_url.startswith("postgresql")
        return not any(row["outcome"] in OPEN for row in rows if alone or row["tool"] == "ask")

    _until(all_ended)


def _read_everything(journey: Journey, server: Serving) -> None:
    """Every route that reads, with each key that may."""
    operator = journey.client(server)
    lists = ["apps", "calls", "inputs", "connections", "grants", "keys", "audit"]
    for name in lists:
        cursor = ""
        while True:
            page = operator.done("GET", f"/v1/{name}?limit=100{cursor}")
            journey.outcomes |= {row["error"]["code"] for row in page["items"] if "error" in row}
            if page["next"] is None:
                break
            cursor = f"&cursor={quote(page['next'], safe='')}"
    for name in ("calls", "inputs"):
        for row in operator.done("GET", f"/v1/{name}?limit=10")["items"]:
            operator.done("GET", f"/v1/{name}/{row['id']}")
    operator.ask("GET", "/v1/audit", headers={"accept": "application/x-ndjson"})
    for path in ("/metrics", "/healthz", "/readyz", "/docs", "/v1/openapi.json", "/v1/policy"):
        operator.ask("GET", path)
    assert operator.done("GET", "/.well-known/jwks.json")["keys"]
    for app in journey.apps:
        _read_app(journey, operator, app)


def _read_app(journey: Journey, operator: Client, app: App) -> None:
    """All that an app is shown as."""
    at = f"/v1/apps/{app.document['id']}"
    for path in ("", "/catalog", "/versions", "/versions/1", "/versions/1/remit"):
        operator.done("GET", f"{at}{path}")
    operator.ask("GET", f"{at}/tools?for=openai", key=journey.keys["user"])
    if app.kind in {"env", "argument"}:
        for provider in ("anthropic", "gemini", "mcp"):
            operator.done("GET", f"{at}/tools?for={provider}")
        for form in ("text", "md"):
            operator.ask("GET", f"{at}/versions/1/remit?format={form}")


def _command_everything(journey: Journey, server: Serving) -> None:
    """Every command that reads a store, a server or a definition; then both rotations."""
    capture, operator = journey.capture, journey.client(server)
    asking = {"REMIT_SERVER_URL": server.url, "REMIT_KEY": journey.keys["operator"]}
    rows = operator.done("GET", "/v1/calls?limit=50")["items"]
    told = {(row["app"], row.get("error", {}).get("code")): row["id"] for row in rows}
    for call in list(told.values())[:3]:
        assert capture.command("why", call, **asking).code == 0
    wrong = {**asking, "REMIT_KEY": WRONG_KEY.value}
    assert capture.command("why", "call_x", **wrong).code != 0
    if not capture.store_url.startswith("postgresql"):
        _command_author(journey)
    bad = f"postgresql://remit:{quote(STORE_PASSWORD.value)}@127.0.0.1:1/remit"
    journey.canaries.append(Canary(name="the store's password", core=STORE_PASSWORD.core))
    capture.command("doctor", REMIT_STORE_URL=bad)
    capture.command("keys", "list", REMIT_STORE_URL=bad.replace("1/", "port/"))
    other = f"sqlite:///{capture.folder}/other.db"
    refused = capture.command("serve", REMIT_STORE_URL=other, REMIT_VAULT_KEY=MADE["bearer"].value)
    assert refused.code == 2
    capture.command("keys", "list", "--format", "json")
    assert capture.command("signing", "rotate").code == 0
    assert capture.process("vault", "rotate").code == 0
    assert capture.command("doctor").code == 0


def _command_author(journey: Journey) -> None:
    """What an author runs without a server, with the secrets in the environment and on the line."""
    capture = journey.capture
    for app in journey.apps:
        if app.kind == "identity":
            continue
        file = capture.folder / f"{app.kind}.json"
        file.write_text(json.dumps(app.document), "utf-8")
        env = {"PYTHONUTF8": "1"}
        given: list[str] = []
        if app.kind in CREDENTIALS:
            secret = MADE[app.kind].value
            env["REMIT_TOKEN"] = f"ana:{secret}" if app.kind == "basic" else secret
        elif app.kind == "env":
            given = ["--env", f"PARTNER={MADE['env'].value}"]
        args = json.dumps(app.args)
        for tool in ("body", "error", "redirect", "broken"):
            line = ["call", file.name, tool, "--args", args, "--yes", *given]
            capture.command(*line, hidden=f"call {app.kind} {tool}", **env)
        line = ["call", file.name, "ok", "--args", args, "--dry-run", *given]
        capture.command(*line, hidden=f"call {app.kind} dry", **env)
    for line in (
        ["lint", "bearer.json", "--bill"], ["show", "env.json"], ["lock", "env.json"],
        ["export", "argument.json", "--for", "openai"], ["catalog", "bearer.json"],
    ):  # fmt: skip
        capture.command(*line, REMIT_TOKEN=MADE["bearer"].value)


def _add_inner_canaries(journey: Journey) -> None:
    """Secrets that Remit made for itself: known once they are opened as it opens them."""
    asyncio.run(_open_inner(journey, load_settings(None, journey.capture.env)))
    for token in journey.upstreams["identity"].bearers()[:_TOKENS]:
        core = token.rpartition(".")[2].encode()
        own = ("wire to identity:",)
        journey.canaries.append(Canary(name="an identity token's signature", core=core, own=own))


async def _open_inner(journey: Journey, settings: Settings) -> None:
    given = vault_settings(settings)
    file = given.key_file or given.default_file
    masters = find_masters(given)
    assert file is not None
    assert masters is not None
    own = (f"file {file.name} ",)
    for line in file.read_text("utf-8").split():
        journey.canaries.append(Canary(name="a master key", core=b64decode(line), own=own))
    async with open_store(settings) as store:
        opened = await open_vault(store, settings)
        for key in await store.signing_keys.all():
            private = (await opened.vault.open(signing_place(key.kid), key.sealed)).reveal()
            core = urlsafe_b64decode(json.loads(private)["d"] + "==")
            journey.canaries.append(Canary(name="a signing key", core=core))
        for workspace in await store.data_keys.workspaces():
            key = await store.data_keys.current(workspace)
            assert key is not None
            master = masters.get(key.master)
            assert master is not None
            binding = wrap_binding(key.workspace, key.id, key.master)
            core = master.open(key.wrapped, binding)
            journey.canaries.append(Canary(name="a data key", core=core))
