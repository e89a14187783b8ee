"""What looks like a credential in a text that an author wrote down."""

from __future__ import annotations

import re

from remit.lint.words import word_set

_SHAPES = re.compile(
    r"\b(?:bearer|basic|token|apikey)\s+(?!\$\{|<|\{)[A-Za-z0-9._~+/=-]{3,}"
    r"|\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{12,}"
    r"|\bgh[opsru]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{12,}"
    r"|\bxox[abeprs]-[\w-]{8,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}|\bSG\.[\w-]{12,}\.|-----BEGIN [A-Z ]*PRIVATE KEY",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OPAQUE = re.compile(
    r"(?<![\w/+.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[A-Za-z0-9_+/=-]{32,}(?![\w/+.-])"
)
_NAMES = word_set(
    "apikey accesstoken authtoken sessiontoken secrettoken privatetoken bearertoken idtoken "
    "refreshtoken usertoken clientsecret secret secretkey privatekey accesskey password passwd "
    "authentication xauth auth authkey token credential credentials signature subscriptionkey "
    "functionskey"
)
_PREFIXES = re.compile(r"^x[-_](?:\w+[-_])?", re.IGNORECASE)
_SQUEEZE = re.compile(r"[^a-z0-9]")


def named_like_a_credential(name: str) -> bool:
    """Whether a header, parameter or key is named like one that carries a credential."""
    squeezed = _SQUEEZE.sub("", name.lower())
    bare = _SQUEEZE.sub("", _PREFIXES.sub("", name).lower())
    if bare in _NAMES or squeezed in _NAMES or squeezed.removeprefix("x") in _NAMES:
        return True
    return squeezed.endswith(
        ("apikey", "accesstoken", "authtoken", "clientsecret", "secretkey", "subscriptionkey")
    )


def looks_like_a_credential(value: str) -> bool:
    """Whether a value has the shape of a token or key; a UUID has not, it names things."""
    if _SHAPES.search(value):
        return True
    found = _OPAQUE.search(value)
    return (
        found is not None
        and not _UUID.fullmatch(found[0])
        and "://" not in value
        and " " not in value.strip()
    )
