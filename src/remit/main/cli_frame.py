"""What all commands stand on: the root, the settings, and how a command ends."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from remit import __version__
from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.main.settings import Settings

TextOrJson = Literal["text", "json"]

app = typer.Typer(
    name="remit",
    help="Let AI agents act inside an app, within a remit that a person can read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def group(name: str, words: str) -> typer.Typer:
    """A command that has commands of its own."""
    made = typer.Typer(help=words, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(made, name=name)
    return made


class _State:
    """What the options before the command said."""

    config: Path | None = None


def config_file() -> Path | None:
    """The file of ``--config``, or None."""
    return _State.config


def settings() -> Settings:
    """The settings, read when a command needs them."""
    from remit.main.settings import load_settings

    return load_settings(_State.config)


def finish(work: Callable[[], int]) -> None:
    """Run a command's work and exit with its answer."""
    raise typer.Exit(guarded(work))


def guarded(work: Callable[[], int]) -> int:
    """The exit code of a command's work: 0 done, 1 findings or a failed call, 2 wrong use."""
    from remit.main.output import say

    try:
        return work()
    except RemitError as error:
        with contextlib.suppress(RemitError):
            say(error.message)
        return 1 if error.fault == "author" else 2
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    except BrokenPipeError:
        # The reader went away, as `head` does: nothing is wrong, and nothing more can be said.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 -- until the exit
        return 0


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"remit {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings; remit.toml by default."),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    """Options that stand before the command."""
    del version
    _State.config = config
