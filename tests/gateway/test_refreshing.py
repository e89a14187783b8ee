"""A server's catalogs: fetched when old, kept, filtered, reviewed, frozen (contract section 7)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from remit.errors import CallError, UpstreamTimeout
from remit.gateway.ports import Limits, WireRequest, WireResponse
from remit.gateway.preconditions import etag_of
from remit.gateway.reviewing import accept_catalog
from remit.gateway.ruling import put_policy
from remit.gateway.standing import InForce
from remit.gateway.submitting import change
from remit.gateway.suspending import suspend
from tests.catalog.documents import endpoint_tool, target_tool, url_target
from tests.gateway.fakes import answer
from tests.gateway.server import HOUSE, Json, Server, open_server, shop

URL = "https://api.acme.example/agent/tools"
STATIC = endpoint_tool("static")
ONE, TWO = endpoint_tool("one"), endpoint_tool("two")
OVER = endpoint_tool("over", category="action")
OUTSIDE = target_tool(
    url_target("https://elsewhere.example/x"), category="read", dangerLevel="safe"
)
MINUTE_MS = 60_001


def app(**changes: object) -> Json:
    """A definition whose catalog is fetched, static tools beside it."""
    write = {"category": "write", "dangerLevel": "moderate"}
    return shop(STATIC, **{"toolsUrl": URL, "ceiling": write, **changes})


def says(server: Server, *answers: WireResponse | CallError) -> None:
    """What the app answers from now on, the last again and again."""
    server.egress.answers[:] = list(answers)


def names(found: InForce) -> list[str]:
    """The tools that are offered."""
    return [tool.name for tool in found.catalog.tools]


async def policy(server: Server, mode: str) -> None:
    """Put a policy with this ``catalog``."""
    kept = await server.books.policies.current("acme")
    number = 0 if kept is None else kept.number
    await put_policy(server.books, server.operator, {"catalog": mode}, if_match=etag_of(number))


@pytest.mark.promise("T-43", "T-46", "T-51")
async def test_fetched_catalog_is_filtered_kept_and_compared_with_the_review(
    server: Server,
) -> None:
    """What is over the ceiling or goes elsewhere is dropped, with its reason (section 7)."""
    says(server, answer({"tools": [ONE, OVER, OUTSIDE, {"name": 5}]}, etag='"v1"'))
    await server.approved(app())
    found = await server.in_force()

    kept = await server.books.catalogs.history("acme", "acme")
    assert (names(found), found.source, found.age_s) == (["static", "one"], "fresh", 0)
    assert {dropped.name for dropped in found.catalog.dropped} >= {"over", "reach"}
    assert {dropped["name"] for dropped in json.loads(kept[0].dropped_json)} >= {"over", "reach"}
    assert [(c["kind"], c["tool"]) for c in json.loads(kept[0].diff_json)] == [("added", "one")]
    assert not {"Authorization", "Cookie"} & {name for name, _ in server.egress.sent[0].headers}


async def test_copy_serves_for_a_minute_then_the_app_is_asked_whether_it_changed(
    server: Server,
) -> None:
    """When the copy is older than 60 s: a conditional GET (contract section 7)."""
    says(server, answer([ONE], etag='"v1"'), answer(None, 304), answer([ONE, TWO], etag='"v2"'))
    await server.approved(app())
    first = await server.in_force()
    server.time.passed_ms += MINUTE_MS - 1
    young = await server.in_force()
    asked = len(server.egress.sent)
    server.time.passed_ms += 1
    unchanged = await server.in_force()
    server.time.passed_ms += MINUTE_MS
    changed = await server.in_force()

    assert (asked, young.age_s, young.source) == (1, 60, "fresh")
    assert (unchanged.source, unchanged.age_s, unchanged.catalog) == ("unchanged", 0, first.catalog)
    assert dict(server.egress.sent[1].headers)["If-None-Match"] == '"v1"'
    assert (changed.source, names(changed)) == ("fresh", ["static", "one", "two"])
    assert changed.catalog_digest != first.catalog_digest == unchanged.catalog_digest


async def test_app_without_etag_is_asked_by_time(server: Server) -> None:
    """`Last-Modified` serves where there is no `ETag` (RFC 9110, 13.1.3)."""
    at = "Mon, 02 Nov 2026 10:00:00 GMT"
    says(server, answer([ONE], last_modified=at), answer(None, 304))
    await server.approved(app())
    await server.in_force()
    server.time.passed_ms += MINUTE_MS

    assert (await server.in_force()).source == "unchanged"
    assert dict(server.egress.sent[1].headers)["If-Modified-Since"] == at


async def test_session_asks_however_young_the_copy_is(server: Server) -> None:
    """`toolsUrl` is fetched when a session is created (contract section 7)."""
    says(server, answer([ONE]), answer([TWO]))
    await server.approved(app())
    await server.in_force()
    server.time.passed_ms += 1
    found = await server.standing.app("acme", "acme", now=True)

    assert isinstance(found, InForce)
    assert names(found) == ["static", "two"]


async def test_one_fetch_is_in_flight(server: Server) -> None:
    """Sixteen calls at once ask the app once (contract section 7)."""
    says(server, answer([ONE]))
    await server.approved(app())
    found = await asyncio.gather(*(server.in_force() for _ in range(16)))

    assert len(server.egress.sent) == 1
    assert {id(one.catalog) for one in found} == {id(found[0].catalog)}


FAULTS: dict[str, WireResponse | CallError] = {
    "no answer": UpstreamTimeout("The app did not answer within 2 s."),
    "500": answer(None, 500),
    "redirect": answer(None, 302, location="https://elsewhere.example"),
    "HTML": answer(b"<html>", media="text/html"),
    "half a document": answer(b"{"),
    "another document": answer({"items": []}),
    "no text": answer(b"\xff\xfe"),
}


@pytest.mark.promise("T-47", "T-48")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_last_good_snapshot_serves_when_the_fetch_fails(
    server: Server, scratch: Path, fault: WireResponse | CallError
) -> None:
    """With its age, after a restart too (case catalog-unreachable)."""
    says(server, answer([ONE]), fault)
    await server.approved(app())
    await server.in_force()
    server.time.passed_ms += MINUTE_MS
    found = await server.in_force()
    async with open_server(scratch, time=server.time, answers=[fault]) as restarted:
        again = await restarted.in_force()

    for one in (found, again):
        assert (names(one), one.source, one.age_s) == (["static", "one"], "stale", 60)
        assert one.fault
    assert found.catalog_digest == again.catalog_digest


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_static_catalog_serves_where_nothing_good_ever_came(
    server: Server, fault: WireResponse | CallError
) -> None:
    """Then the static catalog (contract section 7)."""
    says(server, fault)
    await server.approved(app())
    found = await server.in_force()

    assert (names(found), found.source, found.age_s) == (["static"], "static", None)
    assert found.fault


async def test_app_that_does_not_answer_is_asked_once_a_minute(server: Server) -> None:
    """A dead catalog costs one wait in that time, not one a call."""
    says(server, UpstreamTimeout("The app did not answer within 2 s."))
    await server.approved(app())
    for _ in range(5):
        await server.in_force()
        server.time.passed_ms += 10_000

    assert len(server.egress.sent) == 1


async def test_empty_catalog_is_an_answer(server: Server) -> None:
    """`200 []` takes the fetched tools away (case catalog-unreachable)."""
    says(server, answer([ONE]), answer([]))
    await server.approved(app())
    await server.in_force()
    server.time.passed_ms += MINUTE_MS

    assert names(await server.in_force()) == ["static"]


async def test_nodes_share_what_one_of_them_fetched(server: Server, scratch: Path) -> None:
    """Ten nodes do not ask an app ten times a minute."""
    says(server, answer([ONE]))
    await server.approved(app())
    await server.in_force()
    server.time.passed_ms += 30_000
    async with open_server(scratch, time=server.time) as beside:
        found = await beside.in_force()

    assert (names(found), found.source, found.age_s) == (["static", "one"], "unchanged", 30)
    assert beside.egress.sent == []


async def test_snapshot_of_another_address_is_no_snapshot_of_this_one(server: Server) -> None:
    """Neither its tools nor its entity tag serve for another `toolsUrl`."""
    says(server, answer([ONE], etag='"v1"'), answer(None, 500))
    await server.approved(app())
    await server.in_force()
    row = await server.books.apps.get("acme", "acme")
    assert row is not None
    moved = await change(
        server.books, server.operator, "acme", app(toolsUrl=f"{URL}2"), HOUSE,
        if_match=etag_of(row.revision),
    )  # fmt: skip
    found = await server.in_force()

    assert moved.change == "edit"
    assert (names(found), found.source) == (["static"], "static")
    assert "If-None-Match" not in dict(server.egress.sent[-1].headers)


async def test_suspension_during_a_fetch_holds_for_the_call_that_waited(server: Server) -> None:
    """No call starts after it (contract section 7, "Suspend")."""
    await server.approved(app())
    send = server.egress.send

    async def suspended(request: WireRequest, limits: Limits) -> WireResponse:
        await suspend(server.books, server.operator, "acme", reason="Stop.", node="n")
        return await send(request, limits)

    server.egress.send = suspended  # type: ignore[method-assign]
    found = await server.standing.app("acme", "acme")

    assert not isinstance(found, InForce)
    assert found.code == "app_suspended"


async def test_new_tools_wait_for_a_reviewer(server: Server) -> None:
    """`catalog: review`: what is there now goes on, what is new waits (contract section 7)."""
    says(server, answer([ONE]), answer([ONE, TWO]))
    await server.approved(app())
    await server.in_force()
    await policy(server, "review")
    server.time.passed_ms += MINUTE_MS
    waiting = await server.in_force()
    newest = (await server.books.catalogs.history("acme", "acme"))[0]
    await accept_catalog(server.books, server.operator, "acme", newest.digest)
    accepted = await server.in_force()

    assert names(waiting) == ["static", "one"]
    assert "wait" in (waiting.catalog.reason("two") or "")
    assert [(c["kind"], c["tool"]) for c in json.loads(newest.diff_json)] == [("added", "two")]
    assert names(accepted) == ["static", "one", "two"]
    assert (await server.audit())[-1].kind == "catalog.accepted"


async def test_frozen_catalog_is_not_fetched_and_says_its_age(server: Server) -> None:
    """`catalog: frozen`: nothing comes, nothing goes (contract section 7)."""
    says(server, answer([ONE]), answer([TWO]))
    await server.approved(app())
    await server.in_force()
    await policy(server, "frozen")
    server.time.passed_ms += 10 * MINUTE_MS
    frozen = await server.in_force()
    asked = len(server.egress.sent)
    await policy(server, "live")
    live = await server.in_force()

    assert (names(frozen), frozen.source, frozen.age_s) == (["static", "one"], "stale", 600)
    assert (asked, names(live)) == (1, ["static", "two"])


async def test_frozen_from_the_start_is_static(server: Server) -> None:
    """Nothing was let in, and nothing is asked for."""
    await policy(server, "frozen")
    await server.approved(app())
    found = await server.in_force()

    assert (names(found), found.source, server.egress.sent) == (["static"], "static", [])


async def test_catalog_in_review_from_the_start_waits_as_a_whole(server: Server) -> None:
    """Nothing was let in yet but what the definition itself says."""
    says(server, answer([ONE]))
    await policy(server, "review")
    await server.approved(app())
    found = await server.in_force()

    assert names(found) == ["static"]
    assert found.catalog.reason("one")
