"""The run as a whole: everything at once, in the order of the text, whatever the document."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.load import parse_document
from remit.documents.problems import DocumentError
from remit.lint.run import lint_catalog, lint_definition, unreadable
from tests.lint.documents import (
    ABSENT,
    app,
    closed,
    destructive,
    findings,
    of_rule,
    rules,
    text,
    tool,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"
SEED_EXAMPLE = {
    "name": "place_object",
    "description": "Place an object in the current scene at the given coordinates.",
    "category": "write",
    "dangerLevel": "moderate",
    "requiresApproval": False,
    "resultRenderer": "image",
    "parameters": {
        "type": "object",
        "properties": {
            "sceneId": {"type": "string", "description": "Scene to place into."},
            "assetId": {"type": "string", "description": "Asset to place."},
            "x": {"type": "number"},
            "y": {"type": "number"},
            "rotation": {"type": "number", "description": "Degrees, 0–360."},  # noqa: RUF001
        },
        "required": ["sceneId", "assetId", "x", "y"],
    },
    "endpoint": {
        "method": "POST",
        "path": "/scenes/{{args.sceneId}}/objects",
        "headers": {"X-Acme-Client": "tanzanite"},
        "queryParams": {"dryRun": "{{args.dryRun}}"},
        "bodyTemplate": {
            "asset": "{{args.assetId}}",
            "position": {"x": "{{args.x}}", "y": "{{args.y}}"},
            "rotation": "{{args.rotation}}",
        },
    },
    "responseMapping": {"objectId": "id", "previewUrl": "preview.url"},
}

WORDS = "Test tool. Use only in tests."


def checklist(name: str, **changes: object) -> dict[str, Any]:
    """A tool of the publish checklist: all but one thing of it is plain."""
    record = {
        "name": name,
        "description": WORDS,
        "category": "write",
        "dangerLevel": "safe",
        "parameters": {"type": "object", "properties": {}, "required": []},
        "endpoint": {"method": "POST", "path": "/x"},
    }
    return record | changes


def reads(name: str, **changes: object) -> dict[str, Any]:
    """The same as a reading tool."""
    return checklist(
        name, **({"category": "read", "endpoint": {"method": "GET", "path": "/x"}} | changes)
    )


CHECKLIST = [
    reads(
        "t1",
        description="",
        parameters={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    ),
    checklist(
        "t2",
        dangerLevel="destructive",
        requiresApproval=False,
        parameters={"type": "object", "properties": {"id": text("Id.")}, "required": []},
        endpoint={"method": "DELETE", "path": "/x/{{args.id}}"},
    ),
    reads("t3", endpoint={"method": "GET", "path": "/x/{{args.nope}}"}),
    checklist(
        "t4",
        parameters={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
    ),
    checklist("t5", parameters={"type": "string"}),
    reads(
        "t6", endpoint={"method": "GET", "path": "/x", "headers": {"Authorization": "Bearer abc"}}
    ),
    checklist("t7", endpoint={"method": "PURGE", "path": "/x"}),
    reads("t8", resultRenderer="html"),
    reads("t1", endpoint={"method": "GET", "path": "/y"}),
    reads("t9", endpoint={"method": "GET", "path": "https://evil.test/x"}),
    reads("t10", polling={"statusUrl": "/s"}),
]


@pytest.mark.promise("T-04")
def test_the_seeds_full_example_has_no_error() -> None:
    """Contract section 13; what is left are the seed's own checklist points."""
    found = lint_definition(app(SEED_EXAMPLE))
    assert [(m.rule, m.level) for m in found] == [
        ("no-when-not", "warning"),
        ("open-schema", "note"),
        ("undescribed-parameter", "warning"),
        ("undescribed-parameter", "warning"),
        ("pin-only-slot", "note"),
    ]


