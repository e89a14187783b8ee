"""The dashboard as a page for a frame: its markup, its style, its one script, its policy.

It makes itself as high as it needs by a message to the page around it, and tells it nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape

from api.chart import tags_svg, weeks_svg
from api.numbers import Numbers, day, plural

CHOICES = (4, 8, 13, 26)
STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --text: #1c1c1a; --quiet: #62625d;
  --line: #dedcd6; --track: #efeee9; --accent: #2f5fae; }
@media (prefers-color-scheme: dark) {
  :root { --back: #141517; --text: #ececea; --quiet: #a3a39d; --line: #34363a; --track: #24262a;
    --accent: #8db2f2; }
}
* { box-sizing: border-box }
html { background: var(--back); color: var(--text);
  font: 14px/20px system-ui, -apple-system, "Segoe UI", sans-serif; }
body { margin: 0; padding: 16px; display: flow-root }
h1 { margin: 0; font-size: 16px; line-height: 24px; font-weight: 600 }
h2 { margin: 0 0 8px; font-size: 14px; font-weight: 600 }
p { margin: 0; color: var(--quiet) }
header { display: flex; flex-wrap: wrap; gap: 8px 16px; justify-content: space-between;
  align-items: center; margin-bottom: 16px; }
nav { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; color: var(--quiet) }
nav span { margin-right: 4px }
nav a { display: grid; place-items: center; min-width: 44px; height: 44px; padding: 0 8px;
  border: 1px solid var(--line); border-radius: 8px; color: var(--text); text-decoration: none; }
nav a[aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 600 }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 24px 40px }
svg { display: block; overflow: visible }
text { font-size: 12px; fill: var(--quiet) }
.bar { fill: var(--accent) }
.track { fill: var(--track) }
.base { stroke: var(--line) }
.count, .label { text-anchor: middle }
.last { text-anchor: end }
.count, .name { fill: var(--text) }
.number { text-anchor: end }
details { margin-top: 16px }
summary { min-height: 44px; align-content: center; color: var(--quiet); cursor: pointer }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 4px 0; border-bottom: 1px solid var(--line); text-align: left;
  font-weight: 400; }
td { text-align: right }
@media (max-width: 720px) { main { grid-template-columns: minmax(0, 1fr) } }
@media (max-width: 480px) {
  body { padding: 12px }
  text { font-size: 11px }
}
"""
# `body` is measured: the window's own height would only ever grow.
_SCRIPT = """
const told = () => parent.postMessage({ [NAME]: Math.ceil(document.body.scrollHeight) }, '*')
new ResizeObserver(told).observe(document.body)
told()
"""


def script(brand: str) -> str:
    """The script of a page that is shown by a Remit of this name."""
    return f"const NAME = {json.dumps(f'__{brand.lower()}_height')}\n{_SCRIPT.lstrip()}"


def headers(brand: str, framed_by: Sequence[str]) -> Mapping[str, str]:
    """What a page is sent with: it runs its own script, loads nothing, and is framed by these."""
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(script(brand))}; "
            f"base-uri 'none'; form-action 'none'; frame-ancestors {' '.join(framed_by)}"
        ),
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }


def dashboard(numbers: Numbers, *, path: str, brand: str) -> str:
    """The charts, a choice of weeks, and the same numbers as a table."""
    weeks = len(numbers.by_week)
    choices = "".join(
        f'<a href="{escape(path)}?weeks={one}"{" aria-current=true" * (one == weeks)} '
        f'aria-label="{one} weeks">{one}</a>'
        for one in CHOICES
    )
    said = f"{numbers.recent} of {plural(numbers.total)} in {weeks} weeks"
    header = (
        f"<header><div><h1>Bookmarks</h1><p>{said}</p></div><nav><span>Weeks</span>{choices}"
        "</nav></header>"
    )
    if not numbers.recent:
        words = "Nothing was saved in these weeks. What you save shows here."
        return _page(f"{header}<p>{words}</p>", brand)
    tags = tags_svg(numbers) if numbers.by_tag else "<p>No bookmark of these weeks has a tag.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{count}</td></tr>'
        for name, count in (
            *((f"Week of {day(monday)}", count) for monday, count in numbers.by_week),
            *numbers.by_tag,
        )
    )
    return _page(
        f"{header}<main><section><h2>By week</h2>{weeks_svg(numbers)}</section>"
        f"<section><h2>By tag</h2>{tags}</section></main>"
        f"<details><summary>The numbers</summary><table>{rows}</table></details>",
        brand,
    )


def closed(brand: str) -> str:
    """Why there is nothing to see."""
    return _page(
        "<h1>This view has closed</h1><p>It opens once, within a minute, and for an hour in the "
        "browser that opened it. Ask for the dashboard again.</p>",
        brand,
    )


def _page(body: str, brand: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Acme Bookmarks</title><style>{STYLE}</style></head>"
        f'<body>{body}<script type="module">{script(brand)}</script></body></html>'
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
