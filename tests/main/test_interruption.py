"""Ctrl-C during ``remit call``, with an app that reads the request and never answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

WAIT_S = 20
TOOL = """
id: acme
name: Acme
baseUrl: {url}
auth: {{type: none}}
tools:
  - name: pay
    description: Pays.
    category: {category}
    dangerLevel: safe
    parameters: {{type: object, properties: {{}}}}
    endpoint: {{method: {method}, path: /pay}}
"""


@pytest.fixture
def silent() -> Iterator[tuple[str, Queue[bytes]]]:
    """The address of an app that never answers, and the requests that reached it."""
    requests: Queue[bytes] = Queue()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                held.append(connection)
                requests.put(connection.recv(65_536))

        held: list[socket.socket] = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        listener.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()


def start(path: Path) -> subprocess.Popen[str]:
    """A real ``remit call`` in a process of its own."""
    env = {**os.environ, "REMIT_EGRESS_ALLOW": "127.0.0.1", "REMIT_CACHE_DIR": str(path.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "remit.main", "call", str(path), "pay"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_write_in_flight_is_waited_for_and_then_unknown(
    silent: tuple[str, Queue[bytes]], tmp_path: Path
) -> None:
    """The first Ctrl-C waits, the second ends it: it may have happened (contract section 5)."""
    url, requests = silent
    path = tmp_path / "acme.yaml"
    path.write_text(TOOL.format(url=url, category="write", method="POST"), "utf-8")
    process = start(path)
    requests.get(timeout=WAIT_S)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert "already on its way" in process.stderr.readline()
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT_S)
    error = json.loads(out)["error"]
    assert process.returncode == 130
    assert error["code"] == "cancelled"
    assert error["mayHaveHappened"] is True
    assert "may have happened" in err
    assert requests.empty()


def test_read_in_flight_is_dropped_at_once(
    silent: tuple[str, Queue[bytes]], tmp_path: Path
) -> None:
    """A read leaves nothing open: one Ctrl-C ends it (contract section 9)."""
    url, requests = silent
    path = tmp_path / "acme.yaml"
    path.write_text(TOOL.format(url=url, category="read", method="GET"), "utf-8")
    process = start(path)
    requests.get(timeout=WAIT_S)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=WAIT_S)
    error = json.loads(out)["error"]
    assert process.returncode == 130
    assert error["code"] == "cancelled"
    assert "mayHaveHappened" not in error
