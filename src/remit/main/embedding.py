"""A whole server inside another program's event loop: for tests of what is built on it.

It is what ``remit serve`` runs, without signals, without touching the process it is in.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.main.composing import composed
from remit.main.examining import listening
from remit.main.serving import Server, server_config

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from remit.gateway.acting import Books
    from remit.main.settings import Settings

_LAST_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A server that listens.

    Attributes:
        url: its origin.
        books: for what has no route: the first workspace and the first key.
    """

    url: str
    books: Books


@asynccontextmanager
async def embedded(
    settings: Settings, *, on_fault: Callable[[BaseException], None]
) -> AsyncGenerator[Embedded]:
    """Serve as long as the block runs.

    Args:
        settings: what is set; the host is loopback.
        on_fault: is told of faults of ours, as ``composed`` says.

    Raises:
        WrongUse: a setting, or the port.
    """
    bound = listening(settings.server.host, settings.server.port)
    url = f"http://{settings.server.host}:{bound.getsockname()[1]}"
    ready = asyncio.Event()
    with bound:
        async with composed(settings, public_url=url, on_fault=on_fault) as whole:
            server = Server(server_config(whole, settings, url, None), ready.set)
            if settings.model.name is not None:
                await whole.models.prepare()
            await whole.worker.start()
            whole.talker.start()
            serving = asyncio.ensure_future(server.serve(sockets=[bound]))
            try:
                await _until_ready(ready, serving)
                yield Embedded(url=url, books=whole.books)
            finally:
                whole.bus.end_all("shutdown")
                server.should_exit = True
                await serving
                await whole.talker.stop()
                await whole.worker.stop(_LAST_S)


async def _until_ready(ready: asyncio.Event, serving: asyncio.Future[None]) -> None:
    """Wait until it listens; what it ends with before that is raised."""
    listens = asyncio.ensure_future(ready.wait())
    await asyncio.wait({listens, serving}, return_when=asyncio.FIRST_COMPLETED)
    listens.cancel()
    if serving.done():
        serving.result()
