"""What the tools take: the models that ``tools.py`` declares and the handlers are given."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, HttpUrl

Tag = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,29}$")]
DEFAULT_WEEKS = 8
DEFAULT_DAYS = 90


class SaveBookmark(BaseModel, extra="forbid"):
    """One page to keep."""

    url: HttpUrl = Field(description="The address of the page, http or https.")
    title: str | None = Field(
        None, min_length=1, max_length=200, description="What people read in the list."
    )
    tags: list[Tag] = Field(
        default_factory=list,
        max_length=8,
        description='Small letters, digits and "-", such as "reading".',
    )


class SearchBookmarks(BaseModel, extra="forbid"):
    """What to look for."""

    words: str | None = Field(
        None,
        max_length=200,
        description="All of these words are in title, address or tags; without it, the newest.",
    )
    tag: Tag | None = Field(None, description="Only bookmarks with this very tag.")
    limit: int = Field(10, ge=1, le=50, description="How many at most; 10 without it.")


class ShowDashboard(BaseModel, extra="forbid"):
    """How much of the past to show."""

    weeks: int = Field(
        DEFAULT_WEEKS, ge=4, le=26, description="How many weeks up to today; 8 without it."
    )


class ImportFromMail(BaseModel, extra="forbid"):
    """Which mails to read; ``skills/mail/tools.ts`` declares the same to the agent."""

    days: int = Field(DEFAULT_DAYS, ge=1, le=365)
    tag: Tag | None = None
