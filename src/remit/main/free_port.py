"""A port for a process that has to be told its own before it starts."""

from __future__ import annotations

import socket


def free_port() -> int:
    """One that nobody listens on at this moment, on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
