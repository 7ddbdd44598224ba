"""`graveler commit`: commit the staged changes of a branch."""

import click

from graveler_cli.arguments import branch_argument, pairs_of
from graveler_cli.commits import (
    allow_empty_message_option,
    check_message,
    created_lines,
    message_option,
    metadata_option,
)
from graveler_cli.grammar import Command, flag, option
from graveler_cli.schemas import Commit
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@branch_argument("uri")
@message_option
@allow_empty_message_option()
@metadata_option
@flag("--allow-empty-commit", "--allow-empty", help="Allow a commit without changes.")
@option(
    "--date",
    "--epoch-time-seconds",
    default=-1,
    metavar="UNIX_SECONDS",
    help="The date of the commit.",
    show_default="now",
)
def command(
    session: CommandSession,
    uri: str,
    *,
    message: str,
    allow_empty_message: bool,
    meta: tuple[str, ...],
    allow_empty_commit: bool,
    date: int,
) -> None:
    """Commit the changes of a branch."""
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
