"""The project's own cases, read by the reader that reads any folder of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.reader import judge, read_folder
from tests.cases.verdicts import Json

OWN = Path(__file__).parent / "own"
CASES = [pytest.param(case, id=case["id"]) for _, case in read_folder(OWN)]


@pytest.mark.parametrize("case", CASES)
def test_own_case_passes(case: Json) -> None:
    """The promises of contract sections 2 to 7 and 11, driven through the command line."""
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


def test_files_are_json_that_people_can_read() -> None:
    """A case file is data: whoever opens it should see what is given and what must follow."""
    for file in OWN.glob("*.json"):
        for case in json.loads(file.read_text("utf-8")):
            assert case["why"]
