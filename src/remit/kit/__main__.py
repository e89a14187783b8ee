"""``python -m remit.kit call``: one call to a handler that runs on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from pydantic import ValidationError

from remit.kit.testing import API, THREAD, Issuer, NotSent
from remit.kit.tools import AppTarget, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.kit.tools import Json

ISSUER_PORT: Final = 8790
_ABOUT: Final = """\
Calls the route of one tool over HTTP, with an identity that is signed by a key made for this one
call, and says what is wrong with the answer. The arguments are held to the tool's model, and
${input} and ${input.<path>} are filled. It is no engine: url and client targets, ${env.…},
approvals, pins, mapping and polling are done by `remit dev`.

Start the component with the settings of this command's issuer and of the app, as:
  REMIT_APP_ISSUER=http://127.0.0.1:8790 REMIT_APP_AUDIENCE=my-app/api \\
  REMIT_APP_COMPONENT_URL=http://127.0.0.1:8000 uvicorn main:app
"""


class _WrongUse(Exception):
    """What was asked cannot be done; the words say why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 a good answer, 1 a refusal or an answer with faults, 2 wrong use."""
    options = _parser().parse_args(arguments)
    try:
        return _call(options)
    except _WrongUse as error:
        _say(str(error))
        return 2


def _call(options: argparse.Namespace) -> int:
    tool = _tool(Path(options.path), options.tool)
    args = _arguments(options.args)
    component, url = _component(tool, options.component)
    audience = f"{options.app}/{component}"
    context = THREAD if options.source == "thread" else API
    try:
        issuer = Issuer(port=options.issuer_port, brand=options.brand)
    except OSError as error:
        raise _WrongUse(
            f"127.0.0.1:{options.issuer_port} cannot be used for the issuer: {error.strerror}. "
            "Name another with --issuer-port."
        ) from None
    with issuer:
        try:
            found = issuer.call(
                tool, args, component_url=url, audience=audience, context=context, user=options.user
            )
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_input=False):
                _say(f"{'.'.join(map(str, fault['loc'])) or 'input'}: {fault['msg']}")
            _say("The arguments do not fit the tool's input. Nothing was sent.")
            return 1
        except NotSent as error:
            _say(str(error))
            return 1
        if found.status == 401:
            settings = issuer.environment(audience, component_url=url)
            _say("These are the settings that the component must have been started with:")
            for name, value in settings.items():
                _say(f"  {name}={value}")
    shown = {
        "status": found.status,
        "contentType": found.content_type,
        "answer": found.answer,
        "faults": found.faults,
    }
    sys.stdout.write(json.dumps(shown, indent=2, ensure_ascii=False) + "\n")
    return 0 if 200 <= found.status < 300 and not found.faults else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m remit.kit", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="call")
    call = commands.add_parser(
        "call",
        help="call the route of one tool",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    call.add_argument("path", metavar="TOOLS_PY", help="the file that has `tools`")
    call.add_argument("tool", metavar="TOOL", help="the tool's name")
    call.add_argument(
        "--component", required=True, metavar="NAME=URL", help="where the component runs"
    )
    call.add_argument("--args", default="{}", metavar="JSON", help="the input; default {}")
    call.add_argument("--app", default="my-app", metavar="ID", help="the app's id; default my-app")
    call.add_argument("--user", default="user_1", help="whom the call serves; default user_1")
    call.add_argument(
        "--source", choices=("thread", "api"), default="thread", help="default thread"
    )
    call.add_argument("--brand", default="Remit", help="of the headers; default Remit")
    call.add_argument(
        "--issuer-port",
        type=int,
        default=ISSUER_PORT,
        metavar="N",
        help=f"where the issuer listens on 127.0.0.1; default {ISSUER_PORT}",
    )
    return parser


def _tool(path: Path, name: str) -> Tool:
    if not path.is_file():
        raise _WrongUse(f"There is no file {path}.")
    # As `remit build` imports it: its own folder comes first, then the app's.
    folder = path.resolve().parent
    root = next((one for one in folder.parents if (one / "app.yaml").is_file()), folder)
    sys.path[:0] = [str(folder), str(root)]
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _WrongUse(f"{path} is no Python file.")
    # Kept among the modules: models look there for the names in their annotations.
    module = sys.modules[path.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise _WrongUse(f"{path} cannot be imported: {what}.") from error
    tools = vars(module).get("tools")
    if not isinstance(tools, list | tuple):
        raise _WrongUse(f"{path} has no list `tools`.")
    known = {tool.name: tool for tool in cast("Sequence[object]", tools) if isinstance(tool, Tool)}
    if name not in known:
        raise _WrongUse(f"{path} has no tool {name}. It has: {', '.join(known) or 'none'}.")
    return known[name]


def _arguments(text: str) -> dict[str, Json]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _WrongUse(f"--args is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise _WrongUse("--args is no JSON object.")
    return cast("dict[str, Json]", found)


def _component(tool: Tool, given: str) -> tuple[str, str]:
    if not isinstance(tool.target, AppTarget):
        raise _WrongUse(f"{tool.name} has no app target. `remit dev` calls the others.")
    name, _, url = given.partition("=")
    if not url.startswith(("http://", "https://")):
        raise _WrongUse("--component is to be NAME=URL, as api=http://127.0.0.1:8000.")
    if name != tool.target.component:
        raise _WrongUse(
            f"{tool.name} goes to the component {tool.target.component}, and --component names "
            f"{name or 'none'}."
        )
    return name, url


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")


if __name__ == "__main__":
    sys.exit(main())
