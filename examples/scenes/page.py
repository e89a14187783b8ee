"""The one page of Acme Scenes: a scene to look at, on a desk or a phone, in light or dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape

from shapes import HEIGHT, WIDTH
from store import PlacedObject, Scene
from svg import alt_text

STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --text: #1c1c1a; --quiet: #62625d;
  --line: #dedcd6; --accent: #2f5fae; }
@media (prefers-color-scheme: dark) {
  :root { --back: #141517; --text: #ececea; --quiet: #a3a39d; --line: #34363a; --accent: #8db2f2; }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/24px system-ui, -apple-system, "Segoe UI", sans-serif; }
header, main { max-width: 960px; margin: 0 auto; padding: 0 24px }
header { padding-top: 20px; padding-bottom: 20px; font-weight: 600; color: var(--accent) }
h1 { margin: 20px 0 4px; font-size: 28px; line-height: 36px; font-weight: 600;
  overflow-wrap: anywhere; }
h2 { margin: 40px 0 8px; font-size: 16px; font-weight: 600 }
p { margin: 0 0 20px; max-width: 70ch; color: var(--quiet) }
img { display: block; width: 100%; height: auto; border: 1px solid var(--line);
  border-radius: 8px; }
.counts { display: flex; flex-wrap: wrap; gap: 8px 24px; margin: 16px 0 0; padding: 0;
  list-style: none; color: var(--quiet); }
.counts b { color: var(--text); font-weight: 600 }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 10px 12px 10px 0; border-bottom: 1px solid var(--line); text-align: right }
th { font-weight: 400; color: var(--quiet); font-size: 14px }
th:first-child, td:first-child { text-align: left }
th:last-child, td:last-child { padding-right: 0 }
main { padding-bottom: 40px }
.note { margin: 16px 0 0; font-size: 14px }
@media (max-width: 480px) {
  header, main { padding-left: 16px; padding-right: 16px }
  h1 { font-size: 24px; line-height: 32px; margin-top: 8px }
}
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

# The page runs no script, loads nothing but its own picture and style, and tells no other site
# the address it was opened with.
PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        f"default-src 'none'; img-src 'self'; style-src 'sha256-{_STYLE_HASH}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

_LABELS = {"column": "Column", "panel": "Panel", "plant": "Plant", "lamp": "Lamp"}


def scene_page(scene: Scene, objects: Sequence[PlacedObject], picture_path: str) -> bytes:
    """Write the page of a scene; `picture_path` is the signed path of its preview."""
    name, alt = escape(scene.name), escape(alt_text(scene, objects))
    if scene.version == scene.saved_version:
        state = "All changes are saved."
    else:
        changes = scene.version - scene.saved_version
        state = f"{changes} change{'' if changes == 1 else 's'} since the last save."
    return _page(
        scene.name,
        f"<main><h1>{name}</h1><p>Version {scene.version}. {state}</p>"
        f'<img src="{escape(picture_path)}" width="{WIDTH}" height="{HEIGHT}" alt="{alt}">'
        f"{_contents(objects)}</main>",
    )


def problem_page(title: str, words: str) -> bytes:
    """Write a page that says why there is nothing to see."""
    return _page(title, f"<main><h1>{escape(title)}</h1><p>{escape(words)}</p></main>")


def _contents(objects: Sequence[PlacedObject]) -> str:
    if not objects:
        return ""  # the picture says so
    kinds = [one.kind for one in objects]
    counts = "".join(
        f"<li><b>{count}</b> {label.lower()}{'' if count == 1 else 's'}</li>"
        for kind, label in _LABELS.items()
        if (count := kinds.count(kind))
    )
    rows = "".join(
        f"<tr><td>{_LABELS[one.kind]}</td><td>{one.x:g} m</td><td>{one.y:g} m</td>"
        f"<td>{one.rotation:g}°</td></tr>"
        for one in objects
    )
    return (
        f'<ul class="counts">{counts}</ul><h2>Objects in the order they were placed</h2>'
        '<table><thead><tr><th scope="col">Object</th><th scope="col">x</th><th scope="col">y</th>'
        f'<th scope="col">Rotation</th></tr></thead><tbody>{rows}</tbody></table>'
        '<p class="note">x and y are metres from the middle of the floor.</p>'
    )


def _page(title: str, main: str) -> bytes:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Acme Scenes</title><style>{STYLE}</style></head>"
        f"<body><header>Acme Scenes</header>{main}</body></html>"
    ).encode()
