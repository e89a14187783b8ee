"""Which headers an author may write, and what a header value may hold (contract section 3)."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_JSON_TYPE = re.compile(
    r"application/(?:[A-Za-z0-9!#$&^_.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE | re.DOTALL
)

_OWNED = frozenset(
    {
        "authorization",
        "cookie",
        "set-cookie",
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "via",
        "expect",
        "upgrade",
        "te",
        "trailer",
        "forwarded",
        "idempotency-key",
        "traceparent",
        "user-agent",
        # Not in the contract's list, but an answer in another coding could not be read.
        "accept-encoding",
    }
)
_OWNED_PREFIXES = ("proxy-", "x-forwarded-")


def tool_context_header(brand: str) -> str:
    """The name of the header that tells a component where a call comes from."""
    return f"{brand}-Tool-Context"


def name_fault(name: str, *, brand: str, authorization: bool, credential: str | None) -> str | None:
    """Why an author may not set a header of this name, or None.

    Args:
        name: as the author wrote it.
        brand: the brand setting, which names the tool-context header.
        authorization: whether ``Authorization`` is the author's here (``url`` targets).
        credential: the header that the definition's ``auth`` puts the credential in.
    """
    lower = name.lower()
    if not _TOKEN.fullmatch(name):
        return "is no header name"
    if lower == "authorization" and authorization:
        return None
    if lower in _OWNED or lower.startswith(_OWNED_PREFIXES):
        return "is a header that Remit owns"
    if lower == tool_context_header(brand).lower():
        return "is a header that Remit owns"
    if credential is not None and lower == credential.lower():
        return "is the header that carries the user's credential"
    return None


def value_is_sendable(value: str) -> bool:
    """Whether a header value holds only visible ASCII, space and tab."""
    return _VALUE.fullmatch(value) is not None


def is_json_type(value: str) -> bool:
    """Whether a ``Content-Type`` names a JSON type."""
    return _JSON_TYPE.fullmatch(value.strip()) is not None
