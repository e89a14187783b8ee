"""How much work a recursive schema may make of one value.

A schema whose parts refer to themselves in several branches can double the work with each level of
the value; the validator, which cannot be stopped and holds the interpreter, is not started then.
Counted with a memory of what was counted, so that counting itself stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from remit.documents.shapes import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.documents.schema_graph import Edge, SchemaGraph

#: Pairs of subschema and value that are looked at before the count is given up.
_MAX_PAIRS = 200_000


@final
class Cost:
    """Counts the applications of subschemas to values that validating one value may take."""

    __slots__ = ("_cap", "_graph", "_known")

    def __init__(self, graph: SchemaGraph, *, cap: int) -> None:
        self._graph = graph
        self._cap = cap
        self._known: dict[tuple[str, int], int] = {}

    def of(self, instance: object) -> int:
        """The count for ``instance``, up to the cap; the cap also where counting takes too long."""
        try:
            return min(self._count("", instance), self._cap)
        except RecursionError:
            return self._cap

    def _count(self, at: str, value: object) -> int:
        pair = (at, id(value))
        known = self._known.get(pair)
        if known is not None:
            return known
        if len(self._known) >= _MAX_PAIRS:
            return self._cap
        total = 1
        for edge in self._graph.edges.get(at, ()):
            if edge.kind == "definition":
                continue
            for part in _applied_to(edge, value):
                total += self._count(edge.target, part)
                if total >= self._cap:
                    break
        self._known[pair] = min(total, self._cap)
        return self._known[pair]


def _applied_to(edge: Edge, value: object) -> Iterable[object]:
    """The parts of ``value`` that an edge may apply its target to: rather too many than too few."""
    if edge.kind == "place":
        return (value,)
    if is_object(value):
        if edge.kind == "named":
            return (value[edge.part],) if edge.part in value else ()
        return value.values()
    return value if is_array(value) else ()
