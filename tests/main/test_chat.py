"""`remit chat` at a terminal and in a pipe (contract sections 9, 10 and 13)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.main.dialog import WAIT_S, Dialog
from tests.main.processes import COMMAND, environment
from tests.main.session_server import KEY, SessionServer, approval, events_of, scripted, within

REFUSED = {"code": "upstream_error", "message": "The app refused it.", "tool": "delete_scene"}
ASKED = "m TEXT = take it back and say TEXT: "


def env(server: SessionServer) -> dict[str, str]:
    """What the command finds in its environment."""
    return environment({"REMIT_SERVER_URL": server.url, "REMIT_KEY": KEY})


def talk(server: SessionServer, folder: Path, *more: str) -> Dialog:
    """`remit chat` at a terminal."""
    command = [*COMMAND, "chat", *(more or ("--user", "ana"))]
    return Dialog(command, folder=folder, env=env(server))


def piped(
    server: SessionServer, typed: str, folder: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    """`remit chat` between two pipes."""
    return subprocess.run(
        [*COMMAND, "chat", *(more or ("--user", "ana"))],
        cwd=folder,
        env=env(server),
        input=typed,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


# -- what an agent does ------------------------------------------------------------------------


def says(words: str, message: str = "msg_1") -> Callable[[SessionServer, str], None]:
    """The agent says something."""

    def step(server: SessionServer, run: str) -> None:
        server.event("message", messageId=message, role="assistant", text=words, runId=run)

    return step


def calls(call: str, title: str) -> Callable[[SessionServer, str], None]:
    """The agent asks for a call."""

    def step(server: SessionServer, run: str) -> None:
        server.event(
            "tool_call", callId=call, app="acme", tool="t", offeredAs="t", title=title, args={},
            runId=run,
        )  # fmt: skip

    return step


def ends(call: str, outcome: str, **more: object) -> Callable[[SessionServer, str], None]:
    """A call ends."""

    def step(server: SessionServer, run: str) -> None:
        server.event("tool_result", callId=call, outcome=outcome, content="c", runId=run, **more)

    return step


def done(server: SessionServer, run: str) -> None:
    """The agent rests."""
    server.finish(run)


def asks(server: SessionServer, run: str) -> None:
    """A call waits for a person."""
    calls("call_1", "Delete a scene")(server, run)
    server.event("human_input_needed", **approval(run))
    server.finish(run, "waiting")


def resolved(status: str, by: str) -> Callable[[SessionServer, str], None]:
    """The input is closed, and the run goes on."""

    def step(server: SessionServer, run: str) -> None:
        decision = {"approved": "approve", "denied": "deny"}.get(status)
        server.event(
            "human_input_resolved", inputId="inp_1", status=status, decision=decision, by=by
        )
        server.event("run_started", runId=f"{run}_b", model="scripted:a")
        server.event("status", status="running")

    return step


def answered(server: SessionServer, run: str) -> None:
    """Wait for the answer, and close the input by it."""
    decision = server.until("POST", "/answer")["decision"]
    status = {"approve": "approved", "deny": "denied"}[decision]
    resolved(status, "user:ana through key:key_1")(server, run)
    outcome = {"approved": "ok", "denied": "denied"}[status]
    ends("call_1", outcome)(server, run)
    says("So it is.", "msg_2")(server, run)
    done(server, run)


# -- in a pipe ---------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_message_and_stdout_is_the_answers_alone(tmp_path: Path) -> None:
    """Plain text out: what the agent says; what was done goes to stderr, with the way back."""
    first = scripted(says("One."), calls("call_0", "List scenes"), ends("call_0", "ok"), done)
    with SessionServer(first, scripted(says("Two.", "msg_2"), done)) as server:
        ran = piped(server, "hello\n\nand then\n", tmp_path)
        said = [body["text"] for _, path, body in server.asked if path.endswith("/messages")]
        made = server.until("POST", "/v1/sessions")

    assert (ran.returncode, ran.stdout) == (0, "One.\nTwo.\n")
    assert said == ["hello", "and then"]
    assert made == {"user": "ana", "apps": [{"id": "acme"}]}
    assert "List scenes · " in ran.stderr
    assert ran.stderr.endswith("Next: remit chat --session ses_1\n")
    assert KEY not in ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr


def test_what_waits_for_a_person_ends_a_pipe_and_says_so(tmp_path: Path) -> None:
    """Nobody is there to say yes, so that nothing is approved and nothing more is sent."""
    with SessionServer(scripted(asks)) as server:
        ran = piped(server, "delete it\nand more\n", tmp_path)
        paths = [path for _, path, _ in server.asked]

    assert (ran.returncode, ran.stdout) == (1, "")
    assert "delete_scene waits for an answer, and there is no terminal to ask at." in ran.stderr
    assert not any(path.endswith("/answer") for path in paths)
    assert sum(path.endswith("/messages") for path in paths) == 1


def test_a_connection_that_a_pipe_waits_for_is_not_made_at_a_terminal(tmp_path: Path) -> None:
    """Connecting is the answer, and it is the back end's: what to do is said."""

    def waits(server: SessionServer, run: str) -> None:
        server.event("human_input_needed", **approval(run, kind="connect"))
        server.finish(run, "waiting")

    with SessionServer(waits) as server:
        ran = piped(server, "delete it\n", tmp_path)

    assert ran.returncode == 1
    assert "delete_scene waits until ana is connected to acme." in ran.stderr
    assert "PUT /v1/connections/acme/ana. It then goes on by itself." in ran.stderr
    assert "terminal" not in ran.stderr


