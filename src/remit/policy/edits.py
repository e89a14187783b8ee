"""What changed of a definition beside what an approval fixes: texts, parameters, requests.

All of it is an edit (contract section 7, "Life"), kept with what was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.model import UrlTarget
from remit.catalog.reading import is_object
from remit.documents.canonical import canonical_json
from remit.documents.problems import pointer
from remit.policy.changes import Change
from remit.policy.wording import ceiling_words, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.catalog.model import Definition, Tool
    from remit.values.json import JsonObject, JsonValue

_PLAIN: Mapping[str, str] = {
    "responseMapping": "What an agent reads of the answer of {name} changed.",
    "polling": "How {name} waits for a job changed.",
    "confirm": "What the app says on the approval card of {name} changed.",
    "render": "How the result of {name} is drawn changed.",
}
_REQUEST_PARTS: Mapping[str, str] = {
    "path": "{name} now asks for another path.",
    "url": "{name} now asks for another path or query.",
    "queryParams": "The query of {name} changed.",
    "query": "The query of {name} changed.",
    "headers": "The headers of {name} changed.",
    "bodyTemplate": "The body of {name} changed.",
    "body": "The body of {name} changed.",
    "bodyFormat": "The format of the body of {name} changed.",
}


def definition_edits(old: Definition, new: Definition) -> Iterator[Change]:
    """Edits of the definition itself."""
    yield from _text("/description", "The description of the app", old.description, new.description)
    before, after = old.prompt_context, new.prompt_context
    yield from _text("/promptContext", "The briefing that a model reads", before, after)
    yield from _catalog_address(old, new)
    for key, words in (
        ("baseUrl", "The path of the app's address changed."),
        ("components", "The paths or the env of the components changed."),
        ("env", "The collection and environment that env values are read from changed."),
        ("auth", "A detail of how people sign in changed."),
        ("skills", "The skills changed."),
    ):
        yield from _value(None, pointer(key), old.record.get(key), new.record.get(key), words)


def _catalog_address(old: Definition, new: Definition) -> Iterator[Change]:
    before = old.tools_url.text if old.tools_url else None
    after = new.tools_url.text if new.tools_url else None
    if before == after:
        return
    if before is None:
        words = (
            "The app's own server may now add tools without a review, up to the ceiling: "
            f"{ceiling_words(new.ceiling)}."
        )
    elif after is None:
        words = "The app's own server can no longer add tools."
    else:
        words = "The list of tools is fetched from another address of the app."
    yield _edit(None, "/toolsUrl", before, after, words)


def tool_edits(old: Tool, new: Tool) -> Iterator[Change]:
    """Edits of one tool that is in both."""
    name = new.name
    yield from _text("/title", f"The title of {name}", old.title, new.title, tool=name)
    yield from _text(
        "/description", f"The description of {name}", old.description, new.description, tool=name
    )
    yield from _parameters(old, new)
    yield from _request(old, new)
    for key, words in _PLAIN.items():
        before, after = old.record.get(key), new.record.get(key)
        if key == "responseMapping" and before is not None and after is None:
            words = "The whole answer of {name} now reaches the agent."  # noqa: PLW2901
        yield from _value(name, pointer(key), before, after, words.format(name=name))
    before, after = old.renderer.value, new.renderer.value
    words = f"The result of {name} is now drawn as {after}."
    yield from _value(name, "/resultRenderer", before, after, words)
    words = f"{name} now has {new.timeout_ms:,} ms to answer, not {old.timeout_ms:,}."
    yield from _value(name, "/timeoutMs", old.timeout_ms, new.timeout_ms, words)
    words = f"{name} {'may now' if new.idempotent else 'can no longer'} be sent twice safely."
    yield from _value(name, "/idempotent", old.idempotent, new.idempotent, words)


def _parameters(old: Tool, new: Tool) -> Iterator[Change]:
    name = new.name
    before, after = old.parameters, new.parameters
    for key in sorted(after.names - before.names):
        at = f"/parameters/properties{pointer(key)}"
        words = f"{name} takes a new argument {quoted(key)}."
        yield _edit(name, at, None, after.schema_of(key), words)
    for key in sorted(before.names - after.names):
        at = f"/parameters/properties{pointer(key)}"
        words = f"{name} no longer takes the argument {quoted(key)}."
        yield _edit(name, at, before.schema_of(key), None, words)
    for key in sorted(before.names & after.names):
        at = f"/parameters/properties{pointer(key)}"
        words = f"What {name} says of the argument {quoted(key)}, or accepts for it, changed."
        yield from _value(
            name, at, _properties(before.schema)[key], _properties(after.schema)[key], words
        )
    required_before: list[JsonValue] = [*sorted(before.required)]
    required_after: list[JsonValue] = [*sorted(after.required)]
    words = f"Which arguments {name} needs changed."
    yield from _value(name, "/parameters/required", required_before, required_after, words)
    words = f"The rules for the arguments of {name} as a whole changed."
    yield from _value(name, "/parameters", _rest(before.schema), _rest(after.schema), words)


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if is_object(properties) else {}


def _rest(schema: JsonObject) -> JsonObject:
    return {key: value for key, value in schema.items() if key not in ("properties", "required")}


def _request(old: Tool, new: Tool) -> Iterator[Change]:
    form = "endpoint" if "endpoint" in new.record else "target"
    before, after = old.record.get(form), new.record.get(form)
    if not is_object(before) or not is_object(after):
        return
    for key, words in _REQUEST_PARTS.items():
        if key == "url" and _same_location(old, new):
            continue
        at = f"/{form}{pointer(key)}"
        said = words.format(name=new.name)
        yield from _value(new.name, at, before.get(key), after.get(key), said)


def _same_location(old: Tool, new: Tool) -> bool:
    """Whether only the origin of two url targets differs, which is no edit but a new version."""
    both = isinstance(old.destination, UrlTarget) and isinstance(new.destination, UrlTarget)
    return (
        both
        and old.request is not None
        and new.request is not None
        and (old.request.location == new.request.location)
    )


def _text(
    at: str, what: str, before: str | None, after: str | None, *, tool: str | None = None
) -> Iterator[Change]:
    verb = "is gone" if not after else "changed" if before else "is new"
    yield from _value(tool, at, before or None, after or None, f"{what} {verb}.")


def _value(
    tool: str | None, at: str, before: JsonValue, after: JsonValue, words: str
) -> Iterator[Change]:
    if canonical_json(before) != canonical_json(after):
        yield _edit(tool, at, before, after, words)


def _edit(tool: str | None, at: str, before: JsonValue, after: JsonValue, words: str) -> Change:
    return Change(
        kind="edited",
        tool=tool,
        pointer=at,
        before=before,
        after=after,
        version=False,
        words=words,
    )
