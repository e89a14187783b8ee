"""What an author may write of a request, and what is refused at load (contract sections 3, 4)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.catalog.definitions import load_catalog, load_definition
from remit.catalog.model import ClientTarget, Endpoint, UrlTarget
from remit.catalog.requests import Surroundings
from tests.catalog.documents import (
    definition,
    endpoint_tool,
    load,
    load_tool,
    mistakes,
    parameters,
    posting,
    target_tool,
    url_target,
)


def endpoint(**changes: object) -> dict[str, Any]:
    """A GET tool with a changed endpoint."""
    record = {"method": "GET", "path": "/things", **changes}
    return endpoint_tool(endpoint=record, parameters=parameters(a="string"))


@pytest.mark.promise("T-27", "K-12")
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_five_methods_and_no_sixth(method: str) -> None:
    """GET, POST, PUT, PATCH, DELETE, written in capitals (contract section 3)."""
    tool, _ = load_tool(endpoint(method=method))

    assert tool.request is not None
    assert tool.request.method.value == method
    assert "unknown-value /tools/0/endpoint/method" in mistakes(endpoint(method=method.lower()))[0]
    assert mistakes(endpoint(method="HEAD"))


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("things", "begins with one /"),
        ("", "begins with one /"),
        ("//evil.example/x", "not with two"),
        ("https://evil.example/x", "whole address"),
        ("{{args.a}}/x", "begins with one /"),
        ("/a?b=1", 'no "?"'),
        ("/a#b", '"#"'),
        ("/a/../b", "dot segment"),
        ("/a/./b", "dot segment"),
        ("/a/%2e%2E/b", "dot segment"),
        ("/a/%252e%252e/b", "dot segment"),
        ("/a/x%2f..%2fb", "dot segment"),
        ("/a/..%2f{{args.a}}", "dot segment"),
        ("/a/{{args.a}}%5c..", "dot segment"),
        ("/a\\b", "backslash"),
        ("/a\nb", "control character"),
        ("/a%", "percent escape"),
        ("/a%2{{args.a}}", "percent escape"),
        ("/a%zz", "percent escape"),
        ("/{{response.a}}", "may not stand here"),
        ("/{{args.a", "never closed"),
    ],
)
def test_path_that_could_lead_elsewhere_is_an_error(path: str, named: str) -> None:
    """A path begins with one / and holds no scheme, host, ?, # or dot segment (section 3)."""
    found = mistakes(endpoint(path=path))

    assert len(found) == 1
    assert "/tools/0/endpoint/path" in found[0]
    assert named in found[0]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/",
        "/a//b",
        "/...",
        "/a.b/..c",
        "/{{args.a}}..",
        "/a/.{{args.a}}",
        "/ü",
        "/a b",
        "/a:b@c",
        "/%C3%BC",
        "/${input.a}",
    ],
)
def test_path_that_only_looks_odd_loads(path: str) -> None:
    """What cannot lead elsewhere is the author's own business (contract section 3)."""
    assert mistakes(endpoint(path=path)) == []


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "authorization",
        "Cookie",
        "Set-Cookie",
        "HOST",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Via",
        "Expect",
        "Upgrade",
        "TE",
        "Trailer",
        "Proxy-Authorization",
        "Proxy-X",
        "Forwarded",
        "X-Forwarded-For",
        "Idempotency-Key",
        "traceparent",
        "User-Agent",
        "Remit-Tool-Context",
        "remit-tool-context",
    ],
)
def test_header_of_the_platform_is_refused(name: str) -> None:
    """Headers that Remit owns may not be set, in any letter case (contract section 3)."""
    found = mistakes(endpoint(headers={name: "x"}))

    assert len(found) == 1
    assert found[0].startswith("owned-header /tools/0/endpoint/headers/")


