"""The command line under test: run in this process, against the real sample app."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remit.main.cli import main
from tests.examples.scenes_process import SCENES, RunningApp, Start, start_app


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever was printed
        """The data on stdout."""
        return json.loads(self.out)


Remit = Callable[..., Ran]


@pytest.fixture
def remit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Remit:
    """Runs a command line in a folder of its own, without the settings of who runs the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMIT_EGRESS_ALLOW", "127.0.0.1")
    monkeypatch.setenv("REMIT_CACHE_DIR", str(tmp_path / "cache"))
    # Somebody may have a server running while the tests do.
    monkeypatch.setenv("REMIT_SERVER_PORT", "0")
    monkeypatch.delenv("REMIT_TOKEN", raising=False)

    def run(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code=code, out=out, err=err)

    return run


@pytest.fixture
def kept(remit: Remit, migrated_sqlite: Path, tmp_path: Path) -> Remit:
    """`remit` in a folder that has an empty store."""
    shutil.copy(migrated_sqlite, tmp_path / "remit.db")
    return remit


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """One running sample app for a module."""
    with ExitStack() as stack:
        yield start_app(stack, tmp_path_factory.mktemp("scenes"), render_s=0.3)


@pytest.fixture
def definition(scenes: RunningApp, tmp_path: Path) -> str:
    """The sample app's definition, pointing at the running one; a path."""
    text = (SCENES / "scenes.yaml").read_text("utf-8")
    path = tmp_path / "scenes.yaml"
    path.write_text(text.replace("127.0.0.1:8801", scenes.address), "utf-8")
    return str(path)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts an app with a database of this test."""
    with ExitStack() as stack:

        def start_here(*, render_s: float = 0.3) -> RunningApp:
            return start_app(stack, tmp_path, render_s=render_s)

        yield start_here
