"""The commands for whoever runs a server: what each takes. What it does stands in ``commands``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from remit.main.cli_frame import TextOrJson, app, config_file, finish, group, settings

KeyRole = Literal["operator", "backend"]

keys_app = group("keys", "Keys of the HTTP API; the store is opened directly.")
vault_app = group("vault", "What is sealed.")
signing_app = group("signing", "The keys that sign identity tokens.")
db_app = group("db", "The store's schema.")

Workspace = Annotated[
    str, typer.Option("--workspace", metavar="W", help="The tenant it belongs to.")
]


@app.command()
def serve() -> None:
    """Start the server; SIGTERM or Ctrl-C ends it when what is under way has ended."""
    from remit.main.serving import serve as run

    finish(lambda: run(settings()))


@app.command()
def apply(
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Definitions.")],
    plan: Annotated[
        bool, typer.Option("--plan", help="Send nothing; say what each would change.")
    ] = False,
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Send definitions to a running server, and say what each change is."""
    from remit.main.commands.apply import run

    finish(lambda: run(files, settings(), plan=plan, as_json=output == "json"))


@app.command()
def why(
    *,
    call: Annotated[str, typer.Argument(metavar="CALL_ID", help="Of the call.")],
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Print one page on a call: who asked, what let it pass, what was sent, what came back."""
    from remit.main.commands.why import run

    finish(lambda: run(call, as_json=output == "json"))


@app.command()
def chat(
    *,
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="REMIT_SERVER_URL when left out."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Whose conversation it is.")
    ] = None,
    apps: Annotated[
        list[str] | None,
        typer.Option("--app", metavar="APP", help="An app it may use; all when left out."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Go on with this one.")
    ] = None,
) -> None:
    """Talk with the agent; in a pipe each line of stdin is a message."""
    from remit.main.commands.chat import run

    finish(lambda: run(server=server, user=user, apps=tuple(apps or ()), session=session))


@keys_app.command("create")
def keys_create(
    *,
    role: Annotated[KeyRole, typer.Option("--role", help="What it may do.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="N", help="What people know it by.")
    ] = None,
    workspace: Workspace = "default",
) -> None:
    """Make a key and print it, this once; makes the workspace, too."""
    from remit.main.commands.keys import create

    finish(lambda: create(settings(), role, name=name, workspace=workspace))


@keys_app.command("list")
def keys_list(
    *,
    workspace: Workspace = "default",
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Print the keys and tokens of a workspace, without their secrets."""
    from remit.main.commands.keys import list_all

    finish(lambda: list_all(settings(), workspace=workspace, as_json=output == "json"))


@keys_app.command("revoke")
def keys_revoke(
    *,
    key: Annotated[str, typer.Argument(metavar="KEY_ID", help="The id, as `list` prints it.")],
    workspace: Workspace = "default",
) -> None:
    """Revoke a key or a token; a running server refuses it within 2 seconds."""
    from remit.main.commands.keys import revoke

    finish(lambda: revoke(settings(), key, workspace=workspace))


@vault_app.command("rotate")
def vault_rotate() -> None:
    """Bring all that is sealed under a new master key; stop and repeat it as you like."""
    from remit.main.commands.vault import rotate

    finish(lambda: rotate(settings()))


@signing_app.command("rotate")
def signing_rotate(
    *,
    at_once: Annotated[
        bool,
        typer.Option("--at-once", help="For a stolen key: sign with the new one now, forget all."),
    ] = False,
) -> None:
    """Publish a new signing key, which signs when every verifier had the time to see it."""
    from remit.main.commands.signing import rotate

    finish(lambda: rotate(settings(), at_once=at_once))


@db_app.command("upgrade")
def db_upgrade() -> None:
    """Bring the store's schema up to date, all or nothing."""
    from remit.main.commands.db import upgrade

    finish(lambda: upgrade(settings()))


@app.command()
def doctor(
    *,
    output: Annotated[TextOrJson, typer.Option("--format", help="How to print.")] = "text",
) -> None:
    """Look whether a server could run here; each line says ok, or the fault and its mend."""
    from remit.main.commands.doctor import run

    finish(lambda: run(settings, config_file(), as_json=output == "json"))
