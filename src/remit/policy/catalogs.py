"""The effective catalog: what of a definition and a fetched catalog may be used (section 7).

A refresh may tighten and never widens: a fetched tool over the ceiling, to a destination outside
the reviewed remit, or with an env value that the review did not see, is dropped with its reason.
One that makes the request of a reviewed tool is held as strictly, whatever it is called.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Literal

from remit.catalog.model import AppTarget, ClientTarget, Endpoint, Tool, UrlTarget
from remit.catalog.scales import Category, DangerLevel
from remit.policy.reach import admitted
from remit.policy.twins import Requests
from remit.policy.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.catalog.model import Definition
    from remit.catalog.scales import Ceiling
    from remit.catalog.tools import LoadedTools
    from remit.values.json import JsonObject
    from remit.values.urls import Origin

#: What happens to fetched tools (contract section 18, ``catalog``).
CatalogMode = Literal["live", "review", "frozen"]

_STAYS = "; the tool as reviewed stays"
_WAITS = "it is new, and new tools of this workspace wait until a reviewer lets them in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A tool that is not offered, and why.

    Attributes:
        over_ceiling: whether the ceiling is why.
    """

    name: str
    reason: str
    over_ceiling: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveCatalog:
    """What may be called now, and what was left out."""

    tools: tuple[Tool, ...]
    dropped: tuple[Dropped, ...]
    _by_name: Mapping[str, Tool] = field(init=False, repr=False, compare=False)
    # Found when first asked for: every schema has to be looked through.
    _secretive: tuple[Tool, ...] | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {tool.name: tool for tool in self.tools})

    def tool(self, name: str) -> Tool | None:
        """The tool of that catalog name."""
        return self._by_name.get(name)

    def secret_names(self, args: JsonObject) -> frozenset[str]:
        """The names among these that hold what any of its tools calls a secret (section 2)."""
        if self._secretive is None:
            secretive = tuple(tool for tool in self.tools if tool.parameters.secrets is not None)
            object.__setattr__(self, "_secretive", secretive)
        return frozenset(
            name
            for name, value in args.items()
            if any(tool.parameters.secrets_in({name: value}) for tool in self._secretive or ())
        )

    def dropped_tool(self, name: str) -> Dropped | None:
        """What was dropped under that name, or None."""
        return next((dropped for dropped in self.dropped if dropped.name == name), None)

    def reason(self, name: str) -> str | None:
        """Why a tool of that name was dropped, or None."""
        dropped = self.dropped_tool(name)
        return None if dropped is None else dropped.reason


def over_ceiling(tool: Tool, ceiling: Ceiling) -> str | None:
    """Why a tool is over the ceiling, in words, or None."""
    # Asked twice by every call, so that it is found out the short way first.
    if (
        tool.category.rank <= ceiling.category.rank
        and tool.danger_level.rank <= ceiling.danger_level.rank
    ):
        return None
    reasons: list[str] = []
    if tool.category > ceiling.category:
        reasons.append(f"its category {tool.category.value} is above {ceiling.category.value}")
    if tool.danger_level > ceiling.danger_level:
        reasons.append(
            f"its danger level {tool.danger_level.value} is above {ceiling.danger_level.value}"
        )
    return f"over the ceiling: {' and '.join(reasons)}" if reasons else None


def effective_catalog(
    definition: Definition,
    fetched: LoadedTools | None,
    *,
    mode: CatalogMode = "live",
    accepted: LoadedTools | None = None,
) -> EffectiveCatalog:
    """Join the static tools with a fetched catalog under the ceiling.

    Args:
        definition: the definition in force, with its ceiling.
        fetched: the catalog of ``toolsUrl`` as far as it loaded, or None for the static one alone.
        mode: of the workspace's policy: with ``review`` new tools wait, with ``frozen`` nothing
            that was fetched counts but what was let in (contract section 7, "Refresh").
        accepted: the fetched catalog that a reviewer let in; not asked for with ``live``.
    """
    approved = _Approved.of(definition)
    reviewed = {tool.name: tool for tool in definition.tools}
    if mode == "live":
        tools, dropped = _joined(reviewed, fetched, approved)
    else:
        tools, dropped = _joined(reviewed, accepted, approved)
    if mode == "review" and fetched is not None:
        # What the app no longer offers is gone, reviewed or not; static tools are its own word.
        offered = reviewed.keys() | set(fetched.names)
        let_in = {name: tool for name, tool in tools.items() if name in offered}
        tools, dropped = _joined(let_in, fetched, approved, new_waits=True)
    for name, tool in list(tools.items()):
        reason = over_ceiling(tool, definition.ceiling)
        if reason is not None:
            del tools[name]
            dropped.append(Dropped(name=name, reason=reason, over_ceiling=True))
    for name, reason in _unsafe_previews(tools):
        del tools[name]
        dropped.append(Dropped(name=name, reason=reason))
    return EffectiveCatalog(tools=tuple(tools.values()), dropped=tuple(dropped))


