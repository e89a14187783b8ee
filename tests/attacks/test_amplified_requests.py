"""A vendor whose template names one argument so often that a small call fills the memory."""

from __future__ import annotations

import tracemalloc

import pytest

from remit.calls.arguments import settle
from remit.calls.planning import plan
from remit.calls.wire import CredentialUse, Sender, finish
from remit.errors import InvalidArguments
from remit.values.json import JsonValue
from remit.values.secrets import Secret
from tests.catalog.documents import (
    Json,
    endpoint_tool,
    load,
    parameters,
    posting,
    target_tool,
    url_target,
)

MANY = 20_000
ANYTHING: Json = {}
LONG = "x" * 200_000


def got(**endpoint: object) -> Json:
    """A GET with the one parameter ``a``."""
    return endpoint_tool(
        parameters=parameters(a=ANYTHING), endpoint={"method": "GET", "path": "/x", **endpoint}
    )


def headed(headers: Json) -> Json:
    """A request to an outside host with these headers and the one parameter ``a``."""
    return target_tool(url_target(headers=headers), parameters=parameters(a=ANYTHING))


@pytest.mark.parametrize(
    ("record", "value", "rule"),
    [
        (posting({"t": "{{args.a}}" * MANY}, {"a": ANYTHING}), LONG, "body_size"),
        (posting(["- {{args.a}}"] * MANY, {"a": ANYTHING}), LONG, "body_size"),
        (posting(["{{args.a}}"] * MANY, {"a": ANYTHING}), LONG, "body_size"),
        (posting(["{{args.a}}"] * MANY, {"a": ANYTHING}), ["y"] * 40_000, "body_size"),
        (
            posting({"t": "{{args.a}}" * MANY}, {"a": ANYTHING}, bodyFormat="form"),
            LONG,
            "body_size",
        ),
        (got(path="/" + "{{args.a}}" * MANY), "y" * 8_000, "url_length"),
        (
            got(queryParams={f"q{i}": "{{args.a}}" for i in range(MANY)}),
            "y" * 8_000,
            "url_length",
        ),
        (got(queryParams={"q" * 100_000: "{{args.a}}"}), ["y"] * 40_000, "url_length"),
        (headed({"X-A": "${input.a}" * MANY}), LONG, "body_size"),
        (
            headed({f"X-A{i}": "${input.a}" for i in range(MANY)}),
            "y" * 8_000,
            "body_size",
        ),
    ],
    ids=["text", "texts", "wholes", "lists", "form", "path", "query", "name", "header", "headers"],
)
def test_a_template_that_swells_is_refused_before_it_is_written_out(
    record: Json, value: JsonValue, rule: str
) -> None:
    """Was 25 GB for one call; now it stops at what may be sent."""
    definition = load(record)
    tool = definition.tools[0]
    arguments = settle(tool, {"a": value}, {})
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArguments) as raised:
            plan(tool, definition, arguments)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert raised.value.details is not None
    assert raised.value.details["faults"][0]["rule"] == rule  # type: ignore[index]


def test_a_large_request_that_may_be_sent_is_sent() -> None:
    """Looks unsafe, is fine: a hundred references, and just less than the bound."""
    definition = load(posting(["{{args.a}}"] * 100, {"a": ANYTHING}))
    tool = definition.tools[0]
    request = plan(tool, definition, settle(tool, {"a": ["y" * 10_000]}, {}))
    assert request.body == [["y" * 10_000]] * 100


@pytest.mark.parametrize("place", ["body", "url", "header"])
def test_an_env_value_is_not_written_out_without_bound(place: str) -> None:
    """The same by `${env.…}`: filled at the send, and counted before."""
    many = "${env.KEY}" * MANY
    changes: dict[str, Json] = {
        "body": {"body": {"t": [many, many]}},
        "url": {"url": f"https://api.partner.example/{many}"},
        "header": {"headers": {"X-Key": many}},
    }
    definition = load(
        target_tool(url_target(**changes[place])), env={"collection": "c", "environment": "e"}
    )
    tool = definition.tools[0]
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArguments):
            finish(
                plan(tool, definition, settle(tool, {}, {}), env_names={"KEY"}),
                tool,
                credential=CredentialUse(),
                env={"KEY": Secret("k" * 50_000)},
                sender=Sender(call_id="c", traceparent="t", version="1"),
            )
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
