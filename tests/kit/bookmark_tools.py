"""The two tools of the app that every framework serves in turn."""

from __future__ import annotations

from pydantic import BaseModel, HttpUrl

from remit.kit import AppTarget, Tool

AUDIENCE = "bookmarks/api"


class SaveBookmark(BaseModel, extra="forbid"):
    """What is saved."""

    url: HttpUrl
    title: str = ""


class Search(BaseModel, extra="forbid", strict=True):
    """What is looked for."""

    words: list[str]
    limit: int = 10
    exact: bool = False


TARGET = AppTarget("api", "/tools/save", "POST", body="${input}")
SAVE = Tool(
    "save_bookmark",
    description="Saves a bookmark. Not for reading one.",
    input=SaveBookmark,
    target=TARGET,
)
SEARCH = Tool(
    "search",
    description="Finds bookmarks.",
    input=Search,
    target=AppTarget(
        "api",
        "/tools/search",
        "GET",
        query={"words": "${input.words}", "limit": "${input.limit}", "exact": "${input.exact}"},
    ),
)