def _joined(
    reviewed: Mapping[str, Tool],
    fetched: LoadedTools | None,
    approved: _Approved,
    *,
    new_waits: bool = False,
) -> tuple[dict[str, Tool], list[Dropped]]:
    """The reviewed tools with the fetched ones put over them, and what was left out."""
    tools = dict(reviewed)
    dropped: list[Dropped] = []
    for name, reason in _broken(fetched):
        kept = _STAYS if name in reviewed else ""
        dropped.append(Dropped(name=name, reason=reason + kept))
    requests = Requests(reviewed.values() if fetched else (), None)
    for tool in fetched.tools if fetched else ():
        known = reviewed.get(tool.name)
        reason = _changed(tool, known) or approved.outside(tool)
        if reason is None and known is None and new_waits:
            reason = _WAITS
        if reason is None:
            tools[tool.name] = reduce(_tightened, _judged(tool, known, requests), tool)
        else:
            kept = _STAYS if known else ""
            dropped.append(Dropped(name=tool.name, reason=reason + kept))
    return tools, dropped


def _broken(fetched: LoadedTools | None) -> list[tuple[str, str]]:
    """Name and first mistake of each fetched tool that could not be loaded."""
    found: dict[str, tuple[str, str]] = {}
    for mistake in fetched.mistakes if fetched else ():
        record = mistake.pointer.removesuffix(mistake.at)
        if mistake.level == "error" and record not in found:
            at = f" ({one_line(mistake.at)})" if mistake.at else ""
            reason = f"invalid: {mistake.message}{at}"
            found[record] = (mistake.tool or "?", reason)
    return list(found.values())


def _changed(tool: Tool, known: Tool | None) -> str | None:
    """Why a fetched tool may not take the place of the reviewed one, or None."""
    if known is None:
        return None
    if _destination(tool) != _destination(known):
        return "it goes to another destination than the tool that was reviewed"
    new, old = tool.request, known.request
    if new is not None and old is not None and new.method is not old.method:
        return f"it uses {new.method.value}; the tool that was reviewed uses {old.method.value}"
    return None


def _destination(tool: Tool) -> tuple[str, str]:
    """Kind and place of a destination: what a review fixes of it."""
    destination = tool.destination
    if isinstance(destination, AppTarget):
        return "app", destination.component
    if isinstance(destination, UrlTarget):
        return "url", str(destination.origin)
    if isinstance(destination, ClientTarget):
        return "client", destination.name
    return "endpoint", ""


def _judged(tool: Tool, known: Tool | None, requests: Requests) -> Iterator[Tool]:
    """The reviewed tools that a fetched one is held as strictly as.

    That of its name; and where its request is another, all that make this one: a new name, or an
    old one with another path, is no way round the review.
    """
    if known is not None:
        yield known
    if known is None or known.destination != tool.destination:
        yield from requests.twins(tool, None)


def _tightened(tool: Tool, known: Tool) -> Tool:
    """The fetched tool with the stricter judgement of the two."""
    return replace(
        tool,
        category=max(tool.category, known.category),
        danger_level=max(tool.danger_level, known.danger_level),
        requires_approval=tool.requires_approval or known.requires_approval,
    )


def _unsafe_previews(tools: dict[str, Tool]) -> list[tuple[str, str]]:
    """Tools whose preview would run something that is not ``read`` and ``safe``."""
    found: list[tuple[str, str]] = []
    for tool in tools.values():
        preview = tool.confirm.preview if tool.confirm else None
        target = tools.get(preview.tool) if preview else None
        if target is None:
            continue
        if target.category is not Category.READ or target.danger_level is not DangerLevel.SAFE:
            found.append((tool.name, f"its preview runs {target.name}, which is not read and safe"))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Approved:
    """What a review of the definition fixed of where things go."""

    url_origins: frozenset[Origin]
    env_uses: frozenset[tuple[str, tuple[str, str]]]
    endpoints: bool

    @classmethod
    def of(cls, definition: Definition) -> _Approved:
        # A tool over the ceiling sends nothing anywhere, so what it names is no approved place.
        tools = admitted(definition)
        return cls(
            url_origins=frozenset(_origins(tools)),
            env_uses=frozenset(use for tool in tools for use in _env_uses(tool)),
            endpoints=definition.base_url is not None,
        )

    def outside(self, tool: Tool) -> str | None:
        """Why a fetched tool reaches beyond what was reviewed, or None."""
        destination = tool.destination
        if isinstance(destination, UrlTarget) and destination.origin not in self.url_origins:
            return f"it sends to {destination.origin}, which was not reviewed"
        if isinstance(destination, Endpoint) and not self.endpoints:
            return "the definition has no baseUrl"
        new = sorted({name for name, _ in set(_env_uses(tool)) - self.env_uses})
        if new:
            return f"it sends env values where no review saw them go: {', '.join(new)}"
        return None


def _env_uses(tool: Tool) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each env value that a tool uses, and where it goes with it."""
    for name in tool.request.env_names if tool.request else ():
        yield name, _destination(tool)


def _origins(tools: Iterable[Tool]) -> Iterable[Origin]:
    return (t.destination.origin for t in tools if isinstance(t.destination, UrlTarget))
