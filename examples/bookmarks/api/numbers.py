"""What the dashboard counts: bookmarks by week and by tag, over the last weeks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from api.store import Bookmark

MOST_TAGS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The counts of a stretch of weeks.

    Attributes:
        total: of all bookmarks, however old.
        by_week: the Monday that a week begins with, and its count; the oldest first, every week.
        by_tag: a tag and its count; the most first, at most ``MOST_TAGS``.
    """

    total: int
    by_week: tuple[tuple[date, int], ...]
    by_tag: tuple[tuple[str, int], ...]

    @property
    def recent(self) -> int:
        """Bookmarks within the weeks."""
        return sum(count for _, count in self.by_week)

    def words(self) -> str:
        """The numbers in words, for a model and for who cannot see the chart."""
        if not self.recent:
            return f"None of {plural(self.total)} is of the last {len(self.by_week)} weeks."
        weeks = ", ".join(f"{day(monday)}: {count}" for monday, count in self.by_week)
        tags = ", ".join(f"{tag}: {count}" for tag, count in self.by_tag) or "none"
        return (
            f"{self.recent} of {plural(self.total)} are of the last {len(self.by_week)} weeks. "
            f"By the Monday of the week: {weeks}. By tag: {tags}."
        )


def count(bookmarks: Sequence[Bookmark], *, weeks: int, today: date) -> Numbers:
    """Count what was saved in the week of today and in those before it."""
    this = today - timedelta(days=today.weekday())
    mondays = [this - timedelta(weeks=back) for back in reversed(range(weeks))]
    recent = [one for one in bookmarks if mondays[0] <= one.saved_on <= today]
    per_week = Counter(one.saved_on - timedelta(days=one.saved_on.weekday()) for one in recent)
    per_tag = Counter(tag for one in recent for tag in one.tags)
    return Numbers(
        total=len(bookmarks),
        by_week=tuple((monday, per_week[monday]) for monday in mondays),
        by_tag=tuple(sorted(per_tag.items(), key=lambda item: (-item[1], item[0]))[:MOST_TAGS]),
    )


def day(of: date) -> str:
    """A day as "3 Oct"."""
    return f"{of.day} {of:%b}"


def plural(bookmarks: int) -> str:
    """A number of bookmarks."""
    return f"{bookmarks} bookmark{'' if bookmarks == 1 else 's'}"
