"""What ``remit chat`` asks a server for: one session, with one key (contract section 10)."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from remit.catalog.reading import is_object
from remit.errors import WrongUse
from remit.main.asking import NoAnswer, asker
from remit.main.chat_stream import EventStream, Happened, event_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from remit.main.asking import Reply
    from remit.main.chat_stream import Item
    from remit.values.json import JsonObject, JsonValue

# A server that was killed is back by then, or it will not be.
PATIENCE_S = 30.0
_BETWEEN_S = 0.5
_PAGE = 500
_AGAIN = "Asking again."
# A yes must not look as if it was lost: the person would think that they may still say no.
_STAYS = "What you just said is sent as soon as the server is back; Ctrl-C takes it back."


class SessionApi:
    """Asks a server; each question runs an event loop of its own until it is answered.

    Args:
        server: the value of ``--server``, or None.
        waiting: told in words that the server does not answer and is asked again.

    Attributes:
        session: the id; empty until there is one.
        user: whose session it is.
    """

    def __init__(self, server: str | None, waiting: Callable[[str], None]) -> None:
        # Both are made here, so that a wrong URL or a missing key is told before anything else.
        self._client, self._server = asker(server=server)
        self._waiting = waiting
        self.session = ""
        self.user = ""

    def apps(self) -> tuple[str, ...]:
        """Ids of the apps of the workspace that are in force and not suspended."""
        found = self._ask("GET", "/v1/apps?limit=500").body.get("items")
        rows = objects(found)
        return tuple(
            text(row.get("id"))
            for row in rows
            if isinstance(row.get("inForce"), int) and not row.get("suspended")
        )

    def begin(self, user: str, apps: Sequence[str]) -> JsonObject:
        """Make a session.

        Raises:
            RemitError: it cannot be made.
        """
        body: JsonObject = {"user": user, "apps": [{"id": app} for app in apps]}
        made = self._ask("POST", "/v1/sessions", body).body
        self.session, self.user = text(made.get("id")), user
        return made

    def resume(self, session: str, user: str | None) -> JsonObject:
        """Take a session up.

        Raises:
            WrongUse: there is none, or it is another user's.
        """
        self.session = session
        found = self.read()
        self.user = text(found.get("user"))
        if user is not None and user != self.user:
            raise WrongUse(
                f"The session {session} is not {user}'s. Leave --user out to go on as its user."
            )
        return found

    def read(self) -> JsonObject:
        """The session as it stands."""
        return self._ask("GET", self.path()).body

    def log(self, after: int) -> Iterator[Happened]:
        """The events of the log whose number is greater."""
        while True:
            path = self.path(f"/events?after={after}&limit={_PAGE}")
            page = self._ask("GET", path, accept="application/json").body
            events = [event_of(one) for one in objects(page.get("events"))]
            found = [one for one in events if one is not None and one.seq is not None]
            yield from found
            if not found or page.get("next") is None:
                return
            after = found[-1].seq or after

    def stream(self, after: int, tell: Callable[[Item], None]) -> EventStream:
        """A reader of the session's events."""
        return EventStream(self._server, self.path("/events"), after=after, tell=tell)

    def say(self, words: str, *, withdraw: bool = False) -> tuple[str, int]:
        """Send a message, once, however often the server has to be asked.

        Returns:
            The id of its run, and the number of its event.

        Raises:
            RemitError: it is not taken.
        """
        body: JsonObject = {"text": words}
        if withdraw:
            body["withdraw"] = True
        sent = self._ask("POST", self.path("/messages"), body).body
        seq = sent.get("seq")
        return text(sent.get("runId")), seq if isinstance(seq, int) else 0

    def cancel(self) -> None:
        """Stop the run."""
        self._ask("POST", self.path("/cancel"), {})

    def answer(self, input_id: str, body: JsonObject) -> JsonObject:
        """Answer an input as the session's user; the input as it stands then."""
        path = f"/v1/inputs/{quote(input_id, safe='')}/answer"
        return self._ask("POST", path, {**body, "user": self.user}).body

    def input(self, input_id: str) -> JsonObject:
        """One input."""
        return self._ask("GET", f"/v1/inputs/{quote(input_id, safe='')}").body

    def path(self, rest: str = "") -> str:
        """A path under the session's."""
        return f"/v1/sessions/{quote(self.session, safe='')}{rest}"

    def _ask(self, method: str, path: str, body: JsonValue = None, *, accept: str = "") -> Reply:
        """Ask until there is an answer, for as long as a server takes to start anew."""
        # A repeat with the same key is answered as the first one was: nothing happens twice.
        headers = {"idempotency-key": str(uuid.uuid4())} if method == "POST" else {}
        if accept:
            headers["accept"] = accept
        until = time.monotonic() + PATIENCE_S
        told = False
        while True:
            try:
                return asyncio.run(self._once(method, path, body, headers))
            except NoAnswer as error:
                # The first question of all finds a wrong address; waiting would not mend it.
                if not self.session or time.monotonic() > until:
                    raise
                if not told:
                    self._waiting(f"{error.message} {_AGAIN if method == 'GET' else _STAYS}")
                told = True
                time.sleep(_BETWEEN_S)

    async def _once(
        self, method: str, path: str, body: JsonValue, headers: dict[str, str]
    ) -> Reply:
        async with self._client:
            return await self._server.ask(method, path, body, headers=headers)


def text(value: object) -> str:
    """A text of an answer; empty for what is none."""
    return value if isinstance(value, str) else ""


def objects(value: object) -> list[JsonObject]:
    """The objects of a list of an answer."""
    if not isinstance(value, list):
        return []
    return [one for one in cast("list[object]", value) if is_object(one)]


def object_of(value: object) -> JsonObject:
    """An object of an answer; empty for what is none."""
    return value if is_object(value) else {}
