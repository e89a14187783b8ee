"""Marks as done the promises that tests hold: `python -m tests.promises.mark [ID ...]`.

Without ids, all that have a test that runs. Read the list it prints: a promise is done when it
holds in whole, and one test does not make it so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.promises.traces import read_manifest, read_traces

FOLDER = Path(__file__).parent


def main(wanted: list[str]) -> None:
    """Set `done = true` in the manifests and print what was set."""
    tested = {trace.id for trace in read_traces(FOLDER.parent) if trace.runs}
    for promise in read_manifest(FOLDER).values():
        if promise.done or promise.id not in (set(wanted) & tested if wanted else tested):
            continue
        path = FOLDER / promise.file
        head, rest = path.read_text("utf-8").split(f"[{promise.id}]\n")
        path.write_text(
            f"{head}[{promise.id}]\n{rest.replace('done = false', 'done = true', 1)}", "utf-8"
        )
        print(f"{promise.id} done: {promise.text}")  # noqa: T201 - a program of its own


if __name__ == "__main__":
    main(sys.argv[1:])
