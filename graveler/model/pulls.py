"""Pull requests: the record of one, and its transitions.

    open ◄──────► closed
     └──► merged

A pull request becomes merged in the transaction that moves its destination branch. So it is merged
if and only if the branch got the merge commit that it names. No update of a user can make it
merged, and a merged one stays merged.

A review is about one commit of the source. So a new commit there leaves all earlier reviews behind.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from graveler.errors import ForbiddenError
from graveler.messages import Refusal
from graveler.model import NO_COMMIT, CommitID, Event


class PullRequestStatus(StrEnum):
    """The states of a pull request, as the API shows them."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class ReviewVerdict(StrEnum):
    """What a reviewer says about a commit."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"


class Review(Struct, frozen=True):
    """A user's last verdict on a pull request, about one commit of its source."""

    user: str
    verdict: ReviewVerdict
    commit_id: CommitID
    time_ns: int


class PullRequest(Struct, frozen=True):
    """A request to merge the source branch into the destination branch.

    closed_time_ns: when it was closed or merged; None while it is open.
    merged_commit_id: the merge commit, NO_COMMIT unless it is merged.
    source_uid, destination_uid: the branches that it is for; None if an earlier version stored it.
        Then any branches of those names count.
    reviewers: the users who are asked to review it; others may as well.
    reviews: one of each user who reviewed it, the oldest first.
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
    reviewers: tuple[str, ...] = ()
    reviews: tuple[Review, ...] = ()


class PullRequestComment(Struct, frozen=True):
    """A text about a pull request, or about the object at a path of it; b"" if about none.

    id: an xid; later comments have greater ones.
    """

    id: str
    author: str
    creation_time_ns: int
    text: str
    path: bytes = b""


class PullRequestUpdate(Struct, frozen=True):
    """What a user changes of a pull request; None leaves a field as it is."""

    title: str | None = None
    description: str | None = None
    status: PullRequestStatus | None = None
    reviewers: tuple[str, ...] | None = None


class PullRequestMerge(Struct, frozen=True):
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
        reviewers=pull.reviewers if update.reviewers is None else update.reviewers,
    )


def reviewed(pull: PullRequest, review: Review) -> PullRequest:
    """Return the open pull request with the review instead of its user's earlier one.

    A repeated verdict on the same commit changes nothing.

    Raises:
        InvalidInputError: it is closed or merged.
        ForbiddenError: the user is the author.
    """
    require_open(pull)
    if review.user == pull.author:
        raise ForbiddenError(
            f"{review.user!r} is the author of pull request {pull.id}: another user must review it"
        )
    for each in pull.reviews:
        if each == replace(review, time_ns=each.time_ns):
            return pull
    others = (each for each in pull.reviews if each.user != review.user)
    return replace(pull, reviews=(*others, review))


def check_approved(pull: PullRequest, commit_id: CommitID, required: int) -> None:
    """Check that enough users approve of exactly this commit, and none asks for changes of it.

    Raises:
        ForbiddenError: approvals are missing, or changes are requested.
    """
    if required == 0:
        return
    verdicts = {
        each.user: each.verdict
        for each in pull.reviews
        if each.commit_id == commit_id and each.user != pull.author
    }
    objectors = [
        user for user, verdict in verdicts.items() if verdict is not ReviewVerdict.APPROVED
    ]
    missing = required - (len(verdicts) - len(objectors))
    if objectors:
        raise ForbiddenError(
            f"{objectors[0]!r} requests changes of commit {commit_id}: "
            "change the source, or ask for another review"
        )
    if missing > 0:
        raise ForbiddenError(
            f"{missing} of {required} required approvals are missing for commit {commit_id} "
            f"of branch {pull.source!r}: ask for reviews"
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
    """Check that the pull request can be reviewed and merged.

    Raises:
        InvalidInputError: it is closed or merged.
    """
    if pull.status is not PullRequestStatus.OPEN:
        by = f" by commit {pull.merged_commit_id}" if pull.merged_commit_id else ""
        raise Refusal.PULL_REQUEST_NOT_OPEN.error(
            f"pull request {pull.id} is {pull.status}{by}: "
            "only an open one can be reviewed or merged"
        )
