"""Putting a policy in force (contract sections 10 and 18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remit.errors import Forbidden, InvalidRequest, PreconditionFailed, PreconditionRequired
from remit.gateway.acting import system
from remit.gateway.records import Role
from remit.gateway.ruling import put_policy, read_policy
from remit.values.json import JsonValue
from tests.gateway.server import Server

RULE = {"match": {"tool": "refund_*"}, "then": "ask", "by": "other", "reason": "Two pairs of eyes"}


async def test_policy_is_in_force_and_versioned(server: Server) -> None:
    """Per workspace, versioned; the `ETag` is its number (contract section 18)."""
    before = await read_policy(server.books, server.operator)
    first = await put_policy(server.books, server.operator, {"rules": [RULE]}, if_match='"0"')
    second = await put_policy(server.books, server.operator, {}, if_match='"1"')

    assert (before.number, before.document_json) == (0, "{}")
    assert (first.number, second.number) == (1, 2)
    assert (await read_policy(server.books, server.operator)).number == 2
    assert [entry.kind for entry in await server.audit()] == ["policy.put", "policy.put"]


async def test_policy_rules_one_workspace_alone(server: Server) -> None:
    """Nothing crosses a workspace (contract section 1)."""
    await put_policy(server.books, server.operator, {"rules": [RULE]}, if_match='"0"')

    assert (await read_policy(server.books, system("other"))).number == 0
    assert not (await server.standing.policy("other")).rules
    assert (await server.standing.policy("acme")).rules[0].by == "other"


@pytest.mark.parametrize(
    ("if_match", "error"), [(None, PreconditionRequired), ('"0"', PreconditionFailed)]
)
async def test_policy_is_changed_only_from_the_one_in_force(
    server: Server, if_match: str | None, error: type[Exception]
) -> None:
    """428 without `If-Match`, 412 when it is stale; the policy's likewise (contract section 10)."""
    await put_policy(server.books, server.operator, {"rules": [RULE]}, if_match='"0"')

    with pytest.raises(error):
        await put_policy(server.books, server.operator, {}, if_match=if_match)
    assert (await server.standing.policy("acme")).rules


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "must be an object"),
        ({"rule": []}, "rule"),
        ({"rules": [RULE, {"then": "denny"}]}, "/rules/1/then"),
        ({"catalog": "thawed"}, "thawed"),
    ],
)
async def test_document_that_is_no_policy_is_refused_whole(
    server: Server, wrong: JsonValue, said: str
) -> None:
    """A rule that is left out could be the one that denies."""
    with pytest.raises(InvalidRequest) as refused:
        await put_policy(server.books, server.operator, wrong, if_match='"0"')
    assert said in refused.value.message
    assert (await read_policy(server.books, server.operator)).number == 0


@pytest.mark.parametrize("role", ["backend", "user"])
async def test_only_an_operator_puts_a_policy(server: Server, role: Role) -> None:
    """A key that makes calls does not loosen the rules for them."""
    actor = replace(server.operator, key_id="k", role=role)

    with pytest.raises(Forbidden):
        await put_policy(server.books, actor, {}, if_match='"0"')
