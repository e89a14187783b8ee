"""The last three sections: changes without a review, text before the model, the token bill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.wording import ceiling_words, one_line, quoted
from remit.statement.document import Block, Items, Paragraph, Quote, Section
from remit.statement.subject import Subject, counted
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue

_LONG_WORD = 40
_HAND_BROKEN = 60


def changes(subject: Subject) -> Section:
    """What may change without a review."""
    definition = subject.definition
    blocks: list[Block] = []
    ceiling = ceiling_words(definition.ceiling)
    if definition.tools_url is None:
        blocks.append(
            Paragraph(
                "The app's server can change nothing by itself: its tools stand in the definition "
                "that was reviewed."
            )
        )
    else:
        lead = (
            "The app's own server is asked for its tools before an agent begins "
            f"({definition.tools_url.text}). It may add, change and take away tools without a "
            "review, within these limits:"
        )
        limits = (
            f"The ceiling: {ceiling}. What is above is dropped.",
            "The hosts and the stored values named above, and no others.",
            "A reviewed tool may become stricter, never looser; its method and host stay.",
            "The workspace's policy may hold new tools back until a review, or freeze the list.",
        )
        blocks.append(Items(lead, limits))
    blocks.append(
        Items(
            "Whoever may edit the definition here can do this without a review; each edit is kept "
            "with what was there before:",
            (
                "Change texts, arguments, paths, queries and bodies.",
                "Remove a tool or make one stricter.",
                f"Add a tool under the ceiling that goes to a host named above: {ceiling}.",
            ),
        )
    )
    blocks.append(
        Paragraph(
            "Anything else is a new version, which waits for a review and for your consent: "
            "another name, host, stored value or credential, a higher ceiling, a tool that is held "
            "less strictly or goes elsewhere. A tool under a new name is a new tool."
        )
    )
    return Section(id="changes", title="What may change without a review", blocks=tuple(blocks))


# -- text before the model ---------------------------------------------------------------------


def texts(subject: Subject) -> Section:
    """What text the app puts before the model, whole."""
    blocks: list[Block] = []
    quotes = tuple(_quotes(subject))
    if quotes:
        blocks.append(
            Paragraph(
                "All that is set apart below is the app's own text. The model reads it as a third "
                "party's, without authority over you or the platform; it may still be swayed by "
                "it. What cannot be seen is written out, as in ⟨U+200B⟩."
            )
        )
        blocks += quotes
    else:
        blocks.append(Paragraph("None."))
    if subject.tools:
        blocks.append(_answers(subject))
    return Section(id="texts", title="What text it puts before the model", blocks=tuple(blocks))


def _quotes(subject: Subject) -> Iterator[Block]:
    definition = subject.definition
    briefing = definition.prompt_context
    if briefing.strip():
        lead = f"The briefing, {counted(len(briefing), 'character')}:"
        yield Quote(lead, _flowed(_lines(briefing)))
    for skill in definition.skills:
        lead = f"The skill {quoted(skill.name)}; the text below its first line when the model asks:"
        yield Quote(lead, (*_lines(skill.description), *_flowed(_lines(skill.body))))
    wordless: list[str] = []
    for tool in subject.tools:
        lines = tuple(_tool_lines(tool))
        if lines:
            yield Quote(f"{tool.name}:", lines)
        else:
            wordless.append(tool.name)
    if wordless:
        yield Items("No text but the names of these tools and of their arguments:", tuple(wordless))


def _tool_lines(tool: Tool) -> Iterator[str]:
    yield from _lines(tool.description)
    schema = tool.parameters.schema
    for name in sorted(tool.parameters.names):
        yield from _argument_lines(name, tool.parameters.schema_of(name))
    rest = {key: value for key, value in schema.items() if key != "properties"}
    yield from _prose_lines(rest, "arguments")


def _argument_lines(name: str, schema: JsonObject) -> Iterator[str]:
    """One argument: its name, title and description, then what else reads like a text."""
    title, description = schema.get("title"), schema.get("description")
    shown = f"{one_line(name)} ({one_line(title)})" if isinstance(title, str) else one_line(name)
    if isinstance(title, str) or isinstance(description, str) or _is_prose(name):
        lines = _lines(description) if isinstance(description, str) else ()
        first, *more = lines or ("",)
        yield f"{shown}: {first}"
        yield from more
    rest = {
        key: value
        for key, value in schema.items()
        if not (key in ("title", "description") and isinstance(value, str))
    }
    yield from _prose_lines(rest, one_line(name))


def _prose_lines(value: JsonValue, at: str) -> Iterator[str]:
    """Every title, description and other prose anywhere in a schema; texts hide everywhere."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _prose_lines(value[key], f"{at} {one_line(key)}")
    elif isinstance(value, list):
        for item in value:
            yield from _prose_lines(item, at)
    elif isinstance(value, str) and (_is_prose(value) or at.endswith((" title", " description"))):
        first, *more = _lines(value) or ("",)
        yield f"{at}: {first}"
        yield from more


def _is_prose(text: str) -> bool:
    """Whether a text has several words, or one so long that it may hide some."""
    return len(text) > _LONG_WORD or len(text.split()) > 1


def _lines(text: str) -> tuple[str, ...]:
    """A text as lines, what cannot be seen made visible; blank lines at its ends left out."""
    lines = [line.rstrip() for line in visible(text).replace("\t", "    ").split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return tuple(lines)


def _flowed(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines of prose; where an author broke a sentence by hand, the line goes on."""
    flowed: list[str] = []
    last = ""
    for line in lines:
        if len(last) >= _HAND_BROKEN and line[:1].isalpha():
            flowed[-1] = f"{flowed[-1]} {line}"
        else:
            flowed.append(line)
        last = line
    return tuple(flowed)


def _answers(subject: Subject) -> Block:
    whole = [
        tool.name
        for tool in subject.tools
        if tool.response_mapping is None
        and (tool.polling is None or tool.polling.result_mapping is None)
    ]
    if not whole:
        return Paragraph(
            "Of each answer of the app the model reads only the fields that the tool names."
        )
    if len(whole) == len(subject.tools):
        return Paragraph("The whole answer of every tool reaches the model.")
    lead = "The whole answer of these reaches the model, and not only named fields of it:"
    return Items(lead, tuple(whole))
