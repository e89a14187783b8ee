"""The page on an agent in a page: its files make a list, a back end and a chat that work."""

from __future__ import annotations

import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remit.main.free_port import free_port
from remit.testing.completions import ScriptedModel
from remit.testing.script import read_script
from tests.docs.console import blocks, steps
from tests.examples import bookmarks_process
from tests.examples.tracker_process import TRACKER
from tests.main.browser import browsing
from tests.main.processes import run, serving
from tests.main.served_clients import settings

PAGE = Path(__file__).parents[2] / "docs" / "start" / "page.md"
SERVER, BACK_END, ORIGIN = "http://127.0.0.1:8700", "8787", "5173"
CHAT = "document.querySelector('#root > div')?.shadowRoot"
WAIT_S = 60


@pytest.fixture(scope="module")
def packages() -> Path:
    """What the page installs: those of an example are the same."""
    bookmarks_process.packages()
    found = TRACKER / "node_modules"
    if not (found / "vite").is_dir():
        pytest.skip("the example's npm packages are not installed")
    return found


def files_of(folder: Path, packages: Path, *replaced: tuple[str, str]) -> None:
    """Save the page's files, with the addresses of this test in them."""
    for block in blocks(PAGE):
        if block.title:
            text = block.text
            for declared, real in replaced:
                text = text.replace(declared, real)
            (folder / block.title).write_text(text, "utf-8")
    (folder / "node_modules").symlink_to(packages)
    # The packages stand elsewhere, and the SDK beside a React of its own.
    config = folder / "vite.config.js"
    more = "cacheDir: 'cache', resolve: { dedupe: ['react', 'react-dom'] }, "
    more += "server: { fs: { strict: false },"
    config.write_text(config.read_text("utf-8").replace("server: {", more), "utf-8")


@contextmanager
def started(folder: Path, *command: str) -> Iterator[None]:
    """A process of the reader's; ended with the block."""
    with (
        (folder / "said.txt").open("a", encoding="utf-8") as said,
        subprocess.Popen(command, cwd=folder, stdout=said, stderr=said) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def answering(url: str) -> str:
    """An address once something answers there."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            with urllib.request.urlopen(url):
                return url
        except OSError:
            assert time.monotonic() < until, url
            time.sleep(0.05)


def test_what_stands_on_the_page_is_an_agent_in_a_page(tmp_path: Path, packages: Path) -> None:
    """Asked, the agent reads the list, waits for a yes, and checks an item off in the page."""
    typed = [step.command for block in blocks(PAGE) for step in steps(block.text)]
    assert [one for one in typed if "keys create" in one] == [
        "remit keys create --role backend --name shopping > backend.key"
    ]
    key = run(tmp_path, "keys", "create", "--role", "backend", "--name", "shopping").out
    (tmp_path / "backend.key").write_text(key, "utf-8")
    port, web = str(free_port()), str(free_port())
    (script,) = (block.text for block in blocks(PAGE) if block.title == "script.json")
    vite = os.fspath(packages / "vite" / "bin" / "vite.js")
    origin = {"REMIT_SERVER_ALLOWED_ORIGINS": f"http://localhost:{web}"}
    with (
        ScriptedModel(read_script(script)) as model,
        serving(tmp_path, **settings(model.base_url), **origin) as server,
        browsing(tmp_path / "profile") as browser,
    ):
        files_of(tmp_path, packages, (SERVER, server.url), (BACK_END, port), (ORIGIN, web))
        with started(tmp_path, "node", "back-end.js"), started(tmp_path, "node", vite):
            page = browser.open(answering(f"http://localhost:{web}/"))
            page.until(f"{CHAT}?.querySelector('textarea')")
            page.run(f"{CHAT}.querySelector('textarea').focus()")
            page.call("Input.insertText", text="I have the milk.")
            page.run(f"{CHAT}.querySelector('form').requestSubmit()")
            page.until(f"{CHAT}.querySelector('.card')")
            assert page.run("document.querySelectorAll('s').length") == 0
            page.run(f"{CHAT}.querySelector('.card .primary').click()")
            page.until(f"{CHAT}.textContent.includes('Milk is checked off.')")
            assert page.run("document.querySelector('s').textContent") == "Milk"
            said = page.run(f"{CHAT}.textContent")
            assert re.search(r"ana approved · .* · Check an item off", said)
            page.close()
    assert model.requests[1].results == [
        '[{"id":"i1","name":"Bread","done":false},{"id":"i2","name":"Milk","done":false}]'
    ]
