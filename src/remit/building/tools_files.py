"""A skill's tools file, read by the program of its language: records, and what is wrong."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from remit.building import children
from remit.building.folder import PYTHON
from remit.building.places import places_of
from remit.documents.load import MAX_DOCUMENT_DEPTH
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.building.faults import Faults
    from remit.values.json import JsonObject

LIMIT_S = 10.0
_HERE = Path(__file__).parent
#: The kit for a tools.ts whose project has none: what `npm run build` in sdk/ makes.
KIT = _HERE / "node" / "kit.mjs"
#: What the oldest Node that runs the program is.
OLDEST_NODE = 20
_NODE_MEND = f"install Node {OLDEST_NODE} or newer, or declare the tools in {PYTHON}"


class _Declared(msgspec.Struct):
    index: int
    record: dict[str, object]


class _Told(msgspec.Struct):
    rule: str
    message: str
    mend: str
    index: int | None = None
    tool: str | None = None
    field: str = ""
    line: int | None = None
    column: int | None = None


class _Answer(msgspec.Struct):
    tools: list[_Declared]
    faults: list[_Told]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One tool of a tools file.

    Attributes:
        file: the path from the app folder.
        index: its position in the file's own list.
        record: as a catalog has it.
    """

    file: str
    index: int
    record: JsonObject


def read_tools_file(
    root: Path, file: str, faults: Faults, *, brand: str, limit_s: float
) -> tuple[Declared, ...]:
    """Run a tools file in a process of its own; what it declares, without what has a fault.

    Args:
        root: the app folder.
        file: ``tools.py`` or ``tools.ts``, its path from there.
        faults: takes what is wrong.
        brand: names the npm scope under which the kit is found, too.
        limit_s: how long it may take.
    """
    with ExitStack() as stack:
        command = _command(root.resolve(), file, brand, stack, faults)
        if command is None:
            return ()
        try:
            ended = children.run(command, folder=root, limit_s=limit_s)
        except OSError as error:
            why = (error.strerror or "it failed").lower()
            faults.add(
                file, "tools-failed", f"no process can be started for it: {why}", "try again"
            )
            return ()
        answer = _answer(ended, file, limit_s, faults)
    if answer is None:
        return ()
    _tell(answer.faults, root, file, faults)
    return tuple(
        Declared(file=file, index=tool.index, record=tool.record)  # pyright: ignore[reportArgumentType] -- strictly decoded JSON
        for tool in answer.tools
    )


def _command(
    root: Path, file: str, brand: str, stack: ExitStack, faults: Faults
) -> Callable[[int], Sequence[str]] | None:
    path = root / file
    if path.name == PYTHON:
        program = str(_HERE / "python_child.py")
        return lambda pipe: (sys.executable, "-P", program, str(pipe), str(path), str(root))
    node = shutil.which("node")
    if node is None:
        faults.add(file, "no-node", "Node runs a tools.ts, and there is none here", _NODE_MEND)
        return None
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-build-"))
    program = str(_HERE / "node" / "start.mjs")
    given = (str(path), brand.lower(), str(KIT), scratch)
    return lambda pipe: (node, "--no-warnings", program, str(pipe), *given)


def _answer(ended: children.Ended, file: str, limit_s: float, faults: Faults) -> _Answer | None:
    """What the program said; None where it said nothing that can be used, which is noted."""
    if ended.late:
        faults.add(
            file,
            "tools-timeout",
            f"it did not come to an end within {limit_s:g} s, and was stopped",
            "let it only declare; where its imports take long, give `remit build` a --timeout",
        )
        return None
    if ended.too_large:
        most = children.MAX_ANSWER_BYTES
        faults.add(
            file,
            "tools-failed",
            f"what it declares has more than {most:,} bytes",
            "declare fewer tools, or smaller inputs",
        )
        return None
    if not ended.answer:
        faults.add(
            file,
            "tools-failed",
            f"its process ended before it said what it declares ({_how(ended.code)})",
            "let it only declare, and end nothing",
        )
        return None
    try:
        value = parse_json(
            ended.answer, max_bytes=children.MAX_ANSWER_BYTES, max_depth=MAX_DOCUMENT_DEPTH
        )
        return msgspec.convert(value, _Answer)
    except DocumentError as error:
        first = error.problems[0]
        faults.add(file, "bad-tool", f"what it declares: {first.message}", first.mend)
    except msgspec.ValidationError:
        faults.add(
            file,
            "tools-failed",
            "its answer cannot be read",
            "let nothing that it runs write where it should not",
        )
    return None


def _how(code: int | None) -> str:
    if code is None:
        return "it was stopped"
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _tell(told: Sequence[_Told], root: Path, file: str, faults: Faults) -> None:
    """Note what the program found, each with the place of its tool."""
    names = [fault.tool for fault in told if fault.tool is not None]
    places = places_of(root / file, names)
    for fault in told:
        place: tuple[int, int] | None = None
        if fault.line is not None:
            place = (fault.line, fault.column or 1)
        elif fault.tool is not None:
            place = places.of(fault.tool, fault.field)
        at = fault.field
        tool = fault.tool
        if fault.index is not None and tool is None:
            tool = f"tool {fault.index + 1}"
        faults.add(
            file,
            fault.rule,
            fault.message,
            fault.mend,
            pointer="" if fault.index is None else f"/tools/{fault.index}{at}",
            at=at,
            tool=tool,
            place=place,
        )
