"""What the server says of its calls and inputs in the end, over its API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Self

from tests.chaos.driving import OPEN
from tests.chaos.shop import APP
from tests.chaos.wire import Wire

SETTLES_WITHIN_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Of a call record what is compared.

    Attributes:
        order: the argument; ``mapped`` is that of the result, where there is one.
        code: of its error; empty where there is none.
        status: of an answer that is told as an error.
        happened: whether it says that the action may have happened.
        attempts: the status of each exchange; None where no answer was read.
    """

    id: str
    order: int
    tool: str
    outcome: str
    code: str = ""
    status: int | None = None
    happened: bool = False
    mapped: object = None
    attempts: tuple[int | None, ...] = ()
    input_id: str | None = None
    answered_by: str | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """Of a record as the API gives it."""
        error: dict[str, Any] = told.get("error") or {}
        details: dict[str, Any] = error.get("details") or {}
        return cls(
            id=told["id"],
            order=told["args"]["order"],
            tool=told["tool"],
            outcome=told["outcome"],
            code=error.get("code", ""),
            status=details.get("status"),
            happened=error.get("mayHaveHappened", False),
            mapped=told.get("mapped"),
            attempts=tuple(one["status"] for one in told.get("attempts", [])),
            input_id=told.get("inputId"),
            answered_by=told.get("answeredBy"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Of an input what is compared."""

    id: str
    call: str
    status: str


async def read_records(origin: str, key: str) -> list[Record]:
    """All call records once none is under way any more; after a while as they are."""
    headers = {"Authorization": f"Bearer {key}"}
    loop = asyncio.get_running_loop()
    until = loop.time() + SETTLES_WITHIN_S
    async with Wire() as wire:
        while True:
            path = f"/v1/calls?app={APP}"
            found = [Record.of(one) async for one in _pages(wire, origin, path, headers)]
            if all(one.outcome not in OPEN for one in found) or loop.time() > until:
                return found
            await asyncio.sleep(0.5)


async def read_inputs(origin: str, key: str) -> list[Input]:
    """All inputs."""
    headers = {"Authorization": f"Bearer {key}"}
    async with Wire() as wire:
        return [
            Input(id=one["id"], call=one["callId"], status=one["status"])
            async for one in _pages(wire, origin, f"/v1/inputs?app={APP}", headers)
        ]


async def _pages(
    wire: Wire, origin: str, path: str, headers: dict[str, str]
) -> AsyncIterator[dict[str, Any]]:
    cursor = ""
    while True:
        reply = await wire.ask(origin, "GET", f"{path}&limit=500{cursor}", None, headers)
        if reply.status != 200:
            msg = f"GET {path} was answered {reply.status} {reply.body}"
            raise RuntimeError(msg)
        for one in reply.body["items"]:
            yield one
        if not reply.body["next"]:
            return
        cursor = f"&cursor={reply.body['next']}"
