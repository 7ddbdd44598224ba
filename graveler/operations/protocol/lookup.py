"""Finding the repository and the branch that an operation names.

A repository's record hardly ever changes, so a process may read with one that it saw up to
REPOSITORY_AGE_MAX_S ago. Whatever writes to a branch reads repository and branch together, fresh:
protection rules, the read-only flag, and a repository deleted and made anew take effect at once.
A reader notices the latter, too: deleting a repository deletes its branches and tags.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from graveler.errors import GravelerError, NotFoundError
from graveler.identity import ID_LENGTH
from graveler.messages import Refusal, within
from graveler.model import Branch, Repository
from graveler.names import check_branch_name, check_repository_name, is_branch_name
from graveler.operations.engine import Engine
from graveler.refs.resolve import resolve_commit_id
from graveler.times import NS_PER_S

T = TypeVar("T")

REPOSITORY_AGE_MAX_S = 5


def repository_not_found(name: str) -> GravelerError:
    """The error for a repository that does not exist."""
    return Refusal.REPOSITORY_NOT_FOUND.error(repr(name))


def branch_not_found(name: str) -> GravelerError:
    """The error for a branch that does not exist."""
    return Refusal.BRANCH_NOT_FOUND.error(repr(name))


def branch_of_upload_not_found(name: str) -> GravelerError:
    """The same, for those that bring content: lakeFS tells them in other words."""
    return Refusal.BRANCH_OF_UPLOAD_NOT_FOUND.error(branch=name)


def read_repository(engine: Engine, name: str) -> Repository:
    """The repository as it stands now.

    Raises:
        InvalidInputError: the name cannot be a repository's.
        NotFoundError: there is none.
    """
    check_repository_name(name)
    repository = engine.refs.repository(name)
    if repository is None:
        engine.repositories.forget(name)
        raise repository_not_found(name)
    engine.repositories.put(name, (repository, engine.clock.now_ns()))
    return repository


def known_repository(engine: Engine, name: str) -> Repository:
    """The repository, as this process saw it at most REPOSITORY_AGE_MAX_S ago."""
    held = engine.repositories.get(name)
    if held is not None and engine.clock.now_ns() - held[1] < REPOSITORY_AGE_MAX_S * NS_PER_S:
        return held[0]
    return read_repository(engine, name)


def in_repository(engine: Engine, name: str, read: Callable[[Repository], T]) -> T:
    """What read finds in the repository.

    Not finding something in a repository that is only remembered may mean that the repository was
    deleted, or made anew, since: then the repository is read and, if it is another, asked again.
    """
    repository = known_repository(engine, name)
    try:
        return read(repository)
    except NotFoundError:
        current = read_repository(engine, name)
        if current.uid == repository.uid:
            raise
        return read(current)


def current_branch(
    engine: Engine,
    repository_name: str,
    name: str,
    not_found: Callable[[str], GravelerError] = branch_not_found,
) -> tuple[Repository, Branch]:
    """Repository and branch as they stand now; one request if the repository is remembered.

    Raises:
        NotFoundError: one of them does not exist; not_found makes the error for the branch.
    """
    check_branch_name(name)
    held = engine.repositories.get(repository_name)
    repository = held[0] if held is not None else read_repository(engine, repository_name)
    while True:
        current, branch = engine.refs.repository_and_branch(repository, name)
        if current is None:
            engine.repositories.forget(repository_name)
            raise repository_not_found(repository_name)
        if current != repository:
            engine.repositories.put(repository_name, (current, engine.clock.now_ns()))
        if current.uid == repository.uid:
            if branch is None:
                raise not_found(name)
            engine.remember(current, branch)
            return current, branch
        repository = current


def current_commit_id(
    engine: Engine, repository_name: str, ref: str, step: str = ""
) -> tuple[Repository, str]:
    """The repository as it stands now, and the ID of the commit that ref names in it.

    For what is to be named anew: a branch made in a repository that was deleted a moment ago, and
    made again, would be lost. One request if ref is a branch. Errors about ref begin with step.

    Raises:
        InvalidInputError: ref is malformed.
        NotFoundError: the repository does not exist, or ref names nothing.
    """
    if is_branch_name(ref) and len(ref) != ID_LENGTH:
        with suppress(NotFoundError):
            repository, branch = current_branch(engine, repository_name, ref)
            return repository, branch.commit_id
    repository = read_repository(engine, repository_name)
    with within(step):
        return repository, resolve_commit_id(engine.refs, engine.history(repository), ref)


def check_writable(repository: Repository, *, force: bool) -> None:
    """Refuse to change a read-only repository, unless forced.

    Raises:
        ForbiddenError: it is read-only.
    """
    if repository.read_only and not force:
        raise Refusal.READ_ONLY.error(f"{repository.name!r} changes by force only")
