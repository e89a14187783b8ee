"""Holds what was seen against what a case expects; every function answers with the faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import parse_qsl, unquote

from tests.cases.stage import Observed
from tests.cases.upstream import Received
from tests.cases.verdicts import Json, only

_REQUEST_KEYS = (
    "method path query headers noHeaders body form bodyAbsent bodyRaw also rawQuery contentLength"
)
_RESULT_KEYS = "ok mapped mappedIncludes textContains textLacks code mayHaveHappened also outcome"
# RFC 3986: unreserved, sub-delims, ":" and "@" may stand bare in a segment.
_BARE: Final = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@]")
_STOP = frozenset(
    ("not", "but", "in", "used", "the", "a", "an", "of", "is", "and", "or", "to", "with", "for")
)


def same(left: Json, right: Json) -> bool:
    """JSON equality with types: true is not 1, "1" is not 1; 1 and 1.0 are one number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and left == right


def includes(whole: Json, part: Json) -> bool:
    """Whether every key of ``part`` is in ``whole`` with the same value, at any depth."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and includes(whole[key], part[key]) for key in part)
    return same(whole, part)


def canonical_path(path: str) -> str:
    """A raw path in one spelling: upper-case escapes, none where a bare character may stand."""

    def spelt(found: re.Match[str]) -> str:
        character = chr(int(found.group(1), 16))
        return character if _BARE.fullmatch(character) else f"%{found.group(1).upper()}"

    return re.sub(r"%([0-9A-Fa-f]{2})", spelt, path)


def pairs_of(raw: str) -> list[tuple[str, str]]:
    """The decoded pairs of a query or form, empty values kept."""
    return parse_qsl(raw, keep_blank_values=True)


def same_pairs(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> bool:
    """Order matters only between equal names."""

    def by_name(pairs: Sequence[Sequence[str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, value in pairs:
            found.setdefault(name, []).append(value)
        return found

    return by_name(left) == by_name(right)


def parsed(body: bytes) -> Json:
    """The JSON of a body; Ellipsis where it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return ...


# -- one request ---------------------------------------------------------------------------


def judge_request(want: Json, got: Received, at: str) -> list[str]:
    """The faults of one request."""
    want = only(want, _REQUEST_KEYS, "an expected request")
    faults: list[str] = []

    def fault(what: str, expected: object, seen: object) -> None:
        faults.append(f"{at}: expected {what} {expected!r}, seen {seen!r}")

    if "method" in want and want["method"] != got.method:
        fault("method", want["method"], got.method)
    if "path" in want and canonical_path(want["path"]) != canonical_path(got.path):
        fault("path", want["path"], got.path)
    if "query" in want and not same_pairs(want["query"], pairs_of(got.raw_query)):
        fault("query", want["query"], got.raw_query)
    if "rawQuery" in want and want["rawQuery"] != got.raw_query:
        fault("raw query", want["rawQuery"], got.raw_query)
    for name, value in want.get("headers", {}).items():
        seen = got.header(name)
        media = name.lower() in ("content-type", "accept")
        if seen is None or (seen.split(";")[0].strip() if media else seen) != (
            str(value).split(";")[0].strip() if media else str(value)
        ):
            fault(f"header {name}", value, seen)
    for name in want.get("noHeaders", []):
        if got.header(name) is not None:
            fault("no header", name, got.header(name))
    return faults + _judge_body(want, got, at)


def _judge_body(want: dict[str, Json], got: Received, at: str) -> list[str]:
    faults: list[str] = []
    if "body" in want and not same(parsed(got.body), want["body"]):
        faults.append(f"{at}: expected body {want['body']!r}, seen {got.body!r:.400}")
    if "bodyRaw" in want and want["bodyRaw"].encode() != got.body:
        faults.append(f"{at}: expected body text {want['bodyRaw']!r}, seen {got.body!r:.400}")
    if "form" in want:
        form = want["form"]
        form = list(form.items()) if isinstance(form, dict) else form
        if not same_pairs(form, pairs_of(got.body.decode("utf-8", "replace"))):
            faults.append(f"{at}: expected form {form!r}, seen {got.body!r:.400}")
    length = got.header("content-length")
    if want.get("bodyAbsent") and (got.body or length not in (None, "0")):
        faults.append(f"{at}: expected no body, seen {got.body!r:.200} (length {length})")
    if want.get("bodyAbsent") is False and not got.body:
        faults.append(f"{at}: expected a body, seen none")
    return faults


