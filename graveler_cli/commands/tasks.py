"""`graveler tasks`: work that outlives the request that started it."""

from collections.abc import Iterator
from functools import partial

import click

from graveler_cli import output
from graveler_cli.arguments import repository_argument
from graveler_cli.grammar import CommandGroup, option
from graveler_cli.session import CommandSession
from graveler_cli.tasks import Task, Tasks

app = CommandGroup(help="Show, cancel and wait for tasks: large commits, merges, dumps.")

_AMOUNT_DEFAULT = 100
_AMOUNT_MAX = 1000

# Labels of results.
_RESULTS = {"commit_id": "Commit", "run_id": "Run-ID"}


task_argument = partial(click.argument, help="An ID that `tasks list` shows.")


@app.command("list")
@repository_argument("uri")
@option(
    "--amount",
    type=click.IntRange(min=1, max=_AMOUNT_MAX),
    default=_AMOUNT_DEFAULT,
    help="How many tasks to show.",
)
@option("--after", default="", help="Show tasks that are older than this ID.")
def list_(session: CommandSession, uri: str, *, amount: int, after: str) -> None:
    """List the tasks of the last week, newest first."""
    found = _tasks(session, uri).page(after, amount)
    session.output.table(
        ("ID", "KIND", "STATE", "DONE", "KNOWN", "BRANCH", "UPDATED"),
        found.results,
        lambda each: (
            each.id,
            each.kind,
            each.state,
            each.objects_done,
            each.objects_known,
            each.branch or "-",
            _time(each.update_time.timestamp()),
        ),
        expendable=("UPDATED", "KNOWN", "DONE", "BRANCH", "KIND"),
    )
    if found.pagination.has_more:
        session.output.more(amount, found.pagination.next_offset)


app.add_alias("ls", list_)


@app.command("show")
@repository_argument("uri")
@task_argument("task_id")
def show(session: CommandSession, uri: str, task_id: str) -> None:
    """Show a task: its state, progress, and result or error."""
    session.output.item(_tasks(session, uri).task(task_id), _lines)


@app.command("cancel")
@repository_argument("uri")
@task_argument("task_id")
def cancel(session: CommandSession, uri: str, task_id: str) -> None:
    """Cancel a task that has not ended; a running one stops within seconds, without effect."""
    session.output.item(_tasks(session, uri).cancel(task_id), _lines)


@app.command("wait")
@repository_argument("uri")
@task_argument("task_id")
def wait(session: CommandSession, uri: str, task_id: str) -> None:
    """Wait until a task ends, and show it; exit code 1 if it failed or was cancelled."""
    session.output.item(_tasks(session, uri).completed(task_id), _lines)


def _tasks(session: CommandSession, uri: str) -> Tasks:
    repository = session.repository(uri)
    return Tasks(session.server, repository)


def _lines(found: Task) -> Iterator[str]:
    stops = found.is_cancelled and not found.has_ended
    yield from output.fields(
        [
            ("Task-ID", found.id),
            ("Kind", found.kind),
            ("State", f"{found.state}, cancelled: it stops soon" if stops else found.state),
            ("Branch", found.branch),
            ("User", found.user),
            ("Started", _time(found.creation_time.timestamp())),
            ("Updated", _time(found.update_time.timestamp())),
            ("Progress", found.progress),
            *((_RESULTS.get(name, name), value) for name, value in found.result.items()),
        ]
    )
    if found.state == "failed" and found.error is not None:
        yield f"Error: {found.error.message}"
        if found.error.details:
            yield f"\t{found.error.details}"


def _time(unix_s: float) -> str:
    return output.local_time(int(unix_s))
