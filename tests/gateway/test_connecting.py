"""Credentials and env values: write-only, sealed, opened for one call (sections 7, 8, 10)."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from remit.errors import Forbidden, InvalidRequest, NotFound, RemitError
from remit.gateway.acting import system
from remit.gateway.connecting import (
    Connected,
    GivenCredential,
    connect,
    disconnect,
    list_connections,
)
from remit.gateway.environment import put_env
from remit.gateway.node import Held
from remit.values.secrets import Secret
from tests.catalog.documents import endpoint_tool, target_tool, url_target
from tests.gateway.server import START_MS, Json, Server, shop

CANARY = "canary-connect-7c21f0"
BEARER = GivenCredential(type="bearer", token=Secret(CANARY))
API_KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "prefix": "Key "}


async def put(server: Server, given: GivenCredential = BEARER, user: str = "ana") -> Connected:
    """Connect a user."""
    return await connect(server.books, server.operator, "acme", user, given)


async def held(server: Server, user: str = "ana") -> Held | str:
    """The credential as a call gets it."""
    return await server.wallet.credential("acme", await server.in_force(), user)


@pytest.mark.parametrize(
    ("auth", "given", "secret"),
    [
        ({"type": "bearer"}, BEARER, CANARY),
        (
            {"type": "basic"},
            GivenCredential(type="basic", username="ana", password=Secret("p:ß")),
            "ana:p:ß",
        ),
        (API_KEY, GivenCredential(type="apiKey", key=Secret("k-1")), "k-1"),
    ],
    ids=["bearer", "basic", "apiKey"],
)
async def test_credential_is_opened_for_its_user_and_told_to_nobody(
    server: Server, auth: Json, given: GivenCredential, secret: str
) -> None:
    """`PUT /v1/connections/{app}/{user}` is write-only (contract section 10)."""
    await server.approved(shop(auth=auth))
    told = await put(server, replace(given, account="Ana at Acme"))

    found = await held(server)
    assert isinstance(found, Held)
    assert (found.secret.reveal(), found.account) == (secret, "Ana at Acme")
    assert found.connection_id == told.id
    assert secret not in repr(told) + repr(await list_connections(server.books, server.operator))
    assert isinstance(await held(server, "bob"), str)


async def test_canary_is_nowhere_in_the_store(server: Server, scratch: Path) -> None:
    """Plaintext is never at rest, not in the audit either (vault cases, vault-013)."""
    await server.approved(shop(target_tool(url_target(headers={"X-Key": "${env.KEY}"})), env=ENV))
    await put(server)
    await put_env(server.books, server.operator, "acme", "main", "live", {"KEY": Secret(CANARY)})
    with sqlite3.connect(scratch) as file:
        dump = "\n".join(file.iterdump())
    file.close()

    assert CANARY not in dump
    assert "connection.put" in dump


WRONG: dict[str, GivenCredential] = {
    "another type": GivenCredential(type="apiKey", key=Secret(CANARY)),
    "no token": GivenCredential(type="bearer"),
    "a key beside the token": replace(BEARER, key=Secret(CANARY)),
    "a key for a token": GivenCredential(type="bearer", key=Secret(CANARY)),
    "empty": GivenCredential(type="bearer", token=Secret("")),
    "a line break": GivenCredential(type="bearer", token=Secret(f"{CANARY}\r\nX-Evil: 1")),
    "NUL": GivenCredential(type="bearer", token=Secret(f"{CANARY}\0")),
    "beyond ASCII": GivenCredential(type="bearer", token=Secret(f"{CANARY}ß")),
    "too long": GivenCredential(type="bearer", token=Secret(CANARY * 1000)),
    "a long account": replace(BEARER, account="x" * 201),
    "an account of two lines": replace(BEARER, account="a\nb"),
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
async def test_credential_that_cannot_be_sent_is_refused_without_echo(
    server: Server, given: GivenCredential
) -> None:
    """It names what is wrong, never the value; nothing is kept (contract section 7)."""
    await server.approved()

    with pytest.raises(InvalidRequest) as refused:
        await put(server, given)
    assert CANARY not in refused.value.message
    assert (await list_connections(server.books, server.operator)).items == ()


async def test_username_with_a_colon_is_refused(server: Server) -> None:
    """RFC 7617: it would move into the password."""
    await server.approved(shop(auth={"type": "basic"}))

    with pytest.raises(InvalidRequest, match="colon"):
        await put(server, GivenCredential(type="basic", username="a:b", password=Secret("p")))


@pytest.mark.parametrize("auth", ["none", "identity"])
async def test_app_that_needs_no_credential_takes_none(server: Server, auth: str) -> None:
    """Nothing is stored and nobody connects (contract section 7)."""
    await server.approved(shop(auth={"type": auth}))

    with pytest.raises(InvalidRequest, match="takes no connection"):
        await put(server)


async def test_another_connection_has_another_id(server: Server) -> None:
    """Another account may stand behind it: what an input showed must not be sent with it."""
    await server.approved()
    one = await put(server)
    await held(server)
    two = await put(server, replace(BEARER, token=Secret("second")))

    found = await held(server)
    assert one.id != two.id
    assert isinstance(found, Held)
    assert (found.connection_id, found.secret.reveal()) == (two.id, "second")


async def test_expired_credential_is_as_good_as_none(server: Server) -> None:
    """Stored tokens may carry `expiresAt` (contract section 7)."""
    await server.approved()
    await put(server, replace(BEARER, expires_at=START_MS + 10_000))
    server.time.passed_ms = 9_000
    before = await held(server)
    server.time.passed_ms = 10_000

    said = await held(server)
    assert isinstance(before, Held)
    assert isinstance(said, str)
    assert "expired" in said
    assert (await list_connections(server.books, server.operator)).items[0].expired


async def test_credential_of_the_type_before_is_not_sent(server: Server) -> None:
    """A version that takes another credential needs the user to connect again."""
    await server.approved()
    await put(server)
    await server.approved(shop(auth=API_KEY))

    said = await held(server)
    assert isinstance(said, str)
    assert "apiKey" in said


async def test_row_moved_to_another_user_opens_nothing(server: Server, scratch: Path) -> None:
    """A sealed value opens in its own place alone (vault cases, vault.bind)."""
    await server.approved()
    await put(server)
    with sqlite3.connect(scratch) as file:
        file.execute("""UPDATE connection SET "user" = 'bob'""")
    file.close()

    said = await held(server, "bob")
    assert isinstance(said, str)
    assert "cannot be opened" in said


async def test_disconnected_user_has_none_at_once(server: Server) -> None:
    """`DELETE …`: no row is left (vault cases, vault-015)."""
    await server.approved()
    await put(server)
    await held(server)
    await disconnect(server.books, server.operator, "acme", "ana")

    assert isinstance(await held(server), str)
    with pytest.raises(NotFound):
        await disconnect(server.books, server.operator, "acme", "ana")
    kinds = [entry.kind for entry in await server.audit()]
    assert kinds[-2:] == ["connection.put", "connection.deleted"]


async def test_roles_end_where_the_contract_says(server: Server) -> None:
    """A back end connects its users; a token sees its own; env is the operator's (section 10)."""
    await server.approved()
    await put(server, user="bob")
    backend = replace(server.operator, key_id="k", role="backend")
    ana = replace(server.operator, key_id="t", role="user", user="ana")
    await connect(server.books, backend, "acme", "ana", BEARER)

    mine = await list_connections(server.books, ana)
    assert [row.user for row in mine.items] == ["ana"]
    for act in (
        lambda: connect(server.books, ana, "acme", "ana", BEARER),
        lambda: disconnect(server.books, ana, "acme", "bob"),
        lambda: list_connections(server.books, ana, user="bob"),
        lambda: put_env(server.books, backend, "acme", "main", "live", {"A": Secret("a")}),
    ):
        with pytest.raises(Forbidden):
            await act()
    await disconnect(server.books, ana, "acme", "ana")


