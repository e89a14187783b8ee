"""The server of the demo as a process: a fault of it is one message, and what it said is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.main.server_process import RunningServer, ServerGone
from tests.main.processes import environment


def test_server_that_does_not_start_is_told_with_its_own_words(tmp_path: Path) -> None:
    """Whoever runs the demo reads why, and no traceback (bad input)."""
    env = environment({"REMIT_STORE_URL": "sqlite:///none/x.db"})
    with (
        RunningServer(tmp_path, env) as server,
        pytest.raises(ServerGone, match=r"did not start: .*Make it first"),
    ):
        server.start()


def test_killed_server_answers_no_more_and_starts_again_on_its_store(tmp_path: Path) -> None:
    """The demo kills it and goes on; in between a request is one clear fault (contract 5)."""
    with RunningServer(tmp_path, environment({})) as server:
        assert server.start().startswith("Remit is listening on http://127.0.0.1:")
        assert server.ask("GET", "/readyz").status == 200
        assert server.ask("GET", "/v1/keys", key="rk_operator_wrong").code == "unauthorized"
        assert server.kill() == -9
        assert server.kill() is None
        with pytest.raises(ServerGone, match="did not answer GET /readyz"):
            server.ask("GET", "/readyz")

        server.start()
        assert server.ask("GET", "/readyz").status == 200
        assert server.said == ""
        assert server.stop() == 0
