"""What a fetched catalog is kept as and compiled to: digests, diff, dropped tools (section 7).

Everything here computes and waits for nothing; a large catalog takes long enough for a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from remit.documents.canonical import canonical_json
from remit.gateway.catalogs import tools_of
from remit.gateway.records import CatalogSnapshot
from remit.policy.catalogs import EffectiveCatalog, effective_catalog
from remit.policy.versions import compare

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.catalog.tools import LoadedTools
    from remit.policy.catalogs import CatalogMode
    from remit.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What an effective catalog is made from.

    Attributes:
        definition: in force, with its ceiling.
        mode: of the workspace's policy; ``live`` where nothing is fetched.
        fetched, accepted: the kept snapshots, or None.
        brand: the brand setting.
    """

    definition: Definition
    mode: CatalogMode
    fetched: CatalogSnapshot | None
    accepted: CatalogSnapshot | None
    brand: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """An effective catalog and its digest.

    Attributes:
        at: Unix milliseconds at which the snapshot that counts was fetched; 0 without one.
        spoiled: the fetched snapshot is no catalog any more, and was left out.
    """

    catalog: EffectiveCatalog
    digest: str
    at: int
    spoiled: bool


def compiled(made: Made) -> Compiled:
    """Compile an effective catalog."""
    fetched = loaded(made.definition, made.fetched, made.brand)
    accepted = loaded(made.definition, made.accepted, made.brand)
    catalog = effective_catalog(made.definition, fetched, mode=made.mode, accepted=accepted)
    snapshot = made.fetched or made.accepted
    return Compiled(
        catalog=catalog,
        digest=catalog_digest(catalog),
        at=0 if snapshot is None else snapshot.at,
        spoiled=made.fetched is not None and fetched is None,
    )


def loaded(
    definition: Definition, snapshot: CatalogSnapshot | None, brand: str
) -> LoadedTools | None:
    """The tools of a kept snapshot; None where there is none, or it is no catalog any more."""
    if snapshot is None:
        return None
    return tools_of(definition, snapshot.body.encode(), brand)


def snapshot_digest(definition: Definition, body: bytes) -> str:
    """The digest that a fetched document is kept under.

    The address is part of it: a document of another ``toolsUrl`` is no snapshot of this one.
    """
    url = definition.tools_url.text if definition.tools_url else ""
    return sha256(url.encode() + b"\n" + body).hexdigest()


def snapshot_of(
    workspace: str,
    made: Made,
    body: bytes,
    tools: LoadedTools,
    *,
    at: int,
) -> CatalogSnapshot:
    """A fetched catalog as it is kept, with what changed since the review and what was dropped.

    Args:
        workspace: of the app.
        made: without ``fetched``: its ``accepted`` is what a reviewer let in last.
        body: as it came; the text of a catalog, so that it is UTF-8.
        tools: read from it.
        at: Unix milliseconds.
    """
    definition = made.definition
    accepted = loaded(definition, made.accepted, made.brand)
    reviewed = effective_catalog(definition, accepted)
    # What letting it in would change: with ``review`` a person decides on just that.
    let_in = effective_catalog(definition, tools)
    diff = compare(
        replace(definition, tools=reviewed.tools), replace(definition, tools=let_in.tools)
    )
    catalog = let_in
    if made.mode != "live":
        catalog = effective_catalog(definition, tools, mode=made.mode, accepted=accepted)
    dropped: list[JsonValue] = [
        {"name": tool.name, "reason": tool.reason} for tool in catalog.dropped
    ]
    return CatalogSnapshot(
        workspace=workspace,
        app=definition.id,
        digest=snapshot_digest(definition, body),
        body=body.decode(),
        diff_json=canonical_json(diff.as_json()["diff"]).decode(),
        dropped_json=canonical_json(dropped).decode(),
        at=at,
    )


def catalog_digest(catalog: EffectiveCatalog) -> str:
    """The digest of an effective catalog: of its tools, in the order in which they are offered."""
    tools = [
        {
            "record": tool.record,
            "category": tool.category.value,
            "dangerLevel": tool.danger_level.value,
            "requiresApproval": tool.requires_approval,
        }
        for tool in catalog.tools
    ]
    return sha256(canonical_json(tools)).hexdigest()
