"""Prints what Remit costs: loading, linting, the checks of one call, start-up. It asserts nothing.

Every figure is taken in a process of its own, best of several runs; on a shared machine only
ratios of one run mean much.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS = 5


def tool(number: int) -> dict[str, object]:
    """One tool as a host app would write it: five parameters, one nested object."""
    return {
        "name": f"pay_order_{number}",
        "title": f"Pay order {number}",
        "description": "Marks an order as paid for a customer. Use it once the money is there. "
        "Not for refunds, nor for orders that are void.",
        "category": "write",
        "dangerLevel": "moderate",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["order_id", "customer"],
            "properties": {
                "order_id": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Number of the order.",
                },
                "status": {
                    "type": "string",
                    "enum": ["open", "paid", "void"],
                    "description": "The status that the order gets.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100,
                    "description": "How many lines to give back.",
                },
                "dry_run": {"type": "boolean", "description": "Whether to change nothing."},
                "customer": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["id"],
                    "description": "Whom the order belongs to.",
                    "properties": {
                        "id": {"type": "integer", "description": "Number of the customer."},
                        "email": {"type": "string", "maxLength": 200, "description": "Address."},
                        "tags": {
                            "type": "array",
                            "items": {"type": "string"},
                            "maxItems": 10,
                            "description": "Labels.",
                        },
                    },
                },
            },
        },
        "endpoint": {
            "method": "POST",
            "path": "/orders/{{args.order_id}}/pay",
            "queryParams": {"limit": "{{args.limit}}", "dry_run": "{{args.dry_run}}"},
            "headers": {"X-Client": "bench"},
            "bodyTemplate": {"status": "{{args.status}}", "customer": "{{args.customer}}"},
        },
        "responseMapping": {
            "id": "id",
            "status": "status",
            "customer": "customer.name",
            "firstSku": "lines.0.sku",
            "skus": "lines.*.sku",
        },
    }


def definition(count: int) -> dict[str, object]:
    """A definition of so many tools."""
    return {
        "id": "bench",
        "name": "Bench",
        "baseUrl": "https://api.acme.example/v1",
        "auth": {"type": "bearer"},
        "tools": [tool(number) for number in range(count)],
    }


CASE = {
    "definition": definition(1),
    "args": {
        "order_id": 4711,
        "status": "paid",
        "limit": 20,
        "dry_run": False,
        "customer": {"id": 17, "email": "ada@example.test", "tags": ["a", "b"]},
    },
    "body": json.dumps(
        {
            "id": 4711,
            "status": "paid",
            "customer": {"id": 17, "name": "Ada Example", "email": "ada@example.test"},
            "lines": [
                {"sku": f"SKU-{i:04}", "qty": i, "price": 9.5 * i, "title": "A line of the order"}
                for i in range(1, 8)
            ],
            "note": "x" * 147,
        }
    ),
}


def measured(script: str, path: Path) -> list[float]:
    """The figures that a script of this folder prints, of the run with the smallest first one."""
    rows: list[list[float]] = []
    for _ in range(RUNS):
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


def main() -> None:
    """Measure and print."""
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
            seconds, findings, rss = measured("linting.py", path)
            lint_goal = "   goal 6 s" if count == 10_000 else ""
            print(
                f"lint {count:>6} tools: {seconds:.3f} s of CPU, {findings:.0f} findings, "
                f"{rss:.0f} MB{lint_goal}"
            )
        case = Path(folder) / "case.json"
        case.write_text(json.dumps(CASE), "utf-8")
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


if __name__ == "__main__":
    main()
