"""The commands for authors: what each takes. What it does stands in ``commands``.

Every import of a command's work is inside it, so that ``remit lint`` does not wait for what
``remit call`` needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from remit.main.cli_frame import TextOrJson, app, finish, group, settings

Provider = Literal["openai", "anthropic", "gemini", "mcp"]
ShowFormat = Literal["text", "md", "json"]
Source = Literal["session", "api", "mcp", "button", "cli"]

egress_app = group("egress", "The egress guard.")
policy_app = group("policy", "A workspace's policy.")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A definition, YAML or JSON, or an app folder; - reads stdin."
    ),
]
Pins = Annotated[
    list[str] | None,
    typer.Option("--pin", metavar="NAME=JSON", help="Fix an argument; it wins over --args."),
]
Fetch = Annotated[
    bool, typer.Option("--fetch", help="Fetch toolsUrl and use the effective catalog.")
]


@app.command()
def call(
    *,
    file: File,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's catalog name.")],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON|@FILE", help="The arguments, an object.")
    ] = "{}",
    pin: Pins = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="T",
            envvar="REMIT_TOKEN",
            show_envvar=True,
            help="The user's credential (basic: user:password).",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="A value for ${env.NAME}."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Send nothing; print the request as it would be sent.")
    ] = False,
    output: Annotated[Literal["json"], typer.Option("--format", help="How to print.")] = "json",
) -> None:
    """Call one tool, without a server: validated, guarded, approved where it must be, mapped."""
    del output
    from remit.main.commands.call import Wish, run
    from remit.main.files import refuse_swapped

    wish = Wish(
        file=file,
        tool=tool,
        args=args,
        pins=tuple(pin or ()),
        token=token,
        env=tuple(env or ()),
        yes=yes,
    )
    finish(lambda: refuse_swapped(file, tool) or run(wish, settings(), dry_run=dry_run))


@app.command()
def lint(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…", help="Definitions, catalogs or app folders; - reads stdin."
        ),
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")] = False,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Check what toolsUrl serves, too.")
    ] = False,
    bill: Annotated[
        bool, typer.Option("--bill", help="Print what the catalog costs in tokens.")
    ] = False,
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Check definitions, catalogs and app folders: errors, and what a reviewer would ask."""
    from remit.main.commands.lint import run

    finish(
        lambda: run(
            files, settings(), strictly=strict, fetch=fetch, bill=bill, json=output == "json"
        )
    )


