"""A secret is found nowhere but sealed, and on the wire to its own host (contract sections 5, 8).

One run of a real server with everything that a person, an agent and an app do to it; then one
search through all that came out: answers, the output of every process, files, tables, requests.
"""

from __future__ import annotations

import json
import shutil
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg import connect, sql

from tests import databases
from tests.canary.apps import GIVEN_BACK
from tests.canary.journey import Journey, travel
from tests.canary.searching import Canary, find_leaks, is_seen

#: How calls of the run end at least: each is another way for a secret to get out.
ENDS = {
    "denied", "egress_refused", "invalid_arguments", "not_connected", "ok", "outcome_unknown",
    "poll_exhausted", "poll_failed", "response_invalid", "response_too_large", "upstream_error",
    "upstream_timeout", "upstream_unreachable",
}  # fmt: skip
#: On PostgreSQL those that are kept in different tables.
FEWER = ("bearer", "argument", "env", "identity")


@pytest.fixture(params=databases.BACKENDS)
def journey(request: pytest.FixtureRequest, tmp_path: Path) -> Journey:
    """The run, on each database."""
    folder = tmp_path / "run"
    folder.mkdir()
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("migrated_sqlite")
        store = shutil.copy(template, folder / "remit.db")
        return travel(folder, f"sqlite:///{store}", {}, tuple(GIVEN_BACK))
    master = tmp_path / "master.key"
    master.touch(0o600)
    master.write_bytes(b64encode(sha256(b"master").digest()))
    server: str = request.getfixturevalue("postgres_server")
    url = _database(server, f"canary_{sha256(str(tmp_path).encode()).hexdigest()[:12]}")
    return travel(folder, url, {"REMIT_VAULT_KEY_FILE": str(master)}, FEWER)


def _database(server: str, name: str) -> str:
    with connect(server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return server.format(database=name)


def test_secrets_are_found_nowhere_but_sealed_and_on_the_wire(journey: Journey) -> None:
    """The gate; and it would see a leak of each secret. One test: the run is made once for it."""
    _assert_carried(journey)
    leaks = find_leaks(journey.canaries, journey.capture.places)
    assert not leaks, "A secret is where it may not be:\n" + "\n".join(leaks)
    _assert_leaks_are_seen(journey)


def _assert_carried(journey: Journey) -> None:
    """The secrets went to their own apps, keys are kept as their hashes, and calls ended so."""
    places = journey.capture.places
    assert [one.name for one in journey.canaries if one.own and not is_seen(one, places)] in (
        [],
        # On PostgreSQL its file is not in the folder that is looked at.
        ["a master key", "a master key"],
    )
    assert len({one.name for one in journey.canaries}) >= 10
    kept = b"".join(data for place, data in places.items() if "(stopped)" in place)
    for key in journey.keys.values():
        assert sha256(key.encode()).hexdigest().encode() in kept
    # What a kill cut off is known once the lease of its node has run out; on SQLite at once.
    later: set[str] = (
        set() if any(p.startswith("file remit.db") for p in places) else {"outcome_unknown"}
    )
    assert journey.outcomes | later >= ENDS


def _assert_leaks_are_seen(journey: Journey) -> None:
    """A leak planted into a copy of what came out is named, with its place and not its value."""
    kinds = ("answer,", "refusal,", "file ", "table ", "remit serve: stdout", "wire to identity:")
    captured = journey.capture.places
    places = [
        min(found, key=lambda place: len(captured[place]))
        for kind in kinds
        if (found := [place for place in captured if place.startswith(kind)])
    ]
    # SQLite has no table outside of its file.
    assert len(places) >= len(kinds) - 1
    for canary in journey.canaries:
        for place in places:
            if place.startswith(canary.own):
                continue
            for spelling in _spelled(canary):
                whole = captured[place] + b"..." + spelling
                leaks = find_leaks([canary], {place: whole})
                assert leaks, (canary.name, place)
                assert all(place in leak and canary.name in leak for leak in leaks)
                assert not any(canary.core in leak.encode() for leak in leaks)


def _spelled(canary: Canary) -> list[bytes]:
    """What an app, a log or a database may make of a secret; all of it, and halves of it."""
    core, half = canary.core, len(canary.core) // 2
    return [
        core,
        core[:half],
        core[half:] + b"***",
        core.hex().upper().encode(),
        b64encode(b"ana:" + core + b"+"),
        urlsafe_b64encode(b"?" + core),
        "".join(f"%{byte:02x}" for byte in core).encode(),
        quote(core.decode("latin-1")).encode() if core.isascii() else core,
        json.dumps(json.dumps({"token": core.decode()})).encode() if core.isascii() else core,
    ]
