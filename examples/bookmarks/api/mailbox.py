"""A small mailbox of made-up mails, and how links are read out of one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import urlsplit

from api.store import Bookmark, Mail

_LINK = re.compile(r"https?://[^\s<>\"']+")
_TAG = re.compile(r"\B#([a-z0-9][a-z0-9-]{0,29})\b")
_ENDS = ".,;:!?)"
_MAX_URL = 2_000
# Days before today, sender, subject, body. The hosts are reserved: nobody has them.
_SAMPLE = (
    (2, "mara@acme.example", "Before you cut the next release",
     "Ours went wrong at this step: https://ops.example/rollbacks-without-tears #ops"),
    (3, "digest@weekly.example", "Weekly reading",
     "https://essays.example/on-small-tools and https://essays.example/slow-software #reading"),
    (6, "ben@acme.example", "that soup",
     "https://kitchen.example/lentils-with-lemon #cooking"),
    (9, "mara@acme.example", "Re: Postmortem",
     "The part on timeouts is here: https://ops.example/timeouts-add-up #ops #reading"),
    (10, "digest@weekly.example", "Weekly reading",
     "https://essays.example/the-last-mile-of-search #reading #search"),
    (12, "ines@design.example", "Charts that are honest",
     "https://charts.example/start-at-zero, https://charts.example/fewer-colours #design"),
    (17, "digest@weekly.example", "Weekly reading",
     "https://essays.example/notes-on-notes #reading"),
    (20, "ben@acme.example", "bread", "https://kitchen.example/no-knead-rye #cooking"),
    (24, "ines@design.example", "Type on small screens",
     "https://type.example/forty-five-to-seventy-five #design #reading"),
    (26, "mara@acme.example", "SQLite in production",
     "https://data.example/one-writer and https://data.example/wal-in-plain-words #databases"),
    (31, "digest@weekly.example", "Weekly reading",
     "https://essays.example/why-we-reread #reading"),
    (38, "mara@acme.example", "Index or not",
     "https://data.example/the-index-you-do-not-need #databases #reading"),
    (45, "digest@weekly.example", "Weekly reading",
     "https://essays.example/a-case-for-lists #reading"),
    (47, "office@acme.example", "Lunch on Friday", "At noon, in the yard. Bring a chair."),
    (52, "ines@design.example", "Dark mode",
     "https://type.example/not-just-inverted #design"),
    (80, "digest@weekly.example", "Weekly reading",
     "https://essays.example/long-walks #reading"),
)  # fmt: skip


def sample(today: date) -> list[Mail]:
    """The mails, as if they had come in the last three months."""
    return [
        Mail(received_on=today - timedelta(days=days), sender=sender, subject=subject, body=body)
        for days, sender, subject, body in _SAMPLE
    ]


def bookmarks_in(mail: Mail, tag: str | None) -> Iterator[Bookmark]:
    """The links of a mail as bookmarks: dated as it, with its hashtags, titled by their paths."""
    tags = tuple(dict.fromkeys(([tag] if tag else []) + _TAG.findall(mail.body)))
    for link in _LINK.findall(mail.body):
        url = link.rstrip(_ENDS)
        if len(url) <= _MAX_URL:
            yield Bookmark(url=url, title=_title(url), saved_on=mail.received_on, tags=tags[:8])


def _title(url: str) -> str:
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    return last.replace("-", " ").capitalize()[:200] or url
