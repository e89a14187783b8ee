"""`python -m tests.chaos`: calls while the server is killed; exit 1 where a promise breaks."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.chaos.running import Plan, run


def main() -> int:
    """Run what the arguments say and print what it came to; 1 with violations."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    plan = Plan(calls=given.calls, kills=given.kills, store=given.store, seed=given.seed)
    with tempfile.TemporaryDirectory(prefix="remit-chaos-") as folder:
        report = run(plan, Path(folder), _tell)
    print("\n".join(report.lines()))  # noqa: T201 - a program of its own
    return 1 if report.violations else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - a program of its own


if __name__ == "__main__":
    sys.exit(main())
