"""Rules on the app itself: addresses, ceiling, components, env, and the catalog as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.definitions import highest
from remit.catalog.model import AppTarget, Endpoint, UrlTarget
from remit.catalog.tools import LoadedTools
from remit.documents.problems import escaped
from remit.lint.subject import Finding
from remit.policy.catalogs import effective_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.catalog.model import Tool
    from remit.lint.subject import AppView, ToolView
    from remit.values.urls import Origin

SEARCH_FROM = 40
OPENAI_TOOLS = 128


def http_base_url(app: AppView) -> Iterator[Finding]:
    """A base address without transport security (contract section 7)."""
    url = app.definition.base_url if app.definition else None
    if url is not None and not app.fetched and url.origin.scheme == "http":
        yield _plain("/baseUrl", url.origin, "each user's credential and data")


def tools_url_http(app: AppView) -> Iterator[Finding]:
    """A catalog that anybody between the two could change."""
    url = app.definition.tools_url if app.definition else None
    if url is not None and not app.fetched and url.origin.scheme == "http":
        yield _plain("/toolsUrl", url.origin, "the catalog, which says what an agent may do,")


def http_target(app: AppView) -> Iterator[Finding]:
    """A component, a url target or an OAuth address without transport security."""
    definition = app.definition
    if definition is not None and not app.fetched:
        for name, component in definition.components.items():
            if component.url.origin.scheme == "http":
                yield _plain(
                    f"/components/{escaped(name)}/url", component.url.origin, "the identity token"
                )
        for key, url in (
            ("authorizationUrl", definition.auth.authorization_url),
            ("tokenUrl", definition.auth.token_url),
        ):
            if url is not None and url.origin.scheme == "http":
                yield _plain(f"/auth/{key}", url.origin, "the sign-in of each user")
    for view in app.tools:
        destination = view.tool.destination if view.tool else None
        if isinstance(destination, UrlTarget) and destination.origin.scheme == "http":
            yield _plain("/target/url", destination.origin, "the arguments", view.index)


def _plain(at: str, origin: Origin, what: str, index: int | None = None) -> Finding:
    if origin.is_loopback:
        return Finding(
            at,
            f"{origin} is http; it is this machine, so nothing leaves it",
            "nothing to do on this machine; elsewhere use https",
            level="note",
            tool_index=index,
        )
    return Finding(
        at,
        f"{origin} is http: {what} can be read and changed on the way",
        "use https; an operator has to allow each http address by name",
        tool_index=index,
    )


def over_ceiling(app: AppView) -> Iterator[Finding]:
    """A tool above the ceiling asked for: it is never offered (contract section 7)."""
    definition = app.definition
    if definition is None or not (definition.ceiling_declared or app.fetched):
        return
    ceiling = definition.ceiling
    for view in app.tools:
        tool = view.tool
        if tool is None or ceiling.admits(tool.category, tool.danger_level):
            continue
        key, value, limit = (
            ("category", tool.category.value, ceiling.category.value)
            if tool.category > ceiling.category
            else ("dangerLevel", tool.danger_level.value, ceiling.danger_level.value)
        )
        yield Finding(
            view.place(key),
            f"{key} {value} is over the ceiling, which stops at {limit}: the tool is dropped",
            f"raise ceiling.{key} to {value} (users then consent again), or make the tool milder",
            tool_index=view.index,
        )


def would_be_dropped(app: AppView) -> Iterator[Finding]:
    """A fetched tool that reaches beyond what was reviewed (contract section 7, "Refresh").

    One that cannot load, or is itself over the ceiling, has a finding of its own.
    """
    definition = app.definition
    if definition is None or not app.fetched:
        return
    views = {view.tool.name: view for view in app.tools if view.tool}
    tools = tuple(view.tool for view in views.values() if view.tool)
    fetched = LoadedTools(tools=tools, mistakes=(), names=tuple(views))
    known = {dropped.name for dropped in effective_catalog(definition, None).dropped}
    for dropped in effective_catalog(definition, fetched).dropped:
        view = views.get(dropped.name)
        if view is None and dropped.name in known:
            continue
        tool = view.tool if view else None
        ceiling = definition.ceiling
        if tool is not None and not ceiling.admits(tool.category, tool.danger_level):
            continue
        called = "" if view else f"{dropped.name} of the definition: "
        yield Finding(
            "" if view else app.tools_root,
            f"{called}no agent gets this tool as it is served: {dropped.reason}",
            "serve it within what was reviewed, or change the definition and have it reviewed",
            tool_index=view.index if view else None,
        )


def ceiling_higher_than_tools(app: AppView) -> Iterator[Finding]:
    """A ceiling that asks for more than any tool uses."""
    definition = app.definition
    if definition is None or not definition.ceiling_declared or definition.tools_url is not None:
        return
    needed = highest([view.tool for view in app.tools if view.tool])
    asked = definition.ceiling
    if asked.category > needed.category or asked.danger_level > needed.danger_level:
        yield Finding(
            "/ceiling",
            f"the ceiling asks for {asked}; the tools need {needed}",
            f"ask for {needed} until a tool needs more, or leave ceiling out",
        )


def env_without_source(app: AppView) -> Iterator[Finding]:
    """An env reference with no collection to read it from (contract section 4)."""
    definition = app.definition
    if definition is None:
        return
    for view in app.tools:
        # Only a target can refer to env values.
        if view.tool is None or view.form != "target" or _env_source(view.tool, app) is not None:
            continue
        for use in view.uses:
            if use.reference.root == "env":
                yield Finding(
                    use.at,
                    f'"{use.reference.written}" has no value: neither the component nor the app '
                    f"declares env",
                    "declare env: {collection: …, environment: …}",
                    tool_index=view.index,
                )


def _env_source(tool: Tool, app: AppView) -> object:
    """The env source that a tool's references read, as the contract ranks them."""
    definition = app.definition
    if definition is None:
        return None
    if isinstance(tool.destination, AppTarget):
        component = definition.components.get(tool.destination.component)
        if component is not None and component.env is not None:
            return component.env
    return definition.env


