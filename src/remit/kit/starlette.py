"""Handlers of tools in Starlette and FastAPI."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from starlette.concurrency import run_in_threadpool

# FastAPI reads an endpoint's annotations at run time.
from starlette.requests import Request
from starlette.responses import Response

from remit.kit.answers import DomainError
from remit.kit.handling import Handling, Reply, named_after

if TYPE_CHECKING:
    from pydantic import BaseModel

    from remit.kit.answers import Answer
    from remit.kit.handling import Asynchronous, Call, InputT, Plain
    from remit.kit.settings import App
    from remit.kit.tools import Method

__all__ = ["Endpoint", "handler"]

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


@overload
def handler(function: Plain[InputT] | Asynchronous[InputT], /) -> Endpoint: ...


@overload
def handler(
    *, app: App | None = None, method: Method = "POST"
) -> Callable[[Plain[InputT] | Asynchronous[InputT]], Endpoint]: ...


def handler(
    function: Plain[InputT] | Asynchronous[InputT] | None = None,
    /,
    *,
    app: App | None = None,
    method: Method = "POST",
) -> Endpoint | Callable[[Plain[InputT] | Asynchronous[InputT]], Endpoint]:
    """Make an endpoint of a function ``(input: Model, call: Call)``, async or not.

    Route it under the target's path with ``methods=["POST", "OPTIONS"]``, as
    ``Route("/tools/save-bookmark", save_bookmark, methods=["POST", "OPTIONS"])``. A function
    that is not async runs in a thread.

    Args:
        function: gives a text, a ``Result``, a ``Card`` or a ``DomainError``.
        app: which tokens are believed; left out, read from the environment at the first call.
        method: the target's.

    Raises:
        TypeError: the first parameter is not annotated with a Pydantic model.
    """
    if function is None:
        return lambda decorated: _endpoint(decorated, app, method)
    return _endpoint(function, app, method)


def _endpoint(
    function: Plain[InputT] | Asynchronous[InputT], app: App | None, method: Method
) -> Endpoint:
    handling = Handling(function, app=app, method=method)
    called = cast("Callable[[BaseModel, Call], object]", function)
    is_async = inspect.iscoroutinefunction(function)

    async def endpoint(request: Request) -> Response:
        # In a thread, because keys may have to be fetched.
        call = await run_in_threadpool(
            handling.admit, request.method, request.headers, request=request
        )
        if isinstance(call, Reply):
            return _response(call)
        given = handling.read(await request.body(), request.url.query)
        if isinstance(given, Reply):
            return _response(given)
        try:
            if is_async:
                answer = await cast("Awaitable[Answer]", called(given, call))
            else:
                answer = await run_in_threadpool(called, given, call)
        except DomainError as error:
            answer = error
        return _response(handling.reply(answer, call))

    named_after(endpoint, function)
    return endpoint


def _response(reply: Reply) -> Response:
    headers = dict(reply.headers)
    if reply.content_type is not None:
        headers["Content-Type"] = reply.content_type
    return Response(reply.body, reply.status, headers)
