"""What is in force, on the node that changed it and on the others (contract section 7)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from remit.errors import StoreUnavailable
from remit.gateway import governance
from remit.gateway.admitting import create_key, revoke_key
from remit.gateway.connecting import GivenCredential, connect, disconnect
from remit.gateway.consenting import grant, revoke
from remit.gateway.governance import Changes
from remit.gateway.node import Held, NotStanding
from remit.gateway.records import ApiKey, Grant
from remit.gateway.refreshing import Refresher
from remit.gateway.ruling import put_policy, read_policy
from remit.gateway.standing import InForce
from remit.gateway.suspending import resume, suspend
from remit.values.secrets import Secret
from tests.gateway.server import Server, open_server, shop

#: Within so much everything holds on every node.
AT_MOST_MS = 2_000


@pytest.fixture
async def beside(server: Server, scratch: Path) -> AsyncIterator[Server]:
    """Another node on the same store, whose clock shows the same time."""
    async with open_server(scratch, time=server.time) as opened:
        yield opened


async def stands(server: Server, app: str = "acme") -> str:
    """``stands``, or the code of why not."""
    found = await server.standing.app("acme", app)
    return "stands" if isinstance(found, InForce) else found.code


async def test_only_an_approved_app_that_is_not_suspended_stands(server: Server) -> None:
    """A call to an app without an approved version is `not_approved` (contract section 7)."""
    seen = [await stands(server)]
    await server.submit()
    seen.append(await stands(server))
    await server.approved()
    seen.append(await stands(server))
    await suspend(server.books, server.operator, "acme", reason="Incident.", node="n")
    seen.append(await stands(server))
    await resume(server.books, server.operator, "acme")
    seen.append(await stands(server))

    assert seen == ["unknown_app", "not_approved", "stands", "app_suspended", "stands"]


async def test_refusal_says_why_and_what_to_do(server: Server) -> None:
    """The reason of a suspension is shown wherever a call is refused."""
    await server.approved()
    await suspend(server.books, server.operator, "acme", reason="Leaked a key.", node="n")
    found = await server.standing.app("acme", "acme")

    assert isinstance(found, NotStanding)
    assert found.reason == (
        "acme is suspended: Leaked a key. An operator of the workspace can resume it."
    )


async def test_app_of_another_workspace_is_unknown(server: Server) -> None:
    """Wrong workspace and unknown id are the same (contract section 10)."""
    await server.approved()
    said: list[str] = []
    for workspace, app in (("other", "acme"), ("acme", "nope")):
        found = await server.standing.app(workspace, app)
        assert isinstance(found, NotStanding)
        said.append(found.reason.replace(app, "…"))

    assert said[0] == said[1]


async def test_static_catalog_is_said_as_such(server: Server) -> None:
    """Source and age are known of every catalog (contract section 7, "Refresh")."""
    await server.approved()
    found = await server.in_force()

    assert (found.source, found.age_s, found.fault) == ("static", None, None)
    assert (found.id, found.version) == ("acme", 1)
    assert found.installation.startswith("inst_")
    assert server.egress.sent == []


async def test_catalog_is_compiled_once(server: Server) -> None:
    """Look-ups are a dictionary's, and rules are indexed by the tool itself (architecture, 5)."""
    await server.approved()
    first = await server.in_force()
    server.time.passed_ms += 60_000
    await server.approved(shop(id="another"))
    second = await server.in_force()

    assert second.catalog is first.catalog
    assert second.definition is first.definition


async def test_sixty_four_calls_at_once_read_the_store_once(server: Server) -> None:
    """One refresh is in flight; whoever comes meanwhile waits for it."""
    await server.approved()
    asked: list[str] = []
    changes, in_force = server.books.revisions.changes, server.books.apps.in_force

    async def counted_changes(since: int) -> Changes:
        asked.append("changes")
        return await changes(since)

    async def counted_in_force(workspace: str) -> tuple[governance.InForce, ...]:
        asked.append("apps")
        return await in_force(workspace)

    server.store.revisions.changes = counted_changes  # type: ignore[method-assign]
    server.store.apps.in_force = counted_in_force  # type: ignore[method-assign]
    found = await asyncio.gather(*(server.in_force() for _ in range(64)))

    assert asked == ["changes", "apps"]
    assert len({id(one.catalog) for one in found}) == 1


async def acts(server: Server) -> dict[str, Any]:
    """Everything that a node must notice: how it is seen, and what changes it."""
    await server.approved()
    key = await create_key(server.books, server.operator, "backend", name="Back end")
    given = await grant(server.books, server.operator, "acme", "ana", 1)
    credential = GivenCredential(type="bearer", token=Secret("tok-1234"))
    await connect(server.books, server.operator, "acme", "ana", credential)
    return {"key": key, "grant": given}


