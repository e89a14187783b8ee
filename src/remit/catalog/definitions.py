"""A definition, and a bare or fetched catalog, from decoded documents to values (section 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.catalog.auth import read_auth
from remit.catalog.locations import has_dot_segment
from remit.catalog.mistakes import Mistake, Mistakes
from remit.catalog.model import Auth, Component, Definition, EnvSource, Skill, Tool
from remit.catalog.reading import Fields, is_object, kind, shown
from remit.catalog.requests import Surroundings
from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.catalog.tools import LoadedTools, as_records, read_tools
from remit.values.collection import uncollected
from remit.values.json import nearest
from remit.values.urls import Url, UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.values.json import JsonValue

ID = re.compile(r"[a-z][a-z0-9-]{1,39}")
MAX_PROMPT_CONTEXT = 4_000
_MAX_COMPARED = 200
_KEYS = frozenset(
    {
        "$schema",
        "id",
        "name",
        "description",
        "baseUrl",
        "toolsUrl",
        "auth",
        "components",
        "skills",
        "env",
        "promptContext",
        "ceiling",
        "tools",
    }
)
_MILDEST = Ceiling(category=Category.READ, danger_level=DangerLevel.SAFE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A definition as far as it could be loaded.

    Attributes:
        definition: None where its own fields are broken; its ``tools`` are those that loaded.
        mistakes: every mistake of the document, all at once.
    """

    definition: Definition | None
    mistakes: tuple[Mistake, ...]

    @property
    def sound(self) -> bool:
        """Whether there is a definition and no error in it."""
        return self.definition is not None and not any(m.level == "error" for m in self.mistakes)


def load_definition(document: JsonValue, *, brand: str = "Remit") -> Loaded:
    """Load a definition; every mistake is located, and good tools load beside bad ones.

    Args:
        document: the decoded document.
        brand: the brand setting (contract section 12).
    """
    with uncollected():
        return _load(document, brand)


def _load(document: JsonValue, brand: str) -> Loaded:
    mistakes = Mistakes()
    if not is_object(document):
        mistakes.add(
            "wrong-type",
            "",
            f"a definition must be an object; it is {kind(document)}",
            "write id, name, auth, baseUrl and tools",
        )
        return Loaded(definition=None, mistakes=tuple(mistakes.found))
    fields = Fields(document, "", mistakes)
    fields.only(_KEYS, "a definition")
    app_id, name = _read_identity(fields)
    base_url, tools_url = _read_urls(fields)
    auth = read_auth(fields)
    components = _read_components(fields)
    around = _surroundings(auth, components, base_url, brand)
    loaded = _read_static_tools(fields, around)
    tools, mistakes_of_tools = loaded.tools, [*loaded.mistakes]
    ceiling = _read_ceiling(fields)
    skills = _read_skills(fields, frozenset(n for n in loaded.names if n))
    prompt_context = _read_prompt_context(fields)
    env = read_env_source(fields)
    description = fields.text("description") or ""
    _require_base_url(fields, base_url)
    mistakes_of_tools += _check_previews(loaded, fetched="toolsUrl" in document)
    broken = mistakes.broken
    everything = (*mistakes.found, *mistakes_of_tools)
    if broken or app_id is None or name is None or auth is None:
        return Loaded(definition=None, mistakes=everything)
    definition = Definition(
        id=app_id,
        name=name,
        description=description,
        base_url=base_url,
        tools_url=tools_url,
        auth=auth,
        components=components,
        skills=skills,
        env=env,
        prompt_context=prompt_context,
        ceiling=ceiling or highest(tools),
        ceiling_declared=ceiling is not None,
        tools=tools,
        record=document,
    )
    return Loaded(definition=definition, mistakes=everything)


def load_catalog(document: JsonValue, around: Surroundings) -> LoadedTools | None:
    """Load a bare catalog: a list of tools, or ``{tools: […]}``; None where it is none."""
    records = as_records(document)
    if records is None:
        return None
    with uncollected():
        return read_tools(records, around, root="" if isinstance(document, list) else "/tools")


def surroundings_of(definition: Definition, *, brand: str) -> Surroundings:
    """What the tools of a definition stand in, and the targets of its app's cards."""
    return _surroundings(definition.auth, definition.components, definition.base_url, brand)