def test_header_and_query_of_the_credential_are_refused() -> None:
    """Where `auth` puts the credential, an author puts nothing (contract section 3)."""
    header = {"type": "apiKey", "in": "header", "name": "X-Acme-Key"}
    query = {"type": "apiKey", "in": "query", "name": "api_key"}

    assert "credential" in mistakes(endpoint(headers={"x-acme-key": "x"}), auth=header)[0]
    assert "credential" in mistakes(endpoint(queryParams={"API_KEY": "x"}), auth=query)[0]
    assert mistakes(endpoint(headers={"X-Acme-Key": "x"}), auth=query) == []


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({"X Bad": "x"}, "no header name"),
        ({"X-Bäd": "x"}, "no header name"),
        ({"X-Bad\r\nX": "x"}, "no header name"),
        ({"": "x"}, "no header name"),
        ({"X-A": "1", "x-a": "2"}, "twice"),
        ({"X-A": "a\r\nb"}, "cannot stand in a header"),
        ({"X-A": "ü"}, "cannot stand in a header"),
        ({"X-A": "x" * 8193}, "cannot stand in a header"),
        ({"X-A": 1}, "must be text"),
        ({"Content-Type": "text/xml"}, "JSON type"),
        ({"content-type": "application/x-www-form-urlencoded"}, "JSON type"),
        ({"X-A": "{{args.a}}"}, "may not stand here"),
    ],
)
def test_header_that_cannot_be_sent_is_an_error(headers: dict[str, Any], named: str) -> None:
    """A header twice by case, no token, or an unsendable value is an error (section 3)."""
    found = mistakes(endpoint(headers=headers))

    assert len(found) == 1
    assert named in found[0]


def test_control_characters_of_a_document_reach_no_terminal() -> None:
    """A mistake is printed where it was found, with what cannot be seen made visible."""
    document = definition(endpoint(headers={"X-Bad\r\n\x1b[2J": "x"}), name="a\x1b[2J")
    loaded = load_definition(document)

    assert loaded.mistakes
    for mistake in loaded.mistakes:
        assert str(mistake).replace("\n", "").isprintable()


def test_ordinary_headers_load() -> None:
    """Fixed headers, a JSON Content-Type and any Accept are the author's (section 3)."""
    headers = {
        "X-Acme-Client": "remit",
        "Content-Type": "application/vnd.acme+json; v=2",
        "Accept": "text/csv",
    }

    assert mistakes(endpoint(headers=headers, method="POST", bodyTemplate={})) == []


def test_authorization_is_an_authors_on_url_targets_alone() -> None:
    """`Authorization` may be written on a `url` target, with an env value (section 3)."""
    headers = {"Authorization": "Bearer ${env.PARTNER_KEY}"}
    tool, _ = load_tool(target_tool(url_target(headers=headers)))

    assert tool.request is not None
    assert tool.request.env_names == ("PARTNER_KEY",)
    app = {"type": "app", "component": "api", "path": "/x", "method": "GET", "headers": headers}
    components = {"api": {"url": "https://x.acme.example"}}
    assert "owned-header" in mistakes(target_tool(app), components=components)[0]


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (endpoint(bodyTemplate={}), "a GET request has no body"),
        (endpoint(method="DELETE", bodyTemplate={}), "a DELETE request has no body"),
        (target_tool(url_target(method="GET", body={})), "a GET request has no body"),
        (posting(None, {}), "null"),
        (posting({"{{args.a}}": 1}, {"a": "string"}), "never in names"),
        (posting([], {}, bodyFormat="form"), "made from an object"),
        (posting({}, {}, bodyFormat="xml"), "cannot be sent"),
        (
            posting({}, {}, bodyFormat="form", headers={"Content-Type": "application/json"}),
            "own Content-Type",
        ),
        (endpoint(bodyFormat="form"), "sends nothing"),
        (endpoint(queryParams={"a": 1}), "must be text"),
        (endpoint(queryParams={"a": {"value": "x", "style": "commas"}}), '"comma"'),
        (endpoint(queryParams={"a": {"style": "comma"}}), 'needs "value"'),
        (endpoint(queryParams={"{{args.a}}": "x"}), "never in names"),
        (endpoint(query={"a": "x"}), 'did you mean "queryParams"'),
    ],
)
def test_body_or_query_that_cannot_be_sent_is_an_error(record: dict[str, Any], named: str) -> None:
    """What a catalog cannot express it says so; nothing is dropped silently (section 3)."""
    found = mistakes(record)

    assert any(named in text for text in found), found


def test_delete_target_may_have_a_body() -> None:
    """A body is an error on GET, `bodyTemplate` also on DELETE, `body` is not (section 3)."""
    assert mistakes(target_tool(url_target(method="DELETE", body={"a": "${input.a}"}))) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://${input.host}/x",
        "https://api.partner.example${input.s}/x",
        "https://api.partner.example.${input.s}/x",
        "https://api.partner.example:${input.port}/",
        "${input.url}",
        "//partner.example/x",
        "ftp://partner.example/x",
        "https://user@partner.example/x",
        "https://user:${env.P}@partner.example/x",
        "https://a\\@partner.example/x",
        "/x",
        "https://partner.example/a/../b",
        "https://partner.example/a#b",
        "https://partner.example/{{args.a}}%",
    ],
)
def test_url_target_whose_origin_is_not_literal_is_refused(url: str) -> None:
    """Origin and method of a `url` target are literals of the author (section 3)."""
    found = mistakes(target_tool(url_target(url)))

    assert found
    assert "/tools/0/target/url" in found[0]


