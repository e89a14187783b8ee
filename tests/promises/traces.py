"""Which test holds which promise, read from the sources, so that any way of running sees it all."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFESTS = ("k.toml", "t.toml", "a.toml")
_SKIPPED = frozenset({"skip", "skipif", "xfail"})

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
    """One id in one `pytest.mark.promise`.

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
    """Read the marks of every test file below a folder, wherever in the file they stand."""
    return tuple(
        trace
        for path in sorted(tests.rglob("test_*.py"))
        for trace in find_traces(path.read_text("utf-8"), path.relative_to(tests).as_posix())
    )


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
        f'tests/{trace.place} names "{trace.id}", which no manifest has: mend the id'
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
