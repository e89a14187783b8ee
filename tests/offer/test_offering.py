"""Whatever an author writes: each provider is offered something it takes, in bounded time."""

from __future__ import annotations

import json
import time
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from remit.catalog.nulls import drop_optional_nulls
from remit.catalog.parameters import Parameters
from remit.documents.schema import check_schema, compile_schema
from remit.offer.dialects import PROVIDERS, Provider
from remit.offer.offering import eligible, judgements, offered, refused_keywords
from remit.values.json import JsonObject
from tests.offer.apps import closed
from tests.offer.subsets import Json, refusals

NAMES = ("a", "b", "kind", "a b", "x/y", "$ref", "items")
REFERENCES = ("#", "#/$defs/d", "#/$defs/e", "#/properties/a", "#here", "#/definitions/o")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
TEXT: JsonObject = {"type": "string"}


def keywords(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Schemas of any keywords around others."""
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    listed = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from([*TYPES, ["string", "null"], ["object", "array"]]),
            "properties": named,
            "required": st.lists(st.sampled_from(NAMES), unique=True, max_size=3),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
            "items": inner,
            "prefixItems": listed,
            "anyOf": listed,
            "oneOf": listed,
            "allOf": listed,
            "not": inner,
            "if": inner,
            "then": inner,
            "dependentRequired": st.just({"a": ["b"]}),
            "dependentSchemas": st.dictionaries(st.sampled_from(NAMES), inner, max_size=1),
            "$ref": st.sampled_from(REFERENCES),
            "enum": st.lists(
                st.sampled_from(["a", 1, 1.5, None, True, [1]]),
                min_size=1,
                max_size=3,
                unique_by=repr,
            ),
            "const": st.sampled_from(["a", 1, None, False, {"a": 1}]),
            "minLength": st.just(1),
            "minItems": st.sampled_from([0, 1, 2]),
            "format": st.sampled_from(["uri", "uuid", "password", "other"]),
            "default": st.sampled_from([1, {"$ref": "#/nowhere"}]),
            "description": st.sampled_from(["", "words", "\u202e"]),
            "x-own": st.just({"properties": 3}),
        },
    )


plain = st.sampled_from([True, False, {}, {"type": "string"}, {"type": "object"}])
schemas = st.recursive(plain, keywords, max_leaves=5)


@st.composite
def accepted(draw: st.DrawFn) -> JsonObject:
    """Parameters that a catalog loads."""
    root = draw(keywords(schemas))
    root |= {
        "type": "object",
        "properties": draw(st.dictionaries(st.sampled_from(NAMES), schemas, max_size=3))
        | {"a": draw(schemas)},
        "$defs": {"d": draw(schemas), "e": draw(keywords(schemas)), "f": {"$anchor": "here"}},
        "definitions": {"o": draw(schemas)},
    }
    assume(check_schema(root) == ())
    return root


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(accepted(), st.sets(st.sampled_from(NAMES), max_size=2))
def test_any_loadable_schema_is_offered_within_each_subset(
    schema: JsonObject, pins: set[str]
) -> None:
    """One bad tool never fails the whole request; the same schema gives the same offer."""
    before = json.dumps(schema)
    together = judgements(Parameters(schema), PROVIDERS, pins)
    for provider in PROVIDERS:
        # Judged at once or alone, a schema is judged the same.
        assert together[provider].eligibility == eligible(Parameters(schema), provider, pins)
        for strict in (None, True):
            found = offered(Parameters(schema), provider, pins, strict=strict)

            assert refusals(found.schema, provider, strict=found.strict) == []
            assert found == offered(Parameters(schema), provider, pins, strict=strict)
            assert check_schema(found.schema) == ()
            if strict is None:
                assert refused_keywords(Parameters(schema), provider, pins) == found.removals
            assert pins.isdisjoint(found.schema["properties"])  # type: ignore[arg-type]
    assert json.dumps(schema) == before


@pytest.mark.parametrize(
    ("schema", "eligible_for"),
    [
        (closed(**{"a-b": TEXT}), ("openai", "anthropic", "mcp")),
        (closed(a=closed(**{"a-b": TEXT})), ("openai", "anthropic", "mcp")),
        (closed(a={"allOf": [TEXT, {"type": "string", "maxLength": 3}]}), ("anthropic",)),
        (closed(a=TEXT), PROVIDERS),
    ],
)
def test_judged_together_each_provider_keeps_its_own_rules(
    schema: JsonObject, eligible_for: tuple[Provider, ...]
) -> None:
    """Of names and of allOf providers differ; one verdict is not taken for all of them."""
    together = judgements(Parameters(schema), PROVIDERS)

    for provider in PROVIDERS:
        assert together[provider].eligibility == eligible(Parameters(schema), provider)
    found = tuple(p for p in PROVIDERS if together[p].eligibility.eligible)
    assert found == eligible_for


ARGUMENTS: list[JsonObject] = [
    dict(zip(names, combination, strict=True))
    for names in ((), ("a",), ("a", "b"), ("a", "kind"), ("a b", "x/y"))
    for combination in product(("a", 1, None, {"a": "a"}), repeat=len(names))
]


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(accepted())
def test_offer_refuses_nothing_that_the_author_takes(schema: JsonObject) -> None:
    """A fitted schema asks for the same or less: a model obeying the author obeys the offer.

    A parameter that only an alternative of the root declares keeps its type: it is left out here.
    """
    author = compile_schema(schema)
    text, declared = json.dumps(schema), schema["properties"]
    united = '"anyOf"' in text or '"oneOf"' in text
    valid = [
        args
        for args in ARGUMENTS
        if not author.validate(args) and (not united or args.keys() <= declared.keys())  # type: ignore[union-attr]
    ]
    for provider in PROVIDERS:
        found = compile_schema(offered(Parameters(schema), provider, strict=False).schema)
        for args in valid:
            assert found.validate(args) == ()


# Closed schemas and arguments for them, drawn together.

values: dict[str, tuple[JsonObject, list[Json]]] = {
    "text": ({"type": "string", "minLength": 1}, ["x", "yy"]),
    "maybe": ({"type": ["integer", "null"]}, [1, None]),
    "choice": ({"enum": ["a", 2, None]}, ["a", 2, None]),
    "fixed": ({"const": "c"}, ["c"]),
    "either": ({"anyOf": [{"type": "boolean"}, {"type": "number"}]}, [True, 2.5]),
    "shared": ({"$ref": "#/$defs/shared"}, [{"k": "x"}, {}]),
}
SHARED: dict[str, Json] = {"shared": closed(k=TEXT, n={"type": ["string", "null"]})}


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[JsonObject, Json]:
    """A strict-able schema and a value that is valid for it."""
    kind = draw(st.sampled_from([*values, "object", "array", "union"]))
    if depth == 0 or kind in values:
        schema, examples = values[kind if kind in values else "text"]
        return schema, draw(st.sampled_from(examples))
    if kind == "array":
        schema, value = draw(typed(depth=depth - 1))
        return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 2))
    if kind == "union":
        one, other = draw(objects(depth - 1, "one")), draw(objects(depth - 1, "two"))
        return {"oneOf": [one[0], other[0]]}, draw(st.sampled_from([one[1], other[1]]))
    return draw(objects(depth - 1))


@st.composite
def objects(draw: st.DrawFn, depth: int, tag: str | None = None) -> tuple[JsonObject, Json]:
    """A closed object and a value that is valid for it, told by ``tag`` from another one."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    value: dict[str, Json] = {}
    if tag:
        properties["tag"], value["tag"] = {"const": tag}, tag
        required.append("tag")
    for name in draw(st.lists(st.sampled_from("abc"), unique=True, max_size=3)):
        properties[name], item = draw(typed(depth=depth))
        given_, needed = draw(st.booleans()), draw(st.booleans())
        if needed:
            required.append(name)
        if given_ or needed:
            value[name] = item
    return closed(" ".join(required), **properties), value


def filled(schema: Json, value: Json, definitions: Json) -> Json:
    """The value as a strict model must write it: every property there, null where not given."""
    if not isinstance(schema, dict):
        return value
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].removeprefix("#/$defs/")], value, definitions)
    for branch in schema.get("oneOf", schema.get("anyOf", [])):
        if not compile_schema({"$defs": definitions, "allOf": [branch]}).validate(value):
            return filled(branch, value, definitions)
    if isinstance(value, list):
        return [filled(schema["items"], item, definitions) for item in value]
    if isinstance(value, dict):
        return {
            name: filled(schema["properties"][name], value[name], definitions)
            if name in value
            else None
            for name in schema["properties"]
        }
    return value


