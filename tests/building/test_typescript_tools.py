"""tools.ts runs under Node with the project's own validator, whose JSON Schema counts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from remit.building import Built, build
from remit.building.faults import Fault
from tests.building import node
from tests.building.conftest import FOLDERS, Folder
from tests.building.test_python_tools import refusals
from tests.building.writing import typescript

pytestmark = pytest.mark.usefixtures("machine_node")

ZOD = "import { z } from 'zod';"
VALIBOT = "import * as v from 'valibot';"
ARKTYPE = "import { type } from 'arktype';"


def files(text: str) -> dict[str, str | bytes | None]:
    """A folder whose tools are these, in TypeScript."""
    return {"skills/bookmarks/tools.py": None, "skills/bookmarks/tools.ts": text}


def built(root: Path, *packages: str, brand: str = "Remit", limit_s: float = 60) -> Built:
    """A build with these packages in the folder."""
    if packages:
        node.link(root, *packages)
    return build(root, brand=brand, limit_s=limit_s)


def fault_of(root: Path, *packages: str) -> Fault:
    """The one fault of a folder."""
    (found,) = built(root, *packages).faults
    assert found.file == "skills/bookmarks/tools.ts"
    return found


@pytest.mark.promise("K-02", "K-05", "K-06")
def test_example_file_of_the_origin_builds_under_the_brand_kazzle(tmp_path: Path) -> None:
    """Unchanged, with its module, type and helper names; its URL format and strictness hold."""
    root = tmp_path / "kazzle"
    shutil.copytree(FOLDERS / "kazzle", root)
    found = built(root, "zod", "esbuild", brand="Kazzle")
    assert found.faults == ()
    assert found.document["tools"] == [
        {
            "name": "save_bookmark",
            "displayName": "Save bookmark",
            "description": "Save a bookmark URL and return a confirmation.",
            "parameters": {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "format": "uri", "description": "URL to save."},
                    "title": {"type": "string", "description": "Optional human-readable title."},
                },
                "required": ["url"],
                "additionalProperties": False,
            },
            "target": {
                "type": "app",
                "component": "api",
                "path": "/tools/save-bookmark",
                "method": "POST",
                "body": "${input}",
            },
        }
    ]
    assert refusals(found.document, {"url": "https://a.example/"}) == []
    assert refusals(found.document, {"url": "nowhere"}) == ["/url"]
    assert refusals(found.document, {"url": "https://a.example/", "tags": []}) != []


@pytest.mark.promise("K-06")
@pytest.mark.parametrize(
    "name", ["@kazzle/app/tools", "@kazzle/app", "@remit/sdk/kit", "@remit/sdk/tools"]
)
def test_kit_is_found_by_each_of_its_names(folder: Folder, name: str) -> None:
    """Also where the project has installed none: the package carries a copy."""
    head = (
        f"import {{ isThreadToolInvocation, toolContext, type AppTool }} from '{name}';\n"
        "if (typeof toolContext !== 'function' || typeof isThreadToolInvocation !== 'function') {\n"
        "  throw new Error('no kit');\n}"
    )
    root = folder(files(typescript("z.object({ url: z.url() })", ZOD, head)))
    assert built(root, "zod", "esbuild", brand="Kazzle").faults == ()


def test_kit_of_the_project_is_taken_first(folder: Folder) -> None:
    """Under its own name, and under the brand's."""
    head = "import { mine } from '@kazzle/app/tools';"
    root = folder(
        {
            **files(typescript("z.object({ url: mine })", ZOD, head)),
            "node_modules/@remit/sdk/package.json": json.dumps(
                {"name": "@remit/sdk", "type": "module", "exports": {"./kit": "./kit.js"}}
            ),
            "node_modules/@remit/sdk/kit.js": (
                "import { z } from 'zod'; export const mine = z.url();"
            ),
        }
    )
    assert built(root, "zod", "esbuild", brand="Kazzle").faults == ()


