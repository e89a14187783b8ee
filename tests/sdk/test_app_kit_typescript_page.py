"""The guide's page about the TypeScript kit: its files fit their types, its commands run."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.docs.console import blocks, steps
from tests.sdk.node import KIT, ROOT, node, package

PAGE = ROOT / "docs" / "guide" / "app-kit-typescript.md"
PORT = "8000"
WAIT_S = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reader's project: the page's files, this kit, and Zod, esbuild and tsc installed."""
    node()
    modules = tmp_path / "node_modules"
    (modules / "@remit").mkdir(parents=True)
    (modules / "@remit" / "sdk").symlink_to(ROOT / "sdk")
    for name in ("zod", "esbuild", "typescript", "@types", ".bin"):
        (modules / name).symlink_to(package() / name)
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    for block in blocks(PAGE):
        if block.title:
            (tmp_path / block.title).write_text(block.text, "utf-8")
    return tmp_path


def run(folder: Path, command: str, **variables: str) -> str:
    """What a command of the reader's shell prints."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env={"PATH": os.environ["PATH"], **variables},
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stdout


def bundle(folder: Path, entry: str) -> None:
    """With the kit that the Python package carries in the place of the one on npm."""
    name = entry.removesuffix(".ts")
    run(
        folder,
        f"npx esbuild {entry} --bundle --platform=node --format=esm --outfile={name}.mjs"
        f" --log-level=warning --alias:@remit/sdk/kit={KIT}",
    )


def test_the_files_of_the_page_fit_their_types(folder: Path) -> None:
    """An author who copies them sees no red line."""
    (brand,) = (b.text for b in blocks(PAGE) if b.language == "ts" and not b.title)
    (folder / "brand.d.ts").write_text(brand, "utf-8")
    (folder / "branded.ts").write_text(
        """import type { AcmeTool } from '@acme/app/tools'
        export const tool = {
          name: 'open', description: 'Opens it.', input: { type: 'object', properties: {} },
          target: { type: 'acme', name: 'open_url' },
        } satisfies AcmeTool""",
        "utf-8",
    )
    sources = ROOT / "sdk" / "src" / "kit" / "index.ts"
    (folder / "tsconfig.json").write_text(
        f"""{{
          "compilerOptions": {{
            "strict": true, "noEmit": true, "skipLibCheck": true, "target": "ES2022",
            "module": "ESNext", "moduleResolution": "Bundler", "types": ["node"],
            "lib": ["ES2022", "DOM", "DOM.Iterable"],
            "paths": {{"@remit/sdk/kit": ["{sources}"], "@acme/app/tools": ["{sources}"]}}
          }},
          "files": ["server.ts", "parts.ts", "component.test.ts", "branded.ts", "brand.d.ts"]
        }}""",
        "utf-8",
    )

    assert run(folder, "npx tsc -p .") == ""


def test_the_test_of_the_page_passes(folder: Path) -> None:
    """An author who copies it has a test of the first handler."""
    bundle(folder, "component.test.ts")

    assert "# pass 1" in run(folder, "node --test --test-reporter=tap component.test.mjs")


def test_every_command_of_the_page_does_what_it_shows(folder: Path) -> None:
    """From a folder of files to a component that answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = folder / "server.ts"
    server.write_text(server.read_text("utf-8").replace(PORT, port), "utf-8")
    (console,) = (block.text for block in blocks(PAGE) if block.language == "console")
    variables: dict[str, str] = {}
    process: subprocess.Popen[bytes] | None = None
    typed = 0
    try:
        for step in steps(console.replace(f":{PORT}", f":{port}")):
            typed += 1
            if step.command.startswith("export "):
                name, _, value = step.command.removeprefix("export ").partition("=")
                variables[name] = value
            elif "esbuild" in step.command:
                bundle(folder, "server.ts")
            elif step.command.endswith(" &"):
                process = _started(folder, step.command.removesuffix(" &"), variables, int(port))
            elif step.command == "kill %1":
                assert process is not None
                process.terminate()
            else:
                assert run(folder, step.command).strip() == step.shown.strip()
    finally:
        if process is not None:
            process.kill()
            process.wait(WAIT_S)
    assert typed == 8


def _started(
    folder: Path, command: str, variables: dict[str, str], port: int
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], cwd=folder, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], **variables}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    ends_s = time.monotonic() + WAIT_S
    while True:
        assert process.poll() is None, f"{command} ended"
        assert time.monotonic() < ends_s, f"{command} does not listen"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process


def test_the_page_names_every_function_of_the_kit() -> None:
    """What is exported is written about."""
    text = PAGE.read_text("utf-8")
    exported = re.findall(r"^  (\w+),?$", KIT.read_text("utf-8").rpartition("export {")[2], re.M)
    functions = [name for name in exported if name[0].islower() and name != "verify"]

    assert len(functions) >= 9
    assert [name for name in functions if f"{name}" not in text] == []
