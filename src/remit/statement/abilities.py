"""The first three sections: what an app can do, the worst single call, what stops for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.model import ClientTarget
from remit.catalog.scales import Category, DangerLevel, Method
from remit.policy.reach import reach_of
from remit.policy.wording import CATEGORY_DEEDS, ceiling_words, facts_of, place_words, quoted
from remit.statement.document import Block, Items, Paragraph, Section
from remit.statement.judgement import is_doubtful, likely_danger, remark_on, treated_as, worst_of
from remit.statement.subject import Subject, called, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.catalog.model import Tool

_ABILITIES: Mapping[Category, str] = {
    Category.READ: "It can read, which changes nothing",
    Category.WRITE: "It can change data in the app",
    Category.ACTION: "It can set things off that reach beyond stored data",
}
_KINDS: Mapping[Category, tuple[str, str]] = {
    Category.READ: ("reads", "read"),
    Category.WRITE: ("changes data in the app", "change data in the app"),
    Category.ACTION: ("sets things off beyond stored data", "set things off beyond stored data"),
}


def abilities(subject: Subject) -> Section:
    """What the app can read, change and set off."""
    definition = subject.definition
    blocks: list[Block] = [Paragraph(_opening(subject))]
    remarks = [(tool, remark) for tool in subject.tools if (remark := remark_on(tool)) is not None]
    if remarks:
        lines = tuple(f"{_facts(tool)}: {called(tool)} {remark}." for tool, remark in remarks)
        blocks.append(Items("Where the app's words and the facts disagree:", lines))
    blocks += _groups(subject)
    doubtful = [tool.name for tool in subject.tools if is_doubtful(tool)]
    if doubtful:
        text = "By the app's word these only read, by POST. Some searches do; POST can also change"
        blocks.append(Paragraph(f"{text} data, and Remit cannot tell: {listed(doubtful)}."))
    if subject.dropped:
        lead = f"No agent gets {counted(len(subject.dropped), 'further tool')}:"
        reach = reach_of(definition).tools
        dropped = tuple(
            f"{tool.name} ({facts_of(reach[tool.name])}): {tool.reason}" for tool in subject.dropped
        )
        blocks.append(Items(lead, dropped))
    undeclared = [tool.name for tool in subject.tools if not tool.scales_declared]
    if undeclared:
        text = "the app says neither kind nor danger; what stands above is Remit's guess by the"
        blocks.append(Paragraph(f"Of {listed(undeclared)} {text} method."))
    if definition.description.strip():
        blocks.append(Paragraph(f"In the app's own words: {quoted(definition.description)}"))
    return Section(id="abilities", title="What it can do", blocks=tuple(blocks))


def _opening(subject: Subject) -> str:
    definition = subject.definition
    fetched = definition.tools_url is not None
    if not subject.tools:
        more = "; its own server may add some (see below)" if fetched else ""
        return f"{subject.name} ({definition.id}) has no tool that an agent could use{more}."
    text = (
        f"{subject.name} ({definition.id}) has {counted(len(subject.tools), 'tool')}. Each is "
        "safe, moderate or destructive: how bad it is if the agent is wrong, as the app declares "
        "it and a reviewer accepts it."
    )
    if fetched:
        text += " Its own server may add others (see below)."
    return text


def _groups(subject: Subject) -> Iterator[Block]:
    """The tools by what the platform knows of them: category, danger and method come first."""
    groups: dict[tuple[int, int, str], list[Tool]] = {}
    for tool in subject.tools:
        if remark_on(tool) is None:
            key = (tool.category.rank, -tool.danger_level.rank, _means(tool))
            groups.setdefault(key, []).append(tool)
    for key in sorted(groups):
        tools = groups[key]
        level, number = tools[0].danger_level.value, counted(len(tools), "tool")
        lead = f"{_ABILITIES[tools[0].category]}: {number}, {level}, {_means(tools[0])}."
        yield Items(lead, tuple(_line(subject, tool) for tool in tools))


def _line(subject: Subject, tool: Tool) -> str:
    return f"{called(tool)}{'; asks first' if subject.stops(tool) else ''}"


def _means(tool: Tool) -> str:
    """The method, or the handler of a client target."""
    if isinstance(tool.destination, ClientTarget):
        return f"in your client by {quoted(tool.destination.name)}"
    return tool.destination.request.method.value


def _facts(tool: Tool) -> str:
    return f"{tool.danger_level.value}, {CATEGORY_DEEDS[tool.category]}, {_means(tool)}"


# -- the worst single call ---------------------------------------------------------------------


def worst(subject: Subject) -> Section:
    """The worst single call, and the worst that nobody is asked about."""
    return Section(id="worst", title="The worst single call", blocks=tuple(_worst(subject)))


def _worst(subject: Subject) -> Iterator[Block]:
    tools = worst_of(subject, subject.tools)
    if not tools:
        yield Paragraph("There is none: it has no tool.")
    else:
        yield from _account(subject, "The worst is", tools)
        unasked = [tool for tool in subject.tools if not subject.stops(tool)]
        if not unasked:
            yield Paragraph("No tool runs without asking first.")
        elif subject.stops(tools[0]):
            lead = "The worst that runs without asking anybody is"
            yield from _account(subject, lead, worst_of(subject, unasked))
    if subject.definition.tools_url is not None:
        yield Paragraph(
            "A tool that the app's own server adds later could be as bad as the ceiling allows: "
            f"{later_tools(subject)}."
        )


def later_tools(subject: Subject) -> str:
    """What tools that nobody reviewed could be, as the second half of a sentence."""
    ceiling = subject.definition.ceiling
    asks = "; destructive ones ask you unless a policy lifts that"
    return ceiling_words(ceiling) + (
        asks if ceiling.danger_level is DangerLevel.DESTRUCTIVE else ""
    )


def _account(subject: Subject, lead: str, tools: Sequence[Tool]) -> Iterator[Block]:
    tool = tools[0]
    harm = f"{_harm(subject, tool)} {_asked(subject, tool)}"
    yield Paragraph(f"{lead} {called(tool)}: {_facts(tool)}. {harm}")
    remark = remark_on(tool)
    if remark is not None:
        yield Paragraph(f"Mind that it {remark}.")
    if tool.description.strip():
        yield Paragraph(f"The app describes it so: {quoted(tool.description)}")
    if len(tools) > 1:
        others = tuple(called(other) for other in tools[1:])
        yield Items("As bad by the same measure:", others)


_DEEDS: Mapping[Method, str] = {
    Method.DELETE: "deletes something",
    Method.PUT: "overwrites something",
    Method.PATCH: "changes something",
    Method.POST: "creates or changes something",
    Method.GET: "changes something, although by GET,",
}


def _harm(subject: Subject, tool: Tool) -> str:
    """What one wrong call does, on which host, and whether it can be undone."""
    place = subject.reach[tool.name].place
    where = place.origin or "the app"
    method = treated_as(tool)
    if method is None:
        deed = f"runs something in your own client ({quoted(place.name)})"
    elif tool.category is Category.READ and method in (Method.GET, Method.POST):
        deed = f"shows the agent something of {where} that it did not need"
    elif tool.category is Category.ACTION and method is not Method.DELETE:
        deed = f"sets something off through {where}"
    else:
        deed = f"{_DEEDS[method]} on {where}"
    outside = " (an outside host)" if place.kind == "url" else ""
    level = likely_danger(tool)
    return f"One wrong call {deed}{outside}. {_undo(tool, level)}"


def _undo(tool: Tool, level: DangerLevel) -> str:
    if level is DangerLevel.DESTRUCTIVE:
        if tool.danger_level is DangerLevel.DESTRUCTIVE:
            return "The app itself calls that destructive, and Remit cannot undo it."
        return "Take it as destructive, whatever the app says; Remit cannot undo it."
    if tool.category is Category.READ and tool.danger_level is DangerLevel.SAFE:
        return "Nothing is changed, if the app keeps its word."
    if tool.danger_level is DangerLevel.MODERATE:
        return "The app calls it moderate, which is less than destructive; Remit cannot undo it."
    return "The app calls it safe; Remit cannot undo it."


def _asked(subject: Subject, tool: Tool) -> str:
    if tool.requires_approval:
        return "It stops and asks you every time."
    if subject.stops(tool):
        return "It stops and asks you, unless the workspace's policy lifts that."
    return "Nobody is asked first."


# -- what stops for a person -------------------------------------------------------------------


def stops(subject: Subject) -> Section:
    """What stops for a person and for whom."""
    return Section(id="stops", title="What stops for a person", blocks=tuple(_stops(subject)))


def _stops(subject: Subject) -> Iterator[Block]:
    always = [tool for tool in subject.tools if tool.requires_approval]
    default = [t for t in subject.tools if subject.stops(t) and not t.requires_approval]
    rest = [tool for tool in subject.tools if not subject.stops(tool)]
    if always:
        lead = "Before every call of these you are asked, and nothing can lift that:"
        yield Items(lead, tuple(_stop(subject, tool) for tool in always))
    if default:
        lead = (
            "Before every call of these you are asked because they are destructive; "
            "the workspace's policy may lift that:"
        )
        yield Items(lead, tuple(_stop(subject, tool) for tool in default))
    if rest:
        yield Paragraph(_unasked(rest, all_of_them=not always and not default))
    if subject.tools or subject.definition.tools_url:
        if always or default:
            yield Paragraph(
                "You are the user for whom the agent works; the workspace's policy may name an "
                "operator or a second person instead. Neither the agent nor the app can answer "
                "for you, and until the answer nothing is sent."
            )
        other = "also stop or forbid any other" if always or default else "stop or forbid any"
        yield Paragraph(f"The workspace's policy may {other} call.")
    else:
        yield Paragraph("Nothing runs, so nothing stops.")


def _stop(subject: Subject, tool: Tool) -> str:
    text = f"{tool.danger_level.value}, {_means(tool)}"
    if tool.request is not None:
        text += f" {place_words(subject.reach[tool.name].place)}"
    preview = tool.confirm.preview if tool.confirm else None
    if preview is not None:
        text += f"; to show you what it is about, {preview.tool} runs first"
    if tool.confirm is not None and tool.confirm.title is not None:
        parts = tool.confirm.title.parts
        title = "".join(part if isinstance(part, str) else part.written for part in parts)
        text += f"; the app's own words on the card are {quoted(title)}"
    return f"{called(tool)}: {text}"


def _unasked(tools: Sequence[Tool], *, all_of_them: bool) -> str:
    honest = [tool for tool in tools if remark_on(tool) is None]
    parts = [
        f"{number:,} {_KINDS[category][number != 1]}"
        for category in Category
        if (number := sum(tool.category is category for tool in honest))
    ]
    odd = len(tools) - len(honest)
    if odd:
        parts.append(f"{odd:,} {'does' if odd == 1 else 'do'} more than the app says (see 1)")
    if all_of_them:
        return (
            f"Nothing stops for a person. Of its {counted(len(tools), 'tool')} {listed(parts)}; "
            "nobody is asked before any of them."
        )
    others = counted(len(tools), "tool")
    return f"Nobody is asked before the other {others}, of which {listed(parts)}."
