"""The JSON Schemas and the loader agree: on every key, on what is good, and on what is not."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.definitions import load_catalog, load_definition
from remit.catalog.requests import Surroundings
from remit.catalog.schemas import KINDS, schema_of
from remit.documents.load import media_of, parse_document

# A decoded document, taken apart and broken at will.
Json: TypeAlias = Any
SCENES = Path(__file__).parents[2] / "examples" / "scenes"
PARAMETERS = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Which one."},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"$ref": "#/$defs/note"},
    },
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {"note": {"type": "string", "maxLength": 20, "x-ours": 1}},
}
BASE = {"category": "write", "dangerLevel": "moderate", "description": "Does it."}
TOOLS: dict[str, dict[str, Any]] = {
    "get_it": {
        "title": "Look it up",
        "description": "",
        "category": "read",
        "dangerLevel": "safe",
        "resultRenderer": "table",
        "render": {"rows": "items", "columns": "names"},
        "endpoint": {
            "method": "GET",
            "path": "/items/{{ args.id }}",
            "queryParams": {"tag": {"value": "{{args.tags}}", "style": "comma"}, "q": "all"},
            "headers": {"X-Ours": "1"},
        },
        "responseMapping": {
            "name": "name",
            "ids": "items.*.id",
            "whole": ".",
            "items": {"each": "items", "map": {"id": "id", "self": "."}, "limit": 5},
        },
    },
    "start_it": {
        **BASE,
        "displayName": "Start it",
        "requiresApproval": True,
        "confirm": {
            "title": "Start {{args.id}}, {{preview.name}}",
            "preview": {"tool": "get_it", "args": {"id": "{{args.id}}"}},
        },
        "resultRenderer": "image",
        "render": {"url": "picture", "alt": "words"},
        "endpoint": {
            "method": "POST",
            "path": "/",
            "bodyTemplate": {"id": "{{args.id}}", "rest": [1, None, "{{args.note}}"]},
            "bodyFormat": "form",
        },
        "polling": {
            "statusUrl": "/jobs/{{response.id}}",
            "statusField": "job.status",
            "completeValue": ["done", 1, None],
            "failedValue": False,
            "pollIntervalMs": 100,
            "maxPolls": 1,
            "resultMapping": {"picture": "url", "words": "alt"},
        },
        "idempotent": True,
        "timeoutMs": 100,
    },
    "drop_it": {**BASE, "endpoint": {"method": "DELETE", "path": "/items/{{args.id}}"}},
    "text_body": {**BASE, "endpoint": {"method": "PUT", "path": "/x", "bodyTemplate": "text"}},
    "ask_component": {
        "description": "Asks.",
        "target": {
            "type": "app",
            "component": "api",
            "path": "/ask",
            "method": "POST",
            "query": {"tag": "${input.tags}"},
            "headers": {"X-Env": "${env.KEY}"},
            "body": "${input}",
        },
    },
    "ask_other": {
        "description": "Asks another.",
        "resultRenderer": "link",
        "render": {"url": "at", "label": "as"},
        "target": {
            "type": "url",
            "url": "https://other.example/v1/${input.id}",
            "method": "DELETE",
            "query": {},
            "headers": {"Authorization": "Bearer ${env.KEY}"},
            "body": 5,
        },
    },
    "open_it": {"description": "Opens.", "target": {"type": "client", "name": "open_url"}},
    "open_ours": {"description": "Opens.", "target": {"type": "remit", "name": "open_url"}},
    "compare": {
        **BASE,
        "resultRenderer": "diff",
        "render": {"before": "a", "after": "b", "patch": "p"},
        "endpoint": {"method": "PATCH", "path": "/x/y"},
    },
    "raw": {
        **BASE,
        "resultRenderer": "json",
        "render": {},
        "endpoint": {"method": "POST", "path": "/r"},
    },
}
API_KEY = {"type": "apiKey", "in": "header", "name": "X-Key", "prefix": "Key "}
OAUTH = {
    "type": "oauth2",
    "authorizationUrl": "https://sign.example/in",
    "tokenUrl": "https://sign.example/token",
    "scopes": ["read"],
    "clientId": "remit",
    "clientSecretEnv": "SECRET",
}
ENV = {"collection": "main", "environment": "production"}
FULL: dict[str, Any] = {
    "$schema": "definition.schema.json",
    "id": "acme",
    "name": "Acme",
    "description": "An app.",
    "baseUrl": "https://api.example/v1",
    "toolsUrl": "https://api.example/tools?for=agents",
    "auth": API_KEY,
    "components": {"api": {"url": "https://component.example", "env": ENV}},
    "skills": [{"name": "s", "description": "d", "body": "b", "tools": ["get_it"]}],
    "env": ENV,
    "promptContext": "x" * 4000,
    "ceiling": {"category": "action", "dangerLevel": "destructive"},
    "tools": [{"name": name, "parameters": PARAMETERS, **tool} for name, tool in TOOLS.items()],
}
TOOL_AT = {name: index for index, name in enumerate(TOOLS)}


def _example(name: str) -> Json:
    data = (SCENES / name).read_bytes()
    return parse_document(data, name=name, media=media_of(data, name))


def _good() -> dict[str, Any]:
    small = {"id": "ab", "name": "A"}
    auths = [{"type": kind} for kind in ("none", "bearer", "basic", "identity")]
    auths += [API_KEY, OAUTH, {"type": "apiKey", "in": "query", "name": "key"}]
    return {
        "full": FULL,
        **{f"auth {n}": {**small, "auth": auth} for n, auth in enumerate(auths)},
        "no tools": {**small, "auth": {"type": "none"}, "tools": []},
        "targets only": {
            **small,
            "auth": {"type": "none"},
            "tools": [t for t in FULL["tools"] if t["name"] in ("ask_other", "open_it")],
        },
        "scenes.yaml": _example("scenes.yaml"),
        "scenes-modest.yaml": _example("scenes-modest.yaml"),
    }


GOOD = _good()


@cache
def validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    """The schema, compiled so that it can fetch nothing."""
    return jsonschema_rs.Draft202012Validator(schema_of(kind), offline=True)


def loads(document: Json) -> bool:
    """Whether the loader takes a definition."""
    return load_definition(document).sound


def at(document: Json, pointer: str) -> Json:
    """The value at a JSON Pointer without escapes."""
    for part in pointer.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.parametrize("kind", KINDS)
def test_schema_is_a_schema_of_2020_12_that_needs_nothing_from_elsewhere(kind: str) -> None:
    """A schema that an editor cannot resolve helps nobody (contract section 13)."""
    schema = schema_of(kind)
    jsonschema_rs.Draft202012Validator(
        {"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True
    ).validate(schema)
    assert validator(kind).is_valid([]) is (kind == "catalog")
    assert str(schema["$id"]) == f"urn:remit:schema:v1:{kind}"


def test_unknown_kind_is_no_schema() -> None:
    """The caller named something that is not there."""
    with pytest.raises(KeyError):
        schema_of("event")


@pytest.mark.parametrize("name", GOOD)
def test_good_definition_pleases_schema_and_loader(name: str) -> None:
    """What Remit loads, an editor must not underline."""
    assert [error.message for error in validator("definition").iter_errors(GOOD[name])] == []
    assert load_definition(GOOD[name]).mistakes == ()


@pytest.mark.parametrize("tool", FULL["tools"], ids=lambda tool: tool["name"])
def test_good_tool_pleases_schema_and_loader(tool: Json) -> None:
    """The tool and catalog schemas hold what the definition's does."""
    assert validator("tool").is_valid(tool)
    assert validator("catalog").is_valid([tool])
    assert validator("catalog").is_valid({"tools": [tool]})