async def test_nothing_of_another_workspace_can_be_connected(server: Server) -> None:
    """Wrong workspace and unknown id are the same 404 (isolation cases, iso-005)."""
    await server.approved()
    await put(server)
    other = system("other")

    for act in (
        lambda: connect(server.books, other, "acme", "ana", BEARER),
        lambda: disconnect(server.books, other, "acme", "ana"),
        lambda: put_env(server.books, other, "acme", "main", "live", {"A": None}),
    ):
        with pytest.raises(NotFound):
            await act()
    assert (await list_connections(server.books, other)).items == ()
    assert isinstance(await held(server), Held)


ENV = {"collection": "main", "environment": "live"}
COMPONENT = {"api": {"url": "https://api.acme.example", "env": {**ENV, "environment": "test"}}}


async def env(server: Server, tool: str) -> dict[str, str]:
    """The env values as a call of a tool gets them."""
    found = await server.in_force()
    named = found.catalog.tool(tool)
    assert named is not None
    values = await server.wallet.env("acme", found, named)
    return {name: secret.reveal() for name, secret in values.items()}


@pytest.mark.promise("K-18")
async def test_env_values_are_read_where_the_tool_reads_them(server: Server) -> None:
    """Of the component's collection and environment, else the app's (contract section 4)."""
    outside = target_tool(url_target(headers={"X-Key": "${env.KEY}"}), name="outside")
    inside = target_tool(
        {"type": "app", "component": "api", "path": "/x", "method": "GET",
         "headers": {"X-Key": "${env.KEY} ${env.MORE}"}},
        name="inside",
    )  # fmt: skip
    await server.approved(
        shop(outside, inside, endpoint_tool("plain"), components=COMPONENT, env=ENV)
    )
    await put_env(server.books, server.operator, "acme", "main", "live", {"KEY": Secret("live")})
    await put_env(
        server.books, server.operator, "acme", "main", "test",
        {"KEY": Secret("test"), "OTHER": Secret("unused")},
    )  # fmt: skip

    assert await env(server, "outside") == {"KEY": "live"}
    assert await env(server, "inside") == {"KEY": "test"}
    assert await env(server, "plain") == {}


