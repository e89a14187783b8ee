"""``remit keys``: made, listed and revoked in the store itself, whether or not a server runs."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING, TypeVar

from remit.errors import WrongUse
from remit.gateway import admitting
from remit.gateway.acting import system
from remit.gateway.journal import moment
from remit.main.opening import books_of, open_store
from remit.main.output import is_terminal, print_json, print_text, say
from remit.main.settings import store_file

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.gateway.acting import Books
    from remit.gateway.records import ApiKey, Role
    from remit.main.settings import Settings
    from remit.values.json import JsonObject

T = TypeVar("T")

DEFAULT_WORKSPACE = "default"
_WORKSPACE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_PAGE = 200


def create(settings: Settings, role: Role, *, name: str | None, workspace: str) -> int:
    """Make a key and print it, and nothing else, on stdout; the only time that it is shown."""
    named = _workspace(workspace)

    # A wrong folder or a misspelt name is no fault, and makes a new one: it must not stay unseen.
    file = store_file(settings.store_url)
    is_new = file is not None and not file.exists()

    async def work(books: Books) -> admitting.Created:
        if is_new:
            say(f"Made the store {file}.")
        if await books.workspaces.make(named, at=books.wall.unix_ms()):
            say(f"Made the workspace {named}.")
        return await admitting.create_key(books, system(named), role, name=name or role)

    created = asyncio.run(_opened(settings, work))
    print_text(created.secret.reveal())
    if is_terminal(sys.stdout):
        say(
            f'This is the {role} key "{created.key.name}" of the workspace "{named}", '
            f"{created.key.id}. It is shown this once: only its hash is kept."
        )
    return 0


def list_all(settings: Settings, *, workspace: str, as_json: bool) -> int:
    """Print every key and token of a workspace, revoked ones among them; never a secret."""
    named = _workspace(workspace)

    async def work(books: Books) -> tuple[list[ApiKey], int]:
        await _must_be_there(books, named)
        found: list[ApiKey] = []
        cursor: str | None = None
        while True:
            page = await admitting.list_keys(books, system(named), limit=_PAGE, cursor=cursor)
            found += page.items
            cursor = page.next
            if cursor is None:
                return found, books.wall.unix_ms()

    keys, now = asyncio.run(_opened(settings, work))
    if as_json:
        print_json({"items": [_as_json(key) for key in keys]})
    elif not keys:
        say(f'The workspace "{named}" has no key. Next: remit keys create --role operator')
    else:
        print_text(_table(keys, now))
    return 0


def revoke(settings: Settings, key: str, *, workspace: str) -> int:
    """Revoke a key: a running server refuses it within 2 seconds."""
    named = _workspace(workspace)
    if key.startswith("rk_"):
        raise WrongUse(
            "That is a key itself, and here stands its id. `remit keys list` shows the ids, each "
            "with the first characters of its key."
        )

    async def work(books: Books) -> tuple[ApiKey | None, ApiKey]:
        await _must_be_there(books, named)
        before = await books.keys.get(named, key)
        return before, await admitting.revoke_key(books, system(named), key)

    before, after = asyncio.run(_opened(settings, work))
    if before is not None and before.revoked_at is not None:
        say(f"{key} was revoked before, at {moment(before.revoked_at)}. Nothing was changed.")
    else:
        say(
            f'Revoked: {key}, the {after.role} key "{after.name}" of the workspace "{named}". '
            "A running server refuses it within 2 seconds."
        )
    return 0


async def _opened(settings: Settings, work: Callable[[Books], Awaitable[T]]) -> T:
    async with open_store(settings) as store:
        return await work(books_of(store))


async def _must_be_there(books: Books, workspace: str) -> None:
    known = [one.id for one in await books.workspaces.all()]
    if workspace not in known:
        listed = f"There are: {', '.join(known[:20])}." if known else "There is none yet."
        raise WrongUse(
            f'There is no workspace "{workspace}" in this store. {listed} '
            "Name one with --workspace; `remit keys create` makes a new one."
        )


def _workspace(name: str) -> str:
    if not _WORKSPACE.fullmatch(name):
        raise WrongUse(
            f"--workspace {name[:80]!a} is no name of a workspace: use 1 to 64 letters, digits, "
            "dots, hyphens and underscores, with a letter or digit at both ends."
        )
    return name


def _state(key: ApiKey, now: int) -> str:
    if key.revoked_at is not None:
        return f"revoked {moment(key.revoked_at)[:10]}"
    if key.expires_at is not None and key.expires_at <= now:
        return f"expired {moment(key.expires_at)[:10]}"
    return "usable"


def _table(keys: list[ApiKey], now: int) -> str:
    rows = [("id", "role", "name", "begins with", "made", "state")]
    rows += [
        (key.id, key.role, key.name, f"{key.prefix}…", moment(key.created_at)[:10],
         _state(key, now))
        for key in keys
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _as_json(key: ApiKey) -> JsonObject:
    def when(at_ms: int | None) -> str | None:
        return None if at_ms is None else moment(at_ms)

    return {
        "id": key.id,
        "role": key.role,
        "name": key.name,
        "prefix": key.prefix,
        "user": key.user,
        "createdAt": when(key.created_at),
        "expiresAt": when(key.expires_at),
        "revokedAt": when(key.revoked_at),
        "lastUsedAt": when(key.last_used_at),
    }
