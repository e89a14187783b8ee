"""The manifest and the tests agree: no promise done without a test, no test without a promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.promises.traces import (
    Promise,
    find_faults,
    find_titles,
    find_traces,
    read_manifest,
    read_traces,
)

FOLDER = Path(__file__).parent


def test_manifest_and_tests_agree() -> None:
    """Every done promise has a test that runs, and every traced promise exists and is done."""
    faults = find_faults(read_manifest(FOLDER), read_traces(FOLDER.parent))

    assert not faults, "\n".join(faults)


def test_manifests_are_whole() -> None:
    """The origin documents make 48, 64 and 37 promises, numbered without a gap."""
    promises = read_manifest(FOLDER)

    assert list(promises) == [
        f"{area}-{number:02}"
        for area, last in (("K", 48), ("T", 64), ("A", 37))
        for number in range(1, last + 1)
    ]
    assert all(one.text and one.section for one in promises.values())


def _promise(*, done: bool) -> dict[str, Promise]:
    return {"T-01": Promise(id="T-01", file="t.toml", text="It holds.", section="1", done=done)}


MARKED = 'import pytest\n@pytest.mark.promise("T-01")\ndef test_it(): ...\n'


@pytest.mark.parametrize(
    ("done", "source", "fault"),
    [
        pytest.param(True, MARKED, None, id="done and tested"),
        pytest.param(False, "def test_it(): ...", None, id="neither"),
        pytest.param(True, "def test_it(): ...", "no test that runs holds it", id="untested"),
        pytest.param(False, MARKED, "is not marked done", id="unmarked"),
        pytest.param(True, MARKED + MARKED.replace("01", "99"), 'names "T-99"', id="unknown"),
        pytest.param(True, MARKED.replace('"T-01"', "ID"), 'names ""', id="no constant"),
        pytest.param(True, MARKED.replace('"T-01"', ""), 'names ""', id="no id"),
        pytest.param(
            True,
            MARKED.replace("def", "@pytest.mark.skip\ndef"),
            "no test that runs holds it",
            id="skipped",
        ),
        pytest.param(
            True, 'pytestmark = [pytest.mark.promise("T-01")]', None, id="for a whole module"
        ),
        pytest.param(
            True, 'x = pytest.param(1, marks=pytest.mark.promise("T-01"))', None, id="for one case"
        ),
    ],
)
def test_disagreement_is_said(done: bool, source: str, fault: str | None) -> None:
    """A promise without a test, a test without a promise and a skipped test all fail."""
    faults = find_faults(_promise(done=done), tuple(find_traces(source, "test_it.py")))

    assert bool(faults) == (fault is not None)
    assert fault is None or re.search(fault, faults[0])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("test('it holds (A-01, A-03)', () => {})", [("A-01", True), ("A-03", True)]),
        ('  it("holds (A-02)", async () => {})', [("A-02", True)]),
        ("test.each(ROWS)(`$name holds (A-04)`, () => {})", [("A-04", True)]),
        ("test.skip('it holds (A-05)', () => {})", [("A-05", False)]),
        ("test('it is not about (A-0x)', () => {})", []),
        ("// as (A-06) says\ntest('it holds', () => {})", []),
    ],
)
def test_a_title_in_typescript_names_promises(source: str, found: list[tuple[str, bool]]) -> None:
    """The ids stand at its end; a test that is skipped holds nothing."""
    assert [(one.id, one.runs) for one in find_titles(source, "it.test.ts")] == found
