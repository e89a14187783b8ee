"""The composition root: from settings to a node that makes calls. Only this room knows every other.

What is opened here is closed here, in the opposite order, whatever happens in between.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit import __version__
from remit.agent import ProviderModels
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.errors import InvalidRequest, WrongUse
from remit.gateway.consenting import Consents
from remit.gateway.endings import Endings
from remit.gateway.live import Bus
from remit.gateway.node import Node, Terms
from remit.gateway.offers import Offers
from remit.gateway.refreshing import Refresher
from remit.gateway.remembering import Memory
from remit.gateway.standing import Standing
from remit.gateway.talking import Talker
from remit.gateway.talks import Stops, Talks, TalkTerms
from remit.gateway.tasks import Tasks
from remit.gateway.wallet import Wallet
from remit.gateway.working import Worker
from remit.main.opening import books_of, open_store, open_vault
from remit.main.settings import store_file
from remit.main.world import RandomIds, SystemClock, Unwatched
from remit.vault.signing import Signer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from pathlib import Path

    from remit.gateway.acting import Books
    from remit.main.settings import Settings
    from remit.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """All that a server is made of, but for HTTP.

    Attributes:
        worker: not started yet: it takes up what dead nodes left.
        talks: what sessions need; ``bus`` has their readers.
        talker: works the sessions; not started yet.
        models: the language models that are set.
        made: the key file that was made just now, or None.
    """

    store: Store
    books: Books
    standing: Standing
    node: Node
    worker: Worker
    talks: Talks
    bus: Bus
    talker: Talker
    models: ProviderModels
    made: Path | None


@asynccontextmanager
async def composed(
    settings: Settings, *, public_url: str, on_fault: Callable[[BaseException], None]
) -> AsyncGenerator[Composed]:
    """A node on its store, with vault, signing keys and guard.

    Args:
        settings: what is set.
        public_url: the issuer of identity tokens, without a slash at its end.
        on_fault: is told what a task of the node raised, and why a round of the worker failed.

    Raises:
        WrongUse: a setting, the schema, the vault's key, or a second server on a SQLite store.
        StoreUnavailable: the database cannot be reached.
    """
    # Read before anything is opened: a fault in it would end the start half way.
    allowances = parse_allowances(settings.egress_allow)
    models = _models(settings)
    with _only_server(store_file(settings.store_url)):
        store = await asyncio.to_thread(open_store, settings)
        async with store, GuardedClient(allowances) as egress:
            opened = await open_vault(store, settings)
            books = books_of(store, opened.vault)
            signer = Signer(issuer=public_url, keys=store.signing_keys, keeper=opened.vault)
            await signer.prepare(now_s=int(time.time()))
            memory = Memory(store.revisions, books.clock, books.bell)
            refresher = Refresher(books, memory, egress, brand=settings.brand)
            standing = Standing(books, memory, refresher, brand=settings.brand)
            tasks = Tasks(on_fault)
            clock, ids = SystemClock(), RandomIds()
            node = Node(
                id=ids.fresh_id("node"),
                calls=store.calls,
                inputs=store.inputs,
                work=store.work,
                usage=store.usage,
                devices=store.devices,
                standing=standing,
                consents=Consents(books, memory),
                wallet=Wallet(books, memory),
                minter=signer,
                keeper=opened.vault,
                egress=egress,
                clock=clock,
                wall=clock,
                fresh=ids,
                ids=ids,
                watcher=Unwatched(),
                tasks=tasks,
                endings=Endings(),
                alarm=asyncio.Event(),
                terms=Terms(
                    version=__version__,
                    brand=settings.brand,
                    transcripts=frozenset({public_url, *settings.server.allowed_origins}),
                ),
            )
            worker = Worker(node, store.now_ms, alone=not store.shared, on_fault=on_fault)
            bus = Bus()
            listening = store.listening(bus, node=node.id, on_fault=on_fault)
            talks = Talks(
                node=node,
                books=books,
                sessions=store.sessions,
                clients=store.clients,
                models=models,
                live=bus if listening is None else listening,
                now_ms=store.now_ms,
                alarm=asyncio.Event(),
                stops=Stops(),
                offers=Offers(),
                terms=TalkTerms(),
                on_fault=on_fault,
            )
            talker = Talker(talks, on_fault=on_fault)
            if listening is not None:
                await listening.start()
            try:
                yield Composed(
                    store=store,
                    books=books,
                    standing=standing,
                    node=node,
                    worker=worker,
                    talks=talks,
                    bus=bus,
                    talker=talker,
                    models=models,
                    made=opened.made,
                )
            finally:
                if listening is not None:
                    await listening.stop()
                await models.close()


def _models(settings: Settings) -> ProviderModels:
    """The language models that are set.

    Raises:
        WrongUse: no model can be made of what is set.
    """
    source = settings.model
    models = ProviderModels(source.name, base_url=source.base_url, api_key=source.api_key)
    try:
        models.find(None)
    except InvalidRequest as error:
        raise WrongUse(f"[model]: {error.message}") from None
    return models


@contextmanager
def _only_server(file: Path | None) -> Generator[None]:
    """Hold a SQLite store for this process: two servers would take each other for dead.

    The lock goes with the process, however that ends; its file stays.

    Raises:
        WrongUse: another server holds it.
    """
    if file is None or not file.parent.is_dir():
        # Without its folder there is no store either, which says so itself.
        yield
        return
    lock = file.with_name(f"{file.name}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WrongUse(
            f"{lock} cannot be made: {(error.strerror or 'it failed').lower()}. A server needs a "
            "folder for its store that it can write in. Check [store] url."
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WrongUse(
                f"The store {file} is served by another process already, and on SQLite there can "
                "be one server. End that one, or use PostgreSQL for several."
            ) from None
        yield
    finally:
        os.close(handle)
