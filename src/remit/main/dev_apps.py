"""The apps of ``remit dev``: their files loaded, put in force, and taken again when they change.

Each is approved at its own ceiling for everybody, as its author would wish; what a reviewer would
ask, ``remit lint`` says. A file with a fault leaves the last good definition in force. An app
folder is built where a file is read.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import dataclass, replace
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, cast

from remit.building import mistakes_of
from remit.calls.channels import embed_origins
from remit.catalog.reading import is_object
from remit.errors import InvalidDefinition, RemitError
from remit.gateway.acting import system
from remit.gateway.connecting import GivenCredential, connect, list_connections
from remit.gateway.environment import put_env
from remit.gateway.keeping import connection_place
from remit.gateway.reviewing import approve, list_versions
from remit.gateway.submitting import House, change, submit
from remit.lint.run import lint_definition
from remit.main.dev_files import stamp
from remit.main.dev_routes import RouteLook
from remit.main.files import definition_of, read_source, source_of
from remit.main.folders import build_folder, unusable
from remit.policy.reach import origins_of
from remit.values.secrets import Secret
from remit.values.urls import parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.catalog.model import Auth, Definition
    from remit.gateway.acting import Books
    from remit.gateway.keeping import CredentialType
    from remit.gateway.ports import Egress
    from remit.main.dev_components import Components
    from remit.main.dev_files import Stamp
    from remit.main.files import Source
    from remit.values.json import JsonObject, JsonValue

WORKSPACE = "default"
_STORED = ("bearer", "basic", "apiKey")


class DevApp:
    """One file or folder and the app that it defines.

    Attributes:
        file: as it was named.
        definition: the last good one; None before there was one.
        version: of the app that is in force.
        fault: why the file as it is now cannot be used; empty where it can.
        warning: routes that its components have not; empty where nothing is known to be wrong.
        findings: how many warnings `remit lint` has of it.
        connected: whether the user has a credential, where the app takes one.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.definition: Definition | None = None
        self.version = 0
        self.fault = ""
        self.warning = ""
        self.findings = 0
        self.connected = False
        self.seen: Stamp | None = None
        self.routes: RouteLook | None = None

    @property
    def wants(self) -> str:
        """The type of credential that is still needed; empty where none is."""
        auth = self.definition.auth.type if self.definition else "none"
        return auth if auth in _STORED and not self.connected else ""

    def as_json(self) -> JsonObject:
        """What the page shows."""
        found = self.definition
        return {
            "file": self.file,
            "id": found.id if found else None,
            "name": found.name if found else self.file,
            "version": self.version,
            "wants": self.wants,
            "fault": self.fault,
            "warning": self.warning,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was given on the command line besides the files.

    Attributes:
        tokens: a credential by app.
        env: values by name, for every app that refers to them.
    """

    user: str
    tokens: Mapping[str, Secret]
    env: Mapping[str, Secret]


class DevApps:
    """All apps of a run.

    Args:
        books: of the node that serves them.
        house: what definitions are loaded in.
        files: of definitions, or app folders.
        given: besides.
        components: which run here.

    Attributes:
        revision: grows with each change, so that a page can tell.
    """

    def __init__(
        self,
        books: Books,
        house: House,
        files: Sequence[str],
        given: Given,
        components: Components,
    ) -> None:
        self._books = books
        self._house = house
        self._given = given
        self._components = components
        self._actor = system(WORKSPACE)
        self.apps = [DevApp(file) for file in files]
        self.revision = 0
        # Once in a run: the page may have put another one in its place.
        self._connected: set[str] = set()

    async def look(self) -> list[DevApp]:
        """Take every file that was written since the last look; those that were taken."""
        taken = [app for app in self.apps if await self._look(app)]
        if taken:
            await self.see_connections()
        return taken

    def start_components(self) -> None:
        """Start those whose app is known by now.

        Raises:
            WrongUse: one cannot be started.
        """
        for app in self.apps:
            if app.definition is None:
                continue
            found = self._components.of(app.definition.id, app.definition.components)
            for name, command in found.items():
                audience = f"{app.definition.id}/{name}"
                self._components.start(command, issuer=str(self._house.own), audience=audience)

    async def look_at_routes(self, egress: Egress) -> list[DevApp]:
        """Ask the components for the routes of their tools; the apps of which there is more to say.

        Args:
            egress: the guarded way out.
        """
        told: list[DevApp] = []
        for app in self.apps:
            if app.routes is None:
                continue
            warning = await app.routes.warning(egress)
            if warning is None:
                # It does not listen yet.
                continue
            app.routes = None
            if warning != app.warning:
                app.warning = warning
                self.revision += 1
                told.append(app)
        return told

    async def see_connections(self) -> None:
        """Look which apps the user is connected to: the page connects, too."""
        page = await list_connections(self._books, self._actor, user=self._given.user, limit=500)
        connected = {one.app for one in page.items}
        for app in self.apps:
            app.connected = app.definition is not None and app.definition.id in connected

    def origins(self) -> set[str]:
        """Origins of the apps, from which pictures may come."""
        return {
            str(use.origin)
            for app in self.apps
            if app.definition is not None
            for use in origins_of(app.definition)
        }

    def frames(self) -> set[str]:
        """Origins that pages of the apps may be framed from; components as they run here."""
        running = {str(parse_url(url).origin) for url in self._components.urls.values()}
        transcripts = frozenset({str(self._house.own)})
        found = [app.definition for app in self.apps if app.definition is not None]
        return running.union(*(embed_origins(one, transcripts) for one in found))

    def as_json(self) -> list[JsonValue]:
        """What the page shows."""
        return [app.as_json() for app in self.apps]

    async def _look(self, app: DevApp) -> bool:
        seen = await asyncio.to_thread(stamp, app.file)
        if seen is None or seen == app.seen:
            return False
        app.seen = seen
        self.revision += 1
        try:
            await self._take(app)
            app.fault = ""
        except RemitError as error:
            app.fault = error.message
        return True

    async def _take(self, app: DevApp) -> None:
        """Load a file and put it in force.

        Raises:
            RemitError: it cannot be; what was in force before goes on.
        """
        source = await asyncio.to_thread(self._read, app.file)
        found = definition_of(source, brand=self._house.brand)
        if app.definition is not None and app.definition.id != found.id:
            raise InvalidDefinition(
                f"{app.file}: the id was {app.definition.id} and is {found.id} now, which is "
                "another app. Start `remit dev` again for it."
            )
        if any(one is not app and one.definition and one.definition.id == found.id
               for one in self.apps):  # fmt: skip
            raise InvalidDefinition(f"{app.file}: another file has the app {found.id} already.")
        app.version = await self._in_force(found.id, source.document)
        app.definition = found
        linted = await asyncio.to_thread(lint_definition, source.document, brand=self._house.brand)
        app.findings = sum(one.level == "warning" for one in linted)
        started = self._components.of(found.id, found.components)
        app.routes = RouteLook(source, found, started.keys()) if started else None
        await self._env(found)
        token = self._given.tokens.get(found.id)
        if token is not None and found.id not in self._connected:
            await self._connect(found, token)
            self._connected.add(found.id)

    def _read(self, file: str) -> Source:
        """Read a file or build a folder, with the addresses of the components that run here.

        Raises:
            WrongUse: it cannot be read.
            InvalidDefinition: it cannot be decoded or built.
        """
        if not Path(file).is_dir():
            source = read_source(file)
            return replace(source, document=self._with_urls(source.document))
        brand = self._house.brand
        built = build_folder(file, brand=brand)
        built = replace(built, document=cast("JsonObject", self._with_urls(built.document)))
        if not built.sound:
            raise unusable(built, mistakes_of(built, brand=brand), file)
        return source_of(built, file)

    def _with_urls(self, document: JsonValue) -> JsonValue:
        if not is_object(document) or not is_object(document.get("components")):
            return document
        changed = copy.deepcopy(document)
        components = cast("JsonObject", changed["components"])
        for name, command in self._components.of(str(document.get("id")), components).items():
            # Where it stands as `api:` alone, all there is to say of it is where it runs.
            component = components[name] if components[name] is not None else {}
            if is_object(component):
                components[name] = {**component, "url": self._components.urls[command]}
        return changed

    async def _in_force(self, app: str, document: JsonValue) -> int:
        """The number of the version that is in force with this document."""
        books, actor, house = self._books, self._actor, self._house
        row = await books.apps.get(WORKSPACE, app)
        if row is None:
            number = (await submit(books, actor, document, house)).version.number
        else:
            changed = await change(books, actor, app, document, house, if_match="*")
            number = changed.version
            newest = (await list_versions(books, actor, app, limit=1)).items[0]
            if newest.number != number or newest.status != "submitted":
                return number
        await approve(books, actor, app, number, consent="workspace", brand=house.brand)
        return number

    async def _connect(self, found: Definition, token: Secret) -> None:
        """Connect the user, unless that was done with this very token.

        A call that waits for an answer is for the connection that its card showed.
        """
        books, user = self._books, self._given.user
        row = await books.connections.get(WORKSPACE, found.id, user)
        if row is not None:
            place = connection_place(WORKSPACE, found.id, user, row.id)
            kept = await books.keeper.open_credential(place, row.sealed)
            if compare_digest(kept.secret.reveal().encode(), token.reveal().encode()):
                return
        given = _credential(found.auth, token)
        await connect(books, self._actor, found.id, user, given, brand=self._house.brand)

    async def _env(self, found: Definition) -> None:
        """Set the values that the app refers to, wherever it reads them."""
        names = {name for tool in found.tools if tool.request for name in tool.request.env_names}
        values = {name: value for name, value in self._given.env.items() if name in names}
        sources = {found.env, *(one.env for one in found.components.values())} - {None}
        if not values:
            return
        for source in sources:
            if source is not None:
                await put_env(
                    self._books,
                    self._actor,
                    found.id,
                    source.collection,
                    source.environment,
                    values,
                )


def _credential(auth: Auth, token: Secret) -> GivenCredential:
    """A token as the app takes it."""
    if auth.type == "basic":
        user, _, password = token.reveal().partition(":")
        return GivenCredential(type="basic", username=user, password=Secret(password))
    if auth.type == "apiKey":
        return GivenCredential(type="apiKey", key=token)
    # Whatever else the app takes, `connect` says that it does not take this.
    return GivenCredential(type=cast("CredentialType", "bearer"), token=token)
