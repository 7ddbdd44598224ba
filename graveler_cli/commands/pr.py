"""`graveler pr`: pull requests, which propose merges of branches."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

import click
from msgspec import Struct

from graveler_cli import uncommitted
from graveler_cli.arguments import (
    after_option,
    amount_option,
    branch_argument,
    prefix_option,
    repository_argument,
)
from graveler_cli.client import ApiRefusedError
from graveler_cli.commands.merge import MergeResult, is_conflict, is_empty
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import CommandGroup, option
from graveler_cli.output import fields, local_time
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri, RepositoryUri

app = CommandGroup(help="Create, merge and close pull requests.")

_PULLS = "/repositories/{repository}/pulls"
_PULL = f"{_PULLS}/{{pull_request}}"

pull_argument = partial(click.argument, help="An ID that `pr list` shows.")
title_option = option("--title", "-t", help="The title.")
description_option = option("--description", help="The description, in Markdown.")


class PullRequest(Struct, frozen=True):
    """A pull request."""

    id: str
    status: str
    title: str
    author: str
    source_branch: str
    destination_branch: str
    creation_date: datetime
    description: str = ""
    merged_commit_id: str | None = None
    closed_date: datetime | None = None


class Created(Struct, frozen=True):
    """The ID of a new pull request."""

    id: str


@app.command("list")
@repository_argument("uri")
@option(
    "--status",
    type=click.Choice(["open", "closed", "all"]),
    default="open",
    help="Which to show; merged ones are closed.",
)
@amount_option
@after_option
@prefix_option
def list_(
    session: CommandSession, uri: str, *, status: str, amount: int, after: str, prefix: str
) -> None:
    """List the pull requests of a repository."""
    repository = session.repository(uri)
    found = session.server.page(
        _PULLS,
        {"repository": repository.repository},
        PullRequest,
        {"status": status, "prefix": prefix, "after": after, "amount": amount},
    )
    session.output.table(
        ("ID", "Status", "Source", "Destination", "Author", "Title"),
        found.results,
        lambda each: (
            each.id,
            each.status,
            each.source_branch,
            each.destination_branch,
            each.author,
            each.title,
        ),
        expendable=("Author", "Destination", "Source"),
    )
    if found.pagination.has_more:
        session.output.more(amount, found.pagination.next_offset)


app.add_alias("ls", list_)


@app.command("create")
@branch_argument("source_uri", metavar="SOURCE_URI", help="The branch with the changes.")
@branch_argument("destination_uri", metavar="DESTINATION_URI", help="The branch to merge into.")
@title_option
@description_option
def create(
    session: CommandSession,
    source_uri: str,
    destination_uri: str,
    *,
    title: str | None,
    description: str | None,
) -> None:
    """Propose to merge the first branch into the second."""
    source, destination = session.branch(source_uri), session.branch(destination_uri)
    if source.repository != destination.repository:
        raise UsageError("both branches must be of the same repository")
    if not title:
        raise UsageError("the pull request has no title: write --title TITLE")
    session.output.line(f"Source: {source}")
    session.output.line(f"Destination: {destination}")
    made = session.server.ask(
        "POST",
        _PULLS,
        {"repository": source.repository},
        Created,
        {
            "title": title,
            "description": description or "",
            "source_branch": source.branch,
            "destination_branch": destination.branch,
        },
    )
    session.output.item(made, lambda each: [f"created pull request '{each.id}'"])


@app.command("show")
@repository_argument("uri")
@pull_argument("pull_id")
def show(session: CommandSession, uri: str, pull_id: str) -> None:
    """Show a pull request."""
    session.output.item(_pull(session, session.repository(uri), pull_id), _lines)


@app.command("merge")
@repository_argument("uri")
@pull_argument("pull_id")
def merge(session: CommandSession, uri: str, pull_id: str) -> None:
    """Merge the source of a pull request into its destination."""
    repository = session.repository(uri)
    try:
        made = session.server.ask("PUT", f"{_PULL}/merge", _names(repository, pull_id), MergeResult)
    except ApiRefusedError as error:
        if not is_conflict(error) and not is_empty(error):
            raise
        pull = _pull(session, repository, pull_id)
        if is_conflict(error):
            raise CommandError(
                f"conflict found: `graveler diff {repository}/{pull.destination_branch} "
                f"{repository}/{pull.source_branch}` shows it; `graveler merge` with --strategy "
                "decides it"
            ) from error
        source = RefUri(repository.repository, pull.source_branch)
        if hint := uncommitted.hint(session.server, source):
            raise error.in_words(f"nothing to merge: {hint}") from error
        raise
    session.output.item(made, lambda each: [f"merged pull request '{pull_id}' {each.reference}"])


@app.command("close")
@repository_argument("uri")
@pull_argument("pull_id")
def close(session: CommandSession, uri: str, pull_id: str) -> None:
    """Close a pull request without merging it."""
    _change(session, session.repository(uri), pull_id, {"status": "closed"})


@app.command("update")
@repository_argument("uri")
@pull_argument("pull_id")
@title_option
@description_option
@option("--status", type=click.Choice(["open", "closed"]), help="The new status.")
def update(
    session: CommandSession,
    uri: str,
    pull_id: str,
    *,
    title: str | None,
    description: str | None,
    status: str | None,
) -> None:
    """Change the title, the description or the status of a pull request."""
    given = {"title": title, "description": description, "status": status}
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise UsageError("nothing to change: write --title, --description or --status")
    _change(session, session.repository(uri), pull_id, changes)


def _change(
    session: CommandSession, repository: RepositoryUri, pull_id: str, changes: dict[str, str]
) -> None:
    """Change a pull request, and show it."""
    session.server.request("PATCH", _PULL, _names(repository, pull_id), changes)
    session.output.item(_pull(session, repository, pull_id), _lines)


def _pull(session: CommandSession, repository: RepositoryUri, pull_id: str) -> PullRequest:
    return session.server.ask("GET", _PULL, _names(repository, pull_id), PullRequest)


def _names(repository: RepositoryUri, pull_id: str) -> dict[str, str]:
    if not pull_id.isalnum():
        raise UsageError(f"{pull_id!r} is not the ID of a pull request: `pr list` shows them")
    return {"repository": repository.repository, "pull_request": pull_id}


def _lines(found: PullRequest) -> Iterator[str]:
    pairs = [
        ("ID", found.id),
        ("Status", found.status),
        ("Title", found.title),
        ("Source", found.source_branch),
        ("Destination", found.destination_branch),
        ("Author", found.author),
        ("Created", _time(found.creation_date)),
    ]
    if found.closed_date is not None:
        pairs.append(("Closed", _time(found.closed_date)))
    if found.merged_commit_id:
        pairs.append(("Merged Commit", found.merged_commit_id))
    yield from fields(pairs)
    if found.description:
        yield ""
        yield found.description


def _time(moment: datetime) -> str:
    return local_time(int(moment.timestamp()))
