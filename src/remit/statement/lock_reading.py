"""A kept ``remit.lock``, read strictly: Remit wrote it, so anything odd is a broken file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from remit.catalog.reading import is_object, kind
from remit.catalog.scales import Category, Ceiling, DangerLevel, Method
from remit.errors import InvalidDefinition
from remit.policy.reach import Credential, EnvUse, OriginUse, Place, Reach, ToolReach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.values.json import JsonValue

VERSION = 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """What a lock holds.

    Attributes:
        digest: of the whole remit.
        tools_url: empty where there is none.
        texts: digest of the app's own texts.
        tool_texts: the same of each tool, by name.
    """

    reach: Reach
    digest: str
    tools_url: str
    texts: str
    tool_texts: Mapping[str, str]


def read_lock(document: JsonValue) -> Locked:
    """Read a decoded lock.

    Raises:
        InvalidDefinition: it is none; the message names the place.
    """
    fields = _Lock(document)
    reach = _read_reach(fields)
    return Locked(
        reach=reach,
        digest=fields.text("digest"),
        tools_url=fields.optional("toolsUrl"),
        texts=fields.text("texts"),
        tool_texts={item.text("name"): item.text("texts") for item in fields.each("tools")},
    )


class _Lock:
    """One object of a lock."""

    def __init__(self, value: object, at: str = "") -> None:
        if not is_object(value):
            raise _broken(at or "/", f"an object is expected, and it is {kind(value)}")
        self.values = value
        self.at = at

    def text(self, key: str) -> str:
        return self._of(key, str, "text")

    def flag(self, key: str) -> bool:
        return self._of(key, bool, "true or false")

    def inner(self, key: str) -> _Lock:
        return _Lock(self.values.get(key), f"{self.at}/{key}")

    def each(self, key: str) -> Iterator[_Lock]:
        items = cast("list[object]", self._of(key, list, "a list"))
        for index, item in enumerate(items):
            yield _Lock(item, f"{self.at}/{key}/{index}")

    def texts(self, key: str) -> tuple[str, ...]:
        items = cast("list[object]", self._of(key, list, "a list"))
        found = tuple(item for item in items if isinstance(item, str))
        if len(found) != len(items):
            raise _broken(f"{self.at}/{key}", "texts are expected")
        return found

    def optional(self, key: str) -> str:
        return self.text(key) if key in self.values else ""

    def _of(self, key: str, wanted: type[T], words: str) -> T:
        value = self.values.get(key)
        if not isinstance(value, wanted):
            found = kind(value) if key in self.values else "missing"
            raise _broken(f"{self.at}/{key}", f"{words} is expected, and it is {found}")
        return value


def _broken(at: str, what: str) -> InvalidDefinition:
    return InvalidDefinition(
        f"This is no remit.lock that can be read: at {at} {what}. Write it anew with remit lock."
    )


def _read_reach(lock_fields: _Lock) -> Reach:
    if lock_fields.values.get("version") != VERSION:
        found = lock_fields.values.get("version")
        what = "it is missing" if found is None else f"it is {found!r}"[:60]
        raise _broken("/version", f"{VERSION} is expected, and {what}")
    try:
        return Reach(
            id=lock_fields.text("app"),
            name=lock_fields.text("name"),
            credential=_read_credential(lock_fields.inner("credential")),
            origins=tuple(_read_origin(item) for item in lock_fields.each("origins")),
            env_uses=tuple(
                EnvUse(
                    name=item.text("name"),
                    collection=item.text("collection"),
                    environment=item.text("environment"),
                    origin=item.text("origin"),
                )
                for item in lock_fields.each("env")
            ),
            ceiling=_read_ceiling(lock_fields.inner("ceiling")),
            tools={item.text("name"): _read_tool(item) for item in lock_fields.each("tools")},
        )
    except ValueError as fault:
        # A member of one of the closed scales that is none.
        raise _broken("/", f"{fault}") from None


def _read_credential(item: _Lock) -> Credential:
    return Credential(
        type=item.text("type"),
        location=item.optional("in"),
        name=item.optional("name"),
        scopes=item.texts("scopes") if "scopes" in item.values else (),
        client_id=item.optional("clientId"),
    )


def _read_origin(item: _Lock) -> OriginUse:
    use = item.text("use")
    for role in ("app", "component", "outside", "sign-in"):
        if use == role:
            return OriginUse(origin=item.text("origin"), role=role, name=item.optional("component"))
    raise _broken(f"{item.at}/use", "it is none of app, component, outside, sign-in")


def _read_ceiling(item: _Lock) -> Ceiling:
    return Ceiling(
        category=Category(item.text("category")), danger_level=DangerLevel(item.text("dangerLevel"))
    )


def _read_tool(item: _Lock) -> ToolReach:
    method = item.values.get("method")
    return ToolReach(
        name=item.text("name"),
        category=Category(item.text("category")),
        danger_level=DangerLevel(item.text("dangerLevel")),
        requires_approval=item.flag("requiresApproval"),
        method=None if method is None else Method(item.text("method")),
        place=_read_place(item.inner("target")),
    )


def _read_place(item: _Lock) -> Place:
    written = item.text("type")
    for form in ("endpoint", "app", "url", "client"):
        if written == form:
            return Place(kind=form, name=item.optional("name"), origin=item.optional("origin"))
    raise _broken(f"{item.at}/type", "it is none of endpoint, app, url, client")
