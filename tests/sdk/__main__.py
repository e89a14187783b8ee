"""``python -m tests.sdk DIR``: the jwt cases of a folder, judged by the TypeScript kit."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cases import jwt_cases
from tests.cases.reader import judge, read_folder
from tests.sdk.node import verifying


def main(folder: Path) -> int:
    """One line a case; exit 1 when one failed."""
    cases = [case for _, case in read_folder(folder) if str(case.get("class")).startswith("jwt.")]
    with verifying() as verifier:
        jwt_cases.verify = verifier.verify  # type: ignore[assignment]
        verdicts = [judge(case, "inside") for case in cases]
    failed = sum(verdict.status == "FAILED" for verdict in verdicts)
    lines = [verdict.line() for verdict in verdicts]
    sys.stdout.write("\n".join([*lines, f"{len(verdicts)} cases, {failed} failed", ""]))
    return 1 if failed or not verdicts else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
