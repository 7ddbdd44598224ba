"""Staging protocol: each staged change takes effect once, at one moment.

Theory of operation. A staging token is open until a commit closes it, and then its content is
final. `heads.replace_token` closes a token before any reader can see it as sealed. So each change
has one of two outcomes:

- The token accepts the change, before the close. The commit that applies the token includes it.
- The token refuses the change. The writer stages it under the next token.

    writer                               commit
    read the branch: token T             close T
    stage under T                        seal T, open T'
      accepted: T holds the change       scan T
      refused:  read the branch, retry   finish: take T off the branch

*Conditional changes* (requirements, metadata) depend on the current value: read, decide, stage. The
store checks that the branch still has the token, head and version that were read. The path must
still have the entry that was read. Otherwise the writer reads and decides again. The store also
counts the change in the branch's `edits`. A merge that found nothing staged checks that count. So
it cannot finish after a change that was decided under the old head.

*Restoring* stages the head's values at the paths, marked as restored, so that readers see the head
again. It raises the branch's version, so each move of the head in progress starts again. A commit
applies restored entries together with the sealed changes that they cover. A hard reset replaces
them. When they can be read, the version is raised once more: a hard reset that has not seen them
starts again. If it has moved the head already, the restoring starts again.

After a change, its writer makes sure that no commit misses it (`branches.confirming`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from graveler.branches.confirming import (
    confirm,
    confirm_conditional,
    confirmed,
    may_all_be_written,
    may_be_written,
)
from graveler.branches.heads import replace_token
from graveler.branches.lookup import (
    StagedRead,
    branch_not_found,
    current_branch,
    current_path,
    reread_branch,
    shown,
)
from graveler.branches.protection import check_can_stage, check_changeable
from graveler.branches.retries import contention, retry_stale
from graveler.branches.views import ObjectStat, View, object_stat
from graveler.engine import Engine
from graveler.entries import entry_value, value_entry
from graveler.errors import (
    GravelerError,
    ObjectMissingError,
    PreconditionFailedError,
    StaleVersionError,
    UnknownOutcomeError,
)
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.messages import Refusal
from graveler.model import NO_REQUIREMENT, Branch, Change, Entry, Event, Requirement
from graveler.names import checksum_tag
from graveler.open_repository import OpenRepository
from graveler.ports import Staged, StagedChange

# Makes the event of the values that a change gives to paths; None is a tombstone.
MakeEvent = Callable[[Mapping[bytes, bytes | None]], Event]

# A seal closes the token and then replaces it. A writer waits this long for the second step before
# it replaces the token itself.
_SEAL_PAUSE_S = 0.02


def branch_for_staging(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    force: bool,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[OpenRepository, Branch]:
    """Return repository and branch if a change of the path may be staged there.

    not_found makes the error for a missing branch from its name.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: the repository or the branch does not exist.
        ForbiddenError: the branch is protected, the repository is read-only, or the path is a
            table's.
    """
    check_changeable(path)
    repo, current = current_branch(engine, repository, branch, not_found)
    check_can_stage(repo.record, branch, force=force)
    return repo, current


def path_for_staging(
    engine: Engine,
    repository: str,
    branch: str,
    path: bytes,
    *,
    force: bool,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[OpenRepository, Branch, StagedRead | None]:
    """Return as `branch_for_staging` does, and the change staged at the path (`current_path`).

    Raises:
        GravelerError: as `branch_for_staging`.
    """
    check_changeable(path)
    repo, current, read = current_path(engine, repository, branch, path, not_found)
    check_can_stage(repo.record, branch, force=force)
    return repo, current, read


def stage_changes(repo: OpenRepository, branch: Branch, changes: Sequence[Change]) -> None:
    """Stage changes of distinct paths; each takes effect once, but not all at one moment.

    Raises:
        NotFoundError: the branch was deleted.
        ContentionError: a commit closed the token in each try; some changes may have been made.
        UnknownOutcomeError: some changes may have been made, and others not.
    """
    failed = stage_each(repo, branch, changes).values()
    for error in failed:
        if isinstance(error, UnknownOutcomeError):
            raise error
    for error in failed:
        raise error


def stage_each(
    repo: OpenRepository, branch: Branch, changes: Sequence[Change]
) -> Mapping[bytes, GravelerError]:
    """Stage changes of distinct paths, each at a moment of its own; return errors by path.

    Paths without an error hold their changes. With UnknownOutcomeError, a path may hold its own.
    Otherwise it does not; the errors are those of `stage_changes`, and ThrottledError.
    """
    failed: dict[bytes, GravelerError] = {}
    for _ in range(BRANCH_WRITE_TRIES_MAX):
        refused, errors = repo.engine.staging.stage(branch.staging_token, changes)
        failed |= errors
        left = errors.keys() | dict(refused).keys()
        accepted = [(path, value) for path, value in changes if path not in left]
        missed: Collection[bytes] = dict(accepted)
        try:
            after, missed = confirmed(repo, branch, accepted)
            branch = _next_branch(repo, branch, after) if refused else branch
        except GravelerError as error:
            return failed | may_all_be_written(missed, error) | dict.fromkeys(dict(refused), error)
        failed |= may_all_be_written(missed)
        if not refused:
            return failed
        changes = refused
    return failed | dict.fromkeys(dict(changes), contention(f"branch {branch.name!r}"))


def _next_branch(repo: OpenRepository, branch: Branch, after: Branch | None) -> Branch:
    """Return the branch, whose token has refused a change, with its next token.

    after: the branch as it was read since; None if it was deleted.

    Raises:
        NotFoundError: it was deleted.
    """
    now = after or reread_branch(repo, branch)
    return after_seal(repo, branch) if now.staging_token == branch.staging_token else now


def after_seal(repo: OpenRepository, branch: Branch) -> Branch:
    """Return the branch with its next token; finish the seal if its process does not."""
    repo.engine.clock.sleep(_SEAL_PAUSE_S)
    now = reread_branch(repo, branch)
    if now.staging_token == branch.staging_token:
        now = replace_token(repo, now)
    return now


def stage_in_place(
    repo: OpenRepository,
    branch: Branch,
    path: bytes,
    make: Callable[[bytes | None], bytes | None],
    read: StagedRead | None = None,
    event: MakeEvent | None = None,
) -> None:
    """Compare-and-swap: stage make(current value); retry if the path or the branch changed.

    make takes the stored value that readers see (None: no object) and returns the new one (None: a
    tombstone). It is called in each try. The first try uses `read`, if there is one: the store
    checks that nothing has changed since. event makes an event that is stored at the same moment.

    Raises:
        NotFoundError: the branch was deleted.
        ContentionError: other writers changed the path or the branch in each try.
        UnknownOutcomeError: the value may have been staged.
    """
    stage_together(repo, branch, [path], lambda values: {path: make(values[path])}, read, event)


def stage_together(
    repo: OpenRepository,
    branch: Branch,
    paths: Sequence[bytes],
    make: Callable[[Mapping[bytes, bytes | None]], Mapping[bytes, bytes | None]],
    read: StagedRead | None = None,
    event: MakeEvent | None = None,
) -> None:
    """Stage the new values of distinct paths at one moment, as `stage_in_place` does that of one.

    make takes the current value of each path, and returns the new values of some, which may be
    none. There are at most CHANGES_TOGETHER_MAX paths. read is of a single path. event makes the
    event of the values that change, which is stored at the same moment.

    What was made of a head that has moved hides what moved it. So a path that make leaves alone
    then gets its current value. If no other try succeeds, what was made is there all the same.

    Raises:
        GravelerError: as `stage_in_place`.
    """
    current = branch
    own: Mapping[bytes, Staged] = {}  # what this request made of a head that has moved

    def attempt() -> None:
        nonlocal current, read, own
        try:
            content = repo.content(current.commit_id)
            staged: Mapping[bytes, Staged]
            if read is not None and read.is_current(current):
                staged = {} if read.staged is None else {paths[0]: read.staged}
            else:
                staged = repo.engine.staging.newest_each([current.staging_token], paths)
            before = {path: each for path, each in staged.items() if each != own.get(path)}
            below = View(repo, current.sealed_tokens, content)
            unchanged = [path for path in paths if path not in before]
            values = {**below.get_each(unchanged), **{p: each.value for p, each in before.items()}}
            hiding = {path: values[path] for path in own if staged.get(path) == own[path]}
            made = {**hiding, **make(values)}
            if not made:
                return
            new = {path: value for path, value in made.items() if value != values[path]}
            # What an earlier try made has its event.
            untold = {path: value for path, value in new.items() if own.get(path) != Staged(value)}
            repo.engine.staging.stage_if(
                repo.record,
                current,
                [StagedChange(path, value, staged.get(path)) for path, value in made.items()],
                event(untold) if event and untold else None,
            )
            has_moved = confirm_conditional(repo, current, list(made.items()))
            # Over a path that was staged before, no merge can have moved the head.
            if has_moved and before.keys().isdisjoint(made):
                own = {path: Staged(value) for path, value in made.items()}
                raise StaleVersionError("the head moved")  # noqa: TRY301 - as if the store said it
        except StaleVersionError:
            current, read = reread_branch(repo, current), None
            raise

    subject = f"path {shown(paths[0])} or branch {branch.name!r}"
    try:
        retry_stale(attempt, subject, tries_max=BRANCH_WRITE_TRIES_MAX)
    except GravelerError as error:
        if not own:
            raise
        raise may_be_written(next(iter(own))) from error


def restore_changes(
    repo: OpenRepository, branch: Branch, changes: Sequence[Change], again: Collection[bytes]
) -> Branch:
    """Stage changes that equal the branch's head, marked as restored.

    again has paths that this request restored before; what others staged there since stays.

    Returns:
        The branch as it is then. If its head has moved, restore the same paths again.

    Raises:
        StaleVersionError: the branch changed since it was read; some changes may be staged.
        UnknownOutcomeError: the changes may have been staged.
    """
    restored = repo.engine.staging.restore(repo.record, branch, changes, again)
    now = repo.engine.refs.bump_version(repo.record, branch.name, branch.staging_token)
    if now is None:
        confirm(repo, branch, changes)
        return restored
    return now


def check_requirement(path: bytes, seen: bytes | None, requirement: Requirement) -> None:
    """Check that the stored value that readers see at the path meets the requirement.

    Raises:
        ObjectMissingError: there must be an object, and readers see none.
        PreconditionFailedError: readers see an object that must not be there.
    """
    if seen is None:
        if requirement.is_present or requirement.checksums is not None:
            raise ObjectMissingError(
                f"there is no object at {shown(path)}: leave If-Match out to create one"
            )
        return
    if requirement.is_absent:
        raise Refusal.PATH_EXISTS.error(shown(path))
    if requirement.checksums is None:
        return
    tag = checksum_tag(value_entry(seen).checksum)
    if tag not in requirement.checksums:
        raise PreconditionFailedError(
            f"the object at {shown(path)} has the ETag {tag!r}: read it again before you write"
        )


def stage_entry(
    repo: OpenRepository,
    branch: Branch,
    path: bytes,
    entry: Entry,
    requirement: Requirement = NO_REQUIREMENT,
    read: StagedRead | None = None,
) -> ObjectStat:
    """Make the entry the object at the path; read is as for `stage_in_place`.

    Raises:
        PreconditionFailedError: the path does not meet the requirement.
        NotFoundError: the branch was deleted.
        ContentionError: commits or other writers came first in each try.
        UnknownOutcomeError: the entry may have been staged.
    """
    value = entry_value(entry)
    stage_value(repo, branch, path, value, requirement, read)
    return object_stat(repo.record, path, value)


def stage_value(
    repo: OpenRepository,
    branch: Branch,
    path: bytes,
    value: bytes | None,
    requirement: Requirement,
    read: StagedRead | None = None,
) -> None:
    """Stage a stored value, or None for a tombstone, if the path meets the requirement.

    read is as for `stage_in_place`.

    Raises:
        GravelerError: as `stage_entry`.
    """

    def make(current: bytes | None) -> bytes | None:
        check_requirement(path, current, requirement)
        return value

    if requirement == NO_REQUIREMENT:
        stage_changes(repo, branch, [(path, value)])
    else:
        stage_in_place(repo, branch, path, make, read)
