"""What may still be put into one request (contract sections 3 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from remit.documents.canonical import canonical_json
from remit.values.urls import MAX_URL_BYTES

if TYPE_CHECKING:
    from remit.catalog.references import Reference
    from remit.values.json import JsonValue

MAX_BODY_BYTES = 1024 * 1024
# All arguments of a call have 256 KiB: so many of them, whole, do no harm and are not measured.
UNMEASURED = 16


@final
class Room:
    """What may still be put into one request, in characters of its finished text.

    A template may name one argument a hundred thousand times: what is inserted is counted as it
    is, so that nothing is written out that could not be sent.
    """

    __slots__ = ("_body", "_measured", "_url", "_whole")

    def __init__(self) -> None:
        self._url = MAX_URL_BYTES
        self._body = MAX_BODY_BYTES
        self._whole = 0
        self._measured: dict[Reference, int] | None = None

    def for_url(self, length: int) -> bool:
        """Whether there is room in the URL; it is taken."""
        self._url -= length
        return self._url >= 0

    def for_body(self, length: int) -> bool:
        """Whether there is room in body and headers; it is taken."""
        self._body -= length
        return self._body >= 0

    def for_value(self, reference: Reference, value: JsonValue) -> bool:
        """Whether there is room in the body for a whole value; it is taken."""
        self._whole += 1
        if self._whole <= UNMEASURED:
            return True
        if self._measured is None:
            self._measured = {}
        length = self._measured.get(reference)
        if length is None:
            length = self._measured[reference] = len(canonical_json(value))
        return self.for_body(length)
