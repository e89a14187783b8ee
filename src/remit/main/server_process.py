"""``remit serve`` as a process for the demo: started on a free port, asked, killed, ended."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from remit.values.json import JsonObject, JsonValue

ANSWER_TIMEOUT_S = 60
_READY = "Remit is listening on "


class ServerDidNotStart(RemitError):
    """The server ended without saying that it listens."""

    code = "server_did_not_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of the API: an object, or text where that was asked for.

    Attributes:
        etag: of what was read or changed; empty where it has none.
    """

    status: int
    text: str
    etag: str

    @property
    def body(self) -> JsonObject:
        """The answer as an object; empty where it is none."""
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        return cast("JsonObject", found) if isinstance(found, dict) else {}


class RunningServer:
    """A server on the SQLite store of a folder.

    Attributes:
        url: its origin; another one after each start.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.url = ""
        self._folder = folder
        self._env = {**env, "REMIT_SERVER_PORT": "0"}
        self._said = folder / "serve.err"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self) -> str:
        """Start it and wait until it listens; what it said, line by line.

        Raises:
            ServerDidNotStart: it ends before.
        """
        with self._said.open("w", encoding="utf-8") as err:
            self._process = subprocess.Popen(  # noqa: S603 -- our own command, no shell
                [sys.executable, "-m", "remit.main", "serve"],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
            )
        line = self._process.stdout.readline() if self._process.stdout else ""
        said = self._said.read_text("utf-8")
        if not line.startswith(_READY):
            self.kill()
            raise ServerDidNotStart(f"The server did not start: {said.strip()}")
        self.url = line.removeprefix(_READY).strip()
        return said + line.rstrip()

    def kill(self) -> int | None:
        """End it with SIGKILL; its exit code, or None where it did not run."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        code = process.wait()
        if process.stdout:
            process.stdout.close()
        return code

    def stop(self) -> int | None:
        """Ask it to end with SIGTERM; its exit code, or None where it does not end."""
        if self._process is None:
            return None
        self._process.terminate()
        try:
            code = self._process.wait(ANSWER_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = None
        self.kill()
        return code

    def ask(
        self,
        method: str,
        path: str,
        body: JsonValue = None,
        *,
        key: str,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request with a key, and read its answer whatever its status."""
        address = urlsplit(self.url)
        given = {"Authorization": f"Bearer {key}", **(headers or {})}
        raw = None
        if body is not None:
            raw = json.dumps(body).encode()
            given["Content-Type"] = "application/json"
        with closing(
            http.client.HTTPConnection(
                address.hostname or "", address.port, timeout=ANSWER_TIMEOUT_S
            )
        ) as connection:
            connection.request(method, path, raw, given)
            response = connection.getresponse()
            text = response.read().decode()
            return Reply(status=response.status, text=text, etag=response.headers.get("ETag", ""))
