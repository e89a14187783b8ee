"""The apps of a session and what is pinned in them (contract section 9, "Pins and context").

Names of pins are plain; their values are sealed together, and opened once for each run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import UNSET, Struct, UnsetType, field, structs

from remit.documents.canonical import canonical_json, compact_json
from remit.documents.strict_json import parse_json
from remit.errors import InvalidRequest
from remit.gateway.acting import no_such
from remit.gateway.conversing import SessionApp, SessionRow
from remit.gateway.keeping import session_place
from remit.gateway.node import NotStanding
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.gateway.keeping import Sealed
    from remit.gateway.node import Node
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject, JsonValue

MAX_APPS = 50
MAX_PINS_BYTES = 32 * 1024


class ToolAsked(Struct, frozen=True, kw_only=True):
    """What is pinned for one tool."""

    pins: JsonObject = field(default_factory=dict["str", "JsonValue"])


class AppAsked(Struct, frozen=True, kw_only=True):
    """An app of a new session, with pins for all its tools and for single ones."""

    id: str
    pins: JsonObject = field(default_factory=dict["str", "JsonValue"])
    tools: dict[str, ToolAsked] = field(default_factory=dict["str", "ToolAsked"])


class Pinned(Struct, frozen=True, kw_only=True):
    """The values of a session's pins.

    Attributes:
        pins: for every tool; ``apps``: by app; ``tools``: by app and tool. The narrower wins.
    """

    pins: JsonObject = field(default_factory=dict["str", "JsonValue"])
    apps: dict[str, JsonObject] = field(default_factory=dict["str", "JsonObject"])
    tools: dict[str, dict[str, JsonObject]] = field(
        default_factory=dict["str", "dict[str, JsonObject]"]
    )

    @classmethod
    async def opened(cls, node: Node, row: SessionRow) -> Pinned:
        """The pins of a session.

        Raises:
            VaultFault: they cannot be opened.
        """
        if row.sealed is None:
            return cls()
        place = session_place(row.workspace, row.user, row.id)
        secret = await node.keeper.open(place, row.sealed)
        kept = cast("Mapping[str, JsonObject]", parse_json(secret.reveal().encode()))
        return cls(
            pins=kept["pins"],
            apps=cast("dict[str, JsonObject]", kept["apps"]),
            tools=cast("dict[str, dict[str, JsonObject]]", kept["tools"]),
        )

    @property
    def names(self) -> set[str]:
        """Of everything that is pinned somewhere."""
        found = set(self.pins)
        for pins in self.apps.values():
            found |= set(pins)
        for tools in self.tools.values():
            for pins in tools.values():
                found |= set(pins)
        return found

    def of(self, app: str, tool: str) -> JsonObject:
        """What is pinned for one tool."""
        return {
            **self.pins,
            **self.apps.get(app, {}),
            **self.tools.get(app, {}).get(tool, {}),
        }

    def secret(self) -> Secret | None:
        """All of it as one secret; None where nothing is pinned."""
        if not (self.pins or self.apps or self.tools):
            return None
        kept: JsonObject = {
            "pins": self.pins,
            "apps": cast("JsonObject", self.apps),
            "tools": cast("JsonObject", self.tools),
        }
        return Secret(compact_json(kept))

    async def changed(
        self,
        talks: Talks,
        row: SessionRow,
        apps: Iterable[AppAsked] | UnsetType,
        pins: JsonObject | UnsetType,
    ) -> tuple[tuple[SessionApp, ...], Pinned]:
        """The apps and pins of a session after a ``PATCH``; raises as ``apps_of`` does."""
        now = self if pins is UNSET else structs.replace(self, pins=pins)
        if apps is UNSET:
            _checked_size(now)
            return row.settings.apps, now
        return await apps_of(talks, row.workspace, tuple(apps), now.pins)


async def apps_of(
    talks: Talks, workspace: str, asked: tuple[AppAsked, ...], pins: JsonObject
) -> tuple[tuple[SessionApp, ...], Pinned]:
    """The apps that a session takes in, their catalogs fetched now (section 7, "Refresh").

    Raises:
        NotFound: one of them is not there.
        InvalidRequest: one is listed twice, there are too many, or the pins are too large.
    """
    if len(asked) > MAX_APPS:
        raise InvalidRequest(f"apps lists {len(asked)} apps; a session takes {MAX_APPS} at most.")
    if len({app.id for app in asked}) < len(asked):
        raise InvalidRequest("apps lists an app twice. Name each once.")
    taken: list[SessionApp] = []
    for app in asked:
        found = await talks.node.standing.app(workspace, app.id, now=True)
        if isinstance(found, NotStanding) and found.code == "unknown_app":
            raise no_such("app", app.id)
        taken.append(
            SessionApp(
                id=app.id,
                version=0 if isinstance(found, NotStanding) else found.version,
                pins=tuple(sorted(app.pins)),
                tool_pins={name: tuple(sorted(one.pins)) for name, one in app.tools.items()},
            )
        )
    pinned = Pinned(
        pins=pins,
        apps={app.id: app.pins for app in asked if app.pins},
        tools={
            app.id: {name: one.pins for name, one in app.tools.items()}
            for app in asked
            if app.tools
        },
    )
    _checked_size(pinned)
    return tuple(taken), pinned


async def sealed_pins(
    node: Node, workspace: str, user: str, session: str, pinned: Pinned
) -> Sealed | None:
    """The pins as they are kept; None where there are none."""
    secret = pinned.secret()
    if secret is None:
        return None
    return await node.keeper.seal(session_place(workspace, user, session), secret)


def _checked_size(pinned: Pinned) -> None:
    secret = pinned.secret()
    if secret is not None and len(secret.reveal()) > MAX_PINS_BYTES:
        raise InvalidRequest(f"The pins are larger than {MAX_PINS_BYTES:,} bytes. Pin ids alone.")
    for value in (pinned.pins, *pinned.apps.values()):
        canonical_json(value)
