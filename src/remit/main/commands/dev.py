"""``remit dev``: from definitions and app folders to a chat and a playground on this machine."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.gateway.acting import checked_user
from remit.main.commands.pairs import pairs, read_env
from remit.main.dev_apps import Given
from remit.main.dev_components import Components
from remit.main.dev_files import checked_files
from remit.main.dev_serving import Dev
from remit.main.examining import listening
from remit.main.serving import serve
from remit.main.settings import DEFAULT_HOST, KeySource, ServerSettings
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.main.settings import Settings

#: The machine is the author's own, and so is what runs on it.
LOOPBACK = ("127.0.0.0/8", "::1")
#: Beside the port of ``remit serve``, so that both run on one machine.
PORT = 8710
_DRAIN_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The arguments of the command.

    Attributes:
        tokens, components, env: each ``NAME=VALUE``.
        port: None takes 8710, or a free one where that is taken.
        keep: a folder for the store; None is one that goes when the run ends.
    """

    files: Sequence[str]
    user: str
    tokens: Sequence[str]
    components: Sequence[str]
    env: Sequence[str]
    port: int | None
    keep: Path | None
    opens: bool


def run(wish: Wish, settings: Settings) -> int:
    """Serve until Ctrl-C.

    Raises:
        WrongUse: an argument, a file or folder, a command or the port.
    """
    files = checked_files(wish.files)
    given = Given(
        user=checked_user(wish.user),
        tokens=_tokens(wish.tokens),
        env=read_env(wish.env),
    )
    commands = dict(pairs("--component", wish.components, "NAME=COMMAND"))
    with ExitStack() as stack:
        folder = _folder(wish.keep, stack)
        components = stack.enter_context(Components(commands, brand=settings.brand))
        dev = Dev(settings, files, given, components, opens=wish.opens)
        return serve(_of_dev(settings, folder, _port(wish.port)), dev.beside, port_of="--port")


def _of_dev(settings: Settings, folder: Path, port: int) -> Settings:
    """The settings of a run: a store of its own, loopback alone, and loopback allowed."""
    return replace(
        settings,
        egress_allow=(*settings.egress_allow, *LOOPBACK),
        server=ServerSettings(host=DEFAULT_HOST, port=port, drain_s=_DRAIN_S),
        store_url=f"sqlite:///{folder / 'dev.db'}",
        vault=KeySource(),
        requests_per_s=None,
    )


def _folder(keep: Path | None, stack: ExitStack) -> Path:
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-dev-")))
    try:
        keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--keep {keep}: cannot be made: {error.strerror}.") from None
    return keep.absolute()


def _port(wanted: int | None) -> int:
    if wanted is not None:
        return wanted
    try:
        listening(DEFAULT_HOST, PORT).close()
    except WrongUse:
        return 0
    return PORT


def _tokens(given: Sequence[str]) -> Mapping[str, Secret]:
    if any("=" not in one for one in given):
        # What stands there without a name is a secret, most likely: it is not repeated.
        raise WrongUse("--token: write --token APP=T, with the id of the app before the token.")
    return {name: Secret(value) for name, value in pairs("--token", given, "APP=T")}
