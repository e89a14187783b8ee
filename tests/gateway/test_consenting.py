"""Consent: to a version, by a user or for everybody, taken back (contract section 7, "Life")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from remit.errors import Forbidden, InvalidRequest, NotFound
from remit.gateway.acting import system
from remit.gateway.consenting import grant, list_grants, revoke
from tests.catalog.documents import endpoint_tool
from tests.gateway.server import Server, shop

REFUND = endpoint_tool("refund", category="action", endpoint={"method": "POST", "path": "/refunds"})
NEXT = shop(endpoint_tool("get_order"), REFUND)


async def missing(server: Server, user: str = "ana") -> str | None:
    """Why the user's consent is missing, as a call asks it."""
    return await server.consents.missing("acme", await server.in_force(), user)


async def test_user_consents_to_the_version_in_force(server: Server) -> None:
    """No call runs before; each user consents alone (contract section 7)."""
    await server.approved()
    before = await missing(server)
    await grant(server.books, server.operator, "acme", "ana", 1)

    assert before is not None
    assert "version 1" in before
    assert await missing(server) is None
    assert await missing(server, "Ana") is not None


@pytest.mark.promise("T-52")
async def test_new_version_asks_users_again(server: Server) -> None:
    """Raising the ceiling asks users again (contract section 7)."""
    await server.approved()
    await grant(server.books, server.operator, "acme", "ana", 1)
    await server.approved(NEXT)
    asked = await missing(server)
    await grant(server.books, server.operator, "acme", "ana", 2)

    assert asked is not None
    assert "consented to version 1" in asked
    assert await missing(server) is None


async def test_version_that_only_waits_asks_nobody(server: Server) -> None:
    """The version in force goes on until then."""
    await server.approved()
    await grant(server.books, server.operator, "acme", "ana", 1)
    await server.submit(NEXT)

    assert await missing(server) is None


async def test_reviewer_may_consent_for_everybody_and_the_next_one_need_not(
    server: Server,
) -> None:
    """`consent: "workspace"` is for one's own product, and for that version."""
    await server.approved(consent="workspace")
    everybody = [await missing(server, user) for user in ("ana", "bob")]
    await server.approved(NEXT)

    assert everybody == [None, None]
    assert await missing(server) is not None


async def test_consent_taken_back_is_gone_at_once(server: Server) -> None:
    """`DELETE /v1/grants/{id}`; a second time changes nothing."""
    await server.approved()
    given = await grant(server.books, server.operator, "acme", "ana", 1)
    assert await missing(server) is None
    first = await revoke(server.books, server.operator, given.id)
    server.time.passed_ms += 5000
    again = await revoke(server.books, server.operator, given.id)

    assert await missing(server) is not None
    assert first == again
    assert [entry.kind for entry in await server.audit()][-2:] == ["grant.given", "grant.revoked"]


async def test_consent_given_twice_is_one(server: Server) -> None:
    """Asking again is harmless, and the audit has it once."""
    await server.approved()
    one = await grant(server.books, server.operator, "acme", "ana", 1)
    two = await grant(server.books, server.operator, "acme", "ana", 1)

    assert one == two
    assert [entry.kind for entry in await server.audit()].count("grant.given") == 1


async def test_nobody_consents_to_what_was_not_approved(server: Server) -> None:
    """Consent shows the remit that an approval approved (contract section 17)."""
    await server.submit()
    with pytest.raises(InvalidRequest):
        await grant(server.books, server.operator, "acme", "ana", 1)
    await server.submit(NEXT)
    with pytest.raises(InvalidRequest):
        await grant(server.books, server.operator, "acme", "ana", 1)


@pytest.mark.parametrize("user", ["", " ", "a b", "x" * 201, "a\u202eb"])
async def test_user_must_be_an_id(server: Server, user: str) -> None:
    """1 to 200 visible characters (contract section 1)."""
    await server.approved()

    with pytest.raises(InvalidRequest):
        await grant(server.books, server.operator, "acme", user, 1)


async def test_token_speaks_for_its_own_user_alone(server: Server) -> None:
    """A user token is of one user (contract section 10)."""
    await server.approved()
    ana = replace(server.operator, key_id="t", role="user", user="ana")
    given = await grant(server.books, ana, "acme", "ana", 1)
    await grant(server.books, server.operator, "acme", "bob", 1)

    mine = await list_grants(server.books, ana)
    assert ([row.user for row in mine.items], given.by) == (["ana"], "user:ana")
    with pytest.raises(Forbidden):
        await grant(server.books, ana, "acme", "bob", 1)
    with pytest.raises(Forbidden):
        await list_grants(server.books, ana, user="bob")
    with pytest.raises(Forbidden):
        await revoke(server.books, ana, given.id)


ELSEWHERE: list[Callable[[Server, str], Any]] = [
    lambda server, _: grant(server.books, system("other"), "acme", "ana", 1),
    lambda server, given: revoke(server.books, system("other"), given),
    lambda server, _: revoke(server.books, system("acme"), "grant_none"),
    lambda server, _: grant(server.books, system("acme"), "nope", "ana", 1),
    lambda server, _: grant(server.books, system("acme"), "acme", "ana", 9),
]


@pytest.mark.parametrize("act", ELSEWHERE)
async def test_unknown_and_foreign_are_the_same(
    server: Server, act: Callable[[Server, str], Any]
) -> None:
    """Wrong workspace and unknown id are the same 404 (contract section 10)."""
    await server.approved()
    given = await grant(server.books, server.operator, "acme", "bob", 1)

    with pytest.raises(NotFound):
        await act(server, given.id)
    assert await missing(server, "bob") is None
