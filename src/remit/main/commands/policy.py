"""``remit policy check``: what a policy says of one call, without making it (section 18)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.calls.arguments import settle
from remit.calls.planning import reachable
from remit.catalog.mistakes import sentence
from remit.errors import CallError, InvalidDefinition, UnknownTool
from remit.main.commands.arguments import args_text, error_json, parse_args, tell
from remit.main.commands.pairs import read_pins, tell_idle_pins
from remit.main.files import read_definition, read_source
from remit.main.output import is_terminal, print_json, say
from remit.policy.decisions import Ask
from remit.policy.reading import load_policy
from remit.policy.verdicts import evaluate
from remit.values.json import nearest

if TYPE_CHECKING:
    from remit.catalog.model import Definition, Tool
    from remit.main.settings import Settings
    from remit.policy.rules import Policy, Source
    from remit.policy.verdicts import Ruling
    from remit.values.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user typed."""

    policy: str
    definition: str
    tool: str
    args: str
    pins: tuple[str, ...]
    source: Source


def check(question: Question, settings: Settings) -> int:
    """Print the verdict with every rule that counts; 0 whatever it is, 1 without one."""
    pins = read_pins(question.pins)
    text = args_text(question.args)
    policy = read_policy(question.policy)
    _, definition = read_definition(question.definition, brand=settings.brand)
    try:
        tool = _tool(definition, question)
        given = parse_args(text, tool.name)
        arguments = settle(tool, given, pins, source="caller")
    except CallError as error:
        print_json(error_json(error.code, error.message, question.tool, details=error.details))
        if not is_terminal(sys.stdout):
            say(f"{error.code}: {error.message}")
        say(f"`remit explain {error.code}` says more.")
        return 1
    tell(arguments, tool.name)
    tell_idle_pins(pins, (tool,))
    ruling = evaluate(
        policy,
        tool,
        app=definition.id,
        ceiling=definition.ceiling,
        args=reachable(tool, arguments),
        source=question.source,
    )
    print_json(_printed(ruling))
    return 0


def read_policy(name: str) -> Policy:
    """Read a policy that loads without a mistake.

    Raises:
        WrongUse: the file cannot be read.
        InvalidDefinition: it has mistakes; all of them are in ``mistakes``.
    """
    source = read_source(name)
    loaded = load_policy(source.document)
    if loaded.policy is not None:
        return loaded.policy
    places = source.places(mistake.pointer for mistake in loaded.mistakes)
    listed: list[str] = []
    for mistake in sorted(loaded.mistakes, key=lambda m: places.get(m.pointer, (0, 0))):
        line = places.get(mistake.pointer)
        where = f"{name}:{line[0]}:{line[1]}" if line else name
        words = f"{sentence(mistake.message)} {sentence(mistake.mend)}"
        listed.append(f"{where}  policy  {mistake.at}".rstrip() + f"\n  {words}")
    count = f"{len(listed)} error{'s' if len(listed) != 1 else ''}"
    raise InvalidDefinition(
        "\n".join([*listed, f"{name} cannot be used: {count}."]), mistakes=loaded.mistakes
    )


def _tool(definition: Definition, question: Question) -> Tool:
    """The tool as the definition has it, also where it is over the ceiling."""
    tool = definition.tool(question.tool)
    if tool is not None:
        return tool
    near = nearest(question.tool, (tool.name for tool in definition.tools))
    fetched = " What toolsUrl serves is not looked at." if definition.tools_url else ""
    hint = f'Did you mean "{near}"?' if near else f"Look into {question.definition}."
    raise UnknownTool(f'{definition.id} has no tool "{question.tool}".{fetched} {hint}')


def _printed(ruling: Ruling) -> JsonObject:
    printed: JsonObject = {"verdict": ruling.then}
    if isinstance(ruling.verdict, Ask):
        printed["by"] = ruling.verdict.by
        if ruling.verdict.by == "operator" and ruling.verdict.apart:
            printed["apart"] = True
    printed["rules"] = [fired.as_json() for fired in ruling.fired]
    return printed
