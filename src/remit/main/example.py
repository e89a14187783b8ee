"""The sample app as a process: found, started on a free port, looked into, ended."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from remit.errors import RemitError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_DECLARED_PORT = "8801"
_READY = "is listening on http://127.0.0.1:"


class ExampleMissing(RemitError):
    """The sample app is not there, or does not start."""

    code = "example_missing"


def example_folder(name: str) -> Path:
    """The folder of a sample app: in the installed package, or beside the source.

    Raises:
        ExampleMissing: it is in neither.
    """
    package = Path(str(files("remit")))
    for folder in (package / "examples" / name, package.parents[1] / "examples" / name):
        if folder.is_dir():
            return folder
    raise ExampleMissing(f"The sample app {name} is not installed. Run the demo from a checkout.")


class RunningExample:
    """The scenes app, running with a fresh database in a folder of its own.

    Attributes:
        folder: holds ``scenes.yaml`` and ``scenes-modest.yaml`` with the port of this run, the
            served ``catalog.json`` and the database.
        url: the app's origin.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = example_folder("scenes")
        self.database = folder / "scenes.db"
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.serve("catalog.json")
        self.start()
        for name in ("scenes.yaml", "scenes-modest.yaml"):
            text = (self.source / name).read_text("utf-8")
            port = self.url.rpartition(":")[2]
            (self.folder / name).write_text(text.replace(_DECLARED_PORT, port), "utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def serve(self, catalog: str) -> None:
        """Make this file of the example what ``/agent/tools`` serves from now on."""
        shutil.copyfile(self.source / catalog, self.folder / "served.json")

    def start(self) -> None:
        """Start the app and wait until it listens.

        Raises:
            ExampleMissing: it ends without saying that it listens.
        """
        command = [
            *(sys.executable, str(self.source / "app.py"), "--port", "0"),
            *("--database", str(self.database), "--tools", str(self.folder / "served.json")),
        ]
        self._process = subprocess.Popen(  # noqa: S603 -- our own example, no shell
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if _READY not in line:
            self.stop()
            raise ExampleMissing(f"The sample app did not start: {line.strip()}")
        self.url = "http://" + line.strip().rpartition("http://")[2]

    def stop(self) -> None:
        """End the app; a second time does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

    def ask(self, query: str, *values: str | int) -> list[tuple[str | int | None, ...]]:
        """The rows of a query on the app's database: what really happened."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            return database.execute(query, values).fetchall()

    def count(self, query: str, *values: str | int) -> int:
        """The one number that a query gives."""
        return int(self.ask(query, *values)[0][0] or 0)
