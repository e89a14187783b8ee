"""Waiting for a job, as decisions (contract section 6)."""

from __future__ import annotations

import pytest

from remit.calls.answers import Body
from remit.calls.planning import FrozenRequest
from remit.calls.polling import judge, refuse_bad_status, status_request
from remit.errors import (
    CallError,
    EgressRefused,
    InvalidArguments,
    MissingReference,
    ResponseInvalid,
)
from remit.values.json import JsonObject, JsonValue
from tests.calls.making import planned, settled
from tests.catalog.documents import (
    Json,
    endpoint_tool,
    load_tool,
    parameters,
    target_tool,
    url_target,
)

POLLING: Json = {
    "statusField": "job.status",
    "completeValue": ["done", 1],
    "failedValue": ["failed", False, None],
    "pollIntervalMs": 100,
    "maxPolls": 3,
}


def polled(status_url: str, **changes: object) -> Json:
    """A polled tool."""
    schema = parameters(scene={}, page={})
    polling = {**POLLING, "statusUrl": status_url}
    return endpoint_tool(parameters=schema, polling=polling, **changes)


def asked(
    record: Json,
    first: JsonValue,
    args: JsonObject | None = None,
    *,
    env: tuple[str, ...] = (),
) -> FrozenRequest:
    """The status request after a first answer."""
    tool, definition = load_tool(record)
    request = planned((tool, definition), args or {}, env=env)
    arguments = settled(tool, args or {})
    refuse_bad_status(tool, definition, arguments)
    body = Body(kind="text" if isinstance(first, str) else "json", value=first)
    return status_request(tool, definition, arguments, body, request, env_names=env)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("done", "complete"),
        (1, "complete"),
        (1.0, "complete"),
        ("failed", "failed"),
        (False, "failed"),
        (None, "failed"),
        (0, "running"),
        (True, "running"),
        ("Done", "running"),
        ("", "running"),
        (["done"], "running"),
        ({"done": 1}, "running"),
    ],
)
def test_only_the_declared_values_end_a_job(status: JsonValue, state: str) -> None:
    """Compared by JSON equality; any other value means still running (contract section 6)."""
    tool, _ = load_tool(polled("/s"))
    assert tool.polling is not None

    assert judge(tool.polling, Body(kind="json", value={"job": {"status": status}})).state == state


@pytest.mark.parametrize(
    "body",
    [
        Body(kind="json", value={}),
        Body(kind="json", value=["done"]),
        Body(kind="json", value=None),
        Body(kind="text", value="done"),
        Body(kind="empty", value=None),
    ],
)
def test_no_status_means_still_running(body: Body) -> None:
    """Any other value, or none, means still running (contract section 6)."""
    tool, _ = load_tool(polled("/s"))
    assert tool.polling is not None

    assert judge(tool.polling, body).state == "running"


@pytest.mark.parametrize(
    ("status_url", "first", "url"),
    [
        ("/jobs/{{response.id}}", {"id": 7}, "https://api.acme.example/v1/jobs/7"),
        ("/jobs/{{response.id}}", {"id": "a/../b"}, "https://api.acme.example/v1/jobs/a%2F..%2Fb"),
        ("/j?of={{response.id}}&p={{args.page}}", {"id": "x y"},
         "https://api.acme.example/v1/j?of=x%20y&p=2"),
        ("https://api.acme.example/other/{{response.a.0}}", {"a": [5]},
         "https://api.acme.example/other/5"),
        ("{{response.url}}", {"url": "https://api.acme.example/s/1?x=2"},
         "https://api.acme.example/s/1?x=2"),
        ("{{response.url}}", {"url": "HTTPS://API.acme.example:443/s"},
         "https://api.acme.example/s"),
        ("{{response.url}}", {"url": "/s/1"}, "https://api.acme.example/s/1"),
    ],
)  # fmt: skip
def test_status_url_is_on_the_origin_of_the_call(
    status_url: str, first: JsonValue, url: str
) -> None:
    """A path below `baseUrl`, an absolute URL, or the address the answer gives (section 6)."""
    request = asked(polled(status_url), first, {"page": 2})

    assert request.url == url
    assert request.method == "GET"
    assert not request.has_body


@pytest.mark.parametrize(
    ("first", "error"),
    [
        ({"url": "https://evil.example/j"}, EgressRefused),
        ({"url": "http://api.acme.example/j"}, EgressRefused),
        ({"url": "https://api.acme.example:8443/j"}, EgressRefused),
        ({"url": "//evil.example/j"}, ResponseInvalid),
        ({"url": "/\\evil.example/j"}, ResponseInvalid),
        ({"url": "https://api.acme.example@evil.example/j"}, ResponseInvalid),
        ({"url": "javascript:x"}, ResponseInvalid),
        ({"url": 5}, ResponseInvalid),
        ({"url": None}, ResponseInvalid),
        ({}, ResponseInvalid),
        ("text", ResponseInvalid),
    ],
)
def test_answer_cannot_choose_where_the_credential_goes(
    first: JsonValue, error: type[CallError]
) -> None:
    """The origin of a given address is checked when it is polled (section 6; CWE-918)."""
    with pytest.raises(error) as refused:
        asked(polled("{{response.url}}"), first)

    assert refused.value.sent


@pytest.mark.parametrize("first", [{}, {"id": None}, {"id": ""}, {"id": ".."}, {"id": {}}, "text"])
def test_answer_without_the_jobs_id_is_the_apps_fault(first: JsonValue) -> None:
    """After the first answer nothing says "was not called": the job may be on its way (5)."""
    with pytest.raises(ResponseInvalid) as error:
        asked(polled("/jobs/{{response.id}}"), first)

    assert "response.id" in error.value.message
    assert "was not called" not in error.value.message
    assert error.value.sent


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, MissingReference),
        ({"scene": None}, InvalidArguments),
        ({"scene": [1]}, InvalidArguments),
        ({"scene": ""}, InvalidArguments),
        ({"scene": ".."}, InvalidArguments),
    ],
)
def test_argument_of_the_status_url_is_judged_before_anything_is_sent(
    args: JsonObject, error: type[CallError]
) -> None:
    """A job that cannot be asked for is not started (section 4: nothing is sent)."""
    with pytest.raises(error) as refused:
        asked(polled("/jobs/{{args.scene}}/{{response.id}}"), {"id": 1}, args)

    assert not refused.value.sent
    assert "was not called" in refused.value.message


def test_undeclared_argument_never_fills_a_slot_of_the_status_url() -> None:
    """A slot of no declared parameter is a pin's alone, here too (contract section 4)."""
    record = polled("/jobs/{{args.tenant}}")
    record["parameters"] = {**record["parameters"], "additionalProperties": True}

    with pytest.raises(MissingReference):
        asked(record, {}, {"tenant": "evil"})


def test_poll_carries_the_same_credential() -> None:
    """On a `url` target the credential is the author's header; a poll has it too (6)."""
    headers = {"Authorization": "Bearer ${env.K}", "X-V": "2", "Content-Type": "application/json"}
    record = target_tool(
        url_target("https://p.example/r", headers=headers, body={}),
        polling={**POLLING, "statusUrl": "/j/{{response.id}}"},
    )
    request = asked(record, {"id": 1}, env=("K",))

    assert request.shown_headers == {"Authorization": "Bearer ${env.K}", "X-V": "2"}
    assert request.url == "https://p.example/j/1"
