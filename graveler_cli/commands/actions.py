"""`graveler actions`: runs of hooks, and the syntax of action files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct, structs

from graveler_cli.arguments import (
    AMOUNT_DEFAULT,
    AfterOption,
    AmountOption,
    RepositoryArgument,
    content_of,
)
from graveler_cli.client import PAGE_SIZE
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.schemas import ResultPage
from graveler_cli.session import CommandSession, session_of

app = typer.Typer(cls=CommandGroup, help="Show runs of hooks, and check action files.")
runs = typer.Typer(cls=CommandGroup, help="Show the runs of hooks.")
app.add_typer(runs, name="runs")

# What a narrow terminal does not show of runs.
_EXPENDABLE = ("Commit ID", "End Time", "Start Time", "Event", "Branch")
_RUNS = "/repositories/{repository}/actions/runs"
_RUN = f"{_RUNS}/{{run}}"
HOOK_OUTPUT = f"{_RUN}/hooks/{{hook_run}}/output"

RunArgument = Annotated[str, typer.Argument(metavar="RUN_ID", help="The run.", show_default=False)]


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


@runs.command("list", cls=Command)
def list_(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    branch: Annotated[str, typer.Option(help="Only runs of this branch.", show_default=False)] = "",
    commit: Annotated[str, typer.Option(help="Only runs of this commit.", show_default=False)] = "",
    amount: AmountOption = AMOUNT_DEFAULT,
    after: AfterOption = "",
) -> None:
    """List the runs of hooks in a repository, the newest first."""
    session = session_of(context)
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


@runs.command("describe", cls=Command)
def describe(
    context: typer.Context,
    uri: RepositoryArgument,
    run_id: RunArgument,
    *,
    amount: Annotated[int, typer.Option(help="How many hooks to show; 0 is all.")] = 0,
    after: AfterOption = "",
) -> None:
    """Show a run, its hooks, and their outputs."""
    session = session_of(context)
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


@app.command("validate", cls=Command)
def validate(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Action file; - is standard input.", show_default=False
        ),
    ],
) -> None:
    """Check the syntax of an action file, without a server.

    All faults are shown at once. Whether the server can reach the hooks' targets is not checked.
    """
    # Imported late, because no other command of this group needs it.
    from graveler_cli.action_files import check  # noqa: PLC0415

    session = session_of(context)
    checked = check(content_of(file))
    if session.output.as_json:
        report = {"file": str(file), "is_valid": not checked.faults}
        session.output.json(report | {"faults": checked.faults, "warnings": checked.warnings})
        if checked.faults:
            raise typer.Exit(1)
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
