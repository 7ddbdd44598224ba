"""Bodies of answers about pull requests; complements `responses`."""

from msgspec import Struct

from graveler.model.pulls import PullRequest
from graveler.times import rfc3339


class PullRequestCreated(Struct, frozen=True):
    id: str


class PullRequestRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pull request; times are RFC 3339, and only a closed or merged one has a closed date."""

    id: str
    status: str
    title: str
    description: str
    author: str
    creation_date: str
    source_branch: str
    destination_branch: str
    merged_commit_id: str | None = None
    closed_date: str | None = None


def pull_request_row(pull: PullRequest, *, with_description: bool = True) -> PullRequestRow:
    """Return the row; without its description, the field is empty, because the SDK requires it."""
    return PullRequestRow(
        id=pull.id,
        status=pull.status,
        title=pull.title,
        description=pull.description if with_description else "",
        author=pull.author,
        creation_date=rfc3339(pull.creation_time_ns),
        source_branch=pull.source,
        destination_branch=pull.destination,
        merged_commit_id=pull.merged_commit_id or None,
        closed_date=None if pull.closed_time_ns is None else rfc3339(pull.closed_time_ns),
    )
