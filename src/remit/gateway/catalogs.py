"""The use case of a refresh: fetch ``toolsUrl``, fall back, filter (contract section 7)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from remit.catalog.definitions import load_catalog, surroundings_of
from remit.catalog.headers import value_is_sendable
from remit.catalog.reading import is_object
from remit.documents.load import MAX_DOCUMENT_DEPTH
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.errors import CallError
from remit.gateway.ports import Egress, Limits, WireRequest
from remit.policy.catalogs import EffectiveCatalog, effective_catalog

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.catalog.tools import LoadedTools
    from remit.gateway.ports import WireResponse
    from remit.values.json import JsonValue

FETCH_TIMEOUT_MS = 2_000
MAX_CATALOG_BYTES = 2 * 1024 * 1024
_MAX_ETAG = 1024
Source = Literal["fresh", "unchanged", "stale", "static"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A catalog as it was last fetched in good order.

    Attributes:
        body: the document, byte for byte.
        etag: to ask only for what changed; None where the app gave none.
        at_s: seconds since the epoch when it was fetched or last confirmed.
        last_modified: to ask with where there is no ``etag``; None where the app gave none.
    """

    body: bytes
    etag: str | None
    at_s: int
    last_modified: str | None = None


class Snapshots(Protocol):
    """Where the last good catalog of a definition is kept."""

    def read(self, definition: Definition) -> Snapshot | None:
        """The snapshot for exactly this ``toolsUrl``, or None; a broken one reads as None."""
        ...

    def write(self, definition: Definition, snapshot: Snapshot) -> None:
        """Keep a snapshot in place of the last one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """The effective catalog and how it came to be.

    Attributes:
        source: ``fresh`` or ``unchanged`` after a good fetch, ``stale`` from the last good
            snapshot, ``static`` from the definition alone.
        age_s: of the snapshot, in seconds; None for ``static``.
        fault: why the fetch failed, in words, or None.
    """

    catalog: EffectiveCatalog
    source: Source
    age_s: int | None
    fault: str | None


async def refresh(
    definition: Definition,
    egress: Egress,
    snapshots: Snapshots,
    *,
    now_s: int,
    brand: str = "Remit",
    fetch: bool = True,
) -> Refreshed:
    """The catalog to use now.

    Args:
        definition: with or without a ``toolsUrl``.
        egress: the way out; the fetch carries no credential.
        snapshots: the last good catalog is read from and written to.
        now_s: seconds since the epoch.
        brand: the brand setting.
        fetch: False serves from the snapshot or the definition alone.
    """
    if definition.tools_url is None:
        return _static(definition, None)
    kept = snapshots.read(definition)
    if kept is not None and tools_of(definition, kept.body, brand) is None:
        # A spoiled one must not be confirmed by "not modified": it is as good as none.
        kept = None
    if not fetch:
        return _from_snapshot(definition, kept, now_s, brand, None)
    fetched, fault = await fetch_snapshot(definition, egress, kept, now_s)
    if fetched is None:
        return _from_snapshot(definition, kept, now_s, brand, fault)
    tools = tools_of(definition, fetched.body, brand)
    if tools is None:
        fault = no_catalog(definition.tools_url.text, fetched.body)
        return _from_snapshot(definition, kept, now_s, brand, fault)
    snapshots.write(definition, fetched)
    unchanged = kept is not None and kept.body == fetched.body
    return Refreshed(
        catalog=effective_catalog(definition, tools),
        source="unchanged" if unchanged else "fresh",
        age_s=0,
        fault=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A document as ``toolsUrl`` served it, decoded; it may be no catalog at all.

    Attributes:
        value: what a catalog is read from: of an object with ``tools`` only these.
        elapsed_ms: from the start of the request to the last byte.
        size_bytes: of the body, decompressed.
    """

    value: JsonValue
    elapsed_ms: int
    size_bytes: int


async def fetch_document(definition: Definition, egress: Egress) -> Fetched | str:
    """What ``toolsUrl`` serves now, or why it could not be had, in whole sentences."""
    url = definition.tools_url
    if url is None:
        return "The definition has no toolsUrl."
    response = await _ask(url.text, egress, None)
    if isinstance(response, str):
        return response
    try:
        value = _decoded(response.body)
    except DocumentError as error:
        return _no_json(url.text, error)
    return Fetched(value=value, elapsed_ms=response.elapsed_ms, size_bytes=len(response.body))


