"""Handlers of tools in Flask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from flask import Response, current_app, request

from remit.kit.answers import DomainError
from remit.kit.handling import Handling, Reply, named_after

if TYPE_CHECKING:
    from pydantic import BaseModel

    from remit.kit.handling import Asynchronous, Call, InputT, Plain
    from remit.kit.settings import App
    from remit.kit.tools import Method

__all__ = ["View", "handler"]

View: TypeAlias = Callable[[], Response]


@overload
def handler(function: Plain[InputT] | Asynchronous[InputT], /) -> View: ...


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
) -> View | Callable[[Plain[InputT] | Asynchronous[InputT]], View]:
    """Make a view of a function ``(input: Model, call: Call)``.

    Write ``@app.post("/tools/save-bookmark")`` above it; OPTIONS is routed with it. An async
    function needs ``flask[async]``, as any async view does.

    Args:
        function: gives a text, a ``Result``, a ``Card`` or a ``DomainError``.
        app: which tokens are believed; left out, read from the environment at the first call.
        method: the target's.

    Raises:
        TypeError: the first parameter is not annotated with a Pydantic model.
    """
    if function is None:
        return lambda decorated: _view(decorated, app, method)
    return _view(function, app, method)


def _view(function: Plain[InputT] | Asynchronous[InputT], app: App | None, method: Method) -> View:
    handling = Handling(function, app=app, method=method)

    def view() -> Response:
        call = handling.admit(request.method, request.headers, request=request)
        if isinstance(call, Reply):
            return _response(call)
        given = handling.read(request.get_data(), request.query_string.decode("latin-1"))
        if isinstance(given, Reply):
            return _response(given)
        called = cast("Callable[[BaseModel, Call], object]", current_app.ensure_sync(function))
        try:
            answer = called(given, call)
        except DomainError as error:
            answer = error
        return _response(handling.reply(answer, call))

    named_after(view, function)
    # Flask looks for these on a view: its own methods, and that it answers OPTIONS itself.
    vars(view).update(
        methods=[method], required_methods={"OPTIONS"}, provide_automatic_options=False
    )
    return view


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.status, reply.headers, content_type=reply.content_type)
    if reply.content_type is None:
        del response.headers["Content-Type"]
    return response
