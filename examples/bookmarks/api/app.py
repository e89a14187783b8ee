"""Puts the component together, and serves it."""

from __future__ import annotations

import argparse
import os
import socket
import sqlite3
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from api.frames import Frames
from api.handlers import Handlers
from api.settings import Settings
from api.store import Store
from remit.kit import SettingsError

PORT = 8802


def make_app(store: Store, settings: Settings) -> Starlette:
    """The component as an ASGI app."""
    frames = Frames(store, settings)
    return Starlette(routes=[*Handlers(store, frames).routes, *frames.routes])


class _Server(uvicorn.Server):
    """Says where it listens, once it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            url = f"http://127.0.0.1:{one.getsockname()[1]}"
            sys.stdout.write(f"Acme Bookmarks is listening on {url}\n")
        sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Serve on 127.0.0.1, on $PORT where it is set, until it is asked to stop."""
    parser = argparse.ArgumentParser(prog="serve.py", description="The API of Acme Bookmarks.")
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or PORT))
    parser.add_argument("--database", type=Path, default=Path("bookmarks.db"))
    given = parser.parse_args(arguments)
    try:
        store, settings = Store(given.database), Settings.from_env()
    except (sqlite3.Error, SettingsError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        listening = socket.create_server(("127.0.0.1", given.port))
    except OSError as error:
        sys.stderr.write(f"Port {given.port}: {error.strerror}. Give another with --port.\n")
        return 2
    # The page's address has a code in it, so that no access log is written.
    config = uvicorn.Config(make_app(store, settings), log_level="warning", access_log=False)
    _Server(config).run(sockets=[listening])
    store.close()
    return 0
