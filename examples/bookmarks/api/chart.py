"""The two charts as SVG: as wide as there is room, their text as large as all other text.

Places across are per cent and places down are pixels, so that nothing is stretched: on a phone the
bars are narrower, and the words are not. Colours are classes; the page has them for light and dark.
"""

from __future__ import annotations

from html import escape

from api.numbers import Numbers, day, plural

_HEIGHT, _TOP, _FOOT = 176, 20, 24
_ROW = 40
_MOST_LABELS = 8


def weeks_svg(numbers: Numbers) -> str:
    """A bar for each week, its count above it, the Monday below."""
    most = max(1, *(count for _, count in numbers.by_week))
    room, base = _HEIGHT - _TOP - _FOOT, _HEIGHT - _FOOT
    step = 100 / len(numbers.by_week)
    every = -(-len(numbers.by_week) // _MOST_LABELS)
    parts = [f'<line class="base" x1="0" x2="100%" y1="{base}" y2="{base}"/>']
    for index, (monday, count) in enumerate(numbers.by_week):
        left, middle = index * step, (index + 0.5) * step
        high = round(room * count / most)
        name = f"Week of {day(monday)}: {plural(count)}"
        if count:
            parts.append(
                f'<rect class="bar" x="{left + step * 0.15:.2f}%" y="{base - high}" '
                f'width="{step * 0.7:.2f}%" height="{high}"><title>{name}</title></rect>'
                f'<text class="count" x="{middle:.2f}%" y="{base - high - 6}">{count}</text>'
            )
        # The newest week always has its day; of many only some do.
        if (len(numbers.by_week) - 1 - index) % every == 0:
            # Where the bars are narrow, the last one's day would leave the chart.
            last = every > 1 and index == len(numbers.by_week) - 1
            kind, across = ("last label", 100.0) if last else ("label", middle)
            parts.append(
                f'<text class="{kind}" x="{across:.2f}%" y="{_HEIGHT - 6}">{day(monday)}</text>'
            )
    return _svg("Bookmarks by week", _HEIGHT, parts)


def tags_svg(numbers: Numbers) -> str:
    """A row for each tag: its name and count, and a bar below them."""
    most = max((count for _, count in numbers.by_tag), default=1)
    parts: list[str] = []
    for index, (tag, count) in enumerate(numbers.by_tag):
        top = index * _ROW
        parts.append(
            f'<text class="name" x="0" y="{top + 16}">{escape(tag)}</text>'
            f'<text class="number" x="100%" y="{top + 16}">{count}</text>'
            f'<rect class="track" x="0" y="{top + 22}" width="100%" height="8"/>'
            f'<rect class="bar" x="0" y="{top + 22}" width="{100 * count / most:.2f}%" '
            f'height="8"><title>{escape(tag)}: {plural(count)}</title></rect>'
        )
    return _svg("Bookmarks by tag", max(_ROW * len(numbers.by_tag), 1), parts)


def _svg(name: str, height: int, parts: list[str]) -> str:
    return (
        f'<svg width="100%" height="{height}" role="img" aria-label="{name}">{"".join(parts)}</svg>'
    )
