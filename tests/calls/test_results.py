"""From a body to a result, what the model reads, and how it is drawn (sections 2 and 5)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.answers import Body
from remit.calls.results import MAX_CONTENT_BYTES, apply_mapping, content_of, display_of, shape
from remit.catalog.mapping import ResponseMapping, read_mapping
from remit.catalog.mistakes import Mistakes
from remit.catalog.model import Tool
from remit.errors import ResponseInvalid
from remit.values.json import JsonObject, JsonValue
from tests.catalog.documents import endpoint_tool, load_tool


def mapping(record: JsonObject) -> ResponseMapping:
    """A mapping that must load."""
    mistakes = Mistakes()
    found = read_mapping(record, "", mistakes)
    assert not mistakes.found, [m.message for m in mistakes.found]
    return found


def json_body(value: JsonValue) -> Body:
    """A JSON answer."""
    return Body(kind="json", value=value)


BODY: JsonObject = {
    "id": 7,
    "zero": 0,
    "no": False,
    "none": None,
    "empty": "",
    "deep": {"er": {"est": "x"}},
    "items": [{"id": 1, "n": {"x": "a"}}, {"n": None}, {"id": 3}],
    "grid": [[1, 2], [3]],
    "0": "zeroth",
    "*": "star",
    "wrapped": {"*": {"id": 9}},
}


@pytest.mark.promise("T-35")
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("id", {"r": 7}),
        ("zero", {"r": 0}),
        ("no", {"r": False}),
        ("none", {"r": None}),
        ("empty", {"r": ""}),
        ("deep.er.est", {"r": "x"}),
        ("deep", {"r": {"er": {"est": "x"}}}),
        ("items.0.id", {"r": 1}),
        ("items.1.id", {}),
        ("items.3.id", {}),
        ("items.-1.id", {}),
        ("items.00.id", {"r": 1}),
        ("items.\u00b2.id", {}),
        ("items.\u0660.id", {}),
        ("items.99999999999999999999.id", {}),
        ("items.*.id", {"r": [1, 3]}),
        ("items.*.n.x", {"r": ["a"]}),
        ("items.*.gone", {"r": []}),
        ("grid.*.0", {"r": [1, 3]}),
        ("grid.*.*", {"r": [[1, 2], [3]]}),
        ("gone", {}),
        ("gone.*.id", {}),
        ("none.id", {}),
        ("id.x", {}),
        ("empty.0", {}),
        ("0", {"r": "zeroth"}),
        ("*", {"r": "star"}),
        ("wrapped.*.id", {"r": 9}),
        ("__class__.__mro__", {}),
        ("items.length", {}),
        (".", {"r": BODY}),
    ],
)
def test_path_takes_what_is_there_and_leaves_out_what_is_not(path: str, found: JsonObject) -> None:
    """A path that is not there leaves its key out; null, false, 0 and "" are kept (5)."""
    assert apply_mapping(mapping({"r": path}), BODY) == found


@pytest.mark.promise("T-36")
def test_only_mapped_fields_are_in_the_result() -> None:
    """Only mapped fields reach the agent, in the order written (contract section 5)."""
    tool, _ = load_tool(endpoint_tool(responseMapping={"b": "id", "a": "deep.er.est"}))
    result = shape(tool, json_body(BODY), tool.response_mapping)

    assert content_of(result).text == '{"b":7,"a":"x"}'


def test_each_makes_one_object_an_item_and_counts_the_rest() -> None:
    """What `limit` leaves out is said under `<key>More` (contract section 5)."""
    rule: JsonObject = {"each": "items", "map": {"id": "id", "x": "n.x"}, "limit": 2}

    assert apply_mapping(mapping({"rows": rule}), BODY) == {
        "rows": [{"id": 1, "x": "a"}, {}],
        "rowsMore": 1,
    }
    assert apply_mapping(mapping({"rows": {**rule, "limit": 3}}), BODY)["rows"] == [
        {"id": 1, "x": "a"},
        {},
        {"id": 3},
    ]
    assert "rowsMore" not in apply_mapping(mapping({"rows": {**rule, "limit": 3}}), BODY)


@pytest.mark.parametrize(
    ("array", "found"),
    [
        ("gone", {}),
        ("id", {}),
        ("deep", {}),
        ("none", {"rows": None}),
        ("grid", {"rows": [{}, {}]}),
    ],
)
def test_each_over_what_is_no_array(array: str, found: JsonObject) -> None:
    """A list that is not there leaves its key out; a null list is data (contract section 5)."""
    rule: JsonObject = {"each": array, "map": {"id": "id"}}

    assert apply_mapping(mapping({"rows": rule}), BODY) == found


def test_each_over_bare_values() -> None:
    """`.` is the item itself, so that a list of texts can be mapped."""
    rule: JsonObject = {"each": ".", "map": {"name": "."}}

    assert apply_mapping(mapping({"rows": rule}), ["a", "b"]) == {
        "rows": [{"name": "a"}, {"name": "b"}]
    }


@pytest.mark.parametrize(
    "record",
    [
        {"r": ""},
        {"r": "a..b"},
        {"r": "a."},
        {"r": 1},
        {"r": None},
        {"": "a"},
        {"r": {"each": "a"}},
        {"r": {"map": {"x": "y"}}},
        {"r": {"each": "a", "map": {}}},
        {"r": {"each": "a", "map": {"x": {"each": "b"}}}},
        {"r": {"each": "a", "map": {"x": "y"}, "limit": 0}},
        {"r": {"each": "a", "map": {"x": "y"}, "where": "z"}},
        {"r": {"each": "a", "map": {"x": "y"}, "limit": 1}, "rMore": "b"},
    ],
)
def test_mapping_that_cannot_be_read_is_an_error(record: JsonObject) -> None:
    """Every mistake is located when the catalog loads (contract section 2)."""
    mistakes = Mistakes()
    read_mapping(record, "/responseMapping", mistakes)

    assert mistakes.found
    assert all(m.pointer.startswith("/responseMapping") for m in mistakes.found)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "a", "0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "0", "*"]), inner, max_size=3)
    ),
    max_leaves=15,
)
PATHS = st.lists(st.sampled_from(["a", "b", "0", "1", "*"]), min_size=1, max_size=4).map(".".join)


def parts_of(value: JsonValue) -> list[str]:
    """Every value inside a value, itself included, as JSON."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [json.dumps(value), *(part for item in inner for part in parts_of(item))]


