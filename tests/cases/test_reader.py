"""The reader: a wrong expectation fails, an unknown shape fails, later cases are told apart."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from tests.cases.__main__ import main
from tests.cases.judges import canonical_path, includes, judge_never, same, same_pairs
from tests.cases.mutations import mutations
from tests.cases.reader import judge, read_folder
from tests.cases.recipes import expand
from tests.cases.verdicts import Json

OWN = Path(__file__).parent / "own"
CASES = {case["id"]: case for _, case in read_folder(OWN)}
# One or two of each kind.
JUDGED = (
    "query-style-repeat",
    "form-body",
    "get-headers",
    "no-body-no-content-type",
    "reference-env",
    "formats",
    "pins-on-the-card",
    "denied-sends-nothing",
    "mapping-each-and-collect",
    "error-statuses",
    "reset-after-the-request",
    "poll-whole-body",
    "call-over-the-ceiling",
    "lint-loads-not",
    "catalog-drops-one-tool",
    "own-path-01",
    "own-path-05",
    "own-path-24",
    "own-template-01",
    "own-template-18",
    "own-headers-01",
    "own-headers-25",
    "own-headers-37",
    "own-pins-02",
    "own-ceiling-01",
    "own-ceiling-02",
    "own-ceiling-30",
    "own-ceiling-32",
    "own-json-01",
    "own-json-22",
    "own-approval-01",
    "own-approval-04",
    "own-approval-05",
    "own-approval-06",
    "own-approval-08",
    "own-iso-01",
    "own-iso-05",
    "own-iso-06",
    "own-iso-07",
    "own-jwt-01",
    "own-jwt-09",
    "own-vault-02",
    "own-vault-03",
    "own-vault-05",
    "own-json-27",
    "own-json-41",
    "own-schema-01",
    "own-schema-24",
    "own-schema-37",
    "own-origin-01",
    "own-origin-08",
    "own-ssrf-01",
    "own-ssrf-04",
    "own-ssrf-77",
)
MUTATED = [
    pytest.param(changed, id=f"{name}:{where}")
    for name in JUDGED
    for where, changed in mutations(CASES[name])
]


@pytest.mark.parametrize("case", MUTATED)
def test_wrong_expectation_fails(case: Json) -> None:
    """Each expectation is judged: one made wrong fails, and not for its shape."""
    verdict = judge(case, "inside")
    assert verdict.status == "FAILED", verdict.line()
    assert verdict.faults, verdict.line()


def test_every_kind_is_mutated() -> None:
    """There is something to make wrong in each of the cases that stand for their kind."""
    assert all(list(mutations(CASES[name])) for name in JUDGED)


def _with(name: str, **changes: Json) -> Json:
    case = deepcopy(CASES[name])
    for where, value in changes.items():
        node = case
        *outer, last = where.split("__")
        for key in outer:
            node = node[key]
        node[last] = value
    return case


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(_with("form-body", input__surface="telepathy"), id="surface"),
        pytest.param(_with("form-body", input__colour="red"), id="input key"),
        pytest.param(_with("form-body", expect__mood="good"), id="expectation"),
        pytest.param(_with("form-body", expect__runs=[{}, {"mood": 1}]), id="expectation of a run"),
        pytest.param(_with("form-body", expect__runs=[{}]), id="fewer runs expected"),
        pytest.param(_with("form-body", input__upstream=[{"sleep": 1}]), id="upstream answer"),
        pytest.param(_with("form-body", input__approve="perhaps"), id="approval"),
        pytest.param(_with("form-body", colour="red"), id="case key"),
        pytest.param(_with("own-path-01", **{"class": "weather.rain"}), id="class"),
        pytest.param(_with("own-path-01", input__fragment="x"), id="security input"),
        pytest.param(_with("own-path-01", expect__decision="maybe"), id="decision"),
        pytest.param(_with("own-ssrf-01", input__policy={"allow_moon": []}), id="policy"),
        pytest.param(_with("own-json-01", expect__status=302), id="status"),
        pytest.param(_with("own-schema-01", input__parameters={"$nest": "x"}), id="recipe"),
        pytest.param(
            _with("catalog-falls-back", input__runs=["tea"], expect__runs=["offered []"]),
            id="words",
        ),
        pytest.param("text", id="no object"),
        pytest.param({"id": "x", "input": {}, "expect": {}}, id="nothing"),
    ],
)
def test_unknown_shape_fails(case: Json) -> None:
    """What the reader does not know is never passed over."""
    assert judge(case, "inside").status == "FAILED"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"id": "b", "input": {"surface": "mcp"}, "expect": {}}, "MCP"),
        ({"id": "c", "class": "oauth.pkce", "input": {}, "expect": {"valid": False}}, "OAuth"),
        ({"id": "g", "class": "approval.device", "input": {"steps": ["press from D2"]},
          "expect": {}}, "sessions"),
        ({"id": "d", "class": "pins.surface", "input": {"via": "MCP"}, "expect": {}}, "MCP"),
        ({"id": "e", "class": "json.value", "input": {"where": "the SDK"}, "expect": {}}, "SDK"),
    ],
)  # fmt: skip
def test_case_of_a_later_issue_says_what_it_needs(case: Json, words: str) -> None:
    """A case that cannot run yet is listed, not passed."""
    verdict = judge(case, "inside")
    assert verdict.status == "later"
    assert words in verdict.words


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, True, False),
        (0, False, False),
        (1, 1.0, True),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, True),
        (9007199254740993, 9007199254740992, False),
    ],
)
def test_json_is_compared_with_types(left: Json, right: Json, equal: bool) -> None:
    """The cases compare bodies as JSON with types."""
    assert same(left, right) is equal
    assert same(right, left) is equal


def test_paths_are_compared_in_one_spelling() -> None:
    """Escapes in either letter case, and bare characters that a segment allows; no others."""
    assert canonical_path("/a%3db%2Fc") == canonical_path("/a=b%2fc")
    assert canonical_path("/a%2Fb") != canonical_path("/a/b")
    assert canonical_path("/a%3F") != canonical_path("/a?")


def test_pairs_are_ordered_between_equal_names_only() -> None:
    """Order matters only between equal names."""
    assert same_pairs([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")])
    assert not same_pairs([("a", "1"), ("a", "2")], [("a", "2"), ("a", "1")])
    assert includes({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}})
    assert not includes({"a": {"c": 2}}, {"a": {"b": 1}})


def test_recipes_are_written_out() -> None:
    """Large inputs are recipes in the case files."""
    assert expand({"a": {"$repeat": ["xy", 3]}}) == {"a": "xyxyxy"}
    assert len(expand({"$generate": "properties", "count": 7, "type": "object"})["properties"]) == 7
    doubled = expand({"$defs_doubling": 3})
    assert doubled["$defs"]["d0"]["properties"]["l"] == {"$ref": "#/$defs/d1"}
    nested = expand({"$nest": "properties", "depth": 2})
    assert nested["properties"]["a"]["properties"]["a"] == {"type": "string"}


def test_phrase_that_is_prose_is_said_to_be_unjudged() -> None:
    """Conditions in words are listed, so that nobody takes them for judged."""
    faults, prose = judge_never(["the moon turns blue"], [])
    assert not faults
    assert prose == ["never the moon turns blue"]


@pytest.mark.parametrize(
    ("cases", "code", "words"),
    [
        ([CASES["own-path-01"]], 0, "1 cases: 1 passed"),
        ([_with("own-path-01", expect__raw_path="/elsewhere")], 1, "own-path-01: FAILED"),
        ([_with("own-path-01", expect__mood=1), CASES["own-path-02"]], 1, "1 FAILED, 1 passed"),
        ([{"id": "m", "class": "mcp.auth", "input": {}, "expect": {}}], 0, "m: later (needs MCP)"),
        ([], 1, "0 cases"),
        ("{", 1, "cannot be read"),
    ],
)
def test_command_lists_each_case_and_fails_for_one(
    cases: Json, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line a case, a line of counts, exit 1 for any that failed or that nobody knows."""
    text = cases if isinstance(cases, str) else json.dumps(cases)
    (tmp_path / "cases.json").write_text(text)
    assert main([str(tmp_path)]) == code
    assert words in capsys.readouterr().out


def test_folder_without_cases_fails(tmp_path: Path) -> None:
    """A wrong path must not look like a run in which all is well."""
    assert main([str(tmp_path)]) == 1
    assert main([str(tmp_path / "none")]) == 1