def test_a_run_that_fails_is_one_sentence_and_the_exit_code(tmp_path: Path) -> None:
    """A model that cannot be reached is no end of the conversation (bad input)."""

    def fails(server: SessionServer, run: str) -> None:
        error = {"code": "model_unavailable", "message": "The model does not answer."}
        server.finish(run, "failed", error=error)

    with SessionServer(fails, scripted(says("Here."), done)) as server:
        ran = piped(server, "one\ntwo\n", tmp_path)

    assert (ran.returncode, ran.stdout) == (1, "Here.\n")
    assert "  The model does not answer.\n" in ran.stderr


def test_a_broken_stream_goes_on_after_the_last_event_and_says_nothing_twice(
    tmp_path: Path,
) -> None:
    """Last-Event-ID; the piece that was shown before the break is not shown again."""

    def breaks(server: SessionServer, run: str) -> None:
        server.piece("msg_1", 0, "I look ")
        server.cut()
        server.streams(2)
        server.piece("msg_1", 0, "I look at ")
        says("I look at it.")(server, run)
        done(server, run)

    with SessionServer(breaks) as server:
        ran = piped(server, "look\n", tmp_path)
        after = list(server.after)

    assert (ran.returncode, ran.stdout.replace("\n", "")) == (0, "I look at it.")
    assert after == ["0", "3"]
    assert "The connection is lost" in ran.stderr
    assert "Connected again." in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "remit chat --user NAME"),
        (("--session", "ses_1", "--app", "acme"), "--app is for a new session"),
        (("--session", "ses_1", "--user", "ben"), "is not ben's"),
        (("--user", "ana", "--server", "nowhere"), "--server is no address of a server"),
        (("--user", "ana", "--server", "http://127.0.0.1:1"), "--server: no answer from"),
    ],
    ids=["nobody", "apps of a session", "another user", "no address", "no server"],
)
def test_wrong_use_is_one_message(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Before anything is sent; exit code 2."""
    with SessionServer() as server:
        ran = subprocess.run(
            [*COMMAND, "chat", *arguments],
            cwd=tmp_path, env=env(server), input="", capture_output=True, text=True,
            timeout=WAIT_S, check=False,
        )  # fmt: skip

    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert KEY not in ran.stderr


# -- at a terminal -----------------------------------------------------------------------------


def test_an_approval_is_shown_whole_and_only_y_goes_ahead(tmp_path: Path) -> None:
    """The platform's line, the app's title, the request; an answer that is none asks again."""
    with SessionServer(scripted(asks, answered)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("delete it")
        person.see("DELETES · cannot be undone\non api.acme.example as ana@acme.example")
        person.see("Delete scene «Q3 forecast»")
        person.see("DELETE https://api.acme.example/v1/scenes/scn_1")
        person.see(ASKED)
        person.type("sure, why not")
        person.see("That is no answer.")
        person.see(ASKED)
        assert not [path for _, path, _ in server.asked if path.endswith("/answer")]
        person.type("y")
        person.see("approved by ana")
        person.see("Delete a scene · ")
        person.see("So it is.")
        person.see("> ")
        person.type("\x04")
        person.see("Next: remit chat --session ses_1")
        assert person.end() == 0
        body = server.until("POST", "/inputs/inp_1/answer")
    assert body == {"decision": "approve", "digest": "d1", "user": "ana"}


@pytest.mark.parametrize(
    ("typed", "body"),
    [
        ("", {"decision": "deny", "user": "ana"}),
        ("n not this one", {"decision": "deny", "note": "not this one", "user": "ana"}),
    ],
    ids=["enter", "reason"],
)
def test_enter_alone_never_approves(typed: str, body: dict[str, str], tmp_path: Path) -> None:
    """No default for what is destructive; a reason goes with the no."""
    with SessionServer(scripted(asks, answered)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("delete it")
        person.see(ASKED)
        person.type(typed)
        person.see("Delete a scene · not done: it was refused")
        assert server.until("POST", "/answer") == body


def test_an_answer_from_elsewhere_takes_the_question_away(tmp_path: Path) -> None:
    """The first answer decides, also one of another tab."""
    elsewhere = scripted(
        asks, resolved("denied", "user:ana"), ends("call_1", "denied"), says("Kept."), done
    )
    with SessionServer(elsewhere) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("delete it")
        person.see("denied by ana")
        person.see("Kept.")
        person.see("> ")
        assert not [path for _, path, _ in server.asked if path.endswith("/answer")]


def test_a_request_that_changed_is_shown_anew_before_it_is_answered(tmp_path: Path) -> None:
    """409 stale_digest: the yes was for another request (contract section 9)."""
    with SessionServer(scripted(asks)) as server, talk(server, tmp_path) as person:
        newer = approval("run_1", digest="d2")
        problem = {"code": "stale_digest", "detail": "Look at it again.", "input": newer}
        server.answers = [(409, problem)]
        person.see("> ")
        person.type("delete it")
        person.see(ASKED)
        person.type("y")
        person.see("Look at it again.")
        person.see("digest d2")
        person.see(ASKED)
        person.type("y")
        assert server.until("POST", "/answer", times=2)["digest"] == "d2"


def test_people_correct_by_typing(tmp_path: Path) -> None:
    """A message in the place of an answer takes the request back (`withdraw`)."""
    with (
        SessionServer(scripted(asks), scripted(says("The lamp then."), done)) as server,
        talk(server, tmp_path) as person,
    ):
        person.see("> ")
        person.type("delete it")
        person.see(ASKED)
        person.type("m the lamp, I meant")
        person.see("The lamp then.")
        said = server.until("POST", "/messages", times=2)
    assert said == {"text": "the lamp, I meant", "withdraw": True}


def test_going_on_without_a_connection_is_a_no(tmp_path: Path) -> None:
    """An input that waits for a connection is no card: it takes no skip."""

    def waits(server: SessionServer, run: str) -> None:
        server.event("human_input_needed", **approval(run, kind="connect"))
        server.finish(run, "waiting")

    with SessionServer(scripted(waits, answered)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("delete it")
        person.see("g = go on without it")
        person.type("g")
        body = server.until("POST", "/inputs/inp_1/answer")
        person.see("So it is.")
    assert body == {"decision": "deny", "user": "ana"}


@pytest.mark.parametrize("stops", [True, False], ids=["it stops", "it does not"])
def test_ctrl_c_stops_the_agent_and_then_leaves(tmp_path: Path, *, stops: bool) -> None:
    """Nothing is lost: the session is there to go on with."""
    with SessionServer(scripted(says("I begin."), calls("call_0", "Render"))) as server:
        server.stops = stops
        with talk(server, tmp_path) as person:
            person.see("> ")
            person.type("render it")
            person.see("I begin.")
            person.interrupt()
            person.see("Stopping. Ctrl-C again leaves.")
            server.until("POST", "/cancel")
            if stops:
                person.see("Stopped.")
                person.see("> ")
                person.type("\x04")
            else:
                person.interrupt()
            person.see("Next: remit chat --session ses_1")
            assert person.end() == (0 if stops else 130)


def test_a_session_is_taken_up_with_what_was_said_and_what_waits(tmp_path: Path) -> None:
    """By its id, after anything; the open approval is asked again."""
    with SessionServer(scripted(says("Which one?"), asks, answered)) as server:
        server.message("delete a scene")
        within(lambda: events_of(server)[-2:] == ["run_finished", "status"])
        with talk(server, tmp_path, "--session", "ses_1") as person:
            person.see("> delete a scene")
            person.see("Which one?")
            person.see(ASKED)
            person.type("y")
            person.see("So it is.")


def test_text_of_others_cannot_draw_on_the_terminal(tmp_path: Path) -> None:
    """Control characters of an app, a model or a card are shown, not obeyed."""

    def tricks(server: SessionServer, run: str) -> None:
        server.piece("msg_1", 0, "a\x1b[2Jb")
        says("a\x1b[2Jb\u202ec")(server, run)
        calls("call_0", "Li\nst\x1b[1A")(server, run)
        ends("call_0", "error", display={"error": {**REFUSED, "message": "no\r\x1b[K"}})(
            server, run
        )
        done(server, run)

    with SessionServer(tricks) as server:
        ran = piped(server, "look\n", tmp_path)

    assert ran.stdout == "a⟨U+001B⟩[2Jb⟨U+202E⟩c\n"
    assert "Li ⏎ st⟨U+001B⟩[1A failed: no⟨U+000D⟩⟨U+001B⟩[K\n" in ran.stderr
