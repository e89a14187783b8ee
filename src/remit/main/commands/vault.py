"""``remit vault rotate``: what is sealed comes under a new master key (contract section 13)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.main.opening import open_store, open_vault, vault_settings
from remit.main.output import say
from remit.vault.rotation import rotate as renewals
from remit.vault.sources import add_new_key, find_masters

if TYPE_CHECKING:
    from pathlib import Path

    from remit.gateway.keeping import Place
    from remit.main.settings import Settings
    from remit.store.store import Store
    from remit.vault.rotation import Renewed
    from remit.vault.sources import VaultSettings


@dataclass(slots=True)
class _Count:
    """What all steps of a rotation did together."""

    data_keys: int = 0
    values: int = 0
    overtaken: int = 0
    unopened: list[tuple[str, str] | Place] = field(default_factory=list["tuple[str, str] | Place"])

    def add(self, step: Renewed) -> None:
        """Count one step."""
        self.data_keys += step.data_keys
        self.values += step.values
        self.overtaken += step.overtaken
        self.unopened += step.unopened


def rotate(settings: Settings) -> int:
    """Seal everything anew; 1 where something does not open and was left as it is."""
    return asyncio.run(_rotate(settings))


async def _rotate(settings: Settings) -> int:
    given = vault_settings(settings)
    async with open_store(settings) as store:
        await _add_key(store, given)
        opened = await open_vault(store, settings)
        count = _Count()
        async for step in renewals(opened.vault, store.data_keys, store.sealed_rows):
            count.add(step)
    say(
        f"Under the master key {opened.vault.master} now: data keys wrapped anew: "
        f"{count.data_keys}, values sealed anew: {count.values}."
    )
    if count.overtaken:
        say(f"Changed by somebody else meanwhile: {count.overtaken}. What they wrote stands.")
    if count.unopened:
        say(
            f"These do not open, and were left as they are ({len(count.unopened)}); keep the "
            "older master keys, and put the values in again:"
        )
        say("\n".join(f"  {_name(place)}" for place in count.unopened))
        return 1
    _say_next(given, done=not (count.data_keys or count.values or count.overtaken))
    return 0


async def _add_key(store: Store, given: VaultSettings) -> None:
    """Put a new key into the key file, where the key is in one and none waits there already.

    While older keys stand in the file, a rotation is not over: it is gone on with. So it can be
    stopped anywhere and repeated, and comes to an end.
    """
    file = _file_of(given)
    masters = None if file is None else await asyncio.to_thread(find_masters, given)
    if masters is None or file is None:
        return
    if masters.previous:
        say(f"Going on with the key that stands first in {file}; the older ones are still there.")
    elif await store.data_keys.masters() <= masters.ids:
        place = "[vault] key_file" if given.key_file else "[vault]"
        await asyncio.to_thread(add_new_key, file, place)
        say(f"A new master key stands first in {file}; the older one stays and goes on opening.")


def _file_of(given: VaultSettings) -> Path | None:
    """The file that the key is in; None where it is set or printed."""
    if given.key is not None or given.key_command is not None:
        return None
    return given.key_file or given.default_file


def _say_next(given: VaultSettings, *, done: bool) -> None:
    file = _file_of(given)
    where = str(file) if file else "[vault] key" if given.key else "what [vault] key_command prints"
    if done:
        say(
            "Nothing is under an older key any more. Next: remove the older keys, which stand "
            f"last, from {where}."
        )
        return
    again = (
        "start every server again, so that it seals under this key"
        if given.key is not None
        else f"a running server seals under this key as soon as it reads it from {where}"
    )
    say(f"Next: {again}. Run this once more, until nothing is left to do.")


def _name(place: tuple[str, str] | Place) -> str:
    if isinstance(place, tuple):
        workspace, key = place
        return f"data key {key} of {_workspace(workspace)}"
    whose = [part for part in (place.app, place.user, *place.field) if part]
    return f"{' / '.join(whose)} of {_workspace(place.workspace)}"


def _workspace(name: str) -> str:
    return f'the workspace "{name}"' if name else "the server"