@pytest.mark.parametrize("name", ["catalog.json", "overreaching.json"])
def test_served_catalogs_of_the_example_are_judged_alike(name: str) -> None:
    """The second holds one danger level of its own; both see exactly that tool."""
    document = _example(name)
    around = Surroundings(components=frozenset())
    for tool in document["tools"]:
        loaded = load_catalog([tool], around)
        assert loaded is not None
        assert validator("tool").is_valid(tool) is (loaded.mistakes == ()), tool["name"]


OBJECTS = {
    "definition": ("", "definition", "", API_KEY),
    "auth without details": ("/auth", "definition", "/$defs/auth/oneOf/0", {"type": "bearer"}),
    "apiKey": ("/auth", "definition", "/$defs/auth/oneOf/1", API_KEY),
    "oauth2": ("/auth", "definition", "/$defs/auth/oneOf/2", OAUTH),
    "component": (
        "/components/api",
        "definition",
        "/properties/components/additionalProperties",
        API_KEY,
    ),
    "env": ("/env", "definition", "/$defs/env", API_KEY),
    "skill": ("/skills/0", "definition", "/properties/skills/items", API_KEY),
    "ceiling": ("/ceiling", "definition", "/properties/ceiling", API_KEY),
    **{
        name: (f"/tools/{TOOL_AT[tool]}{below}", "tool", f"/$defs{there}", API_KEY)
        for name, tool, below, there in (
            ("tool", "get_it", "", "/tool"),
            ("endpoint", "get_it", "/endpoint", "/endpoint"),
            (
                "query parameter",
                "get_it",
                "/endpoint/queryParams/tag",
                "/endpoint/properties/queryParams/additionalProperties",
            ),
            ("app target", "ask_component", "/target", "/appTarget"),
            ("url target", "ask_other", "/target", "/urlTarget"),
            ("client target", "open_it", "/target", "/clientTarget"),
            ("each", "get_it", "/responseMapping/items", "/each"),
            ("polling", "start_it", "/polling", "/polling"),
            ("confirm", "start_it", "/confirm", "/confirm"),
            ("preview", "start_it", "/confirm/preview", "/confirm/properties/preview"),
        )
    },
}


