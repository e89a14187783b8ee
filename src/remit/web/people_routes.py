"""What users agreed to and connected, and what an app offers them (contract section 10)."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from remit.errors import AppSuspended, InvalidRequest, NotApproved, NotFound
from remit.gateway import connecting, consenting, reviewing, sessions
from remit.gateway.acting import checked_user, no_such
from remit.gateway.answering import connected
from remit.gateway.connecting import GivenCredential
from remit.gateway.node import NotStanding
from remit.offer.export import export
from remit.policy.decisions import asks_by_default
from remit.values.secrets import Secret
from remit.web import bodies, shapes
from remit.web.answers import Answer, listed, nothing, said
from remit.web.route import ALL, KEYS, OPERATOR, Request, Route

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.gateway.records import CatalogSource
    from remit.gateway.standing import InForce

_REFUSALS = {
    "unknown_app": NotFound,
    "not_approved": NotApproved,
    "app_suspended": AppSuspended,
}


async def read_tools(request: Request[None, bodies.ToolsQuery]) -> Answer:
    """The tools as a model, or an MCP client, sees them."""
    app = await _in_force(request)
    actor, definition = request.actor, app.definition
    tools = [tool for tool in app.catalog.tools if actor.reaches(app.id, tool.name)]
    found = await asyncio.to_thread(
        export, definition, tools, request.query.provider, tuple(actor.pins)
    )
    return said(found.value)


async def read_catalog(request: Request[None, bodies.NoQuery]) -> Answer:
    """The effective catalog, and what was left out of it."""
    app = await _in_force(request)
    reaches = request.actor.reaches
    catalog = app.catalog
    source, since = await _fetched(request, app.id)
    shape = shapes.CatalogAnswer(
        source=app.source,
        age_seconds=app.age_s,
        tools=[_tool(tool) for tool in catalog.tools if reaches(app.id, tool.name)],
        dropped=[
            {"name": one.name, "reason": one.reason}
            for one in catalog.dropped
            if reaches(app.id, one.name)
        ],
        digest=app.catalog_digest,
        fault=app.fault,
        snapshot=None if source is None else source.digest,
        accepted=None if source is None else source.accepted,
        since_review=since,
    )
    return said(shape)


async def accept_catalog(request: Request[bodies.AcceptBody, bodies.NoQuery]) -> Answer:
    """Let a fetched catalog in."""
    await reviewing.accept_catalog(
        request.services.books,
        request.actor,
        request.params["app"],
        request.body.snapshot,
    )
    return nothing()


async def put_env(request: Request[dict[str, str | None], bodies.NoQuery]) -> Answer:
    """Set environment values; they are never read out again."""
    values = {
        name: None if value is None else Secret(value) for name, value in request.body.items()
    }
    params = request.params
    await connecting.put_env(
        request.services.books,
        request.actor,
        params["app"],
        params["collection"],
        params["environment"],
        values,
    )
    return nothing()


async def give_grant(request: Request[bodies.GrantBody, bodies.NoQuery]) -> Answer:
    """Keep a user's consent."""
    body = request.body
    _reaches(request, body.app)
    grant = await consenting.grant(
        request.services.books, request.actor, body.app, body.user, body.version
    )
    return said(shapes.GrantAnswer.of(grant), 201)


async def list_grants(request: Request[None, bodies.GrantsQuery]) -> Answer:
    """The consents."""
    query = request.query
    page = await consenting.list_grants(
        request.services.books,
        request.actor,
        app=query.app,
        user=query.user,
        limit=query.limit,
        cursor=query.cursor,
    )
    reached = [grant for grant in page.items if request.actor.reaches(grant.app)]
    return listed([shapes.GrantAnswer.of(grant) for grant in reached], page.next)


async def revoke_grant(request: Request[None, bodies.NoQuery]) -> Answer:
    """Take a consent back."""
    await consenting.revoke(request.services.books, request.actor, request.params["grant"])
    return nothing()


async def put_connection(request: Request[bodies.ConnectionBody, bodies.NoQuery]) -> Answer:
    """Keep a user's credential; it is never read out again."""
    body, services = request.body, request.services
    given = GivenCredential(
        type=body.type,
        token=_secret(body.token),
        key=_secret(body.key),
        username=body.username,
        password=_secret(body.password),
        expires_at=bodies.at_ms(body.expires_at),
        account=body.account,
    )
    found = await connecting.connect(
        services.books,
        request.actor,
        request.params["app"],
        request.params["user"],
        given,
        brand=services.settings.brand,
    )
    # Calls that waited for it go on by themselves.
    closed = await connected(services.node, request.actor, found.app, found.user)
    await sessions.hear(services.talks, closed)
    return said(shapes.ConnectionAnswer.of(found))


async def delete_connection(request: Request[None, bodies.NoQuery]) -> Answer:
    """Forget a user's credential."""
    params = request.params
    _reaches(request, params["app"])
    await connecting.disconnect(
        request.services.books, request.actor, params["app"], params["user"]
    )
    return nothing()


