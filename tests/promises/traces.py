"""Which test holds which promise, read from the sources, so that any way of running sees it all.

A test in Python has a mark, `pytest.mark.promise("T-26")`; one in TypeScript ends its title with
the ids in parentheses, `test('… (A-24)', …)`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFESTS = ("k.toml", "t.toml", "a.toml")
_SKIPPED = frozenset({"skip", "skipif", "xfail"})
#: Below the root of the project.
_TYPESCRIPT = ("sdk/test", "examples/tracker/test")
_ID = r"[KTA]-\d\d"
_TITLE = re.compile(
    # A table of `test.each` may end on a line of its own.
    r"^\s*(?:(?:test|it)((?:\.\w+(?:\([^)]*\))?)*)|\]\))"
    rf"\(\s*([\"'`])(?:(?!\2).)*?\((?P<ids>{_ID}(?:, {_ID})*)\)\2",
    re.MULTILINE,
)

_Decorated: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One line of a manifest.

    Attributes:
        id: As `T-26`; never reused.
        file: The manifest's file name.
        text: What is promised.
        section: The contract's sections, or the example that keeps it.
        done: Whether it holds now; then at least one test says so.
    """

    id: str
    file: str
    text: str
    section: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One id in one `pytest.mark.promise`, or in the title of a test in TypeScript.

    Attributes:
        id: The promise, or the empty text where the mark has no constant id.
        place: File and line.
        runs: False when the same test is skipped or expected to fail.
    """

    id: str
    place: str
    runs: bool


def read_manifest(folder: Path) -> dict[str, Promise]:
    """Read the manifests of a folder, by id."""
    return {
        id_: Promise(
            id=id_,
            file=name,
            text=str(row["promise"]),
            section=str(row["section"]),
            done=row["done"] is True,
        )
        for name in MANIFESTS
        for id_, row in tomllib.loads((folder / name).read_text("utf-8")).items()
    }


def read_traces(tests: Path) -> tuple[Trace, ...]:
    """Read the marks of every test file below a folder, and the titles of those in TypeScript."""
    root = tests.parent
    python = tuple(
        trace
        for path in sorted(tests.rglob("test_*.py"))
        for trace in find_traces(path.read_text("utf-8"), path.relative_to(root).as_posix())
    )
    titled = tuple(
        trace
        for folder in _TYPESCRIPT
        for path in sorted((root / folder).rglob("*.test*.ts*"))
        for trace in find_titles(path.read_text("utf-8"), path.relative_to(root).as_posix())
    )
    return python + titled


def find_titles(source: str, file: str) -> Iterator[Trace]:
    """Find the ids in the titles of one file in TypeScript."""
    for found in _TITLE.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        idle = re.search(r"\.(?:skip|todo|fails)", found[1] or "") is not None
        for one in found["ids"].split(", "):
            yield Trace(id=one, place=f"{file}:{line}", runs=not idle)


def find_traces(source: str, file: str) -> Iterator[Trace]:
    """Find the marks in one file: on functions and classes, in `pytestmark`, in parameters."""
    tree = ast.parse(source, file)
    idle = {
        id(mark)
        for node in ast.walk(tree)
        if isinstance(node, _Decorated)
        and _SKIPPED & {_mark_name(one) for one in node.decorator_list}
        for mark in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and _mark_name(node) == "promise"):
            continue
        for argument in node.args or [ast.Constant("")]:
            constant = argument.value if isinstance(argument, ast.Constant) else ""
            yield Trace(id=str(constant), place=f"{file}:{node.lineno}", runs=id(node) not in idle)


def find_faults(promises: Mapping[str, Promise], traces: Sequence[Trace]) -> tuple[str, ...]:
    """Say where manifest and tests disagree, each fault with its mend."""
    tested = {trace.id for trace in traces if trace.runs}
    unknown = tuple(
        f'{trace.place} names "{trace.id}", which no manifest has: mend the id'
        for trace in traces
        if trace.id not in promises
    )
    untested = tuple(
        f"{one.id} is marked done in {one.file} and no test that runs holds it: "
        f'add @pytest.mark.promise("{one.id}") to the test that does ({one.text})'
        for one in promises.values()
        if one.done and one.id not in tested
    )
    unmarked = tuple(
        f"{one.id} has a test and is not marked done in {one.file}"
        for one in promises.values()
        if not one.done and one.id in tested
    )
    if unmarked:
        unmarked += ("when these hold in whole: python -m tests.promises.mark",)
    return unknown + untested + unmarked


def _mark_name(node: ast.expr) -> str | None:
    """Read `name` of `pytest.mark.name` or `pytest.mark.name(...)`."""
    target = node.func if isinstance(node, ast.Call) else node
    if (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Attribute)
        and target.value.attr == "mark"
    ):
        return target.attr
    return None
