"""What ``remit doctor`` looks at, one function each: what was found, or the fault as it is raised.

Nothing is changed: a SQLite store or a key file that is not there is not made.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.agent import ProviderModels
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.errors import CallError, WrongUse
from remit.gateway.journal import moment
from remit.gateway.keeping import VaultFault
from remit.gateway.ports import Limits, WireRequest
from remit.main.opening import UPGRADE, place_of, refuse_newer, vault_settings
from remit.main.settings import DEFAULT_FILE, store_file
from remit.store import migrating
from remit.store.schema import HEAD
from remit.store.store import Store
from remit.vault.sealing import Vault
from remit.vault.sources import find_masters

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from remit.main.settings import Settings
    from remit.vault.sources import VaultSettings

#: A clock before this release was written is wrong: 1 November 2026.
OLDEST_MS = 1_793_491_200_000
MAX_DRIFT_MS = 5_000
#: An address to listen on that is none to ask.
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- asked, not listened on
_HEALTHY = b'{"status":"ok"}'
_LOOK = Limits(total_timeout_ms=5_000)
_BATCH = 100
_MAX_OPENED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check found, in words; a fault has its place and its mend in them."""

    words: str
    fault: bool = False


def of_settings(config: Path | None) -> Found:
    """Settings that could be read."""
    if config is None and not os.path.exists(DEFAULT_FILE):  # noqa: PTH110 -- a name of the folder
        return Found(words=f"no {DEFAULT_FILE} here; variables and defaults are used")
    return Found(words=f"{config or DEFAULT_FILE} can be read")


async def of_store(settings: Settings) -> Found:
    """The database answers.

    Raises:
        StoreUnavailable: it does not.
        WrongUse: the URL is none, or the folder is not there.
    """
    file = store_file(settings.store_url)
    if file is not None and not file.exists():
        if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
            raise WrongUse(
                f"The store {file} is not there and cannot be made: {file.parent} is no folder "
                "that can be written. Make it, or set [store] url to another place."
            )
        return Found(words=f"{file} is not there yet; `remit serve` makes it")
    await asyncio.to_thread(migrating.current, settings.store_url)
    return Found(words=f"{place_of(settings)} answers")


async def of_schema(settings: Settings) -> Found:
    """The tables are those of this release; raises as ``of_store`` does."""
    file = store_file(settings.store_url)
    if file is not None and not file.exists():
        return Found(words=f"`remit serve` makes it at revision {HEAD}")
    revision = await asyncio.to_thread(migrating.current, settings.store_url)
    refuse_newer(settings, revision)
    if revision == HEAD:
        return Found(words=f"at revision {HEAD}, which this release needs")
    at = "empty" if revision is None else f"at revision {revision}"
    if file is not None:
        return Found(words=f"{at}; `remit serve` brings it to {HEAD}")
    return Found(words=f"{place_of(settings)} is {at} and must be at {HEAD}. {UPGRADE}", fault=True)


async def of_vault(settings: Settings) -> Found:
    """The key is there and opens what is sealed.

    Raises:
        WrongUse: there is no usable key.
        StoreUnavailable: what is sealed cannot be read.
    """
    given = vault_settings(settings)
    masters = await asyncio.to_thread(find_masters, given)
    if not await asyncio.to_thread(_has_tables, settings):
        return Found(words=_without_store(given, there=masters is not None))
    async with Store(settings.store_url) as store:
        if masters is None:
            if await store.data_keys.masters():
                raise WrongUse(
                    f"{given.default_file} is not there, and the store holds values that were "
                    "sealed under its key. Put the file back, or set [vault] key_file."
                )
            return Found(words=_without_store(given, there=False))
        vault = Vault(store.data_keys, masters)
        await vault.check()
        return await _opens(vault, store)


async def _opens(vault: Vault, store: Store) -> Found:
    opened = 0
    faults: list[str] = []
    for workspace in await store.data_keys.workspaces():
        after, left = "", _MAX_OPENED
        # Every sealed value is of some data key, and none of the empty one.
        while left and (
            rows := await store.sealed_rows.under_other(workspace, "", after=after, limit=_BATCH)
        ):
            after, left = rows[-1].id, max(0, left - len(rows))
            for row in rows:
                try:
                    await vault.open(row.place, row.sealed)
                    opened += 1
                except VaultFault as fault:
                    faults.append(fault.message)
    if faults:
        return Found(
            words=f"Sealed values that do not open: {len(faults)}. {faults[0]}", fault=True
        )
    return Found(words=f"the key {vault.master} opens what is sealed ({opened} values opened)")


def _has_tables(settings: Settings) -> bool:
    file = store_file(settings.store_url)
    if file is not None and not file.exists():
        return False
    return migrating.current(settings.store_url) == HEAD


def _without_store(given: VaultSettings, *, there: bool) -> str:
    if there:
        return "there is a key; nothing is sealed yet"
    return f"`remit serve` makes {given.default_file}; nothing is sealed yet"


