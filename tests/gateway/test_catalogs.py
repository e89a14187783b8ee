"""A refresh: fetch, fall back, filter (contract section 7)."""

from __future__ import annotations

import json

import pytest

from remit.errors import CallError, EgressRefused, UpstreamTimeout
from remit.gateway.catalogs import Fetched, Refreshed, Snapshot, fetch_document, refresh
from remit.gateway.ports import WireResponse
from tests.catalog.documents import endpoint_tool, load
from tests.gateway.fakes import MemorySnapshots, ScriptedEgress, answer

URL = "https://api.acme.example/agent/tools"
DEFINITION = load(
    endpoint_tool("static"),
    toolsUrl=URL,
    ceiling={"category": "write", "dangerLevel": "moderate"},
)
FETCHED = {"tools": [endpoint_tool("fetched"), endpoint_tool("over", category="action")]}
KEPT = Snapshot(body=json.dumps([endpoint_tool("kept")]).encode(), etag='"v1"', at_s=940)


async def refreshed(
    *answers: WireResponse | CallError, kept: Snapshot | None = None, fetch: bool = True
) -> tuple[Refreshed, ScriptedEgress, MemorySnapshots]:
    """A refresh at second 1000."""
    egress, snapshots = ScriptedEgress(list(answers)), MemorySnapshots(kept)
    found = await refresh(DEFINITION, egress, snapshots, now_s=1000, fetch=fetch)
    return found, egress, snapshots


def names(found: Refreshed) -> list[str]:
    """The names of the tools."""
    return [tool.name for tool in found.catalog.tools]


@pytest.mark.promise("T-43", "T-46")
async def test_fetched_catalog_joins_the_static_one_under_the_ceiling() -> None:
    """Static, fetched, or both; filtered by the approved ceiling (contract section 7)."""
    found, egress, snapshots = await refreshed(answer(FETCHED, etag='"v1"'))

    assert (found.source, found.age_s, found.fault) == ("fresh", 0, None)
    assert names(found) == ["static", "fetched"]
    assert [dropped.name for dropped in found.catalog.dropped] == ["over"]
    assert snapshots.kept == Snapshot(body=json.dumps(FETCHED).encode(), etag='"v1"', at_s=1000)
    assert egress.limits[0].total_timeout_ms == 2_000
    assert egress.limits[0].max_body_bytes == 2 * 1024 * 1024


async def test_fetch_carries_no_credential() -> None:
    """`toolsUrl` is fetched without any credential (contract section 7)."""
    _, egress, _ = await refreshed(answer(FETCHED), kept=KEPT)

    assert {name for name, _ in egress.sent[0].headers} == {
        "Accept",
        "If-None-Match",
    }
    assert egress.sent[0].url == URL


@pytest.mark.parametrize(
    "reply", [answer(None, 304), answer([endpoint_tool("kept")])], ids=["304", "equal"]
)
async def test_unchanged_catalog_is_confirmed(reply: WireResponse) -> None:
    """A conditional GET; the age starts anew (contract section 7)."""
    found, egress, snapshots = await refreshed(reply, kept=KEPT)

    assert dict(egress.sent[0].headers)["If-None-Match"] == '"v1"'
    assert (found.source, found.age_s) == ("unchanged", 0)
    assert names(found) == ["static", "kept"]
    assert snapshots.kept is not None
    assert snapshots.kept.at_s == 1000


@pytest.mark.promise("T-47", "T-48")
@pytest.mark.parametrize(
    "failing",
    [
        UpstreamTimeout("It took too long."),
        EgressRefused("It is not public."),
        answer({}, 404),
        answer({}, 500),
        answer(None, 302, location="http://api.acme.example/agent/tools"),
        answer(None, 204),
        answer(b"<html>", media="text/html"),
        answer(b'{"tools": [], "tools": []}'),
        answer({"tools": {}}),
        answer({"items": []}),
        answer("tools"),
        answer(None),
    ],
    ids=str,
)
async def test_last_good_snapshot_serves_and_its_age_is_said(
    failing: WireResponse | CallError,
) -> None:
    """When the fetch fails the last good snapshot is used, then the static catalog (7)."""
    found, egress, snapshots = await refreshed(failing, kept=KEPT)
    assert (found.source, found.age_s) == ("stale", 60)
    assert names(found) == ["static", "kept"]
    assert found.fault
    assert found.fault.endswith(".")
    assert snapshots.kept == KEPT
    assert len(egress.sent) == 1

    bare, _, written = await refreshed(failing)
    assert (bare.source, bare.age_s) == ("static", None)
    assert names(bare) == ["static"]
    assert written.written == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'[\n{"name": ]', "answered with JSON that cannot be read: at line 2, column 10 "),
        (b"\xef\xbb\xbf{", "answered with JSON that cannot be read: at line 1, column 2 "),
        (b"", "answered with JSON that cannot be read: at line 1, column 1 the document is empty."),
        (b'{"items": []}', "answered with what is no catalog"),
    ],
)
async def test_fault_says_whether_the_json_is_broken_or_no_catalog(body: bytes, words: str) -> None:
    """Whoever serves it looks in another place for each."""
    found, _, _ = await refreshed(answer(body))
    assert found.fault is not None
    assert found.fault.startswith(f"{URL} {words}")


