"""What is read from recorded streams of several servers."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from remit.errors import ModelFailed
from remit.gateway.models import CallReturn
from tests.agent.replaying import ask, model_at, recorded

CLAUDE = "anthropic:claude-sonnet-5"
GEMINI = "google:gemini-3-flash"
BOTH = [("weather__at", {"city": "Zürich"}), ("weather__at", {"city": "Bern"})]


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


with_claude = pytest.mark.skipif(
    not _there("anthropic"), reason="remit[anthropic] is not installed"
)
with_gemini = pytest.mark.skipif(
    not _there("google.genai"), reason="remit[google] is not installed"
)


@pytest.mark.parametrize(
    ("file", "text", "calls", "tokens"),
    [
        ("openai.sse", "I look at both: Zürich ☀ first.", BOTH, (412, 58, 256)),
        ("ollama.sse", "", [BOTH[1]], (0, 0, 0)),
        ("no-reason.sse", "Sunny in Bern.", [], (0, 0, 0)),
        ("vllm.sse", "Sunny in Bern.", [], (31, 5, 0)),
        ("deepseek.sse", "Sunny in Bern.", [], (90, 40, 64)),
        ("same-index.sse", "", [BOTH[1], ("weather__at", {"city": "Basel"})], (0, 0, 0)),
    ],
)
async def test_streams_of_chat_completions_are_read(
    file: str, text: str, calls: list[tuple[str, object]], tokens: tuple[int, int, int]
) -> None:
    """Text, calls and tokens come out whole, however the stream is cut and whoever sends it."""
    with recorded(file) as server:
        async with model_at(server) as model:
            response, pieces = await ask(model)

    assert (response.text, "".join(pieces)) == (text, text)
    assert [(call.name, json.loads(call.args_json)) for call in response.calls] == calls
    assert response.tokens == tokens


@with_claude
async def test_a_stream_of_anthropic_is_read() -> None:
    """Thinking is kept for the next request, with its signature, and is not shown."""
    with recorded("anthropic.sse") as server:
        async with model_at(server, CLAUDE) as model:
            response, pieces = await ask(model)
            results = model.results_entry(
                [
                    CallReturn(id="toolu_01", name="weather__at", content="snow"),
                    CallReturn(
                        id="toolu_02", name="weather__at", content="no such city", failed=True
                    ),
                ]
            )
            await ask(model, [model.user_entry("Hello."), response.entry, results])
            asked = server.asked

    assert "".join(pieces) == response.text == "I look at both."
    assert [(call.id, json.loads(call.args_json)) for call in response.calls] == [
        ("toolu_01", {"city": "Zürich"}),
        ("toolu_02", {"city": "Bern"}),
    ]
    assert response.tokens == (230, 89, 200)
    assert asked["messages"][1]["content"][0]["signature"].startswith("EqQB")
    assert [part.get("is_error", False) for part in asked["messages"][2]["content"]] == [
        False,
        True,
    ]
    assert "strict" not in asked["tools"][0]


@with_gemini
async def test_a_stream_of_gemini_is_read() -> None:
    """Calls that came without ids get some, and thoughts are kept and not shown."""
    with recorded("gemini.sse") as server:
        async with model_at(server, GEMINI) as model:
            response, pieces = await ask(model)
            results = model.results_entry(
                [
                    CallReturn(id=call.id, name=call.name, content="snow", failed=failed)
                    for call, failed in zip(response.calls, (False, True), strict=True)
                ]
            )
            await ask(model, [model.user_entry("Hello."), response.entry, results])
            asked = server.asked

    assert "".join(pieces) == response.text == "I look at both."
    assert [(call.name, json.loads(call.args_json)) for call in response.calls] == BOTH
    assert len({call.id for call in response.calls}) == 2
    answers = [part["functionResponse"]["response"] for part in asked["contents"][2]["parts"]]
    assert [list(answer) for answer in answers] == [["return_value"], ["error"]]


@pytest.mark.parametrize(
    ("file", "name", "code", "passing", "text"),
    [
        ("error-in-stream.sse", "openai:qwen/qwen3", "model_unavailable", True, "Sunny"),
        pytest.param(
            "anthropic-early-end.sse",
            CLAUDE,
            "model_unavailable",
            True,
            "I look at both.",
            marks=with_claude,
        ),
        pytest.param(
            "anthropic-overloaded.sse", CLAUDE, "model_unavailable", True, "", marks=with_claude
        ),
        pytest.param(
            "gemini-early-end.sse",
            GEMINI,
            "model_unavailable",
            True,
            "I look at both.",
            marks=with_gemini,
        ),
        pytest.param("gemini-blocked.sse", GEMINI, "model_refused", False, "", marks=with_gemini),
    ],
)
async def test_streams_that_break_off_are_failures(
    file: str, name: str, code: str, passing: bool, text: str
) -> None:
    """What had been said is told, and nothing of it passes for an answer."""
    with recorded(file) as server, pytest.raises(ModelFailed) as failed:
        async with model_at(server, name) as model:
            await ask(model)

    assert (failed.value.code, failed.value.passing, failed.value.text) == (code, passing, text)
    assert "secret" not in failed.value.message
