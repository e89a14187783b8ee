"""The short form of the remit, for consent: a letter of three to six sentences (look and voice)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.model import Endpoint
from remit.catalog.scales import Category
from remit.statement.abilities import later_tools
from remit.statement.hosts import outside_origins, sign_in
from remit.statement.judgement import badness, likely_danger, remark_on
from remit.statement.subject import counted, listed, titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.catalog.model import Tool
    from remit.statement.subject import Subject

_SHOWN = 4


def letter(subject: Subject) -> tuple[str, ...]:
    """The sentences of the short form. What they leave out is counted, never left out silently."""
    return tuple(_sentences(subject))


def _sentences(subject: Subject) -> Iterator[str]:
    harmless, harmful = _parted(subject)
    yield _abilities(subject, harmless)
    if harmful:
        yield _harm(subject, harmful)
    yield _asked(subject, harmless)
    remarks = [
        f"{titled(tool)} {remark}"
        for tool in sorted(subject.tools, key=lambda tool: badness(subject, tool), reverse=True)
        if (remark := remark_on(tool)) is not None
    ]
    if remarks:
        more = len(remarks) - 1
        others = f"; {counted(more, 'more tool')} say{'s' * (more == 1)} less than the facts"
        yield f"{remarks[0]}{others if more else ''}."
    if subject.definition.tools_url is not None:
        yield f"Its own server may add tools without a review: {later_tools(subject)}."
    yield _hosts(subject)


def _parted(subject: Subject) -> tuple[list[Tool], list[Tool]]:
    """The tools that are not destructive by word or fact, and those that are."""
    harmless: list[Tool] = []
    harmful: list[Tool] = []
    for tool in subject.tools:
        (harmful if likely_danger(tool).value == "destructive" else harmless).append(tool)
    # The worst first: where only some are named, it is these.
    harmless.sort(key=lambda tool: badness(subject, tool), reverse=True)
    return harmless, harmful


def _abilities(subject: Subject, tools: Sequence[Tool]) -> str:
    parts = [
        f"{verb} ({_some(chosen)})"
        for category, verb in (
            (Category.READ, "read"),
            (Category.WRITE, "change data in the app"),
            (Category.ACTION, "set things off beyond it"),
        )
        if (chosen := [tool for tool in tools if tool.category is category])
    ]
    if parts:
        return f"{subject.name} can {listed(parts)}."
    if subject.tools:
        return f"{subject.name} does nothing but what follows."
    return f"{subject.name} can do nothing: it has no tool."


def _some(tools: Sequence[Tool]) -> str:
    shown = [titled(tool) for tool in tools[:_SHOWN]]
    if len(tools) > _SHOWN + 1:
        return f"{', '.join(shown)} and {counted(len(tools) - _SHOWN, 'more tool')}"
    return listed([titled(tool) for tool in tools])


def _harm(subject: Subject, tools: Sequence[Tool]) -> str:
    text = f"It can do lasting harm ({_some(tools)}), which Remit cannot undo"
    stopped = [tool for tool in tools if subject.stops(tool)]
    lasting = all(tool.requires_approval for tool in tools)
    if len(stopped) < len(tools):
        unasked = [tool for tool in tools if not subject.stops(tool)]
        whom = "first" if len(unasked) == len(tools) else f"before {_some(unasked)}"
        return f"{text}; nobody is asked {whom}."
    asks = (
        "it must ask you each time"
        if lasting
        else "it asks you each time, unless a policy lifts that"
    )
    return f"{text}; {asks}."


def _asked(subject: Subject, harmless: Sequence[Tool]) -> str:
    changing = [tool for tool in harmless if tool.category is not Category.READ]
    asked = [tool for tool in harmless if subject.stops(tool)]
    unasked = [tool for tool in changing if not subject.stops(tool)]
    if asked and unasked:
        return f"It also asks you before {_some(asked)}; before {_some(unasked)} nobody is asked."
    if asked:
        return f"It also asks you before {_some(asked)}."
    if unasked:
        return (
            "It does all of it without asking."
            if len(harmless) == len(subject.tools)
            else "All else it does without asking."
        )
    if any(tool.category is Category.READ for tool in harmless):
        return "It reads without asking."
    return "It does nothing else." if subject.tools else "So nothing stops for anybody."


def _hosts(subject: Subject) -> str:
    definition = subject.definition
    outside = outside_origins(subject)
    base = definition.base_url
    own = sorted({str(c.url.origin) for c in definition.components.values()})
    sentence: list[str] = []
    if base is not None:
        ours = all(isinstance(tool.destination, Endpoint) for tool in subject.tools)
        what = "all of it" if ours else "what goes there"
        if definition.auth.type == "none":
            sentence.append(f"it calls {base.origin} without a sign-in of yours")
        else:
            sentence.append(f"{sign_in(definition.auth)} to {base.origin} is used for {what}")
    if own:
        sentence.append(f"your user id goes to {listed(own)}")
    sentence.append(
        f"arguments also go outside, to {listed(outside)}"
        if outside
        else "nothing goes anywhere else"
        if sentence
        else "nothing goes to any host"
    )
    text = "; ".join(sentence)
    return f"{text[:1].upper()}{text[1:]}."
