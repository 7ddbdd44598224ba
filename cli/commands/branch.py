"""`graveler branch`: the branches of a repository."""

from typing import Annotated

import typer

from cli.arguments import (
    AMOUNT_DEFAULT,
    AfterOption,
    AmountOption,
    BranchArgument,
    PrefixOption,
    RepositoryArgument,
    YesOption,
)
from cli.errors import UsageError
from cli.grammar import Command, Group
from cli.output import fields
from cli.session import session_of
from cli.shapes import Ref

app = typer.Typer(cls=Group, help="Create and manage branches within a repository.")

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
        typer.Option("--source", "-s", help="The ref to begin at, as a URI.", show_default=False),
    ],
) -> None:
    """Create a branch from another ref of its repository."""
    session = session_of(context)
    branch = session.branch(uri)
    begins_at = session.ref(source)
    if begins_at.repository != branch.repository:
        raise UsageError("source branch must be in the same repository")
    session.output.line(f"Source ref: {begins_at}")
    body = {"name": branch.branch, "source": begins_at.ref}
    # The answer is the commit's ID, not as JSON.
    answer = session.server.request("POST", _BRANCHES, {"repository": branch.repository}, body)
    created = Ref(branch.branch, answer.content.decode())
    session.output.item(created, lambda each: [f"created branch '{each.id}' {each.commit_id}"])


@app.command("delete", cls=Command)
def delete(context: typer.Context, uri: BranchArgument, *, yes: YesOption = False) -> None:
    """Delete a branch, with what is not committed on it."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.confirm("Are you sure you want to delete branch", yes=yes)
    names = {"repository": branch.repository, "branch": branch.branch}
    session.output.line(f"Branch: {branch}")
    session.server.ask("DELETE", _BRANCH, names, str)


@app.command("show", cls=Command)
def show(context: typer.Context, uri: BranchArgument) -> None:
    """Show the commit that a branch is at."""
    session = session_of(context)
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    names = {"repository": branch.repository, "branch": branch.branch}
    found = session.server.ask("GET", _BRANCH, names, Ref)
    session.output.item(found, lambda each: fields([("Commit ID", each.commit_id)]))
