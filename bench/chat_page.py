"""What the chat costs a browser: bytes, and a conversation of 5,000 entries."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SDK = ROOT / "sdk"
GOALS_KB = {"core and client, with the chat": 25, "react, with chat and Markdown": 60}
RUNS = 5
sys.path.insert(0, str(ROOT))


def measure() -> None:
    """Measure and print; without Node or Chromium it says what is left out."""
    node = shutil.which("node")
    if node is None or not (SDK / "node_modules" / ".bin" / "esbuild").exists():
        print("page: left out, it needs Node and the npm package's tools: .ci/sdk dist")
        return
    done = subprocess.run(
        [node, "scripts/sizes.js"], cwd=SDK, check=True, capture_output=True, text=True
    )
    for name, size in json.loads(done.stdout).items():
        goal = f"   goal {GOALS_KB[name]}" if name in GOALS_KB else ""
        print(f"bytes    {name}: {size / 1000:.1f} kB compressed{goal}")
    _conversation()


def _conversation() -> None:
    from remit.main.demo_browser import browser_command  # noqa: PLC0415
    from tests.main.browser import browsing  # noqa: PLC0415
    from tests.sdk.pages import PageServer, bundled  # noqa: PLC0415

    try:
        browser_command("")
    except LookupError:
        print("page: the long conversation is left out, no Chromium was found")
        return
    with (
        tempfile.TemporaryDirectory(prefix="remit-bench-", ignore_cleanup_errors=True) as folder,
        PageServer(bundled("long.ts")) as server,
        browsing(Path(folder)) as browser,
    ):
        rows = []
        for _ in range(RUNS):
            shown = browser.open(server.url)
            shown.until("window.measured")
            rows.append(shown.run("window.measured()"))
            shown.close()
    best = min(rows, key=lambda row: row["firstPaintMs"])
    print(
        f"5,000 entries: painted after {best['firstPaintMs']:.0f} ms, {best['foldMs']:.0f} of them "
        f"for the fold; {best['drawn']} elements drawn   goal 300 ms"
    )
    print(
        f"a piece of a message: {best['pieceMs']:.2f} ms, {best['entriesTouched']} entry drawn "
        f"again; a frame while scrolling: {best['frameP95Ms']:.0f} ms at the 95th percentile"
    )
