"""The page of ``remit why``: a call record in the order in which it came about, in plain words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.values.json import JsonObject, JsonValue

_SOURCES = {
    "session": "in a session",
    "api": "over the API",
    "mcp": "over MCP",
    "button": "with a button",
    "cli": "on the command line",
}
_ORIGINS = {
    "model": "from the model",
    "pin": "fixed by a pin",
    "repair": "given in another form, and repaired",
    "button": "from a button",
    "caller": "from the caller",
}
_OUTCOMES = {
    "ok": "It was done.",
    "error": "It failed.",
    "denied": "It was refused; nothing was sent.",
    "skipped": "The person skipped what the app asked for.",
    "expired": "Nobody answered in time",
    "cancelled": "It was stopped.",
    "outcome_unknown": "Nobody knows whether it happened.",
    "waiting_human": "It waits for a person",
    "polling": "The app works on it.",
    "sending": "It is on its way.",
}
# Where a tool is that belongs to no app.
_HOMES = {"client": "user's page", "platform": "platform"}
# What refuses a call before any rule of a policy counts.
_BEFORE_RULES = {"over_ceiling", "consent_required", "not_approved", "app_suspended"}
_VERDICTS = {"allow": "lets it pass", "ask": "asks a person", "deny": "refuses it"}


def page_of(
    record: JsonObject, answered: JsonObject | None, names: Mapping[str, str] | None = None
) -> str:
    """The page.

    Args:
        record: the call record of contract section 10.
        answered: the input that the call waited for, or None.
        names: of keys, by what the record calls them (``key:<id>``); those that are known.
    """
    known = names or {}
    outcome = _text(record.get("outcome"))
    parts = [
        (
            f"{_text(record.get('tool'))}{_whose(record)}",
            [_verdict_line(outcome, sent=bool(record.get("attempts")))],
        ),
        ("Who asked", list(_who(record, known))),
        ("With what", list(_arguments(record))),
        ("What let it pass, or not", list(_rules(record))),
        ("Who answered", list(_answer(record, answered, known))),
        ("What was sent", list(_sent(record))),
        ("What came back", list(_back(record))),
        ("What the model was told", [_text(record.get("content")) or "Nothing so far."]),
    ]
    return "\n\n".join(
        "\n".join([head, *(f"  {line}" for line in lines)]) for head, lines in parts if lines
    )


def _whose(record: JsonObject) -> str:
    """Whose tool it is: no app has the platform's own, and those of a page."""
    if app := _text(record.get("app")):
        return f" of {app}"
    return f", a tool of the {_HOMES.get(_text(record.get('target')), 'session')}"


def _verdict_line(outcome: str, *, sent: bool) -> str:
    words = _OUTCOMES.get(outcome, "")
    if words and not words.endswith("."):
        # An app that answers with a card has been called.
        so_far = " so far" if outcome == "waiting_human" else ""
        words += "; the app was called." if sent else f"; nothing was sent{so_far}."
    return f"{words} ({outcome})".strip()


def _named(label: JsonValue, names: Mapping[str, str]) -> str:
    """Who acted: the name of a key where it is known, with its id, which is its own alone."""
    text = _text(label)
    name = names.get(text)
    return f"{_line(name)} ({text})" if name else text


def _who(record: JsonObject, names: Mapping[str, str]) -> Iterator[str]:
    how = _SOURCES.get(_text(record.get("source")), "")
    yield f"{_text(record.get('user'))}, {how}, through {_named(record.get('actor'), names)}"
    yield f"at {_text(record.get('at'))}, in the workspace {_text(record.get('workspace'))}"
    if record.get("model") is not None:
        offered = _text(record.get("offeredAs"))
        yield f"the model {_text(record['model'])} chose it, offered as {offered}"
    if record.get("parent") is not None:
        yield f"a button of the card that call {_text(record['parent'])} came back with"
    under = f"under version {_text(record.get('version'))} of the app; "
    yield f"{under if record.get('app') else ''}call {_text(record.get('id'))}"


def _arguments(record: JsonObject) -> Iterator[str]:
    origins = _object(record.get("argOrigins"))
    given = _object(record.get("args"))
    for name, value in given.items():
        origin = _ORIGINS.get(_text(origins.get(name)), "")
        yield f"{_text(name)} = {_value(value)}" + (f"   {origin}" if origin else "")
    if record.get("erased"):
        yield "erased with the session"
    elif "args" not in record:
        yield "not kept: the call was refused before its arguments were settled"
    elif not given:
        yield "no arguments"
    for words in _list(record.get("repaired")):
        yield f"repaired: {_text(words)}"
    for name in _list(record.get("refusedPins")):
        yield f"the caller gave {_text(name)} too; the pin won"


