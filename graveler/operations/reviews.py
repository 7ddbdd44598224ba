"""Pull requests under review: beside their branches, with reviews and comments of users."""

from collections.abc import Callable

from msgspec import Struct

from graveler.addresses import decode_xid, oldest_first
from graveler.branches.lookup import in_repository, read_repository, same_branch
from graveler.branches.request_time import TimeLimit
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import InvalidInputError, NotFoundError, PreconditionFailedError
from graveler.limits import COMMENT_BYTES_MAX
from graveler.model import CommitID, Page, pulls
from graveler.model.pulls import (
    PullRequest,
    PullRequestComment,
    PullRequestStatus,
    Review,
    ReviewVerdict,
)
from graveler.names import check_path
from graveler.open_repository import OpenRepository
from graveler.operations.pulls import head_of_source, open_pull, pull_event, read_pull, replaced
from graveler.refs.merge_base import ahead_behind

# A pull request is shown without the answer if its branches are too far apart.
_CONTAINED_S = 1.0


class PullRequestView(Struct, frozen=True):
    """A pull request beside its branches.

    source_id: the head of its source, None if that was deleted.
    is_contained: whether it is open, and its destination has every commit of the source already;
        False as well if a request has no time to find out.
    """

    pull: PullRequest
    source_id: CommitID | None
    is_contained: bool


def view(engine: Engine, repository: str, pull_id: str) -> PullRequestView:
    """Return the pull request with what its branches are now.

    Raises:
        InvalidInputError: the repository's name or the ID is malformed.
        NotFoundError: the repository does not exist, or has no such pull request.
        CorruptDataError: a commit is missing.
    """

    def read(repo: OpenRepository) -> PullRequestView:
        pull = read_pull(repo, pull_id)
        source_id = _head(repo, pull.source, pull.source_uid)
        if pull.status is not PullRequestStatus.OPEN or source_id is None:
            return PullRequestView(pull, source_id, is_contained=False)
        head_id = _head(repo, pull.destination, pull.destination_uid)
        is_contained = head_id is not None and _is_contained(repo, head_id, source_id)
        return PullRequestView(pull, source_id, is_contained)

    return in_repository(engine, repository, read)


def _is_contained(repo: OpenRepository, head_id: CommitID, source_id: CommitID) -> bool:
    limit = TimeLimit(repo.engine, _CONTAINED_S)
    ahead, _, is_exact = ahead_behind(repo.history(), source_id, head_id, lambda: limit.is_over)
    return is_exact and ahead == 0


def _head(repo: OpenRepository, name: str, uid: str | None) -> CommitID | None:
    """Return the head of the branch of that identity, None if it was deleted."""
    try:
        return same_branch(name, repo.engine.refs.branch(repo.record, name), uid).commit_id
    except NotFoundError:
        return None


def review(
    engine: Engine,
    repository: str,
    pull_id: str,
    verdict: ReviewVerdict,
    commit_id: CommitID,
    user: str,
) -> PullRequest:
    """Store the user's verdict on the source's head, instead of an earlier one.

    commit_id: the head that the user saw.

    Raises:
        InvalidInputError: the repository's name or the ID is malformed, the pull request is not
            open, or it has too many reviews.
        NotFoundError: the repository, the pull request or the source branch does not exist.
        ForbiddenError: the user is the author.
        PreconditionFailedError: the source's head is another commit.
        ContentionError: others changed it in each try.
    """
    repo = read_repository(engine, repository)

    def attempt() -> PullRequest:
        pull = open_pull(repo, pull_id)
        source_id = head_of_source(repo, pull)
        if commit_id != source_id:
            raise PreconditionFailedError(
                f"{pull.source!r} is now commit {source_id}: look at it, and repeat"
            )
        given = Review(user, verdict, commit_id, engine.clock.now_ns())
        changed = pulls.reviewed(pull, given)
        about = {"verdict": verdict, "commit_id": commit_id}
        event = pull_event(repo, "pull_request_reviewed", pull, user, **about)
        return replaced(repo, pull, changed, event)

    return retry_stale(attempt, f"pull request {pull_id}")


def comment(
    engine: Engine, repository: str, pull_id: str, user: str, text: str, path: bytes | None = None
) -> PullRequestComment:
    """Store the user's comment on the pull request, whatever its status; return the comment.

    path: of the object that the comment is about, None if it is about the whole.

    Raises:
        InvalidInputError: the repository's name, the ID or the path is malformed, or the text is
            empty or too long.
        NotFoundError: the repository does not exist, or has no such pull request.
    """
    size_bytes = len(text.encode())
    if not text.strip() or size_bytes > COMMENT_BYTES_MAX:
        raise InvalidInputError(
            f"invalid comment of {size_bytes} bytes: write 1 to {COMMENT_BYTES_MAX} bytes of text"
        )
    if path is not None:
        check_path(path)
    repo = read_repository(engine, repository)
    pull = read_pull(repo, pull_id)
    now_ns = engine.clock.now_ns()
    comment_id = oldest_first(engine.names.new_uid(), now_ns)
    made = PullRequestComment(comment_id, user, now_ns, text, path or b"")
    about = {"comment_id": made.id, "text": text, "path": made.path.decode("utf-8", "replace")}
    event = pull_event(repo, "pull_request_commented", pull, user, **about)
    engine.refs.create_comment(repo.record, pull_id, made, event)
    return made


def comments(
    engine: Engine, repository: str, pull_id: str, after: str, amount: int
) -> Page[PullRequestComment]:
    """Return comments on the pull request, oldest first; after is an ID.

    Raises:
        InvalidInputError: the repository's name or the ID is malformed.
        NotFoundError: the repository does not exist, or has no such pull request.
    """
    repo = read_repository(engine, repository)
    read_pull(repo, pull_id)
    return engine.refs.comments(repo.record, pull_id, after, amount)


def delete_comment(
    engine: Engine,
    repository: str,
    pull_id: str,
    comment_id: str,
    check: Callable[[PullRequestComment], None],
) -> None:
    """Delete a comment on the pull request.

    check: called with the comment; may raise to keep it.

    Raises:
        InvalidInputError: the repository's name or an ID is malformed.
        NotFoundError: the repository does not exist, or has no such pull request or comment.
        GravelerError: whatever check raises.
    """
    repo = read_repository(engine, repository)
    read_pull(repo, pull_id)
    decode_xid(comment_id)
    found = engine.refs.comment(repo.record, pull_id, comment_id)
    if found is None:
        raise NotFoundError(f"pull request {pull_id} has no comment {comment_id!r}")
    check(found)
    engine.refs.delete_comment(repo.record, pull_id, comment_id)
