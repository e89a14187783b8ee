"""One request to a model and its answer, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from remit.agent import ModelLimits, ProviderModels
from remit.errors import ModelFailed
from remit.gateway.models import CallReturn, ToolOffer
from remit.testing import Call, ScriptedModel, Turn
from tests.agent.replaying import KEY, WEATHER, Replay, ask, model_at, stops_listening

WRONG = Call(name="weather__at", args='{"city": "Bern')


async def test_a_model_is_sent_what_it_was_given_and_nothing_else() -> None:
    """Instructions come first, tools as they were offered, and the key of the settings."""
    strict = ToolOffer(
        name="strict", description="Takes all.", schema={"type": "object"}, strict=True
    )
    with ScriptedModel(["Sunny."]) as server:
        async with model_at(server) as model:
            await ask(model, tools=[WEATHER, strict])
    sent = server.requests[0]

    assert sent.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the weather?"},
    ]
    assert sent.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather__at",
                "description": "The weather in a city.",
                "parameters": WEATHER.schema,
            },
        },
        {
            "type": "function",
            "function": {
                "name": "strict",
                "description": "Takes all.",
                "parameters": {"type": "object"},
                "strict": True,
            },
        },
    ]
    assert sent.body.keys() == {
        "messages", "model", "stream", "stream_options", "tool_choice", "tools",
    }  # fmt: skip
    assert sent.authorization == f"Bearer {KEY}"


async def test_a_conversation_goes_on_from_its_entries() -> None:
    """An answer and the results of its calls are in the next request; a failure is marked."""
    asks = Turn(
        text="I look.",
        thinking="Two of them.",
        calls=(
            Call(name="weather__at", args={"city": "Bern"}, id="a"),
            Call(name="weather__at", args={"city": "X"}, id="b"),
        ),
    )
    with ScriptedModel([asks, "Sunny."]) as server:
        async with model_at(server) as model:
            first, pieces = await ask(model)
            results = model.results_entry(
                [
                    CallReturn(id="a", name="weather__at", content="sunny"),
                    CallReturn(id="b", name="weather__at", content="no such city", failed=True),
                ]
            )
            second, _ = await ask(model, [model.user_entry("And?"), first.entry, results])

    assert ("".join(pieces), second.text) == ("I look.", "Sunny.")
    assert "Two of them." in first.entry.body_json
    assert [entry.kind for entry in (first.entry, results)] == ["response", "results"]
    said, *answers = server.requests[1].messages[2:]
    assert [call["id"] for call in said["tool_calls"]] == ["a", "b"]
    assert [(one["tool_call_id"], one["content"]) for one in answers] == [
        ("a", "sunny"),
        ("b", '{"error":"no such city"}'),
    ]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(WRONG, id="broken JSON"),
        pytest.param(Call(name="invented", args={"city": "Bern"}), id="an invented tool"),
        pytest.param(Call(name="weather__at", args="[1, 2]"), id="no object"),
        pytest.param(Call(name="weather__at", args='{"city": 1, "city": 2}'), id="a key twice"),
    ],
)
async def test_wrong_calls_are_handed_on_as_they_are(call: Call) -> None:
    """The gateway answers them; the conversation goes on with such a call in its history."""
    with ScriptedModel([Turn(calls=(call,)), "I see."]) as server:
        async with model_at(server) as model:
            first, _ = await ask(model)
            refused = CallReturn(
                id=first.calls[0].id, name=call.name, content="invalid_arguments", failed=True
            )
            history = [model.user_entry("Hello."), first.entry, model.results_entry([refused])]
            second, _ = await ask(model, history)

    assert (first.calls[0].name, first.calls[0].args_json) == (call.name, call.args_json)
    assert second.text == "I see."
    (again,) = server.requests[1].messages[2]["tool_calls"]
    assert isinstance(json.loads(again["function"]["arguments"]), dict)


async def test_a_call_without_arguments_has_an_empty_object() -> None:
    """Several servers send an empty text where a tool takes nothing."""
    with ScriptedModel([Turn(calls=(Call(name="weather__at", args=""),))]) as server:
        async with model_at(server) as model:
            response, _ = await ask(model)

    assert response.calls[0].args_json == "{}"


async def test_repeated_ids_of_calls_are_told_apart() -> None:
    """Both calls are kept, and each result finds its own (architecture, section 3)."""
    same = Turn(
        calls=(
            Call(name="weather__at", args={"city": "Bern"}, id="x"),
            Call(name="weather__at", args={"city": "Basel"}, id="x"),
            Call(name="weather__at", args={"city": "Biel"}, id="x-2"),
        )
    )
    with ScriptedModel([same, "Fine."]) as server:
        async with model_at(server) as model:
            first, _ = await ask(model)
            returns = [
                CallReturn(id=call.id, name=call.name, content=call.args_json)
                for call in first.calls
            ]
            history = [model.user_entry("Hello."), first.entry, model.results_entry(returns)]
            await ask(model, history)

    assert [call.id for call in first.calls] == ["x", "x-2", "x-2-2"]
    said, *answers = server.requests[1].messages[2:]
    assert [(one["tool_call_id"], one["content"]) for one in answers] == [
        (call["id"], json.dumps(json.loads(call["function"]["arguments"])))
        for call in said["tool_calls"]
    ]


QUICK = ModelLimits(silence_s=0.3)
TIGHT = ModelLimits(text_bytes=2048, calls=3, args_bytes=512)
BERN = Call(name="weather__at", args={"city": "Bern"})
TROUBLES = {
    "a wrong key": (Turn(status=401, code="invalid_api_key"), "model_unavailable", False, "key"),
    "a key without rights": (Turn(status=403), "model_unavailable", False, "key"),
    "no such model": (Turn(status=404, code="model_not_found"), "model_unavailable", False, "NAME"),
    "too often": (
        Turn(status=429, code="rate_limit_exceeded"), "model_unavailable", True, "HTTP 429",
    ),
    "nothing left": (
        Turn(status=429, code="insufficient_quota"), "model_unavailable", False, "quota",
    ),
    "a broken server": (Turn(status=500), "model_unavailable", True, "failed (HTTP 500"),
    "a bad gateway": (Turn(status=502), "model_unavailable", True, "failed (HTTP 502"),
    "no room": (Turn(status=503), "model_unavailable", True, "room"),
    "too long a conversation": (
        Turn(status=400, code="context_length_exceeded"), "model_refused", False, "too long",
    ),
    "a wrong request": (
        Turn(status=400, code="invalid_function_parameters"),
        "model_refused", False, "(HTTP 400, invalid_function_parameters)",
    ),
    "no answer": (Turn(fault="drop"), "model_unavailable", True, "broke off"),
    "an early end": (
        Turn(text="half of it is said here", fault="early_end", chunk_chars=4),
        "model_unavailable", True, "broke off",
    ),
    "a quiet early end": (Turn(text="half", fault="no_done"), "model_unavailable", True, "broke"),
    "broken JSON": (Turn(text="half", fault="broken_json"), "model_invalid", True, "something"),
    "silence": (Turn(fault="hang"), "model_unavailable", True, "says nothing"),
    "silence in the middle": (
        Turn(text="half of it", fault="stall", chunk_chars=2),
        "model_unavailable", True, "says nothing",
    ),
    "a refusal": (Turn(refusal="I will not."), "model_refused", False, "declines"),
    "a filter": (Turn(text="half", finish="content_filter"), "model_refused", False, "declines"),
    "no room to answer": (Turn(text="half", finish="length"), "model_invalid", False, "longer"),
    "nothing": (Turn(), "model_invalid", True, "nothing"),
    "thoughts alone": (Turn(thinking="Hm."), "model_invalid", True, "nothing"),
    "a flood": (Turn(fault="flood"), "model_invalid", False, "more than 2 KiB"),
    "a flood of thoughts": (Turn(thinking="x" * 4096), "model_invalid", False, "thinks more"),
    "too many calls": (Turn(calls=(BERN,) * 4), "model_invalid", False, "more than 3 calls"),
    "long arguments": (
        Turn(calls=(Call(name="x", args="x" * 600),)), "model_invalid", False, "arguments",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TROUBLES)
async def test_trouble_is_told_plainly(name: str) -> None:
    """A fault of a model ends the request once, with a sentence, a code, and no word of others."""
    turn, code, passing, word = TROUBLES[name]
    limits = QUICK if turn.fault in {"hang", "stall"} else TIGHT
    pieces: list[str] = []
    with ScriptedModel([turn]) as server:
        async with model_at(server, limits=limits) as model:
            with pytest.raises(ModelFailed) as failed:
                await model.respond(
                    [model.user_entry("Hello.")],
                    instructions="",
                    tools=[WEATHER],
                    on_text=pieces.append,
                )

    assert (failed.value.code, failed.value.passing) == (code, passing)
    assert word in failed.value.message
    assert failed.value.text == "".join(pieces)
    assert len(server.requests) == 1
    for secret in (KEY, "The script says so", "127.0.0.1"):
        assert secret not in failed.value.message


PAGE = b"<!doctype html>\n<title>Sign in</title>\n" * 20


@pytest.mark.parametrize(
    ("server", "code", "word"),
    [
        pytest.param(
            Replay(PAGE, content_type="text/html"), "model_unavailable", "broke", id="page"
        ),
        pytest.param(Replay(b"x" * 9000), "model_invalid", "does not end", id="endless line"),
        pytest.param(
            Replay(b": wait\n\n" * 9000), "model_invalid", "does not end", id="endless stream"
        ),
        pytest.param(Replay(b"[]", status=302), "model_unavailable", "elsewhere", id="redirect"),
        pytest.param(Replay(PAGE * 60, status=500), "model_invalid", "not end", id="long error"),
        pytest.param(Replay(b"data: [1]\n\n"), "model_invalid", "something", id="a list"),
        pytest.param(Replay(b"data: {}\n\n"), "model_unavailable", "broke off", id="nothing in it"),
    ],
)
async def test_what_is_no_model_is_told_plainly(server: Replay, code: str, word: str) -> None:
    """A page, a redirect, a stream without end: no more is read than may be."""
    limits = ModelLimits(line_bytes=4096, stream_bytes=32_768)
    with server:
        async with model_at(server, limits=limits) as model:
            with pytest.raises(ModelFailed) as failed:
                await ask(model)

    assert (failed.value.code, len(server.http)) == (code, 1)
    assert word in failed.value.message


async def test_a_server_that_is_not_there_is_told_plainly() -> None:
    """Nothing listens: nothing was sent, and it may be there a little later."""
    server = ScriptedModel([])
    with server:
        pass
    async with model_at(server) as model:
        with pytest.raises(ModelFailed, match="cannot be reached") as failed:
            await ask(model)

    assert (failed.value.code, failed.value.passing) == ("model_unavailable", True)


async def test_the_whole_request_has_a_limit() -> None:
    """A model that says a little now and then does not hold a run for ever."""
    slow = Turn(text="x" * 400, chunk_chars=1, pause_ms=20)
    with ScriptedModel([slow]) as server:
        async with model_at(server, limits=ModelLimits(total_s=0.4)) as model:
            with pytest.raises(ModelFailed, match=r"after 0\.4 seconds") as failed:
                await ask(model)

    assert failed.value.passing
    assert failed.value.text == "x" * len(failed.value.text) != ""


async def test_cancelling_drops_the_connection() -> None:
    """Nobody pays for what nobody waits for."""
    with ScriptedModel([Turn(text="half of it", fault="stall", chunk_chars=2)]) as server:
        async with model_at(server) as model:
            await stops_listening(model, server, within_s=10)


async def test_the_environment_says_neither_where_to_nor_who(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A proxy, a key and an address of the environment are not taken."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with ScriptedModel(["Sunny."]) as server:
        models = ProviderModels("openai:own", base_url=server.base_url)
        model = models.find(None)
        assert model is not None
        response, _ = await ask(model)
        await models.close()

    assert response.text == "Sunny."
    assert server.requests[0].authorization == "Bearer none"


async def test_conversations_side_by_side_do_not_mix() -> None:
    """One model, one pool of connections, many requests."""
    with ScriptedModel(lambda request: Turn(text=f"You said {request.said}.")) as server:
        async with model_at(server) as model:
            answers = await asyncio.gather(
                *(ask(model, [model.user_entry(f"number {number}")]) for number in range(40))
            )

    assert [response.text for response, _ in answers] == [
        f"You said number {number}." for number in range(40)
    ]


async def test_what_must_not_be_kept_is_taken_out_of_an_answer() -> None:
    """Other arguments stand in its entry; the calls that were read before have their own."""
    secret = Turn(
        text="I sign in.",
        thinking="Quietly.",
        calls=(
            Call(name="sign_in", args={"pin": "4711"}, id="a"),
            Call(name="weather__at", args={"city": "Bern"}, id="b"),
        ),
    )
    with ScriptedModel([secret]) as server:
        async with model_at(server) as model:
            response, _ = await ask(model)
            kept = model.masked(response.entry, {"a": '{"pin":"***"}'})

            assert model.calls_of(response.entry) == response.calls
            assert [call.args_json for call in model.calls_of(kept)] == [
                '{"pin":"***"}',
                response.calls[1].args_json,
            ]
            assert model.calls_of(model.user_entry("Hello.")) == ()
    assert "4711" not in kept.body_json
    assert "Quietly." in kept.body_json
    assert (kept.kind, kept.format) == ("response", response.entry.format)


def _sse(*deltas: Mapping[str, object]) -> bytes:
    """A stream of such deltas; JSON escapes what is not ASCII."""
    ends: list[str | None] = [None] * (len(deltas) - 1) + ["stop"]
    choices = [
        {"index": 0, "delta": delta, "finish_reason": end}
        for delta, end in zip(deltas, ends, strict=True)
    ]
    pieces = [json.dumps({"id": "x", "choices": [choice]}) for choice in choices]
    return "".join(f"data: {piece}\n\n" for piece in pieces).encode()


async def test_an_answer_that_is_whole_needs_no_end() -> None:
    """A server that says all and lets the connection stand holds nobody up."""
    with ScriptedModel([Turn(text="Sunny.", fault="linger")]) as server:
        async with model_at(server) as model:
            response, _ = await asyncio.wait_for(ask(model), 20)
            assert await asyncio.to_thread(server.http[0].dropped.wait, 10)

    assert response.text == "Sunny."
    assert response.tokens == (12, 6, 0)


async def test_a_connection_serves_one_request_after_another() -> None:
    """No new connection for each turn."""
    with ScriptedModel(lambda _: "Sunny.") as server:
        async with model_at(server) as model:
            for _ in range(3):
                await ask(model)

    assert len({request.peer for request in server.http}) == 1


async def test_halves_of_characters_are_joined() -> None:
    """A server that cuts UTF-16 sends them apart; one that stands alone is no text at all."""
    args = {"index": 0, "id": "a", "function": {"name": "say", "arguments": '{"x":"\ud83d'}}
    rest = {"index": 0, "function": {"arguments": '\ude00"}'}}
    stream = _sse(
        {"content": "One \ud83d"},
        {"content": "\ude00 and half \ud83d"},
        {"content": ", and \ud83d"},
        {"tool_calls": [args]},
        {"tool_calls": [rest]},
    )
    with Replay(stream) as server:
        async with model_at(server) as model:
            response, pieces = await ask(model)
            failed = CallReturn(id="a", name="say", content="half \udc00")
            history = [model.user_entry("\ud83d"), response.entry, model.results_entry([failed])]
            await ask(model, history)

    assert response.text == "".join(pieces) == "One 😀 and half �, and �"
    assert response.calls[0].args_json == '{"x":"😀"}'
    assert [one["content"] for one in server.asked["messages"][1:]] == [
        "�",
        "One 😀 and half �, and �",
        "half �",
    ]


async def test_numbers_beyond_64_bits_reach_the_model() -> None:
    """A schema may have them; they go out as they are."""
    big = ToolOffer(name="big", description="Big.", schema={"type": "integer", "maximum": 10**30})
    with ScriptedModel(["Fine."]) as server:
        async with model_at(server) as model:
            await ask(model, tools=[big])

    assert server.requests[0].body["tools"][0]["function"]["parameters"]["maximum"] == 10**30


async def test_a_fault_of_whoever_listens_is_no_fault_of_the_model() -> None:
    """It comes out as it is: a lost lease must not look like a broken answer."""

    class Lost(Exception):
        pass

    def lost(_: str) -> None:
        raise Lost

    with ScriptedModel(["Sunny."]) as server:
        async with model_at(server) as model:
            with pytest.raises(Lost):
                await model.respond(
                    [model.user_entry("Hello.")], instructions="", tools=[], on_text=lost
                )
