"""Compiled schemas: what is enforced, in which words, within which bounds."""

from __future__ import annotations

import time

import pytest

from remit.documents.schema import MAX_FAULTS, Fault, compile_schema


def faults_of(schema: dict[str, object], instance: object) -> tuple[Fault, ...]:
    """What an instance breaks in a schema."""
    return compile_schema(schema).validate(instance)


def only(schema: dict[str, object], instance: object) -> Fault:
    """The one fault of an instance."""
    (fault,) = faults_of(schema, instance)
    return fault


BOOKING: dict[str, object] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["desk", "room"]},
        "guests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"age": {"type": "integer"}},
                "required": ["age"],
            },
        },
    },
    "required": ["kind"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("instance", "pointer", "rule", "message"),
    [
        ({"kind": "Desk"}, "/kind", "enum", 'must be one of "desk", "room"; it is "Desk"'),
        (
            {"kind": "desk", "guests": [{"age": 1}, {"age": "x"}]},
            "/guests/1/age",
            "type",
            'must be an integer; it is "x"',
        ),
        ({"guests": []}, "", "required", 'the property "kind" is missing'),
        (
            {"kind": "desk", "guests": [{}]},
            "/guests/0",
            "required",
            'the property "age" is missing',
        ),
        (
            {"kind": "desk", "gests": []},
            "",
            "additionalProperties",
            'the property "gests" is not declared (did you mean "guests"?)',
        ),
        ([], "", "type", "must be an object; it is an array of 0 items"),
    ],
)
def test_a_fault_names_the_argument_and_the_rule(
    instance: object, pointer: str, rule: str, message: str
) -> None:
    """The model must be able to repair the call (contract section 5, step 4)."""
    fault = only(BOOKING, instance)

    assert (fault.pointer, fault.rule, fault.message) == (pointer, rule, message)


@pytest.mark.parametrize(
    ("schema", "instance", "message"),
    [
        ({"const": 5}, 6, "must be 5; it is 6"),
        ({"minimum": 5}, 3, "must be at least 5; it is 3"),
        ({"maximum": 5}, 7.5, "must be at most 5; it is 7.5"),
        ({"exclusiveMinimum": 5}, 5, "must be more than 5; it is 5"),
        ({"exclusiveMaximum": 5}, 5, "must be less than 5; it is 5"),
        ({"multipleOf": 3}, 4, "must be a multiple of 3; it is 4"),
        ({"minLength": 2}, "a", "must have at least 2 characters; it has 1"),
        ({"maxItems": 1}, [1, 2], "must have at most 1 item; it has 2"),
        ({"minProperties": 2}, {"a": 1}, "must have at least 2 properties; it has 1"),
        ({"uniqueItems": True}, [1, 1], "must not hold the same item twice"),
        ({"pattern": "^a$"}, "b", 'must match ^a$; it is "b"'),
        ({"type": ["string", "null"]}, 1, "must be a string or null; it is 1"),
        ({"type": "boolean"}, "true", 'must be true or false; it is "true"'),
        ({"not": {"type": "string"}}, "x", 'fits what its schema excludes with "not"; it is "x"'),
        ({"properties": {"a": False}}, {"a": 1}, "is not allowed here"),
        ({"contains": {"const": 1}}, [], "holds no item of the kind that it must hold"),
        (
            {"propertyNames": {"maxLength": 2}},
            {"abc": 1},
            'the property name "abc" must have at most 2 characters; it has 3',
        ),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            'with these properties, "b" is required too',
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "1",
            'must be an integer or null; it is "1"',
        ),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
            2,
            "fits more than one of the 2 forms of which it must fit exactly one",
        ),
        (
            {
                "oneOf": [
                    {"properties": {"t": {"const": "a"}, "v": {"type": "integer"}}},
                    {"properties": {"t": {"const": "b"}}},
                ]
            },
            {"t": "a", "v": "x"},
            'fits none of the 2 allowed forms; of the closest, at /v must be an integer; it is "x"',
        ),
        (
            {"enum": list(range(20))},
            "x",
            'must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more; it is "x"',
        ),
        (
            {"enum": ["a"]},
            "x" * 81,
            'must be "a"; it is "' + "x" * 80 + '\u2026" (cut, 81 characters in all)',
        ),
    ],
)
def test_a_fault_reads_as_a_person_would_say_it(
    schema: dict[str, object], instance: object, message: str
) -> None:
    """Messages are for a person, long values are cut and said to be (contract section 5)."""
    assert only(schema, instance).message == message


