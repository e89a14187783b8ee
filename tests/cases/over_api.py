"""Makes the call of a case over the API: submitted, approved, consented to, connected, called.

The server is in process, its store and vault are real, and so is its way to the app.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.gateway.ports import Limits, WireRequest, WireResponse
from remit.values.urls import Origin
from tests.cases.command import Ran
from tests.cases.served import Served, said, serve
from tests.cases.stage import Setting
from tests.cases.verdicts import Json, UnknownShapeError
from tests.gateway.fakes import ScriptedEgress

_OPEN = ("sending", "polling", "waiting_human", "waiting_client")
_NO_ARGUMENTS = ("invalid_request", "malformed_body", "body_too_large")
_ROUNDS = 400
_STEP_MS = 250


@dataclass
class _Wire(ScriptedEgress):
    """The guarded client, in the place of an app that answers by script."""

    client: GuardedClient | None = field(default=None, kw_only=True)

    async def admit(self, origin: Origin) -> None:
        """As the guard says."""
        assert self.client is not None
        await self.client.admit(origin)

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Over the loopback, to the app of the case."""
        assert self.client is not None
        self.sent.append(request)
        return await self.client.send(request, limits)


def ran_over_api(setting: Setting, inward: Callable[[Json], Json]) -> Ran:
    """The call as the command line would have said it: what is printed, and the card shown."""
    if setting.dry or setting.process_env:
        raise UnknownShapeError("a call of the command line alone")
    document = inward(setting.definition)
    wire = _Wire([])
    told: list[Ran] = []
    started = time.monotonic()

    async def act(served: Served) -> list[str]:
        async with GuardedClient(parse_allowances(("127.0.0.1", "127.0.0.2"))) as client:
            wire.client = client
            printed, shown = await _called(served, setting, document)
            await served.settled()
        told.append(
            Ran(
                exit_code=0 if printed.get("outcome") == "ok" else 1,
                stdout=json.dumps(printed, ensure_ascii=False),
                stderr=shown,
                seconds=time.monotonic() - started,
                peak_mb=0,
            )
        )
        return []

    if faults := serve(act, egress=wire):
        raise AssertionError("; ".join(faults))
    return told[0]


async def _called(served: Served, setting: Setting, document: Json) -> tuple[dict[str, Json], str]:
    """The outcome of the call, and the card that a person saw."""
    api, app = served.api, document["id"]
    made = await api.post("/v1/apps", document)
    if made.status_code != 201:
        return _refused(made.json()), ""
    approved = await api.post(f"/v1/apps/{app}/versions/1/approve", {})
    if approved.status_code != 200:
        return _refused(approved.json()), ""
    await _furnish(served, setting, document)
    more = b',"pins":' + json.dumps(dict(setting.pins)).encode() if setting.pins else b""
    body = b'{"user":"ana"' + more + b',"args":' + setting.args + b"}"
    path = f"/v1/tools/{app}/{setting.tool}/call"
    headers = {"prefer": "wait=0", "content-type": "application/json"}
    got = await api.post(path, content=body, headers=headers, who="backend")
    if got.status_code not in (200, 202):
        refused = _refused(got.json())
        if refused["error"]["code"] in _NO_ARGUMENTS:
            # Refused before there is a call, since its body is none (contract section 10).
            refused["error"]["code"] = "invalid_arguments"
        return refused, ""
    answer = got.json()
    shown = ""
    if answer["outcome"] == "waiting_human":
        card = (await api.get(f"/v1/inputs/{answer['inputId']}")).json()
        shown = _card(card)
        decision = "deny" if setting.approve is False else "approve"
        note = {"note": "not this one"} if decision == "deny" else {}
        body_of = {"decision": decision, "digest": card["digest"], "user": "ana", **note}
        pressed = await api.post(f"/v1/inputs/{card['id']}/answer", body_of)
        if pressed.status_code != 200:
            raise AssertionError(f"not answered: {said(pressed)}")
    return await _ended(served, answer), shown


async def _ended(served: Served, answer: dict[str, Json]) -> dict[str, Json]:
    """What the call came to, once the app and the clock have gone on."""
    if answer["outcome"] not in _OPEN:
        return answer
    for _ in range(_ROUNDS):
        await served.settled()
        record = (await served.api.get(f"/v1/calls/{answer['callId']}")).json()
        if record["outcome"] not in _OPEN:
            told = {k: record[k] for k in ("outcome", "content", "error") if k in record}
            return {**told, "result": record.get("mapped")}
        served.api.stage.time.passed_ms += _STEP_MS
    raise AssertionError(f"the call never ends: {record}")


async def _furnish(served: Served, setting: Setting, document: Json) -> None:
    """Consent, a credential, values of the environment."""
    api, app = served.api, document["id"]
    done = [await api.post("/v1/grants", {"app": app, "user": "ana", "version": 1})]
    if setting.token is not None:
        body = _credential(document["auth"], setting.token)
        done.append(await api.put(f"/v1/connections/{app}/ana", body))
    if setting.env:
        named = document.get("env") or {}
        place = f"{named.get('collection', 'default')}/{named.get('environment', 'production')}"
        done.append(await api.put(f"/v1/apps/{app}/env/{place}", dict(setting.env)))
    if wrong := [said(one) for one in done if one.status_code >= 300]:
        raise AssertionError(f"not furnished: {wrong}")


def _credential(auth: Json, token: str) -> dict[str, str]:
    kind = auth["type"]
    if kind == "bearer":
        return {"type": kind, "token": token}
    if kind == "basic":
        name, _, password = token.partition(":")
        return {"type": kind, "username": name, "password": password}
    if kind.lower() == "apikey":
        return {"type": "apiKey", "key": token}
    raise UnknownShapeError(f"auth {kind!r} over the API")


def _refused(problem: dict[str, Json]) -> dict[str, Json]:
    """A problem document as the error that a call ends with."""
    words = json.dumps({k: v for k, v in problem.items() if k not in ("detail", "code")})
    error = {"code": problem["code"], "message": f"{problem['detail']} {words}"}
    return {"outcome": "error", "error": error}


def _card(card: dict[str, Json]) -> str:
    """All that a person reads before the answer."""
    rows = [card["title"], *(f"{row['title']} {row['text']}" for row in card["arguments"])]
    request = json.dumps(card["request"], ensure_ascii=False)
    args = json.dumps(card["args"], ensure_ascii=False)
    return "\n".join([*rows, args, request, card["reason"], "go ahead"])
