"""Submitting a definition and changing one: edit or new version (contract section 7, "Life")."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from remit.catalog.mistakes import Mistake
from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.errors import (
    Forbidden,
    InvalidDefinition,
    InvalidRequest,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
)
from remit.gateway.acting import system
from remit.gateway.preconditions import etag_of
from remit.gateway.records import Role
from remit.gateway.reviewing import reject
from remit.gateway.submitting import Changed, change, submit
from remit.statement.remit import build
from tests.catalog.documents import endpoint_tool, load, target_tool, url_target
from tests.gateway.server import HOUSE, Json, Server, shop

WRITE = {"category": "write", "dangerLevel": "moderate"}
WRITE_SAFE = Ceiling(category=Category.WRITE, danger_level=DangerLevel.SAFE)
READ = endpoint_tool("get_order")
REFUND = endpoint_tool("refund", category="action", endpoint={"method": "POST", "path": "/refunds"})


async def changed(server: Server, document: Json, **how: Any) -> Changed:  # noqa: ANN401 -- of ``change``
    """Change the app from the state that stands now."""
    row = await server.books.apps.get("acme", "acme")
    assert row is not None
    how.setdefault("if_match", etag_of(row.revision))
    return await change(server.books, server.operator, "acme", document, HOUSE, **how)


def mistakes(refused: pytest.ExceptionInfo[InvalidDefinition]) -> list[Mistake]:
    """What the refusal carries."""
    return [mistake for mistake in refused.value.mistakes if isinstance(mistake, Mistake)]


async def test_first_version_is_one_and_waits_for_a_reviewer(server: Server) -> None:
    """`POST` answers app, version, status, remitDigest and findings (contract section 10)."""
    found = await submit(server.books, server.operator, shop(), HOUSE)

    assert (found.version.number, found.version.status) == (1, "submitted")
    assert found.version.remit_digest == build(load(READ)).digest
    assert {finding.level for finding in found.findings} <= {"warning", "note"}
    assert found.findings


async def test_submitted_again_is_the_next_version_and_the_one_that_waited_no_longer_does(
    server: Server,
) -> None:
    """One version waits at a time (contract section 7)."""
    await server.submit()
    second = await server.submit(shop(READ, name="Acme Two"))

    first = await server.books.versions.get("acme", "acme", 1)
    assert (second.number, second.status) == (2, "submitted")
    assert first is not None
    assert first.status == "superseded"


async def test_broken_definition_is_refused_with_every_mistake(server: Server) -> None:
    """Mistakes are collected and located, and nothing is kept (architecture, section 4)."""
    broken = shop(endpoint_tool("a b"), endpoint_tool(category="READ"), surprise=1)

    with pytest.raises(InvalidDefinition) as refused:
        await submit(server.books, server.operator, broken, HOUSE)

    assert {mistake.pointer for mistake in mistakes(refused)} == {
        "/surprise",
        "/tools/0/name",
        "/tools/1/category",
    }
    assert await server.books.apps.get("acme", "acme") is None
    assert await server.audit() == []


OAUTH = {
    "type": "oauth2",
    "authorizationUrl": "https://acme.example/authorize",
    "tokenUrl": "https://acme.example/token",
    "clientId": "remit",
}
OWN = "https://remit.acme.example"


@pytest.mark.parametrize(
    ("document", "pointer", "said"),
    [
        (shop(auth=OAUTH), "/auth/type", "no pages where users sign in"),
        (shop(baseUrl=OWN), "/baseUrl", "this server itself"),
        (shop(baseUrl=f"{OWN.upper()}:443/v1"), "/baseUrl", "this server itself"),
        (shop(target_tool(url_target(f"{OWN}/v1/keys"))), "/baseUrl", "this server itself"),
        (
            shop(target_tool({"type": "app", "component": "api", "path": "/x", "method": "GET"}),
                 components={"api": {"url": OWN}}),
            "/baseUrl", "this server itself",
        ),
    ],
    ids=["oauth2", "own", "own, spelt otherwise", "own as url target", "own as component"],
)  # fmt: skip
async def test_what_loads_and_cannot_be_served_is_refused_with_its_reason(
    server: Server, document: Json, pointer: str, said: str
) -> None:
    """`oauth2` comes later (issue); no app may send to the platform itself (threats.md)."""
    with pytest.raises(InvalidDefinition) as refused:
        await submit(server.books, server.operator, document, HOUSE)

    assert [(m.pointer, said in m.message) for m in mistakes(refused)] == [(pointer, True)]


@pytest.mark.parametrize(
    "base", [f"{OWN}:8443", "https://acme.example", "http://remit.acme.example"]
)
async def test_neighbour_of_the_platform_is_an_app_like_any_other(
    server: Server, base: str
) -> None:
    """Origins are compared, not names (contract section 7)."""
    assert (await server.submit(shop(baseUrl=base))).number == 1


@pytest.mark.parametrize("role", ["backend", "user"])
async def test_only_an_operator_submits(server: Server, role: Role) -> None:
    """A back end makes calls; it does not say what may be called (contract section 10)."""
    actor = replace(server.operator, key_id="k", role=role)

    with pytest.raises(Forbidden):
        await submit(server.books, actor, shop(), HOUSE)


async def test_edit_is_in_force_at_once_and_kept_with_its_diff(server: Server) -> None:
    """Anything that widens nothing is an edit (contract section 7, "Life")."""
    await server.approved()
    found = await changed(server, shop(endpoint_tool("get_order", description="Gets one.")))

    standing = await server.in_force()
    edits = await server.books.versions.edits("acme", "acme", 1)
    assert (found.change, found.version, found.as_json()["needsConsent"]) == ("edit", 1, False)
    assert standing.catalog.tools[0].description == "Gets one."
    assert [json.loads(edit.diff_json) for edit in edits][1][0]["pointer"] == "/description"


@pytest.mark.promise("T-52")
async def test_new_version_waits_and_the_one_in_force_goes_on(server: Server) -> None:
    """Raising the ceiling is a new version; until it is approved the old one runs (section 7)."""
    await server.approved()
    found = await changed(server, shop(READ, REFUND))

    standing = await server.in_force()
    assert (found.change, found.version, found.diff.needs_consent) == ("version", 2, True)
    assert found.diff.reasons
    assert (standing.version, [t.name for t in standing.catalog.tools]) == (1, ["get_order"])


async def test_dry_run_says_the_same_and_changes_nothing(server: Server) -> None:
    """`?dryRun=true` only answers (contract section 10)."""
    await server.approved()
    before = await server.books.apps.get("acme", "acme")
    for document in (shop(READ, REFUND), shop(endpoint_tool("get_order", title="Order"))):
        said = await changed(server, document, dry_run=True)
        assert await server.books.apps.get("acme", "acme") == before
        done = await changed(server, document)
        assert (said.change, said.version, said.diff) == (done.change, done.version, done.diff)
        before = await server.books.apps.get("acme", "acme")


async def test_same_definition_changes_nothing(server: Server) -> None:
    """Sending what stands is no change, and so is another order of keys."""
    await server.approved()
    document = shop()
    turned = dict(reversed(document.items()))

    assert [(await changed(server, d)).change for d in (document, turned)] == ["none", "none"]
    assert len(await server.audit()) == 2


async def test_applied_again_while_it_waits_makes_no_further_version(server: Server) -> None:
    """`remit apply` twice is as good as once."""
    await server.approved()
    document = shop(READ, REFUND)

    assert [(await changed(server, document)).version for _ in range(2)] == [2, 2]


async def test_change_before_the_first_approval_is_a_new_version(server: Server) -> None:
    """There is nothing in force that could be edited; what a reviewer reads is never swapped."""
    await server.submit()
    found = await changed(server, shop(endpoint_tool("get_order", title="Order")))

    first = await server.books.versions.get("acme", "acme", 1)
    assert (found.change, found.version) == ("version", 2)
    assert first is not None
    assert first.status == "superseded"


async def test_rejected_definition_can_be_mended(server: Server) -> None:
    """A rejected first version is changed like any other."""
    await server.submit()
    await reject(server.books, server.operator, "acme", 1, reason="No.")

    assert (await changed(server, shop(READ, name="Acme Two"))).version == 2


async def test_edit_reaches_nothing_that_the_reviewer_left_out(server: Server) -> None:
    """An origin that only a tool over the approved ceiling named was not approved (threats.md)."""
    outside = "https://elsewhere.example"
    over = target_tool(
        url_target(f"{outside}/x"), name="over", category="action", dangerLevel="safe"
    )
    await server.approved(shop(READ, over), ceiling=WRITE_SAFE)
    under = target_tool(
        url_target(f"{outside}/y"), name="under", category="write", dangerLevel="safe"
    )

    found = await changed(server, shop(READ, over, under))

    assert found.change == "version"
    assert any("elsewhere.example" in reason for reason in found.diff.reasons)


async def test_lower_ceiling_of_an_edit_holds_at_once(server: Server) -> None:
    """An author may always ask for less (contract section 7)."""
    create = endpoint_tool(
        "create", category="write", endpoint={"method": "POST", "path": "/orders"}
    )
    await server.approved(shop(READ, create, ceiling=WRITE))
    lowered = shop(READ, create, ceiling={"category": "read", "dangerLevel": "safe"})

    assert (await changed(server, lowered)).change == "edit"
    assert [tool.name for tool in (await server.in_force()).catalog.tools] == ["get_order"]


async def test_ceiling_that_was_lowered_by_the_reviewer_is_no_change_of_the_author(
    server: Server,
) -> None:
    """Sending the same definition again asks for nothing new."""
    await server.approved(shop(READ, REFUND), ceiling=WRITE_SAFE)

    assert (await changed(server, shop(READ, REFUND))).change == "none"
    assert (await server.in_force()).definition.ceiling == WRITE_SAFE


@pytest.mark.parametrize(
    ("if_match", "error"),
    [
        (None, PreconditionRequired),
        ('"1"', PreconditionFailed),
        ('W/"2"', PreconditionFailed),
        ("2", InvalidRequest),
        ("", InvalidRequest),
        ('"1", "3"', PreconditionFailed),
    ],
)
async def test_change_must_name_the_state_it_was_made_from(
    server: Server, if_match: str | None, error: type[Exception]
) -> None:
    """428 without `If-Match`, 412 when it is stale, 422 when it is no entity tag (section 10)."""
    await server.approved()

    with pytest.raises(error):
        await changed(server, shop(READ, REFUND), if_match=if_match)


@pytest.mark.parametrize("if_match", ['"2"', "*", '"1" , "2"'])
async def test_change_from_the_state_that_stands_is_made(server: Server, if_match: str) -> None:
    """RFC 9110, 13.1.1: any of the tags may match, and `*` always does."""
    await server.approved()

    assert (await changed(server, shop(READ, REFUND), if_match=if_match)).change == "version"


async def test_unknown_app_and_one_of_another_workspace_answer_the_same(server: Server) -> None:
    """Wrong workspace and unknown id are the same 404 (contract section 10)."""
    await server.approved()
    said: list[str] = []
    for workspace, app in (("other", "acme"), ("acme", "nope")):
        with pytest.raises(NotFound) as refused:
            await change(server.books, system(workspace), app, shop(), HOUSE, if_match=etag_of(2))
        said.append(refused.value.message.replace(app, "…"))

    assert said[0] == said[1]


async def test_definition_of_another_app_is_refused(server: Server) -> None:
    """`PUT /v1/apps/acme` changes acme and nothing else."""
    await server.approved()

    with pytest.raises(InvalidRequest, match="other-app"):
        await changed(server, shop(id="other-app"))
