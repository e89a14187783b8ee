"""The exact request: path, query, body, headers and digest (contract sections 3, 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.lookup import MISSING
from remit.errors import CallError, InvalidArguments, MissingReference
from remit.values.json import JsonObject, JsonValue
from tests.calls.making import (
    path_of,
    planned,
    query_of,
    with_body,
    with_path,
    with_query,
    with_target,
)
from tests.catalog.documents import endpoint_tool, load_tool, parameters, url_target

SCENE = with_path("/scenes/{{args.id}}/objects", "id")


@pytest.mark.promise("T-26", "K-13")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("s1", "/v1/scenes/s1/objects"),
        ("../../../etc/passwd", "/v1/scenes/..%2F..%2F..%2Fetc%2Fpasswd/objects"),
        ("%2E%2E%2Fadmin", "/v1/scenes/%252E%252E%252Fadmin/objects"),
        ("/admin", "/v1/scenes/%2Fadmin/objects"),
        ("a?admin=1", "/v1/scenes/a%3Fadmin%3D1/objects"),
        ("a#b", "/v1/scenes/a%23b/objects"),
        ("a b+c", "/v1/scenes/a%20b%2Bc/objects"),
        ("100%", "/v1/scenes/100%25/objects"),
        ("İ", "/v1/scenes/%C4%B0/objects"),
        ("a;b=c", "/v1/scenes/a%3Bb%3Dc/objects"),
        ("...", "/v1/scenes/.../objects"),
        ("~-._", "/v1/scenes/~-._/objects"),
        ("{{args.id}}", "/v1/scenes/%7B%7Bargs.id%7D%7D/objects"),
        (True, "/v1/scenes/true/objects"),
        (0, "/v1/scenes/0/objects"),
        (1.5, "/v1/scenes/1.5/objects"),
        (18446744073709551616, "/v1/scenes/18446744073709551616/objects"),
    ],
)
def test_value_in_a_path_is_one_encoded_segment(value: JsonValue, path: str) -> None:
    """`path` is appended to `baseUrl`; a value is one segment, percent-encoded (section 4)."""
    assert path_of(planned(SCENE, {"id": value})) == path


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("/s/{{args.x}}/o", "", InvalidArguments),
        ("/s/{{args.x}}/o", ".", InvalidArguments),
        ("/s/{{args.x}}/o", "..", InvalidArguments),
        ("/s/.{{args.x}}/o", ".", InvalidArguments),
        ("/s/.{{args.x}}/o", "", InvalidArguments),
        ("/s/%2e{{args.x}}/o", ".", InvalidArguments),
        ("/s/{{args.x}}{{args.x}}", ".", InvalidArguments),
        ("/s/{{args.x}}/o", "a\x00b", InvalidArguments),
        ("/s/{{args.x}}/o", "a\r\nb", InvalidArguments),
        ("/s/{{args.x}}/o", "a\x85b", InvalidArguments),
        ("/s/{{args.x}}/o", {"a": 1}, InvalidArguments),
        ("/s/{{args.x}}/o", [1], InvalidArguments),
        ("/s/{{args.x}}/o", None, InvalidArguments),
        ("/s/{{args.x}}/o", "x" * 9000, InvalidArguments),
        ("/s/{{args.y}}/o", "x", MissingReference),
        ("/s/a-{{args.x.deep}}/o", "x", MissingReference),
    ],
)
def test_value_that_no_path_can_carry_sends_nothing(
    path: str, value: JsonValue, error: type[CallError]
) -> None:
    """A finished segment is not empty, `.` or `..`; missing is named; 8 KiB is the end (4)."""
    with pytest.raises(error) as refused:
        planned(with_path(path, "x"), {"x": value})

    assert "was not called" in refused.value.message
    assert not refused.value.sent


SEGMENTS = [
    with_path(path, "a", "b")
    for path in ("/x/{{args.a}}/y", "/{{args.a}}{{args.b}}", "/.{{args.a}}.{{args.b}}/z")
]
ANY_TEXT = st.text(max_size=12) | st.sampled_from(["", ".", "..", "/", "%2e", "%2f..", "?", "#"])


@given(tool=st.sampled_from(SEGMENTS), a=ANY_TEXT, b=ANY_TEXT)
def test_path_keeps_its_segments_whatever_the_values(tool: object, a: str, b: str) -> None:
    """No value adds a /, ? or #, none makes a dot segment, and all decode back (section 4)."""
    try:
        request = planned(tool, {"a": a, "b": b})  # type: ignore[arg-type]
    except InvalidArguments:
        return
    assert isinstance(request.url, str)
    assert "?" not in request.url
    assert "#" not in request.url
    found = path_of(request).split("/")[2:]
    written = [str(t.parts) for t in tool[0].request.location.segments]  # type: ignore[index]
    assert len(found) == len(written)
    assert not any(unquote(segment) in ("", ".", "..") for segment in found)
    values = {"/x": a, "/": a + b, "/.": f".{a}.{b}"}
    decoded = unquote("/".join(found))
    assert decoded in {f"x/{a}/y", values["/"], f"{values['/.']}/z"}


