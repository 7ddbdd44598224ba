"""Moving a branch's head: the steps that commit, merge, revert, cherry-pick and reset share.

Theory of operation. A move ends in one transaction that changes commit, head, sealed tokens and
outbox together. Its condition is that no other writer moved the head since it was read. The loser
reads the branch again and plans its move again. A crash before the transaction loses nothing. No
commit names the new files in the object store, and sealed tokens stay readable until the next
commit.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from graveler.branches.compaction import compact
from graveler.branches.lookup import reread_branch
from graveler.branches.retries import contention, retry_stale
from graveler.branches.views import view_of_branch
from graveler.branches.watching import Watching, unwatched
from graveler.engine import Engine
from graveler.errors import (
    InvalidInputError,
    PreconditionFailedError,
    StaleTaskError,
    StaleVersionError,
)
from graveler.identity import make_commit
from graveler.limits import BRANCH_UPDATE_TRIES_MAX, COMMIT_BYTES_MAX, SEALED_REPLACED_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Change, Commit, CommitID, Event, MetaRangeID, StagingToken
from graveler.model.pulls import PullRequestMerge
from graveler.model.tasks import TaskEnd, TaskStart
from graveler.open_repository import OpenRepository
from graveler.staging.overlay import effective_changes


class Move(Struct, frozen=True):
    """A planned change of a branch's head.

    branch: the version of the branch that the move was planned on.
    commit_id: the new head.
    applied_tokens: tokens to take off the branch, the oldest of its sealed ones.
    commit: the commit to store, if it is new.
    new_staging_token: replaces the staging token; a reset drops the old one's changes.
    restored: the new head's values at the paths of restored entries.
    is_clean: nothing was staged; the move fails if a conditional change was staged since.
    merges: the pull request that the new commit merges.
    starts: a task that follows from the move, stored in the same transaction.
    """

    branch: Branch
    commit_id: CommitID
    applied_tokens: tuple[StagingToken, ...]
    commit: Commit | None = None
    event: Event | None = None
    new_staging_token: StagingToken | None = None
    restored: Sequence[Change] = ()
    is_clean: bool = False
    merges: PullRequestMerge | None = None
    starts: TaskStart | None = None


class Ending(Protocol):
    """A task that a new commit ends: both are stored in one transaction."""

    def end_with(self, commit: Commit) -> TaskEnd:
        """Return the end of the task whose result is the commit."""

    def read_again(self) -> None:
        """Read the task again, which another writer changed; raise if this runner must stop."""


def move_head(
    repo: OpenRepository,
    branch: Branch,
    plan: Callable[[Branch], Move],
    ending: Ending | None = None,
) -> Move:
    """Plan against the current head and move it; plan again if another writer moved it.

    The first try plans against branch, later ones against a fresh read. `plan` takes a version of
    the branch and returns a move for it; move_head returns the move that was made. A new commit
    ends the task of ending.

    Raises:
        ContentionError: other writers moved the head in each try.
        NotFoundError: the branch was deleted.
        GravelerError: whatever plan raises.
    """
    current = branch

    def attempt() -> Move:
        nonlocal current
        try:
            move = plan(current)
            _make(repo, move, ending if move.commit is not None else None)
        except StaleVersionError:
            current = reread_branch(repo, branch)
            raise
        return move

    made = retry_stale(attempt, f"branch {branch.name!r}")
    if made.commit is not None:
        repo.history().keep(made.commit)
    return made


def _make(repo: OpenRepository, move: Move, ending: Ending | None) -> None:
    """Make the move; only a change of the branch makes it stale, a change of the task does not.

    Raises:
        StaleVersionError: another writer moved the head.
        NotFoundError: the branch was deleted.
        ContentionError: the task changed in each try.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        try:
            repo.engine.refs.move_branch(
                repo.record,
                move.branch,
                commit=move.commit,
                commit_id=move.commit_id,
                applied_tokens=move.applied_tokens,
                new_staging_token=move.new_staging_token,
                event=move.event,
                drop_after_ns=repo.engine.drop_after_ns(),
                restored=move.restored,
                is_clean=move.is_clean,
                ends=ending.end_with(move.commit) if ending and move.commit else None,
                merges=move.merges,
                starts=move.starts,
            )
        except StaleTaskError:
            assert ending is not None
            ending.read_again()
        except StaleVersionError:
            if ending is not None:
                ending.read_again()  # the work begins again, and with it the beats of the task
            raise
        else:
            return
    raise contention("the task")


