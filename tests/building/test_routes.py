"""A tool whose component does not answer its route is told early; nothing is called for it."""

from __future__ import annotations

import asyncio

import pytest

from remit.building import missing_routes
from remit.catalog.definitions import load_definition
from remit.catalog.mistakes import Mistake
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.testing.loopback import HttpRequest
from remit.testing.upstream import AppAnswer, ScriptedUpstream
from remit.values.json import JsonObject

THERE = "/base/tools/there"


def definition(origin: str, paths: list[str], *, base: str = "/base/") -> JsonObject:
    """An app whose tools post to these paths of its component ``api``."""
    return {
        "id": "bookmarks",
        "name": "Bookmarks",
        "auth": {"type": "none"},
        "components": {"api": {"url": origin + base}},
        "tools": [
            {
                "name": f"tool_{number}",
                "description": "Does it.",
                "parameters": {"type": "object", "properties": {}},
                "target": {"type": "app", "component": "api", "path": path, "method": "POST"},
            }
            for number, path in enumerate(paths)
        ],
    }


def look(document: JsonObject, *allow: str) -> list[Mistake]:
    """What is missing, through the guard as the command line opens it."""
    loaded = load_definition(document)
    assert loaded.definition is not None

    async def looked() -> tuple[Mistake, ...]:
        async with GuardedClient(parse_allowances(allow or ("127.0.0.1",))) as egress:
            assert loaded.definition is not None
            return await missing_routes(loaded.definition, egress)

    return list(asyncio.run(looked()))


def answers(request: HttpRequest) -> AppAnswer:
    """404 for every path but one; 405 there, as most frameworks say to OPTIONS."""
    return AppAnswer(status=405 if request.target == THERE else 404)


@pytest.mark.promise("K-03", "K-26")
def test_missing_route_names_tool_component_method_and_path() -> None:
    """A warning for each tool that names it; the route that is there gives none."""
    with ScriptedUpstream(answers) as app:
        document = definition(app.origin, ["/tools/there", "/tools/gone", "/tools/gone"])
        found = look(document)
        asked = [(request.method, request.target, request.body) for request in app.http]
    assert [(m.level, m.tool, m.pointer) for m in found] == [
        ("warning", "tool_1", "/tools/1/target/path"),
        ("warning", "tool_2", "/tools/2/target/path"),
    ]
    assert found[0].message == (
        'the component "api" has no route POST /tools/gone, or it does not answer OPTIONS there: '
        "it answered 404"
    )
    assert asked == [("OPTIONS", THERE, b""), ("OPTIONS", "/base/tools/gone", b"")]


@pytest.mark.promise("K-26")
@pytest.mark.parametrize(
    "document",
    [
        pytest.param(definition("http://127.0.0.1:1", ["/a", "/b"]), id="nothing listens"),
        pytest.param(definition("http://10.0.0.8", ["/a", "/b"]), id="the guard refuses it"),
        pytest.param(definition("http://nowhere.invalid", ["/a", "/b"]), id="no such name"),
    ],
)
def test_component_that_cannot_be_reached_is_one_warning(document: JsonObject) -> None:
    """However many tools it serves."""
    (found,) = look(document)
    assert (found.rule, found.level, found.tool) == ("component-not-reached", "warning", None)
    assert found.pointer == "/components/api/url"
    assert "Nothing was sent." in found.message or "not sent" in found.message


def test_component_that_says_nothing_is_not_waited_for() -> None:
    """One second, and one warning."""
    with ScriptedUpstream([AppAnswer(fault="hang")]) as app:
        (found,) = look(definition(app.origin, ["/a", "/b", "/c"]))
        assert len(app.http) == 1
    assert found.rule == "component-not-reached"
    assert "1000 ms" in found.message


@pytest.mark.parametrize(
    ("status", "missing"),
    [(410, True), (200, False), (204, False), (302, False), (401, False), (500, False)],
)
def test_only_404_and_410_mean_that_a_route_is_missing(status: int, missing: bool) -> None:
    """All else is somebody who knows the path."""
    with ScriptedUpstream([AppAnswer(status=status)]) as app:
        found = look(definition(app.origin, ["/a"]))
    assert bool(found) == missing


def test_answer_that_is_no_use_is_an_answer() -> None:
    """A large page, say."""
    with ScriptedUpstream([AppAnswer(body=b"x" * 2_000_000)]) as app:
        assert look(definition(app.origin, ["/a", "/b"])) == []


def test_app_without_routes_is_not_asked() -> None:
    """A url target is somebody else's, a client target has no route."""
    document = definition("http://127.0.0.1:1", [])
    document["tools"] = [
        {
            "name": "open_it",
            "description": "Opens it.",
            "parameters": {"type": "object", "properties": {}},
            "target": {"type": "client", "name": "open_url"},
        }
    ]
    assert look(document) == []
