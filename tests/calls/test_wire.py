"""Credential, env values and Remit's own headers, put in last of all (contract section 3)."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest

from remit.calls.wire import (
    CredentialUse,
    Sender,
    WireRequest,
    finish,
    masked_credential,
    owned_headers,
    use_credential,
)
from remit.catalog.model import Definition, Tool
from remit.errors import InvalidArguments, NotConnected
from remit.values.json import JsonObject
from remit.values.secrets import MASK, Secret
from tests.calls.making import planned, with_body, with_path, with_query, with_target
from tests.catalog.documents import Json, endpoint_tool, load, load_tool, target_tool, url_target

SENDER = Sender(call_id="call_1", traceparent="00-1-2-01", version="0.1.0")


def sent(
    loaded: tuple[Tool, Definition],
    args: JsonObject | None = None,
    *,
    credential: CredentialUse | None = None,
    env: dict[str, str] | None = None,
) -> WireRequest:
    """The finished request of a call."""
    values = {name: Secret(text) for name, text in (env or {}).items()}
    request = planned(loaded, args or {}, env=tuple(values))
    use = credential or CredentialUse()
    return finish(request, loaded[0], credential=use, env=values, sender=SENDER)


@pytest.mark.promise("T-33")
@pytest.mark.parametrize(
    ("auth", "token", "header", "query"),
    [
        ({"type": "none"}, None, None, None),
        ({"type": "none"}, "t", None, None),
        ({"type": "bearer"}, "t", ("Authorization", "Bearer t"), None),
        ({"type": "basic"}, "ana:päss:x", ("Authorization", "Basic YW5hOnDDpHNzOng="), None),
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, "k", ("X-Key", "k"), None),
        (
            {"type": "apiKey", "in": "header", "name": "authorization", "prefix": "Token "},
            "k",
            ("authorization", "Token k"),
            None,
        ),
        (
            {"type": "apiKey", "in": "query", "name": "api key"},
            "a&b=c",
            None,
            "api%20key=a%26b%3Dc",
        ),
        (
            {"type": "apiKey", "in": "query", "name": "k", "prefix": "p:"},
            "x",
            None,
            "k=p%3Ax",
        ),
    ],
)
def test_credential_goes_out_as_declared(
    auth: Json, token: str | None, header: tuple[str, str] | None, query: str | None
) -> None:
    """The user's own credential in the shape that the definition declares (section 7)."""
    declared = load(auth=auth).auth
    use = use_credential(declared, None if token is None else Secret(token))

    assert (use.header, use.query) == (header, query)


@pytest.mark.parametrize(
    "auth",
    [
        {"type": "bearer"},
        {"type": "basic"},
        {"type": "apiKey", "in": "header", "name": "X-Key"},
        {"type": "apiKey", "in": "query", "name": "key"},
    ],
    ids=lambda auth: auth["type"] + auth.get("in", ""),
)
@pytest.mark.parametrize(
    "token", [None, "", "tok:canary\r\nX-Evil: 1", "canary:\x00", "canary:\udcff", "canary:\x7f"]
)
def test_credential_that_cannot_be_sent_is_refused_and_not_echoed(
    auth: Json, token: str | None
) -> None:
    """Missing, empty or with a line break: `not_connected`, its text in no error (CWE-113)."""
    with pytest.raises(NotConnected) as error:
        use_credential(load(auth=auth).auth, None if token is None else Secret(token))

    assert "canary" not in error.value.message
    assert "onnect the account" in error.value.message
    assert not error.value.sent


def test_basic_takes_user_and_password() -> None:
    """`basic` takes `user:password` as its token (contract section 7)."""
    with pytest.raises(NotConnected, match="user:password"):
        use_credential(load(auth={"type": "basic"}).auth, Secret("just-a-password"))


@pytest.mark.promise("T-28", "K-13")
def test_headers_are_the_authors_and_the_owned_ones() -> None:
    """Nothing is sent that the author did not write, except what Remit owns (section 3)."""
    request = sent(
        with_body({"a": 1}, headers={"X-A": "1"}),
        credential=CredentialUse(header=("Authorization", "Bearer t")),
    )

    assert dict(request.headers) == {
        "X-A": "1",
        "Authorization": "Bearer t",
        "Idempotency-Key": "call_1",
        "traceparent": "00-1-2-01",
        "Content-Type": "application/json",
        "Accept": "application/json, text/plain;q=0.9, */*;q=0.1",
        "User-Agent": "remit/0.1.0",
    }
    assert request.body == b'{"a":1}'
    assert request.method == "POST"


