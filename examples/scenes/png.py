"""A rendering of a scene as a PNG picture, polygon by polygon, with the standard library alone."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable

from shapes import HEIGHT, WIDTH, Colour, Face, Point

_BACK: Colour = (247, 247, 245)


class Canvas:
    """An RGB picture in memory; `scale` 1 is 960 by 660 pixels."""

    def __init__(self, scale: int) -> None:
        """Begin with an empty picture."""
        self.width = WIDTH * scale
        self.height = HEIGHT * scale
        self._scale = scale
        self._pixels = bytearray(bytes(_BACK) * (self.width * self.height))

    def draw(self, faces: Iterable[Face]) -> None:
        """Fill polygons, later ones over earlier ones."""
        for face in faces:
            points = [(x * self._scale, y * self._scale) for x, y in face.points]
            self._fill(points, bytes(face.colour))

    def png(self) -> bytes:
        """Pack the picture as a PNG file (RFC 2083: 8 bits, RGB, no filter)."""
        stride = self.width * 3
        rows = (self._pixels[at : at + stride] for at in range(0, len(self._pixels), stride))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            _chunk(kind, content)
            for kind, content in ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
        )

    def _fill(self, points: list[Point], colour: bytes) -> None:
        top = max(0, math.floor(min(y for _, y in points)))
        bottom = min(self.height, math.ceil(max(y for _, y in points)))
        for row in range(top, bottom):
            crossings = _crossings(points, row + 0.5)
            # Even-odd rule: the inside lies between the first and second crossing, and so on.
            for left, right in zip(crossings[::2], crossings[1::2], strict=False):
                start = min(self.width, max(0, round(left)))
                end = min(self.width, max(0, round(right)))
                if end > start:
                    at = (row * self.width + start) * 3
                    self._pixels[at : at + (end - start) * 3] = colour * (end - start)


def _crossings(points: list[Point], height: float) -> list[float]:
    """Where a horizontal line crosses the outline, from left to right."""
    found: list[float] = []
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1], strict=True):
        if (y1 <= height) != (y2 <= height):
            found.append(x1 + (height - y1) * (x2 - x1) / (y2 - y1))
    return sorted(found)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
