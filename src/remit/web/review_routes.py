"""Apps and their versions: submitted, changed, reviewed (contract sections 7 and 10)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.errors import NotFound
from remit.gateway import reviewing, submitting
from remit.gateway.acting import no_such
from remit.gateway.preconditions import etag_of
from remit.statement import rendering
from remit.values.urls import parse_url
from remit.web import bodies, shapes
from remit.web.answers import Answer, listed, said
from remit.web.problems import finding
from remit.web.route import OPERATOR, Request, Route

if TYPE_CHECKING:
    from remit.gateway.records import App, Version

_MAX_DIGITS = 9


async def submit(request: Request[Any, bodies.NoQuery]) -> Answer:
    """Submit a definition."""
    services = request.services
    found = await submitting.submit(services.books, request.actor, request.body, _house(request))
    version = found.version
    shape = shapes.Submitted(
        app=version.app,
        version=version.number,
        status=version.status,
        remit_digest=version.remit_digest,
        findings=[finding(one) for one in found.findings],
    )
    return said(shape, 201, {"location": f"/v1/apps/{version.app}"})


async def list_apps(request: Request[None, bodies.PageQuery]) -> Answer:
    """The apps."""
    page = await reviewing.list_apps(
        request.services.books,
        request.actor,
        limit=request.query.limit,
        cursor=request.query.cursor,
    )
    return listed([shapes.AppRow.of(app) for app in page.items], page.next)


async def read_app(request: Request[None, bodies.NoQuery]) -> Answer:
    """One app, with the ``ETag`` that a change needs."""
    app, version = await reviewing.read_app(
        request.services.books, request.actor, request.params["app"]
    )
    return said(_app_answer(app, version), headers={"etag": etag_of(app.revision)})


async def change_app(request: Request[Any, bodies.DryRunQuery]) -> Answer:
    """Change the definition: none, edit or version."""
    found = await submitting.change(
        request.services.books,
        request.actor,
        request.params["app"],
        request.body,
        _house(request),
        if_match=request.headers.get("if-match"),
        dry_run=request.query.dry_run,
    )
    return said(found.as_json(), headers={"etag": etag_of(found.revision)})


async def list_versions(request: Request[None, bodies.PageQuery]) -> Answer:
    """The versions of an app."""
    page = await reviewing.list_versions(
        request.services.books,
        request.actor,
        request.params["app"],
        limit=request.query.limit,
        cursor=request.query.cursor,
    )
    return listed([shapes.VersionRow.of(version) for version in page.items], page.next)


async def read_version(request: Request[None, bodies.NoQuery]) -> Answer:
    """One version with its definition."""
    version = await reviewing.read_version(
        request.services.books, request.actor, request.params["app"], _number(request)
    )
    definition = json.loads(version.definition_json)
    return said(shapes.VersionAnswer.of(version, definition=definition))


async def read_remit(request: Request[None, bodies.RemitQuery]) -> Answer:
    """What a reviewer reads, and approves by its digest."""
    remit = await reviewing.remit_of(
        request.services.books,
        request.actor,
        request.params["app"],
        _number(request),
        brand=request.services.settings.brand,
    )
    if request.query.format == "text":
        return _text(rendering.as_text(remit), "text/plain")
    if request.query.format == "md":
        return _text(rendering.as_markdown(remit), "text/markdown")
    return said(rendering.as_json(remit))


async def read_diff(request: Request[None, bodies.AgainstQuery]) -> Answer:
    """What a version changes of another one."""
    number = _number(request)
    against = request.query.against
    if against is None and number == 1:
        raise NotFound("Version 1 is the first: there is none before it. Say which with against=.")
    found = await reviewing.difference(
        request.services.books,
        request.actor,
        request.params["app"],
        number,
        against=against or number - 1,
        brand=request.services.settings.brand,
    )
    return said(found.as_json())


async def approve(request: Request[bodies.ApproveBody, bodies.NoQuery]) -> Answer:
    """Put a version in force."""
    body = request.body
    ceiling = None
    if body.ceiling is not None:
        ceiling = Ceiling(
            category=Category(body.ceiling.category),
            danger_level=DangerLevel(body.ceiling.danger_level),
        )
    version = await reviewing.approve(
        request.services.books,
        request.actor,
        request.params["app"],
        _number(request),
        ceiling=ceiling,
        consent=body.consent,
        digest=body.digest,
        brand=request.services.settings.brand,
    )
    return said(shapes.VersionRow.of(version))


async def reject(request: Request[bodies.ReasonBody, bodies.NoQuery]) -> Answer:
    """Refuse a version."""
    version = await reviewing.reject(
        request.services.books,
        request.actor,
        request.params["app"],
        _number(request),
        reason=request.body.reason,
    )
    return said(shapes.VersionRow.of(version))


async def suspend(request: Request[bodies.ReasonBody, bodies.NoQuery]) -> Answer:
    """Stop an app: nothing of it starts, what waited is ended."""
    services = request.services
    found = await reviewing.suspend(
        services.books,
        request.actor,
        request.params["app"],
        reason=request.body.reason,
        node=services.node.id,
    )
    services.worker.stopped(found)
    return said(shapes.AppRow.of(found.app))


async def resume(request: Request[bodies.NoBody, bodies.NoQuery]) -> Answer:
    """Take a suspension back."""
    app = await reviewing.resume(request.services.books, request.actor, request.params["app"])
    return said(shapes.AppRow.of(app))


def _app_answer(app: App, version: Version) -> shapes.AppAnswer:
    return shapes.AppAnswer(
        id=app.id,
        installation=app.installation,
        created_at=shapes.when(app.created_at) or "",
        in_force=app.in_force,
        suspended=shapes.suspension(app),
        version=version.number,
        status=version.status,
        remit_digest=version.remit_digest,
        definition=json.loads(version.definition_json),
    )


def _house(request: Request[Any, Any]) -> submitting.House:
    settings = request.services.settings
    return submitting.House(brand=settings.brand, own=parse_url(settings.public_url).origin)


def _number(request: Request[Any, Any]) -> int:
    """The version of the path; what is no number is no version."""
    text = request.params["version"]
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise no_such("version", f"{request.params['app']}/{text}")
    return int(text)


def _text(text: str, media: str) -> Answer:
    return Answer(body=text.encode(), media=f"{media}; charset=utf-8")


_APP = "/v1/apps/{app}"
_VERSION = f"{_APP}/versions/{{version}}"
ROUTES = (
    Route(
        name="submitApp",
        method="POST",
        path="/v1/apps",
        summary="Submit a definition: a new app, or the next version of a known one",
        handler=submit,
        roles=OPERATOR,
        document="definition",
        answer=shapes.Submitted,
        status=201,
    ),
    Route(
        name="listApps",
        method="GET",
        path="/v1/apps",
        summary="List the apps",
        handler=list_apps,
        query=bodies.PageQuery,
        answer=shapes.AppRow,
        lists=True,
    ),
    Route(
        name="readApp",
        method="GET",
        path=_APP,
        summary="Read an app; its ETag is what a change is made from",
        handler=read_app,
        answer=shapes.AppAnswer,
    ),
    Route(
        name="changeApp",
        method="PUT",
        path=_APP,
        summary="Change the definition of an app: an edit, or a new version",
        handler=change_app,
        roles=OPERATOR,
        document="definition",
        query=bodies.DryRunQuery,
        answer=shapes.ChangeAnswer,
        conditional=True,
    ),
    Route(
        name="listVersions",
        method="GET",
        path=f"{_APP}/versions",
        summary="List the versions of an app, the newest first",
        handler=list_versions,
        query=bodies.PageQuery,
        answer=shapes.VersionRow,
        lists=True,
    ),
    Route(
        name="readVersion",
        method="GET",
        path=_VERSION,
        summary="Read a version with its definition",
        handler=read_version,
        answer=shapes.VersionAnswer,
    ),
    Route(
        name="readRemit",
        method="GET",
        path=f"{_VERSION}/remit",
        summary="Read the remit of a version: all that it may do, in plain words",
        handler=read_remit,
        query=bodies.RemitQuery,
        answer=shapes.RemitAnswer,
        media=("application/json", "text/plain", "text/markdown"),
    ),
    Route(
        name="readDiff",
        method="GET",
        path=f"{_VERSION}/diff",
        summary="Read what a version changes of another one",
        handler=read_diff,
        query=bodies.AgainstQuery,
        answer=shapes.DiffAnswer,
    ),
    Route(
        name="approveVersion",
        method="POST",
        path=f"{_VERSION}/approve",
        summary="Put a version in force, at or under the ceiling that it asks for",
        handler=approve,
        roles=OPERATOR,
        body=bodies.ApproveBody,
        answer=shapes.VersionRow,
    ),
    Route(
        name="rejectVersion",
        method="POST",
        path=f"{_VERSION}/reject",
        summary="Refuse a version",
        handler=reject,
        roles=OPERATOR,
        body=bodies.ReasonBody,
        answer=shapes.VersionRow,
    ),
    Route(
        name="suspendApp",
        method="POST",
        path=f"{_APP}/suspend",
        summary="Suspend an app: no call starts, and what waits is ended",
        handler=suspend,
        roles=OPERATOR,
        body=bodies.ReasonBody,
        answer=shapes.AppRow,
    ),
    Route(
        name="resumeApp",
        method="POST",
        path=f"{_APP}/resume",
        summary="Take a suspension back",
        handler=resume,
        roles=OPERATOR,
        body=bodies.NoBody,
        answer=shapes.AppRow,
    ),
)
