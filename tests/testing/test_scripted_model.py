"""A scripted model answers as a real one does on the wire, and as its script says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from remit.testing import BadScript, Call, ScriptedModel, Turn
from remit.testing.script import read_script

Json = dict[str, Any]
USER = {"role": "user", "content": "Hello."}


def _ask(model: ScriptedModel, *messages: Mapping[str, object], **more: object) -> httpx.Response:
    body = {"model": "any", "messages": [*messages] or [USER], **more}
    return httpx.post(f"{model.base_url}/chat/completions", json=body, trust_env=False)


def _pieces(answer: httpx.Response) -> list[Json]:
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


def test_a_whole_answer_and_a_stream_say_the_same() -> None:
    """Text, thinking, calls, the reason and the usage, in the format of chat completions."""
    turn = Turn(
        text="I look at both.",
        thinking="Two.",
        calls=(Call(name="look", args={"at": "Zürich"}), Call(name="look", args="{", id="x")),
        chunk_chars=3,
        tokens=(7, 5, 4),
    )
    with ScriptedModel([turn]) as model:
        whole = _ask(model).json()
        answer = _ask(model, stream=True, stream_options={"include_usage": True})
    *said, usage = _pieces(answer)
    deltas = [piece["choices"][0]["delta"] for piece in said]
    message = whole["choices"][0]["message"]

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "".join(delta.get("content", "") for delta in deltas) == message["content"] == turn.text
    thought = "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert thought == message["reasoning_content"] == "Two."
    assert message["tool_calls"] == [
        {
            "id": "call_0_0",
            "type": "function",
            "function": {"name": "look", "arguments": json.dumps({"at": "Zürich"})},
        },
        {"id": "x", "type": "function", "function": {"name": "look", "arguments": "{"}},
    ]
    streamed: dict[int, Json] = {}
    for delta in deltas:
        for call in delta.get("tool_calls", ()):
            of = streamed.setdefault(call["index"], {**call, "arguments": ""})
            of["arguments"] += call["function"]["arguments"]
    assert [(one["id"], one["arguments"]) for one in streamed.values()] == [
        (one["id"], one["function"]["arguments"]) for one in message["tool_calls"]
    ]
    assert said[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert usage["choices"] == []
    assert usage["usage"] == whole["usage"]
    assert usage["usage"]["prompt_tokens_details"] == {"cached_tokens": 4}


def test_the_turn_is_read_from_the_request() -> None:
    """A request that is made again is answered alike; conversations do not disturb each other."""
    said = {"role": "assistant", "content": "One."}
    with ScriptedModel(["One.", "Two."]) as model:
        texts = [
            _ask(model, *messages).json()["choices"][0]["message"]["content"]
            for messages in ([USER], [USER], [USER, said, USER], [USER], [USER, said] * 2)
        ]

    assert texts == ["One.", "One.", "Two.", "One.", "The script has no more turns."]
    assert [(one.turn, one.attempt) for one in model.requests] == [
        (0, 1), (0, 2), (1, 1), (0, 3), (2, 1),
    ]  # fmt: skip


def test_scripts_by_conversation_and_by_function() -> None:
    """The first message tells them apart; a function sees what was said and what came back."""
    parts = [{"type": "text", "text": "The weather"}, {"type": "text", "text": " in Bern?"}]
    by_name = {"weather": ["Sunny."], "*": ["What?"]}
    with ScriptedModel(by_name) as model:
        assert "Sunny." in _ask(model, {"role": "user", "content": parts}).text
        assert "What?" in _ask(model).text
    with ScriptedModel({"weather": ["Sunny."]}) as model:
        refused = _ask(model)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_script")

    results = [{"role": "tool", "tool_call_id": str(n), "content": f"result {n}"} for n in (1, 2)]
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    with ScriptedModel(lambda asked: f"{asked.said} {asked.results} {asked.tools}") as model:
        answer = _ask(model, USER, *results, tools=[tool])
    assert answer.json()["choices"][0]["message"]["content"] == (
        "Hello. ['result 1', 'result 2'] ['look']"
    )


def test_a_call_may_have_its_tools_own_name() -> None:
    """Which word stands before it when it is offered is no matter of a script."""
    names = ["notes_add", "notes_list", "tasks_list", "exact"]
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    asked = [Call(name=name) for name in ("add", "list", "exact", "gone")]
    with ScriptedModel([Turn(calls=tuple(asked))]) as model:
        calls = _ask(model, tools=tools).json()["choices"][0]["message"]["tool_calls"]

    assert [call["function"]["name"] for call in calls] == ["notes_add", "list", "exact", "gone"]


def test_a_fault_can_pass() -> None:
    """After so many requests the turn is answered well."""
    with ScriptedModel([Turn(text="Here.", status=503, times=2)]) as model:
        statuses = [_ask(model).status_code for _ in range(4)]

    assert statuses == [503, 503, 200, 200]


@pytest.mark.parametrize("fault", ["drop", "early_end", "stall"])
def test_a_fault_cuts_the_answer(fault: Any) -> None:  # noqa: ANN401 - one of FaultKind
    """What a client sees is a connection that ends, or that says nothing."""
    broken = (httpx.RemoteProtocolError, httpx.ReadTimeout)
    with ScriptedModel([Turn(text="x" * 64, fault=fault)]) as model, pytest.raises(broken):
        httpx.post(
            f"{model.base_url}/chat/completions",
            json={"model": "any", "messages": [USER], "stream": True},
            timeout=0.5,
            trust_env=False,
        )


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "no JSON"),
        ("3", "list of turns"),
        ('[{"txt": "x"}]', "no key 'txt'"),
        ('[{"fault": "explode"}]', "no fault 'explode'"),
        ('[{"calls": [{"tool": "x"}]}]', "A call reads"),
        ('{"*": [{"delay": 3}]}', "no key 'delay'"),
    ],
    ids=["broken", "a number", "a key", "a fault", "a call", "in a conversation"],
)
def test_a_wrong_script_is_told(text: str, word: str) -> None:
    """Before anything is served."""
    with pytest.raises(BadScript, match=word):
        read_script(text)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (lambda _: None, "A turn is a text, a Turn or an object with its keys; this is None."),
        (lambda _: {"txt": "x"}, "A turn has no key 'txt'."),
        ({"weather": ["Sunny."]}, "no conversation that begins with 'Hello.'"),
    ],
    ids=["nothing", "a key", "a conversation"],
)
def test_a_wrong_turn_is_refused_and_printed(
    script: Any,  # noqa: ANN401 -- wrong ones
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever wrote the script sees why, wherever the model's own words are kept from."""
    with ScriptedModel(script) as model:
        answer = _ask(model)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert words in capsys.readouterr().err


