"""The apps of the canary run: one for each kind of secret, with a tool for each way to leak it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.canary.leaky import ANSWERS, LeakyApp
from tests.canary.searching import Canary, Made, make
from tests.catalog.documents import Json, definition, endpoint_tool, parameters, target_tool

USER = "ana"
PLACE = {"collection": "main", "environment": "production"}

#: The secrets that apps are called with, by the app. What stands around a core is what encoders
#: of URLs, JSON, HTML and base64 write otherwise, as far as its place takes it.
MADE: dict[str, Made] = {
    "bearer": make("bearer", "b~/+", "+/="),
    "basic": make("basic", 'p"ä\\:', "%&'<"),
    "query": make("query", "k&=/", "#?+"),
    "header": make("header", 'h"&=/', "#?<"),
    "env": make("env", 'e"\\<', "&'>"),
    "argument": make("argument", 'a"ü\\', "%<&"),
}
AUTH: dict[str, Json] = {
    "bearer": {"type": "bearer"},
    "basic": {"type": "basic"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "prefix": "Token "},
    "identity": {"type": "identity"},
}
#: What the API is told, for those that a user connects.
CREDENTIALS: dict[str, Json] = {
    "bearer": {"type": "bearer", "token": MADE["bearer"].value, "account": "ana@bearer"},
    "basic": {"type": "basic", "username": "ana", "password": MADE["basic"].value},
    "query": {"type": "apiKey", "key": MADE["query"].value},
    "header": {"type": "apiKey", "key": MADE["header"].value},
}
#: What the app of a kind gives back; None is the token of the request.
GIVEN_BACK: dict[str, str | None] = {
    **{kind: made.value for kind, made in MADE.items()},
    "identity": None,
}
#: Begins the place of an answer that names what its own caller wrote in the place of a name.
OWN_WORDS = "own words"
#: Tools that do not declare the secret argument of their app; a pin brings it to them.
UNAWARE = ("unaware", "unaware_sends", "unaware_job", "unaware_ask")
SECRET: Json = {"type": "string", "writeOnly": True}
TEXT: Json = {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app as it is submitted, and what its calls need.

    Attributes:
        kind: of its secret; the app's id too.
        args: for its tools.
    """

    kind: str
    document: Json
    args: Json

    @property
    def tools(self) -> list[str]:
        """Those that a call just calls."""
        tools = [one for one in self.document["tools"] if "requiresApproval" not in one]
        return [one["name"] for one in tools if one["name"] not in UNAWARE]


def canary_of(kind: str) -> Canary:
    """The canary of a kind, which belongs on the wire to its own app."""
    return Canary(
        name=f"the {kind} secret", core=MADE[kind].core, own=(f"wire to {kind}:", OWN_WORDS)
    )


def make_app(kind: str, upstream: LeakyApp) -> App:
    """The app of a kind, at its upstream."""
    args = {"x": "plain", **({"pw": MADE[kind].value} if kind == "argument" else {})}
    if kind == "env":
        tools = [_targeting(what, upstream.url) for what in ANSWERS if not what.startswith("job")]
        changes: Json = {"auth": {"type": "none"}, "env": PLACE, "baseUrl": None}
    else:
        tools = [*map(_posting(kind), ANSWERS), *_special(kind)]
        changes = {"auth": AUTH.get(kind, {"type": "none"}), "baseUrl": upstream.url}
    document = definition(*tools, id=f"app-{kind}", name=f"App {kind}", **changes)
    ceiling = {"category": "action", "dangerLevel": "moderate"}
    return App(kind=kind, document={**document, "ceiling": ceiling}, args=args)


def _name(what: str) -> str:
    return what.replace("-", "_")


def _parameters(kind: str) -> Json:
    return parameters(pw=SECRET, x=TEXT) if kind == "argument" else parameters(x=TEXT)


def _body(kind: str) -> Json:
    body: Json = {"x": "{{args.x}}"}
    return {**body, "pw": "{{args.pw}}"} if kind == "argument" else body