@pytest.mark.promise("T-29")
@pytest.mark.parametrize(
    ("query", "args", "sent"),
    [
        ({"q": "{{args.a}}"}, {"a": "a#b&c=d"}, "q=a%23b%26c%3Dd"),
        ({"q": "{{args.a}}"}, {"a": "a b+c"}, "q=a%20b%2Bc"),
        ({"q": "{{args.a}}"}, {"a": "a\r\nb"}, "q=a%0D%0Ab"),
        ({"q": "{{args.a}}"}, {"a": "ü"}, "q=%C3%BC"),
        ({"q": "{{args.a}}"}, {"a": ""}, "q="),
        ({"q": "{{args.a}}"}, {"a": 0}, "q=0"),
        ({"q": "{{args.a}}"}, {"a": False}, "q=false"),
        ({"q": "{{args.a}}"}, {"a": None}, None),
        ({"q": "{{args.a}}"}, {}, None),
        ({"q": "{{args.a}}"}, {"a": []}, None),
        ({"q": "{{args.a}}"}, {"a": [1, "b", None, True]}, "q=1&q=b&q=true"),
        ({"q": "{{args.a.b}}"}, {"a": {"b": 5}}, "q=5"),
        ({"q": "{{args.a.0}}"}, {"a": [5]}, "q=5"),
        ({"q": "x-{{args.a}}"}, {"a": 5}, "q=x-5"),
        ({"q": "fixed value"}, {}, "q=fixed%20value"),
        ({"filter[a b]": "{{args.a}}"}, {"a": 1}, "filter%5Ba%20b%5D=1"),
        ({"q": {"value": "{{args.a}}", "style": "repeat"}}, {"a": [1, 2]}, "q=1&q=2"),
        ({"q": {"value": "{{args.a}}", "style": "comma"}}, {"a": ["1,5", 2]}, "q=1%2C5,2"),
        ({"q": {"value": "{{args.a}}", "style": "comma"}}, {"a": []}, None),
        ({"q": {"value": "{{args.a}}", "style": "comma"}}, {"a": "x"}, "q=x"),
        ({"q": {"value": "{{args.a}}", "style": "space"}}, {"a": [1, 2]}, "q=1%202"),
        ({"q": {"value": "{{args.a}}", "style": "pipe"}}, {"a": [1, 2]}, "q=1%7C2"),
        ({"q": {"value": "{{args.a}}", "style": "brackets"}}, {"a": [1, 2]}, "q%5B%5D=1&q%5B%5D=2"),
        (
            {"q": {"value": "{{args.a}}", "style": "brackets"}},
            {"a": {"b": {"c": 1}, "d": None, "e": [2]}},
            "q%5Bb%5D%5Bc%5D=1&q%5Be%5D%5B%5D=2",
        ),
        (
            {"q": {"value": "{{args.a}}", "style": "deepObject"}},
            {"a": {"gte": 1, "lt": "x y"}},
            "q%5Bgte%5D=1&q%5Blt%5D=x%20y",
        ),
    ],
)
def test_query_follows_its_style(query: JsonObject, args: JsonObject, sent: str | None) -> None:
    """Left out where missing or null; an array follows the style (contract sections 3, 4)."""
    assert query_of(planned(with_query(query, "a"), args)) == sent


