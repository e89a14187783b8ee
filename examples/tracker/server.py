"""``python server.py``: the built tracker, its estimates and the back end of its chat."""

from __future__ import annotations

import argparse
import os
import socket
import sqlite3
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from agent import Conversations, RemitServer
from answers import refuse
from database import Database
from estimates import Estimates
from files import Files
from settings import Settings, SettingsError
from sign_in import SignIn
from workspaces import Workspaces

PORT = 8803
_HERE = Path(__file__).parent


def make_app(database: Database, settings: Settings, *, dist: Path) -> Starlette:
    """The server as an ASGI app."""
    workspaces = Workspaces.read(_HERE / "workspaces.json")
    remit = RemitServer(settings.remit_url, settings.backend_key) if settings.has_agent else None
    sign_in = SignIn(workspaces, database.secret("sign-in"), has_agent=remit is not None)
    return Starlette(
        routes=[
            *sign_in.routes,
            *Estimates(workspaces, database, sign_in).routes,
            *Conversations(workspaces, database, sign_in, remit).routes,
            # Last, because it answers whatever no other route does.
            *Files(dist, remit_url=settings.remit_url).routes,
        ],
        exception_handlers={HTTPException: refuse},
    )


class _Server(uvicorn.Server):
    """Says where it listens, once it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            url = f"http://127.0.0.1:{one.getsockname()[1]}"
            sys.stdout.write(f"Tracker is listening on {url}\n")
        sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Serve on 127.0.0.1, on $PORT where it is set, until it is asked to stop."""
    parser = argparse.ArgumentParser(prog="server.py", description="The server of Tracker.")
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or PORT))
    parser.add_argument("--database", type=Path, default=Path("tracker.db"))
    parser.add_argument("--dist", type=Path, default=_HERE / "dist", help="the built files")
    given = parser.parse_args(arguments)
    try:
        settings, database = Settings.from_env(), Database(given.database)
    except (sqlite3.Error, SettingsError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    try:
        listening = socket.create_server(("127.0.0.1", given.port))
    except OSError as error:
        sys.stderr.write(f"Port {given.port}: {error.strerror}. Give another with --port.\n")
        return 2
    app = make_app(database, settings, dist=given.dist)
    _Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])
    database.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
