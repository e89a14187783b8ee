"""Strict JSON: what is refused, what only looks wrong, and where the mistakes are said to be."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.canonical import compact_json
from remit.documents.problems import DocumentError, Problem
from remit.documents.strict_json import parse_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def problems_of(data: str | bytes) -> tuple[Problem, ...]:
    """The problems with which a document is refused."""
    with pytest.raises(DocumentError) as caught:
        parse_json(data)
    return caught.value.problems


REFUSED = {
    "NaN": '{"a":NaN}',
    "Infinity": '{"a":Infinity}',
    "negative Infinity": '{"a":-Infinity}',
    "overflow to infinity": '{"a":1e400}',
    "negative overflow": '{"a":-1E999}',
    "duplicate key": '{"a":1,"a":2}',
    "duplicate key by escape": '{"a":1,"\\u0061":2}',
    "duplicate key deep down": '[[{"a":{"b":1,"b":1}}]]',
    "two documents": '{"a":1}{"b":2}',
    "trailing text": '{"a":1} x',
    "trailing NUL": "[1]\x00",
    "leading zero": '{"a":01}',
    "leading plus": "[+1]",
    "bare fraction": "[.5]",
    "fraction without digits": "[1.]",
    "hexadecimal": "[0x1F]",
    "other digits": "[\u0661]",
    "trailing comma": '{"a":1,}',
    "trailing comma in a list": "[1,]",
    "missing comma": "[1 2]",
    "missing colon": '{"a" 1}',
    "single quotes": "{'a':1}",
    "bare key": "{a:1}",
    "comment": "// c\n{}",
    "Python's True": '{"a":True}',
    "raw tab in a string": '"a\tb"',
    "raw newline in a string": '"a\nb"',
    "unknown escape": '"\\x41"',
    "short escape": '"\\u12"',
    "open string": '"abc',
    "open object": '{"a":1',
    "empty": "",
    "blanks alone": " \n\t",
    "no-break space": "\u00a0[]",
    "byte order mark": "\ufeff{}",
    "UTF-8 byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "invalid UTF-8": bytes.fromhex("7b2261223a22ff227d"),
    "overlong UTF-8": b'"\xc0\xaf"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "raw lone surrogate": '"\ud800"',
    "escaped high surrogate": '"\\ud800"',
    "escaped low surrogate": '"\\uDC00"',
    "reversed pair": '"\\udc00\\ud800"',
    "high surrogate, then another character": '"\\ud83d\\u0041"',
    "lone surrogate in a key": '{"\\ud800":1}',
    "deep arrays": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "well-formed but too deep": "[" * 500 + "]" * 500,
    "one too deep": "[" * 65 + "]" * 65,
    "too many digits": "1" * 4_301,
    "a million digits": "1" * 200_000,
    "too large": '"' + "x" * (256 * 1024) + '"',
    "too large in bytes": '"' + "\u20ac" * (100 * 1024) + '"',
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_is_not_strict_json_is_refused_with_words(data: str | bytes) -> None:
    """Each is one located error with a mend, never a crash (contract section 5, step 1)."""
    for problem in problems_of(data):
        assert problem.message
        assert problem.mend


FINE = {
    "exact above 64 bits": ("18446744073709551616", 2**64),
    "as many digits as are read": ("-" + "9" * 4_300, -(10**4_300 - 1)),
    "largest double": ("1.7976931348623157e308", 1.7976931348623157e308),
    "underflow": ("1e-400", 0.0),
    "escaped NUL": ('"a\\u0000b"', "a\x00b"),
    "pair": ('"\\ud83d\\ude00"', "\U0001f600"),
    "what looks like an escape": ('"\\\\ud800"', "\\ud800"),
    "backslashes before a real pair": ('"\\\\\\ud83d\\ude00"', "\\\U0001f600"),
    "brackets in a string": ('"' + "[{" * 100 + '"', "[{" * 100),
    "escaped quote before brackets": ('"\\"' + "[" * 100 + '"', '"' + "[" * 100),
    "newline escape before a quote": ('["\\n","' + "[" * 99 + '"]', ["\n", "[" * 99]),
    "as deep as allowed": ("[" * 64 + "]" * 64, None),
    "many containers, not deep": ("[" + "[],{}," * 500 + "[]]", None),
    "the same key in two objects": ('[{"a":1},{"a":1}]', [{"a": 1}, {"a": 1}]),
    "keys that differ by case": ('{"a":1,"A":2}', {"a": 1, "A": 2}),
    "prototype names": ('{"__proto__":{"a":1}}', {"__proto__": {"a": 1}}),
    "delete character": ('"\x7f"', "\x7f"),
    "line separator": ('"\u2028"', "\u2028"),
    "a scalar alone": (" null ", None),
    "bytes": (b'{"a":"\xc3\xa9"}', {"a": "\u00e9"}),
}


@pytest.mark.parametrize(("data", "value"), FINE.values(), ids=FINE)
def test_what_only_looks_wrong_is_read_exactly(data: str | bytes, value: object) -> None:
    """Integers keep every digit and text every character (contract section 5, step 1)."""
    parsed = parse_json(data)

    if value is not None:
        assert parsed == value
        assert type(parsed) is type(value)


def test_every_mistake_is_named_with_its_place() -> None:
    """All mistakes of a document come at once, each with pointer, line and column (issue 2)."""
    text = '{"a": NaN,\n "b": [1, {"c": 1e400, "c": 2}],\n "d/e": "\\ud800"}'

    found = [(p.pointer, p.line, p.column) for p in problems_of(text)]

    assert found == [("/a", 1, 7), ("/b/1/c", 2, 17), ("/b/1/c", 2, 24), ("/d~1e", 3, 10)]


def test_a_duplicate_key_is_named() -> None:
    """Who wrote the document must be able to find the key."""
    (problem,) = problems_of('{"sceneId": 1, "sceneId": 2}')

    assert '"sceneId"' in problem.message
    assert (problem.line, problem.column) == (1, 16)


def test_a_mistake_of_syntax_is_placed_after_the_others() -> None:
    """What was read before it is reported too."""
    pointers = [p.pointer for p in problems_of('{"a": NaN, "b": }')]

    assert pointers == ["/a", ""]


def test_the_bounds_are_the_callers() -> None:
    """A catalog may be larger than arguments (contract sections 5 and 7)."""
    assert parse_json("[[[]]]", max_depth=3) == [[[]]]
    with pytest.raises(DocumentError, match="more than 2 deep"):
        parse_json("[[[]]]", max_depth=2)
    with pytest.raises(DocumentError, match="at most 5"):
        parse_json("[[[]]]", max_bytes=5)


def test_many_mistakes_are_capped() -> None:
    """A hostile document cannot flood whoever reads the report."""
    assert len(problems_of("[" + "NaN," * 5_000 + "1]")) == 50


@given(JSON)
def test_whatever_is_written_is_read_back(value: object) -> None:
    """Compact JSON and the strict parser agree on every JSON value."""
    assert parse_json(compact_json(value)) == value


@given(JSON)
def test_escaped_text_is_read_back(value: object) -> None:
    """Text written with escapes alone, pairs included, is the same text."""
    assert parse_json(json.dumps(value, ensure_ascii=True, indent=1)) == value


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_no_text_raises_anything_else(data: str | bytes) -> None:
    """Whatever the bytes, the outcome is a value or a DocumentError."""
    try:
        parse_json(data)
    except DocumentError as error:
        assert error.problems  # noqa: PT017 - either outcome is right


@given(st.text(alphabet='[]{}",:\\ud8cn10eE.-+Nat ', max_size=40))
def test_near_json_gives_a_value_that_json_gives_too(text: str) -> None:
    """What the strict parser takes, the lenient one reads the same."""
    try:
        value = parse_json(text)
    except DocumentError:
        return
    assert json.loads(text) == value
    assert not any(isinstance(item, float) and math.isinf(item) for item in [value])


def outcome(data: str | bytes) -> str:
    """What becomes of a document: the value written out with its types, or the mistakes."""
    try:
        return repr(parse_json(data))
    except DocumentError as error:
        return str(error.problems)


_NEAR_JSON = st.text(alphabet='[]{}",:\\ud8cn10eE.-+Nat é', max_size=40)
_SPACED = st.builds(
    lambda value, colon, comma, ascii_: json.dumps(
        value, ensure_ascii=ascii_, separators=(comma, colon)
    ),
    JSON,
    st.sampled_from([":", ": ", " :", "\t: ", "\n:"]),
    st.sampled_from([",", ", ", "\n,"]),
    st.booleans(),
)


@given(_NEAR_JSON | _SPACED | st.builds(lambda a, b: a.replace(b[:3], "", 1), _SPACED, _SPACED))
def test_bytes_and_text_are_read_alike(text: str) -> None:
    """Bytes are read by a faster parser first, and nobody can tell."""
    assert outcome(text.encode()) == outcome(text)


@given(st.lists(st.sampled_from(["a", "b", ":", '":', "a:b"]), min_size=1, max_size=6), st.data())
def test_no_key_is_taken_twice_however_it_is_written(names: list[str], data: st.DataObject) -> None:
    """Colons in texts, blanks before colons and escapes do not hide a second key."""
    colons = data.draw(st.lists(st.sampled_from([":", " :", ": "]), min_size=6, max_size=6))
    values = data.draw(st.lists(st.sampled_from(['"a:b"', '"\\":"', "1", '{"x": 1}']), min_size=6))
    members = [
        f"{json.dumps(name)}{colon}{value}"
        for name, colon, value in zip(names, colons, values, strict=False)
    ]
    document = f"{{{', '.join(members)}}}".encode()

    if len(set(names)) == len(names):
        assert list(json.loads(document)) == list(parse_json(document) or ())  # pyright: ignore[reportArgumentType, reportCallIssue]
    else:
        with pytest.raises(DocumentError):
            parse_json(document)
