"""The tracker's server: sign-in, estimates and the back end of its chat, over real HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.examples.tracker_process import TRACKER, Tracker, Visitor, refusal_to_start, tracker
from tests.main.processes import run, serving
from tests.main.test_serving import Api

ESTIMATE = "/api/estimates/harbor/WEB-1"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Tracker]:
    """The server with an empty database, and no agent."""
    with tracker(tmp_path) as found:
        yield found


# -- who asks ----------------------------------------------------------------------------------


def test_nobody_is_somebody_without_a_cookie_of_ours(here: Tracker) -> None:
    """No cookie, one of another server, one that was changed: 401, and nothing is kept."""
    ana = Visitor(here).sign_in("ana")
    cookie = ana.cookies["tracker_user"]
    user, until, signature = cookie.split(".")
    assert user == "ana"
    forged = (
        "",
        "ana",
        f"dan.{until}.{signature}",
        f"ana.{int(until) + 1}.{signature}",
        f"ana.{until}.",
        f"ana.{until}.{'0' * 64}",
        "ana..",
    )
    asked = (
        ("GET", ESTIMATE, None),
        ("GET", "/api/estimates/harbor", None),
        ("PUT", ESTIMATE, {"points": 3}),
        ("POST", "/agent/session", {"tenant": "harbor"}),
        ("POST", "/agent/token", {"session": "ses_1"}),
    )
    for value, (method, path, body) in product(forged, asked):
        reply = Visitor(here, {"tracker_user": value}).ask(method, path, body)
        assert (reply.status, reply.json()["code"]) == (401, "not_signed_in"), (value, path)
    assert ana.ask("GET", "/api/estimates/harbor").json() == {"items": []}


def test_the_cookie_says_who_it_is_until_one_signs_out(here: Tracker) -> None:
    """Scripts cannot read it, other sites do not send it; nobody unknown gets one."""
    visitor = Visitor(here)
    assert visitor.ask("GET", "/api/me").json() == {"user": None, "agent": False}
    given = visitor.ask("POST", "/sign-in", {"user": "ben"}).headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=strict" in given
    assert visitor.ask("GET", "/api/me").json()["user"] == "ben"
    assert visitor.ask("POST", "/sign-in", {"user": "mallory"}).status == 404
    assert visitor.ask("GET", "/api/me").json()["user"] == "ben"
    visitor.ask("POST", "/sign-out", {})
    assert visitor.ask("GET", "/api/me").json()["user"] is None


def test_a_sign_in_outlives_a_restart(tmp_path: Path) -> None:
    """What cookies are signed with is kept."""
    with tracker(tmp_path) as first:
        ben = Visitor(first).sign_in("ben")
        first.stop()
    with tracker(tmp_path) as again:
        assert Visitor(again, ben.cookies).ask("GET", "/api/me").json()["user"] == "ben"


def test_another_sites_page_is_refused(here: Tracker) -> None:
    """By the origin that a browser names, and by the type of a body that a form cannot send."""
    ben = Visitor(here).sign_in("ben")
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        reply = ben.ask("PUT", ESTIMATE, {"points": 3}, headers={"Origin": origin})
        assert (reply.status, reply.json()["code"]) == (403, "other_origin")
    reply = ben.ask("PUT", ESTIMATE, {"points": 3}, headers={"Content-Type": "text/plain"})
    assert reply.status == 415
    assert ben.ask("GET", ESTIMATE).json()["points"] is None


# -- estimates ---------------------------------------------------------------------------------


def test_an_estimate_is_answered_as_it_was_saved(here: Tracker) -> None:
    """With what the server alone knows: the version, the moment, the points of the project."""
    ben, eva = Visitor(here).sign_in("ben"), Visitor(here).sign_in("eva")
    saved = ben.ask("PUT", ESTIMATE, {"points": 5}).json()
    assert saved.pop("savedAt").endswith("+00:00")
    assert saved == {
        "issueId": "WEB-1",
        "points": 5,
        "version": 1,
        "savedBy": "ben",
        "project": {"id": "WEB", "points": 5},
    }
    assert eva.ask("PUT", "/api/estimates/harbor/WEB-2", {"points": 8}).json()["project"] == {
        "id": "WEB",
        "points": 13,
    }
    # The same again is no change; so a repeated call does no harm.
    again = eva.ask("PUT", ESTIMATE, {"points": 5}).json()
    assert (again["version"], again["savedBy"]) == (1, "ben")
    back = eva.ask("PUT", ESTIMATE, {"points": None}).json()
    assert (back["points"], back["version"], back["project"]["points"]) == (None, 2, 8)
    listed = ben.ask("GET", "/api/estimates/harbor").json()["items"]
    assert [(one["issueId"], one["points"]) for one in listed] == [("WEB-1", None), ("WEB-2", 8)]
    assert ben.ask("GET", ESTIMATE).json() == listed[0]


def test_estimates_are_of_the_tenant_and_by_the_rights_of_who_asks(here: Tracker) -> None:
    """Another tenant, a hidden project and what is no issue look alike; a viewer reads."""
    ana, ben, cleo = (Visitor(here).sign_in(user) for user in ("ana", "ben", "cleo"))
    assert ana.ask("PUT", "/api/estimates/harbor/HIR-1", {"points": 3}).status == 200
    for path in (
        "/api/estimates/finch/APP-1",
        "/api/estimates/harbor/APP-1",
        "/api/estimates/harbor/HIR-1",
        "/api/estimates/harbor/WEB-0",
        "/api/estimates/harbor/WEB-1%20",
        "/api/estimates/nowhere/WEB-1",
    ):
        assert ben.ask("GET", path).status == 404, path
        assert ben.ask("PUT", path, {"points": 1}).status == 404, path
    assert ben.ask("GET", "/api/estimates/harbor").json()["items"] == []
    assert cleo.ask("GET", ESTIMATE).status == 200
    refused = cleo.ask("PUT", ESTIMATE, {"points": 3})
    assert (refused.status, refused.json()["code"]) == (403, "read_only")
    # In her other workspace Ana may only read.
    assert ana.ask("PUT", "/api/estimates/finch/APP-1", {"points": 3}).status == 403


@pytest.mark.parametrize("points", [0, 4, 100, -1, "5", True, 5.0, [5]])
def test_what_is_no_estimate_is_refused(here: Tracker, points: object) -> None:
    """In words that say what would be one."""
    ben = Visitor(here).sign_in("ben")
    reply = ben.ask("PUT", ESTIMATE, {"points": points})
    assert reply.status == 422
    assert "1, 2, 3, 5, 8, 13, 21" in reply.json()["message"]
    assert ben.ask("GET", ESTIMATE).json()["version"] == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 422), (b"[" * 9000, 400), (b"\xff", 400), (b" " * 20_000, 413)],
)
def test_a_body_that_is_none_gets_an_answer_in_words(
    here: Tracker, body: bytes, status: int
) -> None:
    """Nothing of the machinery is told, and nothing is logged as a fault."""
    reply = Visitor(here).sign_in("ben").ask("POST", "/sign-in", body)
    assert reply.status == status
    assert set(reply.json()) == {"code", "message"}
    assert "Traceback" not in here.said


# -- the page ----------------------------------------------------------------------------------


def test_the_page_answers_at_every_address_of_the_app(tmp_path: Path) -> None:
    """With what it may load and speak to; files that are not there, and the API, are 404."""
    dist = tmp_path / "built"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<!doctype html><title>Tracker</title>", "utf-8")
    (dist / "assets" / "index-1.js").write_text("1", "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    env = {"REMIT_SERVER_URL": "https://remit.example", "REMIT_BACKEND_KEY": "key-of-ours"}
    with tracker(tmp_path, dist=dist, **env) as here:
        visitor = Visitor(here)
        for path in ("/", "/issues", "/issues/WEB-1/edit", "/nowhere"):
            reply = visitor.ask("GET", path)
            assert (reply.status, b"Tracker" in reply.body) == (200, True), path
            policy = reply.headers["content-security-policy"]
            assert "connect-src 'self' https://remit.example;" in policy
            assert "frame-ancestors 'none'" in policy
            assert b"key-of-ours" not in reply.body
        assert visitor.ask("GET", "/assets/index-1.js").body == b"1"
        for path in (
            "/assets/index-2.js",
            "/api/nothing",
            "/agent/session/more",
            "/tracker.db",
            "/assets/../../secret.txt",
            "/assets/..%2f..%2fsecret.txt",
        ):
            reply = visitor.ask("GET", path)
            assert (reply.status, set(reply.json())) == (404, {"code", "message"}), path


def test_a_page_that_is_not_built_says_how(here: Tracker) -> None:
    """Who starts the server first reads what is missing."""
    reply = Visitor(here).ask("GET", "/")
    assert reply.status == 503
    assert b"npm run build" in reply.body


@pytest.mark.parametrize(
    "env",
    [
        {"REMIT_SERVER_URL": "http://127.0.0.1:8700"},
        {"REMIT_BACKEND_KEY": "key"},
        {"REMIT_SERVER_URL": "127.0.0.1:8700", "REMIT_BACKEND_KEY": "key"},
        {"REMIT_SERVER_URL": "http://127.0.0.1:8700/v1", "REMIT_BACKEND_KEY": "key"},
    ],
)
def test_settings_that_do_not_fit_are_named(tmp_path: Path, env: dict[str, str]) -> None:
    """Before anything is served."""
    code, said = refusal_to_start(tmp_path, **env)
    assert code == 2
    assert "REMIT_SERVER_URL" in said
    assert "Traceback" not in said


# -- the back end of the chat ------------------------------------------------------------------


def test_a_user_gets_a_session_of_their_own_and_tokens_for_it_alone(tmp_path: Path) -> None:
    """Against a real Remit server: the token reads that session, and no other user gets one."""
    key = run(tmp_path, "keys", "create", "--role", "backend").out.strip()
    with serving(tmp_path) as remit:
        env = {"REMIT_SERVER_URL": remit.url, "REMIT_BACKEND_KEY": key}
        with tracker(tmp_path, **env) as here:
            eva, ben = Visitor(here).sign_in("eva"), Visitor(here).sign_in("ben")
            assert eva.ask("GET", "/api/me").json() == {"user": "eva", "agent": True}
            made = eva.ask("POST", "/agent/session", {"tenant": "harbor"})
            assert made.status == 201
            session = made.json()["id"]
            assert made.json() == {"id": session, "server": remit.url}
            assert key not in made.body.decode()

            # A reload goes on with it; another tenant, another user and a wish do not.
            again = eva.ask("POST", "/agent/session", {"tenant": "harbor"})
            assert (again.status, again.json()["id"]) == (200, session)
            others = {
                eva.ask("POST", "/agent/session", {"tenant": "finch"}).json()["id"],
                ben.ask("POST", "/agent/session", {"tenant": "harbor"}).json()["id"],
                eva.ask("POST", "/agent/session", {"tenant": "harbor", "fresh": True}).json()["id"],
            }
            assert len(others | {session}) == 4

            given = eva.ask("POST", "/agent/token", {"session": session})
            assert given.status == 201
            token = Api(url=remit.url, key=given.json()["token"])
            read = token.done("GET", f"/v1/sessions/{session}")
            assert (read["user"], read["apps"]) == ("eva", [])
            for other in others:
                assert token.ask("GET", f"/v1/sessions/{other}").status == 404
            for foreign in (session, "ses_unknown"):
                reply = ben.ask("POST", "/agent/token", {"session": foreign})
                assert (reply.status, reply.json()["code"]) == (404, "no_conversation")

            # The page may lend what is named, up to the ceiling, and nothing else.
            schema: dict[str, Any] = {"type": "object", "properties": {}}
            tools = [
                {"name": "get_issue", "description": "Reads.", "parameters": schema},
                {"name": "open_the_door", "description": "Opens.", "parameters": schema},
            ]
            path = f"/v1/sessions/{session}/clients/tab-1"
            lease = token.done("PUT", path, {"tools": tools, "widgets": []})
            assert [one["name"] for one in lease["leftOut"]] == ["open_the_door"]

            # A conversation that is over is followed by another.
            backend = Api(url=remit.url, key=key)
            newest = eva.ask("POST", "/agent/session", {"tenant": "harbor"}).json()["id"]
            backend.done("POST", f"/v1/sessions/{newest}/close")
            after = eva.ask("POST", "/agent/session", {"tenant": "harbor"})
            assert (after.status, after.json()["id"] == newest) == (201, False)


def test_a_tenant_that_one_does_not_belong_to_gives_no_session(here: Tracker) -> None:
    """Before any agent is asked for."""
    ben = Visitor(here).sign_in("ben")
    for tenant in ("finch", "nowhere", ""):
        assert ben.ask("POST", "/agent/session", {"tenant": tenant}).status in {404, 422}
    reply = ben.ask("POST", "/agent/session", {"tenant": "harbor"})
    assert (reply.status, reply.json()["code"]) == (503, "no_agent")


class _Odd(BaseHTTPRequestHandler):
    """A Remit server on a bad day."""

    answer: tuple[int, bytes] = (500, b"")

    def do_POST(self) -> None:
        """Answer as it is set."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.answer[0])
        self.send_header("Content-Length", str(len(self.answer[1])))
        self.end_headers()
        self.wfile.write(self.answer[1])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Print nothing."""


@pytest.mark.parametrize(
    "answer", [(500, b"internal: boom"), (401, b"{}"), (200, b"<html>"), (200, b"[]"), (201, b"{}")]
)
def test_what_a_bad_answer_says_reaches_nobody(tmp_path: Path, answer: tuple[int, bytes]) -> None:
    """The page hears that the assistant is away, in words, and nothing of why."""
    handler = type("Odd", (_Odd,), {"answer": answer})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as odd:
        threading.Thread(target=odd.serve_forever, daemon=True).start()
        env = {
            "REMIT_SERVER_URL": f"http://127.0.0.1:{odd.server_address[1]}",
            "REMIT_BACKEND_KEY": "key-of-ours",
        }
        with tracker(tmp_path, **env) as here:
            reply = Visitor(here).sign_in("ben").ask("POST", "/agent/session", {"tenant": "harbor"})
            assert (reply.status, reply.json()["code"]) == (502, "agent_refused")
            assert "boom" not in reply.body.decode()
            assert "key-of-ours" not in here.said
        odd.shutdown()


def test_a_server_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    """The rest of the tracker goes on."""
    env = {"REMIT_SERVER_URL": "http://127.0.0.1:9", "REMIT_BACKEND_KEY": "key"}
    with tracker(tmp_path, **env) as here:
        ben = Visitor(here).sign_in("ben")
        reply = ben.ask("POST", "/agent/session", {"tenant": "harbor"})
        assert (reply.status, reply.json()["code"]) == (502, "agent_unreachable")
        assert ben.ask("PUT", ESTIMATE, {"points": 2}).status == 200


# -- the page and the server agree -------------------------------------------------------------


def test_the_server_takes_the_tools_that_the_page_has() -> None:
    """A name that only one of them knows is a tool that nobody can use."""
    page = (TRACKER / "src" / "agent" / "tools.ts").read_text("utf-8")
    server = (TRACKER / "agent.py").read_text("utf-8")
    listed = re.search(r"PAGE_TOOLS = \((.*?)\)", server, re.DOTALL)
    assert listed is not None
    names = re.findall(r'"(\w+)"', listed[1])
    assert sorted(re.findall(r"^    (\w+): defineTool\(", page, re.MULTILINE)) == sorted(names)
    points = re.search(r"POINTS = \[(.*?)\]", (TRACKER / "src/api/estimates.ts").read_text("utf-8"))
    assert points is not None
    assert f"({points[1]})" in (TRACKER / "estimates.py").read_text("utf-8")


def test_no_tenant_shares_a_project_with_another() -> None:
    """Ids of issues begin with the project's."""
    found = json.loads((TRACKER / "workspaces.json").read_text("utf-8"))
    projects = [one["id"] for tenant in found["tenants"] for one in tenant["projects"]]
    assert len(set(projects)) == len(projects)
