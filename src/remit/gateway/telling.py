"""One call as a page for somebody who was not there (contract section 10, ``remit why CALL``).

It is made of the call record alone. What the app or a model wrote is shown with nothing hidden in
it, and indented, so that no line of theirs passes for one of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from remit.documents.canonical import compact_json
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.values.json import JsonObject, JsonValue

_MAX_LINE = 400
_SOURCES: Mapping[str, str] = {
    "session": "in a session",
    "api": "through the Tools API",
    "mcp": "over MCP",
    "button": "by a button of a card",
    "cli": "on the command line",
}
_ORIGINS: Mapping[str, str] = {
    "model": "chosen by the model",
    "pin": "pinned: nobody but the session or token could set it",
    "repair": "given, and repaired to fit the schema",
    "button": "from the button that was pressed",
    "caller": "given by the caller",
}
_OUTCOMES: Mapping[str, str] = {
    "ok": "It was done.",
    "error": "It failed.",
    "denied": "It was refused; nothing was sent.",
    "skipped": "It was skipped.",
    "expired": "Nobody answered in time; nothing was sent.",
    "cancelled": "It was cancelled.",
    "outcome_unknown": "Nobody knows whether it happened.",
}
_VERDICTS: Mapping[str, str] = {
    "allow": "let it pass",
    "ask": "asked for a person",
    "deny": "refused it",
}
_BUILT_IN = frozenset({"ceiling", "requiresApproval", "destructive"})


def why(record: JsonObject) -> str:
    """The page of one call, ending in a line break.

    Args:
        record: of a call that ended, or that is still on its way.
    """
    lines = [
        f"Call {_said(record, 'id')}: {_said(record, 'tool')} of {_said(record, 'app')}",
        f"{_ending(record)}",
    ]
    sections = (
        ("Who asked", _who(record)),
        ("What was asked for", _what(record)),
        ("Which rules let it pass or stopped it", _rules(record)),
        ("Who answered", _answered(record)),
        ("What was sent, and as whom", _sent(record)),
        ("What came back", _came_back(record)),
        ("What the model was told", _told(record)),
    )
    for title, found in sections:
        lines += ["", title, *(f"  {line}" for line in found)]
    return "\n".join(lines) + "\n"


def _ending(record: JsonObject) -> str:
    outcome = record.get("outcome")
    if outcome is None:
        return "It has not ended yet."
    words = _OUTCOMES.get(str(outcome), str(outcome))
    error = _object(record.get("error"))
    if outcome == "error" and error.get("mayHaveHappened") is True:
        words = "It failed, and the action may have happened all the same."
    return f"{words} ({_line(str(outcome))})"


def _who(record: JsonObject) -> Iterator[str]:
    source = str(record.get("source"))
    yield (
        f"{_said(record, 'actor')}, for the user {_said(record, 'user')}, "
        f"{_SOURCES.get(source, source)}, at {_said(record, 'at')}"
    )
    if "sessionId" in record:
        model = f", by the model {_said(record, 'model')}" if "model" in record else ""
        run = f", run {_said(record, 'runId')}" if "runId" in record else ""
        yield f"session {_said(record, 'sessionId')}{run}{model}"
    yield f"workspace {_said(record, 'workspace')}, trace {_said(record, 'traceId')}"


def _what(record: JsonObject) -> Iterator[str]:
    offered = record.get("offeredAs")
    known = "" if offered == record.get("tool") else f" (offered as {_line(str(offered))})"
    yield f"the tool {_said(record, 'tool')}{known}, version {_said(record, 'version')} of the app"
    if "catalogDigest" in record:
        yield f"catalog {_said(record, 'catalogDigest')}"
    origins = _object(record.get("argOrigins"))
    arguments = _object(record.get("args"))
    if not arguments:
        yield "no arguments" if "args" in record else "its arguments were not accepted"
    for name, value in arguments.items():
        origin = str(origins.get(name, "caller"))
        yield f"{_line(name)} = {_value(value)}   [{_ORIGINS.get(origin, origin)}]"
    for change in _list(record.get("repaired")):
        yield f"repaired: {_line(str(change))}"
    for name in _list(record.get("refusedPins")):
        yield f"tried to set {_line(str(name))}, which is pinned; the pin won"


def _rules(record: JsonObject) -> Iterator[str]:
    fired = [_object(rule) for rule in _list(record.get("policy"))]
    if not fired:
        if "policy" in record:
            yield "it is under the ceiling of the app, and no rule asked for a person"
        else:
            yield "it came to no rule"
    for rule in fired:
        name = str(rule.get("rule"))
        whose = "the built-in rule" if name in _BUILT_IN else "the policy's rule"
        verdict = str(rule.get("verdict"))
        yield (
            f"{whose} {_line(name)} {_VERDICTS.get(verdict, verdict)}: "
            f"{_line(str(rule.get('reason')))}"
        )


def _answered(record: JsonObject) -> Iterator[str]:
    if "inputId" not in record:
        yield "nobody was asked"
        return
    answer = _object(record.get("answer"))
    asked = f"input {_said(record, 'inputId')}"
    if not answer:
        yield f"{asked} is still open"
        return
    decision = {
        "approve": "approved",
        "deny": "denied",
        "cancel": "withdrawn",
        "skip": "skipped",
    }.get(str(answer.get("decision")), "closed without an answer")
    by = _line(str(answer.get("answeredBy", "nobody")))
    yield f"{asked}: {decision} by {by}, at {_line(str(answer.get('answeredAt', '?')))}"
    if answer.get("note"):
        yield f"they said: {_value(answer['note'])}"


def _sent(record: JsonObject) -> Iterator[str]:
    request = _object(record.get("request"))
    attempts = [_object(attempt) for attempt in _list(record.get("attempts"))]
    if not attempts:
        unknown = record.get("outcome") == "outcome_unknown"
        yield "the server stopped while it was being sent" if unknown else "nothing was sent"
    if not request:
        return
    done = "it sent" if attempts else "the request was"
    yield f"{done} {_said(request, 'method')} {_said(request, 'url')}"
    for name, value in _object(request.get("headers")).items():
        yield f"{_line(name)}: {_line(str(value))}"
    if request.get("body") is not None:
        yield f"body {_value(request['body'])}"
    yield f"digest {_said(request, 'digest')}"
    if "connectionId" in record:
        account = f"the account {_said(record, 'account')}, " if "account" in record else ""
        yield f"as {account}connection {_said(record, 'connectionId')}"
    else:
        yield "without a credential of the user"
    for attempt in attempts:
        status = attempt.get("status")
        came = "no answer was read" if status is None else f"answered {status}"
        yield f"at {_said(attempt, 'at')}: {came}, after {attempt.get('ms')} ms"
    if "polls" in record:
        yield f"its job was asked for {record['polls']} times"


def _came_back(record: JsonObject) -> Iterator[str]:
    error = _object(record.get("error"))
    if error:
        yield f"{_said(error, 'code')}: {_said(error, 'message')}"
        if "details" in error:
            yield f"details {_value(error['details'])}"
        return
    if "outcome" not in record:
        yield "nothing yet"
        return
    mapped = record.get("mapped")
    members = mapped.items() if isinstance(mapped, dict) and mapped else (("result", mapped),)
    for name, value in members:
        yield f"{_line(name)} = {_value(value)}"
    for name, path in _object(record.get("absent")).items():
        yield f"{_line(name)} was not in the answer (looked for at {_line(str(path))})"
    if "misfit" in record:
        yield _said(record, "misfit")


def _told(record: JsonObject) -> Iterator[str]:
    if "content" not in record:
        yield "nothing yet"
        return
    yield _value(record["content"])
    if record.get("cut") is True:
        yield "it was cut: the whole result was longer than a model is given"


def _said(record: JsonObject, name: str) -> str:
    """A text of the record, on one line."""
    return _line(str(record.get(name, "?")))


def _value(value: JsonValue) -> str:
    return _line(value if isinstance(value, str) else compact_json(value))


def _line(text: str) -> str:
    """A text on one line in which nothing hides."""
    line = visible(text).replace("\n", " ⏎ ")
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}… ({len(line):,} characters)"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return cast("list[JsonValue]", value) if isinstance(value, list) else []
