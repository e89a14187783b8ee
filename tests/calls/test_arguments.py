"""Pins, repair and validation (contract section 5, steps 1 to 4)."""

from __future__ import annotations

import pytest

from remit.catalog.model import Tool
from remit.errors import InvalidArguments, InvalidPin
from remit.values.json import JsonObject, JsonValue
from tests.calls.making import settled
from tests.catalog.documents import Json, endpoint_tool, load_tool, parameters


def tool(schema: Json) -> Tool:
    """A tool with a schema."""
    return load_tool(endpoint_tool(parameters=schema))[0]


SCENE = parameters("sceneId", sceneId="string", note="string")
CLOSED = {**SCENE, "additionalProperties": False}


@pytest.mark.promise("T-31", "T-32")
@pytest.mark.parametrize("given", ["s-evil", None, {"toString": "s-evil"}, 5, [], "s-good"])
def test_pin_beats_whatever_was_given(given: JsonValue) -> None:
    """Pins are merged over the arguments; the pin wins, whatever came (section 5, step 2)."""
    found = settled(tool(SCENE), {"sceneId": given, "note": "n"}, {"sceneId": "s-good"})

    assert found.values == {"sceneId": "s-good", "note": "n"}
    assert found.origins == {"sceneId": "pin", "note": "model"}
    assert found.refused_pins == (() if given == "s-good" else ("sceneId",))


@pytest.mark.parametrize("name", ["sceneid", "sceneId ", "scene_id", "__proto__", "\u0455ceneId"])
def test_name_close_to_a_pin_reaches_nothing(name: str) -> None:
    """Exact names alone: a variant key never replaces a pin, and is dropped (step 2)."""
    found = settled(tool(SCENE), {name: "s-evil"}, {"sceneId": "s-good"})

    assert found.values == {"sceneId": "s-good"}
    assert found.ignored == (name,)


@pytest.mark.parametrize("pin", [0, False, "", [], {}])
def test_presence_decides_not_truth(pin: JsonValue) -> None:
    """Zero is a pin (section 5, step 2)."""
    found = settled(tool(parameters(a={})), {"a": 999}, {"a": pin})

    assert found.values == {"a": pin}
    assert found.refused_pins == ("a",)


def test_truth_is_not_one() -> None:
    """An attempt to override is told by JSON equality: 1 is not true, 1.0 is 1 (step 2)."""
    of_any = tool(parameters(a={}))

    assert settled(of_any, {"a": 1}, {"a": True}).refused_pins == ("a",)
    assert settled(of_any, {"a": 1.0}, {"a": 1}).refused_pins == ()


def test_pin_satisfies_required() -> None:
    """A pin satisfies `required`, declared or not (section 5, step 2)."""
    assert settled(tool(CLOSED), {}, {"sceneId": "s"}).values == {"sceneId": "s"}
    undeclared = {**parameters(note="string"), "required": ["tenant"]}
    found = settled(tool(undeclared), {"note": "n"}, {"tenant": "t1"})
    assert found.values == {"note": "n"}
    assert found.undeclared_pins == {"tenant": "t1"}
    with pytest.raises(InvalidArguments, match="tenant"):
        settled(tool(undeclared), {"note": "n"})


def test_pin_satisfies_no_requirement_but_that_of_the_arguments() -> None:
    """Whole top-level keys: a nested object needs its own (section 5, step 2)."""
    nested = parameters(p={"type": "object", "properties": {}, "required": ["tenant"]})

    with pytest.raises(InvalidArguments, match="/p: the property"):
        settled(tool(nested), {"p": {}}, {"tenant": "t1"})


def test_undeclared_pin_is_set_aside_before_validation() -> None:
    """It breaks no closed schema and is no declared argument (section 5, step 2)."""
    found = settled(tool(CLOSED), {"sceneId": "s", "tenant": "evil"}, {"tenant": "t1"})

    assert found.values == {"sceneId": "s"}
    assert found.undeclared_pins == {"tenant": "t1"}
    assert found.refused_pins == ("tenant",)
    assert found.origins["tenant"] == "pin"


@pytest.mark.parametrize("pin", [5, None, ["s"]])
def test_pin_that_breaks_its_schema_is_the_hosts_fault(pin: JsonValue) -> None:
    """`invalid_pin` is the fault of who made the session, and no pin is repaired (step 2)."""
    with pytest.raises(InvalidPin) as error:
        settled(tool(SCENE), {"note": "n"}, {"sceneId": pin})

    assert error.value.details is not None
    assert "/sceneId" in error.value.message
    assert "Whoever set the pin" in error.value.message
    with pytest.raises(InvalidPin):
        settled(tool(parameters(a="integer")), {}, {"a": "5"})


@pytest.mark.parametrize(
    ("schema", "args", "message"),
    [
        (CLOSED, {"sceneId": "s", "zz": 1}, 'was not called: the property "zz" is not declared.'),
        (CLOSED, {"sceneId": "s", "notes": 1}, 'did you mean "note"?'),
        (SCENE, {}, 'was not called: the property "sceneId" is missing.'),
        (SCENE, {"sceneId": 5}, "was not called: /sceneId: must be a string; it is 5."),
        (
            {**SCENE, "maxProperties": 1},
            {"sceneId": "s", "note": "n"},
            "was not called: the arguments: must have at most 1 property; it has 2.",
        ),
        (
            parameters(p={"type": "object", "properties": {"x": {"type": "integer"}}}),
            {"p": {"x": "much"}},
            '/p/x: must be an integer; it is "much".',
        ),
    ],
)
def test_refusal_reads_as_a_sentence(schema: Json, args: JsonObject, message: str) -> None:
    """A failure names pointer and rule of each fault, in words (section 5, step 4)."""
    with pytest.raises(InvalidArguments) as error:
        settled(tool(schema), args)

    assert message in error.value.message
    assert error.value.message.endswith("Correct the arguments and call again.")
    assert not error.value.sent


def test_every_fault_is_told() -> None:
    """Pointer and rule of each fault go back to the model (section 5, step 4)."""
    with pytest.raises(InvalidArguments) as error:
        settled(tool(parameters(a="integer", b="boolean")), {"a": "x", "b": "y"})

    assert error.value.details is not None
    faults = error.value.details["faults"]
    assert isinstance(faults, list)
    assert {(fault["pointer"], fault["rule"]) for fault in faults} == {
        ("/a", "type"),
        ("/b", "type"),
    }


def test_undeclared_arguments_are_kept_where_the_author_wants_them() -> None:
    """Dropped in an open schema that says nothing, kept where it says so (section 4)."""
    assert settled(tool(parameters(a="string")), {"x": 1}).ignored == ("x",)
    wanted = {**parameters(a="string"), "additionalProperties": {"type": "integer"}}
    assert settled(tool(wanted), {"x": 1}).values == {"x": 1}


def test_secret_arguments_are_in_no_message() -> None:
    """A `writeOnly` or password parameter is never shown, in errors neither (section 2)."""
    secret = {"type": "string", "format": "password", "minLength": 30}
    with pytest.raises(InvalidArguments) as error:
        settled(tool(parameters(pw=secret)), {"pw": "hunter2-is-short"})

    assert "hunter2" not in error.value.message + str(error.value.details)
