"""App folders as tests write them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

APP = """\
id: bookmarks
name: Bookmarks
auth: {type: none}
components:
  api: {url: http://127.0.0.1:8802}
"""
SKILL = """\
---
name: bookmarks
description: Saving bookmarks.
---

Ask for the title.
"""
TOOLS = """\
from pydantic import BaseModel, ConfigDict

from remit.kit import AppTarget, Tool


class SaveBookmark(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str
    title: str | None = None


tools = [
    Tool(
        name="save_bookmark",
        display_name="Save bookmark",
        description="Saves an address. Not for notes; use save_note for those.",
        input=SaveBookmark,
        target=AppTarget(
            component="api", path="/tools/save-bookmark", method="POST", body="${input}"
        ),
        category="write",
        danger_level="safe",
    ),
]
"""
DEFAULTS: dict[str, str | bytes | None] = {
    "app.yaml": APP,
    "skills/bookmarks/SKILL.md": SKILL,
    "skills/bookmarks/tools.py": TOOLS,
}


def write(root: Path, files: dict[str, str | bytes | None]) -> Path:
    """Write a folder; a path that is None is left out of the defaults."""
    root.mkdir(parents=True, exist_ok=True)
    for path, content in {**DEFAULTS, **files}.items():
        if content is None:
            continue
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def typescript(body: str, *imports: str) -> str:
    """A ``tools.ts`` with one tool whose input is the expression."""
    head = "\n".join(imports)
    return dedent(
        """\
        %s

        export const tools = [
          {
            name: 'save_bookmark',
            description: 'Saves an address. Not for notes; use save_note for those.',
            input: %s,
            target: { type: 'app', component: 'api', path: '/s', method: 'POST', body: '${input}' },
            category: 'write',
            dangerLevel: 'safe',
          },
        ] as const;
        """
    ) % (head, body)