@given(body=VALUES, path=PATHS)
def test_mapping_only_yields_what_is_in_the_body(body: JsonValue, path: str) -> None:
    """No path makes up a value: scalars and objects of a result are the body's own (5)."""
    result = apply_mapping(mapping({"r": path}), body)
    known = set(parts_of(body))

    def is_known(value: JsonValue) -> bool:
        if json.dumps(value) in known:
            return True
        return isinstance(value, list) and "*" in path and all(map(is_known, value))

    assert all(is_known(value) for value in result.values())


@pytest.mark.parametrize(
    ("body", "without", "mapped"),
    [
        (Body(kind="empty", value=None), None, {}),
        (json_body(None), None, {}),
        (json_body([1]), [1], {}),
        (json_body("x"), "x", {}),
    ],
)
def test_answers_without_fields(body: Body, without: JsonValue, mapped: JsonValue) -> None:
    """Without a mapping the whole body, null when empty; with one over nothing `{}` (5)."""
    tool, _ = load_tool(endpoint_tool(responseMapping={"a": "a"}))

    assert shape(tool, body, None) == without
    assert shape(tool, body, tool.response_mapping) == mapped
    assert content_of(shape(tool, body, None)).text


def test_mapping_over_text_is_response_invalid() -> None:
    """A mapping over text is `response_invalid` (contract section 5)."""
    tool, _ = load_tool(endpoint_tool(responseMapping={"a": "a"}))
    text = Body(kind="text", value="hello")

    assert shape(tool, text, None) == "hello"
    with pytest.raises(ResponseInvalid) as error:
        shape(tool, text, tool.response_mapping)
    assert error.value.sent


@pytest.mark.parametrize("letter", ["x", "ü", "語", "🙂", ","])
@pytest.mark.parametrize(
    "wrap", [lambda n, c: c * n, lambda n, c: [c] * n, lambda n, c: {c: c * n}]
)
def test_content_is_cut_within_its_cap(letter: str, wrap: object) -> None:
    """16 KiB of bytes at most, never inside a character, and marked as cut (section 5)."""
    for count in (1, 3_000, 16_000, 16_384, 40_000):
        value: JsonValue = wrap(count, letter)  # type: ignore[operator]
        whole = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        content = content_of(value)
        assert len(content.text.encode()) <= MAX_CONTENT_BYTES
        assert content.cut == (len(whole.encode()) > MAX_CONTENT_BYTES)
        assert content.cut or content.text == whole
        head, mark, rest = content.text.partition(" …[cut: ")
        assert whole.startswith(head)
        assert bool(mark) == content.cut
        assert not content.cut or f"{len(whole.encode()):,}" in rest


