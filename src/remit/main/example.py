"""The sample apps as processes: found, started on free ports, looked into, ended."""

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
from remit.main.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

_DECLARED_PORT, _BOOKMARKS_PORT = "8801", "8802"
_READY = "is listening on http://127.0.0.1:"
_NODE_MODULES = "node_modules"
_OLDEST_NODE = 20
#: Where the built page of the tracker begins.
_DOCUMENT = "dist/index.html"


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


class Running:
    """A sample app that runs, with a fresh database.

    Args:
        folder: what it works in; commands are run there.
        database: its file.

    Attributes:
        url: the app's origin, once it runs.
    """

    def __init__(self, folder: Path, database: Path) -> None:
        self.folder = folder
        self.database = database
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def run(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Start the process and wait until it listens.

        Raises:
            ExampleMissing: it ends without saying that it listens.
        """
        self._process = subprocess.Popen(  # noqa: S603 -- our own example, no shell
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
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


class RunningExample(Running):
    """The scenes app, running with a fresh database in a folder of its own.

    Args:
        folder: gets ``scenes.yaml`` and ``scenes-modest.yaml`` with the port of this run, the
            served ``catalog.json`` and the database.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "scenes.db")
        self.source = example_folder("scenes")

    def __enter__(self) -> Self:
        self.serve("catalog.json")
        self.start()
        for name in ("scenes.yaml", "scenes-modest.yaml"):
            text = (self.source / name).read_text("utf-8")
            port = self.url.rpartition(":")[2]
            (self.folder / name).write_text(text.replace(_DECLARED_PORT, port), "utf-8")
        return self

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
        self.run(command)


class RunningBookmarks(Running):
    """The bookmarks app: its folder copied with the port of this run, its component started late.

    Args:
        folder: gets the app folder ``bookmarks`` and the component's database.

    Attributes:
        typescript: whether the skill in TypeScript is in the copy: it is left out where there is
            no Node, or the packages of the example are not installed.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "bookmarks.db")
        self.source = example_folder("bookmarks")
        self._port = str(free_port())
        self.typescript = _runs_typescript(self.source)

    def __enter__(self) -> Self:
        kept = shutil.ignore_patterns(_NODE_MODULES, "__pycache__", "*.db*")
        copy = self.folder / "bookmarks"
        shutil.copytree(self.source, copy, ignore=kept)
        text = (copy / "app.yaml").read_text("utf-8")
        (copy / "app.yaml").write_text(text.replace(_BOOKMARKS_PORT, self._port), "utf-8")
        if self.typescript:
            (copy / _NODE_MODULES).symlink_to((self.source / _NODE_MODULES).resolve())
        else:
            shutil.rmtree(copy / "skills" / "mail")
        return self

    def start(self, env: Mapping[str, str], *, issuer: str, framed_by: str) -> dict[str, str]:
        """Start the component, as Remit would; what it was told.

        Args:
            env: the environment otherwise.
            issuer: the public URL of the server.
            framed_by: a further origin that may show its pages.

        Raises:
            ExampleMissing: it ends without saying that it listens.
        """
        told = {
            "REMIT_APP_COMPONENT_URL": f"http://127.0.0.1:{self._port}",
            "REMIT_APP_ISSUER": issuer,
            "REMIT_APP_AUDIENCE": "acme-bookmarks/api",
        }
        command = [
            *(sys.executable, str(self.folder / "bookmarks" / "serve.py")),
            *("--port", self._port, "--database", str(self.database)),
        ]
        self.run(command, {**env, **told, "BOOKMARKS_FRAMED_BY": framed_by})
        return told


class RunningTracker(Running):
    """The tracker's server, started once it is known which Remit it speaks to.

    Args:
        folder: gets its database.

    Attributes:
        built: whether its page is there: it is built with Node, in a checkout.
        origin: where it will listen, for the server that its page speaks to.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "tracker.db")
        self.source = example_folder("tracker")
        self.built = (self.source / _DOCUMENT).is_file()
        self._port = str(free_port())
        self.origin = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        return self

    def start(self, env: Mapping[str, str], *, server: str, key: str) -> None:
        """Start it and wait until it listens.

        Args:
            env: the environment otherwise.
            server: the origin of the Remit server.
            key: one of the role ``backend``.

        Raises:
            ExampleMissing: it ends without saying that it listens.
        """
        command = [
            *(sys.executable, str(self.source / "server.py")),
            *("--port", self._port, "--database", str(self.database)),
        ]
        self.run(command, {**env, "REMIT_SERVER_URL": server, "REMIT_BACKEND_KEY": key})


def _runs_typescript(folder: Path) -> bool:
    """Whether there is a Node that is new enough, and the packages that a ``tools.ts`` needs."""
    node = shutil.which("node")
    if node is None or not (folder / _NODE_MODULES / "zod").exists():
        return False
    said = subprocess.run(  # noqa: S603 -- Node itself
        [node, "--version"], capture_output=True, text=True, check=False
    ).stdout
    major = said.strip().removeprefix("v").partition(".")[0]
    return major.isdecimal() and int(major) >= _OLDEST_NODE
