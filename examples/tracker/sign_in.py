"""The demo's sign-in: whoever is picked in the menu is who one is, in a cookie that is signed.

There is no password, because there is nothing to protect. What stands on it is as in a real app:
no route believes an id that the page sends.
"""

from __future__ import annotations

import hashlib
import hmac
import time

from starlette.responses import Response

from answers import Asked, Problem, route, said
from workspaces import Member, Workspaces

COOKIE = "tracker_user"
_VALID_S = 7 * 24 * 3600


class SignIn:
    """Who somebody is, by their cookie.

    Args:
        workspaces: who there is.
        secret: what cookies are signed with.
        has_agent: whether a chat can be offered, which the page wants to know at once.
    """

    def __init__(self, workspaces: Workspaces, secret: bytes, *, has_agent: bool) -> None:
        self._workspaces = workspaces
        self._secret = secret
        self._has_agent = has_agent
        self.routes = (
            route("GET", "/api/me", self._me),
            route("POST", "/sign-in", self._sign_in),
            route("POST", "/sign-out", self._sign_out),
        )

    def user(self, asked: Asked) -> str:
        """Who asks.

        Raises:
            Problem: nobody is signed in, or the cookie is not ours or is over.
        """
        user = self._user_of(asked.cookies.get(COOKIE, ""))
        if user is None:
            raise Problem(401, "not_signed_in", "You are not signed in. Pick who you are.")
        return user

    def member(self, asked: Asked, tenant: str) -> Member:
        """Who asks, as a member of a tenant.

        Raises:
            Problem: nobody is signed in, or they do not belong to it; an unknown one looks alike.
        """
        member = self._workspaces.member(tenant, self.user(asked))
        if member is None:
            raise Problem(404, "no_workspace", "You have no workspace of this name.")
        return member

    def _me(self, asked: Asked) -> Response:
        user = self._user_of(asked.cookies.get(COOKIE, ""))
        return said({"user": user, "agent": self._has_agent})

    def _sign_in(self, asked: Asked) -> Response:
        user = asked.text("user")
        if not self._workspaces.has_person(user):
            raise Problem(404, "no_person", "There is nobody of this name.")
        answer = said({"user": user, "agent": self._has_agent})
        answer.set_cookie(
            COOKIE, self._signed(user), max_age=_VALID_S, httponly=True, samesite="strict"
        )
        return answer

    def _sign_out(self, asked: Asked) -> Response:
        del asked
        answer = said({"user": None, "agent": self._has_agent})
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    def _signed(self, user: str) -> str:
        until = str(int(time.time()) + _VALID_S)
        return f"{user}.{until}.{self._signature(user, until)}"

    def _user_of(self, cookie: str) -> str | None:
        user, _, rest = cookie.partition(".")
        until, _, signature = rest.partition(".")
        ours = hmac.compare_digest(signature.encode(), self._signature(user, until).encode())
        if not ours or not self._workspaces.has_person(user) or int(until) < time.time():
            return None
        return user

    def _signature(self, user: str, until: str) -> str:
        return hmac.new(self._secret, f"{user}.{until}".encode(), hashlib.sha256).hexdigest()
