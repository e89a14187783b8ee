"""Whether a changed definition is an edit or a new version (contract section 7, "Life")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from remit.documents.canonical import canonical_json
from remit.policy.changes import Change, definition_changes
from remit.policy.edits import definition_edits, tool_edits
from remit.policy.reach import Place, place_of, reach_of, reach_of_tools
from remit.policy.tool_changes import tool_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.catalog.model import Definition, Destination, Tool
    from remit.policy.reach import Reach


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
        _twins(_by_request(old.tools, old), _by_request(new.tools, new)),
        definition_edits(old, new),
    )


def compare_tools(old: Sequence[Tool], new: Sequence[Tool]) -> VersionDiff:
    """Compare two bare catalogs; each stands under the highest ceiling that its tools use."""
    twins = _twins(_by_request(old, None), _by_request(new, None))
    return _diff(reach_of_tools(old), reach_of_tools(new), old, new, twins, ())


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


_Request = tuple["Tool", Place, "Destination", bytes]


def _by_request(tools: Sequence[Tool], definition: Definition | None) -> Mapping[str, _Request]:
    return {
        tool.name: (
            tool,
            place_of(tool.destination, definition),
            tool.destination,
            canonical_json(tool.parameters.schema),
        )
        for tool in tools
    }


def _twins(old: Mapping[str, _Request], new: Mapping[str, _Request]) -> Mapping[str, str]:
    """For an added tool the reviewed one of the same request; one that is gone comes first."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in new:
        if name in old:
            continue
        twin = next((n for n in _candidates(new[name], old, new) if n not in taken), None)
        if twin is not None:
            found[name] = twin
            if twin not in new:
                taken.add(twin)
    return found


def _candidates(
    added: _Request, old: Mapping[str, _Request], new: Mapping[str, _Request]
) -> Iterator[str]:
    same = [name for name in old if old[name][1:3] == added[1:3]]
    # A tool that is gone and took the same arguments was most likely renamed.
    yield from sorted(same, key=lambda name: (name in new, old[name][3] != added[3], name))
