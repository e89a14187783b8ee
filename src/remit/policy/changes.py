"""One change between two definitions, and every change of what an approval fixes.

The rule (contract section 7, "Life"): what adds an origin or an env use, changes credential or
name, raises the ceiling or loosens a reviewed tool makes a new version. Nothing else does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.policy.wording import CATEGORY_WORDS, CREDENTIAL_WORDS, DANGER_WORDS, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.catalog.scales import Ceiling
    from remit.policy.reach import Credential, EnvUse, OriginUse, Reach
    from remit.values.json import JsonValue

ChangeKind = Literal["added", "removed", "loosened", "tightened", "edited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference, for a reviewer.

    Attributes:
        kind: ``loosened`` is anything that lets an agent or the app do more, ``edited`` what
            is neither that nor its opposite.
        tool: the catalog name, or None for the definition itself.
        pointer: RFC 6901, from the tool where there is one, else from the definition.
        before, after: the two values; None where there was or is none.
        version: whether it makes the definition a new version.
        words: a whole sentence.
    """

    kind: ChangeKind
    tool: str | None
    pointer: str
    before: JsonValue
    after: JsonValue
    version: bool
    words: str


def definition_changes(old: Reach, new: Reach) -> tuple[Change, ...]:
    """Every difference of what an approval fixes, but for the tools."""
    return (
        *_identity(old, new),
        *_credential(old.credential, new.credential),
        *_origins(old, new),
        *_env_uses(old, new),
        *_ceiling(old.ceiling, new.ceiling),
    )


def _of_definition(
    kind: ChangeKind, pointer: str, before: JsonValue, after: JsonValue, words: str
) -> Change:
    return Change(
        kind=kind,
        tool=None,
        pointer=pointer,
        before=before,
        after=after,
        version=kind == "loosened",
        words=words,
    )


def _identity(old: Reach, new: Reach) -> Iterator[Change]:
    if old.id is not None and new.id is not None and old.id != new.id:
        words = f"The id is now {new.id}, no longer {old.id}: that is another app."
        yield _of_definition("loosened", "/id", old.id, new.id, words)
    if old.name is not None and new.name is not None and old.name != new.name:
        words = f"The app now calls itself {quoted(new.name)}, no longer {quoted(old.name)}."
        yield _of_definition("loosened", "/name", old.name, new.name, words)


def _credential(old: Credential | None, new: Credential | None) -> Iterator[Change]:
    if old is None or new is None:
        return
    if old.type != new.type:
        words = (
            f"What is sent for the user is now {CREDENTIAL_WORDS[new.type]}, "
            f"no longer {CREDENTIAL_WORDS[old.type]}."
        )
        yield _of_definition("loosened", "/auth/type", old.type, new.type, words)
    elif (old.location, old.name) != (new.location, new.name):
        before, after = _key_place(old), _key_place(new)
        words = f"The user's API key now goes into {after}, no longer into {before}."
        yield _of_definition("loosened", "/auth", before, after, words)
    if old.type == new.type and old.client_id != new.client_id:
        words = (
            f"People now sign in for the OAuth client {quoted(new.client_id)}, "
            f"no longer for {quoted(old.client_id)}."
        )
        yield _of_definition("loosened", "/auth/clientId", old.client_id, new.client_id, words)
    for scope in new.scopes:
        if scope not in old.scopes:
            words = f"The app now asks users for the scope {quoted(scope)} as well."
            yield _of_definition("loosened", "/auth/scopes", None, scope, words)
    for scope in old.scopes:
        if scope not in new.scopes:
            words = f"The app no longer asks users for the scope {quoted(scope)}."
            yield _of_definition("tightened", "/auth/scopes", scope, None, words)


def _key_place(credential: Credential) -> str:
    what = "the query parameter" if credential.location == "query" else "the header"
    return f"{what} {quoted(credential.name)}"


