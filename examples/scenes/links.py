"""Addresses that open without a token, because nobody can guess their signature.

A chat that shows a preview, or a browser that follows a link, has no bearer token. The app signs
path and version with a secret of its own; who holds the whole address may look, and only look.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Makes and checks signed addresses.

    Attributes:
        base_url: Where this app listens, without a trailing slash. Taken from the socket, never
            from a request's Host header, which the sender may choose.
        secret: The signing key.
    """

    base_url: str
    secret: bytes

    def signed(self, path: str, version: int) -> str:
        """Make the address of one version of a page or picture."""
        query = urlencode({"version": version, "signature": self._signature(path, str(version))})
        return f"{self.base_url}{path}?{query}"

    def holds(self, path: str, query: Mapping[str, str]) -> bool:
        """Whether this path and query are an address that `signed` made."""
        expected = self._signature(path, query.get("version", ""))
        given = query.get("signature", "")
        return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))

    def _signature(self, path: str, version: str) -> str:
        text = f"{path}\n{version}".encode()
        return hmac.new(self.secret, text, hashlib.sha256).hexdigest()
