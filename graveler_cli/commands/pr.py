"""`graveler pr`: pull requests, which propose merges of branches."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Unpack

import click
from msgspec import Struct, structs

from graveler_cli import uncommitted
from graveler_cli.arguments import (
    after_option,
    amount_option,
    branch_argument,
    pairs_of,
    prefix_option,
    repository_argument,
)
from graveler_cli.client import ApiRefusedError
from graveler_cli.commands.merge import (
    MergeOptions,
    MergeResult,
    body_of,
    conflict,
    headers_of,
    is_conflict,
    is_empty,
    merge_options,
)
from graveler_cli.commits import check_message, short_id
from graveler_cli.errors import UsageError
from graveler_cli.grammar import CommandGroup, flag, option
from graveler_cli.output import fields, local_time
from graveler_cli.schemas import Ref
from graveler_cli.session import CommandSession
from graveler_cli.uris import RefUri, RepositoryUri

app = CommandGroup(help="Create, review, merge and close pull requests.")

_PULLS = "/repositories/{repository}/pulls"
_PULL = f"{_PULLS}/{{pull_request}}"
_COMMENTS = f"{_PULL}/comments"

pull_argument = partial(click.argument, help="An ID that `pr list` shows.")
title_option = option("--title", "-t", help="The title.")
description_option = option("--description", help="The description, in Markdown.")


reviewer_option = option(
    "--reviewer", multiple=True, metavar="USER", help="Ask a user for a review; may be repeated."
)


class Review(Struct, frozen=True):
    """A user's last verdict on the source's commit."""

    user: str
    verdict: str
    commit_id: str
    creation_date: datetime
    is_current: bool = False


class Comment(Struct, frozen=True, omit_defaults=True):
    """A comment, perhaps on an object."""

    id: str
    author: str
    creation_date: datetime
    text: str
    path: str = ""


class PullRequest(Struct, frozen=True):
    """A pull request; only `show` reads the comments."""

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
    reviewers: Sequence[str] = ()
    reviews: Sequence[Review] = ()
    is_contained: bool = False
    comments: Sequence[Comment] = ()


class Created(Struct, frozen=True):
    """The ID of a new pull request."""

    id: str


@app.command("list")
@repository_argument("uri")
@option(
    "--status",
    type=click.Choice(["open", "closed", "merged", "all"]),
    default="open",
    help="Which to show; merged ones are closed, too.",
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
@reviewer_option
def create(
    session: CommandSession,
    source_uri: str,
    destination_uri: str,
    *,
    title: str | None,
    description: str | None,
    reviewer: tuple[str, ...],
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
            **({"reviewers": reviewer} if reviewer else {}),
        },
    )
    session.output.item(made, lambda each: [f"created pull request '{each.id}'"])


@app.command("show")
@repository_argument("uri")
@pull_argument("pull_id")
def show(session: CommandSession, uri: str, pull_id: str) -> None:
    """Show a pull request with its reviews and comments."""
    repository = session.repository(uri)
    found = _pull(session, repository, pull_id)
    comments = session.server.each(_COMMENTS, _names(repository, pull_id), Comment)
    session.output.item(structs.replace(found, comments=list(comments)), _lines)


@app.command("review")
@repository_argument("uri")
@pull_argument("pull_id")
@flag("--approve", help="Approve of the source's head.")
@flag("--request-changes", help="Request changes of the source's head; this withdraws an approval.")
@option("--if-head", default=None, help="Review only if this commit is the source's head.")
@option("--message", "-m", default="", help="A comment on the pull request.")
def review(
    session: CommandSession,
    uri: str,
    pull_id: str,
    *,
    approve: bool,
    request_changes: bool,
    if_head: str | None,
    message: str,
) -> None:
    """Approve of the head of a pull request's source, or request changes of it."""
    if approve == request_changes:
        raise UsageError("write --approve or --request-changes")
    repository = session.repository(uri)
    names = _names(repository, pull_id)
    commit_id = _head(session, repository, pull_id) if if_head is None else if_head
    session.output.line(f"Commit: {commit_id}")
    verdict = "approved" if approve else "changes_requested"
    body = {"verdict": verdict, "commit_id": commit_id}
    session.server.request("PUT", f"{_PULL}/review", names, body)
    if message:
        session.server.request("POST", _COMMENTS, names, {"text": message})
    session.output.item(_pull(session, repository, pull_id), _lines)