def without_nulls(value: Json) -> Json:
    """A value without the keys that are null."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@given(objects(2))
def test_strict_arguments_are_the_author_s_again_once_undone(
    drawn: tuple[JsonObject, Json],
) -> None:
    """Derivation and undoing are a pair: null for "not given" comes back as not given."""
    schema, args = {**drawn[0], "$defs": SHARED}, drawn[1]
    assert compile_schema(schema).validate(args) == ()
    found = offered(Parameters(schema), "openai")
    assert found.strict, found.eligibility

    written = filled(schema, args, SHARED)
    assert compile_schema(found.schema).validate(written) == ()
    undone, _ = drop_optional_nulls(schema, written)

    assert compile_schema(schema).validate(undone) == ()
    # Only a null that the author admits may be left where nothing was given.
    assert without_nulls(undone) == without_nulls(args)


CIRCULAR: JsonObject = {
    "type": "object",
    "properties": {
        "tree": {"allOf": [{"$ref": "#/$defs/Node"}], "description": "The root."},
        "again": {"$ref": "#/properties/tree"},
        "old": {"$ref": "#/definitions/Old"},
        "me": {"$ref": "#"},
    },
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "next": {"allOf": [{"$ref": "#/$defs/Node"}]},
                "twin": {"allOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Named"}]},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["kids"],
        },
        "Named": {"properties": {"name": TEXT, "of": {"$ref": "#/$defs/Node"}}},
        "Unused": {"$ref": "#/$defs/Node"},
    },
    "definitions": {"Old": {"type": "array", "items": {"$ref": "#/definitions/Old"}}},
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_circular_schema_is_offered_finite_and_whole(provider: Provider) -> None:
    """Recursion stays where it is taken; no reference dangles, no definition is unused."""
    assert check_schema(CIRCULAR) == ()
    start = time.process_time()
    found = offered(Parameters(CIRCULAR), provider)

    assert time.process_time() - start < 1
    assert refusals(found.schema, provider, strict=False) == []
    text = json.dumps(found.schema)
    assert len(text) < 3_000
    assert '"$ref": "#/$defs/Node"' in text
    assert "Unused" not in text
    # Gemini unrolls recursion only below optional properties; these two are below none.
    assert {r.pointer for r in found.removals if r.keyword == "$ref"} == (
        {"/$defs/Node/properties/kids/items/$ref", "/definitions/Old/items/$ref"}
        if provider == "gemini"
        else set()
    )


def test_largest_schema_is_offered_within_a_second() -> None:
    """5,000 properties that share their definitions (contract section 2's bound)."""
    definitions: dict[str, Json] = {
        f"d{i}": closed(a={"$ref": f"#/$defs/d{i + 1}"}, b=TEXT) for i in range(5)
    }
    definitions["d5"] = TEXT
    schema = closed(**{f"p{i}": {"$ref": f"#/$defs/d{i % 5}"} for i in range(900)})
    schema["$defs"] = definitions
    assert check_schema(schema) == ()
    start = time.process_time()
    for provider in PROVIDERS:
        offered(Parameters(schema), provider)

    assert time.process_time() - start < 4
