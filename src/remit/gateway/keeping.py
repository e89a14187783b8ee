"""What is kept sealed, where each sealed value belongs, and the ports that keep it.

``vault`` implements ``Keeper``; ``store`` implements ``DataKeys`` and ``SealedRows``. The suite in
``tests/vault/contract.py`` holds whoever implements the two.

Two levels of keys: a *master key*, which the operator brings, wraps the *data keys* of each
workspace; a data key seals values. The store sees neither, only their ids and what they sealed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

from remit.errors import RemitError

if TYPE_CHECKING:
    from remit.errors import Fault
    from remit.values.secrets import Secret

#: The workspace of what belongs to the server itself: its signing keys. No real one is empty.
SERVER = ""

#: What is stored for a user; nothing is for ``identity`` and ``none`` (contract section 7).
CredentialType: TypeAlias = Literal["bearer", "basic", "apiKey"]


class VaultFault(RemitError):
    """A sealed value cannot be opened: it was changed or moved, or its key is not there.

    Its text names neither key nor value.
    """

    fault: ClassVar[Fault] = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one sealed value belongs; it opens nowhere else.

    Attributes:
        workspace: ``SERVER`` for what belongs to none.
        app: its id; empty for what belongs to none.
        user: None for what belongs to no user.
        field: what it is, as a path.
    """

    workspace: str
    app: str
    user: str | None
    field: tuple[str, ...]


def connection_place(workspace: str, app: str, user: str, connection_id: str) -> Place:
    """Where a user's credential belongs; each connection has an id of its own."""
    return Place(workspace=workspace, app=app, user=user, field=("connection", connection_id))


def env_place(workspace: str, app: str, collection: str, environment: str, name: str) -> Place:
    """Where an environment value belongs (contract section 8)."""
    return Place(
        workspace=workspace, app=app, user=None, field=("env", collection, environment, name)
    )


def pins_place(workspace: str, user: str, token_id: str) -> Place:
    """Where the pins of a user's token belong (contract section 10)."""
    return Place(workspace=workspace, app="", user=user, field=("pins", token_id))


def session_place(workspace: str, user: str, session: str) -> Place:
    """Where the pins of a session belong."""
    return Place(workspace=workspace, app="", user=user, field=("session", session))


def signing_place(kid: str) -> Place:
    """Where the private part of a signing key belongs."""
    return Place(workspace=SERVER, app="", user=None, field=("signing", kid))


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value as it is stored: text of letters, digits, ``.``, ``-`` and ``_``.

    Attributes:
        text: ``<form>.<data key id>.<nonce>.<ciphertext>``.
    """

    text: str

    @property
    def key_id(self) -> str:
        """The data key that sealed it, for a column of its own; empty where there is none."""
        return [*self.text.split(".", 2), ""][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A user's credential for one app (contract sections 7 and 10).

    Attributes:
        secret: the token or the key; ``username:password`` for ``basic``.
        expires_at_s: Unix seconds, or None for one that does not say.
        account: whose it is, in words for a person, or None.
    """

    type: CredentialType
    secret: Secret
    expires_at_s: int | None = None
    account: str | None = None

    def usable(self, now_s: int) -> bool:
        """Whether it has not expired."""
        return self.expires_at_s is None or now_s < self.expires_at_s


class Keeper(Protocol):
    """Seals secrets for one place each, and opens them there."""

    async def seal(self, place: Place, secret: Secret) -> Sealed:
        """Seal a secret of at most 64 KiB.

        Raises:
            WrongUse: it is larger.
            VaultFault: there is no usable key.
        """
        ...

    async def open(self, place: Place, sealed: Sealed) -> Secret:
        """Open what was sealed for this place.

        Raises:
            VaultFault: it was changed, belongs elsewhere, or its key is not there.
        """
        ...

    async def digest_key(self) -> bytes:
        """The key of digests of what must not be guessed from them (HMAC): 32 bytes.

        It is the same on every node of a store, after a restart and after a rotation.

        Raises:
            VaultFault: it cannot be had.
        """
        ...

    async def seal_credential(self, place: Place, credential: Credential) -> Sealed:
        """Seal a credential with all that is known of it; raises as ``seal`` does."""
        ...

    async def open_credential(self, place: Place, sealed: Sealed) -> Credential:
        """Open a credential; raises as ``open`` does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DataKey:
    """One data key of a workspace, wrapped.

    Attributes:
        id: letters and digits, unique for ever.
        master: the id of the master key that wraps it.
        wrapped: of the same form as ``Sealed.text``.
        uses: encryptions counted; those reserved and not made are among them.
    """

    workspace: str
    id: str
    master: str
    wrapped: str = field(repr=False)
    uses: int = 0


class DataKeys(Protocol):
    """Where wrapped data keys are kept. What a method changed is committed when it returns."""

    async def current(self, workspace: str) -> DataKey | None:
        """The key added last, or None."""
        ...

    async def first(self, workspace: str) -> DataKey | None:
        """The key added first, or None; it stays the first, whatever is added."""
        ...

    async def get(self, workspace: str, key_id: str) -> DataKey | None:
        """The key of that id in that workspace, or None."""
        ...

    async def add(self, key: DataKey, *, after: str | None) -> bool:
        """Keep a new key, which becomes the current one, if ``after`` still is (None: none is).

        Returns:
            False when another was faster; nothing is changed then.
        """
        ...

    async def reserve(self, workspace: str, key_id: str, *, uses: int, limit: int) -> bool:
        """Count so many encryptions, in one statement.

        Returns:
            False when the count would pass ``limit``, or there is no such key; nothing is
            changed then.
        """
        ...

    async def rewrap(self, key: DataKey, *, master: str, wrapped: str) -> bool:
        """Put another wrapping in the place of ``key.wrapped``, if that is still there."""
        ...

    async def under_other(self, master: str, *, after: str, limit: int) -> tuple[DataKey, ...]:
        """Keys of any workspace that another master key wraps, by id, from beyond ``after`` on."""
        ...

    async def masters(self) -> frozenset[str]:
        """The ids of all master keys that wrap something."""
        ...

    async def workspaces(self) -> tuple[str, ...]:
        """The workspaces that have a data key, ``SERVER`` among them, sorted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRow:
    """One stored value and the place it is stored for.

    Attributes:
        id: the store's own, unique among all rows; rows are listed in its order.
    """

    id: str
    place: Place
    sealed: Sealed


class SealedRows(Protocol):
    """Everything sealed that is stored: connections, env values, pins, signing keys."""

    async def under_other(
        self, workspace: str, key_id: str, *, after: str, limit: int
    ) -> tuple[SealedRow, ...]:
        """Rows of a workspace that another data key sealed, by id, from beyond ``after`` on."""
        ...

    async def replace(self, row: SealedRow, sealed: Sealed) -> bool:
        """Put another sealing in the place of ``row.sealed``, if that is still there.

        Returns:
            False when the row was changed or deleted meanwhile; nothing is changed then.
        """
        ...