def test_a_fault_says_which_types_would_do() -> None:
    """The lossless repair asks for the type (contract section 5, step 3)."""
    schema: dict[str, object] = {
        "anyOf": [{"$ref": "#/$defs/n"}, {"type": ["null", "boolean"]}],
        "$defs": {"n": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]}},
    }

    assert only({"type": "integer"}, "1").expected_types == ("integer",)
    assert set(only(schema, "1").expected_types) == {"integer", "number", "boolean", "null"}
    assert only({"minimum": 3}, 1).expected_types == ()


def test_a_fault_names_missing_and_extra_properties_one_by_one() -> None:
    """An undeclared argument is a fault of its own."""
    faults = faults_of(BOOKING, {"x": 1, "y": 2})

    assert {(f.rule, f.property) for f in faults} == {
        ("additionalProperties", "x"),
        ("additionalProperties", "y"),
        ("required", "kind"),
    }


def test_a_closed_object_without_properties_names_what_it_got() -> None:
    """A tool without parameters, called with some (contract section 2)."""
    schema: dict[str, object] = {"properties": {"o": {"additionalProperties": False}}}

    found = [(f.pointer, f.rule, f.property) for f in faults_of(schema, {"o": {"x": 1, "y": 2}})]

    assert found == [("/o", "additionalProperties", "x"), ("/o", "additionalProperties", "y")]


def test_a_fault_points_at_the_broken_keyword() -> None:
    """Also through a reference: where the author wrote the rule."""
    schema: dict[str, object] = {
        "properties": {"a/b": {"$ref": "#/$defs/s"}},
        "$defs": {"s": {"type": "string"}},
    }

    fault = only(schema, {"a/b": 1})

    assert (fault.pointer, fault.schema_pointer) == ("/a~1b", "/$defs/s/type")


SECRET = "hunter2-canary"
SECRETS: dict[str, tuple[dict[str, object], object]] = {
    "writeOnly": ({"properties": {"p": {"writeOnly": True, "pattern": "^x"}}}, {"p": SECRET}),
    "password": ({"properties": {"p": {"format": "password", "enum": ["x"]}}}, {"p": SECRET}),
    "another branch": (
        {
            "properties": {"p": {"writeOnly": True}},
            "allOf": [{"properties": {"p": {"type": "integer"}}}],
        },
        {"p": SECRET},
    ),
    "reference": (
        {
            "properties": {"p": {"$ref": "#/$defs/s"}},
            "$defs": {"s": {"format": "password", "const": 1}},
        },
        {"p": SECRET},
    ),
    "items": (
        {"properties": {"p": {"items": {"writeOnly": True, "type": "integer"}}}},
        {"p": [SECRET]},
    ),
    "inside a secret": (
        {"properties": {"p": {"writeOnly": True, "properties": {"q": {"type": "integer"}}}}},
        {"p": {"q": SECRET}},
    ),
    "branch of a choice": (
        {
            "properties": {
                "p": {"anyOf": [{"type": "null"}, {"format": "password", "type": "integer"}]}
            }
        },
        {"p": SECRET},
    ),
    "choice above it": (
        {
            "anyOf": [
                {"properties": {"p": {"writeOnly": True, "type": "integer"}}},
                {"type": "null"},
            ]
        },
        {"p": SECRET},
    ),
    "free keys": ({"additionalProperties": {"writeOnly": True, "type": "integer"}}, {"k": SECRET}),
    "the whole value": ({"writeOnly": True, "type": "integer"}, SECRET),
    "an extra property beside it": (
        {"properties": {"p": {"writeOnly": True}}, "additionalProperties": False},
        {"pasword": SECRET},
    ),
}


