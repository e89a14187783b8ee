"""The tracker's pages for ``remit demo``: walked through in a real browser without a window.

What is said is said in the page's own chat; what came of it is read from the page's store, from
the tracker's database and from the session's log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from remit.main.demo_talk import Talk, open_input
from remit.main.output import print_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.main.demo_browser import Page
    from remit.main.example import RunningTracker
    from remit.main.server_walk import Walk
    from remit.values.json import JsonObject, JsonValue

#: The conversations of Ana's, as the tracker's database has them.
CONVERSATIONS = "select session from conversations where tenant = 'harbor' and user = 'ana'"
_CHAT = "document.querySelector('.assistant .chat')?.shadowRoot"
_CARD = "document.querySelector('.assistant .card')?.innerText"
_ESTIMATE = "select points, version, saved_by from estimates where tenant = 'harbor' and issue = ?"
_ISSUE, _STOCK, _FOREIGN = "WEB-1", "WEB-5", "APP-1"

_LOOK = f"What is urgent? Open {_ISSUE}, and show it to me."
_GIVE = f"Give {_ISSUE} to Eva. How does it stand now?"
_SIZE = f"{_ISSUE} is 5 points."
_ELSEWHERE = f"Open {_FOREIGN} of the other workspace, and https://shop.example/."
_DELETE = f"Delete {_STOCK}."


def _calls(*calls: tuple[str, JsonObject], text: str = "") -> JsonObject:
    return {"text": text, "calls": [{"name": name, "args": args} for name, args in calls]}


_URGENT = _calls(("list_issues", {"priority": "urgent"}))
#: What the scripted model says: in the story, and to whoever comes after it.
LINES: dict[str, list[JsonObject | str]] = {
    _LOOK: [
        _URGENT,
        _calls(
            ("navigate", {"url": f"/issues/{_ISSUE}"}),
            ("widget_issueCard", {"id": _ISSUE}),
            text="I open it. ",
        ),
        "Two are urgent, and this is the one.",
        _calls(("assign_issue", {"id": _ISSUE, "assigneeId": "eva"})),
        _calls(("get_issue", {"id": _ISSUE})),
        "Eva has it, and it is in review.",
        _calls(("save_estimate", {"id": _ISSUE, "points": "5"})),
        "It is saved.",
        _calls(("navigate", {"url": f"/issues/{_FOREIGN}"})),
        _calls(("navigate", {"url": "https://shop.example/"})),
        "Neither can be opened from here.",
        _calls(("delete_issue", {"id": _STOCK})),
        "It is deleted.",
    ],
    "*": [
        _URGENT,
        _calls(
            ("navigate", {"url": "/board"}),
            ("widget_issueCard", {"id": _ISSUE}),
            text="I am a script, and do the same whatever I am asked: here is the board. ",
        ),
        "With REMIT_MODEL_NAME set a model answers you here.",
    ],
}


class Story:
    """One walk through the pages.

    Args:
        walk: with a server of its own.
        tracker: the app.
        page: the browser.
    """

    def __init__(self, walk: Walk, tracker: RunningTracker, page: Page) -> None:
        self._walk = walk
        self._demo = walk.demo
        self._tracker = tracker
        self._page = page
        self._talk = Talk(walk, "")

    def walk(self) -> None:
        """Walk through it; where an effect is not as expected, no further."""
        failed = len(self._demo.failed)
        steps: tuple[Callable[[], None], ...] = (
            self._sign_in,
            self._look,
            self._by_hand,
            self._change,
            self._save,
            self._refuse,
            self._delete,
        )
        for step in steps:
            step()
            if len(self._demo.failed) > failed:
                print_text(
                    "   Each step goes on from the one before, so that the rest is left out."
                )
                return
        if self._demo.person:
            self._start_over()

    def _sign_in(self) -> None:
        demo, page = self._demo, self._page
        demo.step(
            "Sign in to it in a browser",
            "Its back end makes a session without any app: the agent has what Ana's page lends it.",
        )
        page.open(self._tracker.url)
        self._press("Ana Ortiz")
        ready = page.until(f"{_CHAT}?.querySelector('textarea')")
        made = self._sessions()
        self._talk = Talk(self._walk, made[0] if made else "")
        path = self._talk.path
        session = self._walk.ask("tracker", "GET", path, shown=lambda reply: _who(reply.body)).body
        demo.holds(
            "the page keeps that Ana is there, and has a chat; the session is hers, with no app",
            true=ready
            and len(made) == 1
            and self._store().get("userId") == session.get("user") == "ana"
            and session.get("apps") == [],
        )

    def _look(self) -> None:
        demo, page = self._demo, self._page
        demo.step("Look through it, open a page, show a card", self._walk.speaker)
        self._say(_LOOK)
        at = page.run("location.pathname")
        kept = page.until(f"{_CHAT}?.textContent.includes({json.dumps(_LOOK)})")
        self._walk.expects(
            f"the page is at /issues/{_ISSUE} now, and the conversation is the one it was",
            true=at == f"/issues/{_ISSUE}" and kept and len(self._sessions()) == 1,
        )
        urgent = [one for one in self._issues() if one.get("priority") == "urgent"]
        self._walk.expects(
            f"the agent was told of the {len(urgent)} urgent issues that the page's store has",
            true=f'"total":{len(urgent)},' in str(self._talk.result("list_issues").get("content")),
        )
        title = json.dumps(self._issue(_ISSUE).get("title"))
        self._walk.expects(
            "its card stands in the chat, drawn by the page's own component",
            true=page.until(f"{_CARD}?.includes({title})"),
        )

    def _by_hand(self) -> None:
        demo, page = self._demo, self._page
        demo.step("Change it by hand", "Ana sets the status in the page, as without an agent.")
        calls = self._talk.calls
        page.run(_choose("in_review"))
        followed = page.until(f"{_CARD}?.includes('In review')")
        self._talk.rested()
        issue = self._issue(_ISSUE)
        self._walk.expects(
            "the store has it in review, by a person; the card in the chat followed, with no call",
            true=issue.get("status") == "in_review"
            and _last(issue).get("via") == "person"
            and followed
            and self._talk.calls == calls,
        )

    def _change(self) -> None:
        self._demo.step(
            "Let the agent change it",
            "By the page's own function, which the form calls too. It reads right after.",
        )
        self._say(_GIVE)
        issue = self._issue(_ISSUE)
        self._walk.expects(
            "the page's store has Eva on it, by the agent",
            true=issue.get("assigneeId") == "eva" and _last(issue).get("via") == "agent",
        )
        read = str(self._talk.result("get_issue").get("content"))
        self._walk.expects(
            "the read has both: Eva, and the status that was set by hand",
            true='"assignee":{"id":"eva"' in read and '"status":"in_review"' in read,
        )

    def _save(self) -> None:
        self._demo.step(
            "Save what the tracker's server keeps",
            "Estimates are not in the browser: the page's function asks its server, and tells what "
            "it said.",
        )
        self._say(_SIZE)
        saved = self._tracker.ask(_ESTIMATE, _ISSUE)
        self._walk.expects(
            "the tracker's database has 5 points, saved once, by Ana; the card shows them",
            true=saved == [(5, 1, "ana")] and self._page.until(f"{_CARD}?.includes('5 points')"),
        )

    def _refuse(self) -> None:
        self._demo.step(
            "Ask for what cannot be opened from here",
            "An issue of another tenant, and another site. The page's own router refuses.",
        )
        before = self._page.run("location.href")
        refused = self._talk.errors
        self._say(_ELSEWHERE)
        after = self._page.run("location.href")
        self._walk.expects(
            "both were refused, with a reason for the agent, and the page is where it was",
            true=self._talk.errors == refused + 2 and before == after is not None,
        )

    def _delete(self) -> None:
        demo = self._demo
        demo.step(
            "Delete something", "The page said that this is destructive: it waits for Ana's yes."
        )
        before = self._ids()
        waits = open_input(self._say(_DELETE))
        self._walk.expects(
            f"it waits for Ana, and {_STOCK} is in the store",
            true=waits is not None and _STOCK in self._ids() == before,
        )
        if waits is None:
            return
        print_text("   (the demo presses the button in the page's chat: “Delete an issue”)")
        self._press("Delete an issue", _CHAT)
        session = self._talk.followed("human_input_resolved")
        self._walk.expects(
            f"{_STOCK} is gone from the store and nothing else, and the conversation went on",
            true=session.get("status") == "idle" and self._ids() == before - {_STOCK},
        )

    def _start_over(self) -> None:
        """Leave the conversation as it is, and begin another for whoever comes next."""
        self._press("New conversation")
        self._page.until(f"!{_CHAT}?.textContent.includes({json.dumps(_DELETE)})")

    # -- the page ----------------------------------------------------------------------------

    def _say(self, text: str) -> JsonObject:
        """Say something in the page's chat, as Ana; the session once it waits or rests."""
        self._page.until(f"{_CHAT}?.querySelector('textarea')")
        self._page.run(f"{_CHAT}.querySelector('textarea').focus()")
        self._page.type(text)
        self._page.run(f"{_CHAT}.querySelector('form').requestSubmit()")
        return self._talk.followed("message")

    def _press(self, words: str, within: str = "document") -> None:
        found = (
            f"[...({within}?.querySelectorAll('button') ?? [])]"
            f".find((one) => one.innerText.includes({json.dumps(words)}))"
        )
        self._page.until(found)
        self._page.run(f"{found}.click()")

    def _store(self) -> JsonObject:
        """The page's own data, as the browser keeps it."""
        kept = json.loads(str(self._page.run("localStorage.tracker ?? '{}'")))
        return cast("JsonObject", kept)

    def _issues(self) -> list[JsonObject]:
        """The issues of the workspace that Ana is in."""
        issues = cast("list[JsonObject]", self._store().get("issues") or [])
        return [one for one in issues if one.get("tenantId") == "harbor"]

    def _ids(self) -> set[str]:
        return {str(one.get("id")) for one in self._issues()}

    def _issue(self, issue: str) -> JsonObject:
        """One issue; empty where it is not there."""
        none: JsonObject = {}
        return next((one for one in self._issues() if one.get("id") == issue), none)

    def _sessions(self) -> list[str]:
        """The sessions that the tracker has made for Ana, as its database has them."""
        return [str(session) for (session,) in self._tracker.ask(CONVERSATIONS)]


def _choose(status: str) -> str:
    """Chooses a status in the page's own field, so that React hears of it."""
    return f"""(() => {{
      const field = [...document.querySelectorAll('.properties select')]
        .find((one) => [...one.options].some(({{ value }}) => value === '{status}'))
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set
        .call(field, '{status}')
      field.dispatchEvent(new Event('change', {{ bubbles: true }}))
    }})()"""


def _last(issue: JsonObject) -> JsonObject:
    """The newest change of an issue."""
    history = cast("list[JsonObject]", issue.get("history") or [])
    return history[0] if history else {}


def _who(session: JsonObject) -> str:
    kept: dict[str, JsonValue] = {name: session.get(name) for name in ("user", "apps", "status")}
    return json.dumps(kept)
