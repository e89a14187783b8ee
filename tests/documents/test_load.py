"""Loading an author's file, and finding a place in it again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.load import Media, locate, locate_all, media_of, parse_document
from remit.documents.problems import DocumentError, pointer

JSON_TEXT = b'{\n  "tools": [\n    {"name": "a"},\n    {"name": "b", "x/y": {"z~":\t1}}\n  ]\n}\n'
YAML_TEXT = b"# c\ntools:\n  - name: a\n  - name: b\n    x/y:\n      z~: 1\n"


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("a.json", b"a: 1", "json"),
        ("A.JSON", b"", "json"),
        ("a.yaml", b"{}", "yaml"),
        ("dir.json/a.yml", b"{}", "yaml"),
        ("-", b' \n{"a":1}', "json"),
        ("catalog", b"[1]", "json"),
        ("catalog", b"a: 1", "yaml"),
        ("catalog.txt", b"- a", "yaml"),
        ("", b"", "yaml"),
    ],
)
def test_a_document_is_known_by_its_name_then_by_its_text(
    name: str, data: bytes, media: Media
) -> None:
    """Files may be YAML or JSON (contract, opening)."""
    assert media_of(data, name) == media


@pytest.mark.parametrize(("name", "data"), [("t.json", JSON_TEXT), ("t.yaml", YAML_TEXT)])
def test_both_notations_give_one_value(name: str, data: bytes) -> None:
    """An author may write either."""
    assert parse_document(data, name=name) == {
        "tools": [{"name": "a"}, {"name": "b", "x/y": {"z~": 1}}]
    }


def test_what_is_known_of_the_media_wins_over_the_name() -> None:
    """An answer says in its Content-Type what it is."""
    with pytest.raises(DocumentError):
        parse_document(b"a: 1", name="a.yaml", media="json")


@pytest.mark.parametrize("name", ["big.json", "big.yaml"])
def test_a_huge_file_is_one_clear_error(name: str) -> None:
    """40 MB are refused by their size, before anything reads them."""
    with pytest.raises(DocumentError, match=r"40,000,002 bytes; at most 33,554,432"):
        parse_document(b'"' + b"x" * 40_000_000 + b'"', name=name)


def test_a_schema_of_full_depth_fits_into_its_document() -> None:
    """A schema may be 64 deep and stands inside a catalog (contract section 2)."""
    schema = "[" * 64 + "]" * 64
    assert parse_document(f'{{"tools":[{{"parameters":{schema}}}]}}'.encode(), name="c.json")


PLACES = {
    "json": (
        JSON_TEXT,
        {"": (1, 1), "/tools": (2, 3), "/tools/1": (4, 5), "/tools/1/x~1y/z~0": (4, 27)},
    ),
    "yaml": (
        YAML_TEXT,
        {"": (2, 1), "/tools": (2, 1), "/tools/1": (4, 5), "/tools/1/x~1y/z~0": (6, 7)},
    ),
}


@pytest.mark.parametrize("media", ["json", "yaml"])
def test_a_pointer_leads_back_to_its_line(media: Media) -> None:
    """An error names the line of the author's file, whatever its notation."""
    data, places = PLACES[media]

    assert locate_all(data, [*places, "/nothing", "/tools/7"], media=media) == places
    assert locate(data, "/tools/1/nothing", media=media) is None


@pytest.mark.parametrize("media", ["json", "yaml"])
def test_places_before_a_mistake_are_found(media: Media) -> None:
    """A document may be broken below the place that is asked for."""
    assert locate(b'{"a": 1,\n"b": 2, "c" ]', "/b", media=media) == (2, 1)


KEYS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
VALUES = st.recursive(
    st.integers() | KEYS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def _pointers(value: object, path: tuple[str | int, ...] = ()) -> list[str]:
    found = [pointer(*path)]
    if isinstance(value, dict):
        for key, item in value.items():
            found += _pointers(item, (*path, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += _pointers(item, (*path, index))
    return found


@given(VALUES)
def test_every_value_has_a_place(value: object) -> None:
    """Whatever was parsed can be found again, in either reader, in the order of the text."""
    data = json.dumps(value, ensure_ascii=False, indent=1).encode()
    wanted = _pointers(value)
    for media in ("json", "yaml"):
        places = locate_all(data, wanted, media=media)
        assert sorted(places) == sorted(set(wanted))
        assert list(places.values()) == sorted(places.values())


@given(st.binary(max_size=50), st.sampled_from(["", "/a", "/0", "nonsense", "/a/~2"]))
def test_looking_never_raises(data: bytes, wanted: str) -> None:
    """Reporting one mistake must not make another."""
    for media in ("json", "yaml"):
        locate(data, wanted, media=media)
