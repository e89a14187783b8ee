"""From the objects of a scene to coloured polygons, seen from above at an angle.

The floor is 20 by 20 metres; x and y count in metres from its middle, z is height. Polygons come
back to front, so whoever draws them in order gets the right picture. `svg.py` writes them as SVG,
`png.py` as pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from store import PlacedObject

WIDTH = 960
HEIGHT = 660
FLOOR = 10.0  # metres from the middle to the edge

_SCALE = 23.0  # pixels a metre
_MIDDLE = (WIDTH / 2, 390.0)
_COS, _SIN = math.cos(math.radians(30)), math.sin(math.radians(30))

Point = tuple[float, float]
Colour = tuple[int, int, int]
Part = Literal["floor", "grid", "shadow", "object"]

BLUE: Colour = (72, 118, 199)
SAND: Colour = (216, 186, 142)
CLAY: Colour = (190, 110, 80)
GREEN: Colour = (82, 148, 98)
STEEL: Colour = (120, 126, 138)
GLOW: Colour = (250, 214, 120)


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One polygon in pixels of a 960 by 660 picture."""

    points: tuple[Point, ...]
    colour: Colour
    part: Part


def faces(objects: Iterable[PlacedObject]) -> list[Face]:
    """Make the polygons of a whole scene, back to front."""
    placed = sorted(objects, key=lambda one: one.x + one.y)
    return [
        *_floor(),
        *(face for one in placed for face in _shadow(one)),
        *(face for one in placed for face in _solid(one)),
    ]


def _project(x: float, y: float, z: float = 0.0) -> Point:
    across = (x - y) * _COS * _SCALE
    down = ((x + y) * _SIN - z) * _SCALE
    return (round(_MIDDLE[0] + across, 1), round(_MIDDLE[1] + down, 1))


def _floor() -> Iterator[Face]:
    corners = ((-FLOOR, -FLOOR), (FLOOR, -FLOOR), (FLOOR, FLOOR), (-FLOOR, FLOOR))
    yield _flat(corners, (238, 238, 234), "floor")
    for step in range(-8, 10, 2):
        low, high = step - 0.03, step + 0.03
        across = ((low, -FLOOR), (high, -FLOOR), (high, FLOOR), (low, FLOOR))
        along = tuple((y, x) for x, y in across)
        yield _flat(across, (218, 218, 212), "grid")
        yield _flat(along, (218, 218, 212), "grid")


def _flat(corners: Iterable[Point], colour: Colour, part: Part) -> Face:
    return Face(points=tuple(_project(x, y) for x, y in corners), colour=colour, part=part)


def _ring(one: PlacedObject, width: float, depth: float, corners: int = 4) -> tuple[Point, ...]:
    """The outline of a solid on the floor: a rectangle, or a regular shape of more corners."""
    turn = math.radians(one.rotation)
    if corners == 4:
        half_width, half_depth = width / 2, depth / 2
        outline = (
            (-half_width, -half_depth),
            (half_width, -half_depth),
            (half_width, half_depth),
            (-half_width, half_depth),
        )
    else:
        steps = (2 * math.pi * n / corners for n in range(corners))
        outline = tuple((math.cos(a) * width / 2, math.sin(a) * depth / 2) for a in steps)
    return tuple(
        (
            one.x + x * math.cos(turn) - y * math.sin(turn),
            one.y + x * math.sin(turn) + y * math.cos(turn),
        )
        for x, y in outline
    )


def _shadow(one: PlacedObject) -> Iterator[Face]:
    size = {"column": (2.1, 2.1), "panel": (4.3, 0.9), "plant": (1.9, 1.9), "lamp": (1.3, 1.3)}
    width, depth = size[one.kind]
    yield _flat(
        _ring(one, width, depth, 4 if one.kind == "panel" else 12), (212, 212, 206), "shadow"
    )


def _solid(one: PlacedObject) -> Iterator[Face]:
    if one.kind == "column":
        yield from _frustum(_ring(one, 1.5, 1.5), 0.0, 3.4, 1.0, BLUE)
    elif one.kind == "panel":
        yield from _frustum(_ring(one, 4.0, 0.3), 0.0, 2.6, 1.0, SAND)
    elif one.kind == "plant":
        yield from _frustum(_ring(one, 1.0, 1.0, 8), 0.0, 0.8, 1.0, CLAY)
        yield from _frustum(_ring(one, 1.7, 1.7, 8), 0.8, 2.0, 0.45, GREEN)
        yield from _frustum(_ring(one, 1.3, 1.3, 8), 1.7, 2.9, 0.0, GREEN)
    else:
        yield from _frustum(_ring(one, 0.9, 0.9, 8), 0.0, 0.15, 1.0, STEEL)
        yield from _frustum(_ring(one, 0.16, 0.16), 0.15, 2.5, 1.0, STEEL)
        yield from _frustum(_ring(one, 1.3, 1.3, 8), 2.3, 3.1, 0.5, GLOW)


def _frustum(
    ring: tuple[Point, ...], bottom: float, top: float, narrowing: float, colour: Colour
) -> Iterator[Face]:
    """A solid over an outline, a box at narrowing 1, a point at 0: far sides, near sides, top."""
    mid_x = sum(x for x, _ in ring) / len(ring)
    mid_y = sum(y for _, y in ring) / len(ring)
    upper = tuple(
        (mid_x + (x - mid_x) * narrowing, mid_y + (y - mid_y) * narrowing) for x, y in ring
    )
    sides: list[tuple[float, Face]] = []
    for here in range(len(ring)):
        there = (here + 1) % len(ring)
        out_x = (ring[here][0] + ring[there][0]) / 2 - mid_x
        out_y = (ring[here][1] + ring[there][1]) / 2 - mid_y
        outline = (
            _project(*ring[here], bottom),
            _project(*ring[there], bottom),
            _project(*upper[there], top),
            _project(*upper[here], top),
        )
        towards_light = (out_y - out_x) / (math.hypot(out_x, out_y) * math.sqrt(2))
        shaded = _shade(colour, 0.82 + 0.13 * towards_light)
        sides.append((out_x + out_y, Face(points=outline, colour=shaded, part="object")))
    yield from (face for _, face in sorted(sides, key=lambda side: side[0]))
    if narrowing > 0:
        lid = tuple(_project(x, y, top) for x, y in upper)
        yield Face(points=lid, colour=_shade(colour, 1.08), part="object")


def _shade(colour: Colour, brightness: float) -> Colour:
    red, green, blue = (min(255, round(part * brightness)) for part in colour)
    return (red, green, blue)
