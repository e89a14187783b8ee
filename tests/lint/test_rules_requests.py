"""Rules on references and on what should not be written into a request."""

from __future__ import annotations

from typing import Any

import pytest

from remit.lint.secrecy import looks_like_a_credential
from tests.lint.documents import app, closed, of_rule, places, rules, target, text, tool


def get(path: str = "/scenes/{{args.sceneId}}", **changes: object) -> dict[str, Any]:
    """An endpoint."""
    return {"method": "GET", "path": path, **changes}


def url(**changes: object) -> dict[str, Any]:
    """A tool on an address that is not the app's."""
    record = {"type": "url", "method": "GET", "url": "https://rates.example/today"} | changes
    return target(target=record, responseMapping={"rate": "rate"})


def test_a_slot_that_only_a_pin_can_fill_is_noted() -> None:
    """Contract section 4: `lint` notes it in a query or body."""
    endpoint = {
        "method": "POST",
        "path": "/x",
        "queryParams": {"dryRun": "{{args.dryRun}}"},
        "bodyTemplate": {"a": ["{{args.tenant}}"]},
    }
    found = of_rule("pin-only-slot", tool(parameters=closed(), endpoint=endpoint))
    assert [(m.level, m.at) for m in found] == [
        ("note", "/endpoint/queryParams/dryRun"),
        ("note", "/endpoint/bodyTemplate/a/0"),
    ]


def test_a_slot_close_to_a_declared_name_is_a_warning_that_says_which() -> None:
    """Look and voice: "Did you mean amount?"."""
    schema = closed({"amount": {"type": "number", "description": "In euro."}})
    endpoint = {
        "method": "POST",
        "path": "/x",
        "bodyTemplate": {"amount": "{{args.amuont}}", "b": "{{args.amount}}"},
    }
    (found,) = of_rule("pin-only-slot", tool(parameters=schema, endpoint=endpoint))
    assert (found.level, found.at) == ("warning", "/endpoint/bodyTemplate/amount")
    assert '"amount"' in found.mend


@pytest.mark.parametrize(
    "document",
    [
        tool(endpoint=get("/scenes/{{args.nope}}"), parameters=closed()),
        url(url="https://rates.example/${input.nope}"),
        url(query={"a": "${input.nope}"}),
    ],
)
def test_a_slot_that_fails_the_call_is_a_warning(document: dict[str, Any]) -> None:
    """Contract section 4: in a path such a slot is a warning; in a target a missing value fails."""
    (found,) = of_rule("pin-only-slot", document)
    assert found.level == "warning"
    assert "nope" in found.message


def test_an_optional_argument_in_a_path_is_a_warning() -> None:
    """Contract section 4."""
    (found,) = of_rule("optional-in-path", tool(parameters=closed({"sceneId": text()})))
    assert (found.level, found.at) == ("warning", "/endpoint/path")
    assert found.message.startswith('"sceneId" is not required but used in path')
    assert places("optional-in-path", tool()) == []


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (
            tool(
                parameters=closed({"sceneId": text(), "q": text()}, "sceneId"),
                endpoint=get(queryParams={"q": "tag:{{args.q}}"}),
            ),
            True,
        ),
        (
            tool(
                parameters=closed({"sceneId": text(), "q": text()}, "sceneId"),
                endpoint=get(queryParams={"q": "{{args.q}}"}),
            ),
            False,
        ),
        (
            target(
                parameters=closed({"q": text()}),
                target={
                    "type": "app",
                    "component": "api",
                    "method": "GET",
                    "path": "/x",
                    "query": {"q": "${input.q}"},
                },
            ),
            True,
        ),
        (
            target(
                parameters=closed({"q": text()}, "q"),
                target={
                    "type": "app",
                    "component": "api",
                    "method": "GET",
                    "path": "/x",
                    "query": {"q": "${input.q}"},
                },
            ),
            False,
        ),
    ],
)
def test_an_optional_argument_that_the_call_needs_is_found(
    document: dict[str, Any], found: bool
) -> None:
    """Contract section 4: where a missing value fails the call instead of being left out."""
    assert ("optional-but-needed" in rules(document)) is found


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("position.x", False),
        ("position.z", True),
        ("name.first", True),
        ("free.anything", False),
        ("marks.0.id", False),
        ("marks.0.nope", True),
        ("either.x", False),
    ],
)
def test_a_reference_to_a_part_that_is_not_there_is_found(reference: str, found: bool) -> None:
    """It can never have a value."""
    position = closed({"x": {"type": "number", "description": "Metres."}}) | {
        "description": "Where."
    }
    schema = closed(
        {
            "position": position,
            "name": text(),
            "free": {"type": "object", "description": "Any."},
            "marks": {"type": "array", "description": "Marks.", "items": closed({"id": text()})},
            "either": {"anyOf": [{"type": "string"}, position], "description": "One or the other."},
        }
    )
    endpoint = {"method": "POST", "path": "/x", "bodyTemplate": {"v": f"{{{{args.{reference}}}}}"}}
    assert ("no-such-field" in rules(tool(parameters=schema, endpoint=endpoint))) is found


