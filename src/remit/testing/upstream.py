"""A host app that answers what a script says, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from remit.testing.loopback import Exchange, HttpRequest, LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Json: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class AppAnswer:
    """One answer of an app.

    Attributes:
        body: sent as JSON; bytes and text are sent as they are.
        content_type: what it says it is; JSON, or a text, by what ``body`` is.
        delay_ms: before the first byte.
        fault: ``drop`` closes the connection without an answer, ``early_end`` in the middle of
            one, ``hang`` says nothing.
    """

    status: int = 200
    body: Json = None
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay_ms: int = 0
    fault: Literal["drop", "early_end", "hang"] | None = None


Answers: TypeAlias = "Sequence[AppAnswer] | Callable[[HttpRequest], AppAnswer]"


class ScriptedUpstream(LoopbackServer):
    """An app whose answers are given beforehand: the server of a definition's ``baseUrl``.

    ``http`` has every request: method, target, headers, body. The guard lets calls through to it
    where ``127.0.0.1`` is allowed (``REMIT_EGRESS_ALLOW``).
    """

    def __init__(self, answers: Answers, *, port: int = 0) -> None:
        """Be ready to start.

        Args:
            answers: in their order, the last one again and again; or a function of the request.
            port: on 127.0.0.1; 0 takes a free one.
        """
        super().__init__(port)
        self._answers = answers

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Answer one request."""
        answer = self._answer(request)
        await asyncio.sleep(answer.delay_ms / 1000)
        if answer.fault == "drop":
            exchange.cut()
            return
        if answer.fault == "hang":
            await exchange.until_gone()
        body, content_type = _written(answer)
        if answer.fault == "early_end":
            await exchange.begin(content_type)
            await exchange.piece(body[: len(body) // 2])
            exchange.cut()
            return
        await exchange.answer(answer.status, body, content_type, answer.headers)

    def _answer(self, request: HttpRequest) -> AppAnswer:
        if callable(self._answers):
            return self._answers(request)
        if not self._answers:
            return AppAnswer(status=500, body={"error": "The script has no answer."})
        return self._answers[min(self.http.index(request), len(self._answers) - 1)]


def _written(answer: AppAnswer) -> tuple[bytes, str]:
    body = answer.body
    if isinstance(body, bytes):
        return body, answer.content_type or "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), answer.content_type or "text/plain; charset=utf-8"
    return json.dumps(body).encode(), answer.content_type or "application/json"