def _surroundings(
    auth: Auth | None, components: Mapping[str, Component], base_url: Url | None, brand: str
) -> Surroundings:
    return Surroundings(
        brand=brand,
        components=frozenset(components),
        credential_header=auth.header if auth else None,
        credential_query=auth.query if auth else None,
        base_origin=base_url.origin if base_url else None,
    )


def highest(tools: Sequence[Tool]) -> Ceiling:
    """The lowest ceiling that admits every one of the tools."""
    return Ceiling(
        category=max((t.category for t in tools), default=_MILDEST.category),
        danger_level=max((t.danger_level for t in tools), default=_MILDEST.danger_level),
    )


def _read_identity(fields: Fields) -> tuple[str | None, str | None]:
    for key, mend in (
        ("id", "give the app an id such as acme-scenes"),
        ("name", "give the app a name for people"),
        ("auth", "write {type: none} where no credential is needed"),
    ):
        if key not in fields.values:
            fields.missing(key, "a definition", mend)
    app_id, name = fields.text("id"), fields.text("name")
    if app_id is not None and not ID.fullmatch(app_id):
        fields.wrong(
            "bad-name",
            "id",
            f'"{shown(app_id)}" is no app id',
            "use a lower-case letter, then 1 to 39 lower-case letters, digits and -",
        )
    if name is not None and not name.strip():
        fields.wrong("bad-name", "name", "the name is empty", "give the app a name for people")
    return app_id, name


def _read_urls(fields: Fields) -> tuple[Url | None, Url | None]:
    base_url = read_url(fields, "baseUrl", query=False)
    tools_url = read_url(fields, "toolsUrl", query=True)
    if base_url and tools_url and base_url.origin != tools_url.origin:
        fields.wrong(
            "origin-mismatch",
            "toolsUrl",
            f"toolsUrl is on {tools_url.origin}; baseUrl is on {base_url.origin}",
            "serve the catalog from the origin of baseUrl",
        )
    return base_url, tools_url


def read_url(fields: Fields, key: str, *, query: bool) -> Url | None:
    """An absolute http(s) address, or None; ``query`` says whether it may have a query string."""
    text = fields.text(key)
    if text is None:
        return None
    try:
        url = parse_url(text)
    except UrlFault as fault:
        fields.wrong(
            "bad-url",
            key,
            f'"{key}": {fault.reason}',
            "write an address such as https://api.example.com/v1",
        )
        return None
    if url.query is not None and not query:
        fields.wrong(
            "bad-url", key, f'"{key}" has a query string', "leave it out; tools add queryParams"
        )
        return None
    if has_dot_segment(url.path):
        fields.wrong(
            "bad-url", key, f'"{key}" has a dot segment in its path', "write the path it leads to"
        )
        return None
    return url


def _require_base_url(fields: Fields, base_url: Url | None) -> None:
    if base_url is not None or "baseUrl" in fields.values:
        return
    records = fields.values.get("tools")
    endpoint = isinstance(records, list) and any(is_object(r) and "endpoint" in r for r in records)
    if endpoint or "toolsUrl" in fields.values:
        fields.missing(
            "baseUrl",
            "a definition with " + ("endpoints" if endpoint else "toolsUrl"),
            "write the address of the app's API",
        )


def _read_components(fields: Fields) -> dict[str, Component]:
    record = fields.object("components")
    found: dict[str, Component] = {}
    if record is None:
        return found
    outer = Fields(record, "/components", fields.mistakes)
    for name in record:
        inner_record = outer.object(name)
        if inner_record is None:
            continue
        inner = Fields(inner_record, outer.place(name), fields.mistakes)
        inner.only(("url", "env"), "a component")
        if "url" not in inner_record:
            inner.missing("url", "a component", "write the address it answers on")
        url = read_url(inner, "url", query=False)
        if url is not None:
            found[name] = Component(url=url, env=read_env_source(inner))
    return found


def read_env_source(fields: Fields) -> EnvSource | None:
    """The ``env`` of a definition or component: ``{collection, environment}``."""
    record = fields.object("env")
    if record is None:
        return None
    inner = Fields(record, fields.place("env"), fields.mistakes)
    inner.only(("collection", "environment"), "env")
    for key in ("collection", "environment"):
        if key not in record:
            inner.missing(
                key, "env", "write both, such as {collection: main, environment: production}"
            )
    collection, environment = inner.text("collection"), inner.text("environment")
    if collection is None or environment is None:
        return None
    return EnvSource(collection=collection, environment=environment)


