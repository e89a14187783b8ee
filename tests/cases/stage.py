"""Sets a case up as a user would: a definition in a file, an app on loopback, the command line."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from tests.cases.command import Forks, Ran, inside, on_terminal, real
from tests.cases.origins import Hosts, origin_of
from tests.cases.upstream import Answer, Received, Upstream, answer_of
from tests.cases.verdicts import Json, UnknownShapeError, only

ACME = "https://api.acme.test"
_SECRETS = ("credential", "token", "key", "secret", "password", "value")
_AUTH_KEYS = "type in name prefix authorizationUrl tokenUrl scopes clientId clientSecretEnv"
_APP_KEYS = (
    "id name description baseUrl toolsUrl auth components skills env promptContext ceiling "
    "tools credential"
)
FORKS = Forks()
Mode = Literal["forked", "inside", "real", "api"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that could be seen of one run.

    Attributes:
        requests: what reached the app, in order.
        strays: what reached any other host that the case names.
        printed: the JSON on stdout, or None.
        shown: what the terminal showed, where there was one.
        bytes_said: what the app sent.
    """

    requests: tuple[Received, ...]
    strays: tuple[tuple[str, Received], ...]
    ran: Ran
    printed: Json = None
    shown: str = ""
    bytes_said: int = 0

    @property
    def ok(self) -> bool:
        """Whether the call ended with its result."""
        record = self.printed if isinstance(self.printed, dict) else {}
        return self.ran.exit_code == 0 and record.get("outcome") == "ok"

    @property
    def error(self) -> dict[str, Json]:
        """The error of the call, or an empty object."""
        record = self.printed if isinstance(self.printed, dict) else {}
        error = record.get("error")
        return error if isinstance(error, dict) else {}

    @property
    def code(self) -> str:
        """The error's code, or an empty text."""
        return str(self.error.get("code", ""))

    @property
    def text(self) -> str:
        """What the model reads: the content, or the error."""
        if self.error:
            return json.dumps(self.error, ensure_ascii=False)
        record = self.printed if isinstance(self.printed, dict) else {}
        return str(record.get("content", ""))

    @property
    def everything(self) -> str:
        """All that people and models could read."""
        return "\n".join((self.ran.stdout, self.ran.stderr, self.shown))

    def brief(self) -> str:
        """The run in a line, for a failure."""
        sent = ", ".join(f"{r.method} {r.target[:120]}" for r in self.requests) or "no request"
        body = self.text or self.ran.stdout or self.ran.stderr
        return f"{sent}; exit {self.ran.exit_code}; {body[:300]!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One call as a case describes it.

    Attributes:
        definition: the document, with the case's own hosts.
        args: the exact bytes of ``--args``.
        answers: the app's answers, in order.
        approve: None says ``--yes``; True and False answer at a terminal.
        apart: it must run in a process of its own: its memory counts, or it might not end.
    """

    definition: dict[str, Json]
    tool: str
    args: bytes = b"{}"
    pins: Mapping[str, Json] = field(default_factory=dict[str, Json])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    token: str | None = None
    answers: Sequence[Answer | Json] = ()
    approve: bool | None = None
    dry: bool = False
    process_env: Mapping[str, str] = field(default_factory=dict[str, str])
    apart: bool = False
    timeout_s: float = 150


class Stage:
    """A scratch folder with commands to run in it."""

    def __init__(self, mode: Mode = "forked") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="remit-case-")
        self.folder = Path(self._folder.name)
        self.mode = mode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command: nothing of ours but the path."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "REMIT_EGRESS_ALLOW": "127.0.0.1,127.0.0.2",
            "REMIT_CACHE_DIR": str(self.folder / "cache"),
            **(more or {}),
        }

    def file(self, document: Json, name: str = "app.json") -> Path:
        """Write a document as JSON; bytes and texts as they are."""
        path = self.folder / name
        if isinstance(document, bytes):
            path.write_bytes(document)
        else:
            text = document if isinstance(document, str) else written(document)
            path.write_text(text, encoding="utf-8", newline="")
        return path

    def run(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        timeout_s: float = 150,
        quick: bool = False,
        apart: bool = False,
    ) -> Ran:
        """Run one `remit` command here; a quick one in this process, one apart never."""
        # A NUL or a lone surrogate cannot stand in an argument of a process.
        plain = all("\0" not in a and a.isprintable() for a in argv)
        run = FORKS.run
        if self.mode == "real" and plain:
            run = real
        elif (quick or self.mode == "inside") and not apart:
            run = inside
        return run(argv, self.folder, self.environment(env), timeout_s)

    def call(self, setting: Setting) -> Observed:
        """Make one call against an app on loopback."""
        with ExitStack() as stack:
            upstream = stack.enter_context(Upstream())
            hosts = Hosts(upstream=upstream, own=own_origins(setting.definition), stack=stack)
            answers = setting.answers
            upstream.answers = [
                a if isinstance(a, Answer) else answer_of(hosts.inward(a)) for a in answers
            ]
            if self.mode == "api":
                # Imported here, since it takes what is below from this module.
                from tests.cases.over_api import ran_over_api

                return _observed(ran_over_api(setting, hosts.inward), hosts, terminal=True)
            argv = self._argv(setting, hosts)
            env = self.environment(setting.process_env)
            if setting.approve is None:
                ran = self.run(
                    *argv,
                    env=setting.process_env,
                    timeout_s=setting.timeout_s,
                    apart=setting.apart,
                )
            else:
                typed = "y" if setting.approve else "n not this one"
                ran = on_terminal(argv, self.folder, env, typed, setting.timeout_s)
            return _observed(ran, hosts, terminal=setting.approve is not None)

    def _argv(self, setting: Setting, hosts: Hosts) -> list[str]:
        file = self.file(hosts.inward(setting.definition))
        (self.folder / "args.json").write_bytes(setting.args)
        argv = ["call", str(file), setting.tool, "--args", f"@{self.folder / 'args.json'}"]
        for name, value in setting.pins.items():
            argv += ["--pin", f"{name}={json.dumps(value)}"]
        for name, value in setting.env.items():
            argv += ["--env", f"{name}={value}"]
        if setting.token is not None:
            argv += ["--token", setting.token]
        if setting.dry:
            argv.append("--dry-run")
        elif setting.approve is None:
            argv.append("--yes")
        return argv

    def lint(self, document: Json, name: str = "app.json") -> tuple[Ran, list[dict[str, Json]]]:
        """The findings of a document, as it is written."""
        ran = self.run("lint", str(self.file(document, name)), "--format", "json", quick=True)
        printed = read_json(ran.stdout)
        findings = printed.get("findings", []) if isinstance(printed, dict) else []
        return ran, findings


def _observed(ran: Ran, hosts: Hosts, *, terminal: bool) -> Observed:
    strays = tuple(
        (origin, request)
        for origin, server in hosts.elsewhere.items()
        for request in server.received
    )
    out, err = hosts.outward(ran.stdout), hosts.outward(ran.stderr)
    seen = Ran(
        exit_code=ran.exit_code,
        stdout=out,
        stderr=err,
        seconds=ran.seconds,
        peak_mb=ran.peak_mb,
    )
    requests = tuple(
        Received(
            method=r.method,
            target=hosts.outward(r.target),
            headers=tuple((n, hosts.outward(v)) for n, v in r.headers),
            body=hosts.outward(r.body.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            ),
        )
        for r in hosts.upstream.received
    )
    return Observed(
        requests=requests,
        strays=strays,
        ran=seen,
        printed=read_json(out),
        shown=err if terminal else "",
        bytes_said=hosts.upstream.bytes_said,
    )


def written(value: Json) -> str:
    """JSON of a value however deep it is."""
    try:
        return json.dumps(value)
    except RecursionError:
        pass
    pieces: list[str] = []
    waiting: list[tuple[bool, Json]] = [(False, value)]
    while waiting:
        plain, item = waiting.pop()
        if plain:
            pieces.append(item)
        elif isinstance(item, list | dict) and item:
            is_list = isinstance(item, list)
            entries = [("", v) for v in item] if is_list else list(item.items())
            parts: list[tuple[bool, Json]] = [(True, "[" if is_list else "{")]
            for number, (key, inner) in enumerate(entries):
                start = "," if number else ""
                parts += [
                    (True, start if is_list else f"{start}{json.dumps(key)}:"),
                    (False, inner),
                ]
            waiting += [(True, "]" if is_list else "}"), *reversed(parts)]
        else:
            pieces.append(json.dumps(item))
    return "".join(pieces)


def read_json(text: str) -> Json:
    """The JSON of a text, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def own_origins(definition: Mapping[str, Json]) -> tuple[str, ...]:
    """The origins that stand on the app's server: its base first, then its tools' targets."""
    found: list[str] = []
    urls: list[Json] = [definition.get("baseUrl"), definition.get("toolsUrl")]
    for tool in definition.get("tools") or ():
        target = tool.get("target") if isinstance(tool, dict) else None
        urls.append(target.get("url") if isinstance(target, dict) else None)
    for url in urls:
        origin = origin_of(url) if isinstance(url, str) else None
        if origin and origin not in found:
            found.append(origin)
    return tuple(found)