@pytest.mark.promise("T-58", "T-59", "T-60")
@pytest.mark.parametrize(
    ("name", "words", "level"),
    [
        ("t1", "description is empty", "warning"),
        ("t1", "duplicate name", "error"),
        ("t2", "requiresApproval", "warning"),
        ("t2", '"id" is not required but used in path', "warning"),
        ("t3", "nope", "warning"),
        ("t4", '"b"', "warning"),
        ("t5", '"type"', "error"),
        ("t6", "Authorization", "error"),
        ("t7", '"method"', "error"),
        ("t8", '"resultRenderer"', "error"),
        ("t9", "path", "error"),
        ("t10", "polling", "error"),
    ],
)
def test_one_run_finds_every_point_of_the_checklist(name: str, words: str, level: str) -> None:
    """Each finding names the tool and the field; the contract's levels hold (sections 4, 13)."""
    for document in (CHECKLIST, {"tools": CHECKLIST}, app(*CHECKLIST)):
        assert any(
            m.tool == name and words in m.message and m.level == level for m in findings(document)
        )


def test_findings_stand_in_the_order_of_the_text() -> None:
    """A person mends a file from top to bottom."""
    first = tool(name="one", description="", responseMapping=ABSENT)
    second = {"endpoint": {"method": "GET", "path": "x"}} | tool(
        name="two", endpoint={"method": "NO", "path": "x"}
    )
    document = app(first, second, baseUrl="http://api.acme.example", promptContext="Always ask.")
    order = [m.pointer for m in lint_definition(document)]
    assert order == [
        "/baseUrl",
        "/tools/0",
        "/tools/0/description",
        "/tools/1/endpoint/method",
        "/tools/1/endpoint/path",
        "/promptContext",
    ]


def test_a_definition_that_does_not_load_has_its_tools_judged_all_the_same() -> None:
    """All mistakes of a document at once (issue 2, bad input)."""
    found = rules(app(tool(description=""), id="No Id", auth=ABSENT))
    assert {"bad-name", "missing-key", "empty-description"} <= set(found)


def test_a_broken_tool_is_judged_as_far_as_it_can_be_read() -> None:
    """One run, one mending: not error after error."""
    broken = tool(
        category="delete",
        title=5,
        description="",
        parameters={"type": "object", "properties": {"a": {}}},
    )
    found = set(rules(broken))
    assert {
        "unknown-value",
        "wrong-type",
        "empty-description",
        "undescribed-parameter",
        "open-schema",
    } <= found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("category", "admin"),
        ("dangerLevel", "SAFE"),
        ("category", ABSENT),
        ("dangerLevel", ABSENT),
        ("requiresApproval", "true"),
    ],
)
def test_an_unknown_value_is_an_error_that_names_tool_and_field(field: str, value: object) -> None:
    """Contract section 2: a closed set is never the lowest rank by accident."""
    errors = [
        m for m in lint_catalog([tool(), tool(name="bad", **{field: value})]) if m.level == "error"
    ]
    assert [m.tool for m in errors] == ["bad"]
    assert field in errors[0].message


def test_names_of_more_than_52_characters_are_errors() -> None:
    """Contract section 2; providers stop at 64 with the prefix."""
    names = [
        f"synchronise_customer_billing_address_with_external_{end}" for end in ("alpha", "beta1")
    ]
    found = lint_catalog([checklist(name) for name in names])
    assert [m.tool for m in found if m.level == "error"] == names


@pytest.mark.parametrize("document", [None, 5, "tools", {}, {"tools": 5}, {"tools": [], "more": 1}])
def test_what_is_no_catalog_is_one_error(document: object) -> None:
    """A clear error instead of a traceback."""
    (found,) = lint_catalog(document)
    assert (found.rule, found.level) == ("wrong-type", "error")


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_what_is_no_definition_is_one_error(document: object) -> None:
    """A clear error instead of a traceback."""
    (found,) = lint_definition(document)
    assert (found.rule, found.level) == ("wrong-type", "error")