async def test_null_removes_one_value_and_the_others_stay(server: Server) -> None:
    """`{NAME: value|null}` (contract section 10)."""
    both = target_tool(url_target(headers={"X-Key": "${env.A} ${env.B}"}), name="both")
    await server.approved(shop(both, env=ENV))
    values = {"A": Secret("a"), "B": Secret("b")}
    await put_env(server.books, server.operator, "acme", "main", "live", values)
    before = await env(server, "both")
    await put_env(server.books, server.operator, "acme", "main", "live", {"A": None})

    assert before == {"A": "a", "B": "b"}
    assert await env(server, "both") == {"B": "b"}
    detail = (await server.audit())[-1].detail_json
    assert detail == '{"removed":["A"],"set":[]}'


@pytest.mark.parametrize(
    ("collection", "values"),
    [
        ("main", {}),
        ("main", {"1A": Secret(CANARY)}),
        ("main", {"A-B": Secret(CANARY)}),
        ("main", {"A": Secret(CANARY), "": None}),
        ("", {"A": Secret(CANARY)}),
        ("x" * 101, {"A": Secret(CANARY)}),
        ("main", {"A": Secret(CANARY * 10_000)}),
    ],
)
async def test_env_value_of_no_name_is_refused_without_echo(
    server: Server, collection: str, values: dict[str, Secret | None]
) -> None:
    """All or none: a good value beside a bad name is not kept either."""
    await server.approved()

    with pytest.raises(RemitError) as refused:
        await put_env(server.books, server.operator, "acme", collection, "live", values)
    assert isinstance(refused.value, InvalidRequest)
    assert CANARY not in refused.value.message
    assert await server.books.env.get("acme", "acme", collection, "live") == ()