@pytest.mark.parametrize(
    ("query", "args"),
    [
        ({"q": "{{args.a}}"}, {"a": {"b": 1}}),
        ({"q": "{{args.a}}"}, {"a": [[1]]}),
        ({"q": "x-{{args.a}}"}, {"a": [1]}),
        ({"q": "x-{{args.a}}"}, {"a": None}),
        ({"q": "x-{{args.a}}"}, {}),
        ({"q": {"value": "{{args.a}}", "style": "comma"}}, {"a": {"b": 1}}),
        ({"q": {"value": "{{args.a}}", "style": "deepObject"}}, {"a": [1]}),
    ],
)
def test_value_that_no_query_can_carry_sends_nothing(query: JsonObject, args: JsonObject) -> None:
    """An object is an error unless the style takes it; in a longer string so is null (4)."""
    with pytest.raises((InvalidArguments, MissingReference)) as refused:
        planned(with_query(query, "a"), args)

    assert "args.a" in refused.value.message


ROUND = with_query({"a": "{{args.a}}", "b": "{{args.b}}", "c": "n-{{args.a}}"}, "a", "b")


@given(a=st.text(), b=st.lists(st.text(), max_size=4))
def test_query_reads_back_as_it_was(a: str, b: list[str]) -> None:
    """What a reader decodes is what was given, whatever it holds (section 4, RFC 3986)."""
    try:
        query = query_of(planned(ROUND, {"a": a, "b": b}))  # type: ignore[dict-item]
    except InvalidArguments as error:
        assert "8,192" in error.message  # noqa: PT017 -- only a very long one may be refused
        return
    pairs = parse_qsl(query or "", keep_blank_values=True, strict_parsing=True)
    assert pairs == [("a", a), *(("b", item) for item in b), ("c", f"n-{a}")]


@pytest.mark.promise("T-30", "K-12")
@pytest.mark.parametrize(
    ("template", "args", "body"),
    [
        ({"n": "{{args.a}}"}, {"a": 1}, {"n": 1}),
        ({"n": "{{args.a}}"}, {"a": False}, {"n": False}),
        ({"n": "{{args.a}}"}, {"a": None}, {"n": None}),
        ({"n": "{{args.a}}"}, {"a": {"b": [1, None]}}, {"n": {"b": [1, None]}}),
        ({"n": "{{args.a}}", "m": 1}, {}, {"m": 1}),
        ({"n": {"o": "{{args.a}}"}}, {}, {"n": {}}),
        (["{{args.a}}", 2, "{{args.b}}"], {"b": 3}, [2, 3]),
        ({"n": "x {{args.a}} y"}, {"a": 1.0}, {"n": "x 1.0 y"}),
        ({"n": "{{args.a}}{{args.b}}"}, {"a": True, "b": ""}, {"n": "true"}),
        ("{{args.a}}", {"a": [1]}, [1]),
        ("{{args.a}}", {"a": None}, None),
        ("text", {}, "text"),
        ({"n": None, "z": 0, "l": []}, {}, {"n": None, "z": 0, "l": []}),
        ({"n": 18446744073709551616}, {}, {"n": 18446744073709551616}),
        ({"${input.a}": "${input.a}"}, {}, {"${input.a}": "${input.a}"}),
    ],
)
def test_body_keeps_types_and_leaves_out_what_is_missing(
    template: JsonValue, args: JsonObject, body: JsonValue
) -> None:
    """A string that is one reference takes the value with its JSON type (section 4)."""
    request = planned(with_body(template, "a", "b"), args)

    assert request.has_body
    assert request.body == body
    assert repr(request.body) == repr(body)


