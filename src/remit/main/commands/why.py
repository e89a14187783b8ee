"""``remit why``: one page on one call, for a person who was not there (contract section 13)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import quote

from remit.main.asking import asker
from remit.main.output import print_json, print_text
from remit.main.telling import page_of

if TYPE_CHECKING:
    from remit.values.json import JsonObject


def run(call: str, *, as_json: bool) -> int:
    """Print the page, or the record itself."""
    record, answered = asyncio.run(_read(call))
    if as_json:
        print_json(record)
    else:
        print_text(page_of(record, answered))
    return 0


async def _read(call: str) -> tuple[JsonObject, JsonObject | None]:
    """The record, and the input that the call waited for, if it did."""
    client, server = asker()
    async with client:
        record = (await server.ask("GET", f"/v1/calls/{quote(call, safe='')}")).body
        waited = record.get("inputId")
        if not isinstance(waited, str):
            return record, None
        found = await server.ask("GET", f"/v1/inputs/{quote(waited, safe='')}", missing_ok=True)
        return record, found.body if found.status == 200 else None