def test_a_fault_of_a_function_goes_wrong_as_often_as_it_says() -> None:
    """As one in a list does: the request that is made again is answered."""
    with ScriptedModel(lambda _: Turn(text="Well.", status=503, times=1)) as model:
        assert [_ask(model).status_code for _ in range(2)] == [503, 200]


def test_other_paths_are_not_found() -> None:
    """A wrong address shows itself; the list of models is there for who looks first."""
    with ScriptedModel([]) as model:
        assert httpx.get(f"{model.base_url}/models", trust_env=False).status_code == 200
        assert httpx.get(f"{model.origin}/v2/chat", trust_env=False).status_code == 404


def test_it_serves_as_a_program(tmp_path: Path) -> None:
    """It prints its address, answers, and ends when it is asked to."""
    script = tmp_path / "script.json"
    script.write_text('[{"text": "Hello.", "calls": [{"name": "x"}], "chunkChars": 2}]', "utf-8")
    command = [sys.executable, "-m", "remit.testing.scripted_model", str(script)]
    environ = {**os.environ, "PYTHONWARNINGS": "error"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            answer = httpx.post(
                f"{url}/chat/completions",
                json={"model": "any", "messages": [USER]},
                trust_env=False,
            )
            assert answer.json()["choices"][0]["finish_reason"] == "tool_calls"
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_a_program_without_a_script_says_so(tmp_path: Path) -> None:
    """One line, and no traceback."""
    script = tmp_path / "script.json"
    script.write_text('[{"say": "x"}]', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "remit.testing.scripted_model", str(script)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no key 'say'" in done.stderr
