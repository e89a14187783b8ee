"""Which headers an author may write, and what a header value may hold (contract section 3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.reading import Fields, shown

if TYPE_CHECKING:
    from remit.catalog.references import Text
    from remit.catalog.requests import RequestReader

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_JSON_TYPE = re.compile(
    r"application/(?:[A-Za-z0-9!#$&^_.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE | re.DOTALL
)

MAX_HEADER_BYTES = 8 * 1024
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


def read_headers(reader: RequestReader, *, authorization: bool) -> tuple[tuple[str, Text], ...]:
    """The author's headers; references only in a ``target``."""
    record = reader.fields.object("headers")
    if record is None:
        return ()
    inner = Fields(record, reader.fields.place("headers"), reader.fields.mistakes)
    seen: dict[str, str] = {}
    found: list[tuple[str, Text]] = []
    for name in record:
        fault = name_fault(
            name,
            brand=reader.around.brand,
            authorization=authorization,
            credential=reader.around.credential_header,
        )
        if fault is None and name.lower() in seen:
            fault = f'is there twice: "{seen[name.lower()]}" is the same header'
        seen.setdefault(name.lower(), name)
        if fault is not None:
            rule = "owned-header" if "Remit" in fault or "credential" in fault else "bad-header"
            mend = (
                "leave it out: Remit sends it"
                if rule == "owned-header"
                else "write a header once, under a plain name such as X-Acme-Client"
            )
            inner.wrong(rule, name, f'"{shown(name)}" {fault}', mend)
            continue
        value = _read_value(reader, inner, name)
        if value is not None:
            found.append((name, value))
    return tuple(found)


def _read_value(reader: RequestReader, inner: Fields, name: str) -> Text | None:
    text = inner.text(name)
    if text is None:
        return None
    compiled = reader.compile(
        text, inner.place(name), () if reader.notation == "args" else reader.roots
    )
    if compiled is None:
        return None
    literals = "".join(part for part in compiled.parts if isinstance(part, str))
    if not value_is_sendable(literals) or len(literals) > MAX_HEADER_BYTES:
        inner.wrong(
            "bad-header",
            name,
            f'the value of "{name}" cannot stand in a header',
            "use at most 8 KiB of visible ASCII, spaces and tabs",
        )
        return None
    if name.lower() == "content-type" and not (
        compiled.literal is not None and is_json_type(compiled.literal)
    ):
        inner.wrong(
            "bad-header",
            name,
            f'"{name}" may be set to a JSON type only',
            "write application/json or a type that ends in +json; bodyFormat: form sends a form",
        )
        return None
    return compiled