def test_content_is_cut_between_two_values_where_one_is_near() -> None:
    """Cut at a boundary: the last whole item stays whole (contract section 5)."""
    content = content_of([{"id": number, "name": "n" * 40} for number in range(1000)])

    head = content.text.partition(" …[cut")[0]
    assert head.endswith("}")
    assert json.loads(f"{head}]")


# --- display ------------------------------------------------------------------------------------


def drawn(
    renderer: str, result: JsonValue, render: JsonObject | None = None
) -> tuple[str, JsonValue]:
    """Renderer and data of a result."""
    tool: Tool
    bridge = {"render": render} if render else {}
    tool, _ = load_tool(endpoint_tool(resultRenderer=renderer, **bridge))
    display = display_of(tool, result)
    assert (display.misfit is not None) == (display.renderer is not tool.renderer)
    return display.renderer.value, display.data


URL = "https://cdn.example/a.png"


@pytest.mark.promise("T-22")
@pytest.mark.parametrize(
    ("renderer", "result", "render", "data"),
    [
        ("image", {"url": URL, "alt": "a", "x": 1}, None, {"url": URL, "alt": "a"}),
        ("image", {"preview": URL}, {"url": "preview"}, {"url": URL}),
        ("image", {"preview": URL, "alt": "a"}, {"url": "preview"}, {"url": URL, "alt": "a"}),
        ("image", {"p": URL, "t": "a"}, {"url": "p", "alt": "t"}, {"url": URL, "alt": "a"}),
        ("image", {"anything": URL, "id": 1}, None, {"url": URL}),
        ("image", URL, None, {"url": URL}),
        ("image", {"url": URL, "alt": 5}, None, {"url": URL}),
        ("link", {"url": f"{URL}#top", "label": "Go"}, None, {"url": f"{URL}#top", "label": "Go"}),
        ("diff", {"before": {"a": 1}, "after": None}, None, {"before": {"a": 1}, "after": None}),
        ("diff", {"patch": "@@"}, None, {"patch": "@@"}),
        ("diff", {"a": 1, "b": 2}, {"before": "a", "after": "b"}, {"before": 1, "after": 2}),
        ("table", [{"a": 1}], None, {"rows": [{"a": 1}]}),
        ("table", {"rows": [{"a": 1}], "columns": ["a"]}, None,
         {"rows": [{"a": 1}], "columns": ["a"]}),
        ("table", {"items": [{"a": 1}], "more": 5}, None, {"rows": [{"a": 1}]}),
        ("table", {"xs": [], "ys": []}, {"rows": "ys"}, {"rows": []}),
        ("json", "anything", None, "anything"),
    ],
)  # fmt: skip
def test_result_that_fits_is_drawn_as_declared(
    renderer: str, result: JsonValue, render: JsonObject | None, data: JsonValue
) -> None:
    """Renderers read fixed keys; `render` bridges other names (contract section 2)."""
    assert drawn(renderer, result, render) == (renderer, data)


@pytest.mark.parametrize(
    ("renderer", "result", "render"),
    [
        ("image", {"url": "javascript:alert(1)"}, None),
        ("image", {"url": "data:image/png;base64,x"}, None),
        ("image", {"url": "/a.png"}, None),
        ("image", {"url": "https://user@cdn.example/a.png"}, None),
        ("image", {"a": URL, "b": URL + "2"}, None),
        ("image", {"url": 5}, None),
        ("image", {"preview": "gone", "other": URL}, {"url": "preview"}),
        ("link", None, None),
        ("link", {"label": "Go"}, None),
        ("diff", {"before": 1}, None),
        ("diff", {"patch": 5}, None),
        ("table", [1, 2], None),
        ("table", {"rows": {"a": 1}}, None),
        ("table", {"xs": [{"a": 1}], "ys": [{"a": 1}]}, None),
        ("table", "<table></table>", None),
    ],
)
def test_result_that_does_not_fit_is_drawn_as_json(
    renderer: str, result: JsonValue, render: JsonObject | None
) -> None:
    """What does not fit is drawn as `json`, and the record says so (contract section 2)."""
    assert drawn(renderer, result, render) == ("json", result)


def test_mapping_of_nothing_takes_nothing_of_a_text() -> None:
    """`responseMapping: {}` says that no field is wanted; a text answer cannot break that."""
    body = Body(kind="text", value="gone")

    assert shape(load_tool(endpoint_tool()), body, ResponseMapping(())) == {}
