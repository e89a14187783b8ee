"""Acme Scenes: a small product with 3D scenes, whose API an AI agent can work with.

    python examples/scenes/app.py --port 8801 --database scenes.db

It needs Python 3.11 and nothing else, and knows nothing of Remit: what an agent may do with it is
written down in `scenes.yaml`.
"""

from __future__ import annotations

import argparse
import signal
import sqlite3
import sys
import threading
from pathlib import Path

from links import Links
from renders import Renderer
from routes import App
from seeding import seed
from server import ScenesServer
from store import Store

# A token in the clear belongs on this machine alone, so the app listens nowhere else.
HOST = "127.0.0.1"


def main() -> int:
    """Run the app until SIGTERM or SIGINT; returns the exit code."""
    options = _options()
    stopping = threading.Event()

    def stop(number: int, frame: object) -> None:
        del number, frame
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    try:
        store = Store(options.database)
        seed(store)
    except sqlite3.Error as error:
        return _refuse(f"The database {options.database} cannot be used: {error}.")
    try:
        server = ScenesServer(HOST, options.port)
    except (OSError, OverflowError) as error:
        store.close()
        return _refuse(f"Port {options.port} cannot be used: {error}. --port 0 takes a free one.")
    _serve(server, store, options, stopping)
    return 0


def _serve(
    server: ScenesServer, store: Store, options: argparse.Namespace, stopping: threading.Event
) -> None:
    """Start the threads, say so, and end them in turn when it is time to stop."""
    base_url = f"http://{HOST}:{server.server_port}"
    renderer = Renderer(store, seconds=options.render_seconds)
    app = App(
        store=store,
        links=Links(base_url=base_url, secret=store.secret("signing")),
        tools_file=options.tools,
        on_job_queued=renderer.wake,
    )
    listener = threading.Thread(target=server.serve, args=(app,), name="listener")
    renderer.start()
    listener.start()
    sys.stdout.write(f"Acme Scenes is listening on {base_url}\n")
    sys.stdout.flush()
    stopping.wait()
    server.shutdown()
    listener.join()
    server.server_close()
    renderer.stop()
    store.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Acme Scenes, an example app for Remit.")
    parser.add_argument("--port", type=int, default=8801, help="0 takes a free one (default 8801)")
    parser.add_argument("--database", type=Path, required=True, help="SQLite file; made if missing")
    parser.add_argument(
        "--tools",
        type=Path,
        default=Path(__file__).with_name("catalog.json"),
        help="catalog that /agent/tools serves (default: catalog.json beside this file)",
    )
    parser.add_argument(
        "--render-seconds", type=float, default=1.5, help="how long a rendering takes (default 1.5)"
    )
    return parser.parse_args()


def _refuse(words: str) -> int:
    sys.stderr.write(f"{words}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
