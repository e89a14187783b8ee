"""The pages of the error codes: each example fails with exactly its code, and mended succeeds."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remit import errors
from remit.main.commands.explain import listed
from remit.main.pages import ids, page
from remit.web import refusals
from tests.main.conftest import Ran, Remit
from tests.main.scripted import ScriptedApp

HEADINGS = [
    "What happened",
    "Why",
    "What to do",
    "An example that fails",
    "The same, mended",
]
# A code that needs a server has what the server answers, in place of a command.
SERVED_HEADINGS = [*HEADINGS[:3], "An example"]
ORIGIN = "https://api.shop.example"
WAIT_S = 30


def _classes(root: type[errors.RemitError]) -> Iterator[type[errors.RemitError]]:
    for child in root.__subclasses__():
        if child.__module__.startswith((f"{errors.__name__}.", refusals.__name__)):
            yield child
        yield from _classes(child)


# `internal` is ours and has no cause that a page could name.
CLASSES = {error.code: error for error in _classes(errors.RemitError) if error.code != "internal"}
SERVED = [code for code in CLASSES if "## An example\n" in (page(code) or "")]
RUN = [code for code in CLASSES if code not in SERVED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example of a page: a definition, what the app answers, a command, and Ctrl-C."""

    definition: str
    answers: list[dict[str, Any]]
    arguments: list[str]
    interrupts: int


def sections(code: str) -> dict[str, str]:
    """The page's text under each heading, in order."""
    text = page(code)
    assert text is not None, f"{code} has no page"
    head, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    return {"": head, **dict(part.split("\n", 1) for part in rest)}


def read_example(text: str) -> Example:
    """The fenced blocks of a section."""
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
    command, *typed = blocks["console"].strip().split("\n")
    assert command.startswith("$ remit call shop.yaml ")
    assert set(typed) <= {"^C"}
    return Example(
        definition=blocks["yaml"],
        answers=json.loads(blocks.get("json", "[]")),
        arguments=shlex.split(command)[2:],
        interrupts=len(typed),
    )


def interrupted(app: ScriptedApp, arguments: list[str], count: int) -> Ran:
    """Run the command as a process and press Ctrl-C, each time when it can be heard."""
    command = [sys.executable, "-m", "remit.main", *arguments]
    with subprocess.Popen(
        command, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert app.asked.wait(WAIT_S)
        said = ""
        for _ in range(count):
            process.send_signal(signal.SIGINT)
            said += process.stderr.readline()
        out, rest = process.communicate(timeout=WAIT_S)
    return Ran(code=process.returncode, out=out, err=said + rest)


def run(example: Example, remit: Remit) -> tuple[Ran, list[str]]:
    """Run an example; how it ended, and the requests that the app got."""
    with ScriptedApp(example.answers or [{"status": 500}]) as app:
        Path("shop.yaml").write_text(example.definition.replace(ORIGIN, app.url), "utf-8")
        if example.interrupts:
            return interrupted(app, example.arguments, example.interrupts), app.paths
        return remit(*example.arguments), app.paths


def test_every_code_of_a_call_has_a_page_and_no_page_is_of_none() -> None:
    """`remit explain CODE` answers for every code, and lists it as one."""
    codes, rules = listed()
    assert set(CLASSES) == set(codes)
    assert set(codes) | set(rules) == set(ids())


@pytest.mark.parametrize("code", CLASSES)
def test_page_has_its_parts_and_the_facts_of_the_class(code: str) -> None:
    """Status and fault are looked up by programs; the page must not say others."""
    found = sections(code)
    assert list(found)[1:] == (SERVED_HEADINGS if code in SERVED else HEADINGS)
    head = f"# {code}\n\nstatus: {CLASSES[code].status}\nfault: {CLASSES[code].fault}\n\n"
    assert found[""] == head
    assert all(text.strip() for text in list(found.values())[1:])


@pytest.mark.parametrize("code", SERVED)
def test_example_of_an_answer_is_one(code: str) -> None:
    """A problem document (RFC 9457) with the class's status, or a call or run that ended so."""
    blocks = re.findall(r"^```json\n(.*?)^```$", sections(code)["An example"], re.M | re.S)
    answer = json.loads(blocks[0])
    if answer.get("type") == "run_finished":
        assert (answer["data"]["reason"], answer["data"]["error"]["code"]) == ("failed", code)
        return
    if "error" in answer:
        assert answer["error"]["code"] == code
        assert answer["outcome"] in {"error", code}
        return
    assert (answer["code"], answer["status"]) == (code, CLASSES[code].status)
    assert answer["detail"]


@pytest.mark.parametrize("code", RUN)
def test_example_that_fails_fails_with_this_code(code: str, remit: Remit) -> None:
    """The page shows the fault as it happens, not as somebody remembers it."""
    example = read_example(sections(code)["An example that fails"])
    ran, requests = run(example, remit)
    if code == "wrong_use":
        assert (ran.code, ran.out) == (2, "")
        assert ran.err
        return
    assert ran.json["error"]["code"] == code
    assert ran.json["error"]["message"] in ran.err or code == "invalid_definition"
    assert ran.code == (130 if code == "cancelled" else 1)
    # The app is asked exactly where the page says what it answers.
    assert bool(requests) is bool(example.answers)


@pytest.mark.parametrize("code", RUN)
def test_mended_example_succeeds(code: str, remit: Remit) -> None:
    """The mend is one."""
    example = read_example(sections(code)["The same, mended"])
    ran, requests = run(example, remit)
    assert ran.code == 0, ran.err
    assert ran.json["outcome"] == "ok"
    assert requests
