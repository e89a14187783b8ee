"""One app in every framework: the handlers of two tools, and what there is to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import django
import flask
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.urls import clear_url_caches, path
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Route

import remit.kit.django
import remit.kit.flask
import remit.kit.starlette
from remit.kit import App, Button, Call, Card, DomainError, Result
from tests.kit import serving
from tests.kit.bookmark_tools import TARGET, SaveBookmark, Search

CONNECT = Card("Connect Mail", "It is asked once.", [Button("go", "Connect", "primary")])
NO = DomainError("connect_required", "Connect Mail first.", 412)
OWN_NO = Card("Connect", buttons=[Button("go", "Go")], otherwise=NO)
WHERE = Card("Which folder?", buttons=[Button("a", "A", input={"in": 1}, target=TARGET)])


def _answer(title: str, call: Call) -> str | Result | Card | DomainError:
    if title == "raised":
        raise NO
    answers: dict[str, str | Result | Card | DomainError] = {
        "text": f"Gespeichert für {call.user} ☕",
        "returned": NO,
        "card": CONNECT,
        "own no": OWN_NO,
        "channels": Result("Saved.", "**Saved**", "https://acme.example/b/1"),
    }
    return answers.get(title, Result(f"Saved for {call.user} in {call.context.thread_id}"))


def save(input: SaveBookmark, call: Call) -> str | Result | Card | DomainError:  # noqa: A002
    """Answers by the title; a fault of the handler's own where the title says so."""
    if call.request is None:
        raise AssertionError("the framework's request is not there")
    return None if input.title == "nothing" else _answer(input.title, call)  # type: ignore[return-value]


async def save_async(
    input: SaveBookmark,  # noqa: A002
    call: Call,
) -> str | Result | Card | DomainError:
    """The same, for an event loop."""
    return save(input, call)


def search(input: Search, call: Call) -> str:  # noqa: A002
    """Says what it was asked."""
    return f"{input.words} {input.limit} {input.exact} for {call.user}"


def starlette(app: App, function: Callable[..., Any]) -> AbstractContextManager[str]:
    """Under uvicorn."""
    handler = remit.kit.starlette.handler
    return serving.asgi(
        Starlette(
            routes=[
                Route("/tools/save", handler(app=app)(function), methods=["POST", "OPTIONS"]),
                Route("/tools/search", handler(app=app, method="GET")(search)),
            ]
        )
    )


def fastapi(app: App, function: Callable[..., Any]) -> AbstractContextManager[str]:
    """As decorators, under uvicorn."""
    handler = remit.kit.starlette.handler
    made = FastAPI()
    made.api_route("/tools/save", methods=["POST", "OPTIONS"])(handler(app=app)(function))
    made.get("/tools/search")(handler(app=app, method="GET")(search))
    return serving.asgi(made)


def flask_app(app: App, function: Callable[..., Any]) -> AbstractContextManager[str]:
    """As decorators, under a WSGI server."""
    handler = remit.kit.flask.handler
    made = flask.Flask("bookmarks")
    made.post("/tools/save")(handler(app=app)(function))
    made.route("/tools/search")(handler(app=app, method="GET")(search))
    return serving.wsgi(made)


def _django(app: App, function: Callable[..., Any]) -> None:
    handler = remit.kit.django.handler
    urls = sys.modules.setdefault("bookmarks_urls", ModuleType("bookmarks_urls"))
    urls.urlpatterns = [  # type: ignore[attr-defined]
        path("tools/save", handler(app=app)(function)),
        path("tools/search", handler(app=app, method="GET")(search)),
    ]
    if not settings.configured:
        settings.configure(
            ROOT_URLCONF=urls.__name__,
            ALLOWED_HOSTS=["127.0.0.1"],
            SECRET_KEY="not one",
            MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
            LOGGING_CONFIG=None,
        )
        django.setup()
    clear_url_caches()


def django_wsgi(app: App, function: Callable[..., Any]) -> AbstractContextManager[str]:
    """Under a WSGI server."""
    _django(app, function)
    return serving.wsgi(get_wsgi_application())


def django_asgi(app: App, function: Callable[..., Any]) -> AbstractContextManager[str]:
    """Under uvicorn."""
    _django(app, function)
    return serving.asgi(get_asgi_application())
