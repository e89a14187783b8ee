"""The pages of ``remit explain``: one for each rule and each error code, kept in the package."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_ID = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_ENDING = ".md"


def page(page_id: str) -> str | None:
    """The page of a rule (``empty-description``) or code (``invalid_pin``); None for no such id."""
    if not _ID.fullmatch(page_id):
        return None
    found = _folder() / f"{page_id}{_ENDING}"
    return found.read_text("utf-8") if found.is_file() else None


def ids() -> tuple[str, ...]:
    """Every id that has a page, sorted."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def _folder() -> Traversable:
    # A folder of data beside this module of the same name; no package.
    return resources.files("remit.main") / "pages"
