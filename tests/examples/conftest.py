"""Apps under test: one for the tests that change nothing, and one for each that does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.examples.scenes_process import RunningApp, Start, start_app


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """One app for the tests of a module that change nothing."""
    with ExitStack() as stack:
        yield start_app(stack, tmp_path_factory.mktemp("scenes"))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts an app with a database of this test."""
    with ExitStack() as stack:

        def start_here(*, render_s: float = 0.3) -> RunningApp:
            return start_app(stack, tmp_path, render_s=render_s)

        yield start_here


@pytest.fixture
def fresh(start: Start) -> RunningApp:
    """An app of this test alone, to change things in."""
    return start()