LIBRARIES = [
    pytest.param(
        ("zod", "esbuild"),
        ZOD,
        "z.object({ url: z.url(), rank: z.coerce.number().int().min(1).max(5),"
        " at: z.coerce.date().optional(), tag: z.object({ name: z.string() }).optional(),"
        " note: z.preprocess((x) => x, z.string()).optional() })",
        id="zod 4",
    ),
    pytest.param(
        ("zod=zod-first", "esbuild"),
        ZOD,
        "z.object({ url: z.url(), rank: z.coerce.number().int().min(1).max(5),"
        " at: z.coerce.date().optional(), tag: z.object({ name: z.string() }).optional(),"
        " note: z.preprocess((x) => x, z.string()).optional() })",
        id="zod 4.0, without Standard JSON Schema",
    ),
    pytest.param(
        ("zod=zod3", "zod-to-json-schema", "esbuild"),
        ZOD,
        "z.object({ url: z.string().url(), rank: z.coerce.number().int().min(1).max(5),"
        " at: z.coerce.date().optional(), tag: z.object({ name: z.string() }).optional(),"
        " note: z.preprocess((x) => x, z.string()).optional() })",
        id="zod 3",
    ),
    pytest.param(
        ("valibot", "@valibot/to-json-schema", "esbuild"),
        VALIBOT,
        "v.object({ url: v.pipe(v.string(), v.url()),"
        " rank: v.pipe(v.unknown(), v.transform(Number), v.number(), v.integer(),"
        " v.minValue(1), v.maxValue(5)),"
        " at: v.optional(v.pipe(v.string(), v.isoTimestamp())),"
        " tag: v.optional(v.object({ name: v.string() })),"
        " note: v.optional(v.pipe(v.unknown(), v.transform(String), v.string())) })",
        id="valibot",
    ),
    pytest.param(
        ("arktype", "esbuild"),
        ARKTYPE,
        "type({ url: 'string.url', rank: '1 <= number.integer <= 5', 'at?': 'string',"
        " 'tag?': { name: 'string', '+': 'delete' }, 'note?': 'string', '+': 'delete' })",
        id="arktype",
    ),
]


@pytest.mark.promise("K-05")
@pytest.mark.parametrize(("packages", "head", "input_"), LIBRARIES)
def test_input_of_each_library_is_enforced_with_strictness_and_formats(
    folder: Folder, packages: tuple[str, ...], head: str, input_: str
) -> None:
    """What it coerces has the type it becomes; an object whose rest it strips is closed."""
    found = built(folder(files(typescript(input_, head))), *packages)
    assert found.faults == ()
    document = found.document
    good: dict[str, object] = {"url": "https://a.example/", "rank": 5}
    assert refusals(document, good) == []
    whole = {"tag": {"name": "a"}, "note": "b", "at": "2026-11-30T21:00:00Z"}
    assert refusals(document, {**good, **whole}) == []
    assert refusals(document, {**good, "url": "nowhere"}) == ["/url"]
    assert refusals(document, {**good, "rank": 6}) == ["/rank"]
    assert refusals(document, {**good, "rank": "x"}) == ["/rank"]
    assert refusals(document, {**good, "note": []}) == ["/note"]
    assert refusals(document, {**good, "tag": {"name": 1}}) == ["/tag/name"]
    assert refusals(document, {**good, "more": 1}) != []
    assert refusals(document, {**good, "tag": {"name": "a", "more": 1}}) != []
    assert refusals(document, {"rank": 1}) != []


@pytest.mark.parametrize(
    ("packages", "head", "input_"),
    [
        pytest.param(("zod",), ZOD, "z.looseObject({ url: z.string() })", id="zod"),
        pytest.param(
            ("zod=zod3", "zod-to-json-schema"),
            ZOD,
            "z.object({ url: z.string() }).passthrough()",
            id="zod 3",
        ),
        pytest.param(
            ("valibot", "@valibot/to-json-schema"),
            VALIBOT,
            "v.looseObject({ url: v.string() })",
            id="valibot",
        ),
        pytest.param(("arktype",), ARKTYPE, "type({ url: 'string' })", id="arktype"),
    ],
)
def test_object_that_keeps_what_it_does_not_know_stays_open(
    folder: Folder, packages: tuple[str, ...], head: str, input_: str
) -> None:
    """The author says it; nothing is tightened behind their back."""
    found = built(folder(files(typescript(input_, head))), *packages, "esbuild")
    assert found.faults == ()
    assert refusals(found.document, {"url": "a", "more": 1}) == []


