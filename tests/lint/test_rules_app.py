"""Rules on the app itself and on the catalog as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from remit.catalog.definitions import load_definition
from remit.lint.run import lint_catalog
from tests.lint.documents import ABSENT, app, destructive, of_rule, places, rules, target, tool

READ = {"category": "read", "dangerLevel": "safe"}
API = {"url": "https://marks.acme.example"}
ENV = {"collection": "main", "environment": "production"}


def rate(**changes: object) -> dict[str, Any]:
    """A tool on an address elsewhere."""
    record = {"type": "url", "method": "GET", "url": "https://rates.example/today"} | changes
    return target(
        name="get_rate",
        description="Reads the rate. Not for past days.",
        target=record,
        responseMapping={"rate": "rate"},
    )


def only_targets(*tools: dict[str, Any], **changes: object) -> dict[str, Any]:
    """A definition without endpoints."""
    return app(*tools, **({"baseUrl": ABSENT, "components": {"api": API}} | changes))


@pytest.mark.promise("T-63")
@pytest.mark.parametrize(
    ("address", "level"),
    [
        ("http://api.acme.example", "warning"),
        ("http://10.0.0.1", "warning"),
        ("http://127.example.com", "warning"),
        ("http://127.0.0.1:8801/v1", "note"),
        ("http://localhost:8801", "note"),
        ("http://[::1]:8801", "note"),
        ("https://api.acme.example", None),
    ],
)
def test_http_addresses_are_found_and_this_machine_is_a_note(
    address: str, level: str | None
) -> None:
    """Contract section 7: http is a lint warning; on loopback nothing leaves the machine."""
    document = app(baseUrl=address, toolsUrl=address.removesuffix("/v1") + "/tools", ceiling=READ)
    for rule in ("http-base-url", "tools-url-http"):
        assert [m.level for m in of_rule(rule, document)] == ([level] if level else [])
    component = only_targets(target(), components={"api": {"url": address}})
    assert [m.level for m in of_rule("http-target", component)] == ([level] if level else [])


def test_http_targets_and_sign_in_addresses_are_found() -> None:
    """What is sent there can be read on the way."""
    assert places("http-target", only_targets(target(), rate(url="http://rates.example/x"))) == [
        "/target/url"
    ]
    auth = {
        "type": "oauth2",
        "authorizationUrl": "http://a.example",
        "tokenUrl": "https://a.example/t",
        "clientId": "x",
    }
    assert places("http-target", app(auth=auth)) == ["/auth/authorizationUrl"]


@pytest.mark.promise("T-63")
def test_a_tools_url_elsewhere_is_an_error() -> None:
    """Seed: it must be on the same origin as baseUrl."""
    document = app(toolsUrl="https://cdn.acme.example/tools", ceiling=READ)
    assert [(m.level, m.at) for m in of_rule("origin-mismatch", document)] == [
        ("error", "/toolsUrl")
    ]


@pytest.mark.promise("T-64")
def test_a_tool_over_the_ceiling_is_an_error() -> None:
    """Seed, checklist; contract section 7: a static tool over the ceiling is a lint error."""
    document = app(tool(), destructive(), ceiling={"category": "write", "dangerLevel": "moderate"})
    (found,) = of_rule("over-ceiling", document)
    assert (found.level, found.tool, found.pointer) == (
        "error",
        "delete_scene",
        "/tools/1/dangerLevel",
    )
    (found,) = of_rule("over-ceiling", app(tool(), destructive(), ceiling=READ))
    assert found.at == "/category"
    assert places("over-ceiling", app(tool(), destructive())) == []


@pytest.mark.promise("T-64")
def test_a_fetched_tool_over_the_ceiling_is_an_error() -> None:
    """`lint --fetch` judges what `toolsUrl` serves against the definition's ceiling."""
    definition = load_definition(
        app(toolsUrl="https://api.acme.example/t", ceiling=READ)
    ).definition
    assert definition is not None
    found = lint_catalog({"tools": [tool(), destructive()]}, definition=definition)
    assert [(m.tool, m.pointer) for m in found if m.rule == "over-ceiling"] == [
        ("delete_scene", "/tools/1/category")
    ]


FETCHING = {
    "toolsUrl": "https://api.acme.example/t",
    "ceiling": {
        "category": "write",
        "dangerLevel": "destructive",
    },
}
POST = {"method": "POST", "path": "/scenes/{{args.sceneId}}"}


