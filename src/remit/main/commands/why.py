"""``remit why``: one page on one call, for a person who was not there (contract section 13)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from remit.errors import WrongUse
from remit.main.asking import ServerRefused, asker
from remit.main.output import print_json, print_text
from remit.main.telling import page_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.main.asking import Asker
    from remit.values.json import JsonObject


def run(call: str, *, as_json: bool) -> int:
    """Print the page, or the record itself."""
    read = asyncio.run(_read(call, names=not as_json))
    if as_json:
        print_json(read.record)
    else:
        print_text(page_of(read.record, read.answered, read.names))
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The record, the input that the call waited for, if it did, and the names of keys in both."""

    record: JsonObject
    answered: JsonObject | None = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])


async def _read(call: str, *, names: bool) -> _Read:
    client, server = asker()
    async with client:
        record = (await server.ask("GET", f"/v1/calls/{quote(call, safe='')}")).body
        waited, answered = record.get("inputId"), None
        if isinstance(waited, str):
            found = await server.ask("GET", f"/v1/inputs/{quote(waited, safe='')}", missing_ok=True)
            answered = found.body if found.status == 200 else None
        said = (record.get("actor"), record.get("answeredBy"), (answered or {}).get("answeredBy"))
        keys = {label for label in said if isinstance(label, str) and label.startswith("key:")}
        known = await _names(server, keys) if names and keys else {}
        return _Read(record=record, answered=answered, names=known)


async def _names(server: Asker, labels: set[str]) -> dict[str, str]:
    """The names of keys; those of none where the key that asks may not list them."""
    found: dict[str, str] = {}
    try:
        for role in ("backend", "operator"):
            cursor: object = ""
            while isinstance(cursor, str) and labels - found.keys():
                after = f"&cursor={quote(cursor, safe='')}" if cursor else ""
                page = (await server.ask("GET", f"/v1/keys?role={role}&limit=500{after}")).body
                rows = cast("list[JsonObject]", page["items"])
                named = {f"key:{row['id']}": str(row["name"]) for row in rows}
                found |= {label: named[label] for label in labels & named.keys()}
                cursor = page["next"]
    except (WrongUse, ServerRefused):
        pass
    return found
