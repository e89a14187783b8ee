"""Looks for the secrets that tests make up in what every test of a run prints and logs.

A plugin of pytest: the test that let one out fails as it is torn down, and the message says where
it stands, not what it is. It costs one search through what was captured.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

import pytest

# How made up secrets begin, in all rooms' tests. Others' words are to be left alone: a test's
# own name may stand in what it prints.
_SECRET = re.compile(r"(?:tok|env|other)[_-]canary[\w-]*|\bcanary-\w[\w-]*|hunter2\S*")

_read: list[tuple[str, str]] = []
# Its types are private to pytest.
_fixture: Any = pytest.CaptureFixture
_readouterr = _fixture.readouterr


def _heard(self: object) -> Any:  # noqa: ANN401 - a pair that is private to pytest
    """What a test reads of its output itself is in no report: kept until its end."""
    found = _readouterr(self)
    _read.extend((("stdout, read", str(found.out)), ("stderr, read", str(found.err))))
    return found


_fixture.readouterr = _heard


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test whose output or log has a secret in it."""
    del item, call
    report = yield
    if report.when != "teardown":
        return report
    found = find_leaks([*report.sections, *_read])
    _read.clear()
    if found:
        report.sections = [(name, _SECRET.sub("***", text)) for name, text in report.sections]
        report.outcome = "failed"
        report.longrepr = "A secret was let out.\n" + "\n".join(found)
    return report


def find_leaks(texts: list[tuple[str, str]]) -> list[str]:
    """Where in which text a secret stands."""
    return [
        f"{name}: byte {found.start():,}"
        for name, text in texts
        for found in _SECRET.finditer(text)
    ]
