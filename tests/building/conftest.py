"""Folders to build, and the Node that builds them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.building import node
from tests.building.writing import write

FOLDERS = Path(__file__).parent / "folders"

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes an app folder: texts by path; ``app.yaml`` and one skill are there unless given."""

    def made(files: dict[str, str | bytes | None] | None = None) -> Path:
        return write(tmp_path / "my-app", files or {})

    return made


@pytest.fixture
def machine_node() -> None:
    """The machine has a Node."""
    if node.of_machine() is None:
        node.lacking("there is no Node here")
