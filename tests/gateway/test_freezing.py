"""A frozen call as text and back (contract section 5, step 7: what runs is the frozen request)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from remit.calls.answers import Body
from remit.calls.arguments import settle
from remit.calls.planning import plan
from remit.calls.polling import status_request
from remit.calls.wire import CredentialUse, Sender, finish
from remit.catalog.definitions import surroundings_of
from remit.catalog.model import Definition, Tool
from remit.catalog.requests import Surroundings
from remit.catalog.scales import Category, DangerLevel
from remit.gateway.freezing import FrozenCall, Unreadable, decode, encode
from remit.values.json import JsonObject, JsonValue, same_json
from remit.values.secrets import Secret
from tests.catalog.documents import Json, endpoint_tool, load, target_tool, url_target

OPEN = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                 max_size=3),
    max_leaves=8,
)  # fmt: skip
ENDPOINT = endpoint_tool(
    "post_thing",
    category="write",
    parameters=OPEN,
    endpoint={
        "method": "POST",
        "path": "/things",
        "queryParams": {"q": {"value": "{{args.c}}", "style": "brackets"}},
        "bodyTemplate": {"a": "{{args.a}}", "list": ["{{args.b}}", 1, None], "$env": ["e", "x"]},
    },
)
TARGET = target_tool(
    url_target(
        headers={"X-Key": "Bearer ${env.KEY}"},
        query={"k": "${env.KEY}"},
        body={"a": "${input.a}", "b": ["${input.b}", "${env.KEY}", ["e", "x"]], "c": {"o": 1}},
    ),
    parameters={**OPEN, "required": ["a", "b"]},
)
ENV = {"KEY": Secret("env-canary")}


def around(found: Definition) -> Surroundings:
    """What the tools of a definition stand in."""
    return surroundings_of(found, brand="Remit")


def frozen(
    record: Json, args: JsonObject, pins: JsonObject | None = None
) -> tuple[FrozenCall, Definition]:
    """A call of one tool, frozen."""
    found = load(record, env={"collection": "main", "environment": "production"})
    tool = found.tools[0]
    arguments = settle(tool, args, pins or {}, source="model")
    request = plan(tool, found, arguments, version=3, env_names=ENV.keys())
    call = FrozenCall(request=request, tool=tool, arguments=arguments, traceparent="00-1-2-01")
    return call, found


def wire(call: FrozenCall, tool: Tool) -> object:
    """Every byte that would go out."""
    sender = Sender(call_id="call_1", traceparent=call.traceparent, version="1")
    found = finish(call.request, tool, credential=CredentialUse(), env=ENV, sender=sender)
    return found.method, found.url, found.headers, found.body


@given(a=JSON, b=JSON, c=JSON, pin=JSON)
@pytest.mark.parametrize("record", [ENDPOINT, TARGET], ids=["endpoint", "target"])
def test_every_call_comes_back_as_it_was(
    record: Json, a: JsonValue, b: JsonValue, c: JsonValue, pin: JsonValue
) -> None:
    """Lossless: the same bytes go out, the same is shown, the digest is the same (5, 7)."""
    args: JsonObject = {"a": a, "b": b, **({} if record is TARGET else {"c": {"deep": "x"}})}
    call, found = frozen(record, args, {"c": {"p": "y"}, "extra": pin} if c is None else None)
    call = structs.replace(call, connection_id="conn_1", account="ana", poll=None)
    text = encode(call)
    back = decode(text, around(found))

    assert "env-canary" not in text
    assert encode(back) == text
    assert back.request == call.request
    assert back.request.shown == call.request.shown
    assert same_json(back.arguments.values, call.arguments.values)
    assert same_json(back.arguments.undeclared_pins, call.arguments.undeclared_pins)
    assert back.arguments.origins == call.arguments.origins
    assert (back.connection_id, back.account) == ("conn_1", "ana")
    assert back.tool.record == call.tool.record
    assert wire(back, back.tool) == wire(call, call.tool)


def test_poll_and_secret_arguments_come_back() -> None:
    """The request that asks for the job, and what of a secret may be shown (sections 2, 6)."""
    record = target_tool(
        url_target(headers={"X-Key": "${env.KEY}"}, body={"pw": "${input.pw}"}),
        parameters={"type": "object", "properties": {"pw": {"writeOnly": True}}},
        polling={
            "statusUrl": "{{response.url}}",
            "statusField": "s",
            "completeValue": "done",
            "pollIntervalMs": 100,
            "maxPolls": 2,
        },
    )
    call, found = frozen(record, {"pw": "hunter2"})
    body = Body(kind="json", value={"url": "/jobs/1?x=1"})
    poll = status_request(call.tool, found, call.arguments, body, call.request, env_names=ENV)
    call = structs.replace(call, poll=poll)
    back = decode(encode(call), around(found))

    assert back.poll == poll
    assert back.request == call.request
    assert back.request.shown.body == {"pw": "***"}
    assert back.request.body == {"pw": "hunter2"}


def test_judgement_of_a_tightened_tool_comes_back() -> None:
    """A refresh may have tightened the tool, which its record does not say (section 7)."""
    call, found = frozen(ENDPOINT, {"a": 1, "b": 2})
    tightened = replace(
        call.tool,
        category=Category.ACTION,
        danger_level=DangerLevel.DESTRUCTIVE,
        requires_approval=True,
    )
    back = decode(encode(structs.replace(call, tool=tightened)), around(found))

    judged = (back.tool.category, back.tool.danger_level, back.tool.requires_approval)
    assert judged == (Category.ACTION, DangerLevel.DESTRUCTIVE, True)


def test_call_that_is_being_sent_finds_its_tool_in_the_catalog() -> None:
    """Taken up at once, if at all; a tool that is gone is not guessed (section 5)."""
    call, found = frozen(ENDPOINT, {"a": 1, "b": 2})
    text = encode(call, whole=False)

    assert len(text) < len(encode(call))
    assert decode(text, around(found), call.tool) == call
    for broken in ("5", "[]", '["a"]', "[[1,[]],false]"):
        with pytest.raises(Unreadable, match="broken"):
            decode(text.replace('"secrets":null', f'"secrets":{broken}'), around(found), call.tool)
    with pytest.raises(Unreadable, match="not in the catalog"):
        decode(text, around(found))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"form":2}', '{"form":1}', '{"form":1,"request":{}}'],
)
def test_broken_text_is_unreadable_and_no_crash(text: str) -> None:
    """What another release or a broken disk left is refused, not guessed."""
    _, found = frozen(ENDPOINT, {})
    with pytest.raises(Unreadable):
        decode(text, around(found))


def test_tool_that_no_longer_loads_is_unreadable() -> None:
    """The version in force may name the credential's header, which the tool may not set."""
    record = endpoint_tool(endpoint={"method": "GET", "path": "/x", "headers": {"X-Mine": "1"}})
    call, _ = frozen(record, {})
    found = load(auth={"type": "apiKey", "in": "header", "name": "X-Mine"})
    with pytest.raises(Unreadable, match="in force"):
        decode(encode(call), around(found))
