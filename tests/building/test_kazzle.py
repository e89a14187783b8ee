"""The example file of the origin, built and called under its own brand, its handler on the kit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remit.building import build, missing_routes
from remit.building.tools_files import KIT
from remit.catalog.definitions import load_definition
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.main.free_port import free_port
from remit.testing.completions import ScriptedModel
from remit.testing.in_process import remit_in_process
from remit.testing.script import Call, Turn
from tests.building import node
from tests.building.conftest import FOLDERS

URL = "https://example.com/a"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The folder with its packages; the kit stands where npm puts it under the brand's name."""
    root = tmp_path / "kazzle"
    shutil.copytree(FOLDERS / "kazzle", root)
    node.link(root, "zod", "esbuild")
    kit = root / "node_modules/@kazzle/app"
    kit.mkdir(parents=True)
    shutil.copy(KIT, kit / "kit.mjs")
    manifest = {"name": "@remit/sdk", "type": "module", "exports": {"./tools": "./kit.mjs"}}
    (kit / "package.json").write_text(json.dumps(manifest), "utf-8")
    return root


@contextmanager
def component(root: Path, port: int, issuer: str) -> Iterator[None]:
    """The component as a process, with what Remit tells it."""
    url = f"http://127.0.0.1:{port}"
    told = {
        "KAZZLE_APP_ISSUER": issuer,
        "KAZZLE_APP_AUDIENCE": "bookmarks/api",
        "KAZZLE_APP_COMPONENT_URL": url,
        "PORT": str(port),
        "PATH": os.environ["PATH"],
    }
    with subprocess.Popen(
        ["node", "components/api.mjs"], cwd=root, env=told, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            yield
        finally:
            process.kill()


@pytest.mark.promise("K-03", "K-06", "K-26")
@pytest.mark.usefixtures("machine_node")
async def test_tool_of_the_example_is_called_under_the_brand_kazzle(app: Path) -> None:
    """From the API and from a thread, by the handler that imports `@kazzle/app/tools`."""
    port = free_port()
    text = (app / "app.yaml").read_text("utf-8")
    (app / "app.yaml").write_text(text.replace("8802", str(port)), "utf-8")
    built = build(app, brand="Kazzle", limit_s=60)
    assert built.faults == ()
    script = [Turn(calls=(Call(name="save_bookmark", args={"url": URL}),)), "Saved."]
    with ScriptedModel(script) as model:
        async with remit_in_process(
            settings={"REMIT_BRAND_NAME": "Kazzle"}, model=model, definitions=[built.document]
        ) as remit:
            with component(app, port, remit.url):
                assert await _missing(built.document) == ["/tools/save-bookmark"]
                called = await remit.call("bookmarks", "save_bookmark", {"url": URL}, user="ana")
                session = await remit.session(["bookmarks"], user="ana")
                events = await session.say("Keep it.")
    at = f"at http://127.0.0.1:{port}/list"
    assert called["content"] == f"Saved {URL} for ana, from the API, {at}"
    assert f"Saved {URL} for ana, from a thread, {at}" in json.dumps(events)


async def _missing(document: object) -> list[str]:
    """Paths that a look finds no answer for: this handler knows POST alone, and says 404."""
    definition = load_definition(document).definition  # type: ignore[arg-type] -- built just now
    assert definition is not None
    async with GuardedClient(parse_allowances(("127.0.0.1",))) as egress:
        found = await missing_routes(definition, egress)
    return [mistake.message.split("POST ")[1].split(",")[0] for mistake in found]
