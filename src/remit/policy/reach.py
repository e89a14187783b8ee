"""What an approval fixes of a definition: its reach (contract section 7, "Life").

Two definitions of equal reach may be exchanged for each other without asking anybody; the lock
file writes the reach down, the version diff compares two of them. Paths, queries, bodies,
parameters and texts are no part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.catalog.definitions import highest
from remit.catalog.model import (
    AppTarget,
    ClientTarget,
    Endpoint,
    UrlTarget,
)
from remit.catalog.scales import Category, DangerLevel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.catalog.model import Auth, Definition, Destination, EnvSource, Tool
    from remit.catalog.scales import Ceiling, Method

Role = Literal["app", "component", "outside", "sign-in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginUse:
    """One origin that can receive a request, and why it does.

    Attributes:
        origin: as text; empty where it is not known (an endpoint of a bare catalog).
        role: ``app`` is ``baseUrl`` and gets the user's credential, ``component`` gets an
            identity token, ``outside`` is a ``url`` target, ``sign-in`` a token address.
        name: the component's name, else empty.
    """

    origin: str
    role: Role
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvUse:
    """One env value and the origin it is sent to.

    Attributes:
        collection, environment: where the value is read; empty where no env is declared.
    """

    name: str
    collection: str
    environment: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What is sent for the user, and where it is put.

    Attributes:
        location, name: of an ``apiKey``; empty for other types.
        scopes: sorted.
        client_id: of ``oauth2``; empty for other types.
    """

    type: str
    location: str = ""
    name: str = ""
    scopes: tuple[str, ...] = ()
    client_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tool's request goes.

    Attributes:
        kind: ``endpoint``, or the ``type`` of the target.
        name: of the component or of the client's handler; else empty.
        origin: as text; empty for a client target and where it is not known.
    """

    kind: Literal["endpoint", "app", "url", "client"]
    name: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReach:
    """What an approval fixes of one tool.

    Attributes:
        method: None for a client target.
    """

    name: str
    category: Category
    danger_level: DangerLevel
    requires_approval: bool
    method: Method | None
    place: Place

    @property
    def stops(self) -> bool:
        """Whether somebody is asked before each call, unless a policy says otherwise.

        ``requiresApproval`` always asks, ``destructive`` by default (contract section 5, step 6).
        """
        return self.requires_approval or self.danger_level is DangerLevel.DESTRUCTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """All that an approval fixes.

    Attributes:
        id, name, credential: None for a bare catalog, which has none.
        origins, env_uses: sorted, each once.
        tools: by name.
    """

    id: str | None
    name: str | None
    credential: Credential | None
    origins: tuple[OriginUse, ...]
    env_uses: tuple[EnvUse, ...]
    ceiling: Ceiling
    tools: Mapping[str, ToolReach]


def reach_of(definition: Definition) -> Reach:
    """What an approval of this definition fixes."""
    return Reach(
        id=definition.id,
        name=definition.name,
        credential=credential_of(definition.auth),
        origins=origins_of(definition),
        env_uses=env_uses_of(definition),
        ceiling=definition.ceiling,
        tools={
            tool.name: tool_reach(tool, place_of(tool.destination, definition))
            for tool in definition.tools
        },
    )


def reach_of_tools(tools: Sequence[Tool]) -> Reach:
    """What an approval of a bare catalog would fix, as far as the catalog alone says it."""
    places = {tool.name: place_of(tool.destination, None) for tool in tools}
    outside = {place.origin for place in places.values() if place.kind == "url"}
    return Reach(
        id=None,
        name=None,
        credential=None,
        origins=tuple(OriginUse(origin=origin, role="outside") for origin in sorted(outside)),
        env_uses=_sorted_uses(
            EnvUse(name=name, collection="", environment="", origin=places[tool.name].origin)
            for tool in tools
            if tool.request is not None
            for name in tool.request.env_names
        ),
        ceiling=highest(tools),
        tools={tool.name: tool_reach(tool, places[tool.name]) for tool in tools},
    )


def tool_reach(tool: Tool, place: Place) -> ToolReach:
    """What an approval fixes of one tool."""
    return ToolReach(
        name=tool.name,
        category=tool.category,
        danger_level=tool.danger_level,
        requires_approval=tool.requires_approval,
        method=tool.request.method if tool.request else None,
        place=place,
    )


def place_of(destination: Destination, definition: Definition | None) -> Place:
    """Where a tool's request goes; without a definition only a ``url`` target's origin is known."""
    if isinstance(destination, ClientTarget):
        return Place(kind="client", name=destination.name)
    if isinstance(destination, UrlTarget):
        return Place(kind="url", origin=str(destination.origin))
    if isinstance(destination, AppTarget):
        found = definition.components.get(destination.component) if definition else None
        origin = str(found.url.origin) if found else ""
        return Place(kind="app", name=destination.component, origin=origin)
    base = definition.base_url if definition else None
    return Place(kind="endpoint", origin=str(base.origin) if base else "")


def admitted(definition: Definition) -> tuple[Tool, ...]:
    """The tools at or under the ceiling; the others can send nothing anywhere."""
    return tuple(
        tool
        for tool in definition.tools
        if definition.ceiling.admits(tool.category, tool.danger_level)
    )


def origins_of(definition: Definition) -> tuple[OriginUse, ...]:
    """Every origin that can receive a request: base, components, url targets, token addresses."""
    found: set[OriginUse] = set()
    if definition.base_url is not None:
        found.add(OriginUse(origin=str(definition.base_url.origin), role="app"))
    for name, component in definition.components.items():
        found.add(OriginUse(origin=str(component.url.origin), role="component", name=name))
    for tool in admitted(definition):
        if isinstance(tool.destination, UrlTarget):
            found.add(OriginUse(origin=str(tool.destination.origin), role="outside"))
    for address in (definition.auth.authorization_url, definition.auth.token_url):
        if address is not None:
            found.add(OriginUse(origin=str(address.origin), role="sign-in"))
    return tuple(sorted(found, key=lambda use: (use.origin, use.role, use.name)))


def env_uses_of(definition: Definition) -> tuple[EnvUse, ...]:
    """Every env value that is sent somewhere, the OAuth client secret included."""
    return _sorted_uses(_env_uses(definition))


def _env_uses(definition: Definition) -> Iterator[EnvUse]:
    for tool in admitted(definition):
        if tool.request is None or isinstance(tool.destination, Endpoint):
            continue
        source = env_source_of(tool.destination, definition)
        origin = place_of(tool.destination, definition).origin
        for name in tool.request.env_names:
            yield _use(name, source, origin)
    auth = definition.auth
    if auth.client_secret_env is not None and auth.token_url is not None:
        yield _use(auth.client_secret_env, definition.env, str(auth.token_url.origin))


def why_elsewhere(
    definition: Definition, destination: Destination, origin: str, env_names: Iterable[str]
) -> str | None:
    """Why a request goes where what was approved sends nothing; None where it stays within it.

    Args:
        definition: the version in force.
        destination: of the request.
        origin: where it goes, as text.
        env_names: the env values that it carries.
    """
    if not any(use.origin == origin and use.role != "sign-in" for use in origins_of(definition)):
        where = origin.partition("://")[2]
        return (
            f"the request goes to {where}, and the version of the app in force sends nothing there"
        )
    source = env_source_of(destination, definition)
    place = ("", "") if source is None else (source.collection, source.environment)
    uses = {
        use.name
        for use in env_uses_of(definition)
        if use.origin == origin and (use.collection, use.environment) == place
    }
    if refused := sorted(set(env_names) - uses):
        return (
            f"the version of the app in force does not send {', '.join(refused)} to "
            f"{origin.partition('://')[2]}"
        )
    return None


def env_source_of(destination: Destination, definition: Definition) -> EnvSource | None:
    """Where ``${env.NAME}`` reads: the component's own env, else the app's (contract section 4)."""
    if isinstance(destination, AppTarget):
        component = definition.components.get(destination.component)
        if component is not None and component.env is not None:
            return component.env
    return definition.env


def credential_of(auth: Auth) -> Credential:
    """What an approval fixes of the credential: type, scopes, place and OAuth client."""
    return Credential(
        type=auth.type,
        location=auth.location or "",
        name=auth.name or "",
        scopes=tuple(sorted(set(auth.scopes))),
        client_id=auth.client_id or "",
    )


def _use(name: str, source: EnvSource | None, origin: str) -> EnvUse:
    return EnvUse(
        name=name,
        collection=source.collection if source else "",
        environment=source.environment if source else "",
        origin=origin,
    )


def _sorted_uses(uses: Iterator[EnvUse]) -> tuple[EnvUse, ...]:
    return tuple(sorted(set(uses), key=lambda u: (u.origin, u.name, u.collection, u.environment)))
