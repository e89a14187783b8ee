"""SKILL.md after the open Agent Skills format: what is read, and where a fault is told."""

from __future__ import annotations

import pytest

from remit.building.faults import Faults
from remit.building.skill_file import SkillFile, read_skill_file
from tests.building.writing import SKILL

AT = "skills/bookmarks/SKILL.md"


def read(text: str | bytes, folder: str = "bookmarks") -> tuple[SkillFile | None, list[str]]:
    """What a text says, and its faults as ``line:column rule``."""
    faults = Faults()
    data = text if isinstance(text, bytes) else text.encode()
    found = read_skill_file(data, AT, folder, faults)
    return found, [f"{f.line}:{f.column} {f.mistake.rule}" for f in faults.found]


def test_front_matter_and_instructions_are_read() -> None:
    """Every key of the format is taken; blank lines around the instructions are not."""
    text = (
        "---\nname: bookmarks\ndescription: >-\n  Saving\n  bookmarks.\nlicense: MIT\n"
        "compatibility: any\nmetadata: {author: acme}\nallowed-tools: Read Write\n---\n\n\n"
        "# Bookmarks\n\n---\n\nAsk first.\n\n"
    )
    found, faults = read(text)
    assert faults == []
    assert found is not None
    assert (found.name, found.description) == ("bookmarks", "Saving bookmarks.")
    assert found.body == "# Bookmarks\n\n---\n\nAsk first."
    assert found.places["/description"] == (3, 1)
    assert found.places["/body"] == (13, 1)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        pytest.param("", ["1:1 bad-front-matter"], id="empty"),
        pytest.param("# Bookmarks\n", ["1:1 bad-front-matter"], id="no front matter"),
        pytest.param("\n" + SKILL, ["1:1 bad-front-matter"], id="a line before it"),
        pytest.param(
            "---\nname: bookmarks\ndescription: d\n", ["1:1 bad-front-matter"], id="no end"
        ),
        pytest.param("---\n- a\n---\n", ["2:1 bad-front-matter"], id="a list"),
        pytest.param("---\n---\n", ["1:1 missing-key"] * 2, id="nothing in it"),
        pytest.param("---\nname: [\n---\n", ["3:1 bad-document"], id="no YAML"),
        pytest.param(
            SKILL.replace("name", "nmae"), ["2:1 unknown-key", "1:1 missing-key"], id="unknown key"
        ),
        pytest.param(
            SKILL.replace("---\n\n", "version: 1\n---\n\n"), ["4:1 unknown-key"], id="another key"
        ),
        pytest.param(SKILL.replace("Saving bookmarks.", "[a]"), ["3:1 wrong-type"], id="no text"),
        pytest.param(SKILL.replace("Saving bookmarks.", '" "'), ["3:1 missing-key"], id="blank"),
        pytest.param(SKILL.replace("Saving", "x" * 1024), ["3:1 too-long"], id="too long"),
        pytest.param(SKILL.replace("bookmarks\n", "Bookmarks\n"), ["2:1 bad-name"], id="capital"),
        pytest.param(SKILL.replace("bookmarks\n", "a--b\n"), ["2:1 bad-name"], id="two hyphens"),
        pytest.param(SKILL.replace("bookmarks\n", "-ab\n"), ["2:1 bad-name"], id="hyphen first"),
        pytest.param(
            SKILL.replace("bookmarks\n", "a" * 65 + "\n"), ["2:1 bad-name"], id="long name"
        ),
        pytest.param(SKILL.replace("bookmarks\n", "notes\n"), ["2:1 skill-name"], id="another"),
        pytest.param(SKILL.replace("description", "name"), ["3:1 bad-document"], id="a key twice"),
        pytest.param("\ufeff" + SKILL, ["1:1 bad-document"], id="byte order mark"),
        pytest.param(SKILL.replace("\n", "\r\n"), ["1:4 bad-document"], id="CRLF"),
        pytest.param(SKILL + "a\r\nb\n", ["7:2 bad-document"], id="one CR"),
        pytest.param(SKILL + "a\0b\n", ["7:2 bad-document"], id="NUL"),
        pytest.param(SKILL.encode() + b"\xff\n", ["7:1 bad-document"], id="no UTF-8"),
        pytest.param(SKILL.encode("utf-16"), ["1:1 bad-document"], id="UTF-16"),
        pytest.param(SKILL + "x" * 1024 * 1024, ["None:None bad-document"], id="too large"),
    ],
)
def test_fault_is_told_with_its_place(text: str | bytes, faults: list[str]) -> None:
    """Line and column are of the file, not of its front matter."""
    assert read(text) == (None, faults)


def test_longest_name_and_description_are_taken() -> None:
    """64 and 1,024 characters, and no instructions at all."""
    name = "a" * 64
    found, faults = read(f"---\nname: {name}\ndescription: {'x' * 1024}\n---\n", folder=name)
    assert faults == []
    assert found is not None
    assert found.body == ""
