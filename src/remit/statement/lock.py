"""``remit.lock``: what an approval fixes, written down, and what a change would let an agent do."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from remit.catalog.reading import is_object, kind
from remit.catalog.scales import Category, Ceiling, DangerLevel, Method
from remit.errors import InvalidDefinition
from remit.policy.reach import (
    Credential,
    EnvUse,
    OriginUse,
    Place,
    Reach,
    ToolReach,
    reach_of,
)
from remit.policy.versions import compare_reach
from remit.policy.wording import facts_of, quoted
from remit.statement.remit import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.catalog.model import Definition
    from remit.policy.changes import Change
    from remit.values.json import JsonObject, JsonValue

VERSION = 1
T = TypeVar("T")


def lock(definition: Definition) -> JsonObject:
    """The lock of a definition: always the same, in the same order, for the same definition."""
    reach = reach_of(definition)
    origins: list[JsonValue] = [_origin_json(use) for use in reach.origins]
    env: list[JsonValue] = [_env_json(use) for use in reach.env_uses]
    return {
        "version": VERSION,
        "app": definition.id,
        "name": definition.name,
        "digest": build(definition).digest,
        "credential": _credential_json(reach.credential or Credential(type="none")),
        "origins": origins,
        "env": env,
        "ceiling": {
            "category": reach.ceiling.category.value,
            "dangerLevel": reach.ceiling.danger_level.value,
        },
        "tools": [_tool_json(reach.tools[name]) for name in sorted(reach.tools)],
    }


def _origin_json(use: OriginUse) -> JsonObject:
    found: JsonObject = {"origin": use.origin, "use": use.role}
    return found | {"component": use.name} if use.name else found


def _env_json(use: EnvUse) -> JsonObject:
    return {
        "name": use.name,
        "collection": use.collection,
        "environment": use.environment,
        "origin": use.origin,
    }


def _credential_json(credential: Credential) -> JsonObject:
    found: JsonObject = {"type": credential.type}
    if credential.location:
        found |= {"in": credential.location, "name": credential.name}
    if credential.type == "oauth2":
        found |= {"clientId": credential.client_id, "scopes": [*credential.scopes]}
    return found


def _tool_json(tool: ToolReach) -> JsonObject:
    place = tool.place
    target: JsonObject = {"type": place.kind}
    if place.name:
        target["name"] = place.name
    if place.origin:
        target["origin"] = place.origin
    return {
        "name": tool.name,
        "category": tool.category.value,
        "dangerLevel": tool.danger_level.value,
        "requiresApproval": tool.requires_approval,
        "method": tool.method.value if tool.method else None,
        "target": target,
    }


def check(document: JsonValue, definition: Definition) -> tuple[str, ...]:
    """What a definition would let an agent do that its lock does not; empty where they agree.

    Args:
        document: the decoded ``remit.lock``.
        definition: the definition as it is now.

    Returns:
        Whole sentences: first what would be new, then what would be less, or that nothing is.

    Raises:
        InvalidDefinition: the document is no lock, or one of another app.
    """
    fields = _Lock(document)
    locked = _read_reach(fields)
    if locked.id != definition.id:
        raise InvalidDefinition(
            f"The lock is of the app {quoted(locked.id or '')}, and the definition is of "
            f"{quoted(definition.id)}. Name the definition that was locked, or write a new lock."
        )
    present = reach_of(definition)
    changes = compare_reach(locked, present, {})
    grown = [change for change in changes if change.kind in ("added", "loosened")]
    titles = {tool.name: tool.title for tool in definition.tools}
    firsts = {change.tool: change for change in reversed(grown)}
    more = [
        _said(change, locked, present, titles) if firsts[change.tool] is change else change.words
        for change in grown
    ]
    less = [change.words for change in changes if change.kind not in ("added", "loosened")]
    if more:
        return (*more, *less)
    if less:
        return (*less, "An agent can do less than before, and nothing more.")
    if fields.text("digest") != build(definition).digest:
        return (
            "What the remit says changed, in its texts or arguments; an agent can do nothing more "
            "than before.",
        )
    return ()


def _said(change: Change, locked: Reach, present: Reach, titles: Mapping[str, str | None]) -> str:
    """A change as what an agent could now do."""
    name = change.tool or ""
    old, new, title = locked.tools.get(name), present.tools.get(name), titles.get(name)
    if new is None:
        return change.words
    called = f"{quoted(title)} ({name})" if title else name
    if old is None:
        if not present.ceiling.admits(new.category, new.danger_level):
            return change.words
        return f"An agent could now use {called}: {facts_of(new)}."
    if old.stops and not new.stops:
        return f"An agent could now run {called} without asking. {change.words}"
    if change.pointer == "/requiresApproval":
        return f"An agent could run {called} without asking where a policy allows. {change.words}"
    return f"An agent could now use {called} otherwise. {change.words}"


# -- reading a lock ----------------------------------------------------------------------------


class _Lock:
    """One object of a lock, read strictly: Remit wrote it, so anything odd is a broken file."""

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
