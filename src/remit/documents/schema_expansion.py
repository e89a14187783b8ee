"""How far the references of a schema expand, and whether they turn in a circle.

Counted over the graph, never by expanding: thirty definitions that refer twice to the next one
stand for a thousand million. Subschemas that refer to each other in a circle are counted once
together; whether such a circle ends is asked apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.documents.schema_graph import Edge, SchemaGraph


class Expansion(NamedTuple):
    """What the references of a schema amount to.

    Attributes:
        size: subschemas there are once every reference is written out; capped.
        endless: pointers of a circle of subschemas that apply each other to the same value; ().
        is_recursive: whether a subschema applies itself, to a part of its value.
    """

    size: int
    endless: tuple[str, ...]
    is_recursive: bool


def expansion(graph: SchemaGraph, *, cap: int) -> Expansion:
    """The expansion of a schema, its size counted up to ``cap`` + 1."""

    def applied(at: str, *, in_place: bool) -> list[str]:
        return [
            edge.target
            for edge in graph.edges.get(at, ())
            if edge.target in graph.nodes and _counts(edge, in_place=in_place)
        ]

    in_place = components(graph.nodes, lambda at: applied(at, in_place=True))
    for group in in_place:
        if _is_circle(group, lambda at: applied(at, in_place=True)):
            return Expansion(0, tuple(sorted(group)), is_recursive=True)
    groups = components(graph.nodes, lambda at: applied(at, in_place=False))
    size = _weight(groups, lambda at: applied(at, in_place=False), cap)
    # In one circle, what applies to a single value may double all the same.
    size = max(size, _weight(in_place, lambda at: applied(at, in_place=True), cap))
    recursive = any(_is_circle(group, lambda at: applied(at, in_place=False)) for group in groups)
    return Expansion(size, (), is_recursive=recursive)


def _counts(edge: Edge, *, in_place: bool) -> bool:
    return edge.kind == "place" or (not in_place and edge.kind in ("child", "named"))


def _is_circle(group: tuple[str, ...], targets: Callable[[str], list[str]]) -> bool:
    return len(group) > 1 or any(at in targets(at) for at in group)


def _weight(
    groups: Iterable[tuple[str, ...]], targets: Callable[[str], list[str]], cap: int
) -> int:
    """The largest weight of a group: its members, and the weight of whatever they apply."""
    weights: dict[str, int] = {}
    largest = 0
    # The groups come with what they apply before them.
    for group in groups:
        members = set(group)
        weight = len(group) + sum(
            weights[target] for at in group for target in targets(at) if target not in members
        )
        weight = min(weight, cap + 1)
        largest = max(largest, weight)
        for at in group:
            weights[at] = weight
    return largest


def components(nodes: Iterable[str], targets: Callable[[str], list[str]]) -> list[tuple[str, ...]]:
    """The strongly connected components of a graph, each after those it leads to.

    Tarjan's algorithm with a stack of its own: a schema may be deeper than Python recurses.
    """
    search = _Search()
    for node in nodes:
        if node not in search.order:
            search.run(node, targets)
    return search.found


class _Search:
    def __init__(self) -> None:
        self.order: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.path: list[str] = []
        self.on_path: set[str] = set()
        self.found: list[tuple[str, ...]] = []

    def run(self, root: str, targets: Callable[[str], list[str]]) -> None:
        work = [(root, iter(self._enter(root, targets)))]
        while work:
            node, following = work[-1]
            for target in following:
                if target not in self.order:
                    work.append((target, iter(self._enter(target, targets))))
                    break
                if target in self.on_path:
                    self.low[node] = min(self.low[node], self.order[target])
            else:
                work.pop()
                self._leave(node)
                if work:
                    parent = work[-1][0]
                    self.low[parent] = min(self.low[parent], self.low[node])

    def _enter(self, node: str, targets: Callable[[str], list[str]]) -> list[str]:
        self.order[node] = self.low[node] = len(self.order)
        self.path.append(node)
        self.on_path.add(node)
        return targets(node)

    def _leave(self, node: str) -> None:
        if self.low[node] != self.order[node]:
            return
        members: list[str] = []
        while not members or members[-1] != node:
            members.append(self.path.pop())
        group = tuple(members)
        self.on_path.difference_update(group)
        self.found.append(group)
