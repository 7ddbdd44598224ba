"""The protocol by which a change gets staged, so that no acknowledged write is ever lost.

Theory of operation. A write reads the branch, writes under its staging token, and reads the branch
again. If a commit sealed the token meanwhile, it may or may not have seen the write, so the write
is repeated under the new token; only then is it acknowledged. So an acknowledged write is either
in the commit or staged over it.

A conditional write (if_absent) must not lose against itself: its own value, found in a sealed
token or in the commit, is not somebody else's. Values are unique because addresses are.
"""

from collections.abc import Callable, Sequence

from graveler.entries import entry_value
from graveler.errors import ContentionError, PreconditionFailedError
from graveler.limits import BRANCH_WRITE_TRIES_MAX
from graveler.model import Branch, Change, Entry, Repository
from graveler.names import check_path
from graveler.operations.engine import Engine
from graveler.operations.lookup import branch_not_found, current_branch
from graveler.operations.objects import ObjectStat, object_stat
from graveler.operations.protection import check_can_stage
from graveler.operations.reading import View


def branch_for_staging(
    engine: Engine, repository: str, branch: str, path: bytes, *, force: bool
) -> tuple[Repository, Branch]:
    """Repository and branch, if a change of the path may be staged there.

    Raises:
        InvalidInputError: a name or the path is malformed.
        NotFoundError: there is no such repository or branch.
        ForbiddenError: the branch is protected, or the repository read-only.
    """
    check_path(path)
    found, current = current_branch(engine, repository, branch)
    check_can_stage(found, branch, force=force)
    return found, current


def until_unsealed(
    engine: Engine, repository: Repository, branch: Branch, write: Callable[[Branch], None]
) -> None:
    """Repeat the write until no commit has sealed its token before it was there.

    Raises:
        NotFoundError: the branch is gone.
        ContentionError: commits kept sealing the token.
    """
    for _ in range(BRANCH_WRITE_TRIES_MAX):
        write(branch)
        after = engine.refs.branch(repository, branch.name)
        if after is None:
            raise branch_not_found(branch.name)
        engine.remember(repository, after)
        if after.staging_token == branch.staging_token:
            return
        branch = after
    raise ContentionError(f"branch {branch.name!r} is being committed all the time: try again")


def stage_value(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    value: bytes,
    *,
    if_absent: bool = False,
) -> None:
    """Make the value what readers of the branch see at the path.

    Raises:
        PreconditionFailedError: if_absent, and there is an object.
        ContentionError: commits kept sealing the token.
    """
    if if_absent:
        stage_in_place(
            engine, repository, branch, path, lambda seen: if_nothing_else(path, seen, value)
        )
    else:
        until_unsealed(
            engine,
            repository,
            branch,
            lambda now: engine.staging.put(now.staging_token, path, value),
        )


def stage_changes(
    engine: Engine, repository: Repository, branch: Branch, changes: Sequence[Change]
) -> None:
    """Stage changes of distinct paths; as stage_value."""
    until_unsealed(
        engine,
        repository,
        branch,
        lambda current: engine.staging.put_many(current.staging_token, changes),
    )


def stage_in_place(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    path: bytes,
    make: Callable[[bytes | None], bytes],
) -> None:
    """Stage what make makes of the value that readers see at the path, and of no older one.

    Raises:
        ContentionError: others kept writing the path, or commits sealing the token.
    """

    def write(now: Branch) -> None:
        below = View(
            engine, repository, now.sealed_tokens, engine.content(repository, now.commit_id)
        )
        for _ in range(BRANCH_WRITE_TRIES_MAX):
            staged = engine.staging.get(now.staging_token, path)
            seen = below.get(path) if staged is None else staged.value
            if engine.staging.put_if(now.staging_token, path, make(seen), staged):
                return
        raise ContentionError(f"path {shown(path)} is being written: try again")

    until_unsealed(engine, repository, branch, write)


def if_nothing_else(path: bytes, seen: bytes | None, value: bytes) -> bytes:
    """The value, if nothing but itself is seen at the path.

    Raises:
        PreconditionFailedError: an object is there.
    """
    if seen not in (None, value):
        raise PreconditionFailedError(f"path already exists: {shown(path)}")
    return value


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
    """Make the entry the object at the path; as stage_value."""
    value = entry_value(entry)
    stage_value(engine, repository, branch, path, value, if_absent=if_absent)
    return object_stat(repository, path, value)
