"""Which parts of a value its schema calls secret: ``writeOnly`` and ``format: password``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

from remit.documents.shapes import is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.documents.schema_graph import Edge, SchemaGraph


@final
class Secrets:
    """The property names under which a secret stands anywhere in a schema (contract section 2).

    Names, not places: a value that one branch calls secret is a secret in the messages of every
    other branch too. Too much is held back rather than too little.
    """

    __slots__ = ("_all", "_names")

    def __init__(self, names: Iterable[str], *, everything: bool = False) -> None:
        self._names = frozenset(names)
        self._all = everything

    @classmethod
    def of(cls, graph: SchemaGraph) -> Self:
        """Those of a schema."""
        appliers: dict[str, list[tuple[str, Edge]]] = {}
        for at, edges in graph.edges.items():
            for edge in edges:
                if edge.kind != "definition":
                    appliers.setdefault(edge.target, []).append((at, edge))
        tainted = {at for at, node in graph.nodes.items() if is_secret(node)}
        named: set[str] = set()
        waiting = list(tainted)
        while waiting:
            for at, edge in appliers.get(waiting.pop(), ()):
                if edge.kind == "named":
                    named.add(edge.part)
                elif at not in tainted:
                    tainted.add(at)
                    waiting.append(at)
        return cls(named, everything="" in tainted)

    @property
    def names(self) -> frozenset[str]:
        """The property names."""
        return self._names

    @property
    def everything(self) -> bool:
        """Whether the whole value is a secret."""
        return self._all

    def __or__(self, other: Secrets) -> Secrets:
        """What either holds back."""
        return Secrets(self._names | other._names, everything=self._all or other._all)

    def holds(self, path: Sequence[str | int]) -> bool:
        """Whether what stands at ``path`` of a value may not be quoted."""
        return self._all or any(part in self._names for part in path)


def is_secret(schema: object) -> bool:
    """Whether a schema itself calls its value a secret."""
    if not is_object(schema):
        return False
    return schema.get("writeOnly") is True or schema.get("format") == "password"
