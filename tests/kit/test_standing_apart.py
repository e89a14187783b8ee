"""The kit stands apart: an app can install it without a server."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAY = sys.stdlib_module_names | {"joserfc", "pydantic"}
# Each framework in the one helper for it.
FRAMEWORKS = {"starlette.py": "starlette", "flask.py": "flask", "django.py": "django"}


def imported(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it."""
    found: set[str] = set()
    for part in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(part, ast.Import):
            found |= {name.name for name in part.names}
        elif isinstance(part, ast.ImportFrom):
            assert part.level == 0
            found.add(str(part.module))
    return found


def test_the_kit_imports_nothing_of_the_server() -> None:
    """Standard library, joserfc and pydantic are all that it may stand on."""
    files = list((ROOT / "src" / "remit" / "kit").rglob("*.py"))
    assert files

    wrong = {
        f"{path.name}: {module}"
        for path in files
        for module in imported(path)
        if module.split(".")[0] not in MAY | {FRAMEWORKS.get(path.name)}
        and not f"{module}.".startswith("remit.kit.")
    }

    assert wrong == set()


def test_the_server_does_without_the_kit() -> None:
    """It mints tokens and verifies none; nothing of it may come to need the authors' part."""
    rooms = ROOT / "src" / "remit"
    users = {
        path.relative_to(rooms).parts[0]
        for path in rooms.rglob("*.py")
        if any(f"{module}.".startswith("remit.kit.") for module in imported(path))
    }

    assert users - {"kit", "building", "testing"} == set()


def test_the_kit_loads_without_a_server_and_without_a_framework() -> None:
    """As an app imports it, in a process of its own."""
    code = (
        "import sys, remit.kit, remit.kit.testing\n"
        "print(*(m for m in sys.modules if m.startswith('remit.')), sep='\\n')\n"
        "print(*(m for m in ('starlette', 'fastapi', 'flask', 'django') if m in sys.modules))"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = ran.stdout.split()
    assert "remit.kit" in loaded
    assert [name for name in loaded if not f"{name}.".startswith("remit.kit.")] == []
