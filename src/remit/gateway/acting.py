"""Who acts, on which books, and the audit entry that each act leaves (contract section 10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol, final

from remit.documents.canonical import canonical_json
from remit.errors import InvalidRequest, NotFound
from remit.gateway.records import AuditEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.gateway.access import Connections, EnvValues, Keys, Workspaces
    from remit.gateway.devices import Devices
    from remit.gateway.governance import Apps, Catalogs, Grants, Policies, Revisions, Versions
    from remit.gateway.keeping import Keeper
    from remit.gateway.ports import Clock
    from remit.gateway.records import App, Role
    from remit.values.json import JsonObject, JsonValue

MAX_USER = 200
#: The roles that speak for one user; the others are keys.
TOKENS: frozenset[Role] = frozenset({"user", "client"})


class WallClock(Protocol):
    """The time of day."""

    def unix_ms(self) -> int:
        """Milliseconds since 1970 in UTC."""
        ...


class Fresh(Protocol):
    """What nobody can guess."""

    def fresh_id(self, prefix: str) -> str:
        """An id that is unique for ever: ``<prefix>_`` and letters and digits."""
        ...

    def random_bytes(self, size: int) -> bytes:
        """Bytes of the system's secure random source."""
        ...


@final
class Bell:
    """Tells this node's own snapshot that something was changed here, so that it reads anew.

    Attributes:
        rings: how often it was rung.
    """

    __slots__ = ("rings",)

    def __init__(self) -> None:
        self.rings = 0

    def ring(self) -> None:
        """Something was changed."""
        self.rings += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """The ports that govern: what is kept, sealed, counted and timed.

    Attributes:
        clock: monotonic, for the age of snapshots; ``wall`` is what is written down.
        bell: rung by every act.
    """

    apps: Apps
    versions: Versions
    catalogs: Catalogs
    grants: Grants
    policies: Policies
    revisions: Revisions
    keys: Keys
    workspaces: Workspaces
    connections: Connections
    env: EnvValues
    devices: Devices
    keeper: Keeper
    clock: Clock
    wall: WallClock
    fresh: Fresh
    bell: Bell = field(default_factory=Bell)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Whoever holds a key or a token: what a request is made as.

    Attributes:
        key_id: of the key or token; empty for the server itself and its command line.
        name: of the key, for people.
        user: whom a token speaks for; None for a key, which may name any user.
        apps, tools: what a token may reach, tools as globs; None is all.
        pins: arguments that the token fixes.
        session, device: of a client token: the one session that it reaches, and on which device.
        expires_at: Unix milliseconds, or None.
    """

    key_id: str
    role: Role
    workspace: str
    name: str = ""
    user: str | None = None
    apps: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    pins: Mapping[str, JsonValue] = field(default_factory=dict["str", "JsonValue"], repr=False)
    session: str | None = None
    device: str | None = None
    expires_at: int | None = None

    @property
    def label(self) -> str:
        """Who it is, as ``AuditEntry.actor``."""
        if self.is_token and self.user is not None:
            return f"user:{self.user}"
        return f"key:{self.key_id}" if self.key_id else "system"

    @property
    def is_token(self) -> bool:
        """Whether it speaks for one user: a user token or a client token, and no key."""
        return self.role in TOKENS

    def speaks_for(self, user: str) -> bool:
        """Whether it may act for a user: a token for its own, a key for any."""
        return not self.is_token or self.user == user

    def attends(self, session: str | None) -> bool:
        """Whether it may reach a session: a client token its own alone, and nothing outside it."""
        return self.role != "client" or (session is not None and self.session == session)

    def reaches(self, app: str, tool: str | None = None) -> bool:
        """Whether a token may reach an app, and a tool of it."""
        if self.apps is not None and app not in self.apps:
            return False
        if tool is None or self.tools is None:
            return True
        return any(fnmatchcase(tool, glob) for glob in self.tools)


def system(workspace: str) -> Actor:
    """The server itself, or its command line, which opens the store on its own."""
    return Actor(key_id="", role="operator", workspace=workspace)


def act(books: Books, actor: Actor, kind: str, subject: str, detail: JsonObject) -> AuditEntry:
    """The audit entry of an act that happens now; the store writes it with the act itself.

    Args:
        books: give it its id and its time.
        actor: who acts, in the actor's own workspace.
        kind: what is done: ``app.approved``.
        subject: what it is done to: ``app/acme-scenes/3``.
        detail: further facts; never a secret.
    """
    return AuditEntry(
        workspace=actor.workspace,
        id=books.fresh.fresh_id("act"),
        at=books.wall.unix_ms(),
        actor=actor.label,
        kind=kind,
        subject=subject,
        detail_json=canonical_json(detail).decode(),
    )


async def known_app(books: Books, workspace: str, app: str) -> App:
    """An app of the workspace.

    Raises:
        NotFound: there is none of that id; one of another workspace is none.
    """
    found = await books.apps.get(workspace, app)
    if found is None:
        raise no_such("app", app)
    return found


def no_such(noun: str, name: str | int) -> NotFound:
    """What is answered for an unknown id, and for one of another workspace: the same."""
    shown = str(name)[:80]
    return NotFound(f'There is no {noun} "{shown}" in this workspace. Check its id and the key.')


def checked_user(user: str) -> str:
    """A user's id, as the back end knows it: 1 to 200 visible characters (contract section 1).

    Ids are compared exactly, so that two that look alike must not be two people: one with a blank
    or a control character anywhere is none.

    Raises:
        InvalidRequest: it is none.
    """
    visible = user.isprintable() and " " not in user
    if not 1 <= len(user) <= MAX_USER or not visible:
        raise InvalidRequest(
            f"The user's id must have 1 to {MAX_USER} visible characters and no blank; "
            f"this one has {len(user)}. Give the id under which your back end knows the user."
        )
    return user