def judge_requests(want: Json, got: Sequence[Received]) -> list[str]:
    """The faults of all requests of a run, in order."""
    if len(want) != len(got):
        seen = [f"{r.method} {r.target[:100]}" for r in got]
        return [f"expected {len(want)} requests, seen {len(got)}: {seen}"]
    return [
        fault
        for number, (one, request) in enumerate(zip(want, got, strict=True), 1)
        for fault in judge_request(one, request, f"request {number}")
    ]


# -- one result ----------------------------------------------------------------------------


def judge_refused(want: Json, seen: Observed) -> list[str]:
    """No request, and an error whose text holds every name."""
    names = only(want, "names code also", "refused").get("names", [])
    faults: list[str] = []
    if seen.requests:
        faults.append(f"expected no request, seen {seen.brief()}")
    if seen.ok or not seen.error:
        faults.append(f"expected an error, seen {seen.brief()}")
    missing = [name for name in names if name not in seen.text]
    if missing:
        faults.append(f"expected an error naming {missing}, seen {seen.text[:300]!r}")
    if "code" in want and want["code"] != seen.code:
        faults.append(f"expected the code {want['code']}, seen {seen.code}")
    return faults


def judge_result(want: Json, seen: Observed) -> list[str]:
    """What the tool result must be."""
    want = only(want, _RESULT_KEYS, "result")
    faults: list[str] = []
    result = seen.printed.get("result") if isinstance(seen.printed, dict) else None
    if "ok" in want and want["ok"] != seen.ok:
        faults.append(f"expected ok {want['ok']}, seen {seen.brief()}")
    if want.get("ok") is False and not seen.error:
        faults.append(f"expected a tool error, seen {seen.brief()}")
    if "mapped" in want and not (seen.ok and same(result, want["mapped"])):
        faults.append(f"expected the result {want['mapped']!r}, seen {seen.brief()}")
    if "mappedIncludes" in want and not (seen.ok and includes(result, want["mappedIncludes"])):
        faults.append(f"expected {want['mappedIncludes']!r} in the result, seen {seen.brief()}")
    return faults + _judge_error(want, seen) + _judge_text(want, seen)


def _judge_error(want: dict[str, Json], seen: Observed) -> list[str]:
    faults: list[str] = []
    if "code" in want and want["code"] != seen.code:
        faults.append(f"expected the code {want['code']!r}, seen {seen.brief()}")
    happened = seen.error.get("mayHaveHappened", False)
    if want.get("mayHaveHappened", happened) is not happened:
        faults.append(f"expected mayHaveHappened {not happened}, seen {seen.brief()}")
    if "outcome" in want and (seen.printed or {}).get("outcome") != want["outcome"]:
        faults.append(f"expected the outcome {want['outcome']!r}, seen {seen.brief()}")
    return faults


def _judge_text(want: dict[str, Json], seen: Observed) -> list[str]:
    text = seen.text.lower()
    faults = [
        f"expected {word!r} in the text, seen {text[:300]!r}"
        for word in want.get("textContains", [])
        if str(word).lower() not in text
    ]
    return faults + [
        f"expected no {word!r} in the text, seen {text[:300]!r}"
        for word in want.get("textLacks", [])
        if str(word).lower() in text
    ]


