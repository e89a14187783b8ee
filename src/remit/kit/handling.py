"""One request to a handler, without a framework: admit it, read its input, write its answer.

The steps are apart because frameworks read bodies in their own ways, and none is read before the
identity is known to be good.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast, get_type_hints
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError

from remit.kit.answers import Answer, AnswerError, Card, DomainError, Result
from remit.kit.headers import ToolContextError, is_thread, tool_context
from remit.kit.identity import Refusal
from remit.kit.keys import KeysUnavailable
from remit.kit.settings import App
from remit.kit.strict_json import strict_json
from remit.kit.tools import parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.kit.headers import Headers, ToolContext
    from remit.kit.identity import Identity
    from remit.kit.tools import Method, Record

_LOG: Final = logging.getLogger("remit.kit")
_MAX_FAULTS: Final = 20

InputT = TypeVar("InputT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Whom a call serves, and where it comes from.

    Attributes:
        identity: user, workspace, installation and call id, verified.
        context: thread or API.
        request: the framework's own request, for what else it carries.
    """

    identity: Identity
    context: ToolContext
    request: object = None

    @property
    def user(self) -> str:
        """The back end's own id of the user."""
        return self.identity.user

    @property
    def in_thread(self) -> bool:
        """Whether a conversation calls: only then can a card be shown."""
        return is_thread(self.context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer as it goes out."""

    status: int
    body: bytes = b""
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Plain: TypeAlias = Callable[[InputT, Call], Answer]
Asynchronous: TypeAlias = Callable[[InputT, Call], Awaitable[Answer]]


class Handling:
    """What the helpers of all frameworks do alike.

    Args:
        function: the handler; the annotation of its first parameter names the tool's model.
        app: which tokens are believed; left out, read from the environment at the first call.
        method: the target's; every other but OPTIONS is refused.

    Raises:
        TypeError: the first parameter is not annotated with a Pydantic model.
    """

    def __init__(self, function: Callable[..., object], *, app: App | None, method: Method) -> None:
        self.model = _model_of(function)
        self.method = method
        self._app = app
        self._lists: frozenset[str] | None = None

    def admit(self, method: str, headers: Headers, *, request: object = None) -> Call | Reply:
        """Who calls; or what is answered to OPTIONS, to another method and to a stranger.

        Raises:
            SettingsError: the environment does not say which tokens are believed.
        """
        allow = {"Allow": f"{self.method}, OPTIONS"}
        if method == "OPTIONS":
            # Anyone may ask whether the route is there; Remit does when an app is built.
            return Reply(status=204, headers=allow)
        if method != self.method:
            return _no("method_not_allowed", f"This route takes {self.method}.", 405, headers=allow)
        if self._app is None:
            self._app = App.from_env()
        try:
            identity = self._app.identity(headers)
        except KeysUnavailable as error:
            _LOG.warning("No identity could be verified: %s", error)
            return _no("keys_unavailable", "The identity cannot be verified now. Try later.", 503)
        if isinstance(identity, Refusal):
            _LOG.warning("Identity refused: %s: %s", identity.reason, identity.message)
            return _no(
                "identity_refused",
                "The identity token was not accepted.",
                401,
                headers={"WWW-Authenticate": "Bearer"},
            )
        try:
            context = tool_context(headers)
        except ToolContextError as error:
            return _no("invalid_tool_context", str(error), 400)
        return Call(identity=identity, context=context, request=request)

    def read(self, body: bytes, query: str) -> BaseModel | Reply:
        """The input: the body as JSON; where there is none, the query."""
        try:
            if body:
                strict_json(body)
        except ValueError as error:
            return _no("invalid_body", f"The body is no JSON that can be used: {error}.", 400)
        try:
            if body:
                return self.model.model_validate_json(body)
            # Texts are all that a query has: a strict model takes them as numbers and dates too.
            return self.model.model_validate(self._from(query), strict=False)
        except ValidationError as error:
            if error.errors(include_url=False)[0]["type"] == "json_invalid":
                return _no("invalid_body", "The body is no JSON.", 400)
            faults = [
                {
                    "pointer": "".join(f"/{_escaped(str(part))}" for part in fault["loc"]),
                    "rule": fault["type"],
                    "message": fault["msg"],
                }
                for fault in error.errors(
                    include_url=False, include_context=False, include_input=False
                )[:_MAX_FAULTS]
            ]
        words = "; ".join(f"{fault['pointer'] or 'input'}: {fault['message']}" for fault in faults)
        return _json(
            422,
            {
                "code": "invalid_arguments",
                "error": f"The input does not fit. {words}.",
                "details": {"faults": faults},
            },
        )

    def reply(self, answer: object, call: Call) -> Reply:
        """What goes out for an answer.

        Raises:
            AnswerError: it is none that a handler may give.
        """
        if isinstance(answer, Card) and not call.in_thread:
            answer = answer.refusal()
        if isinstance(answer, Result | Card | DomainError):
            return _json(answer.status, answer.body())
        if not isinstance(answer, str):
            raise AnswerError(
                f"The handler returned {type(answer).__name__}. "
                "Return a text, a Result, a Card or a DomainError."
            )
        if not answer.strip():
            raise AnswerError("The handler returned an empty text. Say what the model is to read.")
        return Reply(status=200, body=_encoded(answer), content_type="text/plain; charset=utf-8")

    def _from(self, query: str) -> dict[str, object]:
        if self._lists is None:
            self._lists = _lists_of(self.model)
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            found.setdefault(name, []).append(value)
        return {
            name: values if name in self._lists or len(values) > 1 else values[0]
            for name, values in found.items()
        }


def named_after(endpoint: Callable[..., object], function: Callable[..., object]) -> None:
    """Give an endpoint its function's name, by which frameworks know it.

    Not ``functools.wraps``: frameworks that read signatures would see the function's.
    """
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(endpoint, attribute, getattr(function, attribute, None))


def _model_of(function: Callable[..., object]) -> type[BaseModel]:
    name = getattr(function, "__name__", "The handler")

    def noted() -> None:
        """Carries one annotation: the others may be imported for types alone."""

    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
        noted.__annotations__ = {} if first is None else {"it": first.annotation}
        found = get_type_hints(noted, globalns=getattr(function, "__globals__", {})).get("it")
    except NameError as error:
        msg = f"{name}: {error}. Import or define the input's model at the top of the module."
        raise TypeError(msg) from None
    if not (isinstance(found, type) and issubclass(found, BaseModel)):
        msg = (
            f"{name}: its first parameter must be annotated with the tool's input, a Pydantic "
            "model, as in `def save(input: SaveBookmark, call: Call)`."
        )
        raise TypeError(msg)
    return found


def _lists_of(model: type[BaseModel]) -> frozenset[str]:
    """The properties that take a list: one value in a query is a list of one there."""

    def takes_list(schema: object) -> bool:
        if not isinstance(schema, dict):
            return False
        known = cast("Record", schema)
        choices = known.get("anyOf")
        return known.get("type") == "array" or any(
            map(takes_list, cast("list[object]", choices) if isinstance(choices, list) else [])
        )

    properties = cast("Record", parameters_of(model)["properties"])
    return frozenset(name for name, schema in properties.items() if takes_list(schema))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise AnswerError("The answer holds half a character (a lone surrogate).") from None


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _no(code: str, message: str, status: int, *, headers: Mapping[str, str] | None = None) -> Reply:
    return _json(status, {"code": code, "error": message}, headers=headers)


def _json(status: int, body: object, *, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(
        status=status,
        body=_encoded(json.dumps(body, ensure_ascii=False, allow_nan=False)),
        content_type="application/json",
        headers=headers or {},
    )
