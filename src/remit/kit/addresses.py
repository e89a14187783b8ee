"""Absolute web addresses."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def embed_fault(url: str) -> str | None:
    """Why a page cannot be framed, as the rest of a sentence, or None (contract section 8)."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not host:
        return "is not absolute: build it with component_url()"
    if parts.username is not None or parts.password is not None:
        return "carries a user name"
    if any(char.isspace() or ord(char) < 0x20 for char in url):
        return "holds blanks or control characters"
    if parts.scheme == "http" and not is_loopback(host):
        return "is http, which is framed on loopback alone"
    return None
