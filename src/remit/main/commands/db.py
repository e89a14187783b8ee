"""``remit db upgrade``: brings the store's schema up to date (contract section 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.main.opening import place_of, refuse_newer
from remit.main.output import say
from remit.store import migrating

if TYPE_CHECKING:
    from remit.main.settings import Settings


def upgrade(settings: Settings) -> int:
    """Upgrade, all or nothing; nothing happens where the schema is up to date."""
    url = settings.store_url
    before = migrating.current(url)
    refuse_newer(settings, before)
    after = migrating.upgrade(url)
    if before == after:
        say(f"{place_of(settings)} is up to date, at revision {after}.")
    else:
        had = "it was empty" if before is None else f"it was at {before}"
        say(f"{place_of(settings)} is at revision {after} now; {had}.")
    return 0
