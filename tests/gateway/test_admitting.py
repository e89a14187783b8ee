"""Keys and tokens: shown once, found by their hash, revoked (contract section 10)."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import Forbidden, InvalidRequest, NotFound
from remit.gateway.acting import Actor, system
from remit.gateway.admitting import (
    actor_of,
    create_client_token,
    create_key,
    create_token,
    list_keys,
    read_token,
    revoke_key,
)
from remit.gateway.keeping import VaultFault
from remit.gateway.key_secrets import hash_of, secret_of
from remit.gateway.records import ApiKey, Role
from remit.gateway.registering import register
from remit.vault.rotation import rotate
from remit.vault.sealing import Vault
from tests.gateway.server import Server
from tests.vault.fakes import masters

PINNED = "canary-pin-7a1f93c2"


async def made(server: Server, role: Role = "backend") -> tuple[Actor, str, str]:
    """A new key as an actor, with its id and its secret."""
    created = await create_key(server.books, server.operator, role, name="Shop back end")
    secret = created.secret.reveal()
    actor = await server.standing.actor(secret)
    assert actor is not None
    return actor, created.key.id, secret


async def token(server: Server, **changes: object) -> Actor:
    """A token of Ana for the app, as whoever holds it."""
    await server.approved()
    terms: dict[str, Any] = {"user": "ana", "apps": ["acme"], "ttl_s": 60, **changes}
    created = await create_token(server.books, server.operator, **terms)
    actor = await server.standing.actor(created.secret.reveal())
    assert actor is not None
    return actor


@pytest.mark.parametrize("role", ["operator", "backend"])
async def test_key_is_shown_once_and_opens_its_workspace(server: Server, role: Role) -> None:
    """The secret names its role; whoever holds it acts in its workspace, under its name."""
    actor, key_id, secret = await made(server, role)

    assert secret.startswith(f"rk_{role}_")
    assert (actor.role, actor.workspace, actor.name) == (role, "acme", "Shop back end")
    assert actor.label == f"key:{key_id}"
    assert actor.user is None


async def test_store_holds_no_key_that_could_be_used(server: Server, scratch: Path) -> None:
    """Keys are stored as hashes (isolation cases, iso-018)."""
    _, _, secret = await made(server)
    with sqlite3.connect(scratch) as file:
        dump = "\n".join(file.iterdump())
    file.close()

    assert secret not in dump
    assert secret[len("rk_backend_") + 4 :] not in dump
    assert secret[: len("rk_backend_") + 4] in dump


@given(st.binary(min_size=32, max_size=32))
def test_every_secret_is_recognised(random: bytes) -> None:
    """Prefix, 43 characters, check sum; whatever the random bytes are."""
    secret = secret_of("user", random)

    assert hash_of(secret) is not None
    assert len(secret) == len("rk_user_") + 43 + 6


SECRET = secret_of("backend", bytes(range(32)))


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        SECRET[:-1],
        SECRET + "0",
        SECRET + "\n",
        SECRET.upper(),
        SECRET.replace("backend", "operator"),
        SECRET[:20] + ("0" if SECRET[20] != "0" else "1") + SECRET[21:],
        SECRET.replace("rk_", "sk_"),
        "\ud800" * 60,
        "é" * 60,
    ],
)
async def test_mistyped_secret_is_refused_without_a_look_into_the_store(
    server: Server, wrong: str
) -> None:
    """The check sum covers role and body, so that a changed character is seen at once."""
    server.books = replace(server.books, keys=None)  # type: ignore[arg-type]

    assert hash_of(wrong) is None
    assert await server.standing.actor(wrong) is None


async def test_unknown_secret_opens_nothing_and_is_not_remembered(server: Server) -> None:
    """Nobody fills the memory with guesses: each is looked up again."""
    find, asked = server.store.keys.find, list[str]()

    async def counted(secret_hash: str) -> ApiKey | None:
        asked.append(secret_hash)
        return await find(secret_hash)

    server.store.keys.find = counted  # type: ignore[method-assign]

    assert [await server.standing.actor(SECRET) for _ in range(2)] == [None, None]
    assert len(asked) == 2


async def test_revoked_key_opens_nothing_at_once(server: Server) -> None:
    """On the node that revoked it there is no wait (contract section 7 says 2 s elsewhere)."""
    _, key_id, secret = await made(server)
    first = await revoke_key(server.books, server.operator, key_id)
    again = await revoke_key(server.books, server.operator, key_id)

    assert await server.standing.actor(secret) is None
    assert first.revoked_at == again.revoked_at is not None
    assert [entry.kind for entry in await server.audit()] == ["key.created", "key.revoked"]


async def test_token_carries_user_apps_tools_and_pins(server: Server) -> None:
    """`POST /v1/tokens`: pins hang on the token (contract section 10)."""
    actor = await token(server, tools=["get_*", "list_orders"], pins={"shop": 7})

    assert (actor.role, actor.user, actor.label) == ("user", "ana", "user:ana")
    assert dict(actor.pins) == {"shop": 7}
    assert actor.speaks_for("ana")
    assert not actor.speaks_for("bob")
    reached = ["get_order", "list_orders", "get", "list_orders_", "refund", "Get_order"]
    assert [t for t in reached if actor.reaches("acme", t)] == ["get_order", "list_orders"]
    assert not actor.reaches("other-app", "get_order")


async def test_pins_are_kept_sealed_and_listed_by_name_alone(server: Server, scratch: Path) -> None:
    """One of them may be what a tool calls secret: never stored or shown (contract section 2)."""
    await server.approved()
    pins = {"password": PINNED, "shop": 7}
    created = await create_token(
        server.books, server.operator, user="ana", apps=["acme"], ttl_s=60, pins=pins
    )
    actor = await server.standing.actor(created.secret.reveal())
    (listed,) = (await list_keys(server.books, server.operator)).items
    with sqlite3.connect(scratch) as file:
        dump = "\n".join(file.iterdump())
    file.close()

    assert actor is not None
    assert dict(actor.pins) == pins
    assert listed.pins == ("password", "shop")
    assert PINNED not in f"{dump}{listed!r}{actor!r}"


async def test_pins_still_hold_after_a_rotation_of_the_vault(server: Server) -> None:
    """`remit vault rotate` seals them anew; the old master key is wanted no more."""
    actor = await token(server, pins={"shop": 7})
    before = await read_token(server.books, server.operator, actor.key_id)
    keys, rows = server.store.data_keys, server.store.sealed_rows
    steps = [step async for step in rotate(Vault(keys, masters("b", "a")), keys, rows)]
    after = await read_token(server.books, server.operator, actor.key_id)

    assert [step.unopened for step in steps if step.unopened] == []
    assert before.sealed != after.sealed
    assert dict((await actor_of(Vault(keys, masters("b")), after)).pins) == {"shop": 7}


async def test_pins_of_another_token_open_for_nobody(server: Server) -> None:
    """A token without its pins would reach more than it may, so that it opens nothing."""
    mine, other = await token(server, pins={"shop": 7}), await token(server, pins={"shop": 8})
    rows = [await read_token(server.books, server.operator, one.key_id) for one in (mine, other)]

    with pytest.raises(VaultFault):
        await actor_of(server.books.keeper, replace(rows[0], sealed=rows[1].sealed))
    with pytest.raises(VaultFault):
        await actor_of(server.books.keeper, replace(rows[0], user="bob"))


async def test_token_without_globs_reaches_every_tool_of_its_apps(server: Server) -> None:
    """`tools` may be left out."""
    actor = await token(server)

    assert actor.reaches("acme", "anything")
    assert actor.reaches("acme")
    assert not actor.reaches("shop", "anything")


async def test_expired_token_opens_nothing(server: Server) -> None:
    """`ttlS` is counted from the making, to the millisecond."""
    await server.approved()
    created = await create_token(server.books, server.operator, user="ana", apps=["acme"], ttl_s=60)
    secret = created.secret.reveal()
    server.time.passed_ms = 59_999
    before = await server.standing.actor(secret)
    server.time.passed_ms = 60_000

    assert before is not None
    assert await server.standing.actor(secret) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"ttl_s": 0},
        {"ttl_s": -1},
        {"ttl_s": 10**9},
        {"apps": []},
        {"user": ""},
        {"user": "a b"},
        {"user": "x" * 201},
        {"user": "a\u200bb"},
        {"user": "a\nb"},
        {"tools": ["[a-z]*"]},
        {"tools": [""]},
        {"pins": {"x": "y" * 9000}},
    ],
)
async def test_token_of_wrong_terms_is_refused(server: Server, wrong: dict[str, Any]) -> None:
    """Each names the value and the mend; nothing is kept."""
    with pytest.raises(InvalidRequest):
        await token(server, **wrong)
    assert (await list_keys(server.books, server.operator)).items == ()


async def test_token_for_an_unknown_app_is_refused(server: Server) -> None:
    """An app of another workspace is unknown, too."""
    with pytest.raises(NotFound):
        await token(server, apps=["acme", "elsewhere"])


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\nb"])
async def test_key_needs_a_name(server: Server, name: str) -> None:
    """Keys have a name (contract section 10)."""
    with pytest.raises(InvalidRequest):
        await create_key(server.books, server.operator, "backend", name=name)


async def test_roles_end_where_the_contract_says(server: Server) -> None:
    """A back end makes tokens and no keys; a token makes nothing (contract section 10)."""
    backend, key_id, _ = await made(server)
    user = await token(server)

    for actor in (backend, user):
        with pytest.raises(Forbidden):
            await create_key(server.books, actor, "operator", name="Mine")
        with pytest.raises(Forbidden):
            await revoke_key(server.books, actor, key_id)
        with pytest.raises(Forbidden):
            await list_keys(server.books, actor)
    with pytest.raises(Forbidden):
        await create_token(server.books, user, user="ana", apps=["acme"], ttl_s=60)
    created = await create_token(server.books, backend, user="bob", apps=["acme"], ttl_s=60)
    assert (await revoke_key(server.books, backend, created.key.id)).revoked_at is not None


async def test_keys_of_another_workspace_are_not_there(server: Server) -> None:
    """Wrong workspace and unknown id are the same 404 (isolation cases, iso-010)."""
    _, key_id, secret = await made(server)

    with pytest.raises(NotFound):
        await revoke_key(server.books, system("other"), key_id)
    with pytest.raises(NotFound):
        await read_token(server.books, system("acme"), key_id)
    assert (await list_keys(server.books, system("other"))).items == ()
    assert await server.standing.actor(secret) is not None


@pytest.mark.parametrize("role", ["user", "client"])
async def test_key_has_no_role_of_a_token(server: Server, role: Role) -> None:
    """A key for a user is a token, with apps or a session, and an end."""
    with pytest.raises(InvalidRequest):
        await create_key(server.books, server.operator, role, name="Ana")


async def test_client_token_is_of_one_session_user_and_device(server: Server) -> None:
    """It speaks for that user, attends that session alone, and opens nothing when it is over."""
    await register(server.books, server.operator, "laptop", user="ana", name="Laptop")
    created = await create_client_token(
        server.books, server.operator, session="ses_1", user="ana", device="laptop", ttl_s=60
    )
    secret = created.secret.reveal()
    actor = await server.standing.actor(secret)

    assert actor is not None
    assert (actor.role, actor.session, actor.device) == ("client", "ses_1", "laptop")
    assert (actor.label, actor.speaks_for("ana"), actor.speaks_for("ben")) == (
        "user:ana",
        True,
        False,
    )
    assert [actor.attends(one) for one in ("ses_1", "ses_2", None)] == [True, False, False]
    assert created.key.id.startswith("token_")
    entry = (await server.audit())[-1]
    assert (entry.kind, '"session":"ses_1"' in entry.detail_json) == ("token.created", True)
    server.time.passed_ms = 60_000
    assert await server.standing.actor(secret) is None


async def test_only_keys_make_client_tokens(server: Server) -> None:
    """A client makes no other client, nor does an agent's token."""
    ana = await token(server)
    for actor in (ana, replace(ana, role="client", session="ses_1")):
        with pytest.raises(Forbidden):
            await create_client_token(server.books, actor, session="ses_1", user="ana", ttl_s=60)


@pytest.mark.parametrize(
    "wrong",
    [{"ttl_s": 0}, {"ttl_s": 86_401}, {"device": ""}, {"device": "laptop"}],
    ids=("no-time", "over-a-day", "empty", "unregistered"),
)
async def test_client_token_of_wrong_terms_is_refused(
    server: Server, wrong: dict[str, Any]
) -> None:
    """Each names the value and the mend; nothing is kept."""
    terms: dict[str, Any] = {"session": "ses_1", "user": "ana", "ttl_s": 60, **wrong}
    with pytest.raises(InvalidRequest):
        await create_client_token(server.books, server.operator, **terms)
    assert (await list_keys(server.books, server.operator)).items == ()