def _head(session: CommandSession, repository: RepositoryUri, pull_id: str) -> str:
    """Return the head of the pull request's source."""
    branch = _pull(session, repository, pull_id).source_branch
    names = {"repository": repository.repository, "branch": branch}
    found = session.server.ask("GET", "/repositories/{repository}/branches/{branch}", names, Ref)
    return found.commit_id


@app.command("comment")
@repository_argument("uri")
@pull_argument("pull_id")
@option("--message", "-m", default="", help="The text of the comment.")
@option("--path", default="", help="The object that it is about.")
def comment(session: CommandSession, uri: str, pull_id: str, *, message: str, path: str) -> None:
    """Comment on a pull request, or on an object in it."""
    if not message.strip():
        raise UsageError("the comment has no text: write -m TEXT")
    body = {"text": message, **({"path": path} if path else {})}
    names = _names(session.repository(uri), pull_id)
    made = session.server.ask("POST", _COMMENTS, names, Comment, body)
    session.output.item(made, lambda each: [f"created comment '{each.id}'"])


@app.command("merge")
@repository_argument("uri")
@pull_argument("pull_id")
@merge_options
def merge(session: CommandSession, uri: str, pull_id: str, **options: Unpack[MergeOptions]) -> None:
    """Merge the source of a pull request into its destination."""
    check_message(options["message"], allow_empty=options["allow_empty_message"])
    body, headers = body_of(options, pairs_of("--meta", options["meta"])), headers_of(options)
    repository = session.repository(uri)
    names = _names(repository, pull_id)
    try:
        made = session.server.ask(
            "PUT", f"{_PULL}/merge", names, MergeResult, body, headers=headers
        )
    except ApiRefusedError as error:
        if not is_conflict(error) and not is_empty(error):
            raise
        pull = _pull(session, repository, pull_id)
        if is_conflict(error):
            destination = f"{repository}/{pull.destination_branch}"
            raise conflict(error, destination, f"{repository}/{pull.source_branch}") from error
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
@reviewer_option
def update(
    session: CommandSession,
    uri: str,
    pull_id: str,
    *,
    title: str | None,
    description: str | None,
    status: str | None,
    reviewer: tuple[str, ...],
) -> None:
    """Change the title, the description, the status or the reviewers of a pull request."""
    given = {
        "title": title,
        "description": description,
        "status": status,
        "reviewers": reviewer or None,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise UsageError("nothing to change: write --title, --description, --status or --reviewer")
    _change(session, session.repository(uri), pull_id, changes)


def _change(
    session: CommandSession, repository: RepositoryUri, pull_id: str, changes: Mapping[str, object]
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
    if found.is_contained:
        pairs.append(("Contained", f"{found.destination_branch} has every commit of the source"))
    if found.reviewers:
        pairs.append(("Reviewers", ", ".join(found.reviewers)))
    pairs += [("Review", _words(review)) for review in found.reviews]
    yield from fields(pairs)
    if found.description:
        yield ""
        yield found.description
    for each in found.comments:
        yield ""
        about = f" on {each.path}" if each.path else ""
        yield f"Comment {each.id}: {each.author}, {_time(each.creation_date)}{about}"
        yield each.text


def _words(review: Review) -> str:
    verdict = review.verdict.replace("_", " ")
    past = "" if review.is_current else ", not the source's head now"
    return f"{review.user} {verdict}, {short_id(review.commit_id)}{past}"


def _time(moment: datetime) -> str:
    return local_time(int(moment.timestamp()))
