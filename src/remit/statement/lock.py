"""``remit.lock``: what an approval fixes, written down, and what a change would let an agent do."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from remit.documents.canonical import canonical_json
from remit.errors import InvalidDefinition
from remit.policy.reach import Credential, EnvUse, OriginUse, ToolReach, reach_of
from remit.policy.tool_changes import ASKS_NOBODY
from remit.policy.versions import compare_reach
from remit.policy.wording import ceiling_words, facts_of, quoted
from remit.statement.lock_reading import VERSION, Locked, read_lock
from remit.statement.remit import build
from remit.statement.subject import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.catalog.model import Definition, Tool
    from remit.policy.changes import Change
    from remit.policy.reach import Reach
    from remit.values.json import JsonObject, JsonValue

_TEXTS = ("description", "promptContext", "skills")
_TOOL_TEXTS = ("title", "displayName", "description", "parameters", "confirm")


def lock(definition: Definition) -> JsonObject:
    """The lock of a definition: always the same, in the same order, for the same definition."""
    reach = reach_of(definition)
    origins: list[JsonValue] = [_origin_json(use) for use in reach.origins]
    env: list[JsonValue] = [_env_json(use) for use in reach.env_uses]
    texts = {tool.name: _digest(tool.record, _TOOL_TEXTS) for tool in definition.tools}
    found: JsonObject = {
        "version": VERSION,
        "app": definition.id,
        "name": definition.name,
        "digest": build(definition).digest,
        "texts": _digest(definition.record, _TEXTS),
        "credential": _credential_json(reach.credential or Credential(type="none")),
        "origins": origins,
        "env": env,
        "ceiling": {
            "category": reach.ceiling.category.value,
            "dangerLevel": reach.ceiling.danger_level.value,
        },
        "tools": [
            _tool_json(reach.tools[name]) | {"texts": texts[name]} for name in sorted(reach.tools)
        ],
    }
    if definition.tools_url is not None:
        found["toolsUrl"] = definition.tools_url.text
    return found


def _digest(record: JsonObject, keys: Iterable[str]) -> str:
    """Of what a record says under some keys; half of a SHA-256 tells two texts apart."""
    said: JsonObject = {key: record[key] for key in keys if key in record}
    return sha256(canonical_json(said)).hexdigest()[:32]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What a definition has that its lock does not, in whole sentences.

    Attributes:
        more: what would let an agent or the app do more, or something else.
        same_or_less: what would let it do less, or only say something else.
    """

    more: tuple[str, ...] = ()
    same_or_less: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.more or self.same_or_less)


def check(document: JsonValue, definition: Definition) -> Differences:
    """Compare a definition with its lock; no difference is false.

    Args:
        document: the decoded ``remit.lock``.
        definition: the definition as it is now.

    Raises:
        InvalidDefinition: the document is no lock, or one of another app.
    """
    locked = read_lock(document)
    if locked.reach.id != definition.id:
        raise InvalidDefinition(
            f"The lock is of the app {quoted(locked.reach.id or '')}, and the definition is of "
            f"{quoted(definition.id)}. Name the definition that was locked, or keep the "
            "lock of this one in another file (-o)."
        )
    present = reach_of(definition)
    more: dict[str | None, list[Change]] = {}
    less: list[str] = []
    for change in compare_reach(locked.reach, present, {}):
        if change.kind in ("added", "loosened") and not _is_idle(change, present):
            more.setdefault(change.tool, []).append(change)
        else:
            less.append(change.words)
    titles = {tool.name: tool.title for tool in definition.tools}
    grown = [change.words for change in more.pop(None, [])]
    for name, changes in more.items():
        title = titles.get(name or "")
        called = f"{quoted(title)} ({name})" if title else f"{name}"
        grown.append(_said(called, changes, locked.reach, present))
    grown += _server(locked, definition, more=True)
    less += _server(locked, definition, more=False)
    if locked.digest != build(definition).digest:
        less += _texts(locked, definition)
        if not grown and not less:
            less.append("What the remit says of the requests or of the answers changed.")
    return Differences(more=tuple(grown), same_or_less=tuple(less))


def _is_idle(change: Change, present: Reach) -> bool:
    """Whether a tool was added that no agent gets: it is over the ceiling."""
    tool = present.tools.get(change.tool or "")
    if change.kind != "added" or tool is None:
        return False
    return not present.ceiling.admits(tool.category, tool.danger_level)


def _said(called: str, changes: list[Change], locked: Reach, present: Reach) -> str:
    """What an agent could now do with one tool; each thing once."""
    name = changes[0].tool or ""
    old, new = locked.tools.get(name), present.tools[name]
    if old is None:
        return f"An agent could now use {called}: {facts_of(new)}."
    others = [change for change in changes if change.pointer != "/requiresApproval"]
    if old.stops and not new.stops:
        lead = f"An agent could now run {called} without asking."
    elif len(others) < len(changes):
        lead = (
            f"An agent could run {called} without asking where a policy allows. By default a "
            "person is still asked, because it is destructive."
        )
    else:
        lead = f"An agent could now use {called} otherwise."
    return " ".join([lead, *(change.words.replace(ASKS_NOBODY, "") for change in others)])


def _server(locked: Locked, definition: Definition, *, more: bool) -> Iterator[str]:
    """What the app's own server may do with the list of tools, where that changed."""
    url = definition.tools_url.text if definition.tools_url else ""
    if more and url and not locked.tools_url:
        yield (
            "The app's own server may now add tools without a review, up to the ceiling: "
            f"{ceiling_words(definition.ceiling)}."
        )
    if not more and locked.tools_url and url != locked.tools_url:
        yield (
            f"The list of tools is fetched from {url}, no longer from {locked.tools_url}."
            if url
            else "The app's own server can no longer add tools."
        )


def _texts(locked: Locked, definition: Definition) -> Iterator[str]:
    """Whose texts changed, as far as the remit tells of them."""
    changed = [tool.name for tool in definition.tools if _is_reworded(tool, locked)]
    if changed:
        yield f"The texts or arguments of {listed(changed)} changed."
    if locked.texts != _digest(definition.record, _TEXTS):
        yield "The app's own texts changed: its description, its briefing or its skills."


def _is_reworded(tool: Tool, locked: Locked) -> bool:
    before = locked.tool_texts.get(tool.name)
    return before is not None and before != _digest(tool.record, _TOOL_TEXTS)
