"""The cycle collector is held back for a while, and always comes back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from remit.values.collection import uncollected


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.unfreeze()
    gc.enable()


def test_collector_is_held_back_and_comes_back() -> None:
    """Also where blocks stand inside each other (architecture, what it must cost)."""
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_comes_back_after_an_error() -> None:
    """A document that cannot be loaded leaves the process as it was."""
    with pytest.raises(ValueError, match="broken"), uncollected():
        raise ValueError("broken")
    assert gc.isenabled()


def test_what_a_process_has_set_stays_set() -> None:
    """A collector that is off stays off, and what was frozen stays frozen."""
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()
    gc.enable()
    gc.freeze()
    with uncollected():
        pass
    assert gc.get_freeze_count()
