"""`graveler commit`: commit the staged changes of a branch."""

from typing import Annotated

import typer

from graveler_cli.arguments import BranchArgument, pairs_of
from graveler_cli.commits import (
    AllowEmptyMessageOption,
    MessageOption,
    MetadataOption,
    check_message,
    created_lines,
)
from graveler_cli.schemas import Commit
from graveler_cli.session import session_of


def command(
    context: typer.Context,
    uri: BranchArgument,
    *,
    message: MessageOption = "",
    allow_empty_message: AllowEmptyMessageOption = False,
    meta: MetadataOption = None,
    allow_empty_commit: Annotated[
        bool,
        typer.Option(
            "--allow-empty-commit/--no-allow-empty-commit",
            "--allow-empty",
            help="Allow a commit without changes.",
            show_default=False,
        ),
    ] = False,
    date: Annotated[
        int,
        typer.Option(
            "--date",
            "--epoch-time-seconds",
            metavar="UNIX_SECONDS",
            help="The date of the commit, instead of now.",
            show_default=False,
        ),
    ] = -1,
) -> None:
    """Commit the changes of a branch."""
    session = session_of(context)
    check_message(message, allow_empty=allow_empty_message)
    body = {
        "message": message,
        "metadata": pairs_of("--meta", meta),
        "allow_empty": allow_empty_commit,
    }
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    made = session.server.ask(
        "POST",
        "/repositories/{repository}/branches/{branch}/commits",
        {"repository": branch.repository, "branch": branch.branch},
        Commit,
        body if date < 0 else {**body, "date": date},
    )
    session.output.item(made, lambda commit: created_lines(branch, commit, session.output))
