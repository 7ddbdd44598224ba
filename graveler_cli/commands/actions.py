"""`graveler actions`: runs of hooks, and the syntax of action files."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from msgspec import Struct, structs

from graveler_cli.arguments import (
    after_option,
    amount_option,
    content_of,
    repository_argument,
)
from graveler_cli.client import PAGE_SIZE
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import FILE, CommandGroup, option
from graveler_cli.schemas import ResultPage
from graveler_cli.session import CommandSession

app = CommandGroup(help="Show runs of hooks, and check action files.")
runs = CommandGroup(help="Show the runs of hooks.")
app.add_command(runs, name="runs")

# What a narrow terminal does not show of runs.
_EXPENDABLE = ("Commit ID", "End Time", "Start Time", "Event", "Branch")
_RUNS = "/repositories/{repository}/actions/runs"
_RUN = f"{_RUNS}/{{run}}"
HOOK_OUTPUT = f"{_RUN}/hooks/{{hook_run}}/output"

run_argument = partial(click.argument, help="The run.")


class ActionRun(Struct, frozen=True):
    """A run of the hooks of an event."""

    run_id: str
    branch: str
    start_time: str
    event_type: str
    status: str
    commit_id: str
    end_time: str | None = None


class HookRun(Struct, frozen=True):
    """A run of one hook."""

    hook_run_id: str
    action: str
    hook_id: str
    start_time: str
    status: str
    end_time: str | None = None


@runs.command("list")
@repository_argument("uri")
@option("--branch", default="", help="Only runs of this branch.")
@option("--commit", default="", help="Only runs of this commit.")
@amount_option
@after_option
def list_(
    session: CommandSession, uri: str, *, branch: str, commit: str, amount: int, after: str
) -> None:
    """List the runs of hooks in a repository, the newest first."""
    repository = session.repository(uri)
    if branch and commit:
        raise UsageError("--branch and --commit exclude each other: choose one")
    asked = {
        "after": after,
        "amount": amount,
        "branch": branch or None,
        "commit": commit or None,
    }
    found = session.server.page(_RUNS, {"repository": repository.repository}, ActionRun, asked)
    session.output.listing(
        ("Run ID", "Event", "Start Time", "End Time", "Branch", "Commit ID", "Status"),
        found,
        lambda run: (
            run.run_id,
            run.event_type,
            session.output.time(run.start_time),
            session.output.time(run.end_time),
            run.branch,
            run.commit_id,
            run.status,
        ),
        amount,
        expendable=_EXPENDABLE,
    )


@runs.command("describe")
@repository_argument("uri")
@run_argument("run_id")
@option("--amount", default=0, help="How many hooks to show; 0 is all.")
@after_option
def describe(session: CommandSession, uri: str, run_id: str, *, amount: int, after: str) -> None:
    """Show a run, its hooks, and their outputs."""
    repository = session.repository(uri)
    output = session.output
    output.line(f"Repository: {repository}")
    names = {"repository": repository.repository, "run": run_id}
    run = session.server.ask("GET", _RUN, names, ActionRun)
    pages = _pages(session, names, amount, after)
    if output.as_json:
        hooks = [
            structs.asdict(hook) | {"output": hook_output(session, names, hook.hook_run_id)}
            for page in pages
            for hook in page.results
        ]
        output.json(structs.asdict(run) | {"hooks": hooks})
        return
    _show_run(session, run)
    for page in pages:
        for hook in page.results:
            _show_hook(session, hook)
            if text := hook_output(session, names, hook.hook_run_id):
                output.line(text.removesuffix("\n"))
        output.line()
        if page.pagination.has_more:
            output.more(amount, page.pagination.next_offset)


@app.command("validate")
@click.argument(
    "file",
    type=FILE,
    help="Action file; - is standard input.",
)
def validate(session: CommandSession, file: Path) -> None:
    """Check the syntax of an action file, without a server.

    All faults are shown at once. Whether the server can reach the hooks' targets is not checked.
    """
    # Imported late, because no other command of this group needs it.
    from graveler_cli.action_files import check  # noqa: PLC0415

    checked = check(content_of(file))
    if session.output.as_json:
        report = {"file": str(file), "is_valid": not checked.faults}
        session.output.json(report | {"faults": checked.faults, "warnings": checked.warnings})
        if checked.faults:
            raise click.exceptions.Exit(1)
        return
    if checked.faults:
        raise CommandError(f"{file}: {'; '.join(checked.faults)}")
    for warning in checked.warnings:
        session.output.warn(f"warning: {file}: {warning}")
    session.output.line(f"File validated successfully: '{file}'")


def hook_output(session: CommandSession, names: dict[str, str], hook_run_id: str) -> str:
    """Return the output of a hook; names have the repository and the run."""
    answer = session.server.request("GET", HOOK_OUTPUT, {**names, "hook_run": hook_run_id})
    return answer.content.decode(errors="replace")


def _pages(
    session: CommandSession, names: dict[str, str], amount: int, after: str
) -> Iterator[ResultPage[HookRun]]:
    """Yield the page of the given amount, or all pages if the amount is 0."""
    while True:
        query = {"after": after, "amount": amount if amount > 0 else PAGE_SIZE}
        page = session.server.page(f"{_RUN}/hooks", names, HookRun, query)
        yield page
        if amount != 0 or not page.pagination.has_more:
            return
        after = page.pagination.next_offset


def _show_run(session: CommandSession, run: ActionRun) -> None:
    paint = session.output.paint
    status = paint(run.status, "green" if run.status == "completed" else "red")
    session.output.table(
        ("Run ID", "Event", "Branch", "Start Time", "End Time", "Commit ID", "Status"),
        [run],
        lambda run: (
            paint(run.run_id, "yellow"),
            run.event_type,
            run.branch,
            session.output.time(run.start_time),
            session.output.time(run.end_time),
            run.commit_id,
            status,
        ),
        expendable=_EXPENDABLE,
    )


def _show_hook(session: CommandSession, hook: HookRun) -> None:
    paint = session.output.paint
    colors = {"completed": "green", "skipped": "yellow"}
    status = paint(hook.status, colors.get(hook.status, "red"))  # type: ignore[arg-type]
    session.output.table(
        ("Hook Run ID", "Hook ID", "Start Time", "End Time", "Action", "Status"),
        [hook],
        lambda hook: (
            paint(hook.hook_run_id, "yellow"),
            hook.hook_id,
            session.output.time(hook.start_time),
            session.output.time(hook.end_time),
            hook.action,
            status,
        ),
        expendable=("End Time", "Start Time", "Action"),
    )
