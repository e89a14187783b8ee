"""The guide's page about identity does what it says."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.tokens import CLAIMS, JWKS, made

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "identity.md"
ISSUER = "https://agent.acme.example"


def test_the_handler_of_the_page_knows_who_calls(capsys: pytest.CaptureFixture[str]) -> None:
    """An author who copies it gets an identity for a good token and None for a bad one."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.M)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - the page's own code
    now = int(time.time())
    claims = {
        **CLAIMS, "iss": ISSUER, "aud": "acme-scenes/api", "iat": now, "exp": now + 300
    }  # fmt: skip

    found = names["who_calls"](f"Bearer {made(claims=claims)}", JWKS)

    assert found.user == "user_1"
    assert names["who_calls"](f"Bearer {made()}", JWKS) is None
    assert names["who_calls"]("", JWKS) is None
    assert "malformed The token is not three parts" in capsys.readouterr().out