async def test_document_is_fetched_as_a_refresh_reads_it() -> None:
    """`lint --fetch` judges what a session would use: no byte order mark, no further keys."""
    body = b"\xef\xbb\xbf" + json.dumps({**FETCHED, "version": 3}).encode()
    found = await fetch_document(DEFINITION, ScriptedEgress([answer(body)]))
    assert found == Fetched(value=FETCHED, elapsed_ms=1, size_bytes=len(body))
    for reply, words in (
        (answer({}, 503), f"{URL} answered 503."),
        (answer(None, 304), f"{URL} answered 304."),
        (UpstreamTimeout("It took too long."), "It took too long."),
        (answer(b"{"), f"{URL} answered with JSON that cannot be read: at line 1, column 2 "),
    ):
        fault = await fetch_document(DEFINITION, ScriptedEgress([reply]))
        assert isinstance(fault, str)
        assert fault.startswith(words)
    bare = load(endpoint_tool("a"))
    assert await fetch_document(bare, ScriptedEgress([])) == "The definition has no toolsUrl."


async def test_snapshot_is_filtered_again() -> None:
    """Under the ceiling in force now, whatever it was when it was kept (section 7)."""
    tools = [endpoint_tool("kept"), endpoint_tool("over", dangerLevel="destructive")]
    kept = Snapshot(body=json.dumps(tools).encode(), etag=None, at_s=0)
    found, egress, _ = await refreshed(answer({}, 500), kept=kept)

    assert names(found) == ["static", "kept"]
    assert found.catalog.dropped[0].over_ceiling
    assert "If-None-Match" not in dict(egress.sent[0].headers)


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": 1}', b"\x00", b"null"])
async def test_spoiled_snapshot_is_as_good_as_none(body: bytes) -> None:
    """It is never confirmed by "not modified": the whole catalog is asked for (7)."""
    spoiled = Snapshot(body=body, etag='"v1"', at_s=900)
    found, egress, _ = await refreshed(answer(FETCHED), kept=spoiled)
    assert found.source == "fresh"
    assert "If-None-Match" not in dict(egress.sent[0].headers)

    offline, _, _ = await refreshed(answer({}, 500), kept=spoiled)
    assert offline.source == "static"
    untouched, _, _ = await refreshed(answer({}), kept=spoiled, fetch=False)
    assert untouched.source == "static"


async def test_without_fetching_nothing_goes_out() -> None:
    """`--no-fetch` serves the snapshot, then the static catalog (contract section 13)."""
    found, egress, _ = await refreshed(answer(FETCHED), kept=KEPT, fetch=False)
    assert (found.source, found.age_s, found.fault) == ("stale", 60, None)

    bare, also, _ = await refreshed(answer(FETCHED), fetch=False)
    assert (bare.source, bare.fault) == ("static", None)
    assert egress.sent == also.sent == []


async def test_reader_ignores_keys_it_does_not_know() -> None:
    """A fetched document is a list of tools or `{tools: […]}`, and may grow keys (section 0)."""
    body = b"\xef\xbb\xbf" + json.dumps({**FETCHED, "version": 3}).encode()
    found, _, _ = await refreshed(answer(body))

    assert names(found) == ["static", "fetched"]


@pytest.mark.parametrize("etag", ["x" * 5000, "a\r\nX-Evil: 1", "ü", ""])
async def test_odd_etag_is_not_kept(etag: str) -> None:
    """What could not be sent back would break every later fetch."""
    _, _, snapshots = await refreshed(answer(FETCHED, etag=etag))

    assert snapshots.kept is not None
    assert snapshots.kept.etag is None


async def test_definition_without_tools_url_is_static() -> None:
    """A catalog is static in the definition, fetched, or both (contract section 7)."""
    egress = ScriptedEgress([answer(FETCHED)])
    found = await refresh(load(endpoint_tool("a")), egress, MemorySnapshots(), now_s=0)

    assert (found.source, found.age_s) == ("static", None)
    assert names(found) == ["a"]
    assert egress.sent == []