async def seen(node: Server, key: ApiKey, secret: str) -> list[bool]:
    """What a call on this node would find: app, key, consent, credential, policy."""
    found = await node.standing.app("acme", "acme")
    if isinstance(found, NotStanding):
        return [False]
    actor = await node.standing.actor(secret)
    return [
        actor is not None and actor.key_id == key.id,
        await node.consents.missing("acme", found, "ana") is None,
        isinstance(await node.wallet.credential("acme", found, "ana"), Held),
        not (await node.standing.policy("acme")).rules,
    ]


async def test_what_is_taken_back_holds_at_once_here_and_within_two_seconds_elsewhere(
    server: Server, beside: Server
) -> None:
    """Suspension, revocation and policy act on every node within 2 s (contract section 7)."""
    made = await acts(server)
    key, secret = made["key"].key, made["key"].secret.reveal()
    before = [await seen(node, key, secret) for node in (server, beside)]
    await revoke_key(server.books, server.operator, key.id)
    await revoke(server.books, server.operator, made["grant"].id)
    await disconnect(server.books, server.operator, "acme", "ana")
    await put_policy(server.books, server.operator, {"rules": [{"then": "deny"}]}, if_match='"0"')
    here = await seen(server, key, secret)
    server.time.passed_ms += AT_MOST_MS - 1
    there = await seen(beside, key, secret)
    await suspend(server.books, server.operator, "acme", reason="Stop.", node="n")
    suspended_here = await seen(server, key, secret)
    server.time.passed_ms += AT_MOST_MS - 1

    assert before == [[True] * 4] * 2
    assert here == there == [False] * 4
    assert suspended_here == await seen(beside, key, secret) == [False]


async def test_what_is_given_is_seen_elsewhere_within_two_seconds(
    server: Server, beside: Server
) -> None:
    """An approval on one node lets calls through on the others."""
    before = [await stands(node) for node in (server, beside)]
    await server.approved()
    here = await stands(server)
    server.time.passed_ms += AT_MOST_MS - 1

    assert (before, here, await stands(beside)) == (["unknown_app"] * 2, "stands", "stands")


async def test_change_that_comes_during_a_read_is_not_lost(server: Server, beside: Server) -> None:
    """What was read before the change is not remembered as what stands after it."""
    await server.approved()
    await stands(server)
    given = await grant(beside.books, server.operator, "acme", "ana", 1)
    found = await server.in_force()
    alive = server.store.grants.alive

    async def overtaken(workspace: str, app: str, user: str) -> Grant | None:
        before = await alive(workspace, app, user)
        server.store.grants.alive = alive  # type: ignore[method-assign]
        await revoke(server.books, server.operator, given.id)
        # Somebody else's call makes the node notice.
        assert await server.standing.policy("acme") is not None
        return before

    server.store.grants.alive = overtaken  # type: ignore[method-assign]

    assert await server.consents.missing("acme", found, "ana") is not None


async def test_suspension_during_a_look_up_is_not_lost(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found before it is not kept as what stands after it."""
    await server.approved()
    current = Refresher.current

    async def slow(*given: Any, **more: Any) -> Any:  # noqa: ANN401 (those of the refresher)
        found = await current(*given, **more)
        if not suspended:
            suspended.append(True)
            await suspend(server.books, server.operator, "acme", reason="Incident.", node="n")
            # Somebody else reads the rows anew meanwhile.
            assert await stands(server) == "app_suspended"
        return replace(found, waited=False)

    suspended: list[bool] = []
    monkeypatch.setattr(Refresher, "current", slow)
    await server.standing.app("acme", "acme")

    assert await stands(server) == "app_suspended"


async def test_store_that_does_not_answer_lets_nothing_through(server: Server) -> None:
    """What was known may be wrong by now: no call runs on it."""
    await server.approved()
    await stands(server)

    async def broken(since: int) -> Changes:
        raise StoreUnavailable("The store cannot be used.")

    server.store.revisions.changes = broken  # type: ignore[method-assign]
    server.time.passed_ms += AT_MOST_MS

    with pytest.raises(StoreUnavailable):
        await stands(server)


async def test_definition_that_cannot_be_loaded_any_more_is_not_approved(
    server: Server, scratch: Path
) -> None:
    """A later release may refuse what an earlier one took; it says so, and nothing runs."""
    await server.approved()
    with sqlite3.connect(scratch) as file:
        file.execute("UPDATE app_version SET definition_json = '{}'")
    file.close()

    found = await server.standing.app("acme", "acme")
    assert isinstance(found, NotStanding)
    assert (found.code, "cannot load" in found.reason) == ("not_approved", True)


async def test_policy_that_cannot_be_read_lets_nothing_through_and_can_be_mended(
    server: Server, scratch: Path
) -> None:
    """Nothing runs under less than was asked for."""
    await put_policy(server.books, server.operator, {}, if_match='"0"')
    with sqlite3.connect(scratch) as file:
        file.execute("""UPDATE policy SET document_json = '{"rules": 1}'""")
    file.close()
    with pytest.raises(StoreUnavailable, match="Policy 1"):
        await server.standing.policy("acme")
    number = (await read_policy(server.books, server.operator)).number
    await put_policy(server.books, server.operator, {}, if_match=f'"{number}"')

    assert not (await server.standing.policy("acme")).rules
