"""A definition and its tools, from documents to values (contract sections 2 and 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.definitions import load_catalog, load_definition
from remit.catalog.requests import Surroundings
from remit.catalog.scales import Category, DangerLevel, Method, Renderer
from remit.values.visible import hides
from tests.catalog.documents import (
    definition,
    endpoint_tool,
    load,
    load_tool,
    mistakes,
    parameters,
    target_tool,
    url_target,
)

Json = dict[str, Any]


@pytest.mark.promise("T-01", "T-02")
def test_definition_carries_its_catalog_of_tools() -> None:
    """A definition is data: the vendor writes no code (promise of the catalog seed)."""
    found = load(endpoint_tool("one"), endpoint_tool("two", category="write"))

    assert [tool.name for tool in found.tools] == ["one", "two"]
    assert found.ceiling.category is Category.WRITE
    assert not found.ceiling_declared
    assert found.base_url is not None


@pytest.mark.promise("T-11", "T-13")
def test_scales_are_two_and_ordered() -> None:
    """Category and danger are independent scales of three, compared on their own (section 2)."""
    assert Category.READ < Category.WRITE < Category.ACTION
    assert DangerLevel.SAFE < DangerLevel.MODERATE < DangerLevel.DESTRUCTIVE
    assert max(Category) is Category.ACTION
    assert not Category.READ < Category.READ
    assert Category.WRITE <= Category.WRITE
    with pytest.raises(TypeError):
        _ = Category.READ < DangerLevel.SAFE  # type: ignore[operator]


@pytest.mark.promise("T-20")
def test_five_renderers_and_no_sixth() -> None:
    """image, diff, link, table, json; nothing else, ever (contract section 2)."""
    assert [r.value for r in Renderer] == ["image", "diff", "link", "table", "json"]
    assert (
        "unknown-value /tools/0/resultRenderer" in mistakes(endpoint_tool(resultRenderer="html"))[0]
    )
    tool, _ = load_tool(endpoint_tool())
    assert tool.renderer is Renderer.JSON


@pytest.mark.parametrize(
    ("changes", "pointer", "named"),
    [
        ({"name": "a b"}, "/name", "no tool name"),
        ({"name": "a b\n"}, "/name", "no tool name"),
        ({"name": "1a"}, "/name", "no tool name"),
        ({"name": "x" * 53}, "/name", "at most 52"),
        ({"name": "computer"}, "/name", "platform"),
        ({"name": "integration_x"}, "/name", "platform"),
        ({"name": "widget_x"}, "/name", "platform"),
        ({"name": 5}, "/name", "must be text"),
        ({"name": None}, "/name", "null"),
        ({"description": None}, "/description", "null"),
        ({"category": "READ"}, "/category", "none of read"),
        ({"category": " read"}, "/category", "none of read"),
        ({"category": ""}, "/category", "none of read"),
        ({"category": ["read"]}, "/category", "must be one of"),
        ({"category": None}, "/category", "must be one of"),
        ({"dangerLevel": "safe\n"}, "/dangerLevel", "none of safe"),
        ({"dangerLevel": -1}, "/dangerLevel", "must be one of"),
        ({"requiresApproval": "true"}, "/requiresApproval", "true or false"),
        ({"requiresApproval": 1}, "/requiresApproval", "true or false"),
        ({"requiresApproval": None}, "/requiresApproval", "true or false"),
        ({"requiresapproval": True}, "/requiresapproval", 'did you mean "requiresApproval"'),
        ({"timeoutMs": 99}, "/timeoutMs", "from 100 to 120,000"),
        ({"timeoutMs": 120_001}, "/timeoutMs", "from 100 to 120,000"),
        ({"timeoutMs": True}, "/timeoutMs", "whole number"),
        ({"timeoutMs": 1e3}, "/timeoutMs", "whole number"),
        ({"timeoutMs": 10**4000}, "/timeoutMs", "from 100 to 120,000"),
        ({"idempotent": "no"}, "/idempotent", "true or false"),
        ({"parameters": {"type": "object"}}, "/parameters", 'needs "properties"'),
        ({"parameters": {"properties": {}}}, "/parameters", 'exactly "object"'),
        ({"parameters": {"type": ["object"], "properties": {}}}, "/parameters/type", "exactly"),
        ({"parameters": True}, "/parameters", "JSON Schema object"),
        ({"render": {"url": "x"}}, "/render/url", "json has no key"),
        ({"title": "a", "displayName": "b"}, "/displayName", "the same"),
        ({"responseMapping": []}, "/responseMapping", "must be an object"),
    ],
)
def test_mistake_names_tool_place_and_mend(changes: Json, pointer: str, named: str) -> None:
    """An unknown enum, a bad type or name is an error with pointer and mend (section 2)."""
    document = definition(endpoint_tool("good"), {**endpoint_tool("bad"), **changes})
    loaded = load_definition(document)

    assert [m.pointer for m in loaded.mistakes] == [f"/tools/1{pointer}"]
    found = loaded.mistakes[0]
    assert named in f"{found.message} {found.mend}"
    assert found.mend
    assert found.tool
    assert len(found.message) < 400
    assert loaded.definition is not None
    assert [tool.name for tool in loaded.definition.tools] == ["good"]


@pytest.mark.parametrize(
    "missing", ["name", "description", "parameters", "category", "dangerLevel", "endpoint"]
)
def test_missing_key_of_a_tool_is_an_error(missing: str) -> None:
    """name, description, parameters, one destination, and with `endpoint` both scales (2)."""
    record = {k: v for k, v in endpoint_tool().items() if k != missing}

    assert len(mistakes(record)) == 1


def test_all_mistakes_are_found_at_once() -> None:
    """All mistakes of a document at once, in every tool (the issue: bad input)."""
    bad = endpoint_tool("x y", category="rd", requiresApproval="yes", timeoutMs=1)

    assert len(mistakes(bad, {**bad, "name": "y z"}, id="?", auth={"type": "magic"})) == 10


def test_tools_of_one_name_are_both_left_out() -> None:
    """Of two with one name, both are wrong: which one was meant nobody knows (section 2)."""
    loaded = load_definition(definition(endpoint_tool("a"), endpoint_tool("b"), endpoint_tool("a")))

    assert loaded.definition is not None
    assert [tool.name for tool in loaded.definition.tools] == ["b"]
    assert [m.pointer for m in loaded.mistakes] == ["/tools/0/name", "/tools/2/name"]


@pytest.mark.parametrize(
    ("changes", "pointer", "named"),
    [
        ({"id": "Acme"}, "/id", "no app id"),
        ({"id": "a"}, "/id", "no app id"),
        ({"id": "acme\n"}, "/id", "no app id"),
        ({"name": "  "}, "/name", "empty"),
        ({"auth": None}, "", 'needs "auth"'),
        ({"auth": {}}, "/auth", 'needs "type"'),
        ({"auth": "bearer"}, "/auth", "write {type: bearer}"),
        ({"auth": "apikey"}, "/auth", "write {type: apiKey}"),
        ({"auth": "?"}, "/auth", "write {type: …}, one of none, bearer, basic"),
        ({"auth": {"type": "Bearer"}}, "/auth/type", '"bearer"'),
        ({"auth": {"type": "none", "name": "x"}}, "/auth/name", "no key"),
        ({"auth": {"type": "apiKey", "in": "header"}}, "/auth", 'needs "name"'),
        ({"auth": {"type": "apiKey", "in": "body", "name": "k"}}, "/auth/in", "header, query"),
        ({"auth": {"type": "apiKey", "in": "header", "name": "Cookie"}}, "/auth/name", "owns"),
        ({"auth": {"type": "apiKey", "in": "header", "name": "Accept"}}, "/auth/name", "carry"),
        ({"auth": {"type": "apiKey", "in": "query", "name": ""}}, "/auth/name", "empty"),
        (
            {"auth": {"type": "apiKey", "in": "header", "name": "K", "prefix": "a\r\nb"}},
            "/auth/prefix",
            "no header can carry",
        ),
        (
            {
                "auth": {
                    "type": "oauth2",
                    "authorizationUrl": "x",
                    "tokenUrl": "https://a.example/t",
                    "clientId": "c",
                }
            },
            "/auth/authorizationUrl",
            "scheme",
        ),
        ({"baseUrl": None}, "", 'needs "baseUrl"'),
        ({"baseUrl": "https://a.example/v1?x=1"}, "/baseUrl", "query string"),
        ({"baseUrl": "https://a.example/v1/../x"}, "/baseUrl", "dot segment"),
        ({"baseUrl": "https://a.example/%2e%2e/x"}, "/baseUrl", "dot segment"),
        ({"baseUrl": "https://u:p@a.example"}, "/baseUrl", "user name"),
        ({"promptContext": "x" * 4001}, "/promptContext", "4,001"),
        ({"ceiling": {"category": "read"}}, "/ceiling", 'needs "dangerLevel"'),
        ({"ceiling": {"category": "all", "dangerLevel": "safe"}}, "/ceiling/category", "none of"),
        ({"env": {"collection": "main"}}, "/env", 'needs "environment"'),
        ({"components": {"api": {}}}, "/components/api", 'needs "url"'),
        (
            {"skills": [{"name": "s", "description": "d", "body": "b", "tools": ["gone"]}]},
            "/skills/0/tools/0",
            "gone",
        ),
        (
            {"skills": [{"name": "s", "description": "d", "body": "b", "tools": [[]]}]},
            "/skills/0/tools/0",
            "must be text",
        ),
        ({"toolz": []}, "/toolz", '"tools"'),
    ],
)
def test_mistake_of_a_definition_is_located(changes: Json, pointer: str, named: str) -> None:
    """id, name and auth are required; what is there must be right (contract section 7)."""
    document = {
        k: v for k, v in {**definition(endpoint_tool()), **changes}.items() if v is not None
    }
    loaded = load_definition(document)

    assert [m.pointer for m in loaded.mistakes] == [pointer]
    assert named in f"{loaded.mistakes[0].message} {loaded.mistakes[0].mend}"
    assert loaded.definition is None
    assert not loaded.sound


@pytest.mark.promise("T-45")
@pytest.mark.parametrize(
    ("base_url", "tools_url", "same"),
    [
        ("https://api.acme.test/v1", "HTTPS://API.ACME.TEST/tools", True),
        ("https://api.acme.test", "https://api.acme.test:443/t", True),
        ("http://api.acme.test", "http://api.acme.test:80/t", True),
        ("https://bücher.test", "https://xn--bcher-kva.test/t", True),
        ("https://xn--bcher-kva.test", "https://BÜCHER.test/t", True),
        ("https://api.acme.test", "https://x.api.acme.test/t", False),
        ("https://api.acme.test", "http://api.acme.test/t", False),
        ("https://api.acme.test", "https://api.acme.test:8443/t", False),
        ("https://api.acme.test", "https://evil.test\\@api.acme.test/t", False),
        ("https://api.acme.test", "https://user@api.acme.test/t", False),
        ("https://api.acme.test", "//api.acme.test/t", False),
        ("https://api.acme.test", "javascript:alert(1)", False),
    ],
)
def test_tools_url_has_the_origin_of_base_url(base_url: str, tools_url: str, same: bool) -> None:
    """Scheme, host and port after IDNA, default port and case folding (contract section 7)."""
    ceiling = {"category": "read", "dangerLevel": "safe"}
    found = mistakes(baseUrl=base_url, toolsUrl=tools_url, ceiling=ceiling)

    assert bool(found) != same
    assert same or "/toolsUrl" in found[0]


def test_tools_url_asks_for_a_ceiling_and_a_base() -> None:
    """`ceiling` is required where `toolsUrl` stands, and so is `baseUrl` (section 7)."""
    found = mistakes(baseUrl=None, toolsUrl="https://api.acme.test/t")

    assert any('needs "ceiling"' in text for text in found)
    assert any('needs "baseUrl"' in text for text in found)


@pytest.mark.promise("T-54", "T-55")
def test_briefing_is_kept_and_never_cut() -> None:
    """`promptContext` has at most 4,000 characters; more is an error (contract section 7)."""
    assert load(promptContext="ü" * 4000).prompt_context == "ü" * 4000
    assert "never cut" in mistakes(promptContext="x" * 4001)[0]


@pytest.mark.promise("T-23", "T-24")
def test_parameters_are_a_json_schema_object() -> None:
    """Type object, properties and required, nested schemas and unknown keywords kept (2)."""
    schema = parameters(
        "place",
        place={"type": "object", "properties": {"x": {"type": "number", "description": "m"}}},
        tags={"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        odd={"type": "string", "x-ui": "slider", "format": "colour"},
    )
    tool, _ = load_tool(endpoint_tool(parameters=schema))

    assert tool.parameters.schema == schema
    assert tuple(tool.parameters.names) == ("place", "tags", "odd")
    assert tool.parameters.required == {"place"}
    validate = tool.parameters.compiled.validate
    assert not validate({"place": {"x": 1}, "tags": ["a"]})
    assert [f.pointer for f in validate({"place": {"x": "1"}, "tags": ["c"]})] == [
        "/place/x",
        "/tags/0",
    ]


def test_origin_of_an_app_is_read_only_where_it_stands() -> None:
    """A definition with targets alone needs no `baseUrl` (contract section 7)."""
    tool, found = load_tool(target_tool(url_target(method="GET")), baseUrl=None)

    assert found.base_url is None
    assert tool.request is not None
    assert tool.request.method is Method.GET


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
WRITTEN = st.sampled_from(
    ["read", "safe", "POST", "GET", "/a/{{args.x}}", "${input.a}", "{{args", "https://a.example/"]
) | st.sampled_from(["object", "bearer", "app", "url", "client", "x", ""])
KEYS = st.sampled_from(
    [
        "id",
        "name",
        "auth",
        "type",
        "baseUrl",
        "toolsUrl",
        "tools",
        "components",
        "skills",
        "env",
        "ceiling",
        "category",
        "dangerLevel",
        "endpoint",
        "target",
        "method",
        "path",
        "headers",
        "queryParams",
        "bodyTemplate",
        "bodyFormat",
        "query",
        "body",
        "url",
        "component",
        "responseMapping",
        "polling",
        "statusUrl",
        "statusField",
        "completeValue",
        "pollIntervalMs",
        "maxPolls",
        "confirm",
        "title",
        "preview",
        "tool",
        "args",
        "parameters",
        "properties",
        "required",
        "each",
        "map",
        "limit",
        "resultRenderer",
        "render",
        "value",
        "style",
        "in",
        "prefix",
        "collection",
        "environment",
        "description",
    ]
)
DOCUMENTS = st.recursive(
    JSON | WRITTEN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=40,
)


@given(document=DOCUMENTS)
def test_no_document_crashes_the_loader(document: object) -> None:
    """Every malformed document gives located mistakes, never a traceback (bad input)."""
    loaded = load_definition(document)  # type: ignore[arg-type]

    assert loaded.definition is not None or loaded.mistakes
    for mistake in loaded.mistakes:
        assert mistake.message
        assert not hides(str(mistake))
        assert "\n" not in mistake.message + mistake.mend
    load_catalog(document, Surroundings())  # type: ignore[arg-type]


@given(changes=st.dictionaries(KEYS, DOCUMENTS, max_size=4))
def test_no_tool_crashes_the_loader(changes: dict[str, Any]) -> None:
    """A sound tool with any of its fields replaced loads, or is left out with a mistake."""
    document = definition(endpoint_tool("good"), {**endpoint_tool("odd"), **changes})
    loaded = load_definition(document)

    assert loaded.definition is not None
    names = [tool.name for tool in loaded.definition.tools]
    assert (len(names) == 2) != bool(loaded.mistakes)
