"""The guide's page about testing: each test on it runs as it stands."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "testing.md"
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.M)
TESTS = re.findall(r"^(?:async )?def (test_\w+)\(", "".join(CODE), re.M)


@pytest.mark.parametrize("name", TESTS)
async def test_the_tests_of_the_page_pass(name: str) -> None:
    """Who copies them has tests that pass, and they say what the page says."""
    names: dict[str, Any] = {}
    exec("".join(CODE), names)  # noqa: S102 - the page's own code

    found = names[name]()
    if inspect.isawaitable(found):
        await found