@pytest.mark.parametrize(
    ("packages", "head", "input_", "words"),
    [
        pytest.param(
            ("zod=zod3",), ZOD, "z.object({})",
            "npm install --save-dev zod-to-json-schema", id="zod 3 alone",
        ),
        pytest.param(
            ("valibot",), VALIBOT, "v.object({})",
            "npm install --save-dev @valibot/to-json-schema", id="valibot alone",
        ),
        pytest.param(
            ("zod",), ZOD, "z.object({ a: z.object({ b: z.bigint() }) })",
            '"a.b" has the type "bigint" of Zod', id="no JSON type of zod",
        ),
        pytest.param(
            ("valibot", "@valibot/to-json-schema"), VALIBOT, "v.object({ a: v.bigint() })",
            '"bigint" schema cannot be converted', id="no JSON type of valibot",
        ),
        pytest.param((), "", "{ type: 'object', properties: {} }", "the input is no schema",
                     id="bare JSON Schema"),
        pytest.param((), "", "null", "it is null", id="null"),
        pytest.param(
            (), "", "{ '~standard': { version: 1, vendor: 'other', validate() {} } }",
            '"other" gives no JSON Schema', id="another library",
        ),
    ],
)  # fmt: skip
def test_input_without_json_schema_names_tool_field_and_mend(
    folder: Folder, packages: tuple[str, ...], head: str, input_: str, words: str
) -> None:
    """What to install, where that is the mend."""
    fault = fault_of(folder(files(typescript(input_, head))), *packages, "esbuild")
    mistake = fault.mistake
    assert (mistake.rule, mistake.tool, mistake.at) == ("no-json-schema", "save_bookmark", "/input")
    assert words in f"{mistake.message} {mistake.mend}"
    assert fault.line is not None


STANDARD = """\
{
  '~standard': {
    version: 1,
    vendor: 'other',
    validate: (value: unknown) => ({ value }),
    jsonSchema: {
      input: () => ({ type: 'object', properties: { url: { type: 'string' } } }),
      output: () => ({ type: 'object', properties: {}, additionalProperties: false }),
    },
  },
}"""


def test_any_library_with_standard_json_schema_will_do(folder: Folder) -> None:
    """Its name need not be known."""
    found = built(folder(files(typescript(STANDARD))), "esbuild")
    assert found.faults == ()
    assert refusals(found.document, {"url": 1}) == ["/url"]


def _node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None) -> None:
    """Make this the only Node on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if program is not None:
        (folder / "node").symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize("package", ["esbuild", "typescript=typescript5", "typescript=typescript7"])
def test_types_are_taken_off_by_what_the_project_has(folder: Folder, package: str) -> None:
    """An enum and a file beside it show that it is no mere deletion; a fault keeps its line."""
    text = typescript(
        "z.object({ kind: z.enum(Kind), url: Url })",
        ZOD,
        "import { Url } from './shared.js';",
        "enum Kind { Book = 'book' }",
    )
    shared = "import { z } from 'zod';\nexport const Url: z.ZodURL = z.url();\n"
    root = folder({**files(text), "skills/bookmarks/shared.ts": shared})
    found = built(root, "zod", package)
    assert found.faults == ()
    assert refusals(found.document, {"kind": "book", "url": "https://a.example/"}) == []
    (root / "skills/bookmarks/tools.ts").write_text("interface A {}\n\nnothing();\n", "utf-8")
    (fault,) = built(root).faults
    assert "nothing is not defined" in fault.mistake.message
    assert fault.line == 3
    (root / "skills/bookmarks/tools.ts").write_text("const a = 1;\nconst = 2;\n", "utf-8")
    (fault,) = built(root).faults
    assert (fault.mistake.rule, fault.line) == ("tools-failed", 2)


def test_newer_node_takes_types_off_itself(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the project needs nothing but its validator; the hooks run in the same thread there."""
    program = node.of_wheel()
    if program is None:
        node.lacking("there is no newer Node here")
    head = "import { toolContext } from '@kazzle/app/tools';\nvoid toolContext;"
    root = folder(files(typescript("z.object({ url: z.url() })", ZOD, head)))
    node.link(root, "zod")
    _node(monkeypatch, tmp_path, program)
    assert built(root, brand="Kazzle").faults == ()


