"""Dumping a repository's refs into its namespace, and restoring a dump into a bare repository.

Theory of operation. A dump is three immutable files' IDs. Branches and tags are read before
commits, and commits never go: every commit that a dump's branch or tag names is in the dump. The
scan of commits is no snapshot, so a commit that is made meanwhile may come without its parent. If
any did, the parents are fetched, and a second scan writes exactly the commits of the closed set.
Then the dump is read back and checked as a restore would check it, before its IDs are returned.

A restore reads the whole dump before it changes anything, and refuses one that does not hold
together. Then the repository is claimed for this dump, commits are stored, branches, tags, and at
last the repository is bare no more. Whoever repeats it, after a crash or at the same time, does
the same: equal commits are put again, a branch or a tag that is there stays as it is, because an
earlier attempt made it, and users may have gone on from it. Commits are stored in the order of
their IDs, batch after batch, and none before the one before it is whole. So the last batch whose
first commit is stored is where a repetition goes on: a restore that is too long for one request
gets done by several.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from json import dumps
from typing import TypeVar

from graveler.dump.check import BATCH_COMMITS, Checked, check
from graveler.dump.files import RefsDump, read, write
from graveler.dump.records import BRANCHES, COMMITS, TAGS, NamedCommit
from graveler.errors import (
    ConflictError,
    ContentionError,
    CorruptDataError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    StaleVersionError,
)
from graveler.identity import is_id
from graveler.layout import committed_uri
from graveler.limits import BRANCH_UPDATE_TRIES_MAX
from graveler.model import Branch, Commit, Repository, Tag, Task
from graveler.operations import tasks
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import check_writable, read_repository
from graveler.operations.protocol.pages import every_branch, every_tag, missing_ancestors
from graveler.refs.closure import CommitSet

T = TypeVar("T")

# Where lakeFS writes a dump's IDs, too; `lakectl refs-restore` takes the file.
MANIFEST = "_lakefs/refs_manifest.json"

# What the IDs of tasks begin with, as lakeFS's do.
_DUMP_TASK = "DR"
_RESTORE_TASK = "RR"

# Branches and tags of one call, which are put one by one.
_NAMES_AT_ONCE = 200


def dump(engine: Engine, name: str) -> RefsDump:
    """Store all branches, hidden ones too, all tags and all commits of the repository.

    What is staged and not committed is in no dump, nor are settings and metadata. The dump's IDs
    are written into the namespace as well, over those of the one before: there they are found when
    the repository is lost.

    Raises:
        NotFoundError: there is no such repository, or not any more.
        InvalidInputError: it is bare.
        CorruptDataError: a commit is missing, or is not what its ID says: no restore would take it.
    """
    return _dump(engine, _dumpable(engine, name))


def _dumpable(engine: Engine, name: str) -> Repository:
    """The repository, if all of its refs are there."""
    repository = read_repository(engine, name)
    if repository.is_bare:
        raise InvalidInputError(f"repository {name!r} is bare: restore a dump of refs into it")
    return repository


def _dump(engine: Engine, repository: Repository) -> RefsDump:
    store = partial(write, engine.committed, repository.storage_namespace)
    branches = every_branch(engine, repository)
    tags = every_tag(engine, repository)
    branches_id = store(BRANCHES, (NamedCommit(b.name, b.commit_id, b.hidden) for b in branches))
    tags_id = store(TAGS, (NamedCommit(tag.name, tag.commit_id) for tag in tags))
    dumped = RefsDump(
        commits_id=_dump_commits(engine, repository, partial(store, COMMITS)),
        branches_id=branches_id,
        tags_id=tags_id,
    )
    # Deleting a repository takes its name first: as long as that is there, nothing was missing.
    _check_same(read_repository(engine, repository.name), repository)
    try:
        _Content(engine, repository, dumped).check()
    except InvalidInputError as error:
        raise CorruptDataError(f"repository {repository.name!r}: {error.message}") from error
    if not repository.read_only:  # whose namespace, and the manifest there, may be another's
        _write_manifest(engine, repository, dumped)
    return dumped


def _dump_commits(
    engine: Engine, repository: Repository, store: Callable[[Iterable[Commit]], str]
) -> str:
    """Store the commits in the order of their IDs, each with its ancestors; the ID of the file."""
    known = CommitSet()
    commits_id = store(known.watch(engine.refs.every_commit(repository)))
    if not known.missing:
        return commits_id
    for _ in missing_ancestors(engine, repository, known):
        pass
    # Commits never go, so the scan returns all of the set; it may return newer ones as well.
    return store(commit for commit in engine.refs.every_commit(repository) if commit.id in known)


def _write_manifest(engine: Engine, repository: Repository, dumped: RefsDump) -> None:
    manifest = {
        "commits_meta_range_id": dumped.commits_id,
        "tags_meta_range_id": dumped.tags_id,
        "branches_meta_range_id": dumped.branches_id,
    }
    uri = f"{repository.storage_namespace}/{MANIFEST}"
    engine.objects.put(uri, dumps(manifest, indent=2).encode(), "application/json")


def restore(engine: Engine, name: str, dumped: RefsDump, *, force: bool = False) -> None:
    """Give a bare repository the commits, branches and tags of a dump in its namespace.

    Repeating it after a failure goes on where that came to. A dump of nothing leaves it bare.

    Raises:
        NotFoundError: there is no such repository.
        InvalidInputError: it is not bare; or the dump does not hold together, and nothing changed.
        ForbiddenError: it is read-only, and not forced.
        ConflictError: the restore of another dump was begun.
        GoneError: the namespace has no such dump.
        CorruptDataError: a file of the dump is damaged.
    """
    _restore(engine, _restorable(engine, name, dumped, force=force), dumped)


def _restorable(engine: Engine, name: str, dumped: RefsDump, *, force: bool) -> Repository:
    """The repository as it stands, if the dump may be restored into it, whatever that holds."""
    repository = read_repository(engine, name)
    check_writable(repository, force=force)
    if not repository.is_bare:
        raise InvalidInputError("can only restore into a bare repository")
    if repository.restoring not in ("", _claim_of(dumped)):
        raise ConflictError(
            f"repository {name!r} was begun to be restored from {repository.restoring}: repeat "
            "that, or delete the repository and create it anew"
        )
    for file_id in (dumped.commits_id, dumped.branches_id, dumped.tags_id):
        if file_id and not is_id(file_id):
            raise InvalidInputError(f"{file_id[:80]!r} is no ID of a metarange: 64 hex digits are")
    return repository


def _claim_of(dumped: RefsDump) -> str:
    return f"commits {dumped.commits_id}, branches {dumped.branches_id} and tags {dumped.tags_id}"


def _restore(engine: Engine, repository: Repository, dumped: RefsDump) -> None:
    content = _Content(engine, repository, dumped)
    checked = content.check()
    if not checked.commits:
        return
    _claim(engine, repository, dumped)
    _store_commits(engine, repository, content.commits(), checked)
    for branches in _batches(content.branches(), _NAMES_AT_ONCE):
        token = partial(engine.names.new_staging_token, repository)
        engine.refs.restore_branches(
            repository,
            [Branch(b.name, b.commit_id, token(b.name), hidden=b.hidden) for b in branches],
        )
    for tags in _batches(content.tags(), _NAMES_AT_ONCE):
        engine.refs.restore_tags(repository, [Tag(tag.name, tag.commit_id) for tag in tags])
    _finish(engine, repository, checked)


def _claim(engine: Engine, repository: Repository, dumped: RefsDump) -> None:
    """Have the repository take no other dump than this one."""
    claim = _claim_of(dumped)
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        # Read-only was asked about before; bare it must still be.
        current = _restorable(engine, repository.name, dumped, force=True)
        _check_same(current, repository)
        if current.restoring == claim:
            return
        try:
            engine.refs.update_repository(current, replace(current, restoring=claim))
        except StaleVersionError:
            continue
        return
    raise _busy(repository)


def _finish(engine: Engine, repository: Repository, checked: Checked) -> None:
    """Make the repository one like all others, unless somebody did who restored the same dump."""
    event = engine.event(
        "repository_restored",
        repository,
        commits=checked.commits,
        branches=checked.branches,
        tags=checked.tags,
    )
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        current = read_repository(engine, repository.name)
        _check_same(current, repository)
        if not current.is_bare:
            return
        try:
            engine.refs.update_repository(current, replace(current, restoring=None), event)
        except StaleVersionError:
            continue
        engine.repositories.forget(repository.name)
        return
    raise _busy(repository)


def _check_same(current: Repository, repository: Repository) -> None:
    if current.uid != repository.uid:
        raise NotFoundError(f"repository {repository.name!r} was deleted, and made anew, meanwhile")


def _busy(repository: Repository) -> ContentionError:
    return ContentionError(f"repository {repository.name!r} is changed all the time: try again")


class _Content:
    """What a dump holds, read as often as it is asked for."""

    def __init__(self, engine: Engine, repository: Repository, dumped: RefsDump) -> None:
        self._engine = engine
        self._repository = repository
        self._dumped = dumped
        reader = partial(read, engine.committed, repository.storage_namespace)
        self.commits = partial(reader, dumped.commits_id, COMMITS)
        self.branches = partial(reader, dumped.branches_id, BRANCHES)
        self.tags = partial(reader, dumped.tags_id, TAGS)

    def check(self) -> Checked:
        """Read all of it; what a restore has to know.

        Raises:
            InvalidInputError, CorruptDataError: it does not hold together, or is damaged.
            GoneError: there is no such dump.
        """
        try:
            return check(self.commits(), self.branches(), self.tags())
        except CorruptDataError as error:
            dumped = self._dumped
            for file_id in filter(None, (dumped.commits_id, dumped.branches_id, dumped.tags_id)):
                uri = committed_uri(self._repository.storage_namespace, file_id)
                if self._engine.objects.head(uri) is None:
                    raise GoneError(f"No data: there is no {uri}") from error
            raise


def _store_commits(
    engine: Engine, repository: Repository, commits: Iterable[Commit], checked: Checked
) -> None:
    """Store the commits, from the batch on at which the last attempt may have stopped."""
    found = engine.refs.commits(repository, checked.first_ids)
    begun = [number for number, first_id in enumerate(checked.first_ids) if first_id in found]
    start = max(begun, default=0)
    for number, batch in enumerate(_batches(commits, BATCH_COMMITS)):
        if number >= start:
            engine.refs.restore_commits(repository, batch)


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(things)
    while batch := list(islice(iterator, size)):
        yield batch


# As tasks (`graveler.operations.tasks`): what a request can be refused for is told at once.


def dump_as_task(engine: Engine, name: str) -> Task:
    """A task that has dumped the repository, or failed to; raises what dump does before it reads.

    Its result is the dump, for dump_of.
    """
    repository = _dumpable(engine, name)

    def work() -> Mapping[str, str]:
        return asdict(_dump(engine, repository))

    return tasks.run(engine, repository, tasks.start(engine, repository, _DUMP_TASK), work)


def dump_of(task: Task) -> RefsDump | None:
    """The dump that the task has made, if it has ended well."""
    return RefsDump(**task.result) if task.result else None


def restore_as_task(engine: Engine, name: str, dumped: RefsDump, *, force: bool = False) -> Task:
    """A task that has restored the dump, or failed to; raises what restore does before it reads."""
    repository = _restorable(engine, name, dumped, force=force)

    def work() -> Mapping[str, str]:
        _restore(engine, repository, dumped)
        return {}

    return tasks.run(engine, repository, tasks.start(engine, repository, _RESTORE_TASK), work)


def dump_task(engine: Engine, name: str, task_id: str) -> Task:
    """How far a dump is.

    Raises:
        NotFoundError: there is no such repository or task.
    """
    return tasks.status(engine, read_repository(engine, name), _DUMP_TASK, task_id)


def restore_task(engine: Engine, name: str, task_id: str) -> Task:
    """How far a restore is.

    Raises:
        NotFoundError: there is no such repository or task.
    """
    return tasks.status(engine, read_repository(engine, name), _RESTORE_TASK, task_id)
