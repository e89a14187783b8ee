"""The back end of the chat: makes the Remit session of a signed-in user, and its tokens.

The key stays here. The page gets a token that reaches one session and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast

import httpx2
from starlette.responses import Response

from answers import Asked, Problem, route, said
from database import Database
from sign_in import SignIn
from workspaces import Member, Workspaces

# What the page may lend the agent: no other names are taken, and nothing above the ceiling.
PAGE_TOOLS = (
    "list_issues",
    "get_issue",
    "create_issue",
    "update_issue",
    "assign_issue",
    "delete_issue",
    "list_projects",
    "list_members",
    "navigate",
    "save_estimate",
)
_CEILING = {"category": "write", "dangerLevel": "destructive"}
_TIMEOUT_S = 10
_LOG = logging.getLogger("tracker")


class RemitServer:
    """The three requests that a back end sends to a Remit server.

    Args:
        url: its origin.
        key: a key of the role `backend`.
    """

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self._client = httpx2.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=_TIMEOUT_S
        )

    def make_session(self, user: str, instructions: str) -> str:
        """A session with no apps: the agent has what the page lends it.

        Raises:
            Problem: the server cannot be reached, or refuses.
        """
        body: dict[str, object] = {
            "apps": [],
            "user": user,
            "instructions": instructions,
            "clientTools": PAGE_TOOLS,
            "clientCeiling": _CEILING,
        }
        made = self._ask("POST", "/v1/sessions", body)
        if made is None:
            raise _refused()
        return _text(made, "id")

    def goes_on(self, session: str) -> bool:
        """Whether a session is still there and not closed.

        Raises:
            Problem: the server cannot be reached, or refuses.
        """
        found = self._ask("GET", f"/v1/sessions/{session}")
        return found is not None and found.get("status") != "closed"

    def make_token(self, session: str) -> str | None:
        """A token for one session, or None where the session is gone.

        Raises:
            Problem: the server cannot be reached, or refuses.
        """
        made = self._ask("POST", f"/v1/sessions/{session}/tokens", {})
        return None if made is None else _text(made, "clientToken")

    def _ask(self, method: str, path: str, body: object = None) -> Mapping[str, object] | None:
        try:
            answer = self._client.request(method, path, json=body)
        except httpx2.HTTPError as error:
            _LOG.warning("%s %s did not reach the Remit server: %s", method, path, error)
            words = "The assistant cannot be reached just now. The tracker works without it."
            raise Problem(502, "agent_unreachable", words) from None
        if answer.status_code == 404:
            return None
        if not answer.is_success:
            _LOG.warning("The Remit server answered %s %s: %s", method, path, answer.status_code)
            raise _refused()
        try:
            found: object = answer.json()
        except ValueError:
            raise _refused() from None
        if not isinstance(found, dict):
            raise _refused()
        return cast("dict[str, object]", found)


class Conversations:
    """One conversation for each user and tenant, so that nothing said in one is read in another.

    Args:
        workspaces: who belongs where.
        database: remembers which session is whose.
        sign_in: says who asks.
        remit: the server with the agent, or None where none is set.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        database: Database,
        sign_in: SignIn,
        remit: RemitServer | None,
    ) -> None:
        self._workspaces = workspaces
        self._database = database
        self._sign_in = sign_in
        self._remit = remit
        self.routes = (
            route("POST", "/agent/session", self._session),
            route("POST", "/agent/token", self._token),
        )

    def _session(self, asked: Asked) -> Response:
        """The conversation that goes on, or with `fresh` a new one."""
        member = self._sign_in.member(asked, asked.text("tenant"))
        remit = self._agent()
        known = self._database.conversation(member.tenant, member.user)
        if known is not None and asked.body.get("fresh") is not True and remit.goes_on(known):
            return said({"id": known, "server": remit.url})
        session = remit.make_session(member.user, _instructions(member))
        self._database.keep_conversation(session, member.tenant, member.user)
        return said({"id": session, "server": remit.url}, status=201)

    def _token(self, asked: Asked) -> Response:
        """A token, for a session of whoever is signed in and for no other."""
        user, session = self._sign_in.user(asked), asked.text("session")
        tenant = self._database.tenant_of_conversation(session, user)
        # Who left the tenant has no conversation in it any more.
        if tenant is None or self._workspaces.member(tenant, user) is None:
            raise _no_conversation()
        token = self._agent().make_token(session)
        if token is None:
            raise _no_conversation()
        return said({"token": token}, status=201)

    def _agent(self) -> RemitServer:
        if self._remit is None:
            words = "No assistant is set up for this tracker."
            raise Problem(503, "no_agent", words)
        return self._remit


def _instructions(member: Member) -> str:
    rights = {
        "admin": "may read, change and delete issues",
        "member": "may read and change issues",
        "viewer": "may read issues and change nothing",
    }
    return (
        f"You are the assistant in Tracker, an issue tracker. You help {member.name}, who works in "
        f"the workspace {member.tenant_name} as its {member.role} and {rights[member.role]}. "
        "Issues have ids such as WEB-12; use ids that the tools answered with, and never make one "
        "up. Read the current state before you change something, because people change it too. "
        "Show an issue with the widget issueCard rather than in words. Answer briefly."
    )


def _text(answer: Mapping[str, object], key: str) -> str:
    value = answer.get(key)
    if not isinstance(value, str):
        raise _refused()
    return value


def _refused() -> Problem:
    words = "The assistant did not answer as it should. The tracker works without it."
    return Problem(502, "agent_refused", words)


def _no_conversation() -> Problem:
    return Problem(404, "no_conversation", "This conversation is not yours, or it is over.")