def test_body_that_is_one_missing_reference_is_no_body() -> None:
    """What the author did not write is not sent: no `null` in its place (section 3)."""
    request = planned(with_body("{{args.a}}", "a"), {})

    assert not request.has_body
    assert request.body is MISSING
    assert request.shown_body is None


@pytest.mark.parametrize("value", [{"b": 1}, [1], None])
def test_container_inside_a_longer_text_is_refused(value: JsonValue) -> None:
    """An object, array or null inside a longer string is an error (contract section 4)."""
    with pytest.raises(InvalidArguments, match=r"args\.a"):
        planned(with_body({"n": "x{{args.a}}"}, "a"), {"a": value})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
BODY = with_body({"keep": "{{args.a}}", "list": ["{{args.b}}"], "all": 1}, "a", "b")


@given(a=JSON, b=JSON)
def test_json_value_reaches_the_body_unchanged(a: JsonValue, b: JsonValue) -> None:
    """JSON bodies keep types, whatever the value is (contract section 4)."""
    assert repr(planned(BODY, {"a": a, "b": b}).body) == repr({"keep": a, "list": [b], "all": 1})


SYNTAX = st.lists(
    st.sampled_from(["{{args.a}}", "{{args.", "}}", "${input.a}", "${env.K}", "$${", "{%", "%(x)s"])
    | st.text(max_size=4),
    max_size=6,
).map("".join)
ONE_PASS = with_body({"n": "{{args.a}}{{args.b}}", "m": "-{{args.b}}"}, "a", "b")
ONE_PASS_TARGET = with_target(
    url_target(body={"n": "${input.a}${input.b}", "m": "${input}"}), "a", "b"
)


@pytest.mark.promise("K-19")
@given(a=SYNTAX, b=SYNTAX)
def test_value_is_never_expanded_again(a: str, b: str) -> None:
    """One pass: a value comes out as it went in, whatever it contains (section 4)."""
    assert planned(ONE_PASS, {"a": a, "b": b}).body == {"n": a + b, "m": f"-{b}"}
    target = planned(ONE_PASS_TARGET, {"a": a, "b": b}, env=("K",))
    assert target.body == {"n": a + b, "m": {"a": a, "b": b}}


def test_undeclared_argument_never_fills_a_slot() -> None:
    """`{{args.x}}` of no declared parameter is a slot that only a pin can fill (section 4)."""
    for extra in ({}, {"additionalProperties": True}, {"patternProperties": {"^t": {}}}):
        tool = load_tool(
            endpoint_tool(
                parameters={**parameters(), **extra},
                endpoint={"method": "GET", "path": "/x", "queryParams": {"t": "{{args.tenant}}"}},
            )
        )
        assert query_of(planned(tool, {"tenant": "evil"})) is None
        assert query_of(planned(tool, {"tenant": "evil"}, {"tenant": "t1"})) == "t=t1"


@pytest.mark.parametrize("build", [with_path, with_query], ids=["path", "query"])
def test_pinned_values_are_encoded_like_any_other(build: Callable[..., object]) -> None:
    """Pinned values get the same encoding as any other (section 5)."""
    text = "/s/{{args.a}}" if build is with_path else {"q": "{{args.a}}"}
    request = planned(build(text, "a"), {"a": "model"}, {"a": "../admin"})  # type: ignore[arg-type]

    assert "..%2Fadmin" in request.shown_url


@pytest.mark.parametrize(
    ("template", "args", "sent"),
    [
        ({"a": "{{args.a}}", "b": "x y"}, {"a": "ü&="}, "a=%C3%BC%26%3D&b=x+y"),
        ({"a": "{{args.a}}"}, {"a": [1, 2]}, "a%5B%5D=1&a%5B%5D=2"),
        ({"a": "{{args.a}}"}, {"a": {"b": {"c": True}}}, "a%5Bb%5D%5Bc%5D=true"),
        ({"a": "{{args.a}}"}, {"a": None}, "a="),
        ({"a": "{{args.a}}", "b": 0}, {}, "b=0"),
        ({}, {}, ""),
    ],
)
def test_form_is_written_as_text(template: JsonObject, args: JsonObject, sent: str) -> None:
    """`bodyFormat: form` makes `application/x-www-form-urlencoded`, brackets for nesting (3)."""
    request = planned(with_body(template, "a", bodyFormat="form"), args)

    assert request.form
    assert request.body == sent
    assert request.shown_body == sent