def sound(seen: Observed, secrets: Sequence[str] = ()) -> list[str]:
    """What must hold of every run, whatever it expects."""
    faults: list[str] = []
    if "Traceback (most recent call last)" in seen.everything:
        faults.append(f"a traceback reached the user: {seen.ran.stderr[-400:]!r}")
    if seen.ran.exit_code not in (0, 1, 2):
        faults.append(f"the command ended with {seen.ran.exit_code} after {seen.ran.seconds:.1f} s")
    faults += [f"the credential was shown: {seen.brief()}" for s in secrets if s in seen.everything]
    if seen.strays:
        where = ", ".join(f"{r.method} {o}{r.target}" for o, r in seen.strays)
        faults.append(f"a request went to another host: {where}")
    if seen.ok and seen.text == "":
        faults.append("the model was given an empty text")
    return faults


# -- lint ----------------------------------------------------------------------------------


def finding_text(finding: dict[str, Json]) -> str:
    """All words of a finding."""
    return " ".join(str(v) for k, v in finding.items() if k not in ("file", "line", "column"))


def judge_lint(want: Json, findings: Sequence[dict[str, Json]], tools: Sequence[str]) -> list[str]:
    """Findings that name the given words, at the given level."""
    want = only(want, "level names findings also", "lint")
    level = want.get("level")
    pool = [f for f in findings if level is None or f.get("level") == level]
    faults: list[str] = []
    for name in want.get("names", []):
        if name in tools:
            found = any(f.get("tool") == name for f in pool)
        else:
            found = any(str(name).lower() in finding_text(f).lower() for f in pool)
        if not found:
            faults.append(f"expected a {level or 'finding'} naming {name!r}, seen {_listed(pool)}")
    for entry in want.get("findings", []):
        tool, words, *rest = _entry(entry)
        near = [f for f in pool if f.get("tool") == tool and (not rest or f["level"] == rest[0])]
        if not any(_names(f, words) for f in near):
            faults.append(f"expected a finding on {tool} naming {words!r}, seen {_listed(near)}")
    faults += _judge_levels(want, findings)
    if not want.get("names") and not want.get("findings") and level and not pool:
        faults.append(f"expected a finding of level {level}, seen none")
    return faults


def _entry(entry: Json) -> list[str]:
    """``[tool, words, level?]``, or the same as an object."""
    if isinstance(entry, dict):
        entry = only(entry, "tool names words level", "a finding")
        words = entry.get("words", entry.get("names", ""))
        told = " ".join(words) if isinstance(words, list) else words
        return [entry["tool"], told, *([entry["level"]] if "level" in entry else [])]
    return list(entry)


def _judge_levels(want: dict[str, Json], findings: Sequence[dict[str, Json]]) -> list[str]:
    """The words "the rest are errors except … (warning)" beside a list of findings."""
    words = str(want.get("also", ""))
    if "rest are errors" not in words:
        return []
    faults: list[str] = []
    for entry in want.get("findings", []):
        tool, told, *_ = _entry(entry)
        if re.search(rf"\b{re.escape(tool)}\b[^;]*\b({told.split()[0]}|approval)\b", words) and (
            told.split()[0] in words or told == "requiresApproval"
        ):
            continue
        near = [f for f in findings if f.get("tool") == tool and _names(f, told)]
        near = [f for f in near if f["level"] != "note"]
        if near and not any(f["level"] == "error" for f in near):
            rules = "/".join(sorted({str(f["rule"]) for f in near}))
            faults.append(f"{tool} {told}: expected the level error, seen warning {rules}")
    return faults


def _names(finding: dict[str, Json], words: str) -> bool:
    text = finding_text(finding).lower()
    told = [w for w in re.findall(r"[\w.$-]+", words.lower()) if w not in _STOP]
    if len(words) == 1:
        # A name of one letter is a word of many sentences: it must stand quoted or as a place.
        return bool(re.search(rf'["/]{re.escape(words.lower())}(?:["/ ]|$)', text))
    return words.lower() in text or (
        bool(told) and all(re.search(rf"(?<!\w){re.escape(w)}(?!\w)", text) for w in told)
    )


def _listed(findings: Sequence[dict[str, Json]]) -> str:
    listed = [
        f"{f.get('level')} {f.get('rule')} {f.get('tool')} {f.get('message')}" for f in findings
    ]
    return f"{listed[:12]}"[:900]


# -- what must never be --------------------------------------------------------------------

