"""Prints what Remit costs: loading, linting, the checks of a call, the server, talks, the chat.

    python bench/run.py [all | costs | server | talks | page] [--secs S] [--rounds N]

It asserts nothing. Every figure is taken in a process of its own, best of several runs; the server
stands beside others in interleaved rounds (`servers.py`). On a shared machine only ratios of one
run mean much.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import chat_page
import servers
import talking
from workload import ANSWER, ARGS, definition

HERE = Path(__file__).resolve().parent
RUNS = 5
PARTS = ("all", "costs", "server", "talks", "page")


def measured(script: str, path: Path, runs: int = RUNS) -> list[float]:
    """The figures that a script of this folder prints, of the run with the smallest first one."""
    rows: list[list[float]] = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, str(HERE / script), str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append([float(word) for word in done.stdout.split()])
    return min(rows)


def wall(command: list[str]) -> float:
    """Seconds of wall time of a command, the best of several runs."""
    code = (
        "import subprocess, sys, time; t = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
        "print(time.perf_counter() - t)"
    )
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(RUNS)
    ]
    return min(times)


def costs() -> None:
    """Measure and print what needs no server."""
    with tempfile.TemporaryDirectory(prefix="remit-bench-") as folder:
        for count, goal in ((2_000, "0.3 s, 60 MB"), (10_000, "1.2 s, 160 MB")):
            path = Path(folder) / f"{count}.json"
            path.write_text(json.dumps(definition(count)), "utf-8")
            size_mb = path.stat().st_size / 1e6
            total, parsing, rss = measured("loading.py", path)
            print(
                f"load {count:>6} tools ({size_mb:.1f} MB): {total:.3f} s of CPU "
                f"({parsing:.3f} parsing), {rss:.0f} MB   goal {goal}"
            )
            # The large one takes as long as all else together.
            runs, lint_goal = (2, "   goal 6 s") if count == 10_000 else (RUNS, "")
            seconds, findings, rss = measured("linting.py", path, runs)
            print(
                f"lint {count:>6} tools: {seconds:.3f} s of CPU, {findings:.0f} findings, "
                f"{rss:.0f} MB{lint_goal}"
            )
        case = Path(folder) / "case.json"
        case.write_text(
            json.dumps({"definition": definition(1), "args": ARGS, "body": ANSWER}), "utf-8"
        )
        names = (
            "all checks",
            "pins and schema",
            "request and digest",
            "mapping",
            "content and display",
        )
        for name, cost in zip(names, measured("checks.py", case), strict=True):
            goal = "   goal 40 us" if name == "all checks" else ""
            print(f"one call, {name}: {cost:.1f} us of CPU{goal}")
        small = HERE.parent / "examples" / "scenes" / "scenes.yaml"
        remit = str(Path(sys.executable).with_name("remit"))
        print(f"remit lint, a small file: {wall([remit, 'lint', str(small)]):.3f} s   goal 0.4 s")
        print(f"remit --version: {wall([remit, '--version']):.3f} s")


def main() -> None:
    """Measure and print what the command line asks for."""
    asked = argparse.ArgumentParser(description="What Remit costs; asserts nothing.")
    asked.add_argument("part", nargs="?", choices=PARTS, default="all")
    asked.add_argument("--secs", type=float, default=1.0, help="of one window of load")
    asked.add_argument("--rounds", type=int, default=7, help="windows of each server")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="remit-bench-") as compiled:
        # As pip leaves it: compiled once, also where the environment says not to.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        if given.part in {"all", "costs"}:
            costs()
        if given.part in {"all", "server"}:
            servers.measure(given.secs, given.rounds)
        if given.part in {"all", "talks"}:
            talking.measure()
        if given.part in {"all", "page"}:
            chat_page.measure()


if __name__ == "__main__":
    main()