def test_without_node_the_fault_says_what_to_install(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or that the tools can be declared in Python."""
    root = folder(files(typescript("null")))
    _node(monkeypatch, tmp_path, None)
    mistake = fault_of(root).mistake
    assert mistake.rule == "no-node"
    assert "tools.py" in mistake.mend


def _oldish() -> bool:
    """Whether the machine's Node strips no types."""
    import subprocess

    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.removeprefix("v").partition(".")[0]) < 22


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        pytest.param("export const other = [];\n", "no-tools-list", "exports no tools", id="none"),
        pytest.param("export const tools = 3;\n", "no-tools-list", "number", id="no list"),
        pytest.param("export const tools = [1];\n", "bad-tool", "it is 1, and no tool", id="1"),
        pytest.param(
            "export const tools = [{ name: 'a' }];\n", "bad-tool", "has no input", id="no input"
        ),
        pytest.param(
            typescript(STANDARD).replace("'safe'", "new Date()"),
            "bad-tool",
            "a value here is a Date",
            id="a date",
        ),
        pytest.param(
            typescript(STANDARD).replace("'safe'", "() => 1"), "bad-tool", "function", id="code"
        ),
        pytest.param(
            typescript(STANDARD).replace("'safe'", "NaN"), "bad-tool", "NaN", id="not a number"
        ),
        pytest.param(
            typescript(STANDARD).replace("input:", "parameters: {}, input:"),
            "bad-tool",
            "has parameters",
            id="parameters",
        ),
        pytest.param(
            "import 'nothing-there';\nexport const tools = [];\n",
            "tools-failed",
            'the package "nothing-there" cannot be found',
            id="no such package",
        ),
        pytest.param(
            "import '@/lib/shared';\nexport const tools = [];\n",
            "tools-failed",
            'the package "@/lib" cannot be found',
            id="paths of tsconfig",
        ),
        pytest.param(
            typescript(STANDARD).replace("'safe'", "'\\ud800'"),
            "bad-tool",
            "half a character",
            id="half a character",
        ),
        pytest.param(
            "import './nothing.js';\nexport const tools = [];\n",
            "tools-failed",
            'the module "nothing.js" cannot be found',
            id="no such file",
        ),
        pytest.param("throw new Error('no');\n", "tools-failed", "Error: no", id="throws"),
        pytest.param("process.exit(4);\n", "tools-failed", "(exit code 4)", id="exits"),
        pytest.param(
            "await new Promise(() => {});\n", "tools-failed", "its process ended", id="waits"
        ),
    ],
)
def test_what_cannot_be_run_is_told(folder: Folder, text: str, rule: str, words: str) -> None:
    """As in Python, in one sentence."""
    mistake = fault_of(folder(files(text)), "esbuild").mistake
    assert mistake.rule == rule
    assert words in mistake.message


def test_loop_without_end_is_stopped(folder: Folder) -> None:
    """Node has no other way out of it."""
    root = folder(files("for (;;) {}\n"))
    node.link(root, "esbuild")
    (fault,) = build(root, brand="Remit", limit_s=3).faults
    assert fault.mistake.rule == "tools-timeout"


def test_what_the_file_prints_goes_to_stderr(
    folder: Folder, capfd: pytest.CaptureFixture[str]
) -> None:
    """console.log is how people look for a fault."""
    root = folder(files("console.log('here I am');\n" + typescript(STANDARD)))
    assert built(root, "esbuild").faults == ()
    out, err = capfd.readouterr()
    assert out == ""
    assert "here I am" in err


def test_nothing_to_take_types_off_is_told(folder: Folder) -> None:
    """With the two ways out."""
    if not _oldish():
        pytest.skip("this Node does it itself")
    mistake = fault_of(folder(files(typescript(STANDARD)))).mistake
    assert mistake.rule == "no-type-stripper"
    assert "npm install --save-dev esbuild" in mistake.mend


def test_same_folder_gives_the_same_bytes(folder: Folder) -> None:
    """Whatever the order in which modules come in."""
    root = folder(files(typescript("z.object({ url: z.url(), a: z.string() })", ZOD)))
    node.link(root, "zod", "esbuild")
    documents: set[Any] = {json.dumps(built(root).document) for _ in range(2)}
    assert len(documents) == 1
