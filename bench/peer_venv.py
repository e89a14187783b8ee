"""`.venv-bench`: what only a comparison needs, as `requirements-bench.txt` locks it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LOCK = ROOT / "requirements-bench.txt"
_VENV = ROOT / ".venv-bench"


def python() -> Path | None:
    """Its Python, made or brought up to the lock first; None, and why on stderr, where it fails."""
    found, stamp = _VENV / "bin" / "python", _VENV / ".installed"
    wanted = f"{ROOT} {hashlib.sha256(_LOCK.read_bytes()).hexdigest()}"
    if found.exists() and stamp.exists() and stamp.read_text("utf-8") == wanted:
        return found
    print(f"bench: installing what {_LOCK.name} names", file=sys.stderr)
    uv = str(Path(sys.executable).with_name("uv"))
    for command in (
        [uv, "--quiet", "venv", "--clear", "--python", sys.executable, str(_VENV)],
        [uv, "--quiet", "pip", "sync", "--python", str(found), "--require-hashes", str(_LOCK)],
    ):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            print(
                f"bench: {_VENV.name} could not be made, and FastMCP is left out. "
                f"{done.stderr.strip()[:500]}",
                file=sys.stderr,
            )
            return None
    stamp.write_text(wanted, "utf-8")
    return found
