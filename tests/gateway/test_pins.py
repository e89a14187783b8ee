"""Pins that a tool does not declare: the secret of one tool stands in no call of another (2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from remit.gateway.answering import Answer, answer
from remit.gateway.asking import input_json
from remit.gateway.awaiting import StillRunning
from remit.gateway.resting import record_of
from tests import databases
from tests.catalog.documents import Json, endpoint_tool, posting
from tests.gateway import fakes
from tests.gateway.nodes import (
    BACKEND,
    GET,
    JOB,
    PUT,
    HeldEgress,
    Stage,
    furnish,
    open_stage,
    restarted,
)
from tests.gateway.server import shop

pytestmark = databases.on_each_database

SECRET = "canary-of-the-pins"
#: ``pw`` is a secret of one tool, ``scene`` of none; ``key`` is declared by none.
PINS: Any = {"pw": SECRET, "scene": "scene-1", "key": "key-1"}
YES = Answer(decision="approve", user="ana")
HIDDEN: Json = {"type": "string", "writeOnly": True}
SIGN_UP = {**posting({"pw": "{{args.pw}}"}, {"pw": HIDDEN}), "name": "sign_up"}
#: Reaches all three by their names, and declares none.
REACHING = {
    **posting(
        {"name": "{{args.name}}", "pw": "{{args.pw}}", "key": "{{args.key}}"},
        {"name": {"type": "string"}},
        path="/scenes/{{args.scene}}/{{args.pw}}",
    ),
    "name": "rename",
}
ASKING = {
    **REACHING,
    "name": "ask_rename",
    "requiresApproval": True,
    "confirm": {"title": "Rename {{args.scene}} to {{args.name}} with {{args.pw}}"},
}
TOOLS = (SIGN_UP, REACHING, ASKING, endpoint_tool("open_scene"), GET, PUT, JOB)
MASKED = {"pw": "***", "scene": "***", "key": "***"}


@contextmanager
def nowhere(store_url: str) -> Iterator[None]:
    """The secret is not in the store, neither now nor in the end."""
    try:
        yield
    finally:
        leaks = [place for place, data in databases.kept(store_url).items() if _stands_in(data)]
        assert leaks == []


def _stands_in(data: bytes) -> bool:
    return SECRET.encode() in data


async def private_of(stage: Stage, call: str) -> str:
    """What the row of a call keeps."""
    private = (await stage.row(call)).private
    assert private is not None
    return private


async def test_undeclared_pins_are_masked_in_the_record(store_url: str) -> None:
    """What a tool does not declare may be a secret of another tool or app: it is masked."""
    async with open_stage(store_url) as stage:
        await furnish(stage, shop(*TOOLS))
        with nowhere(store_url):
            pins = {**PINS, "deep": {"a": [SECRET, 7, None]}}
            ended = await stage.ended("get_order", {"id": "o"}, pins=pins)

        deep = {"deep": {"a": ["***", "***", None]}}
        assert ended.record["args"] == {"id": "o", **MASKED, **deep}
        assert ended.record["argOrigins"] == {"id": "caller", **dict.fromkeys(pins, "pin")}


async def test_secret_pin_that_a_tool_reaches_is_sent_and_stands_nowhere(store_url: str) -> None:
    """In URL, body and answer; what no tool calls a secret is shown where the tool put it."""
    echo = fakes.answer({"you": f"said {SECRET}", "key": "key-1"})
    async with open_stage(store_url, echo) as stage:
        await furnish(stage, shop(*TOOLS))
        with nowhere(store_url):
            ended = await stage.ended("rename", {"name": "x"}, pins=PINS)

        sent = stage.egress.sent[0]
        assert sent.url.endswith(f"/scenes/scene-1/{SECRET}")
        assert json.loads(sent.body or b"") == {"name": "x", "pw": SECRET, "key": "key-1"}
        request = cast("Any", ended.record["request"])
        assert request["url"].endswith("/scenes/scene-1/***")
        assert request["body"] == {"name": "x", "pw": "***", "key": "key-1"}
        assert ended.result == {"you": "said ***", "key": "key-1"}


async def test_secret_pin_waits_sealed_behind_a_card_without_it(store_url: str) -> None:
    """Shown to nobody who is asked; sent after the yes, by another process."""
    async with open_stage(store_url) as stage:
        await furnish(stage, shop(*TOOLS))
        with nowhere(store_url):
            waits = await stage.waiting("ask_rename", {"name": "x"}, pins=PINS)
            assert (await private_of(stage, waits.call)).startswith("sealed:")
        shown = cast("Any", input_json(waits))
        after = restarted(stage)
        with nowhere(store_url):
            await answer(after.node, BACKEND, waits.id, YES)
            await after.settled()

        assert shown["title"] == "Rename *** to x with ***"
        assert shown["args"] == {"name": "x", **MASKED}
        texts = {one["title"]: one["text"] for one in shown["arguments"]}
        assert texts == {"name": "x", **MASKED}
        assert shown["request"]["url"].endswith("/scenes/scene-1/***")
        assert (await after.row(waits.call)).outcome == "ok"
        assert json.loads(stage.egress.sent[0].body or b"")["pw"] == SECRET
        assert (await after.record(waits.call))["args"] == {"name": "x", **MASKED}


async def test_secret_pin_waits_sealed_for_a_job(store_url: str) -> None:
    """Of a tool that has nothing to do with it, too; the job is asked for all the same."""
    job = [fakes.answer({"id": "j"}, 202), fakes.answer({"status": "done", "url": SECRET})]
    async with open_stage(store_url, *job) as stage:
        await furnish(stage, shop(*TOOLS))
        with nowhere(store_url):
            found = await stage.call("render", {"name": "x"}, pins=PINS, wait_ms=0)
            await stage.settled()
            call = cast("StillRunning", found).call_id
            assert (await private_of(stage, call)).startswith("sealed:")
        stage.time.passed_ms += 1_000
        with nowhere(store_url):
            await stage.work()

        row = await stage.row(call)
        assert record_of(row)["mapped"] == {"url": "***"}
        assert record_of(row)["args"] == {"name": "x", **MASKED}


async def test_secret_pin_is_sealed_while_a_call_is_sent(store_url: str) -> None:
    """A call that may be sent again keeps what it needs for that; its record tells the same."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage, shop(*TOOLS))
        found = await stage.call("put_order", {"name": "x"}, pins=PINS, wait_ms=20)
        call = cast("StillRunning", found).call_id
        with nowhere(store_url):
            assert (await private_of(stage, call)).startswith("sealed:")
        before = await stage.record(call)
        after = restarted(stage)
        await after.worker.round()
        egress.go.set()
        await after.settled()
        await stage.settled()

        assert before["args"] == {"name": "x", **MASKED}
        assert before.items() <= (await after.record(call)).items()


