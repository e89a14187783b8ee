"""What the agent of one run can do: its tools under their offered names, and what it is told.

Fixed for one run (contract section 7, "Refresh"): apps, catalogs, announcements and instructions
are looked up as it begins.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from remit.documents.canonical import canonical_json
from remit.gateway.announcing import Announced, ClientTool, ClientWidget, announced
from remit.gateway.models import ToolOffer
from remit.gateway.node import NotStanding
from remit.gateway.platform_tools import COMPUTER, Computer
from remit.gateway.session_apps import Pinned
from remit.offer.descriptions import description_of
from remit.offer.names import session_names
from remit.offer.packing import packed
from remit.session.parts import AppCatalog, Dropped
from remit.session.prompt import AppText, described, instructions_of, skill_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.catalog.model import Tool
    from remit.gateway.conversing import SessionRow
    from remit.gateway.models import Subset
    from remit.gateway.node import AppInForce
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject

LOAD_SKILL = "load_skill"
_LOAD_SKILL_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The skill's name, as it is listed."},
        "app": {"type": "string", "description": "The app's id, where two have a skill so named."},
    },
    "required": ["name"],
}


class AppTool(Struct, frozen=True, kw_only=True):
    """A tool of an app; ``held`` where the provider holds the model to its schema."""

    app: AppInForce
    tool: Tool
    offered_as: str
    pins: JsonObject
    held: bool = False


class OfferedByClient(Struct, frozen=True, kw_only=True):
    """A tool or a widget that a client announced."""

    what: ClientTool | ClientWidget
    offered_as: str


class Skills(Struct, frozen=True, kw_only=True):
    """The platform's own ``load_skill``; bodies by app and name."""

    bodies: dict[tuple[str, str], str]
    apps: dict[str, str]

    def load(self, name: str, app: str | None) -> str | None:
        """A skill's body as the model reads it; None where there is none of that name."""
        found = [key for key in self.bodies if key[1] == name and app in {None, key[0]}]
        if not found:
            return None
        return "\n\n".join(skill_of(self.apps[key[0]], key[1], self.bodies[key]) for key in found)


Offered: TypeAlias = AppTool | OfferedByClient | Skills | Computer


class Toolset(Struct, frozen=True, kw_only=True):
    """What the agent of one run is given.

    Attributes:
        tools: by offered name.
        offers: the same as the model gets them.
        instructions: with their SHA-256 in ``digest``.
        catalogs: for the ``catalog`` event; ``digests``: of the catalogs, by app.
        tokens_per_user_day: of the policy in force; None is no limit.
    """

    tools: Mapping[str, Offered]
    offers: tuple[ToolOffer, ...]
    instructions: str
    digest: str
    catalogs: tuple[AppCatalog, ...]
    digests: dict[str, str]
    tokens_per_user_day: int | None = None


class _App(Struct, kw_only=True):
    """What one app brings."""

    id: str
    found: AppInForce | None = None
    tools: tuple[Tool, ...] = ()
    why: str | None = None
    dropped: tuple[Dropped, ...] = ()


class _Making(Struct, kw_only=True):
    """A toolset while it is made."""

    tools: dict[str, Offered] = field(default_factory=dict["str", "Offered"])
    offers: list[ToolOffer] = field(default_factory=list["ToolOffer"])

    def add(self, offer: ToolOffer, what: Offered) -> None:
        self.tools[offer.name] = what
        self.offers.append(offer)


async def open_toolset(talks: Talks, row: SessionRow, provider: Subset, *, packs: bool) -> Toolset:
    """What the run that begins now is given.

    Where the model ``packs``, it is held to as many tools as its provider takes in one request.

    Raises:
        StoreUnavailable: it cannot be known.
        VaultFault: the pins cannot be opened.
    """
    pinned = await Pinned.opened(talks.node, row)
    apps = [await _app(talks, row, app.id) for app in row.settings.apps]
    making = _Making()
    _add_apps(talks, making, apps, pinned, provider, packs=packs)
    _add_clients(talks, making, await announced(talks, row), provider)
    skills = _skills(apps)
    if skills.bodies:
        text = "Gives the whole text of one of the skills that the apps list."
        offer = ToolOffer(name=LOAD_SKILL, description=text, schema=_LOAD_SKILL_SCHEMA)
        making.add(offer, skills)
    # It would only cost tokens where there is nothing to list.
    if await talks.node.devices.of_user(row.workspace, row.user):
        offer = talks.offers.of(COMPUTER.name, COMPUTER.description, COMPUTER.parameters, provider)
        making.add(offer, Computer(held=offer.strict))
    instructions = instructions_of(row.user, map(_text, apps), row.settings.instructions)
    policy = await talks.node.standing.policy(row.workspace)
    return Toolset(
        tools=making.tools,
        offers=tuple(making.offers),
        instructions=instructions,
        digest=sha256(instructions.encode()).hexdigest(),
        catalogs=tuple(map(_catalog, apps)),
        digests={app.id: app.found.catalog_digest for app in apps if app.found is not None},
        tokens_per_user_day=policy.limits.tokens_per_user_day,
    )


