"""The command line: its start and its end. The commands stand beside it, by whom they are for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from remit.main import cli_authors, cli_server
from remit.main.cli_frame import app, guarded
from remit.main.usage import spelled_out, told

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "cli_authors", "cli_server", "guarded", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; a console script exits with it."""
    given = spelled_out(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(given, standalone_mode=False)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Exception as error:
        from remit.main.output import say

        if (words := told(error, given)) is not None:
            say(words)
            return 2
        if os.environ.get("REMIT_DEBUG"):
            raise
        say(
            f"Remit met a fault of its own: {type(error).__name__}. Nothing more is known to be "
            "wrong with your input. REMIT_DEBUG=1 shows where; please report it."
        )
        return 70
    return code if isinstance(code, int) else 0
