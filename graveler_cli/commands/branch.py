"""`graveler branch`: the branches of a repository."""

from typing import Annotated

import typer

from graveler_cli import completion
from graveler_cli.arguments import (
    AMOUNT_DEFAULT,
    AfterOption,
    AmountOption,
    BranchArgument,
    PrefixOption,
    RepositoryArgument,
    YesOption,
)
from graveler_cli.errors import UsageError
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.output import fields
from graveler_cli.schemas import Ref
from graveler_cli.session import session_of
from graveler_cli.uris import BranchUri

app = typer.Typer(cls=CommandGroup, help="Create and manage branches within a repository.")

_BRANCHES = "/repositories/{repository}/branches"
_BRANCH = f"{_BRANCHES}/{{branch}}"


@app.command("list", cls=Command)
def list_(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    amount: AmountOption = AMOUNT_DEFAULT,
    after: AfterOption = "",
    prefix: PrefixOption = "",
) -> None:
    """List the branches of a repository, by name."""
    session = session_of(context)
    repository = session.repository(uri)
    found = session.server.page(
        _BRANCHES,
        {"repository": repository.repository},
        Ref,
        {"prefix": prefix, "after": after, "amount": amount},
    )
    session.output.listing(
        ("Branch", "Commit ID"), found, lambda each: (each.id, each.commit_id), amount
    )


@app.command("create", cls=Command)
def create(
    context: typer.Context,
    uri: BranchArgument,
    *,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            "-s",
            help="The URI of the ref to start from.",
            show_default=False,
            autocompletion=completion.refs,
        ),
    ],
) -> None:
    """Create a branch from another ref of its repository."""
    session = session_of(context)
    branch = session.branch(uri)
    begins_at = session.ref(source)
    session.output.line(f"Source ref: {begins_at}")
    if begins_at.repository != branch.repository:
        raise UsageError("source branch must be in the same repository")
    body = {"name": branch.branch, "source": begins_at.ref}
    # The answer is the commit's ID, not as JSON.
    answer = session.server.request("POST", _BRANCHES, {"repository": branch.repository}, body)
    created = Ref(branch.branch, answer.content.decode())
    session.output.item(created, lambda each: [f"created branch '{each.id}' {each.commit_id}"])


@app.command("delete", cls=Command)
def delete(context: typer.Context, uri: BranchArgument, *, yes: YesOption = False) -> None:
    """Delete a branch and its uncommitted changes."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.confirm("Are you sure you want to delete branch", yes=yes)
    session.output.line(f"Branch: {branch}")
    session.server.ask("DELETE", _BRANCH, _names(branch), str)


@app.command("show", cls=Command)
def show(context: typer.Context, uri: BranchArgument) -> None:
    """Show the commit that a branch is at."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    found = session.server.ask("GET", _BRANCH, _names(branch), Ref)
    session.output.item(found, lambda each: fields([("Commit ID", each.commit_id)]))


@app.command("reset", cls=Command)
def reset(
    context: typer.Context,
    uri: BranchArgument,
    *,
    prefix: Annotated[
        str,
        typer.Option("--prefix", help="Only paths that begin with this.", show_default=False),
    ] = "",
    path: Annotated[
        str, typer.Option("--object", help="Only the object at this path.", show_default=False)
    ] = "",
    yes: YesOption = False,
) -> None:
    """Discard uncommitted changes of a branch: all of them, or by path."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    question = "Are you sure you want to reset all uncommitted changes"
    body = {"type": "reset"}
    if prefix:
        question += f" from path: {prefix}"
        body = {"type": "common_prefix", "path": prefix}
    elif path:
        question += f" for object: {path}"
        body = {"type": "object", "path": path}
    session.output.confirm(question, yes=yes)
    session.server.ask("PUT", _BRANCH, _names(branch), str, body)


@app.command("revert", cls=Command)
def revert(
    context: typer.Context,
    uri: BranchArgument,
    commits: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMIT",
            help="Commits of the branch's repository, as ID or as main~1; reverted in this order.",
            show_default=False,
        ),
    ],
    *,
    parent_number: Annotated[
        int | None,
        typer.Option(
            "--parent-number",
            "-m",
            help="For a merge commit: the parent to return to, from 1.",
            show_default=False,
        ),
    ] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty-commit", help="Allow reverts that change nothing.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Undo commits, each by a new commit on the branch."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    if parent_number is not None and parent_number <= 0:
        raise UsageError("parent number must be number greater than 0, if specified")
    question = f"Are you sure you want to revert the effect of commits {' '.join(commits)}"
    session.output.confirm(question, yes=yes)
    for commit in commits:
        body = {"ref": commit, "parent_number": parent_number or 0, "allow_empty": allow_empty}
        session.server.ask("POST", f"{_BRANCH}/revert", _names(branch), str, body)
        session.output.item(
            {"ref": commit}, lambda each: [f"commit {each['ref']} successfully reverted"]
        )


def _names(branch: BranchUri) -> dict[str, str]:
    return {"repository": branch.repository, "branch": branch.branch}
