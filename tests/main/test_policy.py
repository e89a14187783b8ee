"""`remit policy check` and `remit schema policy` as a person types them (section 13)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalog.documents import definition, endpoint_tool, parameters
from tests.main.conftest import Ran, Remit

POLICY = """\
rules:
  - match: {app: acme, tool: "refund_*"}
    when: {properties: {amount: {exclusiveMinimum: 500}}, required: [amount]}
    then: ask
    by: other
    reason: Refunds over 500 need a second person
  - match: {source: mcp}
    then: ask
    by: operator
  - match: {tool: drop_order}
    then: allow
    reason: Orders can be had again
  - when: {properties: {tenant: {const: closed}}, required: [tenant]}
    then: deny
    reason: The tenant is closed
"""
TOOLS = [
    endpoint_tool(
        "refund_order",
        category="action",
        dangerLevel="moderate",
        parameters=parameters("order", order="string", amount="number"),
        endpoint={"method": "POST", "path": "/refunds/{{args.order}}"},
    ),
    endpoint_tool("drop_order", category="write", dangerLevel="destructive"),
    endpoint_tool("wipe_orders", category="action", dangerLevel="destructive"),
    endpoint_tool(
        "list_orders", endpoint={"method": "GET", "path": "/o/{{args.tenant}}"}, title="List"
    ),
]
SECOND = {
    "rule": "/rules/0",
    "verdict": "ask",
    "reason": "Refunds over 500 need a second person",
}


@pytest.fixture
def check(remit: Remit) -> Remit:
    """Asks about a call of the app's, in a folder with a policy and a definition."""
    Path("policy.yaml").write_text(POLICY, "utf-8")
    shop = definition(*TOOLS, ceiling={"category": "action", "dangerLevel": "destructive"})
    Path("shop.json").write_text(json.dumps(shop), "utf-8")

    def run(*arguments: str) -> Ran:
        return remit("policy", "check", "policy.yaml", "shop.json", *arguments)

    return run


@pytest.mark.parametrize(
    ("wish", "printed"),
    [
        (
            ("refund_order", "--args", '{"order": "o1", "amount": 501}'),
            {"verdict": "ask", "by": "other", "rules": [SECOND]},
        ),
        (
            ("refund_order", "--args", '{"order": "o1", "amount": 500}'),
            {"verdict": "allow", "rules": []},
        ),
        # The final arguments are judged: repaired, and with the pin that wins.
        (
            ("refund_order", "--args", '{"order": "o1", "amount": "501"}'),
            {"verdict": "ask", "by": "other", "rules": [SECOND]},
        ),
        (
            ("refund_order", "--args", '{"order": "o1", "amount": 501}', "--pin", "amount=5"),
            {"verdict": "allow", "rules": []},
        ),
        (
            ("list_orders", "--pin", 'tenant="closed"'),
            {
                "verdict": "deny",
                "rules": [
                    {"rule": "/rules/3", "verdict": "deny", "reason": "The tenant is closed"}
                ],
            },
        ),
        # A model cannot name the slot of a pin.
        (("list_orders", "--args", '{"tenant": "closed"}'), {"verdict": "allow", "rules": []}),
    ],
)
def test_verdict_is_printed_with_the_rules_that_say_it(
    check: Remit, wish: tuple[str, ...], printed: dict[str, object]
) -> None:
    """Exit 0 whatever the verdict; data on stdout (contract section 18)."""
    ran = check("--tool", *wish)
    assert ran.code == 0
    assert ran.json == printed


def test_built_in_rules_are_told_too(check: Remit) -> None:
    """An operator sees that a default asks, and which rule lifts it."""
    assert check("--tool", "wipe_orders").json["rules"][0]["rule"] == "destructive"
    lifted = check("--tool", "drop_order").json
    assert lifted["verdict"] == "allow"
    assert [one["rule"] for one in lifted["rules"]] == ["destructive", "/rules/2"]


def test_source_is_part_of_the_question(check: Remit) -> None:
    """A rule for MCP is not one for sessions; both that ask stand in the answer."""
    wish = ("--tool", "refund_order", "--args", '{"order": "o1", "amount": 501}', "--source")
    assert check(*wish, "session").json["by"] == "other"
    printed = check(*wish, "mcp").json
    assert printed["by"] == "operator"
    assert printed["apart"] is True
    assert check(*wish, "web").code == 2


def test_tool_over_the_ceiling_is_denied_whatever_a_rule_says(check: Remit) -> None:
    """The ceiling is built in (section 18)."""
    shop = json.loads(Path("shop.json").read_text("utf-8"))
    shop["ceiling"] = {"category": "write", "dangerLevel": "moderate"}
    Path("shop.json").write_text(json.dumps(shop), "utf-8")
    ran = check("--tool", "drop_order")
    assert ran.code == 0
    assert ran.json["verdict"] == "deny"
    assert ran.json["rules"][0]["rule"] == "ceiling"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (("refund_order",), "invalid_arguments"),
        (("refund_order", "--args", "{"), "invalid_arguments"),
        (("refund_order", "--args", "[]"), "invalid_arguments"),
        (("refund_order", "--args", '{"order": "o"}', "--pin", "amount=true"), "invalid_pin"),
        (("refund_ordr",), "unknown_tool"),
    ],
)
def test_call_that_could_not_be_made_has_no_verdict(
    check: Remit, wish: tuple[str, ...], code: str
) -> None:
    """Exit 1 with the error of the call (contract section 5)."""
    ran = check("--tool", *wish)
    assert ran.code == 1
    assert ran.json["error"]["code"] == code
    assert ran.json["error"]["message"] in ran.err


def test_every_mistake_of_a_policy_is_told_with_its_line(check: Remit) -> None:
    """Exit 1, nothing on stdout; place, what is wrong, the mend."""
    Path("policy.yaml").write_text("rules:\n  - then: alow\n  - match: {tool: '['}\n", "utf-8")
    ran = check("--tool", "refund_order")
    assert (ran.code, ran.out) == (1, "")
    assert "policy.yaml:2:5  policy  /rules/0/then\n" in ran.err
    assert 'Did you mean "allow"?' in ran.err
    assert "policy.yaml:3:" in ran.err
    assert "policy.yaml cannot be used: 3 errors." in ran.err


@pytest.mark.parametrize("content", ["", "{", "- 1", "a: &x [*x]", "rules: !!python/name:os.x\n"])
@pytest.mark.parametrize("name", ["policy.yaml", "shop.json"])
def test_broken_file_never_gives_a_traceback(check: Remit, name: str, content: str) -> None:
    """One clear error, whichever file is broken."""
    Path(name).write_text(content, "utf-8")
    ran = check("--tool", "refund_order", "--args", '{"order": "o1"}')
    assert (ran.code, ran.out) == (1, "")
    assert name in ran.err
    assert "fault of its own" not in ran.err


def test_missing_file_is_wrong_use(remit: Remit) -> None:
    """Exit 2 (contract section 13)."""
    ran = remit("policy", "check", "nowhere.yaml", "shop.json", "--tool", "x")
    assert ran.code == 2
    assert "nowhere.yaml" in ran.err


def test_schema_of_a_policy_is_printed(remit: Remit) -> None:
    """`remit schema policy` (contract section 13)."""
    printed = remit("schema", "policy").json
    assert printed["$schema"].endswith("2020-12/schema")
    assert set(printed["properties"]) == {"$schema", "rules", "catalog", "limits"}
