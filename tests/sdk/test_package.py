"""The npm package as it is published and locked."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from tests.main.processes import run
from tests.sdk.node import KIT, ROOT, node, package

SDK = ROOT / "sdk"
OTHER_REACT = "test/react-18"


def read(name: str) -> dict[str, Any]:
    """A JSON file of the package."""
    return json.loads((SDK / name).read_text("utf-8"))


def test_the_package_needs_nothing_at_run_time() -> None:
    """Who takes the kit takes the kit alone; React is the host's own, where it has one."""
    found = read("package.json")
    kinds = {name for name in found if name.lower().endswith("dependencies")}
    peers = found["peerDependencies"]

    assert kinds == {"devDependencies", "peerDependencies"}
    assert set(peers) == {"react", "react-dom"}
    assert all(found["peerDependenciesMeta"][name]["optional"] for name in peers)


def test_a_brands_name_of_the_package_has_the_kit_as_its_tools() -> None:
    """`npm install @acme/app@npm:@remit/sdk` makes `@acme/app/tools` resolve (section 8)."""
    exports = read("package.json")["exports"]

    assert exports["./tools"] == exports["./kit"]


def test_the_types_of_events_are_those_of_the_schema() -> None:
    """What a server tells is what the package reads (section 9)."""
    schema = run(SDK, "schema", "event").out
    command = [node(), "scripts/event-types.js", "--check"]

    package()
    done = subprocess.run(command, cwd=SDK, input=schema, text=True, timeout=60, check=False)
    assert done.returncode == 0


def test_the_lock_holds_hashes_and_no_addresses_of_a_registry() -> None:
    """Whoever installs it asks the registry that is set up there (docs/decisions/0003)."""
    every = read("package-lock.json")["packages"].items()
    # But this package itself, and the folder of its tests that has another React.
    packages = {
        name: one
        for name, one in every
        if name not in {"", OTHER_REACT} and one.get("resolved") != OTHER_REACT
    }

    assert packages
    assert [name for name, one in packages.items() if not one.get("integrity")] == []
    assert [name for name, one in packages.items() if "resolved" in one] == []
    text = (SDK / "package-lock.json").read_text("utf-8")
    assert not re.search(r"https?://[^\"]*(registry|npmjs|mirror|/-/)", text)


def test_the_tools_are_pinned() -> None:
    """The same checks on every machine."""
    versions = [
        version
        for name in ("package.json", f"{OTHER_REACT}/package.json")
        for kind in ("dependencies", "devDependencies")
        for version in read(name).get(kind, {}).values()
        if version != f"file:{OTHER_REACT}"
    ]

    assert versions
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)


def test_the_kit_in_the_python_package_is_one_file() -> None:
    """It runs where the npm package is not installed; a test in sdk/ holds that it is new."""
    text = KIT.read_text("utf-8")

    assert text.startswith("// Made by `npm run build` in sdk/")
    assert not re.search(r"^import\b|\bimport\(|\brequire\(| from ['\"]", text, re.MULTILINE)