def definition_of(app: Json, tools: Sequence[Json]) -> tuple[dict[str, Json], str | None]:
    """A case's ``app`` as a definition, and the user's credential in it."""
    app = dict(only(app or {}, _APP_KEYS, "app"))
    token = app.pop("credential", None)
    auth = app.pop("auth", {"type": "none"})
    if isinstance(auth, dict):
        only(auth, f"{_AUTH_KEYS} {' '.join(_SECRETS)} username", "auth")
        secrets = [auth[key] for key in _SECRETS if key in auth]
        if "username" in auth:
            token = f"{auth['username']}:{auth.get('password', '')}"
        elif secrets:
            token = secrets[0]
        auth = {k: v for k, v in auth.items() if k not in (*_SECRETS, "username")}
        if auth.get("type", "none") != "none" and token is None:
            token = "CRED-0"
    name = app.get("name", "Acme")
    slug = re.sub(r"[^a-z0-9-]+", "-", str(name).lower()).strip("-")
    definition = {"id": f"{slug or 'app'}-app", "name": name, **app, "auth": auth}
    definition["tools"] = [*definition.get("tools", []), *tools]
    return definition, token


def declared(*argument_sets: Json) -> dict[str, Json]:
    """Parameters that take whatever these arguments hold."""
    names: dict[str, Json] = {}
    for arguments in argument_sets:
        if isinstance(arguments, dict):
            names |= {str(name): {} for name in arguments}
    return {"type": "object", "properties": names}


def target_tool(target: Json, args: Json, pins: Json = None) -> dict[str, Json]:
    """A bare ``target`` as a tool."""
    if not isinstance(target, dict):
        raise UnknownShapeError(f"target is no object: {target!r:.80}")
    return {
        "name": "t",
        "description": "Test tool. Use only in tests.",
        "parameters": declared(args, pins),
        "target": target,
    }
