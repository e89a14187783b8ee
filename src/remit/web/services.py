"""What the API stands on: the use cases' objects, made by whoever composes the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.gateway.acting import Books
    from remit.gateway.governance import Audit
    from remit.gateway.live import Bus
    from remit.gateway.node import Node
    from remit.gateway.recording import Idempotency
    from remit.gateway.standing import Standing
    from remit.gateway.talks import Talks
    from remit.gateway.working import Worker

MAX_BODY_BYTES = 1024 * 1024
#: A definition of 10,000 tools has about 12 MB.
MAX_DEFINITION_BYTES = 16 * 1024 * 1024
#: Of arguments (contract section 5, step 1); a call's whole body is held to it.
MAX_CALL_BYTES = 256 * 1024
MAX_IN_FLIGHT = 512
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """What is set for the API (contract section 12, ``[server]`` and ``[limits]``).

    Attributes:
        public_url: the origin of the server, without a slash at its end.
        allowed_origins: origins whose pages may read answers (CORS, never with cookies).
        brand: the name that /docs shows.
        version: of Remit.
        max_in_flight: requests of one key at a time; more are 429.
        max_per_s: requests of one key a second, as many at once after a pause; None is no bound.
    """

    public_url: str
    allowed_origins: tuple[str, ...] = ()
    brand: str = "Remit"
    version: str = "0"
    max_body_bytes: int = MAX_BODY_BYTES
    max_definition_bytes: int = MAX_DEFINITION_BYTES
    max_in_flight: int = MAX_IN_FLIGHT
    max_per_s: int | None = None

    def hosts(self) -> frozenset[str]:
        """What ``Host`` may say: the public host, with its port or without one.

        A server on loopback answers to every name of loopback.
        """
        parts = urlsplit(self.public_url)
        host, port = parts.netloc.lower(), parts.port
        bare = host.removesuffix(f":{port}") if port is not None else host
        names = _LOOPBACK if bare in _LOOPBACK else (bare,)
        default = {"http": 80, "https": 443}.get(parts.scheme)
        ports = {str(port or default)}
        accepted = {f"{name}:{number}" for name in names for number in ports}
        return frozenset(accepted if port not in {None, default} else accepted | set(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The use cases' objects.

    Attributes:
        node: makes calls; its ``minter`` gives the key set.
        worker: ends what a suspension stopped.
        talks: holds conversations.
        bus: the readers of this node; it is what ``talks.live`` tells.
        now_ms: the store's time, by which repeated requests and leases are judged.
        ping: asks the database for a sign of life; raises ``StoreUnavailable``.
        on_fault: is told of a fault of ours, with the id of its request.
    """

    books: Books
    node: Node
    worker: Worker
    talks: Talks
    bus: Bus
    standing: Standing
    audit: Audit
    idempotency: Idempotency
    now_ms: Callable[[], Awaitable[int]]
    ping: Callable[[], Awaitable[None]]
    on_fault: Callable[[str, BaseException], None]
    settings: HttpSettings
