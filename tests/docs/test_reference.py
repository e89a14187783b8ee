"""The reference is whole: every key, command, option, setting, code and rule stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any, get_args

import pytest
import typer

from remit.calls.arguments import settle
from remit.calls.planning import plan
from remit.catalog.definitions import load_definition
from remit.catalog.model import QueryStyle
from remit.catalog.schemas import schema_of
from remit.egress.addresses import CONTROL_NAMES
from remit.egress.allowances import parse_allowances
from remit.egress.guard import decide
from remit.errors import InvalidArguments
from remit.lint.table import every_rule
from remit.main.cli import app
from remit.main.settings import SETTINGS
from remit.policy.schemas import policy_schema
from remit.values.json import JsonValue
from tests.docs.tables import REFERENCE, TABLES, renewed

FURTHER_VARIABLES = (
    "REMIT_SERVER_URL",
    "REMIT_KEY",
    "REMIT_CACHE_DIR",
    "REMIT_TOKEN",
    "NO_COLOR",
    "REMIT_DEBUG",
)


def text_of(name: str) -> str:
    """A page of the reference."""
    return (REFERENCE / name).read_text("utf-8")


def sections(name: str) -> dict[str, str]:
    """A page's text by its second-level headings."""
    _, *parts = re.split(r"^## ", text_of(name), flags=re.MULTILINE)
    return dict(part.split("\n", 1) for part in parts)


def first_cells(text: str) -> set[str]:
    """What stands in backticks in the first column of the tables that have a rule column."""
    found: set[str] = set()
    for table in re.findall(r"^\| key \|.*?(?=^$|\Z)", text, flags=re.MULTILINE | re.DOTALL):
        found |= set(re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE))
    return found


@pytest.mark.parametrize("name", TABLES)
def test_made_pages_are_in_step(name: str) -> None:
    """Codes and rules are listed from the code; `python -m tests.docs.tables` writes them anew."""
    assert text_of(name) == renewed(text_of(name), TABLES[name]())


OBJECTS = [
    ("definition.md", "definition", "definition", ""),
    ("definition.md", "auth apiKey", "definition", "/$defs/auth/oneOf/1"),
    ("definition.md", "auth oauth2", "definition", "/$defs/auth/oneOf/2"),
    ("definition.md", "component", "definition", "/properties/components/additionalProperties"),
    ("definition.md", "env", "definition", "/$defs/env"),
    ("definition.md", "skill", "definition", "/properties/skills/items"),
    ("definition.md", "ceiling", "definition", "/properties/ceiling"),
    ("tool.md", "tool", "tool", "/$defs/tool"),
    ("tool.md", "endpoint", "tool", "/$defs/endpoint"),
    (
        "tool.md",
        "query parameter",
        "tool",
        "/$defs/endpoint/properties/queryParams/additionalProperties",
    ),
    ("tool.md", "target app", "tool", "/$defs/appTarget"),
    ("tool.md", "target url", "tool", "/$defs/urlTarget"),
    ("tool.md", "target client", "tool", "/$defs/clientTarget"),
    ("tool.md", "mapping", "tool", "/$defs/each"),
    ("tool.md", "polling", "tool", "/$defs/polling"),
    ("tool.md", "confirm", "tool", "/$defs/confirm"),
    ("tool.md", "preview", "tool", "/$defs/confirm/properties/preview"),
    ("policy.md", "policy", "policy", ""),
    ("policy.md", "rule", "policy", "/$defs/rule"),
    ("policy.md", "match", "policy", "/$defs/match"),
    ("policy.md", "limits", "policy", "/properties/limits"),
]


def _part(kind: str, pointer: str) -> Any:  # noqa: ANN401 - a part of a schema
    found: Any = policy_schema() if kind == "policy" else schema_of(kind)
    for step in pointer.split("/")[1:]:
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


@pytest.mark.parametrize(("page", "heading", "kind", "pointer"), OBJECTS)
def test_every_key_of_an_object_is_described(
    page: str, heading: str, kind: str, pointer: str
) -> None:
    """The reference and the schema name the same keys, and call the same ones required."""
    part = _part(kind, pointer)
    text = sections(page)[heading]
    assert first_cells(text) == set(part["properties"])
    marked = set(re.findall(r"^\| `([^`]+)` \| [^|]* \| yes \|", text, flags=re.MULTILINE))
    assert marked - {"type"} == set(part.get("required", ())) - {"type"}


@pytest.mark.parametrize("page", ["definition.md", "tool.md", "policy.md"])
def test_rules_that_a_key_names_are_rules(page: str) -> None:
    """Whoever looks a rule up finds it."""
    known = {rule.id for rule in every_rule()}
    named = {
        rule
        for row in re.findall(r"^\|(?:[^|]*\|){5}([^|]*)\|$", text_of(page), flags=re.MULTILINE)
        for rule in re.findall(r"`([^`]+)`", row)
    }
    assert named
    assert named <= known


