"""Pull requests: create, show, list, update and merge them.

A merge moves the destination branch and records itself in one transaction. So whichever process
crashes, the pull request is merged if and only if its merge commit became the branch's head. Of two
merges at the same time, one finds the pull request changed, reads it again, and is refused.

The same holds for approvals. A review changes the pull request, so a merge that has not seen it
reads the reviews again.
"""

from dataclasses import dataclass
from functools import partial

import msgspec
from msgspec.structs import replace

from graveler.addresses import decode_xid, newest_first
from graveler.branches.changes import apply_at_once
from graveler.branches.lookup import (
    check_writable,
    in_repository,
    read_branch,
    read_repository,
    reread_repository,
    same_branch,
)
from graveler.branches.protection import check_approved
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.limits import (
    PULL_REQUEST_BYTES_MAX,
    PULL_REQUEST_RECORD_BYTES_MAX,
    REVIEWERS_MAX,
)
from graveler.messages import Refusal, within
from graveler.model import Commit, CommitID, Event, Page, pulls
from graveler.model.pulls import (
    PullRequest,
    PullRequestMerge,
    PullRequestStatus,
    PullRequestUpdate,
    require_open,
)
from graveler.model.tasks import Task, TaskKind, TaskState
from graveler.names import is_branch_name
from graveler.open_repository import OpenRepository
from graveler.operations.accounts.users import check_name
from graveler.operations.hooks.before import task_gate
from graveler.operations.merges import (
    Closing,
    MergeOf,
    MergeRequest,
    check_merge,
    gate_before_merge,
    merge_commit,
    require_source,
)
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requested_work import CommittingWork, WorkLimit
from graveler.operations.tasks.slices import apply_by_slices
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time


class NewPullRequest(msgspec.Struct, frozen=True):
    """The fields of a new pull request, and its author."""

    author: str
    source: str
    destination: str
    title: str
    description: str = ""
    reviewers: tuple[str, ...] = ()


_ANOTHER_PULL = "create a pull request for that branch"

# The pull requests of a listing, by the name that clients give. As in lakeFS, merged ones are
# closed.
LISTED: dict[str, frozenset[PullRequestStatus]] = {
    "open": frozenset({PullRequestStatus.OPEN}),
    "closed": frozenset({PullRequestStatus.CLOSED, PullRequestStatus.MERGED}),
    "merged": frozenset({PullRequestStatus.MERGED}),
    "all": frozenset(PullRequestStatus),
}


def create(engine: Engine, repository: str, asked: NewPullRequest) -> PullRequest:
    """Store a new pull request, and return it.

    Raises:
        InvalidInputError: a name is malformed, the two branches are one, the texts are too long, or
            there are too many reviewers.
        NotFoundError: the repository or a branch does not exist.
    """
    if not is_branch_name(asked.destination):
        raise Refusal.BAD_DESTINATION_BRANCH_NAME.error(repr(asked.destination))
    if not is_branch_name(asked.source):
        raise Refusal.BAD_SOURCE_BRANCH_NAME.error(repr(asked.source))
    if asked.source == asked.destination:
        raise Refusal.SAME_BRANCH.error(repr(asked.source))
    repo = read_repository(engine, repository)
    source, destination = (read_branch(repo, name) for name in (asked.source, asked.destination))
    pull = PullRequest(
        id=newest_first(engine.names.new_uid()),
        author=asked.author,
        creation_time_ns=engine.clock.now_ns(),
        source=asked.source,
        destination=asked.destination,
        title=asked.title,
        description=asked.description,
        source_uid=source.uid,
        destination_uid=destination.uid,
        reviewers=_reviewers(asked.reviewers),
    )
    _check_size(pull)
    event = pull_event(repo, "pull_request_created", pull, asked.author)
    engine.refs.create_pull_request(repo.record, pull, event)
    return pull


def get(engine: Engine, repository: str, pull_id: str) -> PullRequest:
    """Return the pull request.

    Raises:
        InvalidInputError: the repository's name or the ID is malformed.
        NotFoundError: the repository does not exist, or has no such pull request.
    """
    return in_repository(engine, repository, lambda repo: read_pull(repo, pull_id))


