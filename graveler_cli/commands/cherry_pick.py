"""`graveler cherry-pick`: apply the changes of a commit to a branch."""

from typing import Annotated

import typer

from graveler_cli.arguments import BranchArgument, RefArgument
from graveler_cli.commits import created_lines
from graveler_cli.errors import UsageError
from graveler_cli.schemas import Commit
from graveler_cli.session import session_of


def command(
    context: typer.Context,
    uri: RefArgument,
    branch_uri: BranchArgument,
    *,
    parent_number: Annotated[
        int | None,
        typer.Option(
            "--parent-number",
            "--mainline",
            "-m",
            help="For a merge commit: the parent to compare with, from 1.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Apply the changes of a commit to a branch, as a new commit."""
    session = session_of(context)
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
