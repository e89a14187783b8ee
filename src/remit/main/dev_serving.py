"""What ``remit dev`` runs beside the API: the apps, the watch over their files, and the page."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import shlex
import sys
import webbrowser
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from remit.gateway.acting import system
from remit.gateway.admitting import create_key
from remit.gateway.submitting import House
from remit.main.dev_apps import WORKSPACE, DevApp, DevApps, Given
from remit.main.output import has_display, is_terminal, paint, print_text, say
from remit.main.serving import Beside, tell_fault
from remit.values.json import nearest
from remit.values.urls import parse_url
from remit.web.dev_page import PATH, DevPage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence

    from remit.gateway.ports import Egress
    from remit.main.composing import Composed
    from remit.main.dev_components import Components
    from remit.main.settings import Settings
    from remit.values.json import JsonObject

_LOOK_S = 1.0
_CODE_BYTES = 24
NO_MODEL = (
    "No model is set, so that nobody answers in the chat. Set REMIT_MODEL_NAME (openai:…, "
    "anthropic:… or google:…) and REMIT_MODEL_API_KEY, or REMIT_MODEL_BASE_URL for a model of your "
    "own, and start again."
)


class Dev:
    """One run.

    Args:
        settings: what is set.
        files: of definitions, or app folders.
        given: besides.
        components: which run here.
        opens: whether a browser may be opened.
    """

    def __init__(
        self,
        settings: Settings,
        files: Sequence[str],
        given: Given,
        components: Components,
        *,
        opens: bool,
    ) -> None:
        self._settings = settings
        self._files = files
        self._given = given
        self._components = components
        self._opens = opens
        self._codes: set[str] = set()
        self._key = ""
        self._url = ""

    @asynccontextmanager
    async def beside(self, whole: Composed, address: str) -> AsyncGenerator[Beside]:
        """Load the apps, and watch them as long as the server runs.

        Args:
            whole: the node.
            address: its origin.
        """
        books = whole.books
        await books.workspaces.make(WORKSPACE, at=books.wall.unix_ms())
        made = await create_key(books, system(WORKSPACE), "backend", name="remit dev")
        self._key, self._url = made.secret.reveal(), address
        house = House(brand=self._settings.brand, own=parse_url(address).origin)
        apps = DevApps(books, house, self._files, self._given, self._components)
        for app in await apps.look():
            say(_told(app, self._given.user))
        self._tell_unused(apps)
        apps.start_components()
        page = DevPage(
            enter=self._enter,
            state=lambda: self._state(apps),
            images=apps.origins,
            frames=apps.frames,
        )
        watch = asyncio.create_task(self._watch(apps, whole.node.egress))
        with _on_enter(self._print_link):
            try:
                yield Beside(page=page, ready=self._ready)
            finally:
                watch.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watch

    def _tell_unused(self, apps: DevApps) -> None:
        """Say what was given for an app or a component that no file has; never a token."""
        found = [app.definition for app in apps.apps if app.definition is not None]
        if len(found) < len(apps.apps):
            # It may be for what has a fault now.
            return
        ids = [one.id for one in found]
        if self._given.tokens.keys() - set(ids):
            listed = ", ".join(ids) or "none so far"
            words = f"--token names an app that no file has. The apps are: {listed}."
            say(paint(words, "yellow", sys.stderr))
        named = {f"{one.id}/{name}" for one in found for name in one.components}
        named |= {name for one in found for name in one.components}
        for name in self._components.urls.keys() - named:
            near = nearest(name, named)
            hint = f' Did you mean "{near}"?' if near else ""
            words = f"--component {name}: no file has a component of that name.{hint}"
            say(paint(words, "yellow", sys.stderr))
        for name in self._components.urls:
            owners = [one.id for one in found if name in one.components]
            if len(owners) > 1:
                words = (
                    f"--component {name}: {' and '.join(owners)} have one of that name, and it "
                    f"serves {owners[0]}. Write --component {owners[1]}/{name}=… for the other."
                )
                say(paint(words, "yellow", sys.stderr))

    # -- the page ------------------------------------------------------------------------------

    def _enter(self, code: str) -> JsonObject | None:
        found = next(
            (one for one in self._codes if hmac.compare_digest(one.encode(), code.encode())), None
        )
        if found is None:
            return None
        self._codes.discard(found)
        return {"key": self._key, "user": self._given.user, "brand": self._settings.brand}

    async def _state(self, apps: DevApps) -> JsonObject:
        await apps.see_connections()
        model = self._settings.model.name
        return {
            "revision": apps.revision,
            "user": self._given.user,
            "brand": self._settings.brand,
            "model": model,
            "noModel": None if model else NO_MODEL,
            "apps": apps.as_json(),
            "components": self._components.as_json(),
        }

    def _link(self) -> str:
        code = os.urandom(_CODE_BYTES).hex()
        self._codes.add(code)
        return f"{self._url}{PATH}#code={code}"

    def _print_link(self) -> None:
        print_text(f"  {self._link()}")

    def _ready(self) -> None:
        model = self._settings.model.name
        say("")
        if model is None:
            say(paint(NO_MODEL, "yellow", sys.stderr))
            say("")
        what = f"Chat with {model}, and playground" if model else "Playground"
        say(paint(f"{what}:", "bold", sys.stderr))
        self._print_link()
        again = (
            "Enter prints another link, for another browser; each opens once. "
            if (is_terminal(sys.stdin))
            else ""
        )
        say(paint(f"{again}Ctrl-C stops.", "dim", sys.stderr))
        if self._opens and has_display():
            # A link of its own: the one on the screen stays good.
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, self._link())

    # -- the watch -----------------------------------------------------------------------------

    async def _watch(self, apps: DevApps, egress: Egress) -> None:
        """Look once a second; what goes wrong is told, and looking goes on."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                for app in await apps.look():
                    say(_told(app, self._given.user))
                apps.start_components()
                for app in await apps.look_at_routes(egress):
                    say(_told_routes(app))
                for name, code in self._components.ended():
                    apps.revision += 1
                    say(paint(f"The component {name} ended with {code}.", "red", sys.stderr))
            except Exception as error:  # noqa: BLE001 -- the author goes on with the file
                tell_fault(error)