def list_page(
    engine: Engine,
    repository: str,
    prefix: str,
    after: str,
    amount: int,
    status: str = "all",
    reviewer: str = "",
) -> Page[PullRequest]:
    """Return pull requests of a status of LISTED, newest first.

    reviewer: a user who is asked to review them, "" if any or none is.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    wanted = LISTED[status]
    repo = read_repository(engine, repository)
    return engine.refs.pull_requests(
        repo.record,
        prefix,
        after,
        amount,
        lambda pull: pull.status in wanted and (not reviewer or reviewer in pull.reviewers),
    )


def update(
    engine: Engine, repository: str, pull_id: str, changes: PullRequestUpdate, user: str
) -> PullRequest:
    """Change title, description, status or reviewers of the pull request; return it.

    Raises:
        InvalidInputError: the repository's name, the ID or a reviewer's name is malformed, the
            texts are too long, there are too many reviewers, or the status cannot change so.
        NotFoundError: the repository does not exist, or has no such pull request.
        ContentionError: others changed it in each try.
    """
    if changes.reviewers is not None:
        changes = replace(changes, reviewers=_reviewers(changes.reviewers))
    repo = read_repository(engine, repository)

    def attempt() -> PullRequest:
        pull = read_pull(repo, pull_id)
        changed = pulls.updated(pull, changes, engine.clock.now_ns())
        return replaced(
            repo, pull, changed, pull_event(repo, "pull_request_updated", changed, user)
        )

    return retry_stale(attempt, f"pull request {pull_id}")


def replaced(
    repo: OpenRepository, pull: PullRequest, changed: PullRequest, event: Event
) -> PullRequest:
    """Store a change of the pull request with its event; return it as it is stored.

    Raises:
        InvalidInputError: it would be too large.
        StaleVersionError: another writer changed it.
    """
    if changed == pull:
        return pull  # a repeated request, mostly
    _check_size(changed)
    return repo.engine.refs.replace_pull_request(repo.record, pull, changed, event)


def merge(
    engine: Engine,
    repository: str,
    pull_id: str,
    request: MergeRequest,
    wait: ClientWait = FIRST_REQUEST,
) -> Commit:
    """Merge the pull request's source branch into its destination; return the merge commit.

    A large merge is left to a task, which this waits for, and which a repeated request joins.

    Raises:
        InvalidInputError: the pull request is not open; or as a merge of the branches.
        ForbiddenError: the destination requires approvals of the source's head, which are missing.
        NotFoundError: the repository, the pull request or a branch does not exist.
        GravelerError: the others that `merges.merge` raises.
    """
    check_merge(request)
    repo = read_repository(engine, repository)
    pull = read_pull(repo, pull_id)
    work = _MergingPull(
        repo=repo,
        user=request.committer,
        branch=engine.refs.branch(repo.record, pull.destination),
        request=msgspec.to_builtins(_MergeOfPull(pull_id, request)),
        pull=pull,
        asked=MergeOf(pull.source, request),
    )
    return result_in_time(work, wait)


class _MergeOfPull(msgspec.Struct, frozen=True):
    """The input of the task."""

    pull_request_id: str
    request: MergeRequest


@dataclass(kw_only=True)
class _MergingPull(CommittingWork):
    kind: TaskKind = TaskKind.MERGE_PULL_REQUEST
    pull: PullRequest
    asked: MergeOf

    def at_once(self, limit: WorkLimit) -> Commit:
        repo, pull = self.repo, self.pull
        found = open_pull(repo, pull.id)  # before the branches: they may be deleted
        current = same_branch(pull.destination, self.branch, pull.destination_uid, _ANOTHER_PULL)
        check_writable(repo.record, force=self.asked.request.force)
        self.covers = source_id = head_of_source(repo, pull)
        require_source(self.asked, source_id)
        check_approved(repo.record, found, source_id)  # before a task for it
        apply = apply_at_once(limit.over)
        closing = _closing(repo, pull.id, source_id, self.user)
        gate = gate_before_merge(repo, source_id, pull.destination, limit)
        over = limit.over
        return merge_commit(gate, current, self.asked, source_id, apply, over, closing=closing)

    def is_covered(self, task: Task) -> bool:
        # A pull request is merged once, and its source may be deleted then. A failure counts for
        # the same source only: a conflict may have been resolved since.
        if task.state is not TaskState.FAILED:
            return True
        required_id = self.asked.request.source_commit_id
        return task.covers == (required_id or head_of_source(self.repo, self.pull))


def run_merge(hold: Hold) -> None:
    """Do the work of the task that merges a pull request, and end it with the merge commit.

    Raises:
        GravelerError: as merge.
        StoppedError: this runner must not continue.
    """
    stored = msgspec.convert(hold.task.request, _MergeOfPull)
    repo, current = hold.current_branch()
    pull = open_pull(repo, stored.pull_request_id)
    source_id = CommitID(hold.task.covers)
    asked, apply = MergeOf(pull.source, stored.request), apply_by_slices(hold)
    gate = task_gate(hold, repo)
    closing = _closing(repo, pull.id, source_id, hold.task.user)
    merge_commit(gate, current, asked, source_id, apply, hold.reporting, hold, closing)


def head_of_source(repo: OpenRepository, pull: PullRequest) -> CommitID:
    """Return the head of the source branch; a tag of its name does not count.

    Raises:
        NotFoundError: the branch was deleted; another one of its name does not count.
    """
    source = repo.engine.refs.branch(repo.record, pull.source)
    with within(f"update branch {pull.destination}: get commit by ref {pull.source}"):
        if source is None:
            raise Refusal.NOT_FOUND.error(f"branch {pull.source!r} was deleted")
        return same_branch(pull.source, source, pull.source_uid, _ANOTHER_PULL).commit_id


def _closing(repo: OpenRepository, pull_id: str, source_id: CommitID, user: str) -> Closing:
    """Return the closing of the pull request for `merge_commit`, if the source's commit may merge.

    The rules of protection are read again when the merge is made, which may take hours. The
    transaction refuses a pull request that changed since, with its reviews.
    """

    def closed_by(pull: PullRequest, commit: Commit) -> PullRequestMerge:
        check_approved(reread_repository(repo).record, pull, source_id)
        merged = pulls.merged(pull, commit.id, repo.engine.clock.now_ns())
        event = pull_event(repo, "pull_request_merged", merged, user, commit_id=commit.id)
        return PullRequestMerge(pull, merged, event)

    return lambda: partial(closed_by, open_pull(repo, pull_id))


def open_pull(repo: OpenRepository, pull_id: str) -> PullRequest:
    """Return the pull request if it is open.

    Raises:
        InvalidInputError: the ID is malformed, or the pull request is not open.
        NotFoundError: there is none.
    """
    pull = read_pull(repo, pull_id)
    require_open(pull)
    return pull


def _reviewers(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, each once.

    Raises:
        InvalidInputError: one is malformed, or there are too many.
    """
    if len(names) > REVIEWERS_MAX:
        raise InvalidInputError(f"a pull request has at most {REVIEWERS_MAX} reviewers")
    for name in names:
        check_name("User", name)
    return tuple(dict.fromkeys(names))