def _static(definition: Definition, fault: str | None) -> Refreshed:
    catalog = effective_catalog(definition, None)
    return Refreshed(catalog=catalog, source="static", age_s=None, fault=fault)


def _from_snapshot(
    definition: Definition, kept: Snapshot | None, now_s: int, brand: str, fault: str | None
) -> Refreshed:
    tools = None if kept is None else tools_of(definition, kept.body, brand)
    if kept is None or tools is None:
        return _static(definition, fault)
    return Refreshed(
        catalog=effective_catalog(definition, tools),
        source="stale",
        age_s=max(0, now_s - kept.at_s),
        fault=fault,
    )


def tools_of(definition: Definition, body: bytes, brand: str) -> LoadedTools | None:
    """The tools of a catalog document, or None where it is none."""
    try:
        document = _decoded(body)
    except DocumentError:
        return None
    return load_catalog(document, surroundings_of(definition, brand=brand))


def _decoded(body: bytes) -> JsonValue:
    """The document that a body is, a byte order mark and keys that are not known left out.

    Raises:
        DocumentError: it is no JSON.
    """
    text = body.removeprefix(codecs.BOM_UTF8)
    document = parse_json(text, max_bytes=MAX_CATALOG_BYTES, max_depth=MAX_DOCUMENT_DEPTH)
    if is_object(document) and "tools" in document:
        # A wire format: its reader ignores the keys that it does not know.
        return {"tools": document["tools"]}
    return document  # pyright: ignore[reportReturnType] -- a decoded JSON value


def no_catalog(url: str, body: bytes) -> str:
    """Why a body holds no catalog: broken JSON with its place, or another document."""
    try:
        _decoded(body)
    except DocumentError as error:
        return _no_json(url, error)
    return (
        f"{url} answered with what is no catalog: neither a list of tools nor an object with tools."
    )


def _no_json(url: str, error: DocumentError) -> str:
    first, *more = error.problems
    at = "" if first.line is None else f" at line {first.line}, column {first.column}"
    others = f" (and {len(more)} more)" if more else ""
    return f"{url} answered with JSON that cannot be read:{at} {first.message}{others}."


async def fetch_snapshot(
    definition: Definition, egress: Egress, kept: Snapshot | None, now_s: int
) -> tuple[Snapshot | None, str | None]:
    """A fresh or confirmed snapshot, or why there is none."""
    url = definition.tools_url
    if url is None:
        return None, None
    response = await _ask(url.text, egress, kept)
    if isinstance(response, str):
        return None, response
    if response.status == 304 and kept is not None:
        return replace(kept, at_s=now_s), None
    etag, modified = response.header("etag"), response.header("last-modified")
    fetched = Snapshot(
        body=response.body,
        etag=etag if etag is not None and is_etag(etag) else None,
        at_s=now_s,
        last_modified=modified if modified is not None and is_etag(modified) else None,
    )
    return fetched, None


async def _ask(url: str, egress: Egress, kept: Snapshot | None) -> WireResponse | str:
    """The answer of ``toolsUrl``, whole or "not modified"; else why there is none."""
    headers = [("Accept", "application/json")]
    if kept is not None and kept.etag is not None:
        headers.append(("If-None-Match", kept.etag))
    elif kept is not None and kept.last_modified is not None:
        headers.append(("If-Modified-Since", kept.last_modified))
    limits = Limits(total_timeout_ms=FETCH_TIMEOUT_MS, max_body_bytes=MAX_CATALOG_BYTES)
    try:
        response = await egress.send(
            WireRequest(method="GET", url=url, headers=tuple(headers)), limits
        )
    except CallError as error:
        return error.message
    if response.status == 200 or (response.status == 304 and kept is not None):
        return response
    return f"{url} answered {response.status}."


def is_etag(text: str) -> bool:
    """Whether a text can be sent back as it came, in a conditional request."""
    return 0 < len(text) <= _MAX_ETAG and value_is_sendable(text)