_Never = Callable[[re.Match[str], Sequence[Observed]], bool]
_PLACES = (
    r"(?:the )?(?:result|error text|error|wire|approval|output|logs?|card|requests?|body|query"
    r"|path|url)"
)


def _requests(seen: Sequence[Observed]) -> list[Received]:
    return [request for one in seen for request in one.requests]


def _sent_line(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    method, path = found.groups()
    return any(
        r.method == method and canonical_path(r.target) == canonical_path(path)
        for r in _requests(seen)
    )


def _there(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    """A token in one of the places that the phrase names."""
    token = found.group(1).strip("'\"`")
    places = found.group(2)
    texts: list[str] = []
    if re.search("wire|request|body|query|path|url", places):
        texts += [r.text() for r in _requests(seen)]
    if re.search("result|error|output|log", places):
        texts += [one.everything for one in seen]
    if re.search("approval|card", places):
        texts += [one.shown for one in seen]
    return any(token in text or token in unquote(text) for text in texts)


def _shown(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    return any(found.group(1) in one.everything for one in seen)


def _pair(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    name, value = found.groups()
    return any((name, value) in pairs_of(r.raw_query) for r in _requests(seen))


def _named(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    return any(found.group(1) == n for r in _requests(seen) for n, _ in pairs_of(r.raw_query))


def _body_key(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    return any(_has_key(parsed(r.body), found.group(1)) for r in _requests(seen))


def _has_key(value: Json, key: str) -> bool:
    if isinstance(value, dict):
        return key in value or any(_has_key(item, key) for item in value.values())
    return isinstance(value, list) and any(_has_key(item, key) for item in value)


def _repeated(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    return any(sum(r.method == found.group(1) for r in one.requests) > 1 for one in seen)


def _methods(found: re.Match[str], seen: Sequence[Observed]) -> bool:
    return any(r.method == found.group(1) for r in _requests(seen))


_VERBS = "GET|POST|PUT|PATCH|DELETE"
_NEVERS: tuple[tuple[re.Pattern[str], _Never], ...] = (
    (re.compile(rf"({_VERBS}) (/\S*)"), _sent_line),
    (re.compile(rf"two ({_VERBS})s"), _repeated),
    (re.compile(rf"a (?:retry|second sending) of the ({_VERBS})"), _repeated),
    (re.compile(rf"(?:a )?second ({_VERBS})"), _repeated),
    (re.compile(rf"(?:a )?({_VERBS}) sent"), _methods),
    (re.compile(r"(\w+) in any form\b.*"), _named),
    (re.compile(r"a (?:second )?parameter named (\w+)"), _named),
    (re.compile(r"([\w.\[\]]+)=(\S*|\[.*\])"), _pair),
    (re.compile(r"(\w+) in the body, as .*"), _body_key),
    (re.compile(rf"(\S+(?: \S+)?) (?:anywhere )?(?:in|on) ({_PLACES}(?: or .*)?)"), _there),
    (re.compile(r"ok with \w+ (\S+)"), lambda f, s: any(o.ok and f.group(1) in o.text for o in s)),
    (re.compile(r"(?:a )?(tool error)"), lambda _, s: any(not o.ok for o in s)),
    (re.compile(r"(an empty string) as tool result"), lambda _, s: any(o.text == "" for o in s)),
    (re.compile(r"(\w+(?:Error|Exception))"), _shown),
    (re.compile(r"(an exception|a traceback|a crash)\b.*"), lambda _, s: any(sound(o) for o in s)),
)


def judge_never(phrases: Sequence[str], seen: Sequence[Observed]) -> tuple[list[str], list[str]]:
    """The faults, and the phrases that are prose."""
    faults: list[str] = []
    prose: list[str] = []
    for phrase in phrases:
        for pattern, holds in _NEVERS:
            if found := pattern.fullmatch(phrase):
                if holds(found, seen):
                    brief = " | ".join(one.brief() for one in seen)
                    faults.append(f"never {phrase!r}, and yet: {brief[:500]}")
                break
        else:
            prose.append(f"never {phrase}")
    return faults, prose
