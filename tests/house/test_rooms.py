"""The import contracts cover every room that exists; docs/decisions/0001 says why they are so."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PURE = {
    "errors", "values", "documents", "catalog", "offer", "calls", "policy", "statement", "session",
    "lint", "importing",
}  # fmt: skip


def _contracts() -> list[dict[str, object]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]["contracts"]


def _rooms() -> set[str]:
    return {
        path.stem
        for path in (ROOT / "src" / "remit").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    } - {"__init__"}


def test_every_pure_room_stands_in_the_purity_contract() -> None:
    """A forbidden contract takes only rooms that exist, so that a new one could be forgotten."""
    pure = next(one for one in _contracts() if str(one["name"]).startswith("Pure rooms"))

    assert pure["source_modules"] == sorted(f"remit.{room}" for room in _rooms() & PURE)


@pytest.mark.parametrize(("folder", "limit"), [("src", 400), ("tests", 600)])
def test_no_file_is_too_long(folder: str, limit: int) -> None:
    """A longer one is two modules in one file (docs/decisions/0001)."""
    long = [
        f"{path.relative_to(ROOT)}: {lines} lines, {limit} at most"
        for path in (ROOT / folder).rglob("*.py")
        if (lines := path.read_text("utf-8").count("\n")) > limit
    ]

    assert long == []