@pytest.mark.promise("T-64")
@pytest.mark.parametrize(
    ("served", "reason"),
    [
        (tool(category="write", endpoint=POST), "it uses POST; the tool that was reviewed uses"),
        (rate(), "it sends to https://rates.example, which was not reviewed"),
        ({**rate(), "name": "get_scene"}, "goes to another destination"),
    ],
)
def test_a_fetched_tool_that_would_be_dropped_is_an_error(
    served: dict[str, Any], reason: str
) -> None:
    """What no session gets is said before anybody misses it, with the reason that `catalog` has."""
    definition = load_definition(app(**FETCHING)).definition
    assert definition is not None
    found = lint_catalog([served], definition=definition)
    (dropped,) = [m for m in found if m.rule == "would-be-dropped"]
    assert (dropped.level, dropped.tool, dropped.pointer) == ("error", served["name"], "/0")
    assert reason in dropped.message


def test_a_reviewed_tool_that_a_fetched_one_takes_away_is_an_error() -> None:
    """A preview that a fetched tool makes worse costs the tool that shows it."""
    document = app(tool(), destructive(), **FETCHING)
    definition = load_definition(document).definition
    assert definition is not None
    found = lint_catalog([tool(dangerLevel="moderate")], definition=definition)
    (dropped,) = [m for m in found if m.rule == "would-be-dropped"]
    assert (dropped.tool, dropped.pointer) == (None, "")
    assert dropped.message.startswith("delete_scene of the definition: ")


def test_a_fetched_catalog_within_its_review_has_no_finding_of_the_definition() -> None:
    """What is to be said of the definition is said in its own file, once."""
    definition = load_definition(
        app(**FETCHING | {"toolsUrl": "http://a.example/t"}, baseUrl="http://a.example")
    ).definition
    assert definition is not None
    assert lint_catalog([tool()], definition=definition) == ()


def test_a_ceiling_above_the_tools_is_noted_unless_tools_are_fetched() -> None:
    """A user consents to what is asked, used or not."""
    high = {"category": "action", "dangerLevel": "destructive"}
    assert [m.level for m in of_rule("ceiling-higher-than-tools", app(ceiling=high))] == ["note"]
    assert places("ceiling-higher-than-tools", app(ceiling=READ)) == []
    fetched = app(ceiling=high, toolsUrl="https://api.acme.example/tools")
    assert places("ceiling-higher-than-tools", fetched) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, True),
        ({"env": ENV}, False),
        ({"components": {"api": API | {"env": ENV}}}, True),
    ],
)
def test_an_env_value_without_a_source_is_found(changes: dict[str, Any], found: bool) -> None:
    """Contract section 4: the component's collection, else the app's; a url target has none."""
    document = only_targets(target(), rate(headers={"X-Api-Key": "${env.KEY}"}), **changes)
    assert ("env-without-source" in rules(document)) is found


def test_a_components_own_env_serves_its_targets() -> None:
    """Contract section 8."""
    record = {
        "type": "app",
        "component": "api",
        "method": "GET",
        "path": "/x",
        "query": {"k": "${env.KEY}"},
    }
    assert places("env-without-source", only_targets(target(target=record))) == ["/target/query/k"]
    served = only_targets(target(target=record), components={"api": API | {"env": ENV}})
    assert rules(served) == []


def test_what_nothing_uses_is_noted() -> None:
    """Every address and every env use is part of what a reviewer approves."""
    assert places(
        "unused-component", only_targets(target(), components={"api": API, "old": API})
    ) == ["/components/old"]
    assert places("unused-env", only_targets(target(), env=ENV)) == ["/env"]
    assert places("unused-base-url", only_targets(target(), baseUrl="https://a.example")) == [
        "/baseUrl"
    ]
    oauth = {
        "type": "oauth2",
        "authorizationUrl": "https://a.example",
        "tokenUrl": "https://a.example/t",
        "clientId": "x",
        "clientSecretEnv": "S",
    }
    assert places("unused-env", app(auth=oauth, env=ENV)) == []


def test_what_a_broken_tool_may_use_is_not_called_unused() -> None:
    """Mending the tool would make the finding wrong."""
    broken = target(description=ABSENT)
    assert places("unused-component", only_targets(broken)) == []


@pytest.mark.parametrize(("count", "found"), [(40, False), (41, True), (129, True)])
def test_more_tools_than_a_model_is_given_at_once_are_noted(count: int, found: bool) -> None:
    """Contract section 15: with more than 40 tools the agent gets search_tools."""
    tools = [tool(name=f"get_{n}", description=f"Reads thing {n} only.") for n in range(count)]
    notes = of_rule("too-many-tools", app(*tools))
    assert bool(notes) is found
    assert any("128" in m.message for m in notes) is (count > 128)


def test_an_app_without_tools_is_noted() -> None:
    """It can be consented to, and does nothing."""
    assert places("no-tools", app(tools=[])) == ["/tools"]
    assert (
        places("no-tools", app(tools=ABSENT, toolsUrl="https://api.acme.example/t", ceiling=READ))
        == []
    )
