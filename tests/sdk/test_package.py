"""The npm package as it is published and locked."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.sdk.node import KIT, ROOT

SDK = ROOT / "sdk"


def read(name: str) -> dict[str, Any]:
    """A JSON file of the package."""
    return json.loads((SDK / name).read_text("utf-8"))


def test_the_package_needs_nothing_at_run_time() -> None:
    """An app that takes the kit takes the kit alone."""
    kinds = {name for name in read("package.json") if name.lower().endswith("dependencies")}

    assert kinds == {"devDependencies"}


def test_a_brands_name_of_the_package_has_the_kit_as_its_tools() -> None:
    """`npm install @acme/app@npm:@remit/sdk` makes `@acme/app/tools` resolve (section 8)."""
    exports = read("package.json")["exports"]

    assert exports["./tools"] == exports["./kit"]


def test_the_lock_holds_hashes_and_no_addresses_of_a_registry() -> None:
    """Whoever installs it asks the registry that is set up there (docs/decisions/0003)."""
    packages = {name: one for name, one in read("package-lock.json")["packages"].items() if name}

    assert packages
    assert [name for name, one in packages.items() if not one.get("integrity")] == []
    assert [name for name, one in packages.items() if "resolved" in one] == []
    text = (SDK / "package-lock.json").read_text("utf-8")
    assert not re.search(r"https?://[^\"]*(registry|npmjs|mirror|/-/)", text)


def test_the_tools_are_pinned() -> None:
    """The same checks on every machine."""
    versions = read("package.json")["devDependencies"].values()

    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)


def test_the_kit_in_the_python_package_is_one_file() -> None:
    """It runs where the npm package is not installed; a test in sdk/ holds that it is new."""
    text = KIT.read_text("utf-8")

    assert text.startswith("// Made by `npm run build` in sdk/")
    assert not re.search(r"^import\b|\bimport\(|\brequire\(| from ['\"]", text, re.MULTILINE)
