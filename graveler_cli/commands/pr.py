"""`graveler pr`: pull requests, which propose merges of branches."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import typer
from msgspec import Struct

from graveler_cli import uncommitted
from graveler_cli.arguments import (
    AMOUNT_DEFAULT,
    AfterOption,
    AmountOption,
    BranchArgument,
    PrefixOption,
    RepositoryArgument,
)
from graveler_cli.client import ApiRefusedError
from graveler_cli.commands.merge import MergeResult, is_conflict, is_empty
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.output import fields, local_time
from graveler_cli.session import CommandSession, session_of
from graveler_cli.uris import RefUri, RepositoryUri

app = typer.Typer(cls=CommandGroup, help="Create, merge and close pull requests.")

_PULLS = "/repositories/{repository}/pulls"
_PULL = f"{_PULLS}/{{pull_request}}"

_LISTED = ("open", "closed", "all")
_STATUSES = ("open", "closed")

PullArgument = Annotated[
    str,
    typer.Argument(metavar="PULL_ID", help="An ID that `pr list` shows.", show_default=False),
]
TitleOption = Annotated[
    str | None, typer.Option("--title", "-t", help="The title.", show_default=False)
]
DescriptionOption = Annotated[
    str | None,
    typer.Option("--description", help="The description, in Markdown.", show_default=False),
]


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


@app.command("list", cls=Command)
@app.command("ls", cls=Command, hidden=True)
def list_(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    status: Annotated[str, typer.Option(help="open, closed (also merged ones) or all.")] = "open",
    amount: AmountOption = AMOUNT_DEFAULT,
    after: AfterOption = "",
    prefix: PrefixOption = "",
) -> None:
    """List the pull requests of a repository."""
    session = session_of(context)
    _check_status(status, _LISTED)
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


@app.command("create", cls=Command)
def create(
    context: typer.Context,
    source_uri: BranchArgument,
    destination_uri: BranchArgument,
    *,
    title: TitleOption = None,
    description: DescriptionOption = None,
) -> None:
    """Propose to merge the first branch into the second."""
    session = session_of(context)
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


@app.command("show", cls=Command)
def show(context: typer.Context, uri: RepositoryArgument, pull_id: PullArgument) -> None:
    """Show a pull request."""
    session = session_of(context)
    session.output.item(_pull(session, session.repository(uri), pull_id), _lines)


@app.command("merge", cls=Command)
def merge(context: typer.Context, uri: RepositoryArgument, pull_id: PullArgument) -> None:
    """Merge the source of a pull request into its destination."""
    session = session_of(context)
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


@app.command("close", cls=Command)
def close(context: typer.Context, uri: RepositoryArgument, pull_id: PullArgument) -> None:
    """Close a pull request without merging it."""
    session = session_of(context)
    _change(session, session.repository(uri), pull_id, {"status": "closed"})


@app.command("update", cls=Command)
def update(
    context: typer.Context,
    uri: RepositoryArgument,
    pull_id: PullArgument,
    *,
    title: TitleOption = None,
    description: DescriptionOption = None,
    status: Annotated[str | None, typer.Option(help="open or closed.", show_default=False)] = None,
) -> None:
    """Change the title, the description or the status of a pull request."""
    session = session_of(context)
    if status is not None:
        _check_status(status, _STATUSES)
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


def _check_status(status: str, allowed: tuple[str, ...]) -> None:
    if status not in allowed:
        raise UsageError(
            f"--status is {status!r}: write {', '.join(allowed[:-1])} or {allowed[-1]}"
        )


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
