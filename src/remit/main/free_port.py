"""A port for a process that has to be told its own before it starts."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

# Below those that systems give to connections by themselves (32768 and up on Linux, 49152 and up
# elsewhere): until the process listens, none of them takes it.
_FIRST, _COUNT = 20_000, 12_000
_TRIES = 100


def free_port() -> int:
    """One that nobody listens on at this moment, on loopback."""
    for _ in range(_TRIES):
        port = _FIRST + secrets.randbelow(_COUNT)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