def _rules(record: JsonObject) -> Iterator[str]:
    fired = _list(record.get("policy"))
    for one in fired:
        rule = _object(one)
        verdict = _VERDICTS.get(_text(rule.get("verdict")), _text(rule.get("verdict")))
        yield f"{_text(rule.get('rule'))} {verdict}: {_text(rule.get('reason'))}"
    error = _object(record.get("error"))
    unasked = error.get("code") in _BEFORE_RULES
    if not fired and record.get("request") is not None and not unasked:
        yield "within the remit that was approved; no rule of the policy spoke"
    if record.get("target") == "platform" and not error:
        yield "it only reads what is the user's own; no rule of a policy counts for it"
    if error and not record.get("attempts"):
        yield f"{_text(error.get('code'))}: {_text(error.get('message'))}"


def _answer(
    record: JsonObject, answered: JsonObject | None, names: Mapping[str, str]
) -> Iterator[str]:
    for one in _list(record.get("presses")):
        press = _object(one)
        called = press.get("callId")
        handler = press.get("handler")
        what = f"runs {_text(handler)} in the user's client" if handler else "gave its input"
        if called:
            what = f"called its target: call {_text(called)}"
        yield f'the button "{_text(press.get("label"))}" ({_text(press.get("press"))}) {what}'
    if answered is None:
        if record.get("answeredBy") is not None:
            yield _named(record["answeredBy"], names)
        return
    status = _text(answered.get("status"))
    yield f"shown: {_text(answered.get('title'))}"
    if status == "open":
        yield f"nobody so far; it is open until {_text(answered.get('expiresAt'))}"
        return
    by = _named(answered.get("answeredBy"), names)
    yield f"{status}" + (f" by {by}" if by else "") + f" at {_text(answered.get('answeredAt'))}"
    if answered.get("note"):
        yield f"they said: {_text(answered['note'])}"


def _sent(record: JsonObject) -> Iterator[str]:
    request = _object(record.get("request"))
    attempts = _list(record.get("attempts"))
    if not attempts:
        itself = record.get("target") == "platform" and record.get("outcome") == "ok"
        yield "nothing: the platform answered by itself" if itself else "nothing"
        if request and not record.get("erased"):
            yield f"it would have been {_text(request.get('method'))} {_text(request.get('url'))}"
        return
    yield f"{_text(request.get('method'))} {_text(request.get('url'))}"
    if request.get("body") is not None:
        yield f"body: {_value(request['body'])}"
    account = record.get("account")
    if account is not None:
        yield f"as {_text(account)}"
    elif record.get("connectionId") is None:
        yield "without a credential of the user"
    yield f"digest {_text(request.get('digest'))}"
    for one in attempts:
        tried = _object(one)
        status = tried.get("status")
        if status is None and tried.get("ms") is None:
            became = "begun; the server stopped before an answer was read"
        else:
            answer = "no answer was read" if status is None else f"answered {_text(status)}"
            became = f"{answer} after {_text(tried.get('ms'))} ms"
        yield f"at {_text(tried.get('at'))}: {became}"


def _back(record: JsonObject) -> Iterator[str]:
    if not record.get("attempts"):
        # The platform's own tools, and a page's, send no request and come to a result.
        if not record.get("app") and record.get("outcome") == "ok" and not record.get("erased"):
            yield _value(record.get("mapped"))
        return
    if error := _object(record.get("error")):
        yield f"{_text(error.get('code'))}: {_text(error.get('message'))}"
    elif record.get("erased"):
        yield "erased with the session"
    elif record.get("outcome") == "ok":
        yield _value(record.get("mapped"))
    if refused := _object(record.get("embedRefused")):
        yield f"{_text(refused.get('code'))}: {_text(refused.get('message'))}"
    if address := _object(record.get("display")).get("embedUrl"):
        yield f"a page of the app was shown: {_text(address)}"
    if card := _object(record.get("card")):
        buttons = [_text(_object(one).get("label")) for one in _list(card.get("elements"))]
        yield f"a card: {_text(card.get('title'))} [{'] ['.join(buttons)}]"
    for name in _object(record.get("absent")):
        yield f"the answer did not have {_text(name)}"


def _value(value: JsonValue) -> str:
    return _line(json.dumps(value, ensure_ascii=False))


def _text(value: JsonValue) -> str:
    """A value as a line of text; what an app or a model wrote must not look like lines of ours."""
    return "" if value is None else _line(value if isinstance(value, str) else json.dumps(value))


def _line(text: str) -> str:
    return visible(text).replace("\n", " ⏎ ")


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return cast("list[JsonValue]", value) if isinstance(value, list) else []