async def list_connections(request: Request[None, bodies.ConnectionsQuery]) -> Answer:
    """The connections, without their credentials."""
    query = request.query
    if query.user is not None:
        checked_user(query.user)
    page = await connecting.list_connections(
        request.services.books,
        request.actor,
        user=query.user,
        limit=query.limit,
        cursor=query.cursor,
    )
    reached = [one for one in page.items if request.actor.reaches(one.app)]
    return listed([shapes.ConnectionAnswer.of(one) for one in reached], page.next)


async def _in_force(request: Request[Any, Any]) -> InForce:
    app = request.params["app"]
    _reaches(request, app)
    found = await request.services.standing.app(request.workspace, app)
    if isinstance(found, NotStanding):
        raise _REFUSALS[found.code](found.reason)
    return found


async def _fetched(
    request: Request[Any, Any], app: str
) -> tuple[CatalogSource | None, list[dict[str, Any]] | None]:
    """What is known of the fetched catalog; a token is not told."""
    catalogs, workspace = request.services.books.catalogs, request.workspace
    if request.actor.is_token:
        return None, None
    source = await catalogs.source(workspace, app)
    found = None if source is None else await catalogs.snapshot(workspace, app, source.digest)
    return source, None if found is None else json.loads(found.diff_json)


def _reaches(request: Request[Any, Any], app: str) -> None:
    """A token does not see the apps that it may not reach: they are as good as not there."""
    if not request.actor.reaches(app):
        raise no_such("app", app)


def _secret(text: str | None) -> Secret | None:
    if text is None:
        return None
    if not text:
        raise InvalidRequest("A credential is empty. Send it whole, or delete the connection.")
    return Secret(text)


def _tool(tool: Tool) -> dict[str, Any]:
    """A tool as its author wrote it, with the judgement in force; ``asks``: before each call."""
    return {
        **tool.record,
        "category": tool.category.value,
        "dangerLevel": tool.danger_level.value,
        "requiresApproval": tool.requires_approval,
        "asks": asks_by_default(tool),
    }


_CONNECTION = "/v1/connections/{app}/{user}"
ROUTES = (
    Route(
        name="readTools",
        method="GET",
        path="/v1/apps/{app}/tools",
        summary="Read the tools as a model, or an MCP client, sees them",
        handler=read_tools,
        roles=ALL,
        query=bodies.ToolsQuery,
        answer=Any,
    ),
    Route(
        name="readCatalog",
        method="GET",
        path="/v1/apps/{app}/catalog",
        summary="Read the effective catalog, and what was left out of it",
        handler=read_catalog,
        roles=ALL,
        answer=shapes.CatalogAnswer,
    ),
    Route(
        name="acceptCatalog",
        method="POST",
        path="/v1/apps/{app}/catalog/accept",
        summary="Let a fetched catalog in, where the policy says review or frozen",
        handler=accept_catalog,
        roles=OPERATOR,
        body=bodies.AcceptBody,
        status=204,
    ),
    Route(
        name="putEnv",
        method="PUT",
        path="/v1/apps/{app}/env/{collection}/{environment}",
        summary="Set environment values; null removes one, the others stay",
        handler=put_env,
        roles=OPERATOR,
        body=dict[str, str | None],
        status=204,
    ),
    Route(
        name="giveGrant",
        method="POST",
        path="/v1/grants",
        summary="Keep a user's consent to a version",
        handler=give_grant,
        roles=ALL,
        body=bodies.GrantBody,
        answer=shapes.GrantAnswer,
        status=201,
    ),
    Route(
        name="listGrants",
        method="GET",
        path="/v1/grants",
        summary="List consents; a token sees its own user's",
        handler=list_grants,
        roles=ALL,
        query=bodies.GrantsQuery,
        answer=shapes.GrantAnswer,
        lists=True,
    ),
    Route(
        name="revokeGrant",
        method="DELETE",
        path="/v1/grants/{grant}",
        summary="Take a consent back",
        handler=revoke_grant,
        roles=KEYS,
        status=204,
    ),
    Route(
        name="putConnection",
        method="PUT",
        path=_CONNECTION,
        summary="Keep a user's credential in the place of the one before",
        handler=put_connection,
        roles=KEYS,
        body=bodies.ConnectionBody,
        answer=shapes.ConnectionAnswer,
    ),
    Route(
        name="deleteConnection",
        method="DELETE",
        path=_CONNECTION,
        summary="Forget a user's credential",
        handler=delete_connection,
        roles=ALL,
        status=204,
    ),
    Route(
        name="listConnections",
        method="GET",
        path="/v1/connections",
        summary="List connections, without their credentials; a token sees its own user's",
        handler=list_connections,
        roles=ALL,
        query=bodies.ConnectionsQuery,
        answer=shapes.ConnectionAnswer,
        lists=True,
    ),
)