@pytest.mark.parametrize("name", OBJECTS)
def test_loader_and_schema_know_the_same_keys(name: str) -> None:
    """The loader names every key it knows when it meets one that it does not."""
    pointer, kind, there, auth = OBJECTS[name]
    document = {**copy.deepcopy(FULL), "auth": dict(auth)}
    at(document, pointer)["zzzzzzzz"] = 1
    found = [m for m in load_definition(document).mistakes if m.pointer == f"{pointer}/zzzzzzzz"]
    assert len(found) == 1
    known = set(found[0].mend.removeprefix("known keys: ").split(", "))
    part = at(schema_of(kind), there)
    assert set(part["properties"]) == known
    assert part["additionalProperties"] is False
    assert not validator("definition").is_valid(document)


@pytest.mark.parametrize("renderer", ["image", "diff", "link", "table", "json", None])
@pytest.mark.parametrize(
    "key", ["url", "alt", "label", "before", "after", "patch", "rows", "columns", "src"]
)
def test_renderer_takes_the_same_keys_in_both(renderer: str | None, key: str) -> None:
    """A key that the renderer would never read is a mistake where it is written."""
    tool = {"name": "t", "parameters": PARAMETERS, **TOOLS["drop_it"], "render": {key: "x"}}
    if renderer is not None:
        tool["resultRenderer"] = renderer
    document = {**FULL, "tools": [tool], "skills": []}
    assert validator("definition").is_valid(document) is loads(document)


