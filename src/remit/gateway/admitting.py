"""Keys and tokens: made once, shown once, found by their hash, revoked (contract section 10).

The secret of one is kept as a hash alone; ``key_secrets`` says what it looks like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remit.documents.canonical import canonical_json
from remit.documents.strict_json import parse_json
from remit.errors import Forbidden, InvalidRequest
from remit.gateway.acting import TOKENS, Actor, act, checked_user, known_app, no_such
from remit.gateway.devices import unregistered
from remit.gateway.keeping import pins_place
from remit.gateway.key_secrets import SECRET_BYTES, digest_of, prefix_of, secret_of
from remit.gateway.records import ApiKey
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.gateway.acting import Books
    from remit.gateway.keeping import Keeper
    from remit.gateway.records import Page, Role
    from remit.values.json import JsonObject, JsonValue

MAX_NAME = 100
MAX_PINS_BYTES = 8 * 1024
MAX_LISTED = 200
#: A year: a token that lives longer is a key.
MAX_TTL_S = 366 * 24 * 60 * 60
#: A day: a page that is open for longer asks for a new one.
MAX_CLIENT_TTL_S = 24 * 60 * 60

_GLOB = re.compile(r"[A-Za-z0-9_*?-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A new key, with the only sight of its secret that there is."""

    key: ApiKey
    secret: Secret


def require(actor: Actor, *roles: Role) -> None:
    """Let the role through, or not.

    Raises:
        Forbidden: it is none of these.
    """
    if actor.role not in roles:
        raise Forbidden(
            f"A key of the role {actor.role} may not do this; it takes {' or '.join(roles)}. "
            "Use such a key, or ask an operator of the workspace."
        )


async def create_key(books: Books, actor: Actor, role: Role, *, name: str) -> Created:
    """Make a key for a back end or an operator, in the actor's workspace.

    Raises:
        Forbidden: the actor is no operator.
        InvalidRequest: the name is empty or too long, or the role is that of a token.
    """
    require(actor, "operator")
    if role in TOKENS:
        raise InvalidRequest("A key has the role operator or backend; for a user make a token.")
    return await _keep(books, actor, role, name=_name(name))


async def create_token(
    books: Books,
    actor: Actor,
    *,
    user: str,
    apps: Sequence[str],
    ttl_s: int,
    tools: Sequence[str] | None = None,
    pins: Mapping[str, JsonValue] | None = None,
) -> Created:
    """Make a token of one user for MCP and the Tools API (contract section 10, ``tokens``).

    Args:
        books: where it is kept.
        actor: an operator or a back end.
        user: whom it speaks for.
        apps: what it may reach; at least one.
        ttl_s: how long it lives, in seconds.
        tools: globs of what it may call of them; None is all.
        pins: arguments that it fixes for every tool.

    Raises:
        Forbidden: the actor may not make one.
        InvalidRequest: a value is none.
        NotFound: an app of these is not there.
        VaultFault: the pins cannot be sealed.
    """
    require(actor, "operator", "backend")
    checked_user(user)
    if not 1 <= ttl_s <= MAX_TTL_S:
        raise InvalidRequest(f"ttlS is {ttl_s}; give 1 to {MAX_TTL_S:,} seconds.")
    if not 1 <= len(apps) <= MAX_LISTED:
        raise InvalidRequest(f"apps lists {len(apps)} apps; list 1 to {MAX_LISTED}.")
    for app in apps:
        await known_app(books, actor.workspace, app)
    globs = None if tools is None else tuple(tools)
    if globs is not None and (len(globs) > MAX_LISTED or not all(map(_GLOB.fullmatch, globs))):
        raise InvalidRequest(
            f"tools must be at most {MAX_LISTED} names or globs of letters, digits, _, -, * and ?. "
            "Leave it out for every tool of the apps."
        )
    if pins and len(canonical_json(dict(pins))) > MAX_PINS_BYTES:
        raise InvalidRequest(f"pins are larger than {MAX_PINS_BYTES:,} bytes. Pin ids alone.")
    return await _keep(
        books,
        actor,
        "user",
        name=user,
        user=user,
        apps=tuple(dict.fromkeys(apps)),
        tools=globs,
        pins=pins,
        expires_at=books.wall.unix_ms() + ttl_s * 1000,
    )


async def create_client_token(
    books: Books, actor: Actor, *, session: str, user: str, ttl_s: int, device: str | None = None
) -> Created:
    """Make a token for a client of one session: a browser tab, say (contract section 10).

    Args:
        books: where it is kept.
        actor: an operator or a back end.
        session: which it reaches, and nothing beside it.
        user: of the session.
        ttl_s: how long it lives, in seconds.
        device: of the user, which the client runs on; None proves none.

    Raises:
        Forbidden: the actor may not make one.
        InvalidRequest: a value is none, or the user has no such device.
    """
    require(actor, "operator", "backend")
    if not 1 <= ttl_s <= MAX_CLIENT_TTL_S:
        raise InvalidRequest(f"ttlS is {ttl_s}; give 1 to {MAX_CLIENT_TTL_S:,} seconds.")
    return await _keep(
        books,
        actor,
        "client",
        name=user,
        user=user,
        session=session,
        device=device,
        expires_at=books.wall.unix_ms() + ttl_s * 1000,
    )


