"""`graveler gc`: how long deleted objects are kept, and collecting the others."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from cli.errors import CommandError
from cli.grammar import Command, Group
from cli.retention import Retention, read_rules
from cli.session import session_of

# The checkout with the embedded stack, if this program runs from one.
_CHECKOUT = Path(__file__).parents[2]

app = typer.Typer(cls=Group, help="Manage the garbage collection policy.")

RepositoryArgument = Annotated[
    str, typer.Argument(metavar="REPOSITORY_URI", help="lakefs://REPO.", show_default=False)
]


@app.command("set-config", cls=Command)
def set_config(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    filename: Annotated[
        Path,
        typer.Option(
            "--filename",
            "-f",
            help="File with the policy as JSON; - is standard input.",
            show_default=False,
        ),
    ],
) -> None:
    """Set the garbage collection policy of a repository, in place of any it had."""
    session = session_of(context)
    repository = session.repository(uri)
    rules = read_rules(filename)
    Retention(session.server, repository).set_rules(rules)


@app.command("get-config", cls=Command)
def get_config(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    json: Annotated[
        bool, typer.Option("--json/--no-json", "-p", help="Show the policy as JSON.")
    ] = False,
) -> None:
    """Show the garbage collection policy of a repository."""
    session = session_of(context)
    rules = Retention(session.server, session.repository(uri)).rules()
    if json:
        text = msgspec.json.format(msgspec.json.encode(rules, order="sorted"), indent=2)
        typer.echo(text.decode())
        return
    out = session.output
    out.line(f"Default Retention Days: {rules.default_retention_days}")
    out.line("Branch Rules:")
    for rule in rules.branches:
        out.line(f"  - Branch: {rule.branch_id}\n    Retention Days: {rule.retention_days}")


@app.command("delete-config", cls=Command)
def delete_config(context: typer.Context, uri: RepositoryArgument) -> None:
    """Delete the garbage collection policy: nothing that was committed is collected then."""
    session = session_of(context)
    Retention(session.server, session.repository(uri)).delete_rules()


@app.command("run", cls=Command)
def run(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be deleted.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Another option of the job, such as maximum-deletions=1000. May be repeated.",
        ),
    ] = None,
) -> None:
    """Collect the garbage of a repository of the stack that `make serve` runs on this machine."""
    repository = session_of(context).repository(uri)
    if not (_CHECKOUT / "local" / "job.py").exists():
        raise CommandError(
            "there is no embedded stack here: in a deployment, a schedule starts the Glue job of "
            "garbage collection, or you do"
        )
    words = ["--repository", repository.repository, *(["--dry-run"] if dry_run else [])]
    for each in option or ():
        name, _, value = each.partition("=")
        words += [f"--{name}", value]
    command = [sys.executable, "-m", "local.job", "garbage-collection", *words]
    # Without a shell, the words arrive as they are.
    raise typer.Exit(subprocess.run(command, cwd=_CHECKOUT, check=False).returncode)  # noqa: S603
