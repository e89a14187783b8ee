"""Rules on what models and their providers take: names, numbers, keywords, held to the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.model import Endpoint
from remit.lint.subject import Finding
from remit.offer.names import MAX_NAME, shortened_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.subject import ToolView

_PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def parameter_name(view: ToolView) -> Iterator[Finding]:
    """A parameter name outside what every provider takes."""
    for node in view.schema_nodes:
        name = node.label.rpartition(".")[2] if "." in node.label else node.label
        if node.is_property and not _PORTABLE.fullmatch(name):
            yield Finding(
                node.at,
                f'the parameter name "{_cut(node.label)}" is not taken by every model: Gemini wants a letter '
                "or _ first, then letters, digits and _, at most 64 in all",
                "rename it; the name in the request is free, it stands in queryParams or bodyTemplate",
            )


def long_name(view: ToolView) -> Iterator[Finding]:
    """A name that is cut where another app has a tool of the same name (contract section 2)."""
    if view.app_id is None or not view.name:
        return
    prefix = "integration_" if view.tool and isinstance(view.tool.destination, Endpoint) else ""
    full = f"{prefix}{view.app_id}_{view.name}"
    if view.tool is not None and len(full) > MAX_NAME:
        yield Finding(
            "/name",
            f"in a session with another app's {view.name} it is offered as {shortened_name(full)}",
            f"a name of at most {MAX_NAME - len(full) + len(view.name)} characters stays whole"
            if MAX_NAME - len(full) + len(view.name) > 0
            else "a shorter app id leaves room for it",
        )


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
