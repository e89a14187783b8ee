"""A program: imports one ``tools.py`` and says what it declares, ``{tools, faults}`` as JSON.

It is run by its path (``children.run``) with the pipe's descriptor, the tools file and the app
folder, and imports nothing of Remit itself.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
import re
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from types import ModuleType

_MAX_SAID = 500
_MAX_DEPTH = 64
# Longer numbers Python does not write out.
_MAX_BITS = 4_096
_HALF = re.compile("[\ud800-\udfff]")
_MEND = "mend that place; a tools file only declares, and needs nothing that runs"


class _NotJsonError(Exception):
    """A record holds what JSON has not; the text says what, ``at`` where."""

    def __init__(self, at: str, what: str) -> None:
        super().__init__(what)
        self.at = at


def main() -> NoReturn:
    """Say what the tools file declares, and end."""
    descriptor, file, folder = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    # What the file itself starts must not hold the pipe open.
    os.set_inheritable(descriptor, False)  # noqa: FBT003 -- it has no name for it
    sys.argv = [str(file)]
    sys.path[:0] = [str(file.parent), folder]
    answer = json.dumps(_answer(file, Path(folder))).encode()
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        pipe.write(answer)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    # Threads that the file started do not keep it.
    os._exit(0)


def _answer(file: Path, folder: Path) -> dict[str, object]:
    try:
        module = _imported(file)
    except BaseException as error:  # noqa: BLE001 -- whatever the file does, it is told
        return {"tools": [], "faults": [_import_fault(error, file, folder)]}
    tools: object = getattr(module, "tools", None)
    if not isinstance(tools, list | tuple):
        what = "it has no list named tools"
        if hasattr(module, "tools"):
            what = f"its tools are {_article(type(tools).__name__)}, and no list"
        fault = {"rule": "no-tools-list", "message": what, "mend": "write tools = [Tool(…), …]"}
        return {"tools": [], "faults": [fault]}
    found: list[object] = []
    faults: list[object] = []
    for index, tool in enumerate(cast("list[object]", tools)):
        record, fault = _record(tool)
        if fault is None:
            found.append({"index": index, "record": record})
        else:
            faults.append({**fault, "index": index, "tool": _name(tool)})
    return {"tools": found, "faults": faults}


def _name(tool: object) -> str | None:
    with contextlib.suppress(BaseException):
        name = getattr(tool, "name", None)
        return name if isinstance(name, str) else None
    return None


def _imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools", file)
    if spec is None or spec.loader is None:
        msg = f"{file.name} cannot be imported"
        raise ImportError(msg)
    module = importlib.util.module_from_spec(spec)
    # Pydantic looks there for the names of a model's types.
    sys.modules["tools"] = module
    spec.loader.exec_module(module)
    return module


def _import_fault(error: BaseException, file: Path, folder: Path) -> dict[str, object]:
    if isinstance(error, SystemExit):
        said = "it ends the program that imports it"
    elif isinstance(error, ModuleNotFoundError) and error.name:
        said = f'the module "{error.name}" cannot be found'
    else:
        said = f"it cannot be imported: {_said(error)}"
    place: dict[str, object] = {}
    if isinstance(error, SyntaxError) and error.filename == str(file):
        place = {"line": error.lineno, "column": error.offset}
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == str(file)]
        inner = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
        if own:
            place = {"line": own[-1].lineno}
        if inner and inner[-1].filename != str(file):
            said += f" ({Path(inner[-1].filename).relative_to(folder)}, line {inner[-1].lineno})"
    mend = _MEND
    if isinstance(error, ModuleNotFoundError) and error.name:
        mend = "install it for the Python that runs remit, or put it beside the file"
    return {"rule": "tools-failed", "message": said, "mend": mend, **place}


def _record(tool: object) -> tuple[object, dict[str, object] | None]:
    """What a tool is in a catalog, or what keeps it from being one, however odd it is."""
    try:
        return _as_record(tool)
    except BaseException as error:  # noqa: BLE001 -- whatever an author's object does, it is told
        return None, {
            "rule": "bad-tool",
            "message": f"it cannot be read: {_said(error)}",
            "mend": "write a Tool of remit.kit",
        }


def _as_record(tool: object) -> tuple[object, dict[str, object] | None]:
    record: Any = getattr(tool, "record", None)
    if not callable(record) or isinstance(tool, type):
        return None, {
            "rule": "bad-tool",
            "message": f"it is {_article(type(tool).__name__)}, and no tool",
            "mend": "write a Tool of remit.kit",
        }
    try:
        return _plain(record(), ""), None
    except _NotJsonError as error:
        return None, {
            "rule": "bad-tool",
            "field": error.at,
            "message": f"a value here is {error}, which JSON does not have",
            "mend": "write text, numbers, True, False, None, lists and dicts",
        }
    except Exception as error:  # noqa: BLE001 -- of the author's model, or of Pydantic
        return None, {
            "rule": "no-json-schema",
            "field": "/input",
            "message": f"no JSON Schema can be made of its input: {_said(error)}",
            "mend": "use types that JSON has: text, numbers, booleans, lists and models",
        }


def _plain(value: object, at: str, depth: int = 0) -> object:
    """The value, which is one of JSON."""
    if depth > _MAX_DEPTH:
        raise _NotJsonError(at, f"more than {_MAX_DEPTH} deep, or inside itself")
    if value is None or isinstance(value, bool | int | float | str):
        return _scalar(value, at)
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_plain(item, f"{at}/{index}", depth + 1) for index, item in enumerate(items)]
    if not isinstance(value, dict):
        raise _NotJsonError(at, _article(type(value).__name__))
    found: dict[str, object] = {}
    for key, member in cast("dict[object, object]", value).items():
        if not isinstance(key, str) or _HALF.search(key):
            raise _NotJsonError(at, f"a key that is {_article(type(key).__name__)}")
        below = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
        found[key] = _plain(member, below, depth + 1)
    return found


def _scalar(value: float | str | None, at: str) -> object:
    if isinstance(value, str) and _HALF.search(value):
        raise _NotJsonError(at, "a text with half a character (a lone surrogate)")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise _NotJsonError(at, f"a number of more than {_MAX_BITS} bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise _NotJsonError(at, str(value))
    return value


def _said(error: BaseException) -> str:
    name = type(error).__name__
    try:
        words = str(error)
    except BaseException:  # noqa: BLE001 -- an error of the author's own, which cannot even speak
        return name
    first = words.strip().partition("\n")[0][:_MAX_SAID]
    return f"{name}: {first}" if first else name


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


if __name__ == "__main__":
    main()