def test_a_parameter_that_is_sent_nowhere_is_found() -> None:
    """The model fills it and believes that it had an effect."""
    schema = closed({"sceneId": text(), "kind": text()}, "sceneId")
    assert places("unused-parameter", tool(parameters=schema)) == ["/parameters/properties/kind"]
    whole = {"type": "app", "component": "api", "method": "POST", "path": "/x", "body": "${input}"}
    assert places("unused-parameter", target(parameters=schema, target=whole)) == []
    client = target(parameters=schema, target={"type": "client", "name": "open_url"})
    assert places("unused-parameter", client) == []


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/scenes/{id}", True),
        ("/scenes/:id/objects", True),
        ("/scenes/<id>", True),
        ("/scenes/{{args.sceneId}}", False),
        ("/scenes/a:b", False),
        ("/scenes:batch", False),
    ],
)
def test_a_slot_of_another_notation_in_a_path_is_found(path: str, found: bool) -> None:
    """It is sent as it stands."""
    assert ("unfilled-brace" in rules(tool(endpoint=get(path)))) is found


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (tool(endpoint=get(queryParams={"a": "{{sceneId}}"})), True),
        (tool(endpoint=get(queryParams={"a": "${input.sceneId}"})), True),
        (
            tool(
                endpoint={
                    "method": "POST",
                    "path": "/x",
                    "bodyTemplate": {"deep": ["{{ sceneId }}"]},
                }
            ),
            True,
        ),
        (url(query={"a": "{{args.sceneId}}"}), True),
        (url(query={"a": "${input}"}), False),
        (tool(endpoint=get(queryParams={"a": "{sceneId}"})), False),
        (tool(), False),
    ],
)
def test_what_looks_like_a_reference_and_is_none_is_found(
    document: dict[str, Any], found: bool
) -> None:
    """Contract section 4: the other notation is plain text."""
    assert ("not-a-reference" in rules(document)) is found