def _sent(style: str, value: JsonValue) -> str:
    """The query of a request with one parameter in a style, or that it is an error."""
    tool = {
        "name": "a_tool",
        "description": "Does it.",
        "category": "read",
        "dangerLevel": "safe",
        "parameters": {"type": "object", "properties": {"v": {}}},
        "endpoint": {
            "method": "GET",
            "path": "/x",
            "queryParams": {"a": {"value": "{{args.v}}", "style": style}},
        },
    }
    document: Any = {"id": "an-app", "name": "A", "auth": {"type": "none"}, "tools": [tool]}
    definition = load_definition({**document, "baseUrl": "https://api.example"}).definition
    assert definition is not None
    arguments = settle(definition.tools[0], {"v": value}, {})
    try:
        request = plan(definition.tools[0], definition, arguments)
    except InvalidArguments:
        return "an error"
    return request.shown_url.partition("?")[2]


def test_query_styles_are_as_the_page_shows() -> None:
    """A list and an object in each style, as the request is really built."""
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$",
        sections("tool.md")["query parameter"],
        flags=re.MULTILINE,
    )
    shown = {style: (a.strip("`"), b.strip("`")) for style, a, b in rows}
    assert shown == {
        style: (_sent(style, [1, 2]), _sent(style, {"k": 1})) for style in get_args(QueryStyle)
    }


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer's own
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for key, child in children.items():
        yield from _commands(child, f"{name} {key}")


COMMANDS = dict(_commands(typer.main.get_command(app), "remit"))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_described_with_every_option(name: str) -> None:
    """The page has a section for each command, and in it each argument and option, and no other."""
    found = {head.strip("`"): text for head, text in sections("command-line.md").items()}
    headings = [head for head in found if f"{head} ".startswith(f"{name} ")]
    assert len(headings) == 1
    command = COMMANDS[name]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    shown = headings[0].removeprefix(name).split()
    assert len(shown) == len(arguments)
    options = {o for p in command.params if p.param_type_name == "option" for o in p.opts}
    described = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", _first_cells(found[headings[0]])))
    assert described == options - {"--help", "-h"}


def _first_cells(text: str) -> str:
    """The first column of a section's tables of options."""
    return "\n".join(re.findall(r"^\| (`-.*?`) \| ", text, flags=re.MULTILINE))


def test_options_before_the_command_are_described() -> None:
    """--config and --version belong to no command."""
    options = [o for p in typer.main.get_command(app).params for o in p.opts if o != "--help"]
    assert options
    for option in options:
        assert f"`{option}" in text_of("command-line.md")


@pytest.mark.parametrize(("section", "key", "words"), SETTINGS)
def test_setting_is_described(section: str, key: str, words: str) -> None:
    """Each row of the table of settings has one in the page, with its variable."""
    del words
    variable = f"REMIT_{section.upper()}_{key.upper()}"
    assert f"| `[{section}]` | `{key}` | `{variable}` |" in text_of("settings.md")


@pytest.mark.parametrize("name", FURTHER_VARIABLES)
def test_variable_is_described(name: str) -> None:
    """What is read from the environment besides settings."""
    assert f"| `{name}` |" in text_of("settings.md")


def _judged(address: str, *allow: str) -> str:
    host = f"[{address}]" if ":" in address else address
    return decide(f"https://{host}/", (address,), parse_allowances(allow)).decision


def test_ranges_that_the_page_calls_not_public_are_refused() -> None:
    """First and last address of each, asked of the guard itself."""
    table = sections("egress.md")["Addresses that are not public"]
    ranges = [
        ip_network(text)
        for row in table.splitlines()
        if row.startswith("| `")
        for text in re.findall(r"`([^`]+/\d+)`", row.split("|")[1])
    ]
    assert len(ranges) > 20
    for network in ranges:
        for address in (network[0], network[-1]):
            assert _judged(str(address)) == "refuse", network
    assert _judged("2606:4700::1111") == "allow"
    assert _judged("4000::1") == "refuse"


def test_control_addresses_of_the_page_stay_refused_in_an_allowed_range() -> None:
    """Listing a range opens none of them; listing exactly one opens that one."""
    table = sections("egress.md")["Cloud control addresses"]
    rows = [row for row in table.splitlines() if row.startswith("| `")]
    addresses = [a for row in rows for a in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert len(addresses) == 14
    for address in addresses:
        everything = "::/0" if ":" in address else "0.0.0.0/0"
        assert _judged(address, everything) == "refuse", address
        assert _judged(address, address) == "allow", address
    for name in CONTROL_NAMES:
        assert f"`{name}`" in table
        assert decide(f"https://{name}/", ("8.8.8.8",), parse_allowances(())).decision == "refuse"
