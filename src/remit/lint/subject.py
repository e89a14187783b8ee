"""What rules look at: an app and its tools, loaded where they load, raw where they do not.

A rule reads what an author wrote. A tool that cannot load has mistakes enough to be mended in
one go, so a view falls back on the raw record wherever that can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from remit.catalog.model import AppTarget, ClientTarget, UrlTarget
from remit.catalog.reading import is_object
from remit.catalog.scales import Category, DangerLevel
from remit.documents.problems import escaped
from remit.lint.schemas import SchemaNode, is_plain, walk
from remit.lint.uses import Use, uses_of
from remit.lint.words import is_vague
from remit.offer.offering import Judgement, judgements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from enum import Enum

    from remit.catalog.mistakes import Level
    from remit.catalog.model import Definition, Tool
    from remit.offer.dialects import Provider
    from remit.values.json import JsonObject, JsonValue

    E = TypeVar("E", bound=Enum)

MODELS: tuple[Provider, ...] = ("openai", "anthropic", "gemini")


class Finding(NamedTuple):
    """What a rule says: a place below its subject, what is there, and the mend.

    Attributes:
        at: JSON Pointer below the tool, or below the document for a rule on the app.
        level: only where it differs from the rule's own.
        tool_index: position of the tool, where a rule on the app speaks about one.
    """

    at: str
    message: str
    mend: str
    level: Level | None = None
    tool_index: int | None = None


@dataclass(frozen=True, kw_only=True)
class ToolView:
    """One tool as the rules see it; derived facts are computed once, when first asked for.

    Attributes:
        record: the decoded record.
        tool: the loaded tool, None where it has an error.
        index: its position in the catalog.
        app_id: id of the app, None for a bare catalog.
    """

    record: JsonObject
    tool: Tool | None
    index: int
    app_id: str | None = None

    def text(self, key: str) -> str:
        """A text of the record; empty where it is none."""
        value = self.record.get(key)
        return value if isinstance(value, str) else ""

    @cached_property
    def name(self) -> str:
        """The catalog name as written."""
        return self.text("name")

    @cached_property
    def title(self) -> str:
        """``title`` or ``displayName``, empty where there is neither."""
        return self.text("title") or self.text("displayName")

    @cached_property
    def description(self) -> str:
        """The description as written."""
        return self.text("description")

    @cached_property
    def category(self) -> Category | None:
        """The category in force, or as far as the record says."""
        return self.tool.category if self.tool else _member(Category, self.record.get("category"))

    @cached_property
    def danger(self) -> DangerLevel | None:
        """The danger level in force, or as far as the record says."""
        if self.tool:
            return self.tool.danger_level
        return _member(DangerLevel, self.record.get("dangerLevel"))

    @cached_property
    def judgements(self) -> Mapping[Provider, Judgement]:
        """What each provider makes of the parameters; empty where the tool did not load."""
        return judgements(self.tool.parameters, MODELS) if self.tool else {}

    @property
    def approved(self) -> bool:
        """Whether the author asks for a person's yes."""
        return self.record.get("requiresApproval") is True

    @cached_property
    def form(self) -> str:
        """``endpoint`` or ``target``, where the request is written."""
        return "endpoint" if "endpoint" in self.record else "target"

    @cached_property
    def request(self) -> JsonObject:
        """The record of the request as written; empty where there is none."""
        found = self.record.get(self.form)
        return found if is_object(found) else {}

    @cached_property
    def method(self) -> str:
        """The HTTP method as written; empty for a client target."""
        value = self.request.get("method")
        return value if isinstance(value, str) else ""

    @cached_property
    def path(self) -> str:
        """``path`` or ``url`` as written; empty where there is neither."""
        value = self.request.get("path", self.request.get("url"))
        return value if isinstance(value, str) else ""

    @property
    def path_at(self) -> str:
        """The pointer of ``path`` or ``url``."""
        return f"/{self.form}/{'path' if 'path' in self.request else 'url'}"

    @property
    def is_client(self) -> bool:
        """Whether it runs in the user's client."""
        if self.tool:
            return isinstance(self.tool.destination, ClientTarget)
        return self.form == "target" and not self.method and "name" in self.request

    @property
    def is_app_target(self) -> bool:
        """Whether it runs on a component of the app, whose handler answers in channels."""
        return self.tool is not None and isinstance(self.tool.destination, AppTarget)

    @property
    def is_url_target(self) -> bool:
        """Whether it goes to an address that is not the app's."""
        return self.tool is not None and isinstance(self.tool.destination, UrlTarget)

    @cached_property
    def parameters(self) -> JsonObject:
        """The schema as written; empty where there is none."""
        found = self.record.get("parameters")
        return found if is_object(found) else {}

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names of the declared parameters."""
        found = self.parameters.get("properties")
        return frozenset(found) if is_object(found) else frozenset()

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of the required parameters."""
        found = self.parameters.get("required")
        return (
            frozenset(n for n in found if isinstance(n, str))
            if isinstance(found, list)
            else frozenset()
        )

    @cached_property
    def schema_nodes(self) -> tuple[SchemaNode, ...]:
        """Every schema inside ``parameters``, the root first."""
        return walk(self.parameters, "/parameters")

    @cached_property
    def has_plain_schema(self) -> bool:
        """Whether every provider takes its parameters as they are written."""
        return all(is_plain(node) for node in self.schema_nodes)

    @cached_property
    def is_vague(self) -> bool:
        """Whether its description adds nothing to its names."""
        return is_vague(self.description, self.name, self.title)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Every reference of the tool and where it stands; empty where it did not load."""
        return uses_of(self.tool) if self.tool else ()

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Every text that reaches a model or a person, names included, and its place."""
        found = [
            (f"/{key}", text)
            for key in ("name", "title", "displayName", "description")
            if (text := self.text(key))
        ]
        confirm = self.record.get("confirm")
        if is_object(confirm) and isinstance(title := confirm.get("title"), str):
            found.append(("/confirm/title", title))
        for node in self.schema_nodes:
            if node.is_property:
                found.append((node.at, node.label))
            for key in ("title", "description"):
                text = node.schema.get(key)
                if isinstance(text, str) and text:
                    found.append((f"{node.at}/{key}", text))
            members = node.schema.get("enum")
            if isinstance(members, list):
                found += [
                    (f"{node.at}/enum/{index}", member)
                    for index, member in enumerate(members)
                    if isinstance(member, str)
                ]
        return tuple(found)

    @cached_property
    def all_texts(self) -> str:
        """``texts`` in one: what is not in it is in none of them."""
        return " ".join([text for _, text in self.texts])

    def place(self, key: str) -> str:
        """The pointer of a key of the tool, or of the tool itself where the key is absent."""
        return f"/{escaped(key)}" if key in self.record else ""


@dataclass(frozen=True, kw_only=True)
class AppView:
    """An app as the rules see it.

    Attributes:
        record: the decoded definition; empty for a bare catalog.
        definition: the loaded definition, None where it is broken or there is none.
        tools: every tool whose record is an object, in order.
        tools_root: pointer of the list of tools in the document.
        fetched: whether the catalog came from ``toolsUrl``.
    """

    record: JsonObject
    definition: Definition | None
    tools: Sequence[ToolView]
    tools_root: str
    fetched: bool = False

    def text(self, key: str) -> str:
        """A text of the definition; empty where it is none."""
        value = self.record.get(key)
        return value if isinstance(value, str) else ""

    def object(self, key: str) -> JsonObject:
        """An object of the definition; empty where it is none."""
        value: JsonValue = self.record.get(key)
        return value if is_object(value) else {}


def _member(scale: type[E], value: object) -> E | None:
    return next((member for member in scale if member.value == value), None)
