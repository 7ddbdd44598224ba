"""Pull requests: the record of one, and its transitions.

    open ◄──────► closed
     └──► merged

A pull request becomes merged in the transaction that moves its destination branch. So it is merged
if and only if the branch got the merge commit that it names. No update of a user can make it
merged, and a merged one stays merged.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from graveler.messages import Refusal
from graveler.model import NO_COMMIT, CommitID, Event


class PullRequestStatus(StrEnum):
    """The states of a pull request, as the API shows them."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A request to merge the source branch into the destination branch.

    closed_time_ns: when it was closed or merged; None while it is open.
    merged_commit_id: the merge commit, NO_COMMIT unless it is merged.
    source_uid, destination_uid: the branches that it is for; None if an earlier version stored it.
        Then any branches of those names count.
    """

    id: str
    author: str
    creation_time_ns: int
    source: str
    destination: str
    title: str
    description: str = ""
    status: PullRequestStatus = PullRequestStatus.OPEN
    closed_time_ns: int | None = None
    merged_commit_id: CommitID = NO_COMMIT
    version: int = 1
    source_uid: str | None = None
    destination_uid: str | None = None


@dataclass(frozen=True, slots=True)
class PullRequestUpdate:
    """What a user changes of a pull request; None leaves a field as it is."""

    title: str | None = None
    description: str | None = None
    status: PullRequestStatus | None = None


@dataclass(frozen=True, slots=True)
class PullRequestMerge:
    """The merge of a pull request, to be stored in one transaction with the merge commit."""

    old: PullRequest
    new: PullRequest
    event: Event


def updated(pull: PullRequest, update: PullRequestUpdate, now_ns: int) -> PullRequest:
    """Return the pull request after a user's update.

    Raises:
        InvalidInputError: it is merged and would get another status, or would become merged.
    """
    status = pull.status if update.status is None else update.status
    closed_time_ns = pull.closed_time_ns
    if status is not pull.status:
        if PullRequestStatus.MERGED in (status, pull.status):
            raise Refusal.BAD_PULL_REQUEST_STATUS.error(
                f"pull request {pull.id} is {pull.status} and cannot become {status}: "
                "only its merge makes a pull request merged, for good"
            )
        closed_time_ns = now_ns if status is PullRequestStatus.CLOSED else None
    return replace(
        pull,
        title=pull.title if update.title is None else update.title,
        description=pull.description if update.description is None else update.description,
        status=status,
        closed_time_ns=closed_time_ns,
    )


def merged(pull: PullRequest, commit_id: CommitID, now_ns: int) -> PullRequest:
    """Return the open pull request as merged by the commit."""
    return replace(
        pull,
        status=PullRequestStatus.MERGED,
        closed_time_ns=now_ns,
        merged_commit_id=commit_id,
    )


def require_open(pull: PullRequest) -> None:
    """Check that the pull request can be merged.

    Raises:
        InvalidInputError: it is closed or merged.
    """
    if pull.status is not PullRequestStatus.OPEN:
        by = f" by commit {pull.merged_commit_id}" if pull.merged_commit_id else ""
        raise Refusal.PULL_REQUEST_NOT_OPEN.error(
            f"pull request {pull.id} is {pull.status}{by}: only an open one can be merged"
        )
