"""``remit signing rotate``: a new key for identity tokens (contract sections 8 and 13)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from remit.gateway.journal import moment
from remit.main.opening import open_store, open_vault
from remit.main.output import say
from remit.vault.signing import Signer

if TYPE_CHECKING:
    from remit.main.settings import Settings


def rotate(settings: Settings, *, at_once: bool) -> int:
    """Add a key, which signs once every verifier had the time to see it."""
    return asyncio.run(_rotate(settings, at_once=at_once))


async def _rotate(settings: Settings, *, at_once: bool) -> int:
    async with open_store(settings) as store:
        opened = await open_vault(store, settings)
        if opened.made is not None:
            say(f"Made the key file {opened.made}, readable by its owner alone. Back it up.")
        signer = Signer(issuer="", keys=store.signing_keys, keeper=opened.vault)
        now_s = int(time.time())
        key = await signer.rotate(now_s=now_s, at_once=at_once)
    if key.active_from_s > now_s:
        say(
            f"The key {key.kid} is published from now on, and signs from "
            f"{moment(key.active_from_s * 1000)} on. The one before stays published until its "
            "last token has expired."
        )
    else:
        gone = " Every other key is forgotten, and what it signed is refused." if at_once else ""
        say(f"The key {key.kid} signs from now on.{gone}")
    return 0
