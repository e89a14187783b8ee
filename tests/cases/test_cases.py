"""The project's own cases, read by the reader that reads any folder of them."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from tests.cases.reader import judge, read_folder
from tests.cases.verdicts import Json

OWN = Path(__file__).parent / "own"
CASES = [pytest.param(case, id=case["id"]) for _, case in read_folder(OWN)]


@pytest.mark.parametrize("case", CASES)
def test_own_case_passes(case: Json) -> None:
    """The promises of contract sections 2 to 11, driven through the command line and HTTP."""
    verdict = judge(case, "inside")
    assert verdict.status == "passed", verdict.line()


def test_every_own_case_has_an_id_of_its_own() -> None:
    """Two cases of one name would hide one another in a list."""
    ids = [case["id"] for _, case in read_folder(OWN)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", ["query-style-repeat", "polls-until-done", "own-path-01"])
def test_installed_command_does_the_same(name: str) -> None:
    """Most cases run inside the test's process; some start what a user starts."""
    case = next(case for _, case in read_folder(OWN) if case["id"] == name)
    verdict = judge(case, "real")
    assert verdict.status == "passed", verdict.line()


@pytest.mark.parametrize(
    "name",
    [
        "query-style-repeat",
        "pins-on-the-card",
        "denied-sends-nothing",
        "auth-api-key-header",
        "poll-whole-body",
        "error-statuses",
        "reference-env",
    ],
)
def test_api_does_the_same(name: str) -> None:
    """A call over the API is the call of the command line (contract section 10)."""
    case = next(case for _, case in read_folder(OWN) if case["id"] == name)
    verdict = judge(case, "api")
    assert verdict.status == "passed", verdict.line()
    case = deepcopy(case)
    for expect in case["expect"].get("runs", [case["expect"]]):
        expect.pop("requests", None)
        expect["requestCount"] = 99
    assert judge(case, "api").status == "FAILED"


def test_files_are_json_that_people_can_read() -> None:
    """A case file is data: whoever opens it should see what is given and what must follow."""
    for file in OWN.glob("*.json"):
        for case in json.loads(file.read_text("utf-8")):
            assert case["why"]
