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


class ServerGone(RemitError):
    """The server does not start, or does not answer."""

    code = "server_gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of the API.

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

    @property
    def code(self) -> JsonValue:
        """Of a problem document its code, else None."""
        return self.body.get("code")


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

    @property
    def said(self) -> str:
        """What it said on stderr since it was started."""
        return self._said.read_text("utf-8").strip() if self._said.exists() else ""

    def start(self) -> str:
        """Start it and wait until it listens; the line that says so.

        Raises:
            ServerGone: it ends before.
        """
        with self._said.open("w", encoding="utf-8") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "remit.main", "serve"],
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
            )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line.startswith(_READY):
            self.kill()
            raise ServerGone(f"The server did not start: {self.said}")
        self.url = line.removeprefix(_READY).strip()
        return line.rstrip()

    def kill(self) -> int | None:
        """End it with SIGKILL; its exit code, or None where it did not run."""
        process, self._process = self._process, None
        return None if process is None else end_now(process)

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
        key: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request, with a key if one is given, and read its answer whatever its status.

        Raises:
            ServerGone: there is no answer.
        """
        given = dict(headers or {})
        if key:
            given["Authorization"] = f"Bearer {key}"
        raw = None
        if body is not None:
            raw = json.dumps(body).encode()
            given["Content-Type"] = "application/json"
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=ANSWER_TIMEOUT_S
        )
        with closing(connection):
            try:
                connection.request(method, path, raw, given)
                response = connection.getresponse()
                text = response.read().decode()
            except (OSError, http.client.HTTPException) as error:
                raise ServerGone(
                    f"The server did not answer {method} {path}: {type(error).__name__}. It said: "
                    f"{self.said or 'nothing'}"
                ) from None
        return Reply(status=response.status, text=text, etag=response.headers.get("ETag", ""))


def end_now(process: subprocess.Popen[str]) -> int:
    """End a process with SIGKILL, and let go of what it said; its exit code."""
    process.kill()
    code = process.wait()
    if process.stdout:
        process.stdout.close()
    return code
