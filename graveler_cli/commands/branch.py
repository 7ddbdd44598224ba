"""`graveler branch`: the branches of a repository."""

import click

from graveler_cli import completion
from graveler_cli.arguments import (
    after_option,
    amount_option,
    branch_argument,
    prefix_option,
    repository_argument,
    yes_option,
)
from graveler_cli.commits import first_line, shown_id
from graveler_cli.errors import UsageError
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import CommandOutput, fields, local_time
from graveler_cli.schemas import BranchOfList, Ref
from graveler_cli.session import CommandSession
from graveler_cli.uris import BranchUri

app = CommandGroup(help="Create and manage branches within a repository.")

_BRANCHES = "/repositories/{repository}/branches"
_BRANCH = f"{_BRANCHES}/{{branch}}"


@app.command("list")
@repository_argument("uri")
@amount_option
@after_option
@prefix_option
@flag("--commits", "-v", help="Also show the last commit of each branch.")
def list_(
    session: CommandSession, uri: str, *, amount: int, after: str, prefix: str, commits: bool
) -> None:
    """List the branches of a repository, by name."""
    repository = session.repository(uri)
    query = {"prefix": prefix, "after": after, "amount": amount, "with_commits": commits}
    names = {"repository": repository.repository}
    found = session.server.page(_BRANCHES, names, BranchOfList, query)
    heads = ("Branch", "Commit ID", "Date", "Committer", "Message")
    shown = len(heads) if commits else 2
    session.output.listing(
        heads[:shown],
        found,
        lambda each: _cells(each, session.output)[:shown],
        amount,
        heads[2:shown],
    )


def _cells(branch: BranchOfList, output: CommandOutput) -> tuple[str, ...]:
    commit = branch.commit
    if commit is None:
        return branch.id, branch.commit_id
    when, what = local_time(commit.creation_date), first_line(commit.message)
    return branch.id, shown_id(output, branch.commit_id), when, commit.committer, what


@app.command("create")
@branch_argument("uri")
@option(
    "--source",
    "-s",
    required=True,
    help="The URI of the ref to start from.",
    shell_complete=completion.refs,
)
def create(session: CommandSession, uri: str, *, source: str) -> None:
    """Create a branch from another ref of its repository."""
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


@app.command("delete")
@branch_argument("uri")
@yes_option
def delete(session: CommandSession, uri: str, *, yes: bool) -> None:
    """Delete a branch and its uncommitted changes."""
    branch = session.branch(uri)
    session.output.confirm("Are you sure you want to delete branch", yes=yes)
    session.output.line(f"Branch: {branch}")
    session.server.ask("DELETE", _BRANCH, _names(branch), str)


@app.command("show")
@branch_argument("uri")
def show(session: CommandSession, uri: str) -> None:
    """Show the commit that a branch is at."""
    branch = session.branch(uri)
    session.output.line(f"Branch: {branch}")
    found = session.server.ask("GET", _BRANCH, _names(branch), Ref)
    session.output.item(found, lambda each: fields([("Commit ID", each.commit_id)]))


@app.command("reset")
@branch_argument("uri")
@option("--prefix", default="", help="Only paths that begin with this.")
@option("--object", "path", default="", help="Only the object at this path.")
@yes_option
def reset(session: CommandSession, uri: str, *, prefix: str, path: str, yes: bool) -> None:
    """Discard uncommitted changes of a branch: all of them, or by path."""
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


@app.command("revert")
@branch_argument("uri")
@click.argument(
    "commits",
    nargs=-1,
    required=True,
    metavar="COMMIT...",
    help="Commits of the branch's repository, as ID or as main~1; reverted in this order.",
)
@option(
    "--parent-number", "-m", type=int, help="For a merge commit: the parent to return to, from 1."
)
@flag("--allow-empty-commit", "allow_empty", help="Allow reverts that change nothing.")
@yes_option
def revert(
    session: CommandSession,
    uri: str,
    commits: tuple[str, ...],
    *,
    parent_number: int | None,
    allow_empty: bool,
    yes: bool,
) -> None:
    """Undo commits, each by a new commit on the branch."""
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
