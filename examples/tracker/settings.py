"""What the server reads from its environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit


class SettingsError(Exception):
    """A variable does not hold what it should; the words say which and what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Which Remit answers in the chat; both are empty where there is none.

    Attributes:
        remit_url: its origin, as the browser reaches it too.
        backend_key: a key of the role `backend`; it never leaves this server.
    """

    remit_url: str
    backend_key: str

    @property
    def has_agent(self) -> bool:
        """Whether the chat has an agent behind it."""
        return bool(self.remit_url)

    @classmethod
    def from_env(cls) -> Settings:
        """Read them.

        Raises:
            SettingsError: one is set without the other, or the address is none.
        """
        url = os.environ.get("REMIT_SERVER_URL", "").strip().rstrip("/")
        key = os.environ.get("REMIT_BACKEND_KEY", "").strip()
        if bool(url) != bool(key):
            raise SettingsError(
                "Set both REMIT_SERVER_URL and REMIT_BACKEND_KEY for a chat, or none of them."
            )
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.netloc or parts.path):
            raise SettingsError(
                "REMIT_SERVER_URL is the origin of a Remit server, such as http://127.0.0.1:8700."
            )
        return cls(remit_url=url, backend_key=key)