def _posting(kind: str) -> Any:  # noqa: ANN401 - a function of one name
    def tool(what: str) -> Json:
        return endpoint_tool(
            _name(what),
            category="write",
            dangerLevel="moderate",
            parameters=_parameters(kind),
            endpoint={"method": "POST", "path": f"/{what}", "bodyTemplate": _body(kind)},
            # `busy` comes back at once; the others answer nothing in time.
            timeoutMs=150 if what in {"hang", "half"} else 10_000,
        )

    return tool


def _special(kind: str) -> list[Json]:
    """Reads, mappings, jobs, and what a person is asked about."""
    reading: Json = {"parameters": _parameters(kind)}
    query = {"pw": "{{args.pw}}"} if kind == "argument" else {}

    def get(name: str, path: str, **more: object) -> Json:
        endpoint = {"method": "GET", "path": path, "queryParams": query}
        return endpoint_tool(name, endpoint=endpoint, **{**reading, **more})

    def job(name: str, start: str, status: str, *, every_ms: int = 100, **more: object) -> Json:
        polling = {
            "statusUrl": status,
            "statusField": "status",
            "completeValue": "done",
            "failedValue": "broken",
            "pollIntervalMs": every_ms,
            "maxPolls": 2,
        }
        return {**_posting(kind)(start), "name": name, "polling": polling, **more}

    preview = {"tool": "look", "args": query}
    title = "Do it with {{preview.token}}, {{args.x}}"
    asks = {"requiresApproval": True, "confirm": {"title": title, "preview": preview}}
    return [
        get("look", "/body"),
        get("look_busy", "/busy"),
        get("look_away", "/redirect"),
        get("look_gone", "/drop"),
        get("mapped", "/body", responseMapping={"a": "token", "b": "deep.0", "c": "said"}),
        get("nothing", "/text", responseMapping={"a": "token"}),
        job("job_runs", "start", "/job/{{response.id}}"),
        job("job_breaks", "start", "/job-broken/{{response.id}}"),
        job("job_ends", "start", "/job-done/{{response.id}}"),
        job("job_goes", "start", "/job-gone/{{response.id}}"),
        job("job_odd", "start-odd", "/job-done/{{response.id}}"),
        job("job_away", "start", "{{response.url}}"),
        {**_posting(kind)("body"), "name": "ask", **asks},
        # Longer than the run: something ends it while it is out.
        {**_posting(kind)("hang"), "name": "long_hang", "timeoutMs": 60_000},
        # Asked for no more within the run: what it keeps of the answer stays in the store.
        job("long_job", "start-odd", "/job-done/{{response.id}}", every_ms=600_000),
        *(
            _unaware(job("unaware_job", "start", "/job-done/{{response.id}}"), asks)
            if query
            else ()
        ),
    ]


def _unaware(job: Json, asks: Json) -> list[Json]:
    """One that has nothing to do with the secret, and those that send it by its name."""
    knows_nothing = {**_posting("")("body"), "name": "unaware"}
    endpoint = {**knows_nothing["endpoint"], "queryParams": {"pw": "{{args.pw}}"}}
    sends = {**knows_nothing, "name": "unaware_sends", "endpoint": endpoint}
    asking = {**sends, "name": "unaware_ask", **asks}
    asking["confirm"] = {**asks["confirm"], "title": "Do it with {{args.pw}}, {{args.x}}"}
    return [knows_nothing, sends, asking, {**job, "parameters": knows_nothing["parameters"]}]


def _targeting(what: str, url: str) -> Json:
    target = {
        "type": "url",
        "url": f"{url}/{what}",
        "method": "POST",
        "headers": {"X-Partner": "Key ${env.PARTNER}"},
        "query": {"k": "${env.PARTNER}"},
        "body": {"k": "${env.PARTNER}", "text": "It is ${env.PARTNER}.", "x": "${input.x}"},
    }
    timeout = 150 if what in {"hang", "half"} else 10_000
    tool = target_tool(target, name=_name(what), parameters=parameters("x", x=TEXT))
    return {**tool, "timeoutMs": timeout}