def catalog_digest(catalogs: Iterable[AppCatalog]) -> str:
    """What tells whether a ``catalog`` event would say something new; ages do not count."""
    said = [
        [one.app, one.source, one.tools, one.unavailable, [[d.name, d.reason] for d in one.dropped]]
        for one in catalogs
    ]
    return sha256(canonical_json(said)).hexdigest()


async def _app(talks: Talks, row: SessionRow, app: str) -> _App:
    node = talks.node
    found = await node.standing.app(row.workspace, app)
    if isinstance(found, NotStanding):
        return _App(id=app, why=found.reason)
    missing = await node.consents.missing(row.workspace, found, row.user)
    if missing is not None:
        return _App(id=app, found=None, why=f"{missing[:1].upper()}{missing[1:]}")
    globs = row.settings.tools
    tools = tuple(
        tool
        for tool in found.catalog.tools
        if globs is None or any(fnmatchcase(tool.name, glob) for glob in globs)
    )
    dropped = tuple(Dropped(name=one.name, reason=one.reason) for one in found.catalog.dropped)
    return _App(id=app, found=found, tools=tools, dropped=dropped)


def _add_apps(
    talks: Talks,
    making: _Making,
    apps: list[_App],
    pinned: Pinned,
    provider: Subset,
    *,
    packs: bool,
) -> None:
    names = session_names([(app.id, app.tools) for app in apps])
    given = [(app, app.found, tool) for app in apps if app.found for tool in app.tools]

    def offer_of(index: int, *, strict: bool | None) -> ToolOffer:
        app, found, tool = given[index]
        text = described(description_of(found.definition.name, tool))
        name, pins = names.of(app.id, tool.name), pinned.of(app.id, tool.name)
        return talks.offers.of(name, text, tool.parameters, provider, pins.keys(), strict=strict)

    def strict_schema(index: int) -> JsonObject | None:
        offer = offer_of(index, strict=True)
        return offer.schema if offer.strict else None

    held = packed([tool for _, _, tool in given], strict_schema) if packs else frozenset[int]()
    for index, (app, found, tool) in enumerate(given):
        offer = offer_of(index, strict=True if index in held else None)
        what = AppTool(
            app=found,
            tool=tool,
            offered_as=offer.name,
            pins=pinned.of(app.id, tool.name),
            held=offer.strict,
        )
        making.add(offer, what)


def _add_clients(
    talks: Talks,
    making: _Making,
    found: Announced,
    provider: Subset,
) -> None:
    """What clients announced; a name that an app has already is the app's."""
    for tool in found.tools:
        if tool.name in making.tools:
            continue
        text = described(f"[The user's page] {tool.description}")
        offer = talks.offers.of(tool.name, text, tool.parameters, provider)
        making.add(offer, OfferedByClient(what=tool, offered_as=tool.name))
    for widget in found.widgets:
        name = widget.tool.name
        text = described(f"[The user's page] Draws this for the user: {widget.description}")
        offer = talks.offers.of(name, text, widget.parameters, provider)
        making.add(offer, OfferedByClient(what=widget, offered_as=name))


def _skills(apps: list[_App]) -> Skills:
    here = [(app.id, app.found.definition) for app in apps if app.found is not None]
    bodies = {(id_, skill.name): skill.body for id_, of in here for skill in of.skills}
    return Skills(bodies=bodies, apps={id_: of.name for id_, of in here})


def _text(app: _App) -> AppText:
    if app.found is None:
        return AppText(id=app.id, name=app.id, unavailable=app.why or "It cannot be used now.")
    definition = app.found.definition
    return AppText(
        id=app.id,
        name=definition.name,
        description=definition.description,
        briefing=definition.prompt_context,
        skills=tuple((skill.name, skill.description) for skill in definition.skills),
    )


def _catalog(app: _App) -> AppCatalog:
    if app.found is None:
        return AppCatalog(
            app=app.id, source="static", age_seconds=0, tools=0, dropped=(), unavailable=app.why
        )
    return AppCatalog(
        app=app.id,
        source=app.found.source,
        age_seconds=app.found.age_s or 0,
        tools=len(app.tools),
        dropped=app.dropped,
    )
