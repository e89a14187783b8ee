"""``remit serve``: a composed node behind HTTP, until it is asked to stop (contract section 13).

A stop takes no new connection, lets what is under way run to its end for up to ``drain_s``, and
leaves; what is not done by then is a row that the next start takes up.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import traceback
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn

import remit
from remit import __version__
from remit.errors import RemitError
from remit.main.composing import Composed, composed
from remit.main.examining import listening
from remit.main.output import print_text, say
from remit.main.protocol import protocol_of
from remit.web.app import make_app
from remit.web.dev_page import with_page
from remit.web.services import HttpSettings, Services

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, Callable, Generator
    from contextlib import AbstractAsyncContextManager, suppress

    from remit.main.settings import Settings
    from remit.web.dev_page import DevPage

_PACKAGE = str(Path(remit.__file__).parent)
# What was asked for before the stop gets this long at least, whatever the requests took.
_LEAST_DRAIN_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a server has besides the API, for ``remit dev``.

    Attributes:
        page: its web page.
        ready: called once the server listens, in the place of the line that says so.
    """

    page: DevPage
    ready: Callable[[], None]


#: Makes what stands beside a server at this address, and ends it.
Besides: TypeAlias = "Callable[[Composed, str], AbstractAsyncContextManager[Beside]]"


def serve(settings: Settings, besides: Besides | None = None, *, port_of: str = "[server]") -> int:
    """Serve until SIGTERM or Ctrl-C; 0 where all that was under way came to its end.

    Args:
        settings: what is set.
        besides: what stands beside the API.
        port_of: what the port was given by, for the words where it is taken.

    Raises:
        WrongUse: a setting, the port, the schema or the vault's key.
        StoreUnavailable: the database cannot be reached.
    """
    # A dump of this process would hold its keys, and credentials that are on their way.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bound = listening(settings.server.host, settings.server.port, of=port_of)
    try:
        # The fastest event loop that is installed.
        factory = uvicorn.Config("", loop="auto", log_config=None).get_loop_factory()
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(_serve(settings, bound, besides or _nothing))
    finally:
        bound.close()


@asynccontextmanager
async def _nothing(_whole: Composed, _address: str) -> AsyncGenerator[None]:
    yield None


async def _serve(
    settings: Settings,
    bound: socket.socket,
    besides: Callable[[Composed, str], AbstractAsyncContextManager[Beside | None]],
) -> int:
    address = _url(settings.server.host, bound.getsockname()[1])
    public_url = settings.server.public_url or _reached_at(settings.server.host, address)
    async with composed(settings, public_url=public_url, on_fault=tell_fault) as whole:
        _hear_faults()
        if whole.made is not None and besides is _nothing:
            say(
                f"Made the key file {whole.made}, readable by its owner alone: it seals what the "
                "store keeps secret. Back it up, apart from the store."
            )
        if settings.server.public_url is None and not _is_loopback(settings.server.host):
            say(
                f"[server] public_url is not set, so that links and tokens say {public_url}. "
                "Set it to the address that others reach this server at."
            )
        _spare_the_collector()
        async with besides(whole, address) as beside:
            await whole.worker.start()
            whole.node.tasks.start_service(_begin_to_talk(whole))
            config = server_config(whole, settings, public_url, beside and beside.page)
            server = Server(config, beside.ready if beside else lambda: _listening(address))
            return await _until_stopped(server, whole, bound, settings.server.drain_s)


async def _begin_to_talk(whole: Composed) -> None:
    """Work on sessions once the model's libraries are loaded, which takes seconds of a thread.

    Claimed before, sessions would wait for that under a lease, and each start that dies meanwhile
    would count against them.
    """
    try:
        await whole.models.prepare()
    except Exception as error:  # noqa: BLE001 (the turns say it to whoever waits for an answer)
        tell_fault(error)
    whole.talker.start()


def _listening(address: str) -> None:
    print_text(f"Remit is listening on {address}")