def made_commit(move: Move) -> Commit:
    """Return the commit of a move that always makes one."""
    assert move.commit is not None
    return move.commit


def seal(repo: OpenRepository, branch: Branch, watching: Watching = unwatched) -> Branch:
    """Seal the changes that were staged before this call; return the branch as it is then.

    Readers look into each sealed token. So an empty token is not sealed over others: otherwise each
    failed commit would add one. Many sealed tokens are merged first, under watching.

    Raises:
        ContentionError: the branch changed in each try to merge tokens.
        NotFoundError: the branch was deleted.
        Exception: whatever watching raises.
    """
    if branch.sealed_tokens and not has_staged(repo.engine, branch.staging_token):
        return branch
    return replace_token(repo, branch, repo.engine.sealed_tokens_max, watching)


def seal_restored(repo: OpenRepository, branch: Branch, watching: Watching = unwatched) -> Branch:
    """Seal restored entries; return the branch with none under its staging token.

    Restored entries cover changes of sealed tokens, so a commit must apply both or neither.

    Raises:
        ContentionError: changes were restored in each try, or the branch changed in each.
        NotFoundError, Exception: as `seal`.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        if not branch.has_restored:
            return branch
        branch = replace_token(repo, branch, repo.engine.sealed_tokens_max, watching)
    raise contention(f"branch {branch.name!r}")


def replace_token(
    repo: OpenRepository,
    branch: Branch,
    sealed_max: int = SEALED_REPLACED_MAX,
    watching: Watching = unwatched,
) -> Branch:
    """Seal the branch's staging token unless another process did; return the branch with a new one.

    Sealed tokens are merged first, until there are fewer than sealed_max, under watching.

    Any process that finds the token closed may call this. The process that closed it is about to
    replace it, or has crashed.

    Raises:
        ContentionError: the branch changed in each try to merge tokens.
        NotFoundError: the branch was deleted.
        Exception: whatever watching raises.
    """
    branch = _with_room(repo, branch, sealed_max, watching)
    # Close first, so that the content is final before a reader can see the token as sealed.
    token = close(repo, branch)
    try:
        sealed = repo.engine.refs.seal_token(repo.record, branch, token)
    except StaleVersionError:  # another process sealed it, and may have committed it
        return reread_branch(repo, branch)
    repo.remember(sealed)
    return sealed


def close(repo: OpenRepository, branch: Branch) -> StagingToken:
    """Close the branch's staging token; return the token that may follow."""
    engine, closed = repo.engine, branch.staging_token
    # Ask first: while a slow answer is awaited, writers go on.
    spread = engine.staging.next_spread(closed)
    engine.staging.close(closed)
    return engine.names.new_staging_token(repo.record, branch.name, spread)


def _with_room(repo: OpenRepository, branch: Branch, sealed_max: int, watching: Watching) -> Branch:
    """Merge sealed tokens of the branch until it has fewer than sealed_max; return the branch."""
    passed = stale = 0
    while not has_room(branch, sealed_max):
        try:
            compact(repo, branch, passed, sealed_max, watching)
        except StaleVersionError:
            stale += 1
            if stale == BRANCH_UPDATE_TRIES_MAX:
                raise contention(f"branch {branch.name!r}") from None
        else:
            passed += 1
        branch = reread_branch(repo, branch)
    return branch


def has_room(branch: Branch, sealed_max: int) -> bool:
    """Whether one more token may be sealed: the branch has fewer than sealed_max."""
    return len(branch.sealed_tokens) < sealed_max


