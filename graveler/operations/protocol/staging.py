"""Staging protocol: every staged change takes effect once, at one moment.

Theory of operation. A staging token is open until it is sealed, and its content is final from then
on (`heads.replace_token` closes it before any reader can see it as sealed). So a change that the
token accepts was made before the seal: the commit that applies the token holds it. A change that
the token refuses was not made, and is staged under the next token.

    writer                               commit
    read the branch: token T             close T
    stage under T                        T is sealed, T' takes its place
      accepted: in T before the close    scan T
      refused:  read the branch, repeat  finish: T is taken off

*A change that depends on what is there* (if_absent, metadata) reads, decides, and stages on
condition that the branch still has the token, head and version that it read, and the path the same
entry. If that fails, it reads and decides again. It counts itself in the branch (`edits`), so a
merge that found nothing staged before it does not finish after it.

*Taking changes back* stages what the head says of the paths, marked as restored. That raises the
branch's version, so every move of the head in progress starts again. A commit applies such entries
together with the sealed changes that they cover; a hard reset replaces them.

*Confirming.* DynamoDB commits a transaction item by item. In theory the gate of a token can be free
again before the entry can be read, and a commit that seals just then may not see the entry. So a
writer reads the branch once more. If its token is sealed by then, it adds one to the branch's
version, and a commit in progress scans the token again. If the token is gone, the writer looks for
its change, and raises UnknownOutcomeError if readers see something else.
"""

from collections.abc import Callable, Sequence

from graveler.entries import entry_value
from graveler.errors import GravelerError, StaleVersionError, UnknownOutcomeError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.messages import Refusal
from graveler.model import Branch, Change, Entry, Repository
from graveler.names import check_path
from graveler.operations.engine import Engine
from graveler.operations.protocol.heads import read_branch, replace_token
from graveler.operations.protocol.lookup import branch_not_found, current_branch
from graveler.operations.protocol.protection import check_can_stage
from graveler.operations.protocol.retries import contention, retry_stale
from graveler.operations.protocol.views import ObjectStat, View, object_stat, view_of_branch

# How long a seal may take between its two steps before a writer does the second one itself.
_SEAL_PAUSE_S = 0.02


def branch_for_staging(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    force: bool,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[Repository, Branch]:
    """Repository and branch, if a change of the path may be staged there.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: there is no such repository or branch; not_found makes the branch's error.
        ForbiddenError: the branch is protected, or the repository read-only.
    """
    check_path(path)
    found, current = current_branch(engine, repository, branch, not_found)
    check_can_stage(found, branch, force=force)
    return found, current


def stage_changes(
    engine: Engine, repository: Repository, branch: Branch, changes: Sequence[Change]
) -> None:
    """Make the changes, of distinct paths, what readers of the branch see.

    Raises:
        NotFoundError: the branch is gone.
        ContentionError: commits kept sealing the token.
        UnknownOutcomeError: some changes may have been made, and others not.
    """
    for _ in range(BRANCH_WRITE_TRIES_MAX):
        refused = engine.staging.stage(branch.staging_token, changes)
        accepted = changes if not refused else [*set(changes) - set(refused)]
        after = _confirm(engine, repository, branch, accepted)
        if not refused:
            return
        if after is None:
            raise branch_not_found(branch.name)
        if after.staging_token == branch.staging_token:
            after = _after_seal(engine, repository, branch)
        branch, changes = after, refused
    raise contention(f"branch {branch.name!r}")


def _after_seal(engine: Engine, repository: Repository, branch: Branch) -> Branch:
    """Return the branch with its next token, once the seal that closed this one has ended."""
    engine.clock.sleep(_SEAL_PAUSE_S)
    now = read_branch(engine, repository, branch.name)
    if now.staging_token == branch.staging_token:
        now = replace_token(engine, repository, now)
    return now


def _confirm(
    engine: Engine, repository: Repository, branch: Branch, staged: Sequence[Change]
) -> Branch | None:
    """Make sure that no commit misses what the branch's token accepted; return the branch now.

    Raises:
        UnknownOutcomeError: the token is gone, and readers see something else.
    """
    token = branch.staging_token
    after = engine.refs.branch(repository, branch.name)
    if after is None:
        return None  # with everything that was staged on it
    engine.remember(repository, after)
    if not staged or after.staging_token == token:
        return after
    if token in after.sealed_tokens and engine.refs.bump_version(repository, after.name, token):
        return after
    after = engine.refs.branch(repository, branch.name)
    if after is None:
        return None
    view = view_of_branch(engine, repository, after)
    for path, value in staged:
        if view.get(path) != value:
            raise UnknownOutcomeError(
                f"path {shown(path)} was written, and changed again or reset by another request "
                "at the same time: read it before you write again"
            )
    return after


def stage_in_place(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    make: Callable[[bytes | None], bytes],
) -> bytes:
    """Compare and swap: stage make(value that readers see); return the value that was staged.

    Raises:
        NotFoundError: the branch is gone.
        ContentionError: other writers changed the path or the branch every time.
    """
    current = branch

    def attempt() -> bytes:
        nonlocal current
        content = engine.content(repository, current.commit_id)
        staged = engine.staging.get(current.staging_token, path)
        below = View(engine, repository, current.sealed_tokens, content)
        value = make(below.get(path) if staged is None else staged.value)
        try:
            engine.staging.stage_if(repository, current, path, value, staged)
        except StaleVersionError:
            current = read_branch(engine, repository, branch.name)
            raise
        return value

    subject = f"path {shown(path)} or branch {branch.name!r}"
    made = retry_stale(attempt, subject, tries_max=BRANCH_WRITE_TRIES_MAX)
    _confirm(engine, repository, current, [(path, made)])
    return made


def restore_changes(
    engine: Engine, repository: Repository, branch: Branch, changes: Sequence[Change]
) -> Branch:
    """Stage what the branch's head says of the paths; return the branch as it is now.

    Raises:
        StaleVersionError: the branch changed since it was read.
    """
    restored = engine.staging.restore(repository, branch, changes)
    _confirm(engine, repository, branch, changes)
    return restored


def require_absent(path: bytes, seen: bytes | None) -> None:
    """Return if nothing is seen at the path.

    Raises:
        PreconditionFailedError: an object is there.
    """
    if seen is not None:
        raise Refusal.PATH_EXISTS.error(shown(path))


def shown(path: bytes) -> str:
    """The path as it may stand in a message."""
    return repr(path.decode("utf-8", "replace"))


def stage_entry(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    entry: Entry,
    *,
    if_absent: bool = False,
) -> ObjectStat:
    """Make the entry the object at the path.

    Raises:
        PreconditionFailedError: if_absent, and there is an object.
        NotFoundError, ContentionError, UnknownOutcomeError: as stage_changes.
    """
    value = entry_value(entry)

    def where_absent(seen: bytes | None) -> bytes:
        require_absent(path, seen)
        return value

    if if_absent:
        stage_in_place(engine, repository, branch, path, where_absent)
    else:
        stage_changes(engine, repository, branch, [(path, value)])
    return object_stat(repository, path, value)
