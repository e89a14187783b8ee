"""The ports of one process: snapshots in the user's cache, ids, the clock."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from remit.catalog.model import Definition
from remit.gateway.catalogs import Snapshot
from remit.main.world import FileSnapshots, RandomIds, SystemClock
from tests.catalog.documents import load

CEILING = {"category": "read", "dangerLevel": "safe"}


def with_tools_url(url: str, **changes: object) -> Definition:
    """A definition that fetches its catalog."""
    return load(toolsUrl=url, ceiling=CEILING, **changes)


ACME = with_tools_url("https://api.acme.example/tools")
SNAPSHOT = Snapshot(body=b'[{"\xc3\xbc": 1}]\x00', etag='W/"1"', at_s=1_700_000_000)


def test_snapshot_survives_the_process(tmp_path: Path) -> None:
    """The last good snapshot is kept in the user's cache folder (contract section 13)."""
    FileSnapshots(tmp_path / "deep" / "cache").write(ACME, SNAPSHOT)

    assert FileSnapshots(tmp_path / "deep" / "cache").read(ACME) == SNAPSHOT
    assert [path.suffix for path in (tmp_path / "deep/cache/catalogs").iterdir()] == [".json"]


def test_snapshot_belongs_to_one_address_of_one_app(tmp_path: Path) -> None:
    """Another `toolsUrl`, or another app, has a snapshot of its own (contract section 7)."""
    snapshots = FileSnapshots(tmp_path)
    snapshots.write(ACME, SNAPSHOT)

    assert snapshots.read(with_tools_url("https://api.acme.example/tools2")) is None
    assert snapshots.read(with_tools_url("https://api.acme.example/tools", id="other")) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "5",
        "{}",
        '{"body": 5, "etag": null, "at": 1}',
        '{"body": "!", "etag": null, "at": 1}',
        '{"body": "ü", "etag": null, "at": 1}',
        '{"body": "AA==", "etag": 5, "at": 1}',
        '{"body": "AA==", "etag": null, "at": "1"}',
        '{"body": "AA==", "etag": null, "at": 1e999}',
        '{"body": "AA==", "etag": null}',
        "[" * 100_000,
    ],
)
def test_spoiled_snapshot_reads_as_none(text: str, tmp_path: Path) -> None:
    """A broken one reads as None; nobody's call fails for it (bad input)."""
    snapshots = FileSnapshots(tmp_path)
    snapshots.write(ACME, SNAPSHOT)
    path = next((tmp_path / "catalogs").iterdir())
    path.write_text(text, "utf-8")

    assert snapshots.read(ACME) is None
    path.write_bytes(b"\xff\xfe\x00")
    assert snapshots.read(ACME) is None


def test_etag_that_cannot_be_sent_is_forgotten(tmp_path: Path) -> None:
    """A tampered file breaks no later fetch."""
    snapshots = FileSnapshots(tmp_path)
    snapshots.write(ACME, SNAPSHOT)
    path = next((tmp_path / "catalogs").iterdir())
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**record, "etag": "a\r\nX-Evil: 1"}), "utf-8")

    found = snapshots.read(ACME)
    assert found is not None
    assert found.etag is None


def test_cache_that_cannot_be_written_costs_no_call(tmp_path: Path) -> None:
    """A cache is a convenience: where it cannot be written, the call goes on."""
    (tmp_path / "file").write_text("x", "utf-8")
    snapshots = FileSnapshots(tmp_path / "file")
    snapshots.write(ACME, SNAPSHOT)

    assert snapshots.read(ACME) is None


async def test_ids_and_clock_are_fresh() -> None:
    """A call id is unique, safe in a header and a URL; a trace is W3C's (gateway ports)."""
    ids = RandomIds()
    calls = [ids.call_id() for _ in range(100)]

    assert len(set(calls)) == 100
    assert all(re.fullmatch(r"call_[0-9a-hjkmnp-tv-z]{26}", each) for each in calls)
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", ids.traceparent())
    assert re.fullmatch(r"act_[0-9a-hjkmnp-tv-z]{26}", ids.fresh_id("act"))
    assert (len(ids.random_bytes(32)), ids.random_bytes(32) == ids.random_bytes(32)) == (32, False)
    clock = SystemClock()
    assert clock.unix_ms() > 1_767_225_600_000  # 2026 has begun
    before = clock.now_ms()
    await clock.sleep(0)
    assert clock.now_ms() >= before


def test_forked_child_hands_out_ids_of_its_own() -> None:
    """Random bytes that were read before a fork are not used twice."""
    ids = RandomIds()
    ids.call_id()
    mine, childs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(childs, ids.traceparent().encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(childs)
    with open(mine, encoding="ascii") as told:  # noqa: PTH123 -- a descriptor
        assert told.read() != ids.traceparent()
