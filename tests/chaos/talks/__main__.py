"""`python -m tests.chaos.talks`: conversations while servers die; exit 1 where a promise breaks."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.chaos.talks.running import TAKEN_WITHIN_S, Plan, run


def main() -> int:
    """Run what the arguments say and print what it came to; 1 with violations."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.talks", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--deaths", type=int, help="20 on SQLite, 4 rounds on PostgreSQL")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    deaths = given.deaths or (20 if given.store == "sqlite" else 4)
    plan = Plan(sessions=given.sessions, deaths=deaths, store=given.store, seed=given.seed)
    with tempfile.TemporaryDirectory(prefix="remit-chaos-") as folder:
        report = run(plan, Path(folder), _tell)
    print("\n".join(report.lines()))  # noqa: T201 - a program of its own
    return 1 if report.violations or report.taken_s > TAKEN_WITHIN_S else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - a program of its own


if __name__ == "__main__":
    sys.exit(main())
