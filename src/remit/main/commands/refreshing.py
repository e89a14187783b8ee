"""The effective catalog of a file, for the commands that use it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.gateway.catalogs import Fetched, Refreshed, fetch_document, refresh
from remit.main.output import say
from remit.main.world import FileSnapshots

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.main.settings import Settings


def client(settings: Settings) -> GuardedClient:
    """The only way out, under the operator's exceptions."""
    return GuardedClient(parse_allowances(settings.egress_allow))


async def refreshed(
    definition: Definition, egress: GuardedClient, settings: Settings, *, fetch: bool
) -> Refreshed:
    """The catalog to use now, with a word on stderr where it is not fresh."""
    found = await refresh(
        definition,
        egress,
        FileSnapshots(settings.cache_dir),
        now_s=int(time.time()),
        brand=settings.brand,
        fetch=fetch,
    )
    if found.fault is not None:
        used = (
            f"the last good catalog, {age(found.age_s)} old, serves"
            if found.source == "stale"
            else "the static tools of the definition serve"
        )
        say(f"The catalog could not be fetched: {found.fault}\nFor now {used}.")
    return found


async def fetched_document(definition: Definition, settings: Settings) -> Fetched | str:
    """The document that ``toolsUrl`` serves now, decoded; or why there is none, in words."""
    async with client(settings) as egress:
        return await fetch_document(definition, egress)


def age(age_s: int | None) -> str:
    """An age in a person's words."""
    if age_s is None:
        return "of unknown age"
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if age_s >= size:
            count = age_s // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{age_s} second{'s' if age_s != 1 else ''}"
