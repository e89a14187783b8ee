"""Tools as authors declare them, and the records that a catalog takes."""

from __future__ import annotations

import json
import string
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    create_model,
)

from remit.catalog.definitions import load_definition
from remit.kit import AppTarget, Button, Card, ClientTarget, Tool, UrlTarget
from remit.kit.tools import Method, Target, parameters_of


class Colour(Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Inner(BaseModel, extra="forbid"):
    """An object in an object."""

    note: str = Field(description="A remark.", max_length=9)
    tags: set[str] = set()


class Tree(BaseModel, extra="forbid"):
    """A model that holds itself."""

    name: str
    branches: list[Tree] = []


class SaveBookmark(BaseModel, extra="forbid"):
    """What is saved."""

    url: HttpUrl = Field(description="URL to save.")
    title: str | None = Field(None, description="A title.")


SAVE = AppTarget("api", "/tools/save-bookmark", "POST", body="${input}")


def loaded(*records: object) -> Any:  # noqa: ANN401
    """A definition around the records, loaded as a server loads it."""
    document = {
        "id": "bookmarks",
        "name": "Bookmarks",
        "auth": {"type": "none"},
        "components": {"api": {"url": "https://api.acme.example"}},
        "tools": list(records),
    }
    found = load_definition(json.loads(json.dumps(document, allow_nan=False)))
    assert found.mistakes == ()
    assert found.definition is not None
    return found.definition.tools


@pytest.mark.promise("K-04", "K-08")
def test_a_tool_is_written_under_the_contracts_keys() -> None:
    """Name, title, description, input schema and one target; nothing that was not set."""
    tool = Tool(
        "save_bookmark",
        display_name="Save bookmark",
        description="Saves a bookmark.",
        input=SaveBookmark,
        target=SAVE,
    )

    assert tool.record() == {
        "name": "save_bookmark",
        "displayName": "Save bookmark",
        "description": "Saves a bookmark.",
        "parameters": {
            "title": "SaveBookmark",
            "description": "What is saved.",
            "type": "object",
            "properties": {
                "url": {
                    "title": "Url",
                    "description": "URL to save.",
                    "type": "string",
                    "format": "uri",
                    "minLength": 1,
                    "maxLength": 2083,
                },
                "title": {
                    "title": "Title",
                    "description": "A title.",
                    "anyOf": [{"type": "string"}, {"type": "null"}],
                    "default": None,
                },
            },
            "required": ["url"],
            "additionalProperties": False,
        },
        "target": {
            "type": "app",
            "component": "api",
            "path": "/tools/save-bookmark",
            "method": "POST",
            "body": "${input}",
        },
    }
    (tool_,) = loaded(tool.record())
    assert (tool_.name, tool_.title) == ("save_bookmark", "Save bookmark")


def test_all_that_can_be_set_is_written() -> None:
    """Each under its key, and a catalog takes it."""
    record = Tool(
        "draw",
        description="Draws.",
        input=Inner,
        target=AppTarget(
            "api", "/draw", "PUT", {"n": "${input.note}"}, {"X-N": "a ${input.note}"}, {"n": [1]}
        ),
        category="write",
        danger_level="destructive",
        requires_approval=True,
        idempotent=True,
        response_mapping={"picture": "image.url", "rows": {"each": "items", "map": {"a": "b"}}},
        result_renderer="image",
        render={"url": "picture"},
        confirm={"title": "Draw?"},
        polling={
            "statusUrl": "/jobs/{{response.id}}",
            "statusField": "state",
            "completeValue": "done",
            "pollIntervalMs": 500,
            "maxPolls": 9,
        },
        timeout_ms=5_000,
    ).record()

    assert {key: value for key, value in record.items() if key != "parameters"} == {
        "name": "draw",
        "description": "Draws.",
        "category": "write",
        "dangerLevel": "destructive",
        "requiresApproval": True,
        "idempotent": True,
        "responseMapping": {
            "picture": "image.url", "rows": {"each": "items", "map": {"a": "b"}}
        },
        "resultRenderer": "image",
        "render": {"url": "picture"},
        "confirm": {"title": "Draw?"},
        "polling": {
            "statusUrl": "/jobs/{{response.id}}",
            "statusField": "state",
            "completeValue": "done",
            "pollIntervalMs": 500,
            "maxPolls": 9,
        },
        "timeoutMs": 5_000,
        "target": {
            "type": "app",
            "component": "api",
            "path": "/draw",
            "method": "PUT",
            "query": {"n": "${input.note}"},
            "headers": {"X-N": "a ${input.note}"},
            "body": {"n": [1]},
        },
    }  # fmt: skip


def test_the_other_targets_are_written_too() -> None:
    """An outside address and a handler in the user's client."""
    url = UrlTarget("https://hooks.example/${input.note}", "POST", headers={"Authorization": "x"})

    assert url.record() == {
        "type": "url",
        "url": "https://hooks.example/${input.note}",
        "method": "POST",
        "headers": {"Authorization": "x"},
    }
    assert ClientTarget("open_url").record() == {"type": "client", "name": "open_url"}
    assert len(loaded(
        Tool("a", description="A.", input=Inner, target=url).record(),
        Tool("b", description="B.", input=Inner, target=ClientTarget("open_url")).record(),
    )) == 2  # fmt: skip


def test_tool_and_button_share_a_target() -> None:
    """It is one value, and written the same in both places."""
    tool = Tool("save", description="Saves.", input=SaveBookmark, target=SAVE)
    card = Card("Save?", buttons=[Button("save", "Save", input={"url": "x"}, target=SAVE)])

    (button,) = card.body()["elements"]  # type: ignore[misc]
    assert button["target"] == tool.record()["target"]


def test_a_model_that_holds_itself_has_its_properties_in_sight() -> None:
    """Pydantic puts such a model behind a reference, and a catalog wants an object."""
    record = Tool("plant", description="Plants.", input=Tree, target=SAVE).record()

    (tool,) = loaded(record)
    assert tool.parameters.names == {"name", "branches"}
    tree = {"name": "a", "branches": [{"name": "b", "branches": []}]}
    assert tool.parameters.compiled.validate(tree) == ()
    assert tool.parameters.compiled.validate({"name": "a", "branches": [{"name": 1}]})


def test_a_model_without_fields_is_an_object_without_properties() -> None:
    """A tool may need no input."""
    empty = create_model("Empty", __config__=ConfigDict(extra="forbid"))

    record = Tool("ping", description="Pings.", input=empty, target=SAVE).record()

    assert record["parameters"]["properties"] == {}  # type: ignore[index]
    loaded(record)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        pytest.param("input", {"type": "object"}, "input must be a Pydantic model", id="a schema"),
        pytest.param("input", Inner(note="a"), "input must be a Pydantic model", id="an instance"),
        pytest.param("target", {"type": "app"}, "target must be an AppTarget", id="a target"),
    ],
)
def test_what_is_no_tool_is_said_where_it_is_made(field: str, value: object, words: str) -> None:
    """With the tool's name."""
    given: dict[str, Any] = {"description": "Saves.", "input": Inner, "target": SAVE, field: value}

    with pytest.raises(TypeError, match=f"save: {words}"):
        Tool("save", **given)