def _broken() -> dict[str, Any]:
    """Documents with one structural mistake each, made from the full one."""

    def with_(pointer: str, /, **changes: Json) -> Json:
        document = copy.deepcopy(FULL)
        place = at(document, pointer)
        for key, value in changes.items():
            if value is ...:
                del place[key]
            else:
                place[key] = value
        return document

    def tool(name: str, below: str = "", /, **changes: Json) -> Json:
        return with_(f"/tools/{TOOL_AT[name]}{below}", **changes)

    rows: list[tuple[str, Any]] = [
        ("no object", []),
        ("no id", with_("", id=...)),
        ("no name", with_("", name=...)),
        ("no auth", with_("", auth=...)),
        ("id with capitals", with_("", id="Acme")),
        ("id of one letter", with_("", id="a")),
        ("blank name", with_("", name="  ")),
        ("description is null", with_("", description=None)),
        ("baseUrl without scheme", with_("", baseUrl="api.example")),
        ("baseUrl of another scheme", with_("", baseUrl="ftp://api.example")),
        ("baseUrl with a query", with_("", baseUrl="https://api.example/?a=1")),
        ("toolsUrl with a fragment", with_("", toolsUrl="https://api.example/t#x")),
        ("toolsUrl without ceiling", with_("", ceiling=...)),
        ("toolsUrl without baseUrl", with_("", baseUrl=...)),
        ("endpoint without baseUrl", {**with_("", baseUrl=..., toolsUrl=...)}),
        ("briefing too long", with_("", promptContext="x" * 4001)),
        ("half a ceiling", with_("/ceiling", category=...)),
        ("unknown level of the ceiling", with_("/ceiling", dangerLevel="harmless")),
        ("auth without type", with_("", auth={})),
        ("auth of an unknown type", with_("", auth={"type": "token"})),
        ("auth is a text", with_("", auth="bearer")),
        ("bearer with a name", with_("", auth={"type": "bearer", "name": "X"})),
        ("apiKey without place", with_("/auth", **{"in": ...})),
        ("apiKey in a cookie", with_("/auth", **{"in": "cookie"})),
        ("apiKey with an empty name", with_("/auth", name="")),
        ("oauth2 without tokenUrl", with_("", auth={**OAUTH, "tokenUrl": "nowhere"})),
        ("oauth2 with an empty scope", with_("", auth={**OAUTH, "scopes": [""]})),
        ("component without url", with_("/components/api", url=...)),
        ("component is a text", with_("/components", api="https://x.example")),
        ("env without environment", with_("/env", environment=...)),
        ("skill without body", with_("/skills/0", body=...)),
        ("skill tools are a text", with_("/skills/0", tools="get_it")),
        ("tools are an object", with_("", tools={})),
        ("a tool is a text", with_("", tools=["get_it"])),
        ("tool without name", tool("open_it", name=...)),
        ("tool without description", tool("open_it", description=...)),
        ("tool without parameters", tool("open_it", parameters=...)),
        ("tool name with a blank", tool("open_it", name="open it")),
        ("tool name of the platform", tool("open_it", name="integration_open")),
        ("reserved tool name", tool("open_it", name="load_skill")),
        ("tool name too long", tool("open_it", name="a" * 53)),
        ("title twice", tool("get_it", displayName="Again")),
        ("no category beside endpoint", tool("get_it", category=...)),
        ("no dangerLevel beside endpoint", tool("get_it", dangerLevel=...)),
        ("category of its own", tool("get_it", category="Read")),
        ("approval in words", tool("get_it", requiresApproval="yes")),
        ("renderer of its own", tool("raw", resultRenderer="chart")),
        ("render value is a list", tool("get_it", render={"rows": ["items"]})),
        ("parameters of type string", tool("raw", parameters={"type": "string", "properties": {}})),
        ("parameters without type", tool("raw", parameters={"properties": {}})),
        ("parameters without properties", tool("raw", parameters={"type": "object"})),
        (
            "parameter of a type that is none",
            tool("raw", parameters={"type": "object", "properties": {"a": {"type": "text"}}}),
        ),
        ("both endpoint and target", tool("get_it", target={"type": "client", "name": "x"})),
        ("neither endpoint nor target", tool("open_it", target=...)),
        ("endpoint without method", tool("get_it", "/endpoint", method=...)),
        ("endpoint without path", tool("get_it", "/endpoint", path=...)),
        ("method in lower case", tool("get_it", "/endpoint", method="get")),
        ("method HEAD", tool("get_it", "/endpoint", method="HEAD")),
        ("path without a slash", tool("get_it", "/endpoint", path="items")),
        ("path with a host", tool("get_it", "/endpoint", path="//host/items")),
        ("path with a query", tool("get_it", "/endpoint", path="/items?a=1")),
        ("path with a fragment", tool("get_it", "/endpoint", path="/items#a")),
        ("header that is no token", tool("get_it", "/endpoint/headers", **{"X Y": "1"})),
        ("header value is a number", tool("get_it", "/endpoint/headers", **{"X-Y": 1})),
        ("query value is a number", tool("get_it", "/endpoint/queryParams", q=1)),
        ("query style of its own", tool("get_it", "/endpoint/queryParams/tag", style="csv")),
        ("query without value", tool("get_it", "/endpoint/queryParams/tag", value=...)),
        ("body on GET", tool("get_it", "/endpoint", bodyTemplate={})),
        ("body on DELETE", tool("drop_it", "/endpoint", bodyTemplate={})),
        ("body is null", tool("text_body", "/endpoint", bodyTemplate=None)),
        ("body format xml", tool("start_it", "/endpoint", bodyFormat="xml")),
        ("form without body", tool("start_it", "/endpoint", bodyTemplate=...)),
        ("form of a text", tool("text_body", "/endpoint", bodyFormat="form")),
        ("target without type", tool("open_it", "/target", type=...)),
        ("target of an unknown type", tool("open_it", "/target", type="browser")),
        ("client without name", tool("open_it", "/target", name=...)),
        ("client with an empty name", tool("open_it", "/target", name="")),
        ("client is polled", tool("open_it", polling=TOOLS["start_it"]["polling"])),
        ("app without component", tool("ask_component", "/target", component=...)),
        ("app with a url", tool("ask_component", "/target", url="https://x.example")),
        ("app query with a style", tool("ask_component", "/target", query={"a": {"value": "b"}})),
        ("url without url", tool("ask_other", "/target", url=...)),
        ("url target with body on GET", tool("ask_other", "/target", method="GET")),
        ("mapping is a text", tool("get_it", responseMapping="items")),
        ("mapping value is a number", tool("get_it", "/responseMapping", name=1)),
        ("mapping path with an empty part", tool("get_it", "/responseMapping", name="a..b")),
        ("mapping with an empty name", tool("get_it", "/responseMapping", **{"": "a"})),
        ("each without map", tool("get_it", "/responseMapping/items", map=...)),
        ("each with an empty map", tool("get_it", "/responseMapping/items", map={})),
        ("each with limit 0", tool("get_it", "/responseMapping/items", limit=0)),
        ("polling without statusUrl", tool("start_it", "/polling", statusUrl=...)),
        ("polling without completeValue", tool("start_it", "/polling", completeValue=...)),
        ("polling every 99 ms", tool("start_it", "/polling", pollIntervalMs=99)),
        ("polling 0 times", tool("start_it", "/polling", maxPolls=0)),
        ("status field that collects", tool("start_it", "/polling", statusField="jobs.*.status")),
        ("confirm is a text", tool("start_it", confirm="Sure?")),
        ("preview without tool", tool("start_it", "/confirm/preview", tool=...)),
        ("preview args are a list", tool("start_it", "/confirm/preview", args=[])),
        ("timeout in words", tool("start_it", timeoutMs="30s")),
        ("timeout too short", tool("start_it", timeoutMs=99)),
        ("timeout too long", tool("start_it", timeoutMs=120_001)),
    ]
    return dict(rows)


