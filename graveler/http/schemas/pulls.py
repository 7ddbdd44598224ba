"""Pull requests."""

from msgspec import Struct, structs

from graveler.http.schemas.reviews import ReviewRow, review_row
from graveler.model.pulls import PullRequest, PullRequestStatus
from graveler.operations.reviews import PullRequestView
from graveler.times import rfc3339


class PullRequestCreation(Struct, frozen=True):
    title: str
    source_branch: str
    destination_branch: str
    description: str = ""
    reviewers: tuple[str, ...] = ()


class PullRequestCreated(Struct, frozen=True):
    id: str


class PullRequestUpdate(Struct, frozen=True):
    title: str | None = None
    description: str | None = None
    status: PullRequestStatus | None = None
    reviewers: tuple[str, ...] | None = None


class PullRequestRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pull request; times are RFC 3339, and only a closed or merged one has a closed date.

    reviewers, reviews and is_contained are not in lakeFS, and left out if empty or false.
    is_contained is whether the destination has every commit of the source already.
    """

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
    reviewers: tuple[str, ...] = ()
    reviews: tuple[ReviewRow, ...] = ()
    is_contained: bool = False


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
        reviewers=pull.reviewers,
        reviews=tuple(map(review_row, pull.reviews)),
    )


def pull_request_view_row(view: PullRequestView) -> PullRequestRow:
    """Return the row with what the branches tell of it."""
    reviews = tuple(
        structs.replace(review_row(each), is_current=each.commit_id == view.source_id)
        for each in view.pull.reviews
    )
    row = pull_request_row(view.pull)
    return structs.replace(row, reviews=reviews, is_contained=view.is_contained)
