"""What the data of events is made of (``events``): values that have no type of their own there."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

CatalogSource = Literal["fresh", "unchanged", "stale", "static"]
#: Any JSON value.
Json: TypeAlias = Any
#: A JSON object whose keys are somebody else's.
Object: TypeAlias = Annotated[Any, Meta(extra_json_schema={"type": "object"})]


class EventData(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The data of one event.

    Attributes:
        run_id: id of the run that this belongs to.
        message_id: id of the message.
        call_id: id of the call, as in the call records.
        app: id of the app; null for a tool of the client or of the platform.
        tool: catalog name of the tool.
        args: arguments; secrets are masked.
        model: name of the language model; null where none is set.
    """


class AppRef(Struct, frozen=True, kw_only=True):
    """An app of the session.

    Attributes:
        id: id of the app.
        version: number of the version that calls run under.
    """

    id: str
    version: int


class Dropped(Struct, frozen=True, kw_only=True):
    """A tool of a catalog that is not offered.

    Attributes:
        name: name of the tool.
        reason: why it is left out, as a sentence.
    """

    name: str
    reason: str


class AppCatalog(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where the tools of one app come from.

    Attributes:
        app: id of the app.
        source: fetched just now, confirmed by the app, an older copy, or the definition's own.
        age_seconds: since the app last confirmed them; 0 for ``static``.
        tools: how many are offered.
        dropped: those that are not offered.
        unavailable: why the app cannot be used now, as a sentence; it offers no tools then.
    """

    app: str
    source: CatalogSource
    age_seconds: int
    tools: int
    dropped: tuple[Dropped, ...]
    unavailable: str | None = None


class Fault(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why something came to no result.

    Attributes:
        code: stable, one of those that ``remit explain`` knows.
        message: what went wrong, where and what to do, for a person.
        tool: catalog name of the tool.
        details: further facts, such as pointers of faulty arguments or the status of an answer.
        may_have_happened: whether the action may have happened although there is no answer.
    """

    code: str
    message: str
    tool: str | None = None
    details: Json = None
    may_have_happened: bool = False


class Usage(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a run used.

    Attributes:
        input_tokens: as the model's server counts them; 0 where it does not.
        output_tokens: likewise.
        cached_tokens: those of the input that the server had from before.
        calls: how many calls the model asked for.
        ms: from the start of the run to its end, in milliseconds.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    calls: int
    ms: int


class TitlePart(Struct, frozen=True, kw_only=True):
    """A piece of a title, which is the app's words.

    Attributes:
        text: plain text.
        inserted: whether it is a value that was put into the app's words, to be set apart.
    """

    text: str
    inserted: bool


class Line(Struct, frozen=True, kw_only=True):
    """The platform's own words about a call, which an app cannot write.

    Attributes:
        act: what kind of act it is.
        danger: how bad it is if the agent is wrong.
        host: where the request goes.
    """

    act: str
    danger: str
    host: str


class Argument(Struct, frozen=True, kw_only=True):
    """An argument as a person reads it.

    Attributes:
        title: title of the parameter.
        text: value as text; secrets are masked.
    """

    title: str
    text: str


class Rendered(Struct, frozen=True, kw_only=True):
    """A result that one of the renderers draws.

    Attributes:
        renderer: image, diff, link, table or json.
        data: what that renderer reads.
    """

    renderer: Literal["image", "diff", "link", "table", "json"]
    data: Json


class Note(Struct, frozen=True, kw_only=True):
    """A short note of the app.

    Attributes:
        markdown: to be drawn with raw HTML escaped; links are absolute http(s) or no links.
    """

    markdown: str


class Embed(Struct, frozen=True, kw_only=True, rename="camel"):
    """A page of the app, to be drawn in a sandboxed frame.

    Attributes:
        embed_url: absolute address.
    """

    embed_url: str


class Drawn(Struct, frozen=True, kw_only=True):
    """A widget of a client.

    Attributes:
        widget: name under which the client announced it.
        props: what it is drawn with.
    """

    widget: str
    props: Json


class Failed(Struct, frozen=True, kw_only=True):
    """A call that came to no result.

    Attributes:
        error: why.
    """

    error: Fault


#: The five ways in which a result is drawn, told apart by their keys.
DISPLAYS = (Rendered, Note, Embed, Drawn, Failed)
#: One of ``DISPLAYS``, or as JSON: results are kept and sent as they were shaped.
Display: TypeAlias = Annotated[Any, Meta(extra_json_schema={"$ref": "#/$defs/Display"})]
