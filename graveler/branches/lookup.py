"""Finding the repository and the branch that an operation names.

A repository's record changes rarely, so readers may use one that this process read up to
REPOSITORY_AGE_MAX_S ago. Operations that write to a branch read repository and branch together,
fresh. So protection rules, the read-only flag, and the deletion of a repository take effect at
once. Readers notice a repository that was deleted and created again, because the deletion deletes
its branches and tags.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct

from graveler.engine import Engine
from graveler.errors import GravelerError, NotFoundError
from graveler.identity import ID_LENGTH, is_id
from graveler.messages import Refusal, within
from graveler.model import Branch, CommitID, Repository, RepositoryUID
from graveler.names import check_branch_name, check_repository_name, is_branch_name
from graveler.open_repository import OpenRepository
from graveler.ports import Staged
from graveler.refs.resolve import Resolved, resolve, resolve_commit_id

T = TypeVar("T")

REPOSITORY_AGE_MAX_S = 5


def repository_not_found(name: str) -> GravelerError:
    """Return the error for a repository that does not exist."""
    return Refusal.REPOSITORY_NOT_FOUND.error(repr(name))


def branch_not_found(name: str) -> GravelerError:
    """Return the error for a branch that does not exist."""
    return Refusal.BRANCH_NOT_FOUND.error(repr(name))


def object_not_found(path: bytes) -> GravelerError:
    """Return the error for an object that does not exist."""
    return Refusal.NOT_FOUND.error(f"no object {shown(path)}")


def shown(path: bytes) -> str:
    """Return the path as text for a message."""
    return repr(path.decode("utf-8", "replace"))


def same_branch(
    name: str,
    found: Branch | None,
    uid: str | None,
    remedy: str = "repeat the request if it is meant for that branch",
) -> Branch:
    """Return the branch that was found under the name, if it has that identity.

    uid: of the branch that an operation began with; None: any branch of the name counts.
    remedy: advice to a user, if another branch has the name.

    Raises:
        NotFoundError: it was deleted. Another branch that has its name now does not count.
    """
    if found is None:
        raise branch_not_found(name)
    if uid not in (None, found.uid):
        raise Refusal.BRANCH_NOT_FOUND.error(
            f"{name!r} was deleted, and another branch has its name now: {remedy}"
        )
    return found


def read_branch(repo: OpenRepository, name: str, uid: str | None = None) -> Branch:
    """Return the branch of the name if it has that identity, read from the store.

    Raises:
        NotFoundError: as `same_branch`.
    """
    return same_branch(name, repo.engine.refs.branch(repo.record, name), uid)


def reread_branch(repo: OpenRepository, seen: Branch) -> Branch:
    """Return a branch that the operation has seen before, at its current version.

    Raises:
        NotFoundError: it was deleted; another one of its name does not count.
    """
    branch = read_branch(repo, seen.name, seen.uid)
    repo.remember(branch)
    return branch


def branch_of_upload_not_found(name: str) -> GravelerError:
    """Return the same error as uploads report it: lakeFS has another message there."""
    return Refusal.BRANCH_OF_UPLOAD_NOT_FOUND.error(branch=name)


def read_repository(engine: Engine, name: str) -> OpenRepository:
    """Return the repository, read from the store.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: it does not exist.
    """
    check_repository_name(name)
    read_at = engine.clock.moment()
    repository = engine.refs.repository(name)
    if repository is None:
        engine.repositories.forget(name)
        raise repository_not_found(name)
    engine.repositories.put(name, (repository, read_at))
    return OpenRepository(engine, repository)


def same_repository(found: OpenRepository, uid: RepositoryUID) -> OpenRepository:
    """Return the repository that was found under a name, if it has that identity.

    Raises:
        NotFoundError: the one that the operation began with was deleted.
    """
    if found.record.uid != uid:
        name = found.record.name
        raise Refusal.REPOSITORY_NOT_FOUND.error(f"{name!r} was deleted and created again")
    return found


def reread_repository(seen: OpenRepository) -> OpenRepository:
    """Return a repository that the operation has seen before, at its current version.

    Raises:
        NotFoundError: it was deleted; another one of its name does not count.
    """
    return same_repository(read_repository(seen.engine, seen.record.name), seen.record.uid)


def known_repository(engine: Engine, name: str) -> OpenRepository:
    """Return the repository as this process read it at most REPOSITORY_AGE_MAX_S ago.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: it does not exist.
    """
    record = remembered_repository(engine, name)
    return read_repository(engine, name) if record is None else OpenRepository(engine, record)


def remembered_repository(engine: Engine, name: str) -> Repository | None:
    """Return the repository as `known_repository` does, None if this process has to read it."""
    held = engine.repositories.get(name)
    is_young = held is not None and held[1].is_within(REPOSITORY_AGE_MAX_S, engine.clock.moment())
    return held[0] if held is not None and is_young else None


def in_repository(engine: Engine, name: str, read: Callable[[OpenRepository], T]) -> T:
    """Return read(repo); a remembered repository may serve.

    A remembered repository may have been deleted and created again. So after a NotFoundError, the
    repository is read from the store. If it is another one, read is called again.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist, or read does not find its thing in it.
        GravelerError: whatever else read raises.
    """
    repo = known_repository(engine, name)
    try:
        return read(repo)
    except NotFoundError:
        current = read_repository(engine, name)
        if current.record.uid == repo.record.uid:
            raise
        return read(current)


def current_branch(
    engine: Engine,
    repository_name: str,
    name: str,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[OpenRepository, Branch]:
    """Return repository and branch, read from the store: one request for a known repository.

    not_found makes the error for a missing branch from its name.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the branch does not exist.
    """

    def read(known: Repository) -> tuple[Repository | None, Branch | None, None]:
        return *engine.refs.repository_and_branch(known, name), None

    return _current(engine, repository_name, name, not_found, read)[:2]


class StagedRead(Struct, frozen=True):
    """A staged change of a path, read under the token that the branch had when it was last seen."""

    seen: Branch
    staged: Staged | None

    def is_current(self, branch: Branch) -> bool:
        """Whether this read is as good as one after the read of the branch.

        A staged entry is, if the token is still the branch's. If nothing is staged, readers see
        older tokens and the head. So the head must not have moved in between either, and the
        version must equal the one last seen.
        """
        if branch.staging_token != self.seen.staging_token:
            return False
        return self.staged is not None or branch.version == self.seen.version


def current_path(
    engine: Engine,
    repository_name: str,
    name: str,
    path: bytes,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[OpenRepository, Branch, StagedRead | None]:
    """Return as `current_branch` does, and the change that is staged at the path, in one request.

    The change is read under the token that was seen last, in no order with the branch. It is None
    if this process has not seen the branch.

    Raises:
        InvalidInputError, NotFoundError: as `current_branch`.
    """

    def read(known: Repository) -> tuple[Repository | None, Branch | None, StagedRead | None]:
        seen = engine.branches.get((known.uid, name))
        if seen is None:
            return *engine.refs.repository_and_branch(known, name), None
        token = seen.staging_token
        found, branch, staged = engine.staging.get_with_repository(known, name, token, path)
        return found, branch, StagedRead(seen, staged)

    return _current(engine, repository_name, name, not_found, read)


def _current(
    engine: Engine,
    repository_name: str,
    name: str,
    not_found: Callable[[str], GravelerError],
    read: Callable[[Repository], tuple[Repository | None, Branch | None, T]],
) -> tuple[OpenRepository, Branch, T]:
    """Return the current repository and branch of the name, and the rest of what `read` returns."""
    check_branch_name(name)
    held = engine.repositories.get(repository_name)
    repository = held[0] if held is not None else read_repository(engine, repository_name).record
    while True:
        read_at = engine.clock.moment()
        current, branch, more = read(repository)
        if current is None:
            engine.repositories.forget(repository_name)
            raise repository_not_found(repository_name)
        # Also an unchanged one: it is known to be current now.
        engine.repositories.put(repository_name, (current, read_at))
        if current.uid == repository.uid:
            if branch is None:
                raise not_found(name)
            repo = OpenRepository(engine, current)
            repo.remember(branch)
            return repo, branch, more
        repository = current


def current_commit_id(
    engine: Engine, repository_name: str, ref: str, step: str = ""
) -> tuple[OpenRepository, CommitID]:
    """Return the repository, read from the store, and the ID of the commit that ref names.

    New branches and tags need a fresh read: in a deleted repository they would be lost. It costs
    one request if ref is a branch of a known repository. Messages of errors about ref begin with
    step.

    Raises:
        InvalidInputError: a name or ref is malformed.
        NotFoundError: the repository does not exist, or ref names no commit.
    """
    if is_branch_name(ref) and len(ref) != ID_LENGTH:
        with suppress(NotFoundError):
            repo, branch = current_branch(engine, repository_name, ref)
            return repo, branch.commit_id
    repo = read_repository(engine, repository_name)
    with within(step):
        return repo, resolve_commit_id(engine.refs, repo.history(), ref)


def resolving(repo: OpenRepository, ref: str) -> Callable[[], Resolved]:
    """Begin to resolve a ref expression; return the function that returns the result.

    Raises:
        InvalidInputError, NotFoundError, CorruptDataError: as `resolve`, by the function.
    """

    def read() -> Resolved:
        return resolve(repo.engine.refs, repo.history(), ref)

    # A commit's ID is often cached, and then costs less than a thread.
    return read if is_id(ref) else repo.engine.ahead(read)


def check_writable(repository: Repository, *, force: bool) -> None:
    """Check that the repository may be changed.

    Raises:
        ForbiddenError: it is read-only, and force is False.
    """
    if repository.read_only and not force:
        raise Refusal.READ_ONLY.error(f"{repository.name!r}: set force to change it")