def test_get_has_no_key_and_no_content_type() -> None:
    """`Idempotency-Key` on every method but GET; a type only with a body (section 3)."""
    names = {name.lower() for name, _ in sent(with_path("/x")).headers}

    assert names == {"traceparent", "accept", "user-agent"}
    deleting = load_tool(endpoint_tool(endpoint={"method": "DELETE", "path": "/x"}))
    assert ("Idempotency-Key", "call_1") in sent(deleting).headers
    assert sent(deleting).body is None


def test_authors_types_take_the_place_of_ours() -> None:
    """`Content-Type` may be a JSON type, `Accept` anything; once each (section 3)."""
    headers = {"content-type": "application/merge-patch+json", "ACCEPT": "text/csv"}
    found = sent(with_body({"a": 1}, headers=headers)).headers

    assert [v for n, v in found if n.lower() == "content-type"] == ["application/merge-patch+json"]
    assert [v for n, v in found if n.lower() == "accept"] == ["text/csv"]


@pytest.mark.parametrize(
    ("template", "form", "raw", "media"),
    [
        (None, False, None, None),
        ("text", False, b'"text"', "application/json"),
        ({"a": "ü\n", "b": 1.0, "c": 2**64}, False,
         '{"a":"ü\\n","b":1.0,"c":18446744073709551616}'.encode(), "application/json"),
        ({"a": "x y", "b": [1]}, True, b"a=x+y&b%5B%5D=1", "application/x-www-form-urlencoded"),
        ({}, True, b"", "application/x-www-form-urlencoded"),
    ],
)  # fmt: skip
def test_body_is_written_once(
    template: object, form: bool, raw: bytes | None, media: str | None
) -> None:
    """JSON, text as it is, every digit kept; or a form (contract section 3)."""
    endpoint: Json = {"bodyFormat": "form"} if form else {}
    tool = (
        with_body(template, **endpoint)  # type: ignore[arg-type]
        if template is not None
        else load_tool(endpoint_tool(endpoint={"method": "POST", "path": "/b"}))
    )
    request = sent(tool)

    assert request.body == raw
    assert dict(request.headers).get("Content-Type") == media


def test_null_body_is_sent_and_a_missing_one_is_not() -> None:
    """An explicit null is kept in a body, a missing reference leaves it out (section 4)."""
    tool = with_body("{{args.a}}", "a")

    assert sent(tool, {"a": None}).body == b"null"
    missing = sent(tool, {})
    assert missing.body is None
    assert "Content-Type" not in dict(missing.headers)


def test_query_credential_joins_the_query() -> None:
    """`apiKey` in the query is put behind what the author wrote (contract section 7)."""
    use = CredentialUse(query="key=k")

    assert sent(with_path("/x"), credential=use).url.endswith("/v1/x?key=k")
    url = sent(with_query({"q": "1"}), credential=use).url
    assert url.endswith("/v1/q?q=1&key=k")


# --- env -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["v", "a b/c?d#e"])
def test_env_values_are_put_in_at_the_send(value: str) -> None:
    """Encoded for their place, and never expanded again (contract sections 4 and 5)."""
    target = url_target(
        "https://p.example/${env.K}/x?q=${env.K}",
        headers={"Authorization": "Bearer ${env.K}"},
        body={"k": "${env.K}", "n": ["<${env.K}>"]},
        query={"r": "${env.K}"},
    )
    request = sent(with_target(target), env={"K": value})
    quoted = {"v": "v", "a b/c?d#e": "a%20b%2Fc%3Fd%23e"}[value]

    assert request.url == f"https://p.example/{quoted}/x?q={quoted}&r={quoted}"
    assert ("Authorization", f"Bearer {value}") in request.headers
    assert request.body is not None
    assert json.loads(request.body) == {"k": value, "n": [f"<{value}>"]}


