"""Handlers of tools in Django."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from remit.kit.answers import DomainError
from remit.kit.handling import Handling, Reply, named_after

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pydantic import BaseModel

    from remit.kit.handling import Asynchronous, Call, InputT, Plain
    from remit.kit.settings import App
    from remit.kit.tools import Method

__all__ = ["AsyncView", "View", "handler"]

View: TypeAlias = Callable[[HttpRequest], HttpResponse]
AsyncView: TypeAlias = Callable[[HttpRequest], Coroutine[None, None, HttpResponse]]


@overload
def handler(function: Asynchronous[InputT], /) -> AsyncView: ...


@overload
def handler(function: Plain[InputT], /) -> View: ...


@overload
def handler(
    *, app: App | None = None, method: Method = "POST"
) -> Callable[[Plain[InputT] | Asynchronous[InputT]], View]: ...


def handler(
    function: Plain[InputT] | Asynchronous[InputT] | None = None,
    /,
    *,
    app: App | None = None,
    method: Method = "POST",
) -> View | AsyncView | Callable[[Plain[InputT] | Asynchronous[InputT]], View]:
    """Make a view of a function ``(input: Model, call: Call)``, async or not.

    Put it into ``urlpatterns``, as ``path("tools/save-bookmark", save_bookmark)``. No cookie
    speaks for the caller, so that the view is exempt from CSRF checks.

    Args:
        function: gives a text, a ``Result``, a ``Card`` or a ``DomainError``.
        app: which tokens are believed; left out, read from the environment at the first call.
        method: the target's.

    Raises:
        TypeError: the first parameter is not annotated with a Pydantic model.
    """
    if function is None:
        return lambda decorated: cast("View", _view(decorated, app, method))
    return _view(function, app, method)


def _view(
    function: Plain[InputT] | Asynchronous[InputT], app: App | None, method: Method
) -> View | AsyncView:
    handling = Handling(function, app=app, method=method)
    called = cast("Callable[[BaseModel, Call], object]", function)

    def admitted(request: HttpRequest) -> tuple[BaseModel, Call] | Reply:
        call = handling.admit(request.method or "", request.headers, request=request)
        if isinstance(call, Reply):
            return call
        given = handling.read(request.body, str(request.META.get("QUERY_STRING", "")))
        return given if isinstance(given, Reply) else (given, call)

    def view(request: HttpRequest) -> HttpResponse:
        found = admitted(request)
        if isinstance(found, Reply):
            return _response(found)
        try:
            answer = called(*found)
        except DomainError as error:
            answer = error
        return _response(handling.reply(answer, found[1]))

    async def async_view(request: HttpRequest) -> HttpResponse:
        # In a thread, because keys may have to be fetched.
        found = await asyncio.to_thread(admitted, request)
        if isinstance(found, Reply):
            return _response(found)
        try:
            answer = await cast("Awaitable[object]", called(*found))
        except DomainError as error:
            answer = error
        return _response(handling.reply(answer, found[1]))

    if inspect.iscoroutinefunction(function):
        named_after(async_view, function)
        return csrf_exempt(async_view)
    named_after(view, function)
    return csrf_exempt(view)


def _response(reply: Reply) -> HttpResponse:
    response = HttpResponse(
        reply.body, status=reply.status, headers=reply.headers, content_type=reply.content_type
    )
    if reply.content_type is None:
        del response["Content-Type"]
    return response
