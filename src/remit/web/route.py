"""A route as data, and a request that came to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from remit.web.bodies import NoQuery

if TYPE_CHECKING:
    from remit.gateway.acting import Actor
    from remit.gateway.records import Role
    from remit.web.answers import Answer
    from remit.web.services import Services

B = TypeVar("B")
Q = TypeVar("Q")

#: A document of the user's own, which a use case reads: JSON or YAML.
Document = Literal["definition", "policy"]
ALL: frozenset[Role] = frozenset({"operator", "backend", "user"})
ANYBODY: frozenset[Role] = frozenset({"operator", "backend", "user", "client"})
KEYS: frozenset[Role] = frozenset({"operator", "backend"})
#: Whoever takes part in a conversation: a key, or the client of the session itself.
TALKERS: frozenset[Role] = frozenset({"operator", "backend", "client"})
OPERATOR: frozenset[Role] = frozenset({"operator"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[B, Q]):
    """A request whose key, role, query and body were found good.

    Attributes:
        params: of the path, decoded.
        headers: names in lower case; of a name that stands twice the last.
        reference: of one with an ``Idempotency-Key``: what it makes is made by it, so that a
            repeat finds what one made that died before it answered; else empty.
    """

    services: Services
    actor: Actor
    params: Mapping[str, str]
    headers: Mapping[str, str]
    query: Q
    body: B
    reference: str = ""

    @property
    def workspace(self) -> str:
        """Of the key; nothing of another one is reached."""
        return self.actor.workspace


Handler: TypeAlias = Callable[[Request[Any, Any]], Awaitable["Answer"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path; what is served and what is described.

    Attributes:
        name: its ``operationId``.
        path: parameters in braces; each is one segment, percent-encoded.
        roles: whose keys reach it; None for anybody, without a key.
        unfit: what a key of another role is told; None says which roles it takes.
        body: the type of its body; None for none.
        document: the body is such a document, as a JSON value.
        query: the type of its query.
        answer: the type of its answer; None for none.
        lists: the answer is ``{items, next}`` of those.
        other_statuses: further good ones.
        media: of the answer, where it is not JSON alone.
        conditional: takes ``If-Match``.
        seals: the answer holds a secret, and is kept sealed for a repeat.
        finds: what it makes is made by the request's reference, so that a repeat finds it.
        max_body_bytes: of this route alone; None is what is set for all.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    handler: Handler | None
    roles: frozenset[Role] | None = KEYS
    unfit: str | None = None
    body: Any = None
    document: Document | None = None
    query: Any = field(default=NoQuery)
    answer: Any = None
    lists: bool = False
    status: int = 200
    other_statuses: tuple[int, ...] = ()
    media: tuple[str, ...] = ("application/json",)
    conditional: bool = False
    seals: bool = False
    finds: bool = False
    max_body_bytes: int | None = None

    @property
    def key(self) -> str:
        """Method and path, for metrics."""
        return f"{self.method} {self.path}"