# --- targets ------------------------------------------------------------------------------------


@pytest.mark.promise("K-08", "K-14", "K-15", "K-17")
def test_app_target_is_built_from_its_parts() -> None:
    """Component, path, method, and references in query, headers and body (section 3)."""
    target = {
        "type": "app",
        "component": "api",
        "path": "/orders",
        "method": "PUT",
        "query": {"at": "${input.where.0.x}", "tag": "${input.tags}"},
        "headers": {"X-Note": "n: ${input.note}"},
        "body": "${input}",
    }
    args: JsonObject = {"where": [{"x": 5}], "tags": ["a", "b"], "note": "hi", "n": 1}
    request = planned(with_target(target, "where", "tags", "note", "n"), args)

    assert request.shown_url == "https://api.kit.example/base/orders?at=5&tag=a&tag=b"
    assert request.shown_headers == {"X-Note": "n: hi"}
    assert request.body == args


@pytest.mark.promise("K-20")
@pytest.mark.parametrize(
    ("target", "args"),
    [
        (url_target(body={"a": "${input.gone}"}), {}),
        (url_target(body={"a": "${input.a.__class__}"}), {"a": 1}),
        (url_target(body={"a": "${input.__proto__}"}), {"a": 1}),
        (url_target(body="${env.PATH}"), {}),
        (url_target(query={"a": "${input.a}"}), {"a": None}),
        (url_target(query={"a": "${input.a}"}), {}),
        (url_target(query={"a": "x${input.a}"}), {"a": None}),
        (url_target(headers={"X-A": "${input.a}"}), {"a": None}),
        (url_target("https://p.example/${input.a}"), {"a": None}),
        (url_target("https://p.example/x?q=${input.a}"), {}),
    ],
)
def test_missing_reference_of_a_target_sends_nothing(target: JsonObject, args: JsonObject) -> None:
    """Missing in `${…}`: the call fails and names it; no empty stand-in is sent (section 4)."""
    with pytest.raises(MissingReference, match=r"\$\{"):
        planned(with_target(target, "a"), args)


@pytest.mark.promise("K-21")
def test_doubled_dollar_keeps_a_reference_as_text() -> None:
    """`$${…}` is the literal text `${…}`, in values and in names (contract section 4)."""
    target = url_target(body={"$${k}": "$${input.a} ${input.a}"}, query={"$${q}": "$${x}"})
    request = planned(with_target(target, "a"), {"a": 1})

    assert request.body == {"${k}": "${input.a} 1"}
    assert query_of(request) == "%24%7Bq%7D=%24%7Bx%7D"


@pytest.mark.promise("K-10")
def test_input_cannot_choose_origin_or_method() -> None:
    """A `url` target's origin is literal; input fills one segment below it (section 3)."""
    tool = with_target(url_target("https://p.example/a/${input.a}"), "a")
    request = planned(tool, {"a": "/@evil.example/?#"})

    assert request.shown_url == "https://p.example/a/%2F%40evil.example%2F%3F%23"
    assert str(request.origin) == "https://p.example"
    assert request.method == "POST"


@pytest.mark.parametrize("value", ["a\r\nb", "a\x00", "ü", "\x7f"])
def test_value_that_no_header_can_carry_sends_nothing(value: str) -> None:
    """CR, LF, NUL and anything outside visible ASCII, space and tab is refused (section 4)."""
    with pytest.raises(InvalidArguments) as refused:
        planned(with_target(url_target(headers={"X-A": "n ${input.a}"}), "a"), {"a": value})

    assert "X-A" in refused.value.message
    assert value not in refused.value.message


