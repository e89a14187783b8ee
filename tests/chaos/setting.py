"""What a run stands on: its store, the programs beside the server, the app and its users."""

from __future__ import annotations

import secrets
import subprocess
import sys
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from remit.main.server_process import RunningServer
from remit.values.json import JsonObject
from tests import postgres
from tests.chaos.shop import APP, TOKEN, USERS, shop
from tests.main.processes import run as command

ROOT = Path(__file__).parents[2]

Store = Literal["sqlite", "postgresql"]


@contextmanager
def store(kind: Store) -> Generator[dict[str, str]]:
    """The settings of a store and its vault."""
    if kind == "sqlite":
        yield {}
        return
    with postgres.server() as url:
        yield {
            "REMIT_STORE_URL": url.format(database="postgres"),
            "REMIT_VAULT_KEY": b64encode(secrets.token_bytes(32)).decode(),
        }


def compiled(folder: Path) -> dict[str, str]:
    """Where Python keeps no compiled code, a start takes seconds: then the run keeps its own."""
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


@contextmanager
def program(module: str, *arguments: str) -> Generator[str]:
    """A program that prints its port and then serves; gives its origin."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            if not port:
                msg = f"{module} did not start."
                raise RuntimeError(msg)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def done(folder: Path, *arguments: str, env: dict[str, str]) -> str:
    """What a command of `remit` prints, which must go well."""
    ran = command(folder, *arguments, **env)
    if ran.code != 0:
        msg = f"remit {' '.join(arguments[:2])} ended with {ran.code}: {ran.err}"
        raise RuntimeError(msg)
    return ran.out.strip()


def furnish(server: RunningServer, key: str, upstream: str) -> str:
    """The app in force for everybody, and its users connected; gives the back end's key."""

    def made(method: str, path: str, body: JsonObject) -> JsonObject:
        reply = server.ask(method, path, body, key=key)
        if reply.status not in {200, 201}:
            msg = f"{method} {path} was answered {reply.status} {reply.text}"
            raise RuntimeError(msg)
        return reply.body

    made("POST", "/v1/apps", shop(upstream))
    made("POST", f"/v1/apps/{APP}/versions/1/approve", {"consent": "workspace"})
    for user in USERS:
        made("PUT", f"/v1/connections/{APP}/{user}", {"type": "bearer", "token": TOKEN})
    return str(made("POST", "/v1/keys", {"role": "backend", "name": "shop"})["key"])
