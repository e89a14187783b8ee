"""Node, where tests of the TypeScript kit run; and its verifier as a function of Python."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.kit.identity import Identity, Refusal

ROOT = Path(__file__).parents[2]
KIT = ROOT / "src" / "remit" / "building" / "node" / "kit.mjs"
OLDEST = 20


@functools.cache
def node() -> str:
    """The command; without one a developer's run skips, and CI fails."""
    path = shutil.which("node")
    version = "none"
    if path is not None:
        command = [path, "--version"]
        version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        match = re.match(r"v(\d+)\.", version)
        if match is not None and int(match[1]) >= OLDEST:
            return path
    message = f"Node {OLDEST} or newer is needed, found {version}."
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@functools.cache
def package() -> Path:
    """The installed tools of the npm package; without them as without Node."""
    modules = ROOT / "sdk" / "node_modules"
    if (modules / ".bin" / "esbuild").exists():
        return modules
    message = "The npm package's tools are not installed: run .ci/example."
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


class Verifier:
    """``remit.kit.identity.verify``, done by the TypeScript kit in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def verify(
        self,
        token: str,
        jwks: Mapping[str, object],
        *,
        audience: str,
        issuer: str,
        now_s: float,
        max_lifetime_s: int | None = None,
    ) -> Identity | Refusal:
        """Ask the process, and read its answer as the Python kit's own values."""
        options: dict[str, object] = {"audience": audience, "issuer": issuer, "nowS": now_s}
        if max_lifetime_s is not None:
            options["maxLifetimeS"] = max_lifetime_s
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(
            json.dumps({"token": token, "jwks": jwks, "options": options}) + "\n"
        )
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the verifier ended over {token[:200]!r}"
        return _found(json.loads(line))


def _found(answer: dict[str, Any]) -> Identity | Refusal:
    if not answer["ok"]:
        return Refusal(reason=answer["reason"], message=answer["message"])
    return Identity(
        user=answer["user"],
        workspace=answer["workspace"],
        installation=answer["installation"],
        call_id=answer["callId"],
        issued_at_s=answer["issuedAtS"],
        expires_at_s=answer["expiresAtS"],
    )


@contextmanager
def verifying() -> Generator[Verifier]:
    """A verifier, ended at the end."""
    command = [node(), str(Path(__file__).parent / "verifier.mjs")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Verifier(process)
        finally:
            process.kill()
