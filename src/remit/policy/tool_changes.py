"""Every difference of what an approval fixes of the tools (contract section 7, "Life")."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remit.policy.changes import Change
from remit.policy.twins import is_looser
from remit.policy.wording import facts_of, place_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.catalog.scales import Category, Ceiling, DangerLevel
    from remit.policy.changes import ChangeKind
    from remit.policy.reach import Place, Reach, ToolReach
    from remit.values.json import JsonValue

ASKS_NOBODY = ", and asks nobody first"


def tool_changes(old: Reach, new: Reach, twins: Mapping[str, str]) -> Iterator[Change]:
    """Every difference of what an approval fixes of the tools.

    Args:
        old: as approved.
        new: as proposed.
        twins: for an added tool, the reviewed one that makes the very same request.
    """
    renamed = {twins[name]: name for name in twins if twins[name] not in new.tools}
    for name, tool in old.tools.items():
        if name not in new.tools:
            yield _removed(tool, renamed.get(name))
    for name, tool in new.tools.items():
        before = old.tools.get(name)
        if before is not None:
            yield from _kept(before, tool)
            continue
        twin = old.tools.get(twins.get(name, ""))
        yield _added(tool, new.ceiling, twin, renamed=twin is not None and twin.name in renamed)


def _removed(tool: ToolReach, became: str | None) -> Change:
    words = f"{tool.name} is removed."
    if became is not None:
        words = (
            f"{tool.name} is removed; {became} makes the same request, so this looks like a "
            f"rename. To every agent, pin and policy rule that learned the name {tool.name}, "
            "it is a removal and an addition."
        )
    return _of_tool("removed", tool.name, "", tool.name, None, words)


def _added(tool: ToolReach, ceiling: Ceiling, twin: ToolReach | None, *, renamed: bool) -> Change:
    words = f"{tool.name} is added: {facts_of(tool)}."
    if not ceiling.admits(tool.category, tool.danger_level):
        words += f" It is over the ceiling ({ceiling}), so no agent gets it."
    looser = twin is not None and is_looser(tool, twin)
    if twin is not None and looser:
        words += (
            f" It makes the same request as {twin.name}, which was reviewed as {facts_of(twin)}: "
            "under the new name it is held less strictly."
        )
    elif twin is not None and renamed:
        words += f" It makes the same request as {twin.name} did, and so looks like its new name."
    change = _of_tool("added", tool.name, "", None, tool.name, words)
    return replace(change, kind="loosened", version=True) if looser else change


def _kept(old: ToolReach, new: ToolReach) -> Iterator[Change]:
    if old.category != new.category:
        yield _scale(old, new, "category", old.category, new.category)
    if old.danger_level != new.danger_level:
        yield _scale(old, new, "dangerLevel", old.danger_level, new.danger_level)
    if old.requires_approval != new.requires_approval:
        kind: ChangeKind = "tightened" if new.requires_approval else "loosened"
        words = f"{new.name} {_approval_words(old, new)}"
        before, after = old.requires_approval, new.requires_approval
        yield _of_tool(kind, new.name, "/requiresApproval", before, after, words)
    if old.method != new.method:
        before, after = (tool.method.value if tool.method else None for tool in (old, new))
        words = f"{new.name} now sends {after or 'nothing'}, no longer {before or 'nothing'}."
        pointer = f"/{_form(new.place)}/method"
        yield _of_tool("loosened", new.name, pointer, before, after, words)
    if (old.place.kind, old.place.name) != (new.place.kind, new.place.name) or (
        # Where the base or a component moved, that is said once, of the definition.
        old.place.kind == "url" and old.place.origin != new.place.origin
    ):
        before, after = place_words(old.place), place_words(new.place)
        words = f"{new.name} now goes {after}; it went {before}."
        yield _of_tool("loosened", new.name, f"/{_form(new.place)}", before, after, words)


def _form(place: Place) -> str:
    return "endpoint" if place.kind == "endpoint" else "target"


def _scale(
    old: ToolReach,
    new: ToolReach,
    key: str,
    before: Category | DangerLevel,
    after: Category | DangerLevel,
) -> Change:
    words = f"{new.name} now counts as {after.value}, no longer as {before.value}"
    if old.requires_approval == new.requires_approval and key == "dangerLevel":
        # Else the change of the approval says it.
        if old.stops and not new.stops:
            words += ASKS_NOBODY
        elif new.stops and not old.stops:
            words += ", and a person is asked first"
    kind: ChangeKind = "loosened" if after.rank < before.rank else "tightened"
    return _of_tool(kind, new.name, f"/{key}", before.value, after.value, f"{words}.")


def _approval_words(old: ToolReach, new: ToolReach) -> str:
    if new.requires_approval:
        if old.stops:
            return "now asks a person first whatever a policy says; so far it did by default."
        return "now asks a person first."
    if new.stops:
        return (
            "no longer demands an approval of its own: it still asks a person first because it "
            "is destructive, but a policy may lift that."
        )
    return "no longer asks a person first."


def _of_tool(
    kind: ChangeKind, tool: str, pointer: str, before: JsonValue, after: JsonValue, words: str
) -> Change:
    return Change(
        kind=kind,
        tool=tool,
        pointer=pointer,
        before=before,
        after=after,
        version=kind == "loosened",
        words=words,
    )