def _spare_the_collector() -> None:
    """Let the cycle collector look less often: a call leaves hundreds of values and no cycle.

    What was loaded by now stays until the end, so that it is not looked through either.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _until_stopped(
    server: Server, whole: Composed, bound: socket.socket, drain_s: int
) -> int:
    loop = asyncio.get_running_loop()
    serving = asyncio.ensure_future(server.serve(sockets=[bound]))
    first, second = asyncio.Event(), asyncio.Event()
    until: list[float] = []

    def stop() -> None:
        if first.is_set():
            second.set()
            return
        first.set()
        until.append(loop.time() + drain_s)
        under_way = len(whole.node.tasks)
        if under_way:
            say(f"Stopping: calls under way: {under_way}. They have {drain_s} s to end.")
        # Readers of streams would hold up the stop as long as it lasts.
        whole.bus.end_all("shutdown")
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    if not await _unless(second, serving):
        return _cut_off(whole)
    await whole.talker.stop()
    left_s = max(_LEAST_DRAIN_S, until[0] - loop.time()) if until else float(drain_s)
    stopped = asyncio.ensure_future(whole.worker.stop(left_s))
    if await _unless(second, stopped) and stopped.result():
        return 0
    return _cut_off(whole)


async def _unless(second: asyncio.Event, work: asyncio.Future[Any]) -> bool:
    """Wait for some work, or for the second signal, which ends it; whether the work was done."""
    asked = asyncio.ensure_future(second.wait())
    try:
        await asyncio.wait({asked, work}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
            return True
        work.cancel()
        return False
    finally:
        asked.cancel()


def _cut_off(whole: Composed) -> int:
    say(
        f"Stopped; cut off: {len(whole.node.tasks)}. The next start takes them up; of a write "
        "that was sent it is not known whether it happened."
    )
    return 1


class Server(uvicorn.Server):
    """Says when it listens; signals are handled by whoever runs it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so: whoever started the process waits for this line."""
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone: the base class would end the process before the worker is done."""
        yield


def server_config(
    whole: Composed, settings: Settings, public_url: str, page: DevPage | None
) -> uvicorn.Config:
    """The HTTP server of a node, with the page of ``remit dev`` where there is one."""
    server = settings.server
    services = Services(
        books=whole.books,
        node=whole.node,
        worker=whole.worker,
        standing=whole.standing,
        audit=whole.store.audit,
        idempotency=whole.store.idempotency,
        talks=whole.talks,
        bus=whole.bus,
        now_ms=whole.store.now_ms,
        ping=whole.store.ping,
        on_fault=lambda request, error: tell_fault(error, request),
        settings=HttpSettings(
            public_url=public_url,
            allowed_origins=server.allowed_origins,
            brand=settings.brand,
            version=__version__,
            max_per_s=settings.requests_per_s,
        ),
    )
    app = make_app(services)
    return uvicorn.Config(
        app if page is None else with_page(app, page, services),
        http=protocol_of(app.calls, app.hosts),
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # Not the environment's word: FORWARDED_ALLOW_IPS would be believed.
        proxy_headers=bool(server.trusted_proxies),
        forwarded_allow_ips=list(server.trusted_proxies),
        timeout_graceful_shutdown=server.drain_s,
    )


class _Heard(logging.Handler):
    """Tells what a library logs as an error as one of our own faults: no traceback, no value."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell it."""
        if record.exc_info is not None and record.exc_info[1] is not None:
            tell_fault(record.exc_info[1])
        else:
            say(f"{record.name}: {record.getMessage()}")


def _hear_faults() -> None:
    """Whatever a library says at its worst, and what a task raised that nobody waits for."""
    logging.getLogger().handlers = [_Heard(logging.ERROR)]

    def forgotten(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            tell_fault(error)
        else:
            say(f"Remit met a fault: {context.get('message')}")

    asyncio.get_running_loop().set_exception_handler(forgotten)


def tell_fault(error: BaseException, request: str = "") -> None:
    """Say a fault on stderr: what kind, where in Remit, and in which request; never a value.

    Only our own errors are told with their text, which is written without secrets.
    """
    words = (
        error.message if isinstance(error, RemitError) else f"{type(error).__name__}{_at(error)}"
    )
    which = f" (request {request})" if request else ""
    # A log on a full disk, or a pipe that nobody reads, must not stop whoever met the fault.
    with suppress(Exception):
        say(f"Remit met a fault: {words}{which}")
        if os.environ.get("REMIT_DEBUG"):
            say("".join(traceback.format_exception(error)))


def _at(error: BaseException) -> str:
    """The last place in Remit that the fault went through."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(_PACKAGE)
    ]
    if not ours:
        return ""
    return f" at {Path(ours[-1].filename).relative_to(_PACKAGE)}:{ours[-1].lineno}"


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _reached_at(host: str, address: str) -> str:
    """The server's own address, where it listens on all of them this machine's."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104 -- compared with, not bound to
        return f"http://127.0.0.1:{address.rpartition(':')[2]}"
    return address


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
