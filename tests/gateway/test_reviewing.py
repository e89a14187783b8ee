"""A review: what is approved, by whom, and what an approval holds (contract sections 7 and 17)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.errors import AlreadyDecided, Forbidden, InvalidRequest, NotFound, StaleDigest
from remit.gateway.acting import system
from remit.gateway.records import Role
from remit.gateway.reviewing import (
    accept_catalog,
    approve,
    difference,
    list_versions,
    read_app,
    reject,
    remit_of,
)
from remit.gateway.suspending import resume, suspend
from remit.statement.document import Remit
from remit.statement.rendering import as_text
from tests.catalog.documents import endpoint_tool
from tests.gateway.server import Server, shop

READ = endpoint_tool("get_order")
CREATE = endpoint_tool("create", category="write", endpoint={"method": "POST", "path": "/orders"})
REFUND = endpoint_tool("refund", category="action", endpoint={"method": "POST", "path": "/refunds"})


def ceiling(category: str, danger_level: str) -> Ceiling:
    """A ceiling by its words."""
    return Ceiling(category=Category(category), danger_level=DangerLevel(danger_level))


async def test_approved_version_is_in_force_and_supersedes_the_one_before(server: Server) -> None:
    """Submitted → approved → superseded (contract section 7, "Life")."""
    await server.approved()
    await server.submit(shop(READ, CREATE))
    await approve(server.books, server.operator, "acme", 2)

    page = await list_versions(server.books, server.operator, "acme")
    row, version = await read_app(server.books, server.operator, "acme")
    assert [(v.number, v.status) for v in page.items] == [(2, "approved"), (1, "superseded")]
    assert (row.in_force, version.number) == (2, 2)
    assert [t.name for t in (await server.in_force()).catalog.tools] == ["get_order", "create"]


async def test_lower_ceiling_is_what_calls_run_under(server: Server) -> None:
    """A reviewer approves at or under the ceiling asked (contract section 7)."""
    await server.approved(shop(READ, CREATE, REFUND), ceiling=ceiling("write", "safe"))

    found = await server.in_force()
    remit = as_text(await remit_of(server.books, server.operator, "acme", 1))
    assert [tool.name for tool in found.catalog.tools] == ["get_order", "create"]
    assert [tool.name for tool in found.catalog.dropped if tool.over_ceiling] == ["refund"]
    assert found.definition.ceiling == ceiling("write", "safe")
    assert remit != as_text(await remit_of_asked(server))


async def remit_of_asked(server: Server) -> Remit:
    """The remit of the same definition as it was submitted."""
    version = await server.submit(shop(READ, CREATE, REFUND))
    return await remit_of(server.books, server.operator, "acme", version.number)


@pytest.mark.parametrize(
    "above", [("action", "safe"), ("write", "destructive"), ("action", "destructive")]
)
async def test_ceiling_above_what_was_asked_is_refused(
    server: Server, above: tuple[str, str]
) -> None:
    """Nobody is given more than they asked for; the scales do not make up for each other."""
    await server.submit(shop(CREATE, ceiling={"category": "write", "dangerLevel": "moderate"}))

    with pytest.raises(InvalidRequest, match="above it"):
        await approve(server.books, server.operator, "acme", 1, ceiling=ceiling(*above))


async def test_approval_of_another_remit_than_was_read_is_stale(server: Server) -> None:
    """An approval approves a digest (contract section 17)."""
    await server.submit()
    remit = await remit_of(server.books, server.operator, "acme", 1)
    await server.submit(shop(READ, REFUND))

    with pytest.raises(StaleDigest):
        await approve(server.books, server.operator, "acme", 2, digest=remit.digest)
    now = await remit_of(server.books, server.operator, "acme", 2)
    found = await approve(server.books, server.operator, "acme", 2, digest=now.digest)

    assert found.status == "approved"


@pytest.mark.parametrize("before", ["approved", "rejected", "superseded"])
async def test_decision_is_made_once(server: Server, before: str) -> None:
    """Only a submitted version waits for a decision; the first one stands."""
    await server.submit()
    if before == "approved":
        await approve(server.books, server.operator, "acme", 1)
    elif before == "rejected":
        await reject(server.books, server.operator, "acme", 1, reason="Sends too much.")
    else:
        await server.submit(shop(READ, name="Two"))

    with pytest.raises(AlreadyDecided, match=before):
        await approve(server.books, server.operator, "acme", 1)
    with pytest.raises(AlreadyDecided, match=before):
        await reject(server.books, server.operator, "acme", 1, reason="No.")


async def test_rejected_version_never_runs_and_says_why(server: Server) -> None:
    """The one in force goes on (contract section 7)."""
    await server.approved()
    await server.submit(shop(READ, REFUND))
    found = await reject(server.books, server.operator, "acme", 2, reason=" Refunds\nfirst ")

    assert (found.status, found.reason) == ("rejected", "Refunds first")
    assert (await server.in_force()).version == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
async def test_refusal_and_suspension_need_a_reason(server: Server, reason: str) -> None:
    """People are shown it."""
    await server.submit()

    with pytest.raises(InvalidRequest):
        await reject(server.books, server.operator, "acme", 1, reason=reason)
    with pytest.raises(InvalidRequest):
        await suspend(server.books, server.operator, "acme", reason=reason, node="n")


async def test_difference_of_two_versions_is_said_both_ways(server: Server) -> None:
    """`…/versions/{n}/diff?against=` (contract section 10)."""
    await server.approved()
    await server.submit(shop(READ, REFUND))

    there = await difference(server.books, server.operator, "acme", 2, against=1)
    back = await difference(server.books, server.operator, "acme", 1, against=2)
    assert (there.change, back.change) == ("version", "edit")
    assert {found.kind for found in back.changes} <= {"removed", "tightened"}


async def test_every_act_is_in_the_audit_and_no_failed_one(server: Server) -> None:
    """Every act is recorded with who did it (contract section 10)."""
    actor = replace(server.operator, key_id="key_1")
    await server.approved()
    await suspend(server.books, actor, "acme", reason="Incident.", node="n")
    await suspend(server.books, actor, "acme", reason="Again.", node="n")
    await resume(server.books, actor, "acme")
    await resume(server.books, actor, "acme")
    with pytest.raises(NotFound):
        await resume(server.books, actor, "nope")

    entries = await server.audit()
    assert [(entry.kind, entry.actor) for entry in entries] == [
        ("app.submitted", "system"),
        ("app.approved", "system"),
        ("app.suspended", "key:key_1"),
        ("app.resumed", "key:key_1"),
    ]
    approved = json.loads(entries[1].detail_json)
    remit = await remit_of(server.books, server.operator, "acme", 1)
    assert (approved["remit"], approved["ceiling"]) == (remit.digest, "read/safe")


async def test_nothing_of_another_workspace_can_be_reviewed(server: Server) -> None:
    """Its versions are answered as ones that are not there (contract section 10)."""
    await server.submit()
    other = system("other")

    for act in (
        lambda: approve(server.books, other, "acme", 1),
        lambda: reject(server.books, other, "acme", 1, reason="No."),
        lambda: suspend(server.books, other, "acme", reason="No.", node="n"),
        lambda: resume(server.books, other, "acme"),
        lambda: remit_of(server.books, other, "acme", 1),
        lambda: difference(server.books, other, "acme", 1, against=1),
        lambda: read_app(server.books, other, "acme"),
        lambda: list_versions(server.books, other, "acme"),
        lambda: accept_catalog(server.books, other, "acme", "d"),
    ):
        with pytest.raises(NotFound):
            await act()
    row = await server.books.apps.get("acme", "acme")
    assert row is not None
    assert row.revision == 1


@pytest.mark.parametrize("role", ["backend", "user"])
async def test_only_an_operator_reviews(server: Server, role: Role) -> None:
    """Approving needs the role for it (threats.md: an agent approving itself)."""
    await server.submit()
    actor = replace(server.operator, key_id="k", role=role)

    for act in (
        lambda: approve(server.books, actor, "acme", 1),
        lambda: reject(server.books, actor, "acme", 1, reason="No."),
        lambda: suspend(server.books, actor, "acme", reason="No.", node="n"),
        lambda: resume(server.books, actor, "acme"),
        lambda: accept_catalog(server.books, actor, "acme", "d"),
    ):
        with pytest.raises(Forbidden):
            await act()
