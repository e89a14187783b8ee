"""Strict YAML: the 1.2 core schema, bounded, with every mistake placed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.problems import DocumentError, Problem
from remit.documents.strict_yaml import parse_yaml


def problems_of(data: str | bytes) -> tuple[Problem, ...]:
    """The problems with which a document is refused."""
    with pytest.raises(DocumentError) as caught:
        parse_yaml(data)
    return caught.value.problems


CORE = {
    "NO": "NO",
    "no": "no",
    "yes": "yes",
    "on": "on",
    "y": "y",
    "2024-01-01": "2024-01-01",
    "2024-01-01T00:00:00Z": "2024-01-01T00:00:00Z",
    "12:30": "12:30",
    "1:20:30": "1:20:30",
    "1_000": "1_000",
    "0b101": "0b101",
    "0o17": 15,
    "0x1F": 31,
    "-0o17": "-0o17",
    "010": 10,
    "08": 8,
    "+12": 12,
    "-7": -7,
    "18446744073709551616": 2**64,
    "1.0": 1.0,
    "1.": 1.0,
    ".5": 0.5,
    "-1.5e3": -1500.0,
    "12e03": 12000.0,
    "1e": "1e",
    ".": ".",
    "-": "-",
    "--1": "--1",
    "true": True,
    "True": True,
    "tRUE": "tRUE",
    "FALSE": False,
    "null": None,
    "NULL": None,
    "nUll": "nUll",
    "~": None,
    "~a": "~a",
    "": None,
    "nan": "nan",
    "inf": "inf",
    '"1"': "1",
    "'true'": "true",
    "!!str 5": "5",
    '!!int "5"': 5,
    "!!float 1": 1.0,
    "!!null ''": None,
    "! 5": "5",
    "\u2028": "\u2028",
    '"a\u0085b"': "a\x85b",
    "\U0001f600": "\U0001f600",
}


@pytest.mark.parametrize(("text", "value"), CORE.items(), ids=[ascii(key) for key in CORE])
def test_a_scalar_means_what_the_core_schema_says(text: str, value: object) -> None:
    """YAML 1.2.2 section 10.3, not 1.1: NO and dates are strings, 2^64 is exact."""
    if text == "-":
        text, value = '"-"', "-"
    parsed = parse_yaml(f"v: {text}\n")

    assert parsed == {"v": value}
    assert isinstance(parsed, dict)
    assert type(parsed["v"]) is type(value)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
LADDER = "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 100))
REFUSED = {
    "infinity": ("a: .inf", "/a", "no JSON number"),
    "not a number": ("a: .NaN", "/a", "no JSON number"),
    "overflow": ("a: 1e400", "/a", "too large"),
    "too many digits": ("a: " + "1" * 5_000, "/a", "too large"),
    "too many hexadecimal digits": ("a: 0x" + "f" * 5_000, "/a", "too large"),
    "duplicate key": ("a: 1\na: 2", "/a", "twice"),
    "duplicate key by quotes": ("a: 1\n'a': 2", "/a", "twice"),
    "duplicate key by alias": ("&k a: 1\n*k : 2", "/a", "twice"),
    "number as a key": ("x:\n  1: a", "/x", "keys are strings"),
    "boolean as a key": ("true: a", "", "keys are strings"),
    "null as a key": ("? \n: a", "", "keys are strings"),
    "list as a key": ("? [a]\n: b", "", "keys are strings"),
    "merge key": ("a: &a {x: 1}\nb:\n  <<: *a", "/b", "merge key"),
    "foreign tag": ("a: !!binary aGk=", "/a", "core schema"),
    "own tag": ("a: !thing {}", "/a", "core schema"),
    "Python tag": ("a: !!python/object/apply:os.system [x]", "/a", "core schema"),
    "tag that does not fit": ("a: !!int x", "/a", "does not fit"),
    "two documents": ("a: 1\n---\nb: 2", "", "second document"),
    "empty": ("", "", "empty"),
    "comment alone": ("# nothing\n", "", "empty"),
    "alias bomb": (BOMB, "/a3/7", "aliases"),
    "alias of much text": (f"- &a {'x' * 9_000}\n" + "- *a\n" * 90, "/30", "aliases"),
    "alias ladder": (LADDER, "/63/0", "deep"),
    "cycle": ("a: &a\n  b: [*a]", "/a/b/0", "inside the value"),
    "unknown alias": ("a: *nothing", "/a", "no anchor"),
    "too deep": ("[" * 70 + "]" * 70, None, "deep"),
    "far too deep": ("[" * 100_000, None, "deep"),
    "tab": ("a:\n\t- b", "", "tab"),
    "bad indentation": ("a:\n  b: 1\n c: 2", "", "key"),
    "colon in a text": ("a: b: c", "", "key"),
    "open quote": ('a: "x', "", "no end"),
    "open list": ("a: [1, 2", "", "bracket"),
    "control character": ("a: \x01", "", "U+0001"),
    "NUL": ("a: \x00", "", "U+0000"),
    "lone surrogate": ("a: \ud800", "", "surrogate"),
    "escaped surrogate": ('a: "\\ud800"', "", "UTF-16"),
    "invalid UTF-8": (b"a: \xff", "", "UTF-8"),
    "another version": ("%YAML 1.1\n---\na: 1", "", "version"),
    "reserved character": ("a: @x", "", "quote"),
}


@pytest.mark.parametrize(("data", "pointer", "word"), REFUSED.values(), ids=REFUSED)
def test_what_json_has_no_value_for_is_refused(
    data: str | bytes, pointer: str | None, word: str
) -> None:
    """Each bad document gives one clear error with its place (issue 2, Bad input)."""
    problem = problems_of(data)[0]

    assert word in f"{problem.message} {problem.mend}"
    assert pointer is None or problem.pointer == pointer
    assert problem.line is not None


def test_every_mistake_comes_with_its_line() -> None:
    """All mistakes of a document at once (issue 2)."""
    text = "a: .inf\nb:\n  c: 1\n  c: 2\n1: x\nd: !foo y\n"

    found = [(p.pointer, p.line, p.column) for p in problems_of(text)]

    assert found == [("/a", 1, 4), ("/b/c", 4, 3), ("", 5, 1), ("/d", 6, 4)]


def test_aliases_within_the_bound_are_followed() -> None:
    """An anchor used a few times is ordinary YAML."""
    assert parse_yaml("a: &x {k: [1]}\nb: *x\nc: [*x]") == {
        "a": {"k": [1]},
        "b": {"k": [1]},
        "c": [{"k": [1]}],
    }
    assert parse_yaml("- &x a\n- &x b\n- *x") == ["a", "b", "b"]


def test_what_editors_add_is_no_mistake() -> None:
    """A byte order mark, Windows line ends and document marks are YAML."""
    assert parse_yaml(b"\xef\xbb\xbf%YAML 1.2\r\n---\r\na: 1\r\n...\r\n") == {"a": 1}


def test_texts_of_several_lines_are_kept() -> None:
    """Descriptions are written as blocks."""
    assert parse_yaml('a: |\n  x\n  y\nb: >-\n  x\n  y\n"<<": z\n') == {
        "a": "x\ny\n",
        "b": "x y",
        "<<": "z",
    }


YAML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"),
    max_size=12,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | YAML_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(YAML_TEXT, inner, max_size=4),
    max_leaves=15,
)


@given(JSON, st.sampled_from([None, 1, "\t"]))
def test_a_json_text_reads_the_same_as_yaml(value: object, indent: int | str | None) -> None:
    """YAML 1.2 holds JSON: the same text is the same value."""
    assert parse_yaml(json.dumps(value, ensure_ascii=False, indent=indent)) == value


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_no_text_raises_anything_else(data: str | bytes) -> None:
    """Whatever the bytes, the outcome is a value or a DocumentError."""
    try:
        parse_yaml(data)
    except DocumentError as error:
        assert error.problems  # noqa: PT017 - either outcome is right


@given(st.text(alphabet="ab:-?[]{},&*!|>'\"%#\n \t<~1.@\u2028", max_size=40))
def test_no_near_yaml_raises_anything_else(text: str) -> None:
    """The same, closer to the grammar; what is read is JSON."""
    try:
        value = parse_yaml(text)
    except DocumentError:
        return
    json.dumps(value, allow_nan=False)
