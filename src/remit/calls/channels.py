"""What a handler of an app answers: a text, or an object of up to three channels (section 8).

``content`` is what the model reads; ``markdown`` and ``embedUrl`` are for the person alone. These
channels belong to ``app`` targets without a mapping; elsewhere such keys are data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.catalog.model import AppTarget
from remit.catalog.reading import is_object, kind
from remit.errors import ResponseInvalid
from remit.values.urls import MAX_URL_BYTES, UrlFault, parse_url

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from remit.calls.answers import Body
    from remit.catalog.model import Definition, Tool
    from remit.values.json import JsonObject, JsonValue
    from remit.values.secrets import Masker

#: ``type`` of an answer that asks for a person's action.
ACTION_REQUIRED = "action_required"
MAX_MARKDOWN = 16 * 1024
_MAX_SHOWN = 80
# RFC 3986; brackets and the bar as queries have them, too.
_FRAGMENT = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\[\]|-]|%[0-9A-Fa-f]{2})*")
_BEYOND_PATH = re.compile(r"([?#]).*", re.DOTALL)


class Channels(Struct, frozen=True, kw_only=True):
    """An answer in its channels, masked.

    Attributes:
        content: never blank.
        markdown: to be drawn with raw HTML escaped.
        embed_url: absolute, on an origin that the app may embed.
        refused: why an ``embedUrl`` was left off (``embed_refused``), or None.
        result: the answer as it came, without what was left off.
    """

    content: str
    markdown: str | None = None
    embed_url: str | None = None
    refused: str | None = None
    result: JsonValue = None


def takes_channels(tool: Tool) -> bool:
    """Whether the answers of a tool are read as channels."""
    return (
        isinstance(tool.destination, AppTarget)
        and tool.response_mapping is None
        and tool.polling is None
    )


def card_of(body: Body) -> JsonObject | None:
    """The answer where it is an action card, else None."""
    value = body.value
    return value if is_object(value) and value.get("type") == ACTION_REQUIRED else None


def read_channels(
    tool: Tool, body: Body, masker: Masker, *, embeds: AbstractSet[str], embed_masker: Masker
) -> Channels:
    """Read a handler's answer.

    Args:
        tool: whose answer it is.
        body: decoded, as it came.
        masker: takes secrets out of what is stored and shown.
        embeds: origins that a frame may have (``embed_origins``).
        embed_masker: the same for ``embedUrl``: an app may hand its own page the identity token
            that it was called with.

    Raises:
        ResponseInvalid: no ``content``, or a channel that is no text.
    """
    value = body.value
    if isinstance(value, str):
        # Frameworks write a text as JSON, too.
        content = masker.text(value)
        return Channels(content=_content(tool, content), result=content)
    if not is_object(value):
        raise _invalid(
            tool, "answered with nothing" if value is None else f"answered with {kind(value)}"
        )
    content = _content(tool, masker.text(_text(tool, value, "content") or ""))
    markdown = masker.text(_text(tool, value, "markdown") or "")
    if len(markdown) > MAX_MARKDOWN:
        raise _invalid(tool, f"answered with {len(markdown):,} characters of markdown")
    written = embed_masker.text(_text(tool, value, "embedUrl") or "")
    refused = why_not_embedded(written, embeds) if written else None
    rest = {name: item for name, item in value.items() if name != "embedUrl"}
    result: JsonObject = masker.value(rest)  # pyright: ignore[reportAssignmentType] -- JSON in, JSON out
    if written and refused is None:
        result["embedUrl"] = written
    return Channels(
        content=content,
        markdown=markdown or None,
        embed_url=written if written and refused is None else None,
        refused=refused,
        result=result,
    )


def embed_origins(definition: Definition, transcripts: AbstractSet[str]) -> frozenset[str]:
    """The origins that a page of the app may be framed from.

    Args:
        definition: its components and its ``baseUrl``.
        transcripts: origins on which a chat is shown; a frame of the same origin would not be
            kept apart from it by its sandbox.
    """
    own = {str(component.url.origin) for component in definition.components.values()}
    if definition.base_url is not None:
        own.add(str(definition.base_url.origin))
    return frozenset(own - transcripts)


def why_not_embedded(written: str, embeds: AbstractSet[str]) -> str | None:
    """Why an ``embedUrl`` is left off the card, as a sentence; None where it is drawn."""
    address, _, fragment = written.partition("#")
    if len(written) > MAX_URL_BYTES or not _FRAGMENT.fullmatch(fragment):
        return "embedUrl is too long, or its fragment holds characters that no address has."
    try:
        url = parse_url(address)
    except UrlFault as fault:
        return (
            f"embedUrl must be an absolute https address ({fault.reason}); on this machine it may "
            "be http. Build it from the component's public URL."
        )
    if url.origin.scheme != "https" and not url.origin.is_loopback:
        return "embedUrl is an http address. Serve the page over https."
    if str(url.origin) not in embeds:
        return (
            f"embedUrl is on {url.origin.authority[:_MAX_SHOWN]}, which is none of the app's own "
            "origins, or the one that the chat is on. Serve the page from a component."
        )
    return None


def without_query(address: str) -> str:
    """An address as records and exports have it: what its query and fragment say is masked."""
    return _BEYOND_PATH.sub(r"\1***", address, count=1)


def _content(tool: Tool, content: str) -> str:
    if not content.strip():
        raise _invalid(tool, "answered without content")
    return content


def _text(tool: Tool, value: JsonObject, name: str) -> str | None:
    found = value.get(name)
    if found is None or isinstance(found, str):
        return found
    raise _invalid(tool, f"answered with {kind(found)} as {name}")


def _invalid(tool: Tool, what: str) -> ResponseInvalid:
    return ResponseInvalid(
        f"{tool.name}: the app {what}. A handler must answer a text, or JSON with a content that "
        "is not empty, and with markdown and embedUrl as texts where it has them.",
        sent=True,
    )