async def list_keys(
    books: Books, actor: Actor, *, role: Role | None = None, limit: int = 50,
    cursor: str | None = None,
) -> Page[ApiKey]:  # fmt: skip
    """The keys and tokens of the actor's workspace, revoked ones among them.

    Raises:
        Forbidden: the actor is no operator.
    """
    require(actor, "operator")
    return await books.keys.list(actor.workspace, role=role, limit=limit, cursor=cursor)


async def read_token(books: Books, actor: Actor, token: str) -> ApiKey:
    """One token.

    Raises:
        Forbidden, NotFound: as it says.
    """
    require(actor, "operator", "backend")
    found = await books.keys.get(actor.workspace, token)
    if found is None or found.role not in TOKENS:
        raise no_such("token", token)
    return found


async def revoke_key(books: Books, actor: Actor, key: str) -> ApiKey:
    """Revoke a key or a token; a second time changes nothing.

    Raises:
        Forbidden: only an operator revokes keys; a back end may revoke tokens.
        NotFound: there is none of that id.
    """
    require(actor, "operator", "backend")
    known = await books.keys.get(actor.workspace, key)
    if known is None:
        raise no_such("key", key)
    if known.role not in TOKENS:
        require(actor, "operator")
    entry = act(books, actor, "key.revoked", f"key/{key}", {"role": known.role, "name": known.name})
    found = await books.keys.revoke(actor.workspace, key, act=entry)
    books.bell.ring()
    return found or known


async def actor_of(keeper: Keeper, key: ApiKey) -> Actor:
    """Whoever holds this key.

    Raises:
        VaultFault: its pins cannot be opened: without them it would reach more than it may.
    """
    return Actor(
        key_id=key.id,
        role=key.role,
        workspace=key.workspace,
        name=key.name,
        user=key.user,
        apps=key.apps,
        tools=key.tools,
        pins=await _pins(keeper, key),
        session=key.session,
        device=key.device,
        expires_at=key.expires_at,
    )


async def _pins(keeper: Keeper, key: ApiKey) -> Mapping[str, JsonValue]:
    if key.sealed is None:
        return {}
    opened = await keeper.open(pins_place(key.workspace, key.user or "", key.id), key.sealed)
    return cast("JsonObject", parse_json(opened.reveal(), max_bytes=MAX_PINS_BYTES))


async def _keep(
    books: Books,
    actor: Actor,
    role: Role,
    *,
    name: str,
    user: str | None = None,
    apps: tuple[str, ...] | None = None,
    tools: tuple[str, ...] | None = None,
    pins: Mapping[str, JsonValue] | None = None,
    session: str | None = None,
    device: str | None = None,
    expires_at: int | None = None,
) -> Created:
    secret = secret_of(role, books.fresh.random_bytes(SECRET_BYTES))
    entry_subject = "token" if role in TOKENS else "key"
    key_id = books.fresh.fresh_id(entry_subject)
    sealed = None
    if pins:
        # Any of them may be what a tool calls secret, so that all are sealed (contract section 2).
        place = pins_place(actor.workspace, user or "", key_id)
        sealed = await books.keeper.seal(place, Secret(canonical_json(dict(pins)).decode()))
    key = ApiKey(
        workspace=actor.workspace,
        id=key_id,
        role=role,
        name=name,
        secret_hash=digest_of(secret),
        prefix=prefix_of(role, secret),
        created_at=books.wall.unix_ms(),
        created_by=actor.label,
        user=user,
        apps=apps,
        tools=tools,
        pins=tuple(sorted(pins)) if pins else None,
        sealed=sealed,
        session=session,
        device=device,
        expires_at=expires_at,
    )
    detail: JsonObject = {"role": role, "name": name, "prefix": key.prefix}
    if session is not None:
        detail["session"] = session
    entry = act(books, actor, f"{entry_subject}.created", f"{entry_subject}/{key.id}", detail)
    # No node remembers a key that is not there, so that nobody has to hear of a new one.
    if not await books.keys.create(actor.workspace, key, act=entry):
        raise unregistered(device or "")
    return Created(key=key, secret=Secret(secret))


def _name(name: str) -> str:
    bare = name.strip()
    if not 1 <= len(bare) <= MAX_NAME or not bare.isprintable():
        raise InvalidRequest(
            f"A key needs a name of 1 to {MAX_NAME} visible characters, by which people know it."
        )
    return bare
