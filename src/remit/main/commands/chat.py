"""``remit chat``: a conversation over the HTTP API (contract sections 9, 10 and 13)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.main.chat_api import SessionApi, objects, text
from remit.main.chat_card import resume_command
from remit.main.chat_view import View
from remit.main.chatting import Conversation
from remit.main.output import is_terminal, paint, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.values.json import JsonObject

# Of a session that is taken up, so many events are shown again.
_SHOWN_AGAIN = 200


def run(*, server: str | None, user: str | None, apps: Sequence[str], session: str | None) -> int:
    """Talk until the user leaves, or stdin ends.

    Raises:
        WrongUse: nobody is named, the server is not reached, or the key opens nothing.
        RemitError: the server refuses the session.
    """
    if session is None and user is None:
        raise WrongUse("Whose conversation is it? Name a user: remit chat --user NAME")
    if session is not None and apps:
        raise WrongUse("--app is for a new session; the one of --session has its apps already.")
    view = View()
    api = SessionApi(server, lambda words: view.line(words, "yellow"))
    found = _begun(api, user or "", apps) if session is None else api.resume(session, user)
    at_terminal = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    head = 0
    if at_terminal:
        say(_heading(found))
    if session is not None:
        head = _shown_again(api, view, found, at_terminal=at_terminal)
    talk = Conversation(api, view, head=head, waiting=objects(found.get("inputs")))
    talk.start()
    try:
        if at_terminal:
            return talk.at_terminal(running=found.get("status") != "idle")
        return talk.in_pipe()
    finally:
        view.clear()
        talk.close()
        say(f"Next: {resume_command(api.session, server)}")


def _begun(api: SessionApi, user: str, apps: Sequence[str]) -> JsonObject:
    chosen = tuple(apps) or api.apps()
    return api.begin(user, chosen)


def _heading(found: JsonObject) -> str:
    apps = ", ".join(text(app.get("id")) for app in objects(found.get("apps"))) or "no app"
    title = text(found.get("title"))
    first = f"{title}\n" if title else ""
    words = f"{first}Chat as {text(found.get('user'))} with {apps}."
    return paint(f"{words} Ctrl-C stops the agent, then leaves.", "dim", sys.stderr)


def _shown_again(api: SessionApi, view: View, found: JsonObject, *, at_terminal: bool) -> int:
    """Show what was said last; the number of the last event that was shown."""
    head = found.get("headSeq")
    last = head if isinstance(head, int) else 0
    after = max(0, last - _SHOWN_AGAIN)
    if not at_terminal:
        return last
    if after:
        view.line("What was said before is left out.")
    for event in api.log(after):
        if event.seq is not None and event.seq <= last:
            view.show(event)
    view.rest()
    return last