async def test_calls_without_undeclared_pins_are_not_sealed(store_url: str) -> None:
    """A pin that the tool declares is what its schema says: sealing costs, and is not for all."""
    asking = {**posting({"name": "{{args.name}}"}, {"name": {"type": "string"}}), "name": "ask"}
    async with open_stage(store_url) as stage:
        await furnish(stage, shop({**asking, "requiresApproval": True}))
        found = await stage.call("ask", {}, pins={"name": "x"}, wait_ms=0)

        assert (await private_of(stage, cast("StillRunning", found).call_id)).startswith("{")


# --- larger than what is sealed at once --------------------------------------------------------


async def large_job(stage: Stage) -> str:
    """A job of a call with a secret pin and 200,000 characters; gives its id."""
    name = "a" * 100_000 + "b" * 100_000
    stage.egress.answers = [fakes.answer({"id": "j"}, 202), fakes.answer({"status": "done"})]
    found = await stage.call("render", {"name": name}, pins=PINS, wait_ms=0)
    assert isinstance(found, StillRunning)
    await stage.settled()
    return found.call_id


async def test_large_call_is_sealed_in_pieces(store_url: str) -> None:
    """A call with a secret may be as large as any other."""
    async with open_stage(store_url) as stage:
        await furnish(stage, shop(*TOOLS))
        with nowhere(store_url):
            call = await large_job(stage)
        assert len((await private_of(stage, call)).split(" ")) > 7
        stage.time.passed_ms += 1_000
        await stage.work()

        assert (await stage.row(call)).outcome == "ok"


@pytest.mark.parametrize("change", ["swapped", "left out"])
async def test_pieces_that_were_changed_open_nothing(store_url: str, change: str) -> None:
    """Each belongs to its place among so many: nothing else is made of them."""
    async with open_stage(store_url) as stage:
        await furnish(stage, shop(*TOOLS))
        call = await large_job(stage)
        # Two of the arguments, of which no digest is kept: the text would be whole without them.
        *before, one, two, last = (await private_of(stage, call)).removeprefix("sealed:").split(" ")
        pieces = [*before, two, one, last] if change == "swapped" else [*before, one, last]
        changed = "sealed:" + " ".join(pieces)
        databases.change(store_url, "UPDATE call SET private = :changed", changed=changed)
        stage.time.passed_ms += 1_000
        await stage.work()

        assert (await stage.row(call)).outcome == "outcome_unknown"
        assert stage.egress.lines == ["POST /v1/orders"]
