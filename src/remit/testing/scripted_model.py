"""A scripted model as a program: ``python -m remit.testing.scripted_model SCRIPT.json --port N``.

It prints the address for ``REMIT_MODEL_BASE_URL``, and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from remit.testing.completions import ScriptedModel
from remit.testing.script import BadScript, read_script


def main(arguments: list[str] | None = None) -> int:
    """Serve a script until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m remit.testing.scripted_model",
        description="A model that says what a script says, over OpenAI's chat completions.",
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT.json")
    parser.add_argument("--port", type=int, default=0, help="on 127.0.0.1; a free one without it")
    read = parser.parse_args(arguments)
    try:
        script = read_script(read.script.read_text("utf-8"))
        model = ScriptedModel(script, port=read.port).start()
    except (OSError, BadScript) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{model.base_url}\n")
    sys.stdout.flush()
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        model.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
