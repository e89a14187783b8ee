"""An app folder becomes one definition, and what is wrong in it is told where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.building import Built, build, mistakes_of
from remit.catalog.definitions import load_definition
from remit.lint.run import lint_definition
from tests.building.conftest import Folder
from tests.building.writing import APP, SKILL, TOOLS

NOTES = TOOLS.replace("save_bookmark", "save_note").replace("Save bookmark", "Save note")


def built(root: Path, *, limit_s: float = 30) -> Built:
    """A build with time enough on a busy machine."""
    return build(root, brand="Remit", limit_s=limit_s)


def told(root: Path, *, limit_s: float = 30) -> list[str]:
    """Every fault of a folder and of its definition, as a person reads it."""
    found = built(root, limit_s=limit_s)
    return [fault.told("my-app") for fault in found.all_faults(mistakes_of(found, brand="Remit"))]


@pytest.mark.promise("K-02", "K-03")
def test_folder_becomes_a_definition_that_loads(folder: Folder) -> None:
    """Keys of app.yaml, each skill with its tools, every tool on a route of a component."""
    root = folder(
        {
            "skills/notes/SKILL.md": SKILL.replace("bookmarks", "notes"),
            "skills/notes/tools.py": NOTES,
            "skills/advice/SKILL.md": SKILL.replace("bookmarks", "advice"),
        }
    )
    found = built(root)
    assert found.faults == ()
    document = found.document
    assert list(document) == ["id", "name", "auth", "components", "skills", "tools"]
    assert document["skills"] == [
        {
            "name": name,
            "description": f"Saving {name}.",
            "body": "Ask for the title.",
            "tools": tools,
        }
        for name, tools in (
            ("advice", []),
            ("bookmarks", ["save_bookmark"]),
            ("notes", ["save_note"]),
        )
    ]
    loaded = load_definition(document)
    assert loaded.sound
    assert loaded.definition is not None
    tool = loaded.definition.tool("save_note")
    assert tool is not None
    assert tool.record["target"] == {
        "type": "app",
        "component": "api",
        "path": "/tools/save-bookmark",
        "method": "POST",
        "body": "${input}",
    }
    assert tool.parameters.names == {"url", "title"}


def test_same_folder_gives_the_same_bytes(folder: Folder) -> None:
    """Also where the code makes lists of sets, whose order Python changes from run to run."""
    tools = TOOLS.replace(
        "    title: str | None = None",
        '    title: str = Field(json_schema_extra={"examples": list(set("abcdefgh"))})',
    ).replace("BaseModel, ConfigDict", "BaseModel, ConfigDict, Field")
    root = folder({"skills/bookmarks/tools.py": tools})
    texts = {json.dumps(built(root).document) for _ in range(3)}
    assert len(texts) == 1
    assert '"examples"' in texts.pop()


def test_build_leaves_nothing_in_the_folder(folder: Folder) -> None:
    """No compiled module and no file beside those of the author."""
    root = folder({"skills/bookmarks/shared.py": "X = 1\n"})
    (root / "skills/bookmarks/tools.py").write_text("import shared\n" + TOOLS, "utf-8")
    before = sorted(root.rglob("*"))
    assert built(root).sound
    assert sorted(root.rglob("*")) == before


def test_all_faults_of_a_folder_are_told_at_once(folder: Folder) -> None:
    """One run names every file that must be mended, the definition's own mistakes with them."""
    root = folder(
        {
            "app.yaml": APP.replace("name: Bookmarks", "nmae: Bookmarks"),
            "skills/bookmarks/SKILL.md": SKILL.replace("description", "descripton"),
            "skills/broken/SKILL.md": "No front matter.\n",
            "skills/broken/tools.py": "tools = [\n",
            "skills/notes/SKILL.md": SKILL.replace("bookmarks", "notes"),
            "skills/notes/tools.json": "[]",
        }
    )
    lines = [text.splitlines()[0] for text in told(root)]
    assert lines == [
        "my-app/app.yaml:1:1",
        "my-app/app.yaml:2:1  /nmae",
        "my-app/skills/bookmarks/SKILL.md:1:1",
        "my-app/skills/bookmarks/SKILL.md:3:1  /descripton",
        "my-app/skills/broken/SKILL.md:1:1",
        "my-app/skills/broken/tools.py:1:9",
        "my-app/skills/notes/tools.json",
    ]


@pytest.mark.promise("K-27")
@pytest.mark.parametrize("place", ["", "skills/", "skills/bookmarks/"])
def test_tools_json_stops_the_build_by_its_name(folder: Folder, place: str) -> None:
    """Wherever somebody would put one."""
    found = built(folder({f"{place}tools.json": "[]"}))
    assert not found.sound
    (fault,) = found.faults
    assert (fault.file, fault.mistake.rule) == (f"{place}tools.json", "tools-json")
    assert "tools.py or tools.ts" in fault.mistake.mend


