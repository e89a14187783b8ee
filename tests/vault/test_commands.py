"""`[vault] key_command`: real processes, well and badly behaved."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.errors import WrongUse
from remit.vault.commands import run_key_command
from tests.vault.fakes import CANARY, key_text

KEY = key_text("a")


def python(code: str) -> str:
    """A command that runs Python code."""
    return f'{sys.executable} -S -c "{code}"'


def test_what_the_command_prints_is_the_key() -> None:
    """Arguments are split as a shell does; nothing else of a shell happens."""
    code = f"import sys; print('{KEY}'); print(sys.argv[1:], file=sys.stderr)"

    found = run_key_command(f"{python(code)} 'two words' $HOME; rm *")

    assert found.reveal().strip() == KEY


def test_no_shell_expands_anything(tmp_path: Path) -> None:
    """A variable, a semicolon and a star are plain text."""
    found = run_key_command("echo $HOME ; echo *")

    assert found.reveal() == "$HOME ; echo *\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("echo 'x", "nothing closes", id="an open quotation mark"),
        pytest.param(f"/no/such/program {CANARY}", "cannot be run: no such file", id="missing"),
        pytest.param(f"/etc/passwd {CANARY}", "cannot be run: permission denied", id="no program"),
        pytest.param(f"echo\0 {CANARY}", "cannot be run: it is no command", id="NUL"),
        pytest.param(
            python(
                f"import sys; print('{CANARY}'); print('{CANARY}', file=sys.stderr); sys.exit(3)"
            ),
            "ended with status 3. Run it by hand",
            id="fails",
        ),
        pytest.param(
            python(f"import os; print('{CANARY}', flush=True); os.kill(os.getpid(), 9)"),
            "was ended by signal 9",
            id="killed",
        ),
        pytest.param(
            python(f"import sys; sys.stdout.write('{CANARY}' * 500)"),
            "printed more than 4096 bytes",
            id="prints too much",
        ),
    ],
)
def test_a_command_that_fails_is_told_on_by_its_name_alone(
    capfd: pytest.CaptureFixture[str], command: str, said: str
) -> None:
    """Arguments, output and stderr may be secrets: none is shown."""
    with pytest.raises(WrongUse) as caught:
        run_key_command(command)

    assert said in str(caught.value)
    assert str(caught.value).startswith("[vault] key_command")
    assert CANARY not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def ended(pid: int) -> bool:
    """Whether a process is gone; waits for at most five seconds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        os.sched_yield()
    return False


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("time.sleep(60)", id="the command itself"),
        pytest.param("os.fork(); time.sleep(60)", id="with a child"),
        pytest.param("pid = os.fork(); pid or time.sleep(60)", id="a child alone keeps it open"),
        pytest.param("os.close(1); time.sleep(60)", id="with its output closed"),
        pytest.param(
            "[(print('x', flush=True), time.sleep(0.02)) for _ in range(3000)]", id="in drips"
        ),
    ],
)
def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path, code: str) -> None:
    """A start never hangs, and nothing is left running."""
    pids = tmp_path / "pids"
    note = f"open('{pids}', 'a').write(str(os.getpid()) + chr(10))"
    forked = code.replace("os.fork()", f"(os.fork(), {note})[0]")
    started = time.monotonic()

    with pytest.raises(WrongUse, match=r"took longer than 0\.4 s"):
        run_key_command(python(f"import os, time; {note}; {forked}"), time_limit_s=0.4)

    assert time.monotonic() - started < 5
    noted = [int(pid) for pid in pids.read_text().split()]
    assert noted
    assert all(ended(pid) for pid in noted)


_LOOKS_FOR_ZOMBIES = """
import contextlib, os
from remit.errors import WrongUse
from remit.vault.commands import run_key_command
run_key_command("echo x")
with contextlib.suppress(WrongUse):
    run_key_command("false")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
"""


def test_no_process_is_left_unwaited() -> None:
    """No zombie remains after a command, whether it ended well or not.

    In a process of its own: this one may have a database and servers as children.
    """
    looked = subprocess.run(
        [sys.executable, "-c", _LOOKS_FOR_ZOMBIES], capture_output=True, text=True, check=False
    )

    assert looked.stdout.strip() == "no child", looked.stderr
