"""Walking through the demo with a server: requests are printed, sent, and their answers shown."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.main.output import paint, print_text
from remit.main.walking import indented

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.main.server_process import Reply, RunningServer
    from remit.main.walking import Demo, Ran
    from remit.values.json import JsonObject, JsonValue

APP = "acme-scenes"
TOKEN = "ana-token"  # noqa: S105 -- the example's, for anybody to read
ENDS_WITHIN_S = 20
_ASK_AGAIN_S = 0.05
_SHOWN_LINES = 12
_SHOWN_WIDTH = 220
_OPEN = frozenset({"sending", "waiting_human", "polling"})


@dataclass(slots=True)
class Walk:
    """One walk through the steps with a server.

    Attributes:
        demo: tells, runs commands, and knows the app.
        server: asked over HTTP.
        keys: the key of each who speaks to the server.
        waiting: the answer to the call that waits for a second person.
        speaker: who speaks for the agent, in words.
        scripted: whether it is known what the agent says.
    """

    demo: Demo
    server: RunningServer
    keys: dict[str, str] = field(default_factory=dict[str, str])
    waiting: JsonObject = field(default_factory=dict[str, "JsonValue"])
    speaker: str = ""
    scripted: bool = True

    def ask(
        self,
        who: str,
        method: str,
        path: str,
        body: JsonValue = None,
        *,
        headers: Mapping[str, str] | None = None,
        shown: Callable[[Reply], str] | None = None,
    ) -> Reply:
        """Send a request with somebody's key; print it and what came back."""
        sent = "" if body is None else f" {json.dumps(body, ensure_ascii=False)}"
        sent = sent.replace(TOKEN, "…")
        request = paint(f"{method} {path}{sent}", "cyan", sys.stdout)
        more = "".join(f", {name}: {value}" for name, value in (headers or {}).items())
        print_text(f"   {request}  (key: {who}{more})")
        reply = self.server.ask(method, path, body, key=self.keys[who], headers=headers)
        print_text(indented(f"{reply.status} {(shown or refusal_or_text)(reply)}") + "\n")
        return reply

    def call(self, tool: str, args: JsonObject, *, once: str = "") -> Reply:
        """Call a tool for Ana, as Acme's back end does; ``once`` is an ``Idempotency-Key``."""
        body: JsonObject = {"user": "ana", "args": args}
        headers = {"Idempotency-Key": once} if once else None
        path = f"/v1/tools/{APP}/{tool}/call"
        return self.ask(
            "backend",
            "POST",
            path,
            body,
            headers=headers,
            shown=fields("outcome", "inputId", "result"),
        )

    def answer(self, user: str, waiting: JsonObject) -> Reply:
        """Approve the very request that an input shows, as a person signed in to the product."""
        path = f"/v1/inputs/{waiting.get('inputId')}"
        digest = self.server.ask("GET", path, key=self.keys["backend"]).body.get("digest")
        body: JsonObject = {"decision": "approve", "user": user, "digest": digest}
        return self.ask("backend", "POST", f"{path}/answer", body, shown=INPUT)

    def ended(self, call: JsonValue) -> JsonObject:
        """The record of a call once it has ended, or as it is when that takes too long."""
        until = time.monotonic() + ENDS_WITHIN_S
        while True:
            path = f"/v1/calls/{call}"
            record = self.server.ask("GET", path, key=self.keys["backend"]).body
            if record.get("outcome") not in _OPEN:
                return record
            if time.monotonic() > until:
                return record
            time.sleep(_ASK_AGAIN_S)

    def expects(self, words: str, *, true: bool) -> None:
        """Say an effect that is known beforehand only where a script speaks."""
        if true or self.scripted:
            self.demo.holds(words, true=true)
        else:
            print_text(f"   This model did otherwise; expected was: {words}.")


# -- what is shown -------------------------------------------------------------------------


def key_shown(ran: Ran) -> str:
    """Of a key that was made its beginning: it is printed once, and not for whoever reads along."""
    return f"{ran.out[: ran.out.rfind('_') + 1]}…  (printed this once)" if ran.out else ran.err


def refusal_or_text(reply: Reply) -> str:
    """Of a refusal its words, of anything else the answer as far as it fits."""
    if "detail" in reply.body:
        return f"{reply.code}: {reply.body['detail']}"
    return _cut(reply.text.strip())


def fields(*names: str) -> Callable[[Reply], str]:
    """Of an answer these keys, of a refusal its words."""

    def shown(reply: Reply) -> str:
        if "detail" in reply.body:
            return refusal_or_text(reply)
        kept = {name: reply.body[name] for name in names if name in reply.body}
        return _cut(json.dumps(kept, ensure_ascii=False))

    return shown


def beginning(reply: Reply) -> str:
    """Of a long text the first lines, and how many follow."""
    lines = reply.text.strip().splitlines()
    more = [f"… ({len(lines) - _SHOWN_LINES} more lines)"] if len(lines) > _SHOWN_LINES else []
    return "\n".join(["", *lines[:_SHOWN_LINES], *more])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_WIDTH else f"{text[:_SHOWN_WIDTH]}…"


#: Of an input what decides.
INPUT = fields("status", "by", "reason", "answeredBy")
