"""What one HTTP exchange is made of: a request, its answer, and a problem said in JSON.

Nothing here knows about sockets. `server.py` makes a `Request` out of what came in, a function of
`routes.py` turns it into an `Answer`, and `server.py` writes that back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from store import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, after the credential was checked.

    Attributes:
        user: Whose token came with it; None on the routes that take no credential.
        path: The path as sent, without the query.
        places: The values of the route's `{placeholders}`, percent-decoded.
        query: The query, one value a name (the last one given).
        headers: Header values by lower-case name.
        body: The decoded JSON object; empty where the method has no body.
    """

    user: User | None
    path: str
    places: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One finished answer: status, body bytes and the headers beside Content-Length."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Problem(Exception):
    """An answer that is a refusal: `{"code", "message"}` under an HTTP status."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep the status (400 to 599), a stable code, and words for a person."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    def answer(self) -> Answer:
        """Say the problem as JSON."""
        body = {"code": self.code, "message": self.message}
        return json_answer(self.status, body, headers=self.headers)


def json_answer(
    status: int, body: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Answer:
    """Make an answer of one JSON object."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Answer(status=status, body=text.encode(), headers=headers or {})