def test_two_skills_with_one_tool_name_both_files(folder: Folder) -> None:
    """The model calls a tool by its name alone."""
    root = folder(
        {
            "skills/notes/SKILL.md": SKILL.replace("bookmarks", "notes"),
            "skills/notes/tools.py": TOOLS,
        }
    )
    (text,) = told(root)
    assert text.splitlines() == [
        "my-app/skills/notes/tools.py:15:9  save_bookmark  /name",
        '  The name "save_bookmark" stands in skills/bookmarks/tools.py, too. '
        "Give one of the two tools another name; it is the name that the model calls.",
    ]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param({"app.yaml": None}, "my-app\n  The folder has no app.yaml.", id="no app"),
        pytest.param(
            {"app.yaml": None, "app.yml": APP}, "Rename app.yml to it.", id="another ending"
        ),
        pytest.param(
            {"app.yaml": APP + "tools: []\n"},
            'my-app/app.yaml:6:1  /tools\n  "tools" does not stand in app.yaml. '
            "Tools stand in skills/<name>/tools.py or tools.ts.",
            id="tools in app.yaml",
        ),
        pytest.param(
            {"app.yaml": APP + "skills: []\n"},
            "A skill is a folder: skills/<name>/SKILL.md.",
            id="skills in app.yaml",
        ),
        pytest.param({"app.yaml": "- a\n"}, "An app must be an object", id="a list"),
        pytest.param(
            {"app.yaml": "id: a\nid: b\n"},
            'my-app/app.yaml:2:1  /id\n  The key "id" stands twice.',
            id="a key twice",
        ),
        pytest.param(
            {"skills/empty/notes.txt": ""},
            "my-app/skills/empty\n  The skill has no SKILL.md.",
            id="no SKILL.md",
        ),
        pytest.param(
            {"skills/bookmarks/tools.ts": "export const tools = [];\n"},
            "tools.ts\n  The skill has tools.py and tools.ts. Keep one of them;",
            id="two languages",
        ),
        pytest.param(
            {"skills/bookmarks/tools.yaml": "[]"},
            "No tools are read from a tools.yaml.",
            id="another format",
        ),
        pytest.param(
            {"skills/tools.py": TOOLS},
            "my-app/skills/tools.py\n  Tools stand in a skill, and this file stands in none.",
            id="in no skill",
        ),
        pytest.param({"tools.py": TOOLS}, "this file stands beside app.yaml", id="beside app.yaml"),
    ],
)
def test_what_stands_in_the_wrong_place_is_told(
    folder: Folder, files: dict[str, str | bytes | None], words: str
) -> None:
    """Nothing is passed over without a word."""
    assert words in "\n".join(told(folder(files)))


def test_folder_without_skills_is_an_app(folder: Folder) -> None:
    """Its tools may come from toolsUrl."""
    found = built(folder({"skills/bookmarks/SKILL.md": None, "skills/bookmarks/tools.py": None}))
    assert found.faults == ()
    assert (found.document["skills"], found.document["tools"]) == ([], [])


def test_mistake_of_the_definition_leads_back_to_its_file(folder: Folder) -> None:
    """Line and pointer of what the author wrote, not of what was built."""
    root = folder(
        {
            "app.yaml": APP + "promptContext: [1]\n",
            "skills/notes/SKILL.md": SKILL.replace("bookmarks", "notes").replace(
                "Saving notes.", '" "'
            ),
            "skills/zero/SKILL.md": SKILL.replace("bookmarks", "zero"),
            "skills/zero/tools.py": NOTES.replace('component="api"', 'component="web"').replace(
                "tools = [", 'first = "x"\n\n\ntools = ['
            ),
        }
    )
    assert [text.splitlines()[0] for text in told(root)] == [
        "my-app/app.yaml:6:1  /promptContext",
        "my-app/skills/notes/SKILL.md:3:1  /description",
        "my-app/skills/zero/tools.py:22:9  save_note  /target/component",
    ]


def test_findings_of_lint_lead_back_to_their_files(folder: Folder) -> None:
    """A rule on a tool names its tools file; one on the app its app.yaml."""
    root = folder(
        {
            "app.yaml": APP + "env: {collection: main, environment: production}\n",
            "skills/bookmarks/tools.py": TOOLS.replace(
                "Saves an address. Not for notes; use save_note for those.", ""
            ),
        }
    )
    found = built(root)
    faults = {f.mistake.rule: f for f in found.traced(lint_definition(found.document))}
    empty, unused = faults["empty-description"], faults["unused-env"]
    assert (empty.file, empty.line) == ("skills/bookmarks/tools.py", 17)
    assert empty.mistake.pointer == "/tools/0/description"
    assert (unused.file, unused.line) == ("app.yaml", 6)


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("app.yaml", "127.0.0.1"),
        ("skills", "Saving bookmarks"),
        ("skills/bookmarks", "Saving bookmarks"),
        ("skills/bookmarks/SKILL.md", "Saving bookmarks"),
        ("skills/bookmarks/tools.py", "save_bookmark"),
    ],
)
def test_link_out_of_the_folder_is_not_followed(
    folder: Folder, tmp_path: Path, link: str, text: str
) -> None:
    """A folder that is handed on must be whole, and nothing else is read through it."""
    root = folder()
    outside = tmp_path / "outside"
    (root / link).rename(outside)
    (root / link).symlink_to(outside)
    found = built(root)
    fault = next(f for f in found.faults if f.mistake.rule == "link-leaves-folder")
    assert fault.file == link
    assert text not in json.dumps(found.document)


def test_link_within_the_folder_is_followed(folder: Folder, tmp_path: Path) -> None:
    """And the folder itself may be reached through one."""
    root = folder()
    (root / "skills/bookmarks/tools.py").rename(root / "shared.py")
    (root / "skills/bookmarks/tools.py").symlink_to("../../shared.py")
    (tmp_path / "alias").symlink_to(root)
    found = built(tmp_path / "alias")
    assert found.faults == ()
    assert "save_bookmark" in json.dumps(found.document["tools"])