@pytest.mark.promise("T-34")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Api-Key", "abc"),
        ("x-auth-token", "abc"),
        ("Api-Key", "abc"),
        ("Private-Token", "abc"),
        ("X-Acme-Api-Key", "abc"),
        ("X-Custom", "Bearer abc123"),
        ("X-Custom", "sk-live-4f9a0c1d2b3e4f5a"),
        ("X-Custom", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("X-Custom", "4f9a0c1d2b3e4f5a6b7c8d9e0f1a2b3c"),
        ("X-Custom", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x"),
        ("X-Custom", "AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_a_credential_in_a_header_is_found_and_not_repeated(name: str, value: str) -> None:
    """Seed: do not put credentials in headers."""
    (found,) = of_rule("credential-in-header", tool(endpoint=get(headers={name: value})))
    assert found.at == f"/endpoint/headers/{name}"
    assert value not in found.message + found.mend


@pytest.mark.promise("T-34")
def test_a_credential_header_that_remit_owns_is_refused() -> None:
    """Contract section 3: Authorization is allowed on url targets alone."""
    assert [
        m.level for m in of_rule("owned-header", tool(endpoint=get(headers={"AUTHORIZATION": "x"})))
    ] == ["error"]
    assert places("credential-in-header", url(headers={"Authorization": "Bearer abc123"})) == [
        "/target/headers/Authorization"
    ]
    keyed = app(
        tool(endpoint=get(headers={"X-Acme": "a"})),
        auth={"type": "apiKey", "in": "header", "name": "x-acme"},
    )
    assert [m.level for m in of_rule("owned-header", keyed)] == ["error"]


@pytest.mark.parametrize(
    "document",
    [
        tool(endpoint=get(headers={"X-Acme-Client": "tanzanite"})),
        tool(endpoint=get(headers={"X-Version": "2026-11-30"})),
        tool(
            endpoint=get(headers={"Accept": "application/vnd.acme.scenes.v2+json; charset=utf-8"})
        ),
        tool(endpoint=get(headers={"X-Client-Id": "6f1d2c3b-4a59-4e6f-8a7b-9c0d1e2f3a4b"})),
        tool(endpoint=get(headers={"X-Token-Limit": "500"})),
        url(headers={"X-Api-Key": "${env.RATES_KEY}"}),
        url(headers={"Authorization": "Bearer ${env.RATES_KEY}"}),
    ],
)
def test_headers_that_carry_no_credential_are_left_alone(document: dict[str, Any]) -> None:
    """References to env values are the right way; client names and ids are no secrets."""
    assert places("credential-in-header", document) == []


@pytest.mark.promise("T-34")
@pytest.mark.parametrize(
    ("document", "at"),
    [
        (tool(endpoint=get(queryParams={"api_key": "abc"})), "/endpoint/queryParams/api_key"),
        (
            tool(endpoint=get(queryParams={"q": {"value": "sk_live_4f9a0c1d2b3e4f5a"}})),
            "/endpoint/queryParams/q",
        ),
        (url(url="https://rates.example/today?access_token=abc"), "/target/url"),
        (
            tool(
                endpoint={
                    "method": "POST",
                    "path": "/x",
                    "bodyTemplate": {"a": {"password": "abc"}},
                }
            ),
            "/endpoint/bodyTemplate/a/password",
        ),
        (
            tool(
                endpoint={
                    "method": "POST",
                    "path": "/x",
                    "bodyTemplate": {"v": "{{args.sceneId}}", "clientSecret": "abc"},
                }
            ),
            "/endpoint/bodyTemplate/clientSecret",
        ),
    ],
)
def test_a_credential_in_a_query_or_body_is_found(document: dict[str, Any], at: str) -> None:
    """Addresses are written into the logs of every server on the way."""
    assert places("credential-in-request", document) == [at]


@pytest.mark.parametrize(
    "document",
    [
        tool(endpoint=get(queryParams={"pageToken": "{{args.sceneId}}"})),
        tool(endpoint=get(queryParams={"token": "{{args.sceneId}}"})),
        tool(endpoint=get(queryParams={"key": "name"})),
        url(query={"api_key": "${env.RATES_KEY}"}),
        tool(
            endpoint={
                "method": "POST",
                "path": "/x",
                "bodyTemplate": {"grant": "none", "secret": ""},
            }
        ),
    ],
)
def test_references_and_plain_values_are_no_credentials(document: dict[str, Any]) -> None:
    """An argument or an env value is not written down."""
    assert places("credential-in-request", document) == []


@pytest.mark.parametrize(
    "value", ["https://a.example/" + "a1" * 30, "Mozilla/5.0 (X11; Linux x86_64)", "en-US,en;q=0.9"]
)
def test_addresses_and_sentences_do_not_look_like_a_credential(value: str) -> None:
    """Long is not secret."""
    assert not looks_like_a_credential(value)
