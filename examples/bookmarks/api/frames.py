"""The embedded dashboard: a one-time code opens it, a cookie of its own keeps it open.

Whoever has the address later has nothing: the code opens a page once, within a minute, and what it
is given back for stays in that browser, for the path of that page alone.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from api import page
from api.numbers import count
from api.settings import Settings
from api.store import Frame, Owner, Store
from remit.kit import component_url

CODE_S = 60
COOKIE_S = 3_600
_PATH = "/dashboard"
_WEEKS = re.compile(r"[0-9]{1,2}")


class Frames:
    """The pages of a component.

    Args:
        store: the database.
        settings: which brand shows them, and where they may be framed.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self.routes = (
            Route(_PATH, self._opened),
            Route(f"{_PATH}/{{frame}}", self._shown),
        )

    def address(self, owner: Owner, weeks: int) -> str:
        """An absolute address that opens a user's dashboard once, within a minute."""
        code, now = secrets.token_urlsafe(32), time.time()
        frame = Frame(id=secrets.token_hex(8), owner=owner, weeks=weeks)
        self._store.add_frame(frame, _sha256(code), until=now + CODE_S, now=now)
        return component_url(f"{_PATH}?code={code}")

    def _opened(self, request: Request) -> Response:
        """Take the code, give the cookie; the page's own address has neither."""
        code, cookie = request.query_params.get("code", ""), secrets.token_urlsafe(32)
        now = time.time()
        frame = self._store.open_frame(
            _sha256(code), _sha256(cookie), until=now + COOKIE_S, now=now
        )
        if frame is None:
            return self._again(request, code)
        answer = self._to(frame)
        # In a frame on another site a cookie is kept and sent only if it says all of this. Before
        # Python 3.14 its library cannot write the last of it.
        is_public = self._settings.component_url.startswith("https://")
        where = "SameSite=None; Secure; Partitioned" if is_public else "SameSite=Lax"
        answer.headers["Set-Cookie"] = (
            f"{_cookie(frame.id)}={cookie}; HttpOnly; Max-Age={COOKIE_S}; Path={_PATH}; {where}"
        )
        return answer

    def _again(self, request: Request, code: str) -> Response:
        """A used code in the browser that used it: the page around was loaded again."""
        frame = self._store.frame_of_code(_sha256(code))
        if frame is None or self._of_cookie(request, frame.id) is None:
            return self._closed()
        return self._to(frame)

    def _shown(self, request: Request) -> Response:
        frame = self._of_cookie(request, request.path_params["frame"])
        if frame is None:
            return self._closed()
        brand = self._settings.brand
        wished = request.query_params.get("weeks", "")
        weeks = int(wished) if _WEEKS.fullmatch(wished) else frame.weeks
        if weeks not in page.CHOICES:
            weeks = frame.weeks
        numbers = count(
            self._store.bookmarks(frame.owner), weeks=weeks, today=datetime.now(UTC).date()
        )
        text = page.dashboard(numbers, path=f"{_PATH}/{frame.id}", brand=brand)
        return HTMLResponse(text, headers=page.headers(brand, self._settings.framed_by))

    def _of_cookie(self, request: Request, id_: str) -> Frame | None:
        cookie = request.cookies.get(_cookie(id_), "")
        return self._store.frame_of_cookie(id_, _sha256(cookie), now=time.time())

    def _to(self, frame: Frame) -> Response:
        headers = page.headers(self._settings.brand, self._settings.framed_by)
        return RedirectResponse(f"{_PATH}/{frame.id}", 303, headers)

    def _closed(self) -> Response:
        brand = self._settings.brand
        headers = page.headers(brand, self._settings.framed_by)
        return HTMLResponse(page.closed(brand), 403, headers)


def _cookie(frame: str) -> str:
    return f"frame_{frame}"


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