def newest_sealed(branch: Branch) -> str:
    """Return the branch's newest sealed token, "" if it has none."""
    return branch.sealed_tokens[0] if branch.sealed_tokens else ""


def has_staged(engine: Engine, token: StagingToken) -> bool:
    """Whether the staging token holds anything."""
    return next(engine.staging.scan(token, b"", None), None) is not None


def require_head(branch: Branch, if_match: Container[str] | None) -> None:
    """Check that the branch's head is one of these commits, if any are given.

    Raises:
        PreconditionFailedError: it is another one.
    """
    if if_match is not None and branch.commit_id not in if_match:
        raise PreconditionFailedError(
            f"the head of branch {branch.name!r} is now {branch.commit_id}: look at it, and repeat"
        )


def require_clean(
    repo: OpenRepository,
    branch: Branch,
    is_dirty: Callable[[Branch], bool] | None = None,
    refusal: Refusal = Refusal.DIRTY_BRANCH,
) -> Branch:
    """Return the branch if none of its staged changes alters its head's content.

    is_dirty says whether the branch's staging token holds anything; by default, it is read.

    Staged entries without effect (a tombstone over nothing) could have one over another head. So
    they are sealed, and the move takes them off. A write that arrives after this check takes effect
    after the move. If it is a conditional change, the move fails (`edits`).

    Raises:
        InvalidInputError: there are uncommitted changes.
        ContentionError: other writers staged and sealed entries in each try.
        NotFoundError: the branch was deleted.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        is_staged = is_dirty(branch) if is_dirty else has_staged(repo.engine, branch.staging_token)
        if is_staged or branch.sealed_tokens:
            view = view_of_branch(repo, branch)
            if any(effective_changes(view.changes(), view.committed)):
                raise refusal.error(f"commit or reset the changes on branch {branch.name!r} first")
        if not is_staged:
            return branch
        if not has_room(branch, repo.engine.sealed_tokens_max):
            # The tokens change nothing: take them off instead of merging them.
            with suppress(StaleVersionError):
                move = Move(branch, branch.commit_id, branch.sealed_tokens)
                _make(repo, move, None)
            branch = reread_branch(repo, branch)
            continue
        branch = seal(repo, branch)
    raise contention(f"branch {branch.name!r}")


def new_commit(
    engine: Engine,
    *,
    committer: str,
    message: str,
    metarange_id: MetaRangeID,
    metadata: Mapping[str, str],
    parents: tuple[Commit, ...],
    generation: int | None = None,
    date_s: int | None = None,
) -> Commit:
    """Return a new commit with the next generation above its parents, dated now if date_s is None.

    Raises:
        InvalidInputError: message and metadata are too large.
    """
    check_commit_size(message, metadata)
    return make_commit(
        committer=committer,
        message=message,
        metarange_id=metarange_id,
        creation_date=engine.now_s() if date_s is None else date_s,
        metadata=metadata,
        parents=[parent.id for parent in parents],
        generation=generation or 1 + max(parent.generation for parent in parents),
    )


def check_commit_size(message: str, metadata: Mapping[str, str], *more: str) -> None:
    """Check that message, metadata and more texts fit into one stored commit.

    Raises:
        InvalidInputError: they are too large.
    """
    texts = (message, *metadata, *metadata.values(), *more)
    size_bytes = sum(len(text.encode()) for text in texts)
    if size_bytes > COMMIT_BYTES_MAX:
        raise InvalidInputError(
            f"message and metadata are too large for a commit: it would hold {size_bytes} bytes "
            f"of text, shorten them to {COMMIT_BYTES_MAX}"
        )


def commit_event(
    repo: OpenRepository, kind: str, branch: str, commit: Commit, **more: str
) -> Event:
    """Return the event that describes a new commit on a branch; more adds fields."""
    return repo.event(
        kind,
        branch=branch,
        commit_id=commit.id,
        committer=commit.committer,
        message=commit.message,
        metadata=commit.metadata,
        parents=commit.parents,
        metarange_id=commit.metarange_id,
        **more,
    )