TYPES: list[Any] = [
    str, int, float, bool, Decimal, date, datetime, time, timedelta, UUID, HttpUrl, SecretStr,
    IPv4Address, Path, bytes, Colour, Inner, Tree, Any, Literal["a", 1, None], dict[str, int],
    tuple[int, str], set[int], Annotated[int, Field(ge=1, lt=9, multiple_of=2)],
    Annotated[str, Field(pattern=r"^[a-z]+$", min_length=1, max_length=5)],
    Annotated[Decimal, Field(max_digits=5, decimal_places=2)],
]  # fmt: skip
types = st.recursive(
    st.sampled_from(TYPES),
    lambda inner: inner.map(lambda t: list[t]) | inner.map(lambda t: t | None),
    max_leaves=4,
)
names = st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=8).map(lambda n: f"f_{n}")
methods: st.SearchStrategy[Method] = st.sampled_from(("GET", "POST", "PUT", "PATCH", "DELETE"))


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    """Any tool that an author may write."""
    fields: dict[str, Any] = {
        name: (kind, ... if draw(st.booleans()) else None)
        for name, kind in draw(st.dictionaries(names, types, max_size=4)).items()
    }
    extra = draw(st.sampled_from(("forbid", "ignore", "allow")))
    model = create_model("Input", __config__=ConfigDict(extra=extra), **fields)
    method = draw(methods)
    query = {name: f"${{input.{name}}}" for name in fields}
    body = draw(st.sampled_from(["${input}", {"all": ["${input}", 1, "$${input}"]}, None]))
    target: Target = draw(
        st.sampled_from(
            [
                AppTarget(
                    "api", "/tools/x", method, query, None, None if method == "GET" else body
                ),
                UrlTarget("https://hooks.example/x", method, query, {"X-Y": "z"}),
                ClientTarget("open_url"),
            ]
        )
    )
    return Tool(
        draw(st.from_regex(r"x[A-Za-z0-9_-]{0,51}", fullmatch=True)),
        description=draw(st.text(min_size=1, max_size=20)),
        input=model,
        target=target,
        display_name=draw(st.none() | st.just("A title")),
        category=draw(st.sampled_from((None, "read", "write", "action"))),
        danger_level=draw(st.sampled_from((None, "safe", "moderate", "destructive"))),
        requires_approval=draw(st.booleans()),
        idempotent=draw(st.booleans()),
    )


@pytest.mark.promise("K-04")
@given(tools())
def test_every_tool_of_the_kit_loads_without_a_mistake(tool: Tool) -> None:
    """Whatever models an author takes, the record says what the catalog then has."""
    record = json.loads(json.dumps(tool.record()))

    (found,) = loaded(record)

    assert (found.name, found.description) == (tool.name, tool.description)
    assert found.parameters.schema == record["parameters"]
    assert found.parameters.names == set(tool.input.model_fields)
    assert found.requires_approval == tool.requires_approval
    assert found.idempotent == tool.idempotent


@pytest.mark.parametrize(
    ("config", "closed"),
    [
        (ConfigDict(), True),
        (ConfigDict(extra="ignore"), True),
        (ConfigDict(extra="forbid"), True),
        (ConfigDict(extra="allow"), False),
    ],
    ids=["default", "ignore", "forbid", "allow"],
)
def test_model_that_strips_unknown_keys_is_closed(config: ConfigDict, *, closed: bool) -> None:
    """Pydantic's default takes no unknown key; only then can a model be held to the schema."""
    inner = create_model("Part", __config__=config, size=(int, 1))
    outer = create_model("Whole", __config__=config, part=(inner, ...))
    schema: Any = parameters_of(outer)
    assert (schema.get("additionalProperties") is False) == closed
    assert (schema["$defs"]["Part"].get("additionalProperties") is False) == closed
