"""A scripted app answers what it was given, and remembers what it was asked."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from remit.testing import AppAnswer, ScriptedUpstream


def test_answers_come_in_order_and_the_last_one_stays() -> None:
    """JSON, text and bytes, with status and headers; every request is kept."""
    answers = [
        AppAnswer(status=201, body={"id": 1}, headers={"etag": '"1"'}),
        AppAnswer(body="plain"),
        AppAnswer(status=404, body=b"\x00", content_type="image/png"),
    ]
    with ScriptedUpstream(answers) as app, httpx.Client(trust_env=False) as client:
        made = client.post(f"{app.origin}/things?x=1", json={"a": 1}, headers={"x-who": "ana"})
        said = client.get(f"{app.origin}/text")
        gone = [client.get(f"{app.origin}/image") for _ in range(2)]

    assert (made.status_code, made.json(), made.headers["etag"]) == (201, {"id": 1}, '"1"')
    assert (said.text, said.headers["content-type"]) == ("plain", "text/plain; charset=utf-8")
    assert [(one.status_code, one.content) for one in gone] == [(404, b"\x00")] * 2
    first = app.http[0]
    assert (first.method, first.target, first.path) == ("POST", "/things?x=1", "/things")
    assert (first.json, first.headers["x-who"]) == ({"a": 1}, "ana")
    assert len(app.http) == 4


def test_a_function_answers_each_request() -> None:
    """Also a body that came in chunks."""
    with ScriptedUpstream(lambda asked: AppAnswer(body={"you": asked.body.decode()})) as app:
        answer = httpx.post(app.origin, content=iter([b"one ", b"two"]), trust_env=False)

    assert answer.json() == {"you": "one two"}


@pytest.mark.parametrize("fault", ["drop", "early_end"])
def test_a_fault_ends_the_connection(fault: str) -> None:
    """Without an answer, or in the middle of one."""
    answer = AppAnswer(body={"a": "long text"}, fault=fault)  # type: ignore[arg-type]
    with ScriptedUpstream([answer]) as app, pytest.raises(httpx.RemoteProtocolError):
        httpx.get(app.origin, trust_env=False)


def test_what_a_script_raises_fails_the_test(capsys: pytest.CaptureFixture[str]) -> None:
    """An assertion in a function is the test's own, printed at once; the answer breaks off."""

    def wrong(_: object) -> AppAnswer:
        msg = "this was not expected"
        raise AssertionError(msg)

    broken, raised = pytest.raises(httpx.RemoteProtocolError), pytest.raises(AssertionError)
    with raised as failed, ScriptedUpstream(wrong) as app, broken:
        httpx.get(app.origin, trust_env=False)
        assert "AssertionError: this was not expected" in capsys.readouterr().err

    assert failed.value.args == ("this was not expected",)


async def test_a_client_that_goes_away_is_noticed() -> None:
    """A test can say that a request in flight was dropped."""
    async with ScriptedUpstream([AppAnswer(fault="hang")]) as app:
        async with httpx.AsyncClient(trust_env=False) as client:
            asking = asyncio.create_task(client.get(app.origin))
            await asyncio.to_thread(app.wait_for, 1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert await asyncio.to_thread(app.http[0].dropped.wait, 10)


def test_waiting_for_what_does_not_come_says_how_many_came() -> None:
    """A test that would hang tells what is missing."""
    with ScriptedUpstream([]) as app, pytest.raises(TimeoutError, match="0 requests came, 1"):
        app.wait_for(1, timeout_s=0.05)


def test_a_port_that_is_taken_is_told() -> None:
    """By the system's own error, in the test's own thread."""
    with ScriptedUpstream([]) as app, pytest.raises(OSError, match="address already in use"):
        ScriptedUpstream([], port=app.port).start()