@app.command()
def show(
    *,
    file: File,
    short: Annotated[
        bool, typer.Option("--short", help="The short form that consent shows.")
    ] = False,
    fetch: Fetch = False,
    output: Annotated[ShowFormat, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Print the remit: in plain words, all that an app may do."""
    from remit.main.commands.statement import show as run

    finish(lambda: run(file, settings(), short=short, fetch=fetch, output=output))


@app.command()
def lock(
    *,
    file: File,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare; exit 1 where an agent could do more."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --check: exit 1 on any difference.")
    ] = False,
    lock_file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="remit.lock beside FILE by default."),
    ] = None,
) -> None:
    """Write remit.lock, what an app may do in a form to keep in version control."""
    from remit.main.commands.statement import lock as run

    finish(lambda: run(file, settings(), check=check, strict=strict, lock_file=lock_file))


@app.command()
def catalog(
    *,
    file: File,
    no_fetch: Annotated[
        bool, typer.Option("--no-fetch", help="Use the last snapshot, or the static tools.")
    ] = False,
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "json",
) -> None:
    """Print the effective catalog: fetched, filtered by the ceiling, with what was dropped."""
    from remit.main.commands.catalog import run

    finish(lambda: run(file, settings(), fetch=not no_fetch, as_json=output == "json"))


@app.command()
def export(
    *,
    file: File,
    provider: Annotated[Provider, typer.Option("--for", help="Whose form to print.")],
    pin: Pins = None,
    fetch: Fetch = False,
    output: Annotated[Literal["json"], typer.Option("--format", help="How to print.")] = "json",
) -> None:
    """Print the functions as a model sees them."""
    del output
    from remit.main.commands.export import run

    finish(lambda: run(file, settings(), provider=provider, pins=tuple(pin or ()), fetch=fetch))


@app.command()
def diff(
    *,
    old: Annotated[str, typer.Argument(metavar="OLD", help="A definition, catalog or app folder.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, changed.")],
    fetch: Fetch = False,
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Say what changed, whether it is an edit or a version, and whether users consent again."""
    from remit.main.commands.diff import run

    finish(lambda: run(old, new, settings(), fetch=fetch, as_json=output == "json"))


@app.command()
def build(
    *,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder with app.yaml.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; stdout by default."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="S", min=0.1, max=600, help="For each tools file."),
    ] = 10.0,
    no_routes: Annotated[
        bool, typer.Option("--no-routes", help="Ask no component whether it has the routes.")
    ] = False,
) -> None:
    """Build an app folder: one definition, from app.yaml, SKILL.md and tools files."""
    from remit.main.commands.build import run

    finish(lambda: run(folder, settings(), output=output, limit_s=timeout, routes=not no_routes))


@egress_app.command("check")
def egress_check(
    *,
    url: Annotated[str, typer.Argument(metavar="URL")],
    resolve: Annotated[
        list[str] | None,
        typer.Option(
            "--resolve", metavar="HOST=ADDR[,ADDR]", help="Use these addresses; look nothing up."
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="ENTRY", help="An entry as in [egress] allow."),
    ] = None,
    output: Annotated[Literal["json"], typer.Option("--format", help="How to print.")] = "json",
) -> None:
    """Print the guard's decision on a URL; nothing is sent."""
    del output
    from remit.main.commands.egress import run

    finish(lambda: run(url, settings(), resolve=resolve, allow=tuple(allow or ())))


@policy_app.command("check")
def policy_check(
    *,
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A policy, YAML or JSON; - reads stdin.")
    ],
    definition: Annotated[
        str, typer.Argument(metavar="DEFINITION", help="The definition of the app.")
    ],
    tool: Annotated[str, typer.Option("--tool", metavar="T", help="The tool's catalog name.")],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON|@FILE", help="The arguments, an object.")
    ] = "{}",
    pin: Pins = None,
    source: Annotated[
        Source, typer.Option("--source", help="Where the call would come from.")
    ] = "session",
    output: Annotated[Literal["json"], typer.Option("--format", help="How to print.")] = "json",
) -> None:
    """Print what a policy says of one call, and which rules say it; nothing is called."""
    del output
    from remit.main.commands.policy import Question, check

    question = Question(
        policy=policy,
        definition=definition,
        tool=tool,
        args=args,
        pins=tuple(pin or ()),
        source=source,
    )
    finish(lambda: check(question, settings()))


@app.command()
def schema(
    *,
    kind: Annotated[
        Literal["definition", "catalog", "tool", "policy", "event"],
        typer.Argument(metavar="KIND", help="definition, catalog, tool, policy or event."),
    ],
) -> None:
    """Print the JSON Schema of an author's document, of a policy, or of a session's event."""
    from remit.main.commands.schema import run

    finish(lambda: run(kind, settings()))


@app.command()
def explain(
    *,
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="An error code or a lint rule.")
    ] = None,
) -> None:
    """Explain an error code or a lint rule: what happened, why, the mend."""
    from remit.main.commands.explain import run

    finish(lambda: run(code))


@app.command()
def dev(
    *,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE…", help="Definitions, YAML or JSON, or app folders."),
    ],
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Whose calls they are.")] = (
        "dev"
    ),
    token: Annotated[
        list[str] | None,
        typer.Option("--token", metavar="APP=T", help="The user's credential for an app."),
    ] = None,
    component: Annotated[
        list[str] | None,
        typer.Option("--component", metavar="NAME=COMMAND", help="Start a component of an app."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="A value for ${env.NAME}."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65_535, help="8710 by default.")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Keep the store there, and go on with it."),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
) -> None:
    """Try apps on this machine: a chat and a playground, loaded again on save."""
    from remit.main.commands.dev import Wish, run

    wish = Wish(
        files=files,
        user=user,
        tokens=tuple(token or ()),
        components=tuple(component or ()),
        env=tuple(env or ()),
        port=port,
        keep=keep,
        opens=not no_open,
    )
    finish(lambda: run(wish, settings()))


@app.command()
def demo(
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Run every step without asking; exit 0 only when each worked."
        ),
    ] = False,
) -> None:
    """Start the sample app and walk through what Remit does, in a minute."""
    from remit.main.demo import run

    finish(lambda: run(check=check))
