"""Apps of each framework behind real servers, for as long as a test needs them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import uvicorn

WAIT_S = 30


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@contextmanager
def asgi(app: Callable[..., Any]) -> Iterator[str]:
    """Served by uvicorn; the URL."""
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        ends_s = time.monotonic() + WAIT_S
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < ends_s
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(WAIT_S)


@contextmanager
def wsgi(app: Callable[..., Any]) -> Iterator[str]:
    """Served by the standard library's server; the URL."""
    with make_server("127.0.0.1", 0, app, handler_class=_Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(WAIT_S)