_ROLE_POINTERS = {"app": "/baseUrl", "component": "/components", "sign-in": "/auth"}


def _origins(old: Reach, new: Reach) -> Iterator[Change]:
    for use in new.origins:
        if use not in old.origins:
            fresh = _is_fresh(use, old)
            kind: ChangeKind = "loosened" if fresh else "edited"
            pointer = _ROLE_POINTERS.get(use.role, "/tools")
            yield _of_definition(kind, pointer, None, use.origin, _origin_words(use, fresh=fresh))
    for use in old.origins:
        if use not in new.origins:
            left = any(use.origin == other.origin for other in new.origins)
            words = (
                f"{use.origin} is no longer used as {_ROLE_WORDS[use.role]}."
                if left
                else f"Nothing goes to {use.origin} any more."
            )
            pointer = _ROLE_POINTERS.get(use.role, "/tools")
            yield _of_definition("tightened", pointer, use.origin, None, words)


_ROLE_WORDS = {
    "app": "the app's own address",
    "component": "the address of a component",
    "outside": "an outside host",
    "sign-in": "a place to sign in",
}
# What an origin gets in one role it may also get in these: nothing new reaches it.
_COVERED_BY = {
    "app": ("app",),
    "component": ("app", "component"),
    "outside": ("app", "component", "outside", "sign-in"),
    "sign-in": ("sign-in",),
}


def _is_fresh(use: OriginUse, old: Reach) -> bool:
    """Whether the origin gets something that it did not get before."""
    if any(
        use.role == known.role == "component" and use.name == known.name for known in old.origins
    ):
        return True
    covered = _COVERED_BY[use.role]
    return not any(use.origin == known.origin and known.role in covered for known in old.origins)


def _origin_words(use: OriginUse, *, fresh: bool) -> str:
    if use.role == "app":
        return f"The app's own address is now on {use.origin}, which gets the user's credential."
    if use.role == "component":
        component = f"The component {quoted(use.name)} now answers on {use.origin}"
        return f"{component}, which learns who the user is." if fresh else f"{component}."
    if use.role == "sign-in":
        return f"Sign-ins now go through {use.origin}."
    if fresh:
        return f"Arguments can now go to {use.origin}, an outside host that got nothing before."
    return f"A tool now addresses {use.origin}, a host already known, by its whole URL."


def _env_uses(old: Reach, new: Reach) -> Iterator[Change]:
    for use in new.env_uses:
        if use not in old.env_uses:
            words = f"{_env_words(use)} is now sent to {use.origin or 'the app'}."
            yield _of_definition("loosened", "/env", None, use.name, words)
    for use in old.env_uses:
        if use not in new.env_uses:
            words = f"{_env_words(use)} is no longer sent to {use.origin or 'the app'}."
            yield _of_definition("tightened", "/env", use.name, None, words)


def _env_words(use: EnvUse) -> str:
    where = f" of {quoted(f'{use.collection}/{use.environment}')}" if use.collection else ""
    return f"The env value {use.name}{where}"


def _ceiling(old: Ceiling, new: Ceiling) -> Iterator[Change]:
    if old.category != new.category:
        rises = new.category > old.category
        yield _of_definition(
            "loosened" if rises else "tightened",
            "/ceiling/category",
            old.category.value,
            new.category.value,
            f"The ceiling {'rises' if rises else 'comes down'} from {old.category.value} to "
            f"{new.category.value}: tools may {CATEGORY_WORDS[new.category]}.",
        )
    if old.danger_level != new.danger_level:
        rises = new.danger_level > old.danger_level
        yield _of_definition(
            "loosened" if rises else "tightened",
            "/ceiling/dangerLevel",
            old.danger_level.value,
            new.danger_level.value,
            f"The ceiling {'rises' if rises else 'comes down'} from {old.danger_level.value} to "
            f"{new.danger_level.value}: tools {DANGER_WORDS[new.danger_level]}.",
        )
