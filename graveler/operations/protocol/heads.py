"""Moving a branch's head: the part that commit, merge, revert, cherry-pick and reset share.

Theory of operation. Whatever moves a head ends in one transaction that changes commit, head,
sealed tokens and outbox together, on condition that nobody else has moved the head since it was
read. Whoever loses reads the branch again and works the move out again. A crash before the
transaction loses nothing: what was written to the object store has no name yet, and sealed tokens
stay readable and belong to the next commit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graveler.errors import ContentionError, InvalidInputError, StaleVersionError
from graveler.identity import make_commit
from graveler.limits import BRANCH_UPDATE_TRIES_MAX, COMMIT_BYTES_MAX, TOKEN_RETENTION_S
from graveler.messages import Refusal
from graveler.model import Branch, Change, Commit, Event, Repository
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import branch_not_found
from graveler.operations.protocol.views import view_of_branch
from graveler.staging.overlay import effective_changes
from graveler.times import NS_PER_S


@dataclass(frozen=True, slots=True)
class Move:
    """Where a head goes: a commit to store (or none), and the tokens whose changes it holds.

    branch is what the move was worked out from; applied_tokens are the oldest of its sealed ones.
    restored are what the new head says of the paths whose staged changes were taken back. is_clean:
    nothing was staged, and nothing may be that depends on what readers see under the old head.
    """

    branch: Branch
    commit_id: str
    applied_tokens: tuple[str, ...]
    commit: Commit | None = None
    event: Event | None = None
    new_staging_token: str | None = None
    restored: Sequence[Change] = ()
    is_clean: bool = False


def drop_after_ns(engine: Engine) -> int:
    """When tokens that are taken off a branch now can be dropped."""
    return engine.clock.now_ns() + TOKEN_RETENTION_S * NS_PER_S


def move_head(
    engine: Engine, repository: Repository, branch: Branch, plan: Callable[[Branch], Move]
) -> Move:
    """Move the branch as plan says of the branch as it stands; the move that was made.

    Raises:
        ContentionError: others moved it every time.
        NotFoundError: the branch is gone.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        move = plan(branch)
        try:
            engine.refs.move_branch(
                repository,
                move.branch,
                commit=move.commit,
                commit_id=move.commit_id,
                applied_tokens=move.applied_tokens,
                new_staging_token=move.new_staging_token,
                event=move.event,
                drop_after_ns=drop_after_ns(engine),
                restored=move.restored,
                is_clean=move.is_clean,
            )
        except StaleVersionError:
            branch = read_branch(engine, repository, branch.name)
        else:
            if move.commit is not None:
                engine.history(repository).keep(move.commit)
            return move
    raise ContentionError(f"branch {branch.name!r} has too many concurrent updates: retry")


def read_branch(engine: Engine, repository: Repository, name: str) -> Branch:
    """The branch as it stands.

    Raises:
        NotFoundError: it is gone.
    """
    branch = engine.refs.branch(repository, name)
    if branch is None:
        raise branch_not_found(name)
    engine.remember(repository, branch)
    return branch


def seal(engine: Engine, repository: Repository, branch: Branch) -> Branch:
    """Return the branch with everything that was staged before this call in sealed tokens.

    Readers look into every sealed token. An empty token is not sealed over others, so that
    commits that fail again and again do not add one each.
    """
    if branch.sealed_tokens and not _has_staged(engine, branch):
        return branch
    return seal_restored(engine, repository, replace_token(engine, repository, branch))


def seal_restored(engine: Engine, repository: Repository, branch: Branch) -> Branch:
    """Return the branch with nothing that was taken back under its staging token.

    What was taken back covers changes of sealed tokens, so a commit must apply both or neither.

    Raises:
        ContentionError: changes were taken back every time.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        if not branch.has_restored:
            return branch
        branch = replace_token(engine, repository, branch)
    raise ContentionError(f"branch {branch.name!r} has too many concurrent updates: retry")


def replace_token(engine: Engine, repository: Repository, branch: Branch) -> Branch:
    """Seal the branch's staging token, or let another do it; return the branch with a new one.

    Whoever finds a branch whose token is closed may call this: the process that closed it is
    about to do the same, or has crashed.
    """
    # Closed first, so its content is final as soon as anybody reads it as sealed.
    engine.staging.close(branch.staging_token)
    token = engine.names.new_staging_token(repository, branch.name)
    try:
        sealed = engine.refs.seal_token(repository, branch, token)
    except StaleVersionError:  # another has sealed it, or even committed it
        return read_branch(engine, repository, branch.name)
    engine.remember(repository, sealed)
    return sealed


def _has_staged(engine: Engine, branch: Branch) -> bool:
    return next(engine.staging.scan(branch.staging_token, b"", None), None) is not None


def require_clean(engine: Engine, repository: Repository, branch: Branch) -> Branch:
    """Return the branch if nothing is staged on it that would change its commit.

    Staged leftovers that change nothing now (a tombstone over nothing) could change something over
    another head, so they are sealed, to be taken off with the move. A write that arrives after
    this look comes after the move, unless it depends on the head: then the move fails (`edits`).

    Raises:
        InvalidInputError: there are uncommitted changes.
        ContentionError: others sealed the branch every time.
    """
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        has_staged = _has_staged(engine, branch)
        if has_staged or branch.sealed_tokens:
            view = view_of_branch(engine, repository, branch)
            if any(effective_changes(view.changes(), view.committed)):
                raise Refusal.DIRTY_BRANCH.error(
                    f"commit or reset what is staged on branch {branch.name!r} first"
                )
        if not has_staged:
            return branch
        branch = seal(engine, repository, branch)
    raise ContentionError(f"branch {branch.name!r} has too many concurrent commits: retry")


def new_commit(
    engine: Engine,
    *,
    committer: str,
    message: str,
    metarange_id: str,
    metadata: Mapping[str, str],
    parents: tuple[Commit, ...],
    generation: int | None = None,
    date_s: int | None = None,
) -> Commit:
    """A commit made now, or at the date given, above its parents.

    Raises:
        InvalidInputError: its texts are too large.
    """
    size_bytes = len(message.encode()) + sum(
        len(key.encode()) + len(value.encode()) for key, value in metadata.items()
    )
    if size_bytes > COMMIT_BYTES_MAX:
        raise InvalidInputError(
            f"message and metadata of {size_bytes} bytes are too large for a commit: "
            f"at most {COMMIT_BYTES_MAX} bytes fit"
        )
    return make_commit(
        committer=committer,
        message=message,
        metarange_id=metarange_id,
        creation_date=engine.now_s() if date_s is None else date_s,
        metadata=metadata,
        parents=[parent.id for parent in parents],
        generation=generation or 1 + max(parent.generation for parent in parents),
    )


def commit_event(
    engine: Engine, kind: str, repository: Repository, branch: str, commit: Commit, **more: str
) -> Event:
    """The event that tells of a commit made on a branch."""
    return engine.event(
        kind,
        repository,
        branch=branch,
        commit_id=commit.id,
        committer=commit.committer,
        message=commit.message,
        metadata=commit.metadata,
        parents=commit.parents,
        metarange_id=commit.metarange_id,
        **more,
    )
