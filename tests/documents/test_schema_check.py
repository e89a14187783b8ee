"""Checking schemas before a validator is built: sound ones, bombs, and what looks like one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.problems import DocumentError
from remit.documents.schema import check_schema, compile_schema


def properties(**schemas: object) -> dict[str, object]:
    """A schema of an object with these properties."""
    return {"type": "object", "properties": schemas}


def doubling(count: int, keyword: str) -> dict[str, object]:
    """Definitions that each refer twice to the next one."""
    definitions: dict[str, object] = {f"d{count}": {"type": "string"}}
    for index in range(count):
        ref = {"$ref": f"#/$defs/d{index + 1}"}
        definitions[f"d{index}"] = {
            keyword: {"a": ref, "b": ref} if keyword == "properties" else [ref, ref]
        }
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def nested(depth: int) -> dict[str, object]:
    """A schema whose JSON is ``depth`` deep."""
    schema: dict[str, object] = {}
    for _ in range(depth - 1):
        schema = {"items": schema}
    return schema


BAD: dict[str, tuple[object, str, str]] = {
    "remote reference": (
        properties(a={"$ref": "http://169.254.169.254/schema"}),
        "/properties/a/$ref",
        "nothing is fetched",
    ),
    "remote dynamic reference": (
        {"$dynamicRef": "https://x.example/s#a"},
        "/$dynamicRef",
        "leaves",
    ),
    "file reference": ({"$ref": "file:///etc/passwd"}, "/$ref", "leaves"),
    "relative reference": ({"$ref": "other.json#/a"}, "/$ref", "leaves"),
    "relative to an identifier": (
        {"$id": "http://x.example/a/", "$ref": "b"},
        "/$ref",
        "leaves",
    ),
    "metaschema reference": (
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        "/$ref",
        "leaves",
    ),
    "remote below a definition": (
        {"$defs": {"u": {"$ref": "http://x"}}},
        "/$defs/u/$ref",
        "leaves",
    ),
    "remote behind a reference to no schema place": (
        {"$ref": "#/x/a", "x": {"a": {"$ref": "#/y/b"}}, "y": {"b": {"$ref": "http://q"}}},
        "/y/b/$ref",
        "leaves",
    ),
    "remote in an old keyword": (
        {"dependencies": {"a": ["b"], "c": {"$ref": "http://x"}}},
        "/dependencies/c/$ref",
        "leaves",
    ),
    "base moved": (
        {"properties": {"a": {"$id": "http://x/", "$ref": "#/$defs/a"}}, "$defs": {"a": {}}},
        "/properties/a/$id",
        "changes what the references",
    ),
    "dangling reference": ({"$ref": "#/$defs/x"}, "/$ref", "names nothing"),
    "dangling anchor": ({"$ref": "#x", "const": {"$anchor": "x"}}, "/$ref", "names nothing"),
    "reference to a value": ({"$ref": "#/title", "title": "x"}, "/$ref", "names nothing"),
    "index with a zero": ({"$ref": "#/allOf/00", "allOf": [{}]}, "/$ref", "names nothing"),
    "anchor twice": (
        {"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}},
        "/$defs/b/$anchor",
        "twice",
    ),
    "cycle": (
        {
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}},
        },
        "/$defs/x",
        "without end",
    ),
    "cycle through branches": (
        {"$defs": {"x": {"anyOf": [{"type": "null"}, {"not": {"$ref": "#/$defs/x"}}]}}},
        "/$defs/x",
        "without end",
    ),
    "cycle to itself": ({"allOf": [{"$ref": "#"}]}, "", "without end"),
    "doubling properties": (doubling(30, "properties"), "", "more than 10,000"),
    "doubling branches": (doubling(30, "allOf"), "", "more than 10,000"),
    "too many properties": (
        properties(**{f"p{n}": {} for n in range(5_001)}),
        "",
        "5,001 properties",
    ),
    "far too many properties": (properties(**{f"p{n}": {} for n in range(100_000)}), "", "bytes"),
    "too large": ({"description": "x" * 262_144}, "", "bytes"),
    "too large in bytes": ({"description": "\u20ac" * 90_000}, "", "bytes"),
    "too deep": (nested(65), "", "more than 64 deep"),
    "far too deep": (nested(2_000), "", "more than 64 deep"),
    "look-ahead": (
        properties(s={"pattern": "^(?=(a+)+$)b"}),
        "/properties/s/pattern",
        "looks around",
    ),
    "look-behind": ({"pattern": "(?<!a)b"}, "/pattern", "looks around"),
    "back-reference": ({"pattern": r"(a)\1"}, "/pattern", "refers back"),
    "named back-reference": ({"pattern": r"(?<n>a)\k<n>"}, "/pattern", "refers back"),
    "look-ahead as a key": (
        {"patternProperties": {"(?!x)/": {}}},
        "/patternProperties/(?!x)~1",
        "looks around",
    ),
    "broken pattern": ({"pattern": "("}, "/pattern", "no regular expression"),
    "pattern that grows": ({"pattern": "((a{100}){100}){100}"}, "/pattern", "memory"),
    "too many patterns": (
        properties(**{f"p{n}": {"pattern": f"{n}"} for n in range(101)}),
        "",
        "101 different patterns",
    ),
    "unknown type": (properties(a={"type": "strng"}), "/properties/a/type", "no type"),
    "unknown type in a list": ({"type": ["string", "nul"]}, "/type", "no type"),
    "divisor zero": (properties(n={"multipleOf": 0}), "/properties/n/multipleOf", "more than 0"),
    "negative length": ({"minLength": -1}, "/minLength", "at least 0"),
    "required as in draft 3": (properties(a={"required": True}), "/properties/a/required", "array"),
    "bound as in draft 4": ({"exclusiveMinimum": True}, "/exclusiveMinimum", "number"),
    "items as in draft 7": ({"items": [{}]}, "/items", "object"),
    "another dialect": (
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        "/$schema",
        "2020-12",
    ),
    "a list as a schema": (properties(a=[]), "/properties/a", "object"),
    "no schema": (5, "", "object"),
    "infinity": ({"maximum": float("inf")}, "", "not JSON"),
    "number as a key": ({1: {}}, "", "not JSON"),
    "lone surrogate": ({"title": "\ud800"}, "", "not JSON"),
    "more digits than are read": ({"maximum": 10**5_000}, "", "not JSON"),
}


@pytest.mark.parametrize(("schema", "at", "words"), BAD.values(), ids=BAD)
def test_a_schema_that_cannot_be_used_is_said_to_be_so(schema: object, at: str, words: str) -> None:
    """One located problem, in bounded time, and nothing is fetched (contract section 2)."""
    began = time.thread_time()
    problems = check_schema(schema, at="/tools/0/parameters")

    assert [p.pointer for p in problems] == [f"/tools/0/parameters{at}"]
    assert words in problems[0].message
    assert problems[0].mend
    assert time.thread_time() - began < 10


FINE: dict[str, object] = {
    "nothing": {},
    "everything": True,
    "our dialect": {"$schema": "https://json-schema.org/draft/2020-12/schema"},
    "a name of its own": {"$id": "https://x.example/s", "$ref": "#/$defs/a", "$defs": {"a": {}}},
    "unknown keywords": {"x-order": 1, "nullable": True, "example": {"$ref": "http://x"}},
    "references in data": {
        "default": {"$ref": "http://x"},
        "enum": [{"$ref": "http://x"}],
        "const": {"$id": "http://x"},
        "examples": [{"pattern": "(?=a)"}],
        "x-foo": {"$ref": "http://x"},
    },
    "keywords as property names": properties(
        **{"$ref": {"type": "string"}, "pattern": {}, "type": {}, "required": {}, "$id": {}}
    ),
    "tree": {"properties": {"children": {"items": {"$ref": "#"}}}},
    "mutual recursion": {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"properties": {"b": {"$ref": "#/$defs/b"}}},
            "b": {"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/b"}}},
        },
    },
    "many that refer to each other": {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{n}": {"properties": {f"p{m}": {"$ref": f"#/$defs/d{m}"} for m in range(12)}}
            for n in range(12)
        },
    },
    "one definition used often": {
        "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(1_000)},
        "$defs": {"a": {"type": "string"}},
    },
    "chain": {
        "$ref": "#/$defs/d0",
        "$defs": {**{f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(500)}, "d500": {}},
    },
    "doubling within bounds": doubling(8, "properties"),
    "escaped pointer": {"$ref": "#/%24defs/a~1b%25", "$defs": {"a/b%": {"type": "string"}}},
    "anchor": {"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}},
    "dynamic anchor": {"$dynamicAnchor": "n", "properties": {"c": {"$dynamicRef": "#n"}}},
    "huge minimum": {"properties": {"l": {"items": {}, "minItems": 10**12}}},
    "exact large bound": {"maximum": 2**70},
    "nested repetition": {"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"},
    "letters of every script": {"pattern": r"^[\p{L}\p{M} .'-]{1,100}$"},
    "escaped look-ahead": {"pattern": r"^\(\?=a\)$"},
    "as many properties as allowed": properties(**{f"p{n}": {} for n in range(5_000)}),
    "as deep as allowed": nested(64),
    "empty enum": {"enum": []},
    "any format": {"format": "no-such-format"},
}


@pytest.mark.parametrize("schema", FINE.values(), ids=FINE)
def test_a_sound_schema_is_left_alone_and_compiles(schema: object) -> None:
    """Unknown keywords are kept, references and recursion are ordinary (contract section 2)."""
    assert check_schema(schema) == ()

    if isinstance(schema, dict):
        compile_schema(schema)


def test_all_mistakes_come_at_once_in_order() -> None:
    """All mistakes of a document at once (issue 2)."""
    schema = properties(
        a={"type": "strng"}, b={"pattern": "(?=x)"}, c={"$ref": "#/no"}, d={"$ref": "http://x"}
    )

    assert {p.pointer for p in check_schema(schema)} == {
        "/properties/a/type",
        "/properties/b/pattern",
        "/properties/c/$ref",
        "/properties/d/$ref",
    }


def test_a_schema_that_was_not_checked_still_fetches_nothing() -> None:
    """Compiling refuses what it cannot resolve; the retriever retrieves nothing."""
    with pytest.raises(DocumentError, match="not in this schema"):
        compile_schema({"$ref": "http://169.254.169.254/schema"})


NAMES = st.sampled_from(["a", "b", "$defs", "properties", "x"])
SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({"type": st.sampled_from(["string", "object", "nope", "integer"])})
    | st.fixed_dictionaries(
        {"$ref": st.sampled_from(["#", "", "#/$defs/a", "#/$defs/b", "#/properties/a", "#a", "x"])}
    )
    | st.fixed_dictionaries({"pattern": st.sampled_from(["a+", "(?=a)", "(", r"\d", r"(a)\1"])})
    | st.fixed_dictionaries({"$anchor": st.sampled_from(["a", "b"])})
    | st.fixed_dictionaries({"$id": st.sampled_from(["http://x/", "y", "#z"])}),
    lambda inner: (
        st.dictionaries(
            st.sampled_from(["items", "not", "if", "contains", "additionalProperties"]),
            inner,
            max_size=2,
        )
        | st.dictionaries(
            st.sampled_from(["properties", "$defs", "patternProperties", "dependentSchemas"]),
            st.dictionaries(NAMES, inner, max_size=3),
            max_size=2,
        )
        | st.dictionaries(
            st.sampled_from(["allOf", "anyOf", "prefixItems"]),
            st.lists(inner, min_size=1, max_size=3),
            max_size=2,
        )
    ),
    max_leaves=12,
)


@given(SCHEMAS, st.none() | st.integers() | st.text(max_size=3) | st.just({"a": {"a": [1]}}))
def test_what_passes_the_check_compiles_and_validates(schema: object, instance: object) -> None:
    """The check is the whole truth: nothing it lets through fails later."""
    if check_schema(schema) == () and isinstance(schema, dict):
        compile_schema(schema).validate(instance)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "$ref", "items", "allOf", "properties", "pattern", "$id", "a"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_no_value_makes_the_check_raise(schema: object) -> None:
    """Whatever stands where a schema should, the outcome is a list of problems."""
    for problem in check_schema(schema):
        json.dumps(problem.message)