def _read_static_tools(fields: Fields, around: Surroundings) -> LoadedTools:
    if "tools" in fields.values:
        records = fields.items("tools")
        if records is not None:
            return read_tools(records, around, root="/tools")
    return LoadedTools(tools=(), mistakes=(), names=())


def _read_ceiling(fields: Fields) -> Ceiling | None:
    if "ceiling" not in fields.values:
        if "toolsUrl" in fields.values:
            fields.missing(
                "ceiling",
                "a definition with toolsUrl",
                "say the highest category and dangerLevel that a fetched tool may have",
            )
        return None
    record = fields.object("ceiling")
    if record is None:
        return None
    inner = Fields(record, "/ceiling", fields.mistakes)
    inner.only(("category", "dangerLevel"), "a ceiling")
    for key in ("category", "dangerLevel"):
        if key not in record:
            inner.missing(key, "a ceiling", "say both; neither makes up for the other")
    category = inner.choice("category", Category)
    danger_level = inner.choice("dangerLevel", DangerLevel)
    if category is None or danger_level is None:
        return None
    return Ceiling(category=category, danger_level=danger_level)


def _read_skills(fields: Fields, tools: frozenset[str]) -> tuple[Skill, ...]:
    records = fields.items("skills")
    found: list[Skill] = []
    for index, record in enumerate(records or ()):
        at = f"/skills/{index}"
        if not is_object(record):
            fields.mistakes.add(
                "wrong-type",
                at,
                f"a skill must be an object; it is {kind(record)}",
                "write {name, description, body, tools}",
            )
            continue
        inner = Fields(record, at, fields.mistakes)
        inner.only(("name", "description", "body", "tools"), "a skill")
        for key in ("name", "description", "body"):
            if key not in record:
                inner.missing(
                    key, "a skill", f"write its {key}; name, description and body are all needed"
                )
        names = inner.items("tools") or []
        for position, name in enumerate(names):
            if not isinstance(name, str):
                fields.mistakes.add(
                    "wrong-type",
                    f"{at}/tools/{position}",
                    f"the name of a tool must be text; it is {kind(name)}",
                    "name a tool of this definition",
                )
            elif name not in tools:
                fields.mistakes.add(
                    "unknown-tool",
                    f"{at}/tools/{position}",
                    f'the skill names the tool "{shown(name)}", which is not in this definition',
                    _near_tool(name, tools),
                )
        found.append(
            Skill(
                name=inner.text("name") or "",
                description=inner.text("description") or "",
                body=inner.text("body") or "",
                tools=tuple(str(name) for name in names),
            )
        )
    return tuple(found)


def _near_tool(name: str, tools: frozenset[str]) -> str:
    # Looking for a close name costs the product of the two numbers of names.
    near = nearest(name, tools) if len(tools) <= _MAX_COMPARED else None
    return f'did you mean "{near}"?' if near else "name one of its tools, or take the name out"


def _read_prompt_context(fields: Fields) -> str:
    text = fields.text("promptContext") or ""
    if len(text) > MAX_PROMPT_CONTEXT:
        fields.wrong(
            "too-long",
            "promptContext",
            f"promptContext has {len(text):,} characters; {MAX_PROMPT_CONTEXT:,} are allowed",
            "shorten it; it is never cut for you",
        )
    return text


def _check_previews(loaded: LoadedTools, *, fetched: bool) -> list[Mistake]:
    """A preview is a ``read``, ``safe`` tool of the same app (contract section 5)."""
    by_name = {tool.name: tool for tool in loaded.tools}
    places = {name: index for index, name in enumerate(loaded.names)}
    found: list[Mistake] = []
    for tool in loaded.tools:
        preview = tool.confirm.preview if tool.confirm else None
        if preview is None:
            continue
        mistakes = Mistakes(root=f"/tools/{places[tool.name]}", tool=tool.name)
        target = by_name.get(preview.tool)
        if target is None and preview.tool not in places and not fetched:
            mistakes.add(
                "bad-confirm",
                "/confirm/preview/tool",
                f'the app has no tool "{shown(preview.tool)}"',
                "name a tool of this catalog that reads",
            )
        elif target is not None and (target.category, target.danger_level) != (
            Category.READ,
            DangerLevel.SAFE,
        ):
            mistakes.add(
                "bad-confirm",
                "/confirm/preview/tool",
                f'"{preview.tool}" is {target.category.value} and {target.danger_level.value}',
                "a preview runs before anybody is asked: name a read, safe tool",
            )
        found += mistakes.found
    return found