def unused_component(app: AppView) -> Iterator[Finding]:
    """A component that no tool calls."""
    definition = app.definition
    if definition is None or definition.tools_url is not None:
        return
    used = {
        view.tool.destination.component
        for view in app.tools
        if view.tool and isinstance(view.tool.destination, AppTarget)
    }
    # A tool that did not load may be the one that calls it.
    if any(view.tool is None for view in app.tools):
        return
    for name in definition.components:
        if name not in used:
            yield Finding(
                f"/components/{escaped(name)}",
                f'no tool calls the component "{name}"',
                "take it out: every address is part of what a reviewer approves",
            )


def unused_env(app: AppView) -> Iterator[Finding]:
    """An env source that no reference reads."""
    definition = app.definition
    if (
        definition is None
        or definition.tools_url is not None
        or any(v.tool is None for v in app.tools)
    ):
        return
    used = {
        _env_source(view.tool, app)
        for view in app.tools
        if view.tool
        and view.form == "target"
        and any(use.reference.root == "env" for use in view.uses)
    }
    # OAuth's client secret is read from the app's own env.
    if definition.auth.client_secret_env is not None:
        used.add(definition.env)
    sources = [("/env", definition.env)]
    sources += [(f"/components/{escaped(n)}/env", c.env) for n, c in definition.components.items()]
    for at, source in sources:
        if source is not None and source not in used:
            yield Finding(at, "no reference reads this env", "take it out until one does")


def too_many_tools(app: AppView) -> Iterator[Finding]:
    """More tools than a model is given at once (contract section 15)."""
    count = len(app.tools)
    if count <= SEARCH_FROM:
        return
    refused = (
        f"; OpenAI refuses more than {OPENAI_TOOLS} in one request" if count > OPENAI_TOOLS else ""
    )
    yield Finding(
        app.tools_root,
        f"there are {count:,} tools: above {SEARCH_FROM} the agent gets search_tools and has to "
        f"find them{refused}",
        "offer fewer, broader tools, or make titles and descriptions easy to find",
    )


def no_tools(app: AppView) -> Iterator[Finding]:
    """A definition with nothing to offer."""
    definition = app.definition
    if definition is not None and not app.tools and definition.tools_url is None:
        yield Finding(
            app.tools_root if "tools" in app.record else "",
            "the app offers no tool",
            "write tools, or a toolsUrl to fetch them from",
        )


def unused_base_url(app: AppView) -> Iterator[Finding]:
    """A base address that nothing is sent to."""
    definition = app.definition
    if definition is None or definition.base_url is None or definition.tools_url is not None:
        return
    if app.tools and all(_elsewhere(view) for view in app.tools):
        yield Finding(
            "/baseUrl",
            "no tool calls baseUrl: none has an endpoint",
            "take it out: every address is part of what a reviewer approves",
        )


def _elsewhere(view: ToolView) -> bool:
    return view.tool is not None and not isinstance(view.tool.destination, Endpoint)
