"""Keys, tokens, the policy, and who did what (contract section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.documents.canonical import compact_json
from remit.gateway import admitting, ruling
from remit.gateway.preconditions import etag_of
from remit.web import bodies, shapes
from remit.web.answers import Answer, listed, nothing, plain, said
from remit.web.route import KEYS, OPERATOR, Request, Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from remit.gateway.records import AuditEntry, Page

NDJSON = "application/x-ndjson"
_PAGE = 500


async def create_token(request: Request[bodies.TokenBody, bodies.NoQuery]) -> Answer:
    """Make a token of one user."""
    body = request.body
    created = await admitting.create_token(
        request.services.books,
        request.actor,
        user=body.user,
        apps=body.apps,
        ttl_s=body.ttl_s,
        tools=body.tools,
        pins=body.pins,
    )
    return said(shapes.NewToken.of(created.key, token=created.secret.reveal()), 201)


async def read_token(request: Request[None, bodies.NoQuery]) -> Answer:
    """A token, without its secret."""
    token = await admitting.read_token(
        request.services.books, request.actor, request.params["token"]
    )
    return said(shapes.KeyAnswer.of(token))


async def revoke_token(request: Request[None, bodies.NoQuery]) -> Answer:
    """Revoke a token."""
    books, token = request.services.books, request.params["token"]
    await admitting.read_token(books, request.actor, token)
    await admitting.revoke_key(books, request.actor, token)
    return nothing()


async def create_key(request: Request[bodies.KeyBody, bodies.NoQuery]) -> Answer:
    """Make a key."""
    created = await admitting.create_key(
        request.services.books, request.actor, request.body.role, name=request.body.name
    )
    return said(shapes.NewKey.of(created.key, key=created.secret.reveal()), 201)


async def list_keys(request: Request[None, bodies.KeysQuery]) -> Answer:
    """Keys and tokens, without their secrets."""
    query = request.query
    page = await admitting.list_keys(
        request.services.books,
        request.actor,
        role=query.role,
        limit=query.limit,
        cursor=query.cursor,
    )
    return listed([shapes.KeyAnswer.of(key) for key in page.items], page.next)


async def revoke_key(request: Request[None, bodies.NoQuery]) -> Answer:
    """Revoke a key."""
    await admitting.revoke_key(request.services.books, request.actor, request.params["key"])
    return nothing()


async def read_policy(request: Request[None, bodies.NoQuery]) -> Answer:
    """The policy in force."""
    found = await ruling.read_policy(request.services.books, request.actor)
    return said(shapes.PolicyAnswer.of(found), headers={"etag": etag_of(found.number)})


async def put_policy(request: Request[Any, bodies.NoQuery]) -> Answer:
    """Put a policy in force."""
    services = request.services
    found = await ruling.put_policy(
        services.books,
        request.actor,
        request.body,
        if_match=request.headers.get("if-match"),
    )
    return said(shapes.PolicyAnswer.of(found), headers={"etag": etag_of(found.number)})


async def read_audit(request: Request[None, bodies.AuditQuery]) -> Answer:
    """Who did what, the newest first; as NDJSON all of it."""
    accepted = request.headers.get("accept", "")
    if NDJSON in accepted.lower():
        return Answer(media=NDJSON, stream=_exported(request))
    page = await _page(request, request.query.limit, request.query.cursor)
    return listed([shapes.AuditAnswer.of(entry) for entry in page.items], page.next)


async def _exported(request: Request[None, bodies.AuditQuery]) -> AsyncIterator[bytes]:
    """Every entry from the cursor on, one on a line."""
    cursor = request.query.cursor
    while True:
        page = await _page(request, _PAGE, cursor)
        lines = [compact_json(plain(shapes.AuditAnswer.of(entry))) for entry in page.items]
        if lines:
            yield ("\n".join(lines) + "\n").encode()
        cursor = page.next
        if cursor is None:
            return


async def _page(
    request: Request[None, bodies.AuditQuery], limit: int, cursor: str | None
) -> Page[AuditEntry]:
    query = request.query
    return await request.services.audit.list(
        request.workspace,
        kind=query.kind,
        since=bodies.at_ms(query.since),
        until=bodies.at_ms(query.until),
        limit=limit,
        cursor=cursor,
    )


ROUTES = (
    Route(
        name="createToken",
        method="POST",
        path="/v1/tokens",
        summary="Make a token of one user, for MCP and the Tools API; it is shown once",
        handler=create_token,
        roles=KEYS,
        body=bodies.TokenBody,
        answer=shapes.NewToken,
        status=201,
        seals=True,
    ),
    Route(
        name="readToken",
        method="GET",
        path="/v1/tokens/{token}",
        summary="Read a token, without its secret",
        handler=read_token,
        roles=KEYS,
        answer=shapes.KeyAnswer,
    ),
    Route(
        name="revokeToken",
        method="DELETE",
        path="/v1/tokens/{token}",
        summary="Revoke a token",
        handler=revoke_token,
        roles=KEYS,
        status=204,
    ),
    Route(
        name="readPolicy",
        method="GET",
        path="/v1/policy",
        summary="Read the policy in force; its ETag is what a change is made from",
        handler=read_policy,
        roles=KEYS,
        answer=shapes.PolicyAnswer,
    ),
    Route(
        name="putPolicy",
        method="PUT",
        path="/v1/policy",
        summary="Put a policy in force",
        handler=put_policy,
        roles=OPERATOR,
        document="policy",
        answer=shapes.PolicyAnswer,
        conditional=True,
    ),
    Route(
        name="createKey",
        method="POST",
        path="/v1/keys",
        summary="Make a key of a back end or an operator; it is shown once",
        handler=create_key,
        roles=OPERATOR,
        body=bodies.KeyBody,
        answer=shapes.NewKey,
        status=201,
        seals=True,
    ),
    Route(
        name="listKeys",
        method="GET",
        path="/v1/keys",
        summary="List keys and tokens, without their secrets",
        handler=list_keys,
        roles=OPERATOR,
        query=bodies.KeysQuery,
        answer=shapes.KeyAnswer,
        lists=True,
    ),
    Route(
        name="revokeKey",
        method="DELETE",
        path="/v1/keys/{key}",
        summary="Revoke a key",
        handler=revoke_key,
        roles=OPERATOR,
        status=204,
    ),
    Route(
        name="readAudit",
        method="GET",
        path="/v1/audit",
        summary="List who did what, the newest first; application/x-ndjson is all of it",
        handler=read_audit,
        roles=OPERATOR,
        query=bodies.AuditQuery,
        answer=shapes.AuditAnswer,
        lists=True,
        media=("application/json", NDJSON),
    ),
)