def _told(app: DevApp, user: str) -> str:
    """What became of a file, for the terminal."""
    found = app.definition
    if app.fault:
        head = f"{app.file} has a fault" + ("; the last good one goes on:" if found else ":")
        return f"{paint(head, 'red', sys.stderr)}\n{app.fault}"
    if found is None:
        return f"{app.file} was not loaded."
    tools = f"{len(found.tools)} tool{'s' if len(found.tools) != 1 else ''}"
    more = ", and what its toolsUrl adds" if found.tools_url else ""
    lines = [f"{paint(found.name, 'bold', sys.stderr)}  {app.file}, version {app.version}: "
             f"{tools}{more}"]  # fmt: skip
    if app.findings:
        warnings = f"{app.findings} warning{'s' if app.findings != 1 else ''}"
        lines.append(f"  {warnings}: `remit lint {shlex.quote(app.file)}` says which.")
    if app.connected:
        lines.append(f"  Connected as {user}.")
    elif app.wants:
        lines.append(
            f"  It takes a credential ({app.wants}). Start with --token {found.id}=… to connect "
            f"{user}."
        )
    return "\n".join(lines)


def _told_routes(app: DevApp) -> str:
    """What is known of the routes of an app's components, for the terminal."""
    if not app.warning:
        return f"{app.file}: every route that its tools name is there."
    return f"{paint(f'{app.file}: a route is not answered:', 'yellow', sys.stderr)}\n{app.warning}"


@contextlib.contextmanager
def _on_enter(work: Callable[[], None]) -> Generator[None]:
    """Do something for each line that is typed, where there is somebody who types."""
    if not is_terminal(sys.stdin):
        yield
        return
    loop, number = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        if os.read(number, 4_096):
            work()
        else:
            loop.remove_reader(number)

    loop.add_reader(number, read)
    try:
        yield
    finally:
        loop.remove_reader(number)
