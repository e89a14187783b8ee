"""Rules on what comes back: mappings, renderers, polling."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.mapping import Each
from remit.catalog.scales import Category, Renderer
from remit.documents.problems import escaped
from remit.lint.subject import Finding
from remit.lint.words import word_set, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.catalog.mapping import ResponseMapping
    from remit.catalog.model import Polling, Tool
    from remit.lint.subject import ToolView

MANY_FIELDS = 12
SHORT_BUDGET_S = 60
LONG_BUDGET_S = 24 * 3600
SHORT_INTERVAL_MS = 500
SHORT_TIMEOUT_MS = 1_000
_CONTAINERS = word_set(
    "data items results result rows records entries list objects values response body payload hits "
    "nodes edges attributes fields"
)
_URL_WORDS = word_set("url uri href link src image picture thumbnail thumb photo preview avatar")
_UNIT_S = {"second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(second|sec|minute|min|hour|day)s?\b", re.IGNORECASE)
_LOOSE = re.compile(
    r"\b(?:takes?|takes up to|needs?|lasts?|runs?(?: for)?|after|within|several|many|some)\s+"
    r"(?:a few |several |many |some |up to )?(seconds|a minute|minutes|an hour|hours|a day|days)\b"
    r"|\b(?:a few|several|some)\s+(seconds|minutes|hours|days)\b",
    re.IGNORECASE,
)
_LOOSE_S = {
    "seconds": 20,
    "a minute": 60,
    "minutes": 300,
    "an hour": 3600,
    "hours": 4 * 3600,
    "a day": 86400,
    "days": 3 * 86400,
}


def whole_body_answer(view: ToolView) -> Iterator[Finding]:
    """No mapping: the model gets whatever the app answers."""
    if view.tool is None or view.is_client or view.is_app_target:
        return
    if view.tool.polling is not None:
        missing, at = view.tool.polling.result_mapping is None, "/polling"
        key = "polling.resultMapping"
    else:
        missing, at, key = view.tool.response_mapping is None, "", "responseMapping"
    if missing:
        yield Finding(
            at,
            "without a mapping the model gets the whole answer, fields you did not mean to show "
            "included: "
            "up to 16 KiB, about 4,000 tokens, on each call",
            f"name the few fields that the agent needs in {key}"
            + (f"; where the answer holds nothing, write {key}: {{}}" if _changes(view) else ""),
        )


def _changes(view: ToolView) -> bool:
    """Whether a tool may well have nothing to tell but that it went through, as a DELETE by 204."""
    return view.method != "GET" and view.category is not Category.READ


def empty_mapping(view: ToolView) -> Iterator[Finding]:
    """A mapping that hands on nothing, where there must be something to read."""
    if _changes(view):
        return
    for at, mapping in _mappings(view):
        if not mapping.entries:
            yield Finding(
                at,
                "the mapping names no field: the model learns only that the call went through",
                "name at least what was made or found",
            )


def whole_array_answer(view: ToolView) -> Iterator[Finding]:
    """A mapping that takes an array or object as a whole."""
    for at, mapping in _mappings(view):
        for name, rule in mapping.entries:
            if isinstance(rule, Each):
                if any(not path for _, path in rule.items):
                    yield _whole(f"{at}/{escaped(name)}", name, "each item as a whole")
            elif not rule:
                yield _whole(f"{at}/{escaped(name)}", name, "the whole answer")
            elif rule[-1].lower() in _CONTAINERS or rule[-1] == "*":
                yield _whole(f"{at}/{escaped(name)}", name, f'all of "{".".join(rule)}"')


def _whole(at: str, name: str, what: str) -> Finding:
    return Finding(
        at,
        f'"{name}" takes {what}, with every field in it',
        "write {each: <path>, map: {<key>: <path in the item>}, limit: n} for a list, "
        "or name the fields one by one",
    )


def many_fields(view: ToolView) -> Iterator[Finding]:
    """A mapping of more fields than an agent needs."""
    for at, mapping in _mappings(view):
        count = sum(len(r.items) if isinstance(r, Each) else 1 for _, r in mapping.entries)
        if count > MANY_FIELDS:
            yield Finding(
                at,
                f"the mapping hands on {count} fields; each costs tokens on each call and hides "
                f"the ones that matter",
                f"keep the few that the agent needs; more than {MANY_FIELDS} are seldom read",
            )


def each_without_limit(view: ToolView) -> Iterator[Finding]:
    """A list without a bound."""
    for at, mapping in _mappings(view):
        for name, rule in mapping.entries:
            if isinstance(rule, Each) and rule.limit is None:
                yield Finding(
                    f"{at}/{escaped(name)}",
                    f'"{name}" has no limit: a long list is cut at the size of an answer, in the '
                    f"middle",
                    f'add "limit": 50, say; what is left out is then counted in "{name}More"',
                )


def renderer_fit(view: ToolView) -> Iterator[Finding]:
    """A renderer that the mapped result cannot feed (contract section 2)."""
    tool = view.tool
    mapping = _result(tool) if tool else None
    if tool is None or mapping is None:
        return
    for key, name in tool.render.items():
        if name not in mapping.names:
            yield Finding(
                f"/render/{escaped(key)}",
                f'render takes "{name}", which the mapping does not give',
                f"use one of {', '.join(mapping.names) or 'its keys (it has none)'}",
            )
    missing = _unfed(tool.renderer, tool.render, mapping)
    if missing is not None:
        message, mend = missing
        yield Finding(view.place("resultRenderer"), message, mend)


def _unfed(
    renderer: Renderer, render: Mapping[str, str], mapping: ResponseMapping
) -> tuple[str, str] | None:
    names = set(mapping.names)
    kind = renderer.value
    if renderer in (Renderer.IMAGE, Renderer.LINK) and not ({"url"} & (names | set(render))):
        urls = [name for name, rule in mapping.entries if _is_url(name, rule)]
        if not urls:
            return (
                f"the renderer {kind} needs an address, and no key of the mapping looks like one",
                'map the address to "url", or name its key: render: {url: <key>}',
            )
        if len(urls) > 1:
            return (
                f"the renderer {kind} cannot choose between {', '.join(urls)}",
                f"say which: render: {{url: {urls[0]}}}",
            )
    if renderer is Renderer.TABLE and not ({"rows"} & (names | set(render))):
        lists = [name for name, rule in mapping.entries if isinstance(rule, Each)]
        if len(lists) != 1:
            found = f"there are {len(lists)}" if lists else "the mapping has none"
            return (
                f"the renderer table needs one list of objects, and {found}",
                "map rows: {each: <path>, map: {…}}, or name the list: render: {rows: <key>}",
            )
    if renderer is Renderer.DIFF:
        fed = names | set(render)
        if not ({"before", "after"} <= fed or "patch" in fed):
            return (
                "the renderer diff needs before and after, or patch, and the mapping has neither",
                "map them under these names, or name their keys: render: "
                "{before: <key>, after: <key>}",
            )
    return None


def _is_url(name: str, rule: object) -> bool:
    words = set(words_of(name))
    if isinstance(rule, tuple) and rule:
        words.update(words_of(str(rule[-1])))  # pyright: ignore[reportUnknownArgumentType]
    return bool(words & _URL_WORDS) or name.lower().endswith(("url", "uri", "href"))


def poll_budget(view: ToolView) -> Iterator[Finding]:
    """A budget that the job may outlast (seed: comfortably exceed the worst case)."""
    polling = view.tool.polling if view.tool else None
    if polling is None:
        return
    budget_s = _budget_s(polling)
    stated = _stated_s(view.description)
    if stated is not None and budget_s <= stated[1]:
        message = (
            f'polling gives up after {_span(budget_s)}, and the description says "{stated[0]}"'
        )
    elif stated is None and budget_s < SHORT_BUDGET_S:
        message = (
            f"polling gives up after {_span(budget_s)} (pollIntervalMs x maxPolls), "
            "which is short for a job's worst case"
        )
    else:
        return
    yield Finding(
        "/polling/maxPolls",
        message,
        "raise maxPolls well beyond the job's worst case: a tool that gives up reports a failure "
        "for work "
        "that then completes; where the job is quick, say in the description how long it may take",
    )


def poll_interval(view: ToolView) -> Iterator[Finding]:
    """Polls that come too fast."""
    polling = view.tool.polling if view.tool else None
    if polling is not None and polling.poll_interval_ms < SHORT_INTERVAL_MS:
        yield Finding(
            "/polling/pollIntervalMs",
            f"the app is asked every {polling.poll_interval_ms} ms for each job that runs",
            f"wait at least {SHORT_INTERVAL_MS} ms; one or two seconds are usual",
        )


def poll_forever(view: ToolView) -> Iterator[Finding]:
    """A budget beyond a day."""
    polling = view.tool.polling if view.tool else None
    if polling is not None and _budget_s(polling) > LONG_BUDGET_S:
        yield Finding(
            "/polling/maxPolls",
            f"polling goes on for {_span(_budget_s(polling))}: a job that is lost is noticed only "
            f"then",
            "stop within a day, and let a second tool read the state of older jobs",
        )


def no_failed_value(view: ToolView) -> Iterator[Finding]:
    """A job whose failure cannot be told from running."""
    polling = view.tool.polling if view.tool else None
    if polling is not None and not polling.failed_values:
        yield Finding(
            "/polling",
            "no failedValue: a job that failed looks like one that still runs, until maxPolls is "
            "used up",
            "write the value, or the list of values, that means failure",
        )


def poll_value_twice(view: ToolView) -> Iterator[Finding]:
    """One status that means both ends."""
    polling = view.tool.polling if view.tool else None
    if polling is None:
        return
    both = [
        v
        for v in polling.complete_values
        if any(v == f and type(v) is type(f) for f in polling.failed_values)
    ]
    if both:
        yield Finding(
            "/polling/failedValue",
            f"{both[0]!r} means both complete and failed",
            "let each status mean one of the two",
        )


def short_timeout(view: ToolView) -> Iterator[Finding]:
    """A time limit that turns slow answers of a write into unknown outcomes."""
    if view.tool and view.tool.timeout_ms < SHORT_TIMEOUT_MS and view.category is not Category.READ:
        yield Finding(
            "/timeoutMs",
            f"the app has {view.tool.timeout_ms} ms to answer; a later answer leaves it unknown "
            f"what was done",
            f"give it at least {SHORT_TIMEOUT_MS:,} ms; the default is 30,000",
        )


def idempotent_get(view: ToolView) -> Iterator[Finding]:
    """A promise that a GET needs not make."""
    if view.method == "GET" and view.record.get("idempotent") is True:
        yield Finding(
            "/idempotent",
            "a GET carries no Idempotency-Key, so idempotent says nothing here",
            "leave it out",
        )


def mapping_never_used(view: ToolView) -> Iterator[Finding]:
    """A ``responseMapping`` beside ``polling``, whose own mapping takes its place."""
    if view.tool and view.tool.polling is not None and view.tool.response_mapping is not None:
        yield Finding(
            "/responseMapping",
            "with polling the result is the finished job's: responseMapping is never used",
            "move its fields to polling.resultMapping",
        )


def _result(tool: Tool) -> ResponseMapping | None:
    return tool.polling.result_mapping if tool.polling else tool.response_mapping


def _mappings(view: ToolView) -> Iterator[tuple[str, ResponseMapping]]:
    """The mapping that makes the result, and its pointer."""
    if view.tool is not None and (mapping := _result(view.tool)) is not None:
        yield "/polling/resultMapping" if view.tool.polling else "/responseMapping", mapping


def _budget_s(polling: Polling) -> float:
    return polling.poll_interval_ms * polling.max_polls / 1000


def _stated_s(text: str) -> tuple[str, float] | None:
    """The longest time that a description speaks of: its words and its seconds."""
    found = [(m[0], float(m[1]) * _UNIT_S[m[2].lower()]) for m in _DURATION.finditer(text)]
    found += [(m[0], float(_LOOSE_S[(m[1] or m[2]).lower()])) for m in _LOOSE.finditer(text)]
    return max(found, key=lambda pair: pair[1], default=None)


def _span(seconds: float) -> str:
    """A length of time in a person's words."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
