"""What a loaded catalog is made of: frozen values, references compiled (contract sections 2-7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.mapping import ResponseMapping
    from remit.catalog.parameters import Parameters
    from remit.catalog.references import Reference, Text
    from remit.catalog.scales import Category, Ceiling, DangerLevel, Method, Renderer
    from remit.values.json import JsonObject, JsonValue
    from remit.values.urls import Origin, Url

QueryStyle = Literal["repeat", "comma", "space", "pipe", "brackets", "deepObject"]
BodyFormat = Literal["json", "form"]
AuthType = Literal["none", "bearer", "basic", "apiKey", "oauth2", "identity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryParameter:
    """One query parameter: its literal name, its value, and how an array of it is written."""

    name: str
    value: Text
    style: QueryStyle


@dataclass(frozen=True, slots=True)
class BodyObject:
    """An object of a body template: literal keys, compiled values."""

    items: tuple[tuple[str, BodyNode], ...]


@dataclass(frozen=True, slots=True)
class BodyArray:
    """An array of a body template."""

    items: tuple[BodyNode, ...]


@dataclass(frozen=True, slots=True)
class BodyConstant:
    """A part of a body template that holds no reference: any JSON value."""

    value: JsonValue


BodyNode: TypeAlias = "BodyObject | BodyArray | BodyConstant | Text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A path and perhaps a query string below an origin or a base URL, compiled.

    Attributes:
        segments: one text per path segment, in order; each stands after a ``/``. Their literal
            parts are already percent-encoded.
        query: the author's own query string, already encoded but for its references; None
            where there is none.
    """

    segments: tuple[Text, ...]
    query: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTemplate:
    """The parts of a request that an author writes, compiled.

    Attributes:
        location: below ``baseUrl``, the component's URL or, for a ``url`` target, its origin.
        query: in the order written; a location's own query string comes before it.
        headers: name as written and compiled value.
        body: None when the author wrote none.
        env_names: the env values that it refers to, sorted.
    """

    method: Method
    location: Location
    query: tuple[QueryParameter, ...]
    headers: tuple[tuple[str, Text], ...]
    body: BodyNode | None
    body_format: BodyFormat = "json"
    env_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A call on the app itself: ``baseUrl`` + ``path``, with the user's credential."""

    request: RequestTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTarget:
    """A call on one of the app's own components, with a signed identity token."""

    component: str
    request: RequestTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTarget:
    """A call on an external endpoint; origin and method are the author's literals."""

    origin: Origin
    request: RequestTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTarget:
    """A handler in the user's client."""

    name: str


Destination: TypeAlias = "Endpoint | AppTarget | UrlTarget | ClientTarget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    """How the result of a job is awaited (contract section 6).

    Attributes:
        status: where to ask: a location on the origin of the first call, appended to its base
            where ``relative``; or the one reference whose value is taken as a whole URL.
        origin: of an absolute ``statusUrl``; None otherwise.
        complete_values, failed_values: compared by JSON equality.
    """

    status: Location | Reference
    relative: bool
    status_field: tuple[str, ...]
    complete_values: tuple[JsonValue, ...]
    failed_values: tuple[JsonValue, ...]
    result_mapping: ResponseMapping | None
    poll_interval_ms: int
    max_polls: int
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The read that fills an approval card: a tool of the same catalog and its arguments."""

    tool: str
    args: BodyNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """What the app says on the approval card (contract section 5)."""

    title: Text | None
    preview: Preview | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One named operation with typed parameters and one destination.

    Attributes:
        title: a person's name for it, or None; ``label`` falls back to the name.
        category, danger_level: as declared, or the safe defaults of a target.
        scales_declared: False where category or danger level was left out (targets only).
        render: result keys that feed the renderer, by the renderer's own key.
        record: the decoded record as the author wrote it.
    """

    name: str
    title: str | None
    description: str
    category: Category
    danger_level: DangerLevel
    scales_declared: bool
    requires_approval: bool
    confirm: Confirm | None
    renderer: Renderer
    render: Mapping[str, str]
    parameters: Parameters
    destination: Destination
    response_mapping: ResponseMapping | None
    polling: Polling | None
    idempotent: bool
    timeout_ms: int
    record: JsonObject

    @property
    def label(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name

    @property
    def request(self) -> RequestTemplate | None:
        """The request it makes; None for a client target."""
        if isinstance(self.destination, ClientTarget):
            return None
        return self.destination.request


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How the user's credential is sent (contract section 7).

    Attributes:
        location, name, prefix: for ``apiKey`` only; ``prefix`` is put before the key as it is.
        authorization_url, token_url, scopes, client_id, client_secret_env: for ``oauth2`` only.
    """

    type: AuthType
    location: Literal["header", "query"] | None = None
    name: str | None = None
    prefix: str = ""
    authorization_url: Url | None = None
    token_url: Url | None = None
    scopes: tuple[str, ...] = ()
    client_id: str | None = None
    client_secret_env: str | None = None

    @property
    def header(self) -> str | None:
        """The header that carries the credential, if one does."""
        if self.type == "none":
            return None
        if self.type == "apiKey":
            return self.name if self.location == "header" else None
        return "Authorization"

    @property
    def query(self) -> str | None:
        """The query parameter that carries the credential, if one does."""
        return self.name if self.type == "apiKey" and self.location == "query" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSource:
    """The collection and environment that ``${env.NAME}`` reads."""

    collection: str
    environment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One of the app's own services: where it lives and which env it reads."""

    url: Url
    env: EnvSource | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A named text of instructions and the tools that belong to it."""

    name: str
    description: str
    body: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The reviewed record of one app, loaded.

    Attributes:
        ceiling: as asked for, or the highest that the tools use where it was left out.
        ceiling_declared: whether the author wrote it.
        tools: every loadable tool, in order; those over the ceiling are still in here.
        record: the decoded document.
    """

    id: str
    name: str
    description: str
    base_url: Url | None
    tools_url: Url | None
    auth: Auth
    components: Mapping[str, Component]
    skills: tuple[Skill, ...]
    env: EnvSource | None
    prompt_context: str
    ceiling: Ceiling
    ceiling_declared: bool
    tools: tuple[Tool, ...]
    record: JsonObject

    def tool(self, name: str) -> Tool | None:
        """The tool of that catalog name."""
        return next((tool for tool in self.tools if tool.name == name), None)
