"""`polling` and `confirm`, as far as they can be judged at load (contract sections 5 and 6)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.catalog.references import Reference
from tests.catalog.documents import endpoint_tool, load_tool, mistakes, target_tool, url_target

Json = dict[str, Any]

POLLING: Json = {
    "statusUrl": "/jobs/{{response.id}}",
    "statusField": "job.status",
    "completeValue": "done",
    "failedValue": ["failed", "cancelled"],
    "resultMapping": {"url": "job.url"},
    "pollIntervalMs": 100,
    "maxPolls": 1,
}


def polled(**changes: object) -> Json:
    """A polled tool; a change to None takes the key out."""
    record = {k: v for k, v in {**POLLING, **changes}.items() if v is not None}
    return endpoint_tool("render", polling=record)


@pytest.mark.promise("T-39")
def test_seven_polling_fields_are_read() -> None:
    """statusUrl, statusField, both values, mapping, interval, budget (contract section 6)."""
    tool, _ = load_tool(polled())

    polling = tool.polling
    assert polling is not None
    assert polling.relative
    assert polling.status_field == ("job", "status")
    assert polling.complete_values == ("done",)
    assert polling.failed_values == ("failed", "cancelled")
    assert polling.result_mapping is not None
    assert (polling.poll_interval_ms, polling.max_polls) == (100, 1)


def test_whole_reference_is_an_address_given_later() -> None:
    """Exactly one `{{response.…}}` is taken as a URL when it is polled (contract section 6)."""
    tool, _ = load_tool(polled(statusUrl="{{ response.links.status }}"))

    assert tool.polling is not None
    assert tool.polling.status == Reference(root="response", path=("links", "status"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"statusUrl": None}, 'needs "statusUrl"'),
        ({"statusField": None}, 'needs "statusField"'),
        ({"completeValue": None}, 'needs "completeValue"'),
        ({"pollIntervalMs": None}, 'needs "pollIntervalMs"'),
        ({"maxPolls": None}, 'needs "maxPolls"'),
        ({"pollIntervalMs": 99}, "at least 100"),
        ({"maxPolls": 0}, "at least 1"),
        ({"completeValue": []}, "never be done"),
        ({"statusField": "a..b"}, "no path"),
        ({"statusField": "jobs.*.status"}, "no path to one value"),
        ({"statusUrl": "jobs/1"}, "neither a path nor an address"),
        ({"statusUrl": "{{args.url}}"}, "neither a path nor an address"),
        ({"statusUrl": "{{result.url}}"}, "no namespace"),
        ({"statusUrl": "//evil.example/x"}, "not with two"),
        ({"statusUrl": "https://{{response.host}}/x"}, "not literal"),
        ({"statusUrl": "https://api.acme.example{{response.p}}"}, "not literal"),
        ({"statusUrl": "https://evil.example/x"}, "origin"),
        ({"statusUrl": "http://api.acme.example/x"}, "origin"),
        ({"statusUrl": "/a/../b"}, "dot segment"),
        ({"interval": 5}, "no key"),
    ],
)
def test_polling_that_cannot_work_is_an_error(changes: Json, named: str) -> None:
    """What is required is there, and nothing leads to another origin (contract section 6)."""
    found = mistakes(polled(**changes))

    assert any(named in text for text in found), found
    assert all("/tools/0/polling" in text for text in found)


def test_absolute_status_url_of_the_same_origin_loads() -> None:
    """An absolute URL of the origin that the call goes to is as good as a path (section 6)."""
    assert mistakes(polled(statusUrl="HTTPS://api.acme.example:443/jobs/{{response.id}}?v=1")) == []
    partner = url_target(method="GET")
    record = target_tool(partner, polling={**POLLING, "statusUrl": "https://api.acme.example/j"})
    assert "the tool calls https://api.partner.example" in mistakes(record)[0]


def test_client_target_is_not_polled() -> None:
    """A handler in the client answers when it is done (contract section 3)."""
    assert (
        "not polled" in mistakes(target_tool({"type": "client", "name": "x"}, polling=POLLING))[0]
    )


@pytest.mark.parametrize(
    ("confirm", "named"),
    [
        ({"title": "{{preview.name}}"}, "preview that is not declared"),
        ({"title": "{{response.name}}"}, "may not stand here"),
        ({"title": "{{args.a"}, "never closed"),
        ({"title": "x" * 201}, "longer than 200"),
        ({"title": 5}, "must be text"),
        ({"preview": {"args": {}}}, 'needs "tool"'),
        ({"preview": {"tool": "gone"}}, 'no tool "gone"'),
        ({"preview": {"tool": "write_it"}}, "name a read, safe tool"),
        ({"preview": {"tool": "get_thing", "args": {"a": "{{preview.a}}"}}}, "may not stand here"),
        ({"text": "x"}, "no key"),
    ],
)
def test_confirm_that_cannot_be_shown_is_an_error(confirm: Json, named: str) -> None:
    """A preview is a read, safe tool of the same app; the title plain text (section 5)."""
    found = mistakes(
        endpoint_tool(),
        endpoint_tool("write_it", category="write"),
        endpoint_tool("delete_it", confirm=confirm),
    )

    assert any(named in text for text in found), found


def test_dollar_signs_of_a_title_are_text() -> None:
    """`confirm` takes `{{args.…}}` on every kind of tool; `${…}` is text there (section 5)."""
    tool, _ = load_tool(target_tool(url_target(), confirm={"title": "Pay ${x} to {{args.a}}"}))

    assert tool.confirm is not None
    assert tool.confirm.title is not None
    assert [r.dotted for r in tool.confirm.title.references] == ["args.a"]
