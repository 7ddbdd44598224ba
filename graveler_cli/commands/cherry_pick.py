"""`graveler cherry-pick`: apply the changes of a commit to a branch."""

import click

from graveler_cli.arguments import branch_argument, ref_argument
from graveler_cli.commits import created_lines
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, option
from graveler_cli.schemas import Commit
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@ref_argument("uri")
@branch_argument("branch_uri")
@option(
    "--parent-number",
    "--mainline",
    "-m",
    type=int,
    help="For a merge commit: the parent to compare with, from 1.",
)
def command(
    session: CommandSession, uri: str, branch_uri: str, *, parent_number: int | None
) -> None:
    """Apply the changes of a commit to a branch, as a new commit."""
    ref, branch = session.ref(uri), session.branch(branch_uri)
    session.output.line(f"Branch: {branch}")
    if ref.repository != branch.repository:
        raise UsageError("the commit and the branch must be of the same repository")
    if parent_number is not None and parent_number <= 0:
        raise UsageError(f"--parent-number is {parent_number}: parents count from 1")
    made = session.server.ask(
        "POST",
        "/repositories/{repository}/branches/{branch}/cherry-pick",
        {"repository": branch.repository, "branch": branch.branch},
        Commit,
        {"ref": ref.ref, "parent_number": parent_number or 1},
    )
    session.output.item(made, lambda commit: created_lines(branch, commit, session.output))