def test_finished_header_over_8_kib_is_refused() -> None:
    """A finished URL or header value over 8 KiB is refused (contract section 3)."""
    tool = with_target(url_target(headers={"X-A": "${input.a}${input.a}"}), "a")

    assert planned(tool, {"a": "x" * 4096})
    with pytest.raises(InvalidArguments, match="8 KiB"):
        planned(tool, {"a": "x" * 4097})


def test_body_over_its_cap_is_refused() -> None:
    """Expanded size is limited before anything is sent (the threat model's limits)."""
    with pytest.raises(InvalidArguments, match="1,048,576"):
        planned(with_body({"n": "{{args.a}}"}, "a"), {"a": "x" * 2_000_000})


# --- digest ------------------------------------------------------------------------------------


def test_digest_is_the_same_every_time_and_tells_requests_apart() -> None:
    """SHA-256 of the RFC 8785 form of what is sent (contract section 5, step 5)."""
    tool = with_body({"b": "{{args.b}}", "a": "{{args.a}}"}, "a", "b")
    one, again = planned(tool, {"a": 1, "b": 2}), planned(tool, {"b": 2, "a": 1})

    assert one.digest == again.digest
    assert len(one.digest) == 64
    assert one.digest != planned(tool, {"a": 1, "b": 3}).digest
    assert one.digest != planned(tool, {"a": 1}).digest
    assert one.digest == planned(tool, {"a": 1.0, "b": 2}).digest


def test_digest_is_the_stated_one() -> None:
    """`{app, version, tool, method, url, headers, body}`, version 0 without a server (5)."""
    from hashlib import sha256

    tool = with_body({"n": "{{args.a}}"}, "a", headers={"X-B": "1"})
    stated = (
        '{"app":"acme","body":{"n":18446744073709551616},"headers":{"X-B":"1"},"method":"POST",'
        '"tool":"get_thing","url":"https://api.acme.example/v1/b","version":0}'
    )

    request = planned(tool, {"a": 18446744073709551616})
    assert request.digest == sha256(stated.encode()).hexdigest()


def test_env_values_are_in_no_frozen_request() -> None:
    """A frozen request holds their references; they are put in at the send (section 5)."""
    target = url_target(
        "https://p.example/${env.ROOM}/x",
        headers={"Authorization": "Bearer ${env.KEY}"},
        body={"k": "${env.KEY}", "n": ["v ${env.KEY}"]},
    )
    request = planned(with_target(target), {}, env=("KEY", "ROOM"))

    assert request.shown_url == "https://p.example/${env.ROOM}/x"
    assert request.shown_headers == {"Authorization": "Bearer ${env.KEY}"}
    assert request.shown_body == {"k": "${env.KEY}", "n": ["v ${env.KEY}"]}


def test_secret_arguments_are_sent_and_never_shown() -> None:
    """`writeOnly` and passwords are sent and never stored or shown (contract section 2)."""
    secret = {"type": "object", "writeOnly": True, "properties": {"pin": {"type": "string"}}}
    tool = load_tool(
        endpoint_tool(
            category="write",
            parameters=parameters(
                name="string", card=secret, pw={"type": "string", "format": "password"}
            ),
            endpoint={
                "method": "POST",
                "path": "/u/{{args.pw}}",
                "queryParams": {"p": "{{args.card.pin}}"},
                "bodyTemplate": {
                    "name": "{{args.name}}",
                    "card": "{{args.card}}",
                    "t": "pw {{args.pw}}",
                },
            },
        )
    )
    args: JsonObject = {"name": "ana", "card": {"pin": "4711x"}, "pw": "hunter2"}
    request = planned(tool, args)

    assert request.url == "https://api.acme.example/v1/u/hunter2?p=4711x"
    assert request.body == {"name": "ana", "card": {"pin": "4711x"}, "t": "pw hunter2"}
    assert request.shown_url == "https://api.acme.example/v1/u/***?p=***"
    assert request.shown_body == {"name": "ana", "card": {"pin": "***"}, "t": "pw ***"}
    assert request.digest != planned(tool, {**args, "pw": "hunter3"}).digest
