"""A command line, a file or a setting that cannot be used: each fault with its mend."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.main.conftest import Remit

TOOLS = "tools: []\n"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (("export", "a.yaml", "--for", "claude"), "Invalid value for '--for': 'claude' is not one"),
        (("schema", "tols"), "Invalid value for 'KIND': 'tols' is not one of 'definition', "),
        (("lint", "a.yaml", "--config", "x"), "before the command: remit --config FILE lint …"),
        (("call", "a.yaml", "t", "--version"), "before the command: remit --version"),
        (("call", "a.yaml", "t", '{"a": 1}'), "stand after --args: --args '{…}'"),
        (("call", "a.yaml", "t", "a=1"), "an argument of the tool is in --args"),
        (("serve", "--port", "8701"), "a setting: REMIT_SERVER_PORT, or [server] port."),
        (("serve", "--host=0.0.0.0"), "a setting: REMIT_SERVER_HOST, or [server] host."),
        (("explian",), "Did you mean 'explain'?"),
        (("lock", "a.yaml", "--strict"), "--strict goes with --check"),
    ],
)
def test_wrong_use_says_how_to_type_it(remit: Remit, wish: tuple[str, ...], words: str) -> None:
    """Exit 2, nothing on stdout, and no words of the libraries below (look and voice)."""
    ran = remit(*wish)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "Value error" not in ran.err


@pytest.mark.parametrize("command", ["", "lint", "egress check"])
def test_help_is_a_word_too(remit: Remit, command: str) -> None:
    """`remit help lint` is what people type first."""
    words = command.split()
    asked = remit("help", *words)
    assert asked.code == 0
    assert asked.out == remit(*words, "--help").out
    assert f" {command} [OPTIONS]".replace("  ", " ") in asked.out


def test_without_a_command_the_help_is_shown_as_wrong_use(remit: Remit) -> None:
    """Nothing was done, so the exit code says so."""
    ran = remit()
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("issues.yml", "there is no such file. Did you mean issues.yaml?"),
        ("isues.yaml", "there is no such file. Did you mean issues.yaml?"),
        ("sub/issus.json", "Did you mean sub/issues.json?"),
        ("zebra", "zebra: there is no such file.\n"),
        ("no/such/issues.yaml", "no/such/issues.yaml: there is no such file.\n"),
        ("a\0b", "is no name of a file."),
        ("sub", "is a folder. Name a definition file in it."),
    ],
)
@pytest.mark.parametrize("command", ["lint", "show"])
def test_file_that_is_not_there_is_told_with_the_likely_one(
    remit: Remit, command: str, typed: str, words: str
) -> None:
    """The ending is what people slip on most."""
    Path("issues.yaml").write_text(TOOLS, "utf-8")
    Path("sub").mkdir()
    Path("sub/issues.json").write_text("[]", "utf-8")
    ran = remit(command, typed)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_says_why(remit: Remit) -> None:
    """The reason of the system, without its number."""
    Path("issues.yaml").write_text(TOOLS, "utf-8")
    Path("issues.yaml").chmod(0)
    assert "cannot be read: Permission denied." in remit("lint", "issues.yaml").err


def test_file_and_tool_in_the_wrong_order_are_told(remit: Remit) -> None:
    """A tool's name is no file, and the file stands where the tool should."""
    Path("issues.yaml").write_text(TOOLS, "utf-8")
    ran = remit("call", "list_issues", "issues.yaml")
    assert ran.code == 2
    assert "The file comes first: remit call issues.yaml list_issues" in ran.err
    ran = remit("call", "list_issues", "other.yaml")
    assert "The file comes first" not in ran.err


@pytest.mark.parametrize("content", ["", " \n\t\n"])
def test_empty_file_is_called_empty_with_a_mend(remit: Remit, content: str) -> None:
    """It is a file that was never written, not a value that is missing."""
    for name in ("a.yaml", "a.json"):
        Path(name).write_text(content, "utf-8")
        said = remit("show", name).err
        assert f"{name}:1:1: The file is empty. Write a definition: an object with id," in said
        assert "The file is empty." in remit("lint", name).out


def test_mistake_of_a_file_is_said_in_sentences(remit: Remit) -> None:
    """Place, what is wrong, the mend: each a sentence."""
    Path("a.yaml").write_text("a: 1\na: 2\n", "utf-8")
    assert (
        'a.yaml:2:1: The key "a" stands twice. Keep one of the two.' in remit("show", "a.yaml").err
    )


@pytest.mark.parametrize(
    ("typed", "forms"),
    [
        ("127.0.0.1:8811", ("https://127.0.0.1:8811", "http://127.0.0.1:8811")),
        ("localhost:8811/v1", ("https://localhost:8811/v1", "http://localhost:8811/v1")),
        ("api.example", ("https://api.example", "http://api.example")),
        ("ftp://api.example", ()),
        ("nonsense here", ()),
    ],
)
def test_address_without_a_scheme_is_told_both_whole_forms(
    remit: Remit, typed: str, forms: tuple[str, ...]
) -> None:
    """The guard guesses no scheme; the person picks one."""
    ran = remit("egress", "check", typed)
    assert (ran.code, ran.json["decision"]) == (1, "refuse")
    assert ("mend" in ran.json) is bool(forms)
    assert all(form in ran.json["mend"] for form in forms)
