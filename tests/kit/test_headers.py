"""What the kit reads of headers: whom a call serves and where it comes from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.kit import Identity, Refusal, ToolContext, ToolContextError, is_thread, tool_context
from remit.kit import identity as identity_of
from tests.kit.tokens import AUDIENCE, ISSUER, JWKS, NOW, claims, made

GOOD = made()
THREAD = '{"source":"thread","threadId":"ses_1"}'


def in_case(name: str) -> st.SearchStrategy[str]:
    """A header's name, each letter in either case."""
    return st.tuples(*(st.sampled_from((c.lower(), c.upper())) for c in name)).map("".join)


def check(headers: dict[str, str]) -> Identity | Refusal:
    """At the time of the tokens."""
    return identity_of(headers, keys=JWKS, issuer=ISSUER, audience=AUDIENCE, now_s=NOW)


@given(in_case("authorization"), in_case("bearer"), st.integers(1, 3))
def test_the_token_is_found_in_any_letter_case(name: str, scheme: str, blanks: int) -> None:
    """Header names and schemes have no case (RFC 9110), and servers differ in which they give."""
    found = check({"Accept": "*/*", name: f"{scheme}{' ' * blanks}{GOOD}"})

    assert isinstance(found, Identity), found
    assert found.user == "user_1"


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        pytest.param({}, "missing", id="none"),
        pytest.param({"X-Authorization": f"Bearer {GOOD}"}, "missing", id="another header"),
        pytest.param({"Authorization": ""}, "malformed", id="empty"),
        pytest.param({"Authorization": GOOD}, "malformed", id="no scheme"),
        pytest.param({"Authorization": "Bearer"}, "malformed", id="no token"),
        pytest.param({"Authorization": f"Basic {GOOD}"}, "malformed", id="another scheme"),
        pytest.param({"Authorization": f"Bearer\t{GOOD}"}, "malformed", id="a tab"),
        pytest.param({"Authorization": f"Bearer {GOOD} "}, "malformed", id="a blank behind"),
        pytest.param({"Authorization": f"Bearer {GOOD},"}, "malformed", id="a list"),
        pytest.param(
            {"Authorization": f"Bearer {GOOD}", "authorization": f"Bearer {GOOD}"},
            "malformed",
            id="two",
        ),
        pytest.param(
            {"Authorization": f"Bearer {claims(aud='app_b/api')}"}, "wrong_audience", id="not mine"
        ),
    ],
)
def test_no_one_good_token_is_a_refusal(headers: dict[str, str], reason: str) -> None:
    """With a reason for the log, and nothing of the token."""
    found = check(headers)

    assert isinstance(found, Refusal)
    assert found.reason == reason
    assert GOOD not in found.message


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40)), st.text(max_size=40))
def test_any_headers_are_read_without_an_exception(headers: dict[str, str], value: str) -> None:
    """A stranger writes them."""
    assert isinstance(check(headers | {"Authorization": value}), Refusal)


@pytest.mark.promise("K-25")
@given(
    st.text(alphabet="abcXYZ019-", min_size=1, max_size=12).flatmap(
        lambda brand: in_case(f"{brand}-Tool-Context")
    ),
    st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1),
)
def test_the_context_is_read_under_any_brand(name: str, thread_id: str) -> None:
    """A thread with its id, or the API; in any letter case."""
    said = json.dumps({"source": "thread", "threadId": thread_id})

    in_thread, from_api = tool_context({name: said}), tool_context({name: '{"source":"api"}'})

    assert in_thread == ToolContext(source="thread", thread_id=thread_id)
    assert is_thread(in_thread)
    assert from_api == ToolContext(source="api")
    assert not is_thread(from_api)


def test_what_a_newer_server_adds_is_passed_over() -> None:
    """Readers ignore keys they do not know."""
    newer = '{"source":"api","threadId":"ses_1","more":[1]}'

    assert tool_context({"Kazzle-Tool-Context": newer}) == ToolContext(source="api")


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"-Tool-Context": THREAD}, id="no brand"),
        pytest.param({"Remit-Tool-Contexts": THREAD}, id="another header"),
        pytest.param({"Remit-Tool-Context": THREAD, "A-Tool-Context": THREAD}, id="two brands"),
        pytest.param({"Remit-Tool-Context": THREAD, "remit-tool-context": THREAD}, id="twice"),
        *(
            pytest.param({"Remit-Tool-Context": value}, id=name)
            for name, value in {
                "empty": "",
                "no JSON": "thread",
                "a list": "[]",
                "null": "null",
                "a source twice": '{"source":"api","source":"thread","threadId":"t"}',
                "no source": '{"threadId":"t"}',
                "another source": '{"source":"mcp"}',
                "a source in another case": '{"source":"API"}',
                "no thread": '{"source":"thread"}',
                "an empty thread": '{"source":"thread","threadId":""}',
                "a thread that is a number": '{"source":"thread","threadId":1}',
                "beyond Latin-1": '{"source":"thread","threadId":"☕"}',
                "no UTF-8": '{"source":"thread","threadId":"\xff"}',
                "deep": "[" * 4_000,
                "long": f'{{"source":"api","x":"{"x" * 5_000}"}}',
            }.items()
        ),
    ],
)
def test_a_context_that_is_none_is_an_error(headers: dict[str, str]) -> None:
    """Never taken for one of the two: a card to the API would be lost."""
    with pytest.raises(ToolContextError):
        tool_context(headers)


def test_frameworks_headers_are_headers() -> None:
    """Each framework has its own kind; a name that stands twice in them is seen."""
    from starlette.datastructures import Headers as StarletteHeaders
    from werkzeug.datastructures import Headers as WerkzeugHeaders

    name, value = "Authorization", f"Bearer {GOOD}"
    raw = [(name.lower().encode(), value.encode())]
    once: list[Any] = [StarletteHeaders(raw=raw), WerkzeugHeaders([(name, value)])]
    twice: list[Any] = [StarletteHeaders(raw=raw * 2), WerkzeugHeaders([(name, value)] * 2)]

    assert all(isinstance(check(one), Identity) for one in once)
    assert all(isinstance(check(one), Refusal) for one in twice)