@pytest.mark.parametrize(("schema", "instance"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_never_in_a_message(schema: dict[str, object], instance: object) -> None:
    """Passwords and writeOnly values are sent and never shown (contract section 2)."""
    faults = faults_of(schema, instance)

    assert faults
    assert SECRET not in repr(faults)


def test_the_length_of_a_secret_is_not_told_either() -> None:
    """A message helps without giving the secret's shape away."""
    schema: dict[str, object] = {"properties": {"p": {"writeOnly": True, "minLength": 20}}}

    assert only(schema, {"p": SECRET}).message == "is too short"


FORMATS = {
    "uri": (
        ["https://example.com", "http://localhost:8000/x?y=1#f", "urn:isbn:1", "mailto:a@b.c"],
        ["/rel", "x", "", "http://a b", "https://a.b/{x}"],
    ),
    "email": (["a@b.co", "a+b@c.de", "a@localhost"], ["a", "@b.c", "a@b@c.d", "Ana <a@b.co>", ""]),
    "uuid": (
        ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", ""],
    ),
    "date": (["2024-02-29"], ["2023-02-29", "2024-2-9", "2024-01-01T00:00:00Z", ""]),
    "date-time": (
        ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+05:30"],
        ["2024-01-01T00:00:00", "2024-01-01", "2024-01-01T24:00:00Z", ""],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_five_formats_are_enforced(name: str) -> None:
    """uri, email, uuid, date and date-time are rules (contract section 2)."""
    schema = compile_schema({"format": name})
    good, bad = FORMATS[name]

    assert [text for text in good if schema.validate(text)] == []
    assert [text for text in bad if not schema.validate(text)] == []
    assert schema.validate(5) == ()


@pytest.mark.parametrize(
    "name",
    [
        "time",
        "duration",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri-reference",
        "iri",
        "iri-reference",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "password",
        "int32",
        "binary",
        "no-such-format",
    ],
)
def test_every_other_format_is_an_annotation(name: str) -> None:
    """A format that is not among the five never refuses a value (contract section 2)."""
    assert compile_schema({"format": name}).validate("not a: valid [ x %zz {") == ()


@pytest.mark.parametrize(
    ("schema", "instance", "valid"),
    [
        ({"type": "integer"}, 2**64, True),
        ({"type": "integer"}, -(10**4_299), True),
        ({"type": "integer"}, 10**20_000, True),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, 1e308, True),
        ({"type": "integer"}, 1.5, False),
        ({"type": "integer"}, True, False),
        ({"maximum": 2**70}, 2**70, True),
        ({"maximum": 2**70}, 2**70 + 1, False),
        ({"const": 2**64}, 2**64 + 1, False),
        ({"enum": [2**64 + 1]}, 2**64 + 1, True),
        ({"multipleOf": 0.1}, 0.3, True),
        ({"multipleOf": 0.1}, 1e308, True),
        ({"maximum": 5}, 10**400, False),
        ({"maximum": 5}, 10**4_299, False),
        ({"minimum": 5}, -(10**4_299), False),
        ({"minItems": 10**12}, [], False),
        ({"minItems": 10**20}, [], False),
    ],
    # Some of them have more digits than Python prints.
    ids=range(18),
)
def test_numbers_of_any_size_are_compared_exactly(
    schema: dict[str, object], instance: object, valid: bool
) -> None:
    """Integers keep every digit; none of them crashes the validator."""
    assert (faults_of(schema, instance) == ()) is valid


@pytest.mark.parametrize(
    "instance", ["\ud800", {"\ud800": 1}, {1: 2}, {1, 2}, object()], ids=range(5)
)
def test_what_is_not_json_is_a_fault_not_a_crash(instance: object) -> None:
    """Arguments come from anywhere; the outcome is always a list of faults."""
    assert only({"type": "string"}, instance).rule == "json"


def test_a_huge_value_cannot_flood_the_report() -> None:
    """The faults told of one value are few, and found in bounded time."""
    began = time.thread_time()

    assert len(faults_of({"items": {"type": "string"}}, [1] * 4_000)) == MAX_FAULTS
    assert len(faults_of({"items": {"type": "string"}}, [1] * 100_000)) == 1
    many_branches: dict[str, object] = {
        "items": {"anyOf": [{"type": "object", "required": [f"k{n}"]} for n in range(200)]}
    }
    assert len(faults_of(many_branches, [{}] * 3_000)) == 1
    assert len(faults_of({"additionalProperties": False}, {f"k{n}": 1 for n in range(999)})) == 20
    assert time.thread_time() - began < 10


@pytest.mark.parametrize(
    "pattern", ["^(([a-z])+.)+[A-Z]([a-z])+$", "^(a+)+$", "(x+x+)+y", "^(a|aa)+$", "(.*a){20}b"]
)
def test_no_pattern_backtracks(pattern: str) -> None:
    """ReDoS patterns answer at once (CWE-1333)."""
    schema = compile_schema({"pattern": pattern})
    began = time.thread_time()

    schema.validate("a" * 60 + "!")
    schema.validate("x" * 50_000)

    assert time.thread_time() - began < 10


def branching(count: int) -> dict[str, object]:
    """A schema that applies itself to one part of its value in several branches."""
    ref = {"$ref": "#/$defs/a"}
    return {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {
                "type": "object",
                "properties": {"x": {"anyOf": [ref] * count}},
                "required": ["y"],
            }
        },
    }


def chain(depth: int) -> dict[str, object]:
    """A value that the branching schema refuses at its innermost part only."""
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"x": value, "y": 1}
    return value


@pytest.mark.parametrize(("branches", "depth"), [(2, 3), (2, 16), (2, 24), (2, 60), (8, 60)])
def test_recursion_that_branches_is_bounded(branches: int, depth: int) -> None:
    """Work that doubles with each level of the value is not begun (CWE-400)."""
    schema = compile_schema(branching(branches))
    began = time.thread_time()

    assert schema.validate(chain(depth))
    assert time.thread_time() - began < 10


def test_admits_is_validate_without_the_words() -> None:
    """A policy asks it of every call: yes, no, or that it cannot be told."""
    booking = compile_schema(BOOKING)
    assert booking.admits({"kind": "desk"}) is True
    assert booking.admits({"kind": "bench"}) is False
    assert booking.admits({"kind": object()}) is None
    tree = compile_schema(branching(2))
    assert tree.admits(chain(2)) is False
    assert tree.admits(chain(60)) is None


def test_ordinary_recursion_is_not_hindered() -> None:
    """A tree of 20,000 nodes is fine, and a fault in it is found."""
    schema = compile_schema(
        {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["name"],
        }
    )
    children = [{"name": "b"} for _ in range(20_000)]

    assert schema.validate({"name": "a", "children": children}) == ()
    (fault,) = schema.validate({"name": "a", "children": [*children, {}]})
    assert fault.pointer == "/children/20000"


def test_the_schema_itself_is_left_as_it_was() -> None:
    """Compiling neither changes the author's schema nor is changed by it later."""
    source: dict[str, object] = {"$id": "https://x.example/s", "type": "string", "x-kept": 1}
    compiled = compile_schema(source)
    source["type"] = "integer"

    assert source["$id"] == "https://x.example/s"
    assert compiled.validate("text") == ()
