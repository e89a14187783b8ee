"""The JSON Schema of events: what is sent fits it, and its words are there (section 9)."""

from __future__ import annotations

import json
from typing import Any, cast

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.gateway.journal import moment
from remit.main.cli import main
from remit.session.events import STREAM_ONLY, TYPES
from remit.session.schemas import event_schema
from tests.session.making import struct_of

SCHEMA: Any = event_schema()
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA, offline=True)


def validator_of(name: str) -> jsonschema_rs.Draft202012Validator:
    """One definition of the schema by itself."""
    part = {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    return jsonschema_rs.Draft202012Validator(part, offline=True)


STREAM = {name: validator_of(name) for name in STREAM_ONLY}


def sent(name: str, data: msgspec.Struct, **further: object) -> Any:  # noqa: ANN401 -- an event
    """An event as a reader gets it, a further key in its data."""
    document = json.loads(msgspec.json.encode(data)) | further
    return {"seq": 1, "type": name, "at": moment(0), "data": document, **further}


def test_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """The SDK's types are made from what ``remit schema event`` prints (section 13)."""
    assert main(["schema", "event"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


@given(st.data())
def test_every_event_fits_the_schema(data: st.DataObject) -> None:
    """Whatever an event holds, and whatever a later version adds to it."""
    name = data.draw(st.sampled_from(list(TYPES)))
    event = data.draw(struct_of(TYPES[name]))
    VALIDATOR.validate(sent(name, event))
    VALIDATOR.validate(sent(name, event, somethingNew=[1]))


@given(st.data())
def test_what_is_on_the_stream_alone_fits_its_definition(data: st.DataObject) -> None:
    """Its data is described by itself, without a number around it."""
    name = data.draw(st.sampled_from(list(STREAM_ONLY)))
    document = json.loads(msgspec.json.encode(data.draw(struct_of(STREAM_ONLY[name]))))
    STREAM[name].validate(document)
    assert not VALIDATOR.is_valid(document)


@given(st.data())
def test_event_without_a_key_that_is_always_there_does_not_fit(data: st.DataObject) -> None:
    """A schema that takes everything would tell a reader nothing."""
    name = data.draw(st.sampled_from(list(TYPES)))
    event = sent(name, data.draw(struct_of(TYPES[name])))
    part = SCHEMA["$defs"][TYPES[name].__name__]
    del event["data"][data.draw(st.sampled_from(part["required"]))]
    assert not VALIDATOR.is_valid(event)


def objects(part: Any) -> list[Any]:  # noqa: ANN401 -- a part of a schema
    """Every object with properties of ours in a schema."""
    if isinstance(part, list):
        return [one for value in cast("list[Any]", part) for one in objects(value)]
    if not isinstance(part, dict):
        return []
    document = cast("dict[str, Any]", part)
    here = [document] if isinstance(document.get("required"), list) else []
    return here + objects(list(document.values()))


@pytest.mark.parametrize("name", SCHEMA["$defs"])
def test_definition_says_what_it_is(name: str) -> None:
    """The SDK's types take their words from here."""
    part = SCHEMA["$defs"][name]
    assert part["title"]
    assert part["description"][0].isupper()
    assert part["description"].endswith(".")


def test_every_key_is_described_and_none_is_closed() -> None:
    """A reader learns what a key means; what it does not know it ignores."""
    for part in objects(SCHEMA):
        assert "additionalProperties" not in part
        for key, found in part["properties"].items():
            assert key in ("type", "data") or found["description"], key


def test_no_key_that_is_left_out_may_be_null() -> None:
    """Absent is the one way to say that there is nothing."""
    for part in objects(SCHEMA):
        for key, found in part["properties"].items():
            if key not in part["required"]:
                assert {"type": "null"} not in found.get("anyOf", ()), key
