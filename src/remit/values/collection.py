"""Python's cycle collector, held back where a great many values are made and all are kept."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def uncollected() -> Generator[None]:
    """Hold the cycle collector back while the block runs.

    A catalog of 10,000 tools is about a million values without one cycle; the collector would
    walk them all again each time their number has grown by a quarter, which takes as long as the
    loading itself. Nothing but memory depends on it.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # What was made goes to the oldest generation without being walked once more.
            gc.freeze()
            gc.unfreeze()
        gc.enable()