async def of_clock(settings: Settings) -> Found:
    """The time of day is one, and the database's is the same.

    Raises:
        WrongUse: it is not; tokens and leases would be wrong.
        StoreUnavailable: the database does not say.
    """
    now_ms = time.time_ns() // 1_000_000
    theirs = now_ms
    if store_file(settings.store_url) is None:
        async with Store(settings.store_url) as store:
            theirs = await store.now_ms()
        now_ms = time.time_ns() // 1_000_000
    return judged_clock(now_ms, theirs)


def judged_clock(ours_ms: int, theirs_ms: int) -> Found:
    """What to say of two clocks: this machine's and the database's, in Unix milliseconds."""
    if ours_ms < OLDEST_MS:
        return Found(
            words=f"This machine says {moment(ours_ms)}, which is before this release was made. "
            "Set its clock; tokens would be refused as not valid yet, or for ever.",
            fault=True,
        )
    drift_ms = abs(ours_ms - theirs_ms)
    if drift_ms > MAX_DRIFT_MS:
        return Found(
            words=f"This machine's clock and the database's are {drift_ms / 1000:.0f} s apart. "
            "Let both keep time (NTP).",
            fault=True,
        )
    return Found(words=f"{moment(ours_ms)}")


async def of_egress(settings: Settings) -> Found:
    """Every entry of ``[egress] allow`` can be read.

    Raises:
        WrongUse: one cannot; it names each.
    """
    parse_allowances(settings.egress_allow)
    count = len(settings.egress_allow)
    if not count:
        return Found(words="public https addresses alone")
    return Found(words=f"besides public https addresses, {', '.join(settings.egress_allow)}")


async def of_model(settings: Settings) -> Found:
    """A model can be made of what is set; nobody is asked whether it answers.

    Raises:
        InvalidRequest: it cannot: the name, the key, or a package that is not installed.
    """
    source = settings.model
    ProviderModels(source.name, base_url=source.base_url, api_key=source.api_key).find(None)
    if source.name is None:
        return Found(words="none is set; sessions need one, and the rest does not")
    return Found(words=f"{source.name}; it was not asked whether it answers")


async def of_port(settings: Settings) -> Found:
    """The server could listen.

    Raises:
        WrongUse: something else listens there, or the address is none of this machine's.
    """
    try:
        listening(settings.server.host, settings.server.port).close()
    except WrongUse:
        if not await _is_served(settings):
            raise
        place = f"{settings.server.host} port {settings.server.port}"
        return Found(words=f"{place}: a Remit server listens there")
    if settings.server.port == 0:
        return Found(words=f"a free port of {settings.server.host}, another at each start")
    return Found(words=f"{settings.server.host} port {settings.server.port} is free")


async def _is_served(settings: Settings) -> bool:
    """Whether what listens on the port answers as Remit does."""
    host = _LOOPBACK.get(settings.server.host, settings.server.host)
    place = f"[{host}]" if ":" in host else host
    url = f"http://{place}:{settings.server.port}"
    try:
        async with GuardedClient(parse_allowances((url.removeprefix("http://"),))) as client:
            health = await client.send(WireRequest(method="GET", url=f"{url}/healthz"), _LOOK)
            # Others say that they are well in the same words; these counters are ours.
            counters = await client.send(WireRequest(method="GET", url=f"{url}/metrics"), _LOOK)
    except (CallError, WrongUse):
        return False
    return (health.status, health.body) == (200, _HEALTHY) and b"\nremit_" in counters.body


def listening(host: str, port: int, *, of: str = "[server]") -> socket.socket:
    """A socket that is bound and listens; the caller closes it.

    Args:
        host: where.
        port: 0 for any that is free.
        of: what host and port were given by, for the words: ``[server]``, or ``--port``.

    Raises:
        WrongUse: it cannot be had.
    """
    place = f"[server] host {host}, port {port}" if of == "[server]" else f"{of} {port}"
    mend = "[server] port to another" if of == "[server]" else f"another {of}"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise WrongUse(
            f"{place}: no address is known for {host}. Write 127.0.0.1 or 0.0.0.0."
        ) from None
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        # A port that a server left a moment ago is free; one that somebody listens on is not.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(2_048)
    except OSError as error:
        bound.close()
        reason = (error.strerror or "it failed").lower()
        raise WrongUse(
            f"{place}: nothing can listen there: {reason}. Is a server running there already? "
            f"End it, or set {mend}."
        ) from None
    return bound


CHECKS: tuple[tuple[str, Callable[[Settings], Coroutine[None, None, Found]]], ...] = (
    ("store", of_store),
    ("schema", of_schema),
    ("vault", of_vault),
    ("clock", of_clock),
    ("egress", of_egress),
    ("model", of_model),
    ("port", of_port),
)
