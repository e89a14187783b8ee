"""Environment values of an app: set and removed, never read out (contract section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.references import ENV_NAME
from remit.errors import InvalidRequest, WrongUse
from remit.gateway.acting import act, known_app
from remit.gateway.admitting import require
from remit.gateway.keeping import env_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.gateway.acting import Actor, Books
    from remit.gateway.keeping import Sealed
    from remit.values.secrets import Secret

MAX_ENV_VALUES = 200
MAX_PLACE = 100


async def put_env(
    books: Books,
    actor: Actor,
    app: str,
    collection: str,
    environment: str,
    values: Mapping[str, Secret | None],
) -> None:
    """Set environment values, all or none; None removes one, the others stay.

    Raises:
        Forbidden: the actor is no operator.
        InvalidRequest: a name is none, or a value is too large; it is not quoted.
        NotFound: there is no such app.
        VaultFault: they cannot be sealed.
    """
    require(actor, "operator")
    await known_app(books, actor.workspace, app)
    for noun, name in (("collection", collection), ("environment", environment)):
        if not 1 <= len(name) <= MAX_PLACE or not name.isprintable():
            raise InvalidRequest(f"The {noun} must have a name of 1 to {MAX_PLACE} characters.")
    if not 1 <= len(values) <= MAX_ENV_VALUES:
        raise InvalidRequest(f"There are {len(values)} values; set 1 to {MAX_ENV_VALUES} at once.")
    if wrong := sorted(name for name in values if not ENV_NAME.fullmatch(name)):
        raise InvalidRequest(
            f'"{wrong[0][:80]}" is no name of an env value. Use letters, digits and _, not '
            "beginning with a digit, such as PARTNER_KEY."
        )
    sealed: dict[str, Sealed | None] = {}
    for name, value in values.items():
        place = env_place(actor.workspace, app, collection, environment, name)
        try:
            sealed[name] = None if value is None else await books.keeper.seal(place, value)
        except WrongUse as fault:
            raise InvalidRequest(f"{name}: {fault.message}") from None
    kept = [name for name, value in values.items() if value is not None]
    removed = [name for name, value in values.items() if value is None]
    entry = act(
        books, actor, "env.put", f"app/{app}/env/{collection}/{environment}",
        {"set": [*sorted(kept)], "removed": [*sorted(removed)]},
    )  # fmt: skip
    await books.env.put(actor.workspace, app, collection, environment, sealed, act=entry)
    books.bell.ring()
