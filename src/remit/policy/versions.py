"""Whether a changed definition is an edit or a new version (contract section 7, "Life")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.documents.canonical import canonical_json
from remit.policy.changes import Change, definition_changes
from remit.policy.edits import definition_edits, tool_edits
from remit.policy.reach import reach_of, reach_of_tools
from remit.policy.tool_changes import tool_changes
from remit.policy.twins import Requests, is_looser, skeleton, strictness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.catalog.model import Definition, Tool
    from remit.policy.reach import Reach
    from remit.values.json import JsonObject, JsonValue


# Of many tools that make one request, as many old names are looked at for the same arguments.
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiff:
    """The difference of two definitions.

    Attributes:
        change: ``none``, ``edit``, or ``version``, which must be approved again.
        reasons: why it is a new version, a sentence each; empty for an edit.
        changes: every difference; those that make it a new version come first.
    """

    change: Literal["none", "edit", "version"]
    reasons: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def needs_consent(self) -> bool:
        """Whether users consent again before their next run."""
        return self.change == "version"

    def as_json(self) -> JsonObject:
        """The difference as data (contract section 10, ``PUT /v1/apps/{app}``)."""
        diff: list[JsonValue] = [
            {
                "kind": change.kind,
                "tool": change.tool,
                "pointer": change.pointer,
                "before": change.before,
                "after": change.after,
                "version": change.version,
                "words": change.words,
            }
            for change in self.changes
        ]
        return {
            "change": self.change,
            "reasons": [*self.reasons],
            "needsConsent": self.needs_consent,
            "diff": diff,
        }


def compare(old: Definition, new: Definition) -> VersionDiff:
    """Compare a definition with the one in force.

    A rename is a removal and an addition. A new tool is an edit while it stays under the ceiling
    and goes where the app already goes; not so one that makes the very request of a reviewed
    tool and is held less strictly, which would loosen that tool under another name.
    """
    return _diff(
        reach_of(old),
        reach_of(new),
        old.tools,
        new.tools,
        _twins(old.tools, new.tools, old, new),
        definition_edits(old, new),
    )


def compare_tools(old: Sequence[Tool], new: Sequence[Tool]) -> VersionDiff:
    """Compare two bare catalogs; each stands under the highest ceiling that its tools use."""
    return _diff(reach_of_tools(old), reach_of_tools(new), old, new, _twins(old, new), ())


def compare_reach(old: Reach, new: Reach, twins: Mapping[str, str]) -> tuple[Change, ...]:
    """Every difference of what an approval fixes (``twins``: see ``tool_changes``)."""
    return (*definition_changes(old, new), *tool_changes(old, new, twins))


def _diff(
    old: Reach,
    new: Reach,
    old_tools: Sequence[Tool],
    new_tools: Sequence[Tool],
    twins: Mapping[str, str],
    edits: Iterable[Change],
) -> VersionDiff:
    found = [*compare_reach(old, new, twins)]
    told = {(change.tool, change.pointer) for change in found}
    # What the reach already says (auth, components) is not said again as an edit.
    found += [edit for edit in edits if not _is_told(edit, told)]
    before = {tool.name: tool for tool in old_tools}
    for tool in new_tools:
        if tool.name in before:
            found += tool_edits(before[tool.name], tool)
    found.sort(key=lambda change: not change.version)
    reasons = tuple(change.words for change in found if change.version)
    return VersionDiff(
        change="version" if reasons else "edit" if found else "none",
        reasons=reasons,
        changes=tuple(found),
    )


def _is_told(edit: Change, told: set[tuple[str | None, str]]) -> bool:
    return any(
        tool == edit.tool and (at == edit.pointer or at.startswith(f"{edit.pointer}/"))
        for tool, at in told
    )


def _twins(
    old: Sequence[Tool],
    new: Sequence[Tool],
    old_definition: Definition | None = None,
    new_definition: Definition | None = None,
) -> Mapping[str, str]:
    """For an added tool, the reviewed one that makes the very same request.

    One that is gone comes first, and of those one that took the same arguments: it was most
    likely renamed. Each is taken once. Else it is one that is still there (``Requests.twins``).
    """
    before, after = {tool.name for tool in old}, {tool.name for tool in new}
    added = [tool for tool in new if tool.name not in before]
    if not added:
        return {}
    gone: dict[str, list[Tool]] = {}
    for tool in sorted(old, key=strictness):
        if tool.name not in after:
            gone.setdefault(skeleton(tool, old_definition), []).append(tool)
    kept = Requests((tool for tool in old if tool.name in after), old_definition)
    found: dict[str, str] = {}
    for tool in added:
        twin = _take(gone.get(skeleton(tool, new_definition), []), tool)
        if twin is None:
            twins = kept.twins(tool, new_definition)
            twin = next((each for each in twins if is_looser(tool, each)), next(iter(twins), None))
        if twin is not None:
            found[tool.name] = twin.name
    return found


def _take(gone: list[Tool], added: Tool) -> Tool | None:
    """Take the likeliest old name of a tool out of the list; the first few are looked at."""
    if not gone:
        return None
    schema = canonical_json(added.parameters.schema)
    for index, tool in enumerate(gone[:_LOOKED_AT]):
        if canonical_json(tool.parameters.schema) == schema:
            return gone.pop(index)
    return gone.pop(0)