def test_env_value_is_no_template() -> None:
    """One pass: a value is never expanded again, whatever it contains (section 4)."""
    request = sent(with_target(url_target(body="${env.K}")), env={"K": "${env.L} {{args.a}}"})

    assert request.body == b'"${env.L} {{args.a}}"'


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (url_target("https://p.example/${env.K}/x"), ""),
        (url_target("https://p.example/${env.K}/x"), "."),
        (url_target("https://p.example/.${env.K}/x"), "."),
        (url_target("https://p.example/a/${env.K}"), ".."),
        (url_target("https://p.example/${env.K}"), "canary\r\n"),
        (url_target("https://p.example/${env.K}"), "canary\x00"),
        (url_target("https://p.example/${env.K}"), "canary" * 2000),
        (url_target(headers={"X-A": "${env.K}"}), "canary\r\nX-Evil: 1"),
        (url_target(headers={"X-A": "${env.K}"}), "cänary"),
        (url_target(headers={"X-A": "${env.K}"}), "canary" * 2000),
    ],
)
def test_env_value_that_cannot_be_sent_is_refused_and_not_echoed(target: Json, value: str) -> None:
    """The rules of paths and headers hold for env values too; none is shown (section 4)."""
    with pytest.raises(InvalidArguments) as error:
        sent(with_target(target), env={"K": value})

    assert "canary" not in error.value.message
    assert "nary" not in error.value.message
    assert "env value" in error.value.message


def test_trailing_slash_of_the_author_stands_beside_an_env_value() -> None:
    """Only what a value makes of a segment is judged, not what the author wrote."""
    request = sent(with_target(url_target("https://p.example/${env.K}/")), env={"K": "x"})

    assert request.url == "https://p.example/x/"


# --- what is shown ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("auth", "header", "query"),
    [
        ({"type": "none"}, None, None),
        ({"type": "bearer"}, ("Authorization", f"Bearer {MASK}"), None),
        ({"type": "basic"}, ("Authorization", f"Basic {MASK}"), None),
        ({"type": "oauth2", "authorizationUrl": "https://a.example/a",
          "tokenUrl": "https://a.example/t", "clientId": "c"},
         ("Authorization", f"Bearer {MASK}"), None),
        ({"type": "apiKey", "in": "header", "name": "X-Key", "prefix": "K "},
         ("X-Key", f"K {MASK}"), None),
        ({"type": "apiKey", "in": "query", "name": "k"}, None, f"k={MASK}"),
    ],
)  # fmt: skip
def test_dry_run_shows_where_the_credential_goes(
    auth: Json, header: tuple[str, str] | None, query: str | None
) -> None:
    """Credentials are masked, in their place (contract section 13)."""
    tool, found = load_tool(endpoint_tool(), auth=auth)
    use = masked_credential(found.auth, tool)

    assert (use.header, use.query) == (header, query)
    outside, found = load_tool(target_tool(url_target()), auth=auth)
    assert masked_credential(found.auth, outside) == CredentialUse()


@pytest.mark.promise("K-24")
def test_app_target_gets_its_token_and_context_from_remit() -> None:
    """An author cannot set Authorization on an `app` target; Remit signs one (section 3)."""
    target = {"type": "app", "component": "api", "path": "/x", "method": "GET"}
    tool, found = with_target(target)
    request = planned((tool, found), {})
    use = masked_credential(found.auth, tool)
    headers = dict(owned_headers(request, tool, credential=use, sender=SENDER))

    assert headers["Authorization"] == f"Bearer {MASK}"
    assert headers["Remit-Tool-Context"] == '{"source":"api"}'


def test_wire_request_hides_what_it_holds() -> None:
    """The text of a finished request holds no credential (the threat model's canary)."""
    request = sent(with_path("/x"), credential=CredentialUse(query="key=canary"))

    assert "canary" in request.url
    assert "canary" not in repr(request)


def test_basic_is_base64_of_both() -> None:
    """RFC 7617: user and password, UTF-8, with one colon between them."""
    use = use_credential(load(auth={"type": "basic"}).auth, Secret("ana:p:q"))

    assert use.header is not None
    assert b64decode(use.header[1].removeprefix("Basic ")) == b"ana:p:q"
