"""Users' credentials: put in, listed without their secret, forgotten (contract section 10).

They are write-only: the secret never stands in a message, an audit entry or a list. ``wallet``
opens one for a call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.calls.wire import use_credential
from remit.errors import InvalidRequest, NotConnected
from remit.gateway import definitions
from remit.gateway.acting import act, checked_user, known_app, no_such
from remit.gateway.admitting import require
from remit.gateway.environment import put_env
from remit.gateway.keeping import Credential, connection_place
from remit.gateway.records import Connection, Page
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from remit.catalog.model import Auth
    from remit.gateway.acting import Actor, Books
    from remit.gateway.keeping import CredentialType
    from remit.gateway.records import App
    from remit.values.json import JsonObject

__all__ = [
    "Connected",
    "GivenCredential",
    "connect",
    "disconnect",
    "list_connections",
    "put_env",
]

MAX_ACCOUNT = 200
_NONE_NEEDED = {
    "none": "it needs no credential",
    "identity": "Remit signs a token of its own for each call",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenCredential:
    """A credential as it is put in: what ``type`` takes, and nothing else.

    Attributes:
        token: of ``bearer``; ``key``: of ``apiKey``; the other two are of ``basic``.
        expires_at: Unix milliseconds, or None for one that does not say.
        account: whose it is, in words for a person.
    """

    type: CredentialType
    token: Secret | None = None
    key: Secret | None = None
    username: str | None = field(default=None, repr=False)
    password: Secret | None = None
    expires_at: int | None = None
    account: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What may be told of a connection: everything but the credential.

    Attributes:
        expired: whether its time is over, so that the user must connect again.
    """

    id: str
    app: str
    user: str
    type: str
    account: str | None
    created_at: int
    updated_at: int
    expires_at: int | None
    expired: bool


async def connect(
    books: Books, actor: Actor, app: str, user: str, given: GivenCredential, *, brand: str = "Remit"
) -> Connected:
    """Keep a user's credential in the place of the one before.

    It gets an id of its own, since another account may stand behind it: a request that was shown
    with the old one is not sent with it.

    Raises:
        Forbidden: the actor may not connect users.
        InvalidRequest: it does not fit the app's ``auth``, or cannot be sent; it is not quoted.
        NotFound: there is no such app.
        VaultFault: it cannot be sealed.
    """
    require(actor, "operator", "backend")
    checked_user(user)
    workspace = actor.workspace
    auth = await _auth_of(books, await known_app(books, workspace, app), brand)
    credential = _fitting(app, auth, given)
    connection_id = books.fresh.fresh_id("conn")
    place = connection_place(workspace, app, user, connection_id)
    at = books.wall.unix_ms()
    row = Connection(
        workspace=workspace,
        app=app,
        user=user,
        id=connection_id,
        type=given.type,
        sealed=await books.keeper.seal_credential(place, credential),
        created_at=at,
        updated_at=at,
        account=credential.account,
        expires_at=given.expires_at,
    )
    detail: JsonObject = {"type": given.type, "connection": connection_id}
    entry = act(books, actor, "connection.put", _subject(app, user), detail)
    kept = await books.connections.put(workspace, row, act=entry)
    books.bell.ring()
    return _told(kept, at)


async def disconnect(books: Books, actor: Actor, app: str, user: str) -> None:
    """Forget a user's credential; calls with it stop within 2 s.

    Raises:
        Forbidden: the actor may not speak for the user.
        NotFound: there is no such connection.
    """
    if not actor.speaks_for(user):
        require(actor, "operator", "backend")
    entry = act(books, actor, "connection.deleted", _subject(app, user), {})
    if not await books.connections.delete(actor.workspace, app, user, act=entry):
        raise no_such("connection", f"{app}/{user}")
    books.bell.ring()


async def list_connections(
    books: Books,
    actor: Actor,
    *,
    user: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Connected]:
    """The connections of a user or of all; a token sees its own user's.

    Raises:
        Forbidden: a token asks for another user's.
    """
    if actor.is_token:
        user = user or actor.user
    if user is not None and not actor.speaks_for(user):
        require(actor, "operator", "backend")
    found = await books.connections.list(actor.workspace, user=user, limit=limit, cursor=cursor)
    at = books.wall.unix_ms()
    return Page(items=tuple(_told(row, at) for row in found.items), next=found.next)


async def _auth_of(books: Books, app: App, brand: str) -> Auth:
    """How the app authenticates: its version in force, else the newest one."""
    number = app.in_force
    if number is None:
        newest = await books.versions.list(app.workspace, app.id, limit=1)
        number = newest.items[0].number if newest.items else 0
    version = await books.versions.get(app.workspace, app.id, number)
    definition = None if version is None else definitions.submitted(version, brand=brand)
    if definition is None:
        raise InvalidRequest(
            f"{app.id} has no version that can be loaded, so that nobody can be connected to it. "
            "Submit its definition again."
        )
    return definition.auth


def _fitting(app: str, auth: Auth, given: GivenCredential) -> Credential:
    if auth.type in _NONE_NEEDED:
        raise InvalidRequest(
            f"{app} takes no connection: its auth is {auth.type}, and {_NONE_NEEDED[auth.type]}."
        )
    if given.type != auth.type:
        raise InvalidRequest(
            f"The credential is of type {given.type}, and {app} takes {auth.type}. "
            "Nothing was kept."
        )
    if given.account is not None and (
        len(given.account) > MAX_ACCOUNT or not given.account.isprintable()
    ):
        raise InvalidRequest(f"account is longer than {MAX_ACCOUNT} visible characters.")
    secret = _secret_of(given)
    try:
        use_credential(auth, secret)
    except NotConnected:
        # Its text speaks of what is stored; nothing is.
        raise InvalidRequest(
            f"The credential for {app} cannot be sent: it is empty or too long, or it holds a line "
            "break or another character that no request can carry. Nothing was kept; paste it "
            "again."
        ) from None
    return Credential(
        type=given.type,
        secret=secret,
        expires_at_s=None if given.expires_at is None else given.expires_at // 1000,
        account=given.account,
    )


def _secret_of(given: GivenCredential) -> Secret:
    """The one text of a credential: ``user:password`` for ``basic``."""
    wanted = {"bearer": ("token",), "apiKey": ("key",), "basic": ("username", "password")}
    parts = {
        "token": given.token,
        "key": given.key,
        "username": given.username,
        "password": given.password,
    }
    there = tuple(name for name, part in parts.items() if part is not None)
    if there != wanted[given.type]:
        names = " and ".join(wanted[given.type])
        raise InvalidRequest(
            f"A credential of type {given.type} has {names} and nothing else; this one has "
            f"{', '.join(there) or 'none'}. Nothing was kept."
        )
    if given.type == "basic" and given.username is not None and given.password is not None:
        if ":" in given.username:
            raise InvalidRequest("A username holds no colon (RFC 7617). Nothing was kept.")
        return Secret(f"{given.username}:{given.password.reveal()}")
    return given.token or given.key or Secret("")


def _told(row: Connection, at: int) -> Connected:
    return Connected(
        id=row.id,
        app=row.app,
        user=row.user,
        type=row.type,
        account=row.account,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        expired=row.expires_at is not None and row.expires_at <= at,
    )


def _subject(app: str, user: str) -> str:
    return f"connection/{app}/{user}"
