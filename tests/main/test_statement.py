"""`remit lock` as a user and a CI run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.main.conftest import Remit

TOOL = {
    "name": "get_thing",
    "description": "Gives one thing.",
    "category": "read",
    "dangerLevel": "safe",
    "parameters": {"type": "object", "properties": {}},
    "endpoint": {"method": "GET", "path": "/things"},
}


def written(
    change: Callable[[dict[str, Any]], object] = lambda _: None, name: str = "a.json"
) -> str:
    """A definition, changed, as a file."""
    document: dict[str, Any] = {
        "id": "an-app",
        "name": "An App",
        "baseUrl": "https://a.example",
        "auth": {"type": "bearer"},
        "ceiling": {"category": "write", "dangerLevel": "destructive"},
        "tools": [
            dict(TOOL),
            {
                **TOOL,
                "name": "drop_thing",
                "category": "write",
                "dangerLevel": "destructive",
                "requiresApproval": True,
                "endpoint": {"method": "DELETE", "path": "/things"},
            },
        ],
    }
    change(document)
    Path(name).write_text(json.dumps(document), "utf-8")
    return name


def reworded(document: dict[str, Any]) -> None:
    """Another description: an agent can do no more."""
    document["tools"][0]["description"] = "Gives one thing. Not for many."


def loosened(document: dict[str, Any]) -> None:
    """A destructive tool that asks nobody any more, and other words besides."""
    document["tools"][1] |= {"dangerLevel": "moderate", "requiresApproval": False}
    reworded(document)


def test_harmless_edit_passes_and_is_told(remit: Remit) -> None:
    """A CI step that fails on every better description is switched off within a week."""
    remit("lock", written())
    ran = remit("lock", written(reworded), "--check")
    assert (ran.code, ran.out) == (0, "")
    assert "The texts or arguments of get_thing changed." in ran.err
    assert "An agent can do nothing more than remit.lock says." in ran.err
    assert "`remit lock a.json`" in ran.err


def test_with_strict_any_difference_fails(remit: Remit) -> None:
    """For who wants the lock always in step."""
    remit("lock", written())
    ran = remit("lock", written(reworded), "--check", "--strict")
    assert ran.code == 1
    assert "get_thing" in ran.out
    assert remit("lock", written(), "--check", "--strict").code == 0


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_change_that_lets_an_agent_do_more_fails(remit: Remit, strict: tuple[str, ...]) -> None:
    """It says what, first and once (contract section 17)."""
    remit("lock", written())
    ran = remit("lock", written(loosened), "--check", *strict)
    assert ran.code == 1
    first, *rest = ran.out.splitlines()
    assert first.startswith("An agent could now run drop_thing without asking.")
    assert rest == ["The texts or arguments of get_thing changed."]
    assert ran.out.count("without asking") == 1
    assert "asks nobody" not in ran.out


def test_missing_lock_fails_with_the_command_that_writes_it(remit: Remit) -> None:
    """Nothing to compare with is no agreement."""
    ran = remit("lock", written(), "--check")
    assert ran.code == 1
    assert "remit.lock: there is no such lock. Write it with `remit lock a.json`." in ran.err


def test_lock_of_another_app_is_not_overwritten(remit: Remit) -> None:
    """Two definitions in one folder would take turns in one file."""
    remit("lock", written())
    before = Path("remit.lock").read_bytes()
    other = written(lambda document: document.update(id="other-app"), "other.json")
    ran = remit("lock", other)
    assert ran.code == 2
    assert '"an-app"' in ran.err
    assert "-o other-app.lock" in ran.err
    assert Path("remit.lock").read_bytes() == before
    assert remit("lock", other, "--check").code == 1
    assert remit("lock", other, "-o", "other-app.lock").code == 0
    assert remit("lock", other, "-o", "other-app.lock", "--check").code == 0


def test_only_a_lock_is_overwritten(remit: Remit) -> None:
    """`-o` with the name of the definition would cost the definition."""
    name = written()
    before = Path(name).read_bytes()
    ran = remit("lock", name, "-o", name)
    assert ran.code == 2
    assert "is there, and is no lock" in ran.err
    assert Path(name).read_bytes() == before
    Path("remit.lock").write_text("<<<<<<< ours", "utf-8")
    assert remit("lock", name).code == 0
    assert remit("lock", name).code == 0


def test_lock_that_cannot_be_written_names_the_folder(remit: Remit) -> None:
    """No number of the system's, and what to do."""
    ran = remit("lock", written(), "-o", "no/such/a.lock")
    assert ran.code == 2
    assert "cannot be written: there is no folder no/such. Make it first." in ran.err
    Path("folder.lock").mkdir()
    ran = remit("lock", written(), "-o", "folder.lock")
    assert ran.code == 2
    assert "folder.lock: cannot be written: Is a directory." in ran.err
