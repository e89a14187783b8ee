"""What a model reads of a tool in words: the app's name, then the author's text (section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject

# OpenAI's chat completions, and many servers that speak them, refuse a longer description of a
# function, and with it the whole request. The texts inside its parameters have no such bound.
OPENAI_MAX_DESCRIPTION = 1024
_GOES_ON = " … (goes on in the description of the parameters)"


def description_of(app_name: str, tool: Tool) -> str:
    """``[<App name>] `` and the tool's description, all of it visible."""
    return f"[{_bracketed(app_name)}] {visible(tool.description)}".rstrip()


def _bracketed(app_name: str) -> str:
    """The app's name, unable to close its brackets or to leave its line."""
    name = " ".join(visible(app_name).split())
    return name.replace("[", "(").replace("]", ")")


def fitted_description(text: str, schema: JsonObject) -> tuple[str, JsonObject]:
    """A description within OpenAI's bound, and the parameters that carry the rest of it.

    Nothing is lost: what is over the bound becomes the first part of the root's description.
    """
    if len(text) <= OPENAI_MAX_DESCRIPTION:
        return text, schema
    limit = OPENAI_MAX_DESCRIPTION - len(_GOES_ON)
    # At the end of a word, where one is near.
    cut = max(text.rfind(" ", 0, limit), text.rfind("\n", 0, limit))
    cut = cut if cut > limit - 200 else limit
    rest, own = text[cut:].strip(), schema.get("description")
    joined = f"{rest}\n\n{own}" if isinstance(own, str) and own else rest
    return text[:cut].rstrip() + _GOES_ON, {**schema, "description": f"… {joined}"}
