"""The hosts of a case, put on loopback: its app on one server, every other host on another.

A host that the case names is replaced where the product reads it, and put back in what was
seen, so that expectations are compared as they are written.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.cases.upstream import Upstream
from tests.cases.verdicts import Json

_ORIGIN = re.compile(r"(?i)\bhttps?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d+)?(?![\w.:@$%-])")


def origin_of(url: str) -> str | None:
    """Scheme, host and port as written, or None."""
    found = _ORIGIN.match(url.strip())
    return found.group() if found else None


@dataclass(eq=False)
class Hosts:
    """Which origin stands on which server.

    Attributes:
        own: the app's origin(s), all on ``upstream``.
        elsewhere: every other origin, each on a server of its own.
    """

    upstream: Upstream
    own: tuple[str, ...]
    stack: ExitStack
    elsewhere: dict[str, Upstream] = field(default_factory=dict[str, Upstream])

    def inward(self, value: Json) -> Json:
        """The value with every origin replaced by the address of its server."""
        if isinstance(value, str):
            return _ORIGIN.sub(lambda found: self._address(found.group()), value)
        if isinstance(value, list):
            return [self.inward(item) for item in value]
        if isinstance(value, dict):
            return {self.inward(key): self.inward(item) for key, item in value.items()}
        return value

    def outward(self, text: str) -> str:
        """A text that was seen, with the case's own origins in it again."""
        for origin, server in self.elsewhere.items():
            text = text.replace(server.origin, origin)
        for origin in self.own[:1]:
            text = text.replace(self.upstream.origin, origin)
        return text

    def _address(self, origin: str) -> str:
        if _plain(origin) in {_plain(own) for own in self.own}:
            return self.upstream.origin
        if urlsplit(origin).hostname in ("127.0.0.1", "127.0.0.2", "localhost"):
            return origin
        if origin not in self.elsewhere:
            self.elsewhere[origin] = self.stack.enter_context(Upstream(host="127.0.0.2"))
        return self.elsewhere[origin].origin


def _plain(origin: str) -> tuple[str, str, int]:
    parts = urlsplit(origin.lower())
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, parts.hostname or "", port
