"""Who sends a request: the key in ``Authorization: Bearer``, and how much it has under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from remit.errors import Unauthorized
from remit.web.refusals import Busy

if TYPE_CHECKING:
    from remit.gateway.acting import Actor
    from remit.web.services import Services

_USED_MS = 60_000
_MAX_NOTED = 50_000
_NO_KEY = (
    "The request has no key that opens anything. Send Authorization: Bearer <key>; `remit keys "
    "create` makes one."
)


@final
class Callers:
    """Knows the callers of a node.

    Args:
        services: find keys, and note when they were used.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._noted: dict[tuple[str, str], int] = {}
        self._under_way: dict[str, int] = {}
        # What is left of the second of each key, and when that was, on the node's clock.
        self._left: dict[str, tuple[float, int]] = {}

    async def actor(self, authorization: str | None) -> Actor:
        """Whoever holds the key of the header.

        Raises:
            Unauthorized: there is none, or it is wrong, revoked or expired: all the same words.
            StoreUnavailable: it cannot be known.
        """
        scheme, _, secret = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise Unauthorized(_NO_KEY)
        secret, standing = secret.strip(), self._services.standing
        actor = standing.known_actor(secret) or await standing.actor(secret)
        if actor is None:
            raise Unauthorized(_NO_KEY)
        self._note(actor)
        return actor

    def enter(self, actor: Actor) -> None:
        """Count a request in; ``leave`` counts it out.

        Raises:
            Busy: the key has too many under way, or sent too many; it is not counted.
        """
        if (rate := self._services.settings.max_per_s) is not None:
            self._spend(actor.key_id, rate)
        count = self._under_way.get(actor.key_id, 0)
        most = self._services.settings.max_in_flight
        if count >= most:
            raise Busy(
                f"This key has {count:,} requests under way, which is the most it may have. "
                "Send it again when one of them has ended."
            )
        self._under_way[actor.key_id] = count + 1

    def leave(self, actor: Actor) -> None:
        """Count a request out."""
        count = self._under_way[actor.key_id] - 1
        if count:
            self._under_way[actor.key_id] = count
        else:
            del self._under_way[actor.key_id]

    def _spend(self, key: str, rate: int) -> None:
        """Take one of the requests that a key may send in a second."""
        now_ms = self._services.books.clock.now_ms()
        if len(self._left) >= _MAX_NOTED:
            # Each key has its whole second again, which is less than to count no key.
            self._left.clear()
        left, at_ms = self._left.get(key, (float(rate), now_ms))
        left = min(float(rate), left + (now_ms - at_ms) * rate / 1000)
        if left < 1:
            self._left[key] = (left, now_ms)
            raise Busy(f"This key sent more than {rate:,} requests in a second. Send fewer.")
        self._left[key] = (left - 1, now_ms)

    def _note(self, actor: Actor) -> None:
        """Note when the key was used, once a minute, without waiting for it."""
        services, key = self._services, (actor.workspace, actor.key_id)
        now = services.books.wall.unix_ms()
        if now - self._noted.get(key, 0) < _USED_MS:
            return
        if len(self._noted) >= _MAX_NOTED:
            self._noted.clear()
        self._noted[key] = now
        services.node.tasks.start(services.books.keys.used(actor.workspace, actor.key_id, at=now))
