"""Breaks of a stream that we make ourselves: transport errors, so that each SDK lets go of it."""

from __future__ import annotations

import httpx2


class CutOff(httpx2.RemoteProtocolError):
    """The stream ended before the answer did."""


class TooMuch(httpx2.ReadError):
    """An answer is longer than it may be."""


class Redirected(httpx2.UnsupportedProtocol):
    """The server sends us elsewhere; the key would go along."""