def test_url_target_keeps_path_and_query_references() -> None:
    """Below its literal origin, a `url` takes references in path and query (section 4)."""
    tool, _ = load_tool(
        target_tool(url_target("https://API.partner.example/a/${input.x}?q=${env.K}"))
    )

    assert isinstance(tool.destination, UrlTarget)
    assert str(tool.destination.origin) == "https://api.partner.example"
    assert tool.destination.request.env_names == ("K",)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ({"type": "app", "component": "ap", "path": "/x", "method": "GET"}, 'mean "api"'),
        ({"type": "app", "component": "${input.c}", "path": "/x", "method": "GET"}, "reference"),
        ({"type": "app", "component": "api", "path": "/${input.c}", "method": "GET"}, "reference"),
        ({"type": "app", "component": "api", "path": "/x", "method": "${input.m}"}, "none of GET"),
        ({"type": "app", "path": "/x", "method": "GET"}, 'needs "component"'),
        ({"type": "http"}, "none of app, url, client"),
        ({"type": ["url"]}, "must be text"),
        ({}, 'needs "type"'),
        ({"type": "client"}, 'needs "name"'),
        ({"type": "client", "name": ""}, "empty"),
    ],
)
def test_target_is_read_strictly(target: dict[str, Any], named: str) -> None:
    """A reference where it may not stand, and what is none, are errors at load (section 4)."""
    found = mistakes(target_tool(target), components={"api": {"url": "https://x.acme.example"}})

    assert any(named in text for text in found), found


def test_reference_in_a_component_is_refused_in_a_bare_catalog_too() -> None:
    """`${` in `component` is an error also where the components are not known (section 4)."""
    target = {"type": "app", "component": "${input.c}", "path": "/x", "method": "GET"}
    loaded = load_catalog([target_tool(target)], Surroundings())

    assert loaded is not None
    assert "reference" in loaded.mistakes[0].message


def test_other_notation_is_plain_text() -> None:
    """`${…}` in an endpoint and `{{…}}` in a target are text (contract section 4)."""
    tool, _ = load_tool(endpoint(headers={"X-A": "${input.a}"}, queryParams={"q": "${env.B}"}))

    assert isinstance(tool.destination, Endpoint)
    assert tool.destination.request.headers[0][1].literal == "${input.a}"
    assert tool.destination.request.query[0].value.literal == "${env.B}"
    assert mistakes(target_tool(url_target(body={"a": "{{args.a}}", "{{args.b}}": 1}))) == []


def test_brand_is_another_word_for_a_client_target() -> None:
    """`{type: "<brand>", name}` is `{type: client}` (contract section 12)."""
    document = definition(target_tool({"type": "kazzle", "name": "open_url"}))
    loaded = load_definition(document, brand="Kazzle")

    assert loaded.definition is not None
    assert isinstance(loaded.definition.tools[0].destination, ClientTarget)
    app = {"type": "app", "component": "api", "path": "/x", "method": "GET"}
    document = definition(target_tool(app), components={"api": {"url": "https://x.acme.example"}})
    assert load_definition(document, brand="App").sound


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"endpoint": None}, "exactly one of endpoint and target"),
        ({"target": {"type": "client", "name": "x"}}, "it has both"),
    ],
)
def test_tool_has_exactly_one_destination(changes: dict[str, Any], named: str) -> None:
    """One of `endpoint` and `target`, and exactly one (contract section 2)."""
    record = {k: v for k, v in {**endpoint_tool(), **changes}.items() if v is not None}

    assert named in mistakes(record)[0]


def test_target_without_scales_reads_as_its_method_says() -> None:
    """With `target` they are read/safe for GET, else action/moderate (contract section 2)."""
    get, post = load(
        target_tool(url_target(method="GET"), name="a"), target_tool(url_target(), name="b")
    ).tools

    assert (get.category.value, get.danger_level.value) == ("read", "safe")
    assert (post.category.value, post.danger_level.value) == ("action", "moderate")
    assert not post.scales_declared
