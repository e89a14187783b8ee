"""Tools and their targets, as an app folder's ``tools.py`` declares them (contract section 8)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Category: TypeAlias = Literal["read", "write", "action"]
DangerLevel: TypeAlias = Literal["safe", "moderate", "destructive"]
Renderer: TypeAlias = Literal["image", "diff", "link", "table", "json"]
Record: TypeAlias = dict[str, object]

_LOCAL: Final = "#/$defs/"


@dataclass(frozen=True, slots=True)
class AppTarget:
    """A route of one of the app's own components.

    Attributes:
        component: its name in ``app.yaml``.
        path: begins with one ``/``; no references.
        method: of the route.
        query: names with texts, which may hold ``${input.…}``.
        headers: likewise; ``Authorization`` is Remit's.
        body: any JSON; ``"${input}"`` is the whole input. Left out, none is sent.
    """

    component: str
    path: str
    method: Method
    query: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    body: Json = None

    def record(self) -> Record:
        """As it stands in a catalog."""
        where: Record = {"type": "app", "component": self.component, "path": self.path}
        return where | _request(self)


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """An address outside the app; its origin and method are literals.

    Attributes:
        url: absolute; ``${input.…}`` may stand behind the origin.
        method: of the request.
        query: names with texts, which may hold references.
        headers: likewise; ``Authorization`` may be set here.
        body: any JSON. Left out, none is sent.
    """

    url: str
    method: Method
    query: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    body: Json = None

    def record(self) -> Record:
        """As it stands in a catalog."""
        return {"type": "url", "url": self.url} | _request(self)


@dataclass(frozen=True, slots=True)
class ClientTarget:
    """A handler in the user's client, by its name there."""

    name: str

    def record(self) -> Record:
        """As it stands in a catalog."""
        return {"type": "client", "name": self.name}


Target: TypeAlias = AppTarget | UrlTarget | ClientTarget


def _request(target: AppTarget | UrlTarget) -> Record:
    record: Record = {"method": target.method}
    if target.query is not None:
        record["query"] = dict(target.query)
    if target.headers is not None:
        record["headers"] = dict(target.headers)
    if target.body is not None:
        record["body"] = target.body
    return record


@dataclass(frozen=True, slots=True)
class Tool:
    """One named operation with a typed input and one target (contract section 2).

    Attributes:
        name: what the model calls: letters, digits, ``_`` and ``-``, at most 52.
        description: what it does, when to use it, when not.
        input: a Pydantic model; its JSON Schema is what a call is held to.
        target: where a call goes.
        display_name: what people read.
        category: left out, ``read`` for GET and ``action`` for everything else.
        danger_level: left out, ``safe`` for GET and ``moderate`` for everything else.
        requires_approval: whether a person is asked each time.
        idempotent: whether the handler honours ``Idempotency-Key``.
        response_mapping: result names with paths into the answer.
        result_renderer: how a mapped result is drawn.
        render: which result keys feed the renderer.
        confirm: what the approval card says.
        polling: for jobs.
        timeout_ms: 100 to 120,000.
    """

    name: str
    _: KW_ONLY
    description: str
    input: type[BaseModel]
    target: Target
    display_name: str | None = None
    category: Category | None = None
    danger_level: DangerLevel | None = None
    requires_approval: bool = False
    idempotent: bool = False
    response_mapping: Mapping[str, object] | None = None
    result_renderer: Renderer | None = None
    render: Mapping[str, str] | None = None
    confirm: Mapping[str, object] | None = None
    polling: Mapping[str, object] | None = None
    timeout_ms: int | None = None

    def __post_init__(self) -> None:
        """Catch what could not be written down; all else is said by the build, with its place."""
        # An author's editor may not check types.
        model = cast("object", self.input)
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            msg = f"{self.name}: input must be a Pydantic model (a class), not {model!r}."
            raise TypeError(msg)
        target = cast("object", self.target)
        if not isinstance(target, AppTarget | UrlTarget | ClientTarget):
            msg = f"{self.name}: target must be an AppTarget, UrlTarget or ClientTarget."
            raise TypeError(msg)

    def record(self) -> Record:
        """As it stands in a catalog: the contract's keys, without those that are not set."""
        optional: Record = {
            "displayName": self.display_name,
            "category": self.category,
            "dangerLevel": self.danger_level,
            "requiresApproval": self.requires_approval or None,
            "idempotent": self.idempotent or None,
            "responseMapping": _copied(self.response_mapping),
            "resultRenderer": self.result_renderer,
            "render": _copied(self.render),
            "confirm": _copied(self.confirm),
            "polling": _copied(self.polling),
            "timeoutMs": self.timeout_ms,
        }
        needed: Record = {
            "name": self.name,
            "description": self.description,
            "parameters": parameters_of(self.input),
            "target": self.target.record(),
        }
        return needed | {key: value for key, value in optional.items() if value is not None}


def _copied(mapping: Mapping[str, object] | None) -> Record | None:
    return None if mapping is None else dict(mapping)


class _Closed(GenerateJsonSchema):
    """A model that strips unknown keys (Pydantic's default) takes none: the schema says so.

    A language model can be held to a closed schema alone (contract section 2).
    """

    def model_schema(self, schema: Mapping[str, object]) -> JsonSchemaValue:
        """See the base class; ``schema`` is Pydantic's own, of a model."""
        found = super().model_schema(cast("Any", schema))
        model = cast("type[BaseModel]", schema["cls"])
        strips = model.model_config.get("extra", "ignore") == "ignore"
        if strips and not schema.get("root_model") and found.get("type") == "object":
            found.setdefault("additionalProperties", False)
        return found


def parameters_of(model: type[BaseModel]) -> Record:
    """The JSON Schema of what the model takes in; an object at its root, also where it recurs.

    It is closed unless the model's ``extra`` is ``allow``.

    Raises:
        pydantic.errors.PydanticInvalidForJsonSchema: a field has no JSON Schema.
    """
    schema: Record = model.model_json_schema(mode="validation", schema_generator=_Closed)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(_LOCAL):
        # A model that holds itself is defined apart. A catalog wants type and properties in sight.
        definitions = cast("dict[str, Record]", schema["$defs"])
        schema = definitions[reference.removeprefix(_LOCAL)] | {"$defs": definitions}
    if schema.get("type") == "object":
        schema.setdefault("properties", {})
    return schema
