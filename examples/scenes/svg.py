"""The preview of a scene as an SVG picture, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from shapes import HEIGHT, WIDTH, faces
from store import PlacedObject, Scene

_STYLE = """
.back { fill: #f7f7f5 } .floor { fill: #eeeeea } .grid { fill: #dadad4 } .shadow { fill: #d2d2cb }
text { font: 22px system-ui, sans-serif; fill: #5c5c57; text-anchor: middle }
@media (prefers-color-scheme: dark) {
  .back { fill: #1b1c1f } .floor { fill: #2a2c30 } .grid { fill: #3a3c41 }
  .shadow { fill: #1f2023 } text { fill: #a9a9a3 }
}
"""


def alt_text(scene: Scene, objects: Sequence[PlacedObject]) -> str:
    """Say what the picture shows, for who cannot see it."""
    count = len(objects)
    return f"{scene.name}: {count} object{'' if count == 1 else 's'} seen from above at an angle"


def draw_svg(scene: Scene, objects: Sequence[PlacedObject]) -> bytes:
    """Draw a scene as a standalone SVG document in UTF-8."""
    label = escape(alt_text(scene, objects))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">',
        f"<title>{label}</title><style>{_STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
    ]
    for face in faces(objects):
        points = " ".join(f"{x:g},{y:g}" for x, y in face.points)
        if face.part == "object":
            red, green, blue = face.colour
            # The thin stroke in the fill's own colour closes the seams between neighbours.
            paint = f"#{red:02x}{green:02x}{blue:02x}"
            lines.append(f'<polygon points="{points}" fill="{paint}" stroke="{paint}"/>')
        else:
            lines.append(f'<polygon points="{points}" class="{face.part}"/>')
    if not objects:
        lines.append(f'<text x="{WIDTH // 2}" y="396">Nothing has been placed here yet</text>')
    lines.append("</svg>")
    return "\n".join(lines).encode()
