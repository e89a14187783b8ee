"""The page of ``remit dev``: chat and playground, for whoever writes an app, on loopback alone.

A server that ``remit dev`` did not start serves none of it. Its HTML holds no secret: the link has
a code in its fragment, which no request carries; the page gives it back, once, for a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, final

from remit.errors import Forbidden, RemitError, Unauthorized
from remit.web import reading
from remit.web.answers import Answer, said
from remit.web.bodies import Closed
from remit.web.callers import Callers
from remit.web.hosts import check_host
from remit.web.problems import internal, problem
from remit.web.refusals import MethodNotAllowed, NoSuchRoute
from remit.web.route import KEYS
from remit.web.sending import sent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from remit.values.json import JsonObject
    from remit.web.services import Services

PATH = "/dev"
_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"
_MAX_BODY_BYTES = 1_024
_HEADERS = {
    # A popup of a framed page keeps its opener, which a sign-in needs; links here give none.
    "cross-origin-opener-policy": "same-origin-allow-popups",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src {images}; frame-src {frames}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevPage:
    """What the page is told.

    Attributes:
        enter: what the code of a link opens: the key and whose it is; None for one that is wrong
            or was used.
        state: apps with their faults, user, model; without a secret.
        images: origins that pictures may come from: those of the apps.
        frames: origins that pages of the apps may be framed from.
    """

    enter: Callable[[str], JsonObject | None]
    state: Callable[[], Awaitable[JsonObject]]
    images: Callable[[], Iterable[str]]
    frames: Callable[[], Iterable[str]]


class _Code(Closed, frozen=True, kw_only=True):
    """The code of a link."""

    code: str


def with_page(app: ASGIApp, page: DevPage, services: Services) -> ASGIApp:
    """The API with the page beside it, at ``/dev`` and below."""
    front = _Page(page, services)

    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        ours = path in {"/", PATH} or path.startswith(f"{PATH}/")
        if scope["type"] != "http" or not ours:
            await app(scope, receive, send)
            return
        await sent(await front.answer(scope, receive), send, head=scope["method"] == "HEAD")

    return both


@final
class _Page:
    """Answers below ``/dev``."""

    def __init__(self, page: DevPage, services: Services) -> None:
        self._page = page
        self._services = services
        self._callers = Callers(services)
        self._hosts = services.settings.hosts()
        self._files = _files()

    async def answer(self, scope: Scope, receive: Receive) -> Answer:
        """The answer to a request; a refusal is a problem document."""
        fresh = self._services.books.fresh
        try:
            # The host of a page that was rebound to this address is another one.
            check_host(scope, self._hosts)
            return await self._found(scope, receive)
        except RemitError as error:
            return problem(error, fresh.fresh_id("req"))
        except Exception as error:  # noqa: BLE001 (a caller gets words, the operator the fault)
            request_id = fresh.fresh_id("req")
            self._services.on_fault(request_id, error)
            return internal(request_id)

    async def _found(self, scope: Scope, receive: Receive) -> Answer:
        path: str = scope["path"]
        headers: Mapping[str, str] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        method: str = scope["method"]
        if path == f"{PATH}/enter":
            _must_be(method, "POST")
            return await self._entered(headers, receive)
        _must_be(method, "GET", "HEAD")
        if path == "/":
            return Answer(status=302, headers={"location": PATH})
        if path == f"{PATH}/state":
            actor = await self._callers.actor(headers.get("authorization"))
            if actor.role not in KEYS:
                # It names files of the author's machine.
                raise Forbidden("A token reads no state. The page has a key from its link.")
            return said(await self._page.state())
        name = _INDEX if path == PATH else path.removeprefix(f"{PATH}/")
        body = self._files.get(name)
        if body is None:
            raise NoSuchRoute(f"The page has no such part. It is at {PATH}.")
        policy = _POLICY.format(
            images=" ".join(("'self'", *sorted(self._page.images()))),
            frames=" ".join(sorted(self._page.frames())) or "'none'",
        )
        return Answer(
            body=body,
            media=_MEDIA[name[name.rindex(".") :]],
            headers={**_HEADERS, "content-security-policy": policy},
        )

    async def _entered(self, headers: Mapping[str, str], receive: Receive) -> Answer:
        raw = await reading.whole_body(receive, headers.get("content-length"), _MAX_BODY_BYTES)
        found = reading.json_value(raw, headers.get("content-type"), max_bytes=_MAX_BODY_BYTES)
        opened = self._page.enter(reading.shaped(found, _Code).code)
        if opened is None:
            raise Unauthorized(
                "This link was used before, or is of an earlier run. Press Enter where `remit dev` "
                "runs: it prints a new one."
            )
        return said(opened)


def _must_be(method: str, *taken: str) -> None:
    if method not in taken:
        raise MethodNotAllowed(f"This path takes {' and '.join(taken)}.")


def _files() -> dict[str, bytes]:
    """The files of the page, by name; they are few and small."""
    # A folder of data beside this module; no package.
    folder = resources.files("remit.web") / "pages"
    return {
        entry.name: entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.endswith(tuple(_MEDIA))
    }