def test_a_file_that_cannot_be_decoded_is_a_finding() -> None:
    """Syntax has a rule and a page like everything else."""
    with pytest.raises(DocumentError) as caught:
        parse_document(b'{"tools": [', name="x.json")
    (found,) = unreadable(caught.value.problems)
    assert (found.rule, found.level) == ("bad-document", "error")


_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=8),
        st.sampled_from(["{{args.a}}", "${input}", "GET", "read", "/x"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
_records = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "title",
            "description",
            "category",
            "dangerLevel",
            "requiresApproval",
            "confirm",
            "resultRenderer",
            "render",
            "parameters",
            "endpoint",
            "target",
            "responseMapping",
            "polling",
            "idempotent",
            "timeoutMs",
        ]
    ),
    st.one_of(_json, st.sampled_from(list(destructive().values()))),
)


@given(
    st.lists(st.one_of(_json, _records), max_size=3),
    st.dictionaries(st.sampled_from(list(app())), _json),
)
def test_no_document_brings_a_traceback(records: list[Any], changes: dict[str, Any]) -> None:
    """Issue 2, bad input: no traceback reaches a user."""
    lint_catalog(records)
    lint_catalog({"tools": records})
    for mistake in lint_definition({**app(), "tools": records, **changes}):
        assert mistake.message
        assert mistake.mend
        assert "\n" not in mistake.message


@given(st.sampled_from(sorted(tool())), _json)
def test_one_broken_field_never_hides_another_tools_findings(field: str, value: object) -> None:
    """A tool that cannot be read costs none of the others."""
    found = lint_catalog([tool() | {field: value}, tool(name="other", description="")])
    assert [m.rule for m in found if m.tool == "other"] in (
        ["empty-description"],
        ["duplicate-name", "empty-description"],
    )


def test_every_mistake_is_of_the_parameter_it_names() -> None:
    """A pointer is escaped as RFC 6901 asks."""
    document = tool(parameters=closed({"a/b~c": {"type": "string"}}))
    assert (
        of_rule("undescribed-parameter", document)[0].pointer == "/0/parameters/properties/a~1b~0c"
    )


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " ",
        "type: a, b ",
        "eyJ",
        "a, ",
        "'a' ",
        "a|",
        "one of a, ",
        "<important ",
        "ignore all ",
        "do not tell ",
        "never \n",
        "you must ",
        "A1b+/",
        "Bearer ",
        "\u200b",
        "call x ",
        "sk_",
        " or ",
        "5 min ",
    ],
)
def test_hostile_texts_cost_little(piece: str) -> None:
    """A vendor's text of any kind is read in time that grows with its length alone."""
    words = ("user ignore always < " + piece * 20_000)[:20_000]
    query = {"method": "GET", "path": "/x", "queryParams": {"q": words}}
    named = closed({words: text(words)})
    before = process_time()
    lint_definition(
        app(
            tool(
                name=words,
                title=words,
                description=words,
                endpoint={"method": "GET", "path": f"/{words}"},
            ),
            tool(parameters=named, endpoint=query),
            promptContext=words,
        )
    )
    assert process_time() - before < 3


def test_many_slots_beside_many_parameters_cost_little() -> None:
    """Close names are looked for only where that is cheap."""
    body = {f"k{n}": f"{{{{args.slot_{n}}}}}" for n in range(2_000)}
    schema = closed({f"field_{n}": text() for n in range(2_000)})
    before = process_time()
    found = of_rule(
        "pin-only-slot",
        tool(parameters=schema, endpoint={"method": "POST", "path": "/x", "bodyTemplate": body}),
    )
    assert len(found) == 2_000
    assert process_time() - before < 3


@pytest.mark.parametrize("name", ["scenes.yaml", "catalog.json"])
def test_the_example_app_has_nothing_above_a_note(name: str) -> None:
    """What an author copies is what we would ask of them."""
    data = (EXAMPLES / name).read_bytes()
    document: Any = parse_document(data, name=name)
    assert [str(m) for m in findings(document) if m.level != "note"] == []
