"""`graveler tasks`: work that outlives the request that started it."""

import time
from collections.abc import Iterator
from typing import Annotated

import typer

from graveler_cli import output
from graveler_cli.arguments import RepositoryArgument
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.session import session_of
from graveler_cli.tasks import Task, Tasks

app = typer.Typer(
    cls=CommandGroup, help="Show, cancel and wait for tasks: large commits, merges, dumps."
)

_POLL_INTERVAL_S = 1.0

_AMOUNT_DEFAULT = 100
_AMOUNT_MAX = 1000

# Labels of results.
_RESULTS = {"commit_id": "Commit", "run_id": "Run-ID"}


TaskArgument = Annotated[
    str,
    typer.Argument(metavar="TASK_ID", help="An ID that `tasks list` shows.", show_default=False),
]


@app.command("list", cls=Command)
@app.command("ls", cls=Command, hidden=True)
def list_(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    amount: Annotated[
        int, typer.Option(min=1, max=_AMOUNT_MAX, help="How many tasks to show.")
    ] = _AMOUNT_DEFAULT,
    after: Annotated[str, typer.Option(help="Show tasks that are older than this ID.")] = "",
) -> None:
    """List the tasks of the last week, newest first."""
    found = _tasks(context, uri).page(after, amount)
    session_of(context).output.table(
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
        session_of(context).output.more(amount, found.pagination.next_offset)


@app.command("show", cls=Command)
def show(context: typer.Context, uri: RepositoryArgument, task_id: TaskArgument) -> None:
    """Show a task: its state, progress, and result or error."""
    session_of(context).output.item(_tasks(context, uri).task(task_id), _lines)


@app.command("cancel", cls=Command)
def cancel(context: typer.Context, uri: RepositoryArgument, task_id: TaskArgument) -> None:
    """Cancel a task that has not ended; a running one stops within seconds, without effect."""
    session_of(context).output.item(_tasks(context, uri).cancel(task_id), _lines)


@app.command("wait", cls=Command)
def wait(context: typer.Context, uri: RepositoryArgument, task_id: TaskArgument) -> None:
    """Wait until a task ends, and show it; exit code 1 if it failed or was cancelled."""
    tasks = _tasks(context, uri)
    found = tasks.task(task_id)
    if not found.has_ended:
        with output.progress(f"Task {found.kind}") as update:
            while not found.has_ended:
                update(found.objects_done, found.objects_known)
                time.sleep(_POLL_INTERVAL_S)
                found = tasks.task(task_id)
    tasks.require_success(found)
    session_of(context).output.item(found, _lines)


def _tasks(context: typer.Context, uri: str) -> Tasks:
    session = session_of(context)
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