def read_pull(repo: OpenRepository, pull_id: str) -> PullRequest:
    """Return the pull request.

    Raises:
        InvalidInputError: the ID is malformed.
        NotFoundError: there is none.
    """
    try:
        decode_xid(pull_id)
    except InvalidInputError as error:
        raise Refusal.BAD_PULL_REQUEST_ID.error(repr(pull_id)) from error
    pull = repo.engine.refs.pull_request(repo.record, pull_id)
    if pull is None:
        raise Refusal.PULL_REQUEST_NOT_FOUND.error(repr(pull_id))
    return pull


def _check_size(pull: PullRequest) -> None:
    size_bytes = len(pull.title.encode()) + len(pull.description.encode())
    if size_bytes > PULL_REQUEST_BYTES_MAX:
        raise InvalidInputError(
            f"title and description of {size_bytes} bytes are too large: "
            f"shorten them to {PULL_REQUEST_BYTES_MAX} bytes"
        )
    if len(msgspec.json.encode(pull)) > PULL_REQUEST_RECORD_BYTES_MAX:
        raise InvalidInputError(
            f"pull request {pull.id} has no room for more reviewers and reviews: create another one"
        )


def pull_event(
    repo: OpenRepository, kind: str, pull: PullRequest, user: str, **more: object
) -> Event:
    """Return the event of a change that the user made, with more fields than all kinds have."""
    return repo.event(
        kind,
        pull_request_id=pull.id,
        source_branch=pull.source,
        destination_branch=pull.destination,
        title=pull.title,
        author=pull.author,
        status=pull.status,
        reviewers=pull.reviewers,
        user=user,
        **more,
    )
