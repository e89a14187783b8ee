"""The watch over the whole run can fail, whichever way a secret gets out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import logging, os, sys

SECRET = "tok_can" + "ary_0123456789"

def test_prints(): print("hello", SECRET)
def test_says(): print(SECRET, file=sys.stderr)
def test_logs(): logging.getLogger("x").warning("token %s", SECRET)
def test_reads(capsys):
    print(SECRET)
    assert capsys.readouterr().out
def test_writes_to_the_descriptor(): os.write(2, SECRET.encode())
def test_is_silent(): print("token ***, tok_", "canary")
"""


def test_secret_that_a_test_lets_out_fails_it(tmp_path: Path) -> None:
    """Printed, logged, read by the test itself: it fails with the place, without the value."""
    file = tmp_path / "test_leaks.py"
    file.write_text(TESTS, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.canary.watching", "-q", "-rE", file],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "6 passed, 5 errors" in ran.stdout
    assert "test_is_silent" not in ran.stdout
    for place in ("stdout call: byte 6", "stderr call: byte 0", "log call", "stdout, read: byte 0"):
        assert place in ran.stdout
    assert "tok_canary_0123456789" not in ran.stdout
