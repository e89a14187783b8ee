"""The third part of ``remit demo``: an app folder, whose tools answer in cards and pages.

The folder is built, approved and talked to; a mailbox is connected by a press on a card, and the
agent goes on by itself; a chart is framed as a chat frames it.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, cast

from remit.main.demo_frame import Chat, Visitor
from remit.main.demo_model import Speaker
from remit.main.demo_talk import Talk, open_input
from remit.main.example import RunningBookmarks
from remit.main.output import paint, print_text
from remit.main.server_process import RunningServer
from remit.main.server_walk import Walk, beginning, fields, key_shown
from remit.main.walking import indented

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.main.server_process import Reply
    from remit.main.walking import Demo, Ran
    from remit.values.json import JsonObject, JsonValue

APP = "acme-bookmarks"
_MINE = "select count(*) from bookmarks where user_id = 'ana' and source = ?"
_CONNECTED = "select count(*) from connections where user_id = 'ana'"
_SOUP = "https://kitchen.example/soup"
#: What the sample mailbox has of the last sixty days.
_LINKS = 17
_SAVE = f"Keep {_SOUP} for me under cooking. What have I on cooking?"
_IMPORT = "Bring in the links from my mail of the last two months."
_SHOW = "Show me how my collection grew."
_SAVED: JsonObject = {"url": _SOUP, "title": "Soup", "tags": ["cooking"]}


def _calls(tool: str, args: JsonObject, text: str = "") -> JsonObject:
    return {"text": text, "calls": [{"name": tool, "args": args}]}


_SAVING: tuple[JsonObject | str, ...] = (
    _calls("load_skill", {"name": "bookmarks"}),
    _calls("save_bookmark", _SAVED, "I keep it. "),
    _calls("search_bookmarks", {"tag": "cooking"}),
    "It is kept. On cooking you have the soup.",
)
_IMPORTING: tuple[JsonObject | str, ...] = (
    _calls("load_skill", {"name": "mail"}),
    _calls("import_from_mail", {"days": 60}),
    "They are in. The newest is on rollbacks.",
)
_SHOWING: tuple[JsonObject | str, ...] = (
    _calls("show_dashboard", {"weeks": 13}),
    "It grew most in the last weeks.",
)


class _Folder:
    """One walk through this part.

    Args:
        walk: with a server of its own.
        example: the app.
        chat: frames its page.
    """

    def __init__(self, walk: Walk, example: RunningBookmarks, chat: Chat) -> None:
        self._walk = walk
        self._demo = walk.demo
        self._example = example
        self._chat = chat
        self._talk = Talk(walk, "")
        self._import: JsonValue = None

    @property
    def steps(self) -> tuple[Callable[[], None], ...]:
        """What is walked through; without its skill there is no mail."""
        mail = (self._ask_first, self._press, self._why) if self._example.typescript else ()
        return (self._start, self._build, self._approve, self._save, *mail, self._show, self._stop)

    def _start(self) -> None:
        demo, walk = self._demo, self._walk
        demo.step(
            "Start a server, and the app's own component",
            "The component is told three things, and no secret: where it is reached, whose tokens "
            "it\n   believes, and which of them are for it.",
        )
        ran = demo.remit("keys", "create", "--role", "operator", "--name", "acme", shown=key_shown)
        # One key does it all here; who needs which was shown before.
        walk.keys = dict.fromkeys(("acme", "backend"), ran.out.strip())
        print_text(f"   {paint('$ remit serve', 'cyan', sys.stdout)}")
        print_text(f"{indented(walk.server.start())}\n")
        told = self._example.start(
            demo.environment(), issuer=walk.server.url, framed_by=self._chat.origin
        )
        print_text(f"   {paint('$ python bookmarks/serve.py', 'cyan', sys.stdout)}")
        print_text(indented("\n".join(f"{name}={value}" for name, value in told.items())))
        demo.settings |= {
            "REMIT_SERVER_URL": walk.server.url,
            "REMIT_KEY": walk.keys["acme"],
        }

    def _build(self) -> None:
        demo = self._demo
        demo.step(
            "Build the folder",
            "app.yaml, a SKILL.md for each skill, and tools in Python or TypeScript become one\n"
            "   definition. The component is asked whether it has the routes that they name.",
        )
        if not self._example.typescript:
            print_text(
                "   Without Node 20 and the example's npm packages, the skill mail is left out.\n"
            )
        ran = demo.remit("build", "bookmarks", "-o", "bookmarks.json")
        wanted = "2 skills, 4 tools" if self._example.typescript else "1 skill, 3 tools"
        demo.holds(
            f"{wanted} are one definition, and none of their routes is missing",
            true=ran.code == 0 and wanted in ran.err and "has no route" not in ran.err,
        )

    def _approve(self) -> None:
        demo, walk = self._demo, self._walk
        demo.step("Submit, read, approve", "By the digest of what was read.")
        demo.remit("apply", "bookmarks.json", shown=lambda ran: f"{ran.out}{ran.err}".rstrip())
        version = f"/v1/apps/{APP}/versions/1"
        walk.ask("acme", "GET", f"{version}/remit?format=text", shown=beginning)
        remit = walk.server.ask("GET", f"{version}/remit", key=walk.keys["acme"]).body
        body: JsonObject = {"consent": "workspace", "digest": remit.get("digest")}
        shown = fields("status", "ceiling")
        reply = walk.ask("acme", "POST", f"{version}/approve", body, shown=shown)
        demo.holds("version 1 is approved", true=reply.body.get("status") == "approved")
        session: JsonObject = {"apps": [{"id": APP}], "user": "ana"}
        made = walk.ask("acme", "POST", "/v1/sessions", session, shown=fields("id", "apps"))
        self._talk = Talk(walk, str(made.body.get("id")))

    def _save(self) -> None:
        demo = self._demo
        demo.step("Keep a page and find it again", self._walk.speaker)
        session = self._talk.say(_SAVE)
        tagged = demo.example.count(
            "select count(*) from bookmarks join tags on bookmark_id = id "
            "where user_id = 'ana' and url = ? and tag = 'cooking'",
            _SOUP,
        )
        others = demo.example.count("select count(*) from bookmarks where user_id <> 'ana'")
        self._walk.expects(
            "the component's database has the page once, with its tag, as Ana's and nobody else's",
            true=session.get("status") == "idle"
            and (tagged, others, demo.example.count(_MINE, "agent")) == (1, 0, 1),
        )
        found = self._talk.result("search_bookmarks")
        self._walk.expects("the agent found it there", true=found.get("outcome") == "ok")

    def _ask_first(self) -> None:
        demo, walk = self._demo, self._walk
        demo.step(
            "Ask a person first",
            "The mailbox is not connected: the handler answers with a card, and the agent waits. "
            "Over the\n   API there is nobody to press, and the handler says so by an error.",
        )
        session = self._talk.say(_IMPORT)
        self._import = open_input(session)
        self._walk.expects(
            "the agent waits for a press; nothing is connected, and nothing was imported",
            true=self._import is not None
            and demo.example.count(_CONNECTED) == 0
            and demo.example.count(_MINE, "mail") == 0,
        )
        body: JsonObject = {"user": "ana", "args": {"days": 60}}
        path = f"/v1/tools/{APP}/import_from_mail/call"
        reply = walk.ask("acme", "POST", path, body, shown=_own_error)
        demo.holds(
            "the API is told connect_required, with the handler's own words",
            true="connect_required" in _own_error(reply)
            and "The mailbox is not connected" in _own_error(reply)
            and demo.example.count(_CONNECTED) == 0,
        )

    def _press(self) -> None:
        demo = self._demo
        demo.step(
            "Press the button",
            "It calls the component, which connects the mailbox and goes on with the import; what "
            "comes\n   of it is the tool's result, and the agent goes on by itself.",
        )
        if self._import is None:
            print_text("   The model asked for nothing, so that there is nothing to press.")
            return
        session = self._talk.answer(self._import, {"press": "connect"})
        mails = "select count(*) from mails where user_id = 'ana'"
        imported = demo.example.count(_MINE, "mail")
        self._walk.expects(
            f"the mailbox is connected, and {imported} links of its mails are bookmarks now",
            true=demo.example.count(_CONNECTED) == 1
            and demo.example.count(mails) > 0
            and imported == _LINKS,
        )
        result = self._talk.result("import_from_mail")
        self._walk.expects(
            "the tool's result is the import, and the conversation went on to its end",
            true=session.get("status") == "idle" and result.get("outcome") == "ok",
        )

    def _why(self) -> None:
        demo = self._demo
        call = self._talk.result("import_from_mail").get("callId")
        if call is None:
            return
        demo.step("Ask why it happened", "The card, the press and the call that it made.")
        ran = demo.remit("why", str(call), shown=_card_lines)
        demo.holds(
            "the page names the card, who pressed what, and that it called its target",
            true=ran.code == 0
            and "a card: Connect your mailbox [Connect and import]" in ran.out
            and 'the button "Connect and import" (connect) called its target' in ran.out,
        )

    def _show(self) -> None:
        demo = self._demo
        demo.step(
            "Show a page of the app",
            "The model gets the numbers in words. The chat gets an address, and frames what is "
            "there:\n   a chart of the component's own, behind a code that opens it once.",
        )
        self._talk.say(_SHOW)
        display = cast("JsonObject", self._talk.result("show_dashboard").get("display") or {})
        address = display.get("embedUrl")
        if not isinstance(address, str):
            self._walk.expects("the agent has shown it", true=False)
            return
        visitor = Visitor()
        status, text = visitor.open(address)
        bars = sum(int(n) for n in re.findall(r"<title>Week of [^:]+: (\d+) ", text))
        all_of_them = demo.example.count("select count(*) from bookmarks where user_id = 'ana'")
        self._walk.expects(
            f"fetched as a frame would, its bars add up to the {all_of_them} bookmarks that are "
            "there",
            true=status == 200 and bars == all_of_them,
        )
        demo.holds(
            "the code is used up: somebody else who has the address sees nothing",
            true=Visitor().open(address)[0] == 403 and visitor.open(address)[0] == 200,
        )
        self._frame()

    def _frame(self) -> None:
        """The same in a real browser, where there is one."""
        demo = self._demo
        args: JsonObject = {"user": "ana", "args": {}}
        path = f"/v1/tools/{APP}/show_dashboard/call"
        body = self._walk.server.ask("POST", path, args, key=self._walk.keys["acme"]).body
        display = cast("JsonObject", body.get("display") or {})
        try:
            height = self._chat.height_of(str(display.get("embedUrl")))
        except LookupError:
            print_text("   No Chromium was found, so that it is not looked at in a browser.")
            return
        demo.holds(
            f"in a frame of a real browser it says how high it is: {height} px",
            true=isinstance(height, int) and height >= 100,
        )

    def _stop(self) -> None:
        demo = self._demo
        demo.step("Stop the server", "And the component.")
        demo.holds("the server stops when it is asked to", true=self._walk.server.stop() == 0)


def run(folder: Path, demo: Demo, *, check: bool) -> None:
    """Walk through the steps with an app and a server of their own; ``demo`` keeps the score.

    Args:
        folder: for the app, the store and what they say.
        demo: the walk so far.
        check: whether every effect has to be known: then a script plays the model.

    Raises:
        ExampleMissing, ServerGone: a process does not start, or does not answer.
    """
    with Chat() as chat, RunningBookmarks(folder) as example:
        demo.example = example
        demo.settings = {}
        lines = (*_SAVING, *(_IMPORTING if example.typescript else ()), *_SHOWING)
        with (
            Speaker(folder, check=check, lines=lines) as speaker,
            RunningServer(folder, {**demo.environment(), **speaker.settings}) as server,
        ):
            words, scripted = speaker.words, speaker.scripted
            walk = Walk(demo=demo, server=server, speaker=words, scripted=scripted)
            for step in _Folder(walk, example, chat).steps:
                step()


def _own_error(reply: Reply) -> str:
    """Of an error what the handler itself said."""
    error = cast("JsonObject", reply.body.get("error") or {})
    return json.dumps(error.get("details") or error, ensure_ascii=False)


def _card_lines(ran: Ran) -> str:
    """Of the page of a call what is of its card."""
    words = ("card", "button", "press")
    return "\n".join(line for line in ran.out.splitlines() if any(w in line for w in words))
