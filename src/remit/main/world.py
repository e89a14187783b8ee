"""The ports of one process: the system's clock, fresh ids, the user's cache folder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import tempfile
import time
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING
from weakref import WeakSet

from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.gateway.catalogs import MAX_CATALOG_BYTES, Snapshot, is_etag

if TYPE_CHECKING:
    from pathlib import Path

    from remit.catalog.model import Definition

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_RANDOM_SIGNS = bytes(ord(_ALPHABET[byte & 31]) for byte in range(256))
_READ_AT_ONCE = 4_096


def _base32(now_ms: int) -> str:
    """48 bits of time in ten characters, which sort as the time does."""
    return "".join([_PAIRS[now_ms >> shift & 1_023] for shift in (40, 30, 20, 10, 0)])


class SystemClock:
    """Time as the machine has it: a ``Clock`` and a ``WallClock`` of the gateway."""

    async def sleep(self, delay_ms: int) -> None:
        """Wait for so many milliseconds."""
        await asyncio.sleep(delay_ms / 1000)

    def now_ms(self) -> int:
        """Milliseconds of the monotonic clock."""
        return time.monotonic_ns() // 1_000_000

    def unix_ms(self) -> int:
        """Milliseconds since 1970 in UTC."""
        return time.time_ns() // 1_000_000


class RandomIds:
    """Ids from the system's random source; each begins with its time, so that it sorts.

    Random bytes are read many at a time: to ask the system costs more than all the rest of an id.
    """

    def __init__(self) -> None:
        self._bytes = b""
        self._next = 0
        _sources.add(self)
        self._ms = 0
        self._time = ""

    def call_id(self) -> str:
        """``call_`` and 26 characters of Crockford's base 32."""
        return self.fresh_id("call")

    def fresh_id(self, prefix: str) -> str:
        """The prefix, ``_``, and 26 characters of Crockford's base 32."""
        now_ms = time.time_ns() // 1_000_000
        if now_ms != self._ms:
            self._ms, self._time = now_ms, _base32(now_ms)
        # Five bits of each byte: 80 random bits.
        return f"{prefix}_{self._time}{self._taken(16).translate(_RANDOM_SIGNS).decode()}"

    def random_bytes(self, size: int) -> bytes:
        """Bytes of the system's secure random source, for secrets: never read beforehand."""
        return secrets.token_bytes(size)

    def traceparent(self) -> str:
        """Version 00, a random trace and span, sampled."""
        random = self._taken(24).hex()
        return f"00-{random[:32]}-{random[32:]}-01"

    def _taken(self, size: int) -> bytes:
        begin = self._next
        taken = self._bytes[begin : begin + size]
        if len(taken) < size:
            self._bytes, begin = os.urandom(_READ_AT_ONCE), 0
            taken = self._bytes[:size]
        self._next = begin + size
        return taken

    def forget(self) -> None:
        """Hand out nothing of what was read so far."""
        self._bytes = b""


def _after_fork() -> None:
    """A forked child would hand out the ids of its parent."""
    for source in _sources:
        source.forget()


_sources: WeakSet[RandomIds] = WeakSet()
os.register_at_fork(after_in_child=_after_fork)


class Unwatched:
    """Nobody watches a call of a server go on; what is worth knowing of it is in its record."""

    def started(self, tool: str) -> None:
        """Nothing is told."""

    def answered(self, tool: str) -> None:
        """Nothing is told."""

    def polled(self, tool: str, poll: int, max_polls: int, status: str) -> None:
        """Nothing is told."""

    def retrying(self, tool: str, delay_ms: int, status: int) -> None:
        """Nothing is told."""


class FileSnapshots:
    """The last good catalogs, one file a definition and ``toolsUrl``, in the user's cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, definition: Definition) -> Path:
        url = definition.tools_url.text if definition.tools_url else ""
        name = sha256(f"{definition.id}\n{url}".encode()).hexdigest()[:32]
        return self.folder / "catalogs" / f"{definition.id}-{name}.json"

    def read(self, definition: Definition) -> Snapshot | None:
        """The snapshot, or None; one that cannot be read is as good as none."""
        try:
            record = parse_json(
                self._path(definition).read_bytes(), max_bytes=2 * MAX_CATALOG_BYTES
            )
        except (OSError, DocumentError):
            return None
        match record:
            case {"body": str(body), "etag": str() | None as etag, "at": int(at_s)}:
                pass
            case _:
                return None
        try:
            decoded = b64decode(body, validate=True)
        except ValueError:
            return None
        return Snapshot(
            body=decoded, etag=etag if etag and is_etag(etag) else None, at_s=max(0, at_s)
        )

    def write(self, definition: Definition, snapshot: Snapshot) -> None:
        """Keep a snapshot, in one step; a cache that cannot be written costs nobody a call."""
        path = self._path(definition)
        record = {
            "body": b64encode(snapshot.body).decode(),
            "etag": snapshot.etag,
            "at": snapshot.at_s,
        }
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".new")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file)
            os.replace(temporary, path)  # noqa: PTH105 -- the temporary name is text already
