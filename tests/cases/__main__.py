"""``python -m tests.cases DIR``: one line a case, a line of counts; exit 1 when one failed."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.cases.reader import report
from tests.cases.stage import Mode
from tests.cases.verdicts import UnknownShapeError


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run the cases of a folder (or file) and say how each ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="a folder of case files, or one file")
    parser.add_argument("--id", default="", help="only the cases with this in their id")
    parser.add_argument("--times", action="store_true", help="print the seconds of each case")
    parser.add_argument(
        "--process", action="store_true", help="start the installed command for every run"
    )
    parser.add_argument(
        "--api", action="store_true", help="make the cases that are one call over the API"
    )
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    mode: Mode = "api" if options.api else "real" if options.process else "forked"
    try:
        for verdict, seconds in report(options.folder, mode=mode, only_ids=options.id):
            counts[verdict.status] += 1
            start = f"{seconds:6.2f} s  " if options.times else ""
            _say(f"{start}{verdict.line()}")
    except (UnknownShapeError, ValueError, OSError) as error:
        _say(f"FAILED: a case file cannot be read: {error}")
        counts["FAILED"] += 1
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    _say(f"{counts.total()} cases: {summary}")
    return 1 if counts["FAILED"] or not counts else 0


if __name__ == "__main__":
    raise SystemExit(main())
