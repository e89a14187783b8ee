"""The handlers of the tools, and of the button on the card that connects the mailbox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from starlette.routing import Route

from api.frames import Frames
from api.inputs import ImportFromMail, SaveBookmark, SearchBookmarks, ShowDashboard
from api.mailbox import bookmarks_in, sample
from api.numbers import count, day, plural
from api.store import Bookmark, Owner, Store
from remit.kit import AppTarget, Button, Call, Card, DomainError, Result
from remit.kit.starlette import Endpoint, handler

CONNECT = AppTarget("api", "/mail/connect", "POST", body="${input}")
CONNECT_REQUIRED = DomainError(
    "connect_required",
    "The mailbox is not connected. The user connects it in a conversation, once.",
    409,
)
_LISTED = 10
_MARKDOWN = re.compile(r"([\\`*_\[\]()<>#|!])")


class Handlers:
    """The tools of a component; each serves the user whom its call names, and nobody else.

    Args:
        store: the database.
        frames: the embedded pages.
    """

    def __init__(self, store: Store, frames: Frames) -> None:
        self._store = store
        self._frames = frames
        # `handler` finds the input's model by the annotation, on a bound method as well.
        self.routes = (
            _route("/tools/save-bookmark", handler(self._save)),
            _route("/tools/search-bookmarks", handler(self._search)),
            _route("/tools/show-dashboard", handler(self._show_dashboard)),
            _route("/tools/import-from-mail", handler(self._import_from_mail)),
            _route(CONNECT.path, handler(self._connect)),
        )

    def _save(self, wish: SaveBookmark, call: Call) -> Result:
        url = str(wish.url)
        one = Bookmark(
            url=url,
            title=wish.title or url,
            saved_on=_today(),
            tags=tuple(dict.fromkeys(wish.tags)),
        )
        new = self._store.save(_owner(call), [one], "agent")
        tags = f" with the tags {', '.join(one.tags)}" if one.tags else ""
        if not new:
            return Result(f"{url} was saved before{f'; it is there{tags} now' if tags else ''}.")
        return Result(f"Saved {url}{tags}.", markdown=f"Saved {_link(one)}")

    def _search(self, wish: SearchBookmarks, call: Call) -> Result:
        found, total = self._store.search(
            _owner(call), (wish.words or "").split(), tag=wish.tag, limit=wish.limit
        )
        if not found:
            return Result("No bookmark has all of that. Try one word, or none for the newest.")
        head = f"{plural(total)} found" + (f", the newest {len(found)} of them:" if
                                           total > len(found) else ":")  # fmt: skip
        return Result("\n".join([head, *map(_line, found)]), markdown=_listed(found, total))

    def _show_dashboard(self, wish: ShowDashboard, call: Call) -> Result:
        owner = _owner(call)
        numbers = count(self._store.bookmarks(owner), weeks=wish.weeks, today=_today())
        return Result(
            f"{numbers.words()} The user sees a chart of it.",
            embed_url=self._frames.address(owner, wish.weeks),
        )

    def _import_from_mail(self, wish: ImportFromMail, call: Call) -> Result | Card:
        if self._store.is_connected(_owner(call)):
            return self._imported(wish, _owner(call))
        return Card(
            "Connect your mailbox",
            "Acme Bookmarks then reads the links in your mails of the last "
            f"{wish.days} days, now and whenever you ask for it again. It changes no mail.",
            buttons=[
                Button(
                    *("connect", "Connect and import", "primary"),
                    input=wish.model_dump(mode="json", exclude_none=True),
                    target=CONNECT,
                )
            ],
            otherwise=CONNECT_REQUIRED,
        )

    def _connect(self, wish: ImportFromMail, call: Call) -> Result:
        """What the card's button calls: connects, and goes on with what the tool was to do."""
        now = datetime.now(UTC)
        self._store.connect(_owner(call), sample(now.date()), at=now)
        return self._imported(wish, _owner(call))

    def _imported(self, wish: ImportFromMail, owner: Owner) -> Result:
        mails = self._store.mails(owner, since=_today() - timedelta(days=wish.days))
        links = [one for mail in mails for one in bookmarks_in(mail, wish.tag)]
        new = self._store.save(owner, links, "mail")
        head = (
            f"Read {len(mails)} mails of the last {wish.days} days: {len(links)} links, "
            f"{len(new)} of them new."
        )
        if not new:
            return Result(head)
        newest = sorted(new, key=lambda one: one.saved_on, reverse=True)
        return Result("\n".join([head, *map(_line, newest)]), markdown=_listed(newest, len(newest)))


def _route(path: str, endpoint: Endpoint) -> Route:
    return Route(path, endpoint, methods=["POST", "OPTIONS"])


def _owner(call: Call) -> Owner:
    return Owner(call.identity.installation, call.user)


def _today() -> date:
    return datetime.now(UTC).date()


def _line(one: Bookmark) -> str:
    """A bookmark for the model."""
    tags = f" #{' #'.join(one.tags)}" if one.tags else ""
    return f"- {one.title} <{one.url}>{tags}, saved {one.saved_on}"


def _listed(bookmarks: Sequence[Bookmark], total: int) -> str:
    """Bookmarks for the card that the user sees."""
    lines = [f"- {_link(one)} · {day(one.saved_on)}" for one in bookmarks[:_LISTED]]
    more = total - len(lines)
    return "\n".join([*lines, *([f"\nand {more} more"] if more > 0 else [])])


def _link(one: Bookmark) -> str:
    """A link; what a title holds of Markdown stands as it is."""
    title = _MARKDOWN.sub(r"\\\1", one.title.replace("\n", " "))
    return f"[{title}]({one.url.replace('(', '%28').replace(')', '%29')})"