BROKEN = _broken()


@pytest.mark.parametrize("name", BROKEN)
def test_structural_mistake_displeases_schema_and_loader(name: str) -> None:
    """What an editor can see, it shows; what Remit refuses for its structure, the schema says."""
    document = BROKEN[name]
    assert not validator("definition").is_valid(document)
    assert not loads(document)


@pytest.mark.parametrize("document", [{"tools": [], "id": "x"}, {}, {"tools": {}}, "x", [1]])
def test_document_that_is_no_catalog_displeases_both(document: Json) -> None:
    """A fetched document is a list of tools or an object with the one key tools."""
    loaded = load_catalog(document, Surroundings())
    assert not validator("catalog").is_valid(document)
    assert loaded is None or loaded.mistakes


def test_brand_names_the_client_target_in_the_schema_too() -> None:
    """Under a brand its own name means client (contract section 12)."""
    document = {**FULL, "skills": []}
    document["tools"] = [
        {"name": "o", "parameters": PARAMETERS, **TOOLS["open_it"]}
        | {"target": {"type": "kazzle", "name": "x"}}
    ]
    branded = jsonschema_rs.Draft202012Validator(
        schema_of("definition", brand="Kazzle"), offline=True
    )
    assert branded.is_valid(document)
    assert load_definition(document, brand="Kazzle").sound
    assert not validator("definition").is_valid(document)


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**6,
        "",
        " ",
        "x",
        "/",
        "a.b",
        "{{args.id}}",
        "GET",
        "read",
        "remit",
        [],
        ["x"],
        [1],
        {},
        {"x": 1},
        {"type": "object"},
        {"each": "a", "map": {"b": "c"}},
    ]
)
CHANGES = st.one_of(
    st.tuples(st.just("drop"), st.none()),
    st.tuples(
        st.just("rename"), st.sampled_from(["nam", "x", "", "value", "type", "path", "body"])
    ),
    st.tuples(st.just("replace"), VALUES),
)


@given(name=st.sampled_from(sorted(GOOD)), change=CHANGES, data=st.data())
def test_loader_is_never_laxer_than_the_schema(
    name: str, change: Json, data: st.DataObject
) -> None:
    """What an editor underlines must not load: the loader may be stricter, never laxer."""
    document = copy.deepcopy(GOOD[name])
    places = list(_places(document))
    container, key = places[data.draw(st.integers(0, len(places) - 1))]
    what, value = change
    if what == "replace":
        container[key] = copy.deepcopy(value)
    else:
        old = container.pop(key)
        if what == "rename" and isinstance(container, dict):
            container[value] = old
    if not validator("definition").is_valid(document):
        assert not loads(document)
