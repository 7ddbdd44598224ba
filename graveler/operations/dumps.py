"""Dumping a repository's refs into its namespace, and restoring a dump into a bare repository.

Theory of operation. A dump is the IDs of three immutable files: branches, tags and commits. The
dump reads branches and tags before commits. The scan of commits is not a snapshot: it may return a
new commit without its parent, or lack the commit of a new head. Then the dump fetches those, and a
second scan writes exactly the commits of the closed set. Commits are never deleted. Before its IDs
are returned, the dump is read back and checked, as by a restore.

A restore reads the whole dump before it changes anything, and refuses an inconsistent one. Then it
claims the repository for this dump. It stores commits, branches and tags in that order, and makes
the repository an ordinary one. A restore can be repeated after a crash, or run twice at the same
time. It stores equal commits again. It keeps an existing branch or tag: an earlier attempt stored
it, and users may have moved it since. Branches and tags are stored only while the claim lasts. A
late attempt would store names again that users deleted after the end. Commits are stored in the
order of their IDs, in batches, each only when the one before is complete. So a repetition resumes
at the last batch whose first commit is stored. Several requests can thus finish a restore that is
too long for one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from json import dumps
from typing import TypeVar

import msgspec
from msgspec.structs import asdict, replace

from graveler.branches.complete_listings import missing_commits
from graveler.branches.lookup import (
    check_writable,
    read_repository,
    reread_repository,
    same_repository,
)
from graveler.branches.retries import retry_stale
from graveler.branches.watching import Watching
from graveler.dump.check import BATCH_COMMITS, CheckedDump
from graveler.dump.files import RefsDump, read, write
from graveler.dump.records import BRANCHES, COMMITS, TAGS
from graveler.engine import Engine
from graveler.errors import (
    ConflictError,
    CorruptDataError,
    InvalidInputError,
    StaleVersionError,
)
from graveler.identity import is_id
from graveler.model import Commit, CommitID, MetaRangeID, Tag
from graveler.model.tasks import Task, TaskKind
from graveler.open_repository import OpenRepository
from graveler.operations.dumped_refs import DumpContent, dump_refs
from graveler.operations.tasks.hold import Hold
from graveler.operations.tasks.requested_work import ReadingWork, RequestedWork, WorkLimit
from graveler.operations.tasks.requests import never_covers, start
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait, result_in_time
from graveler.refs.closure import CommitSet

T = TypeVar("T")

# lakeFS writes a dump's IDs to the same file; `lakectl refs-restore` reads it.
MANIFEST = "_lakefs/refs_manifest.json"

# The result of a task whose dump was copied: the URI of the copy's folder.
KEPT_AT = "kept_at"

# Branches or tags of one call to the store: two of its transactions.
_NAMES_AT_ONCE = 198


def dump(engine: Engine, name: str, user: str = "", wait: ClientWait = FIRST_REQUEST) -> RefsDump:
    """Store all branches, hidden ones too, all tags and all commits of the repository.

    A dump holds no uncommitted changes, settings or metadata. Its IDs are also written to MANIFEST
    in the namespace, where they can be found if the repository is lost. A large dump is left to a
    task, which this waits for.

    Raises:
        NotFoundError: the repository does not exist, or was deleted meanwhile.
        InvalidInputError: it is bare, or the name is malformed.
        CorruptDataError: a commit is missing or does not match its ID, so no restore would take it.
    """
    work = _Dumping(repo=_dumpable(engine, name), user=user)
    return result_in_time(work, wait)


@dataclass(kw_only=True)
class _Dumping(ReadingWork[RefsDump]):
    kind: TaskKind = TaskKind.DUMP

    def at_once(self, limit: WorkLimit) -> RefsDump:
        return _dump(self.repo, limit.over)

    def result_of(self, task: Task) -> RefsDump:
        dumped = dump_of(task)
        assert dumped is not None
        return dumped


def _dumpable(engine: Engine, name: str) -> OpenRepository:
    """Return the repository if it is not bare, so that all of its refs exist."""
    repo = read_repository(engine, name)
    if repo.record.is_bare:
        raise InvalidInputError(f"repository {name!r} is bare: restore a dump of refs into it")
    return repo


def _dump(repo: OpenRepository, watching: Watching) -> RefsDump:
    store = partial(write, repo.engine.committed, repo.record.storage_namespace)
    branches_id, tags_id = dump_refs(repo, watching)
    heads = (
        named.commit_id
        for kind, file_id in ((BRANCHES, branches_id), (TAGS, tags_id))
        for named in read(repo.engine.committed, repo.record.storage_namespace, file_id, kind)
    )
    dumped = RefsDump(
        commits_id=_dump_commits(repo, partial(store, COMMITS), heads, watching),
        branches_id=branches_id,
        tags_id=tags_id,
    )
    # A deletion removes the name first: as long as the name exists, the listings were complete.
    reread_repository(repo)
    try:
        DumpContent(repo, dumped, watching).check()
    except InvalidInputError as error:
        raise CorruptDataError(f"repository {repo.record.name!r}: {error}") from error
    # The namespace of a read-only repository may be another's, and so may the manifest there.
    if not repo.record.read_only:
        _write_manifest(repo, dumped)
    return dumped


def _dump_commits(
    repo: OpenRepository,
    store: Callable[[Iterable[Commit]], MetaRangeID],
    heads: Iterable[CommitID],
    watching: Watching,
) -> MetaRangeID:
    """Store the commits by ID, the heads and all ancestors among them; return the file's ID."""
    known = CommitSet()
    commits_id = store(known.watch(watching(repo.engine.refs.every_commit(repo.record))))
    if not list(missing_commits(repo, known, heads)):
        return commits_id
    # Commits are never deleted, so the scan returns all of the set; it may return newer ones too.
    commits = watching(repo.engine.refs.every_commit(repo.record))
    return store(commit for commit in commits if commit.id in known)


def _write_manifest(repo: OpenRepository, dumped: RefsDump) -> None:
    uri = f"{repo.record.storage_namespace}/{MANIFEST}"
    repo.engine.objects.put(uri, dumps(dumped.manifest, indent=2).encode(), "application/json")


class _Restore(msgspec.Struct, frozen=True):
    """The input of a restore's task."""

    dumped: RefsDump
    force: bool


def restore(
    engine: Engine,
    name: str,
    dumped: RefsDump,
    *,
    force: bool = False,
    user: str = "",
    wait: ClientWait = FIRST_REQUEST,
) -> None:
    """Restore the commits, branches and tags of a dump in a bare repository's namespace.

    A repetition after a failure resumes. An empty dump leaves the repository bare. A large restore
    is left to a task, which this waits for.

    Raises:
        NotFoundError: the repository does not exist, or was deleted meanwhile.
        InvalidInputError: it is not bare, the name or an ID is malformed, or the dump is
            inconsistent, and nothing was changed.
        ForbiddenError: it is read-only, and force is False.
        ConflictError: the restore of another dump has begun.
        GoneError: the namespace does not hold the dump.
        CorruptDataError: a file of the dump is damaged.
        ContentionError: the repository changed in each try.
    """
    work = _Restoring(
        repo=read_repository(engine, name),
        user=user,
        request=msgspec.to_builtins(_Restore(dumped, force)),
        dumped=dumped,
        force=force,
    )
    result_in_time(work, wait)


@dataclass(kw_only=True)
class _Restoring(RequestedWork[None]):
    kind: TaskKind = TaskKind.RESTORE
    dumped: RefsDump
    force: bool

    def at_once(self, limit: WorkLimit) -> None:
        # Check only here: a task that this client waits for may have finished the restore.
        name = self.repo.record.name
        restorable = _restorable(self.repo.engine, name, self.dumped, force=self.force)
        same_repository(restorable, self.repo.record.uid)
        _restore(restorable, self.dumped, limit.over)

    def result_of(self, _task: Task) -> None:
        return None


def _restorable(engine: Engine, name: str, dumped: RefsDump, *, force: bool) -> OpenRepository:
    """Return the current repository if the dump may be restored into it; the dump is not read."""
    repo = read_repository(engine, name)
    check_writable(repo.record, force=force)
    if not repo.record.is_bare:
        raise InvalidInputError("can only restore into a bare repository")
    if repo.record.restoring not in ("", _claim_of(dumped)):
        raise ConflictError(
            f"a restore of repository {name!r} from {repo.record.restoring} has begun: repeat "
            "that one, or delete the repository and create it again"
        )
    for file_id in (dumped.commits_id, dumped.branches_id, dumped.tags_id):
        if file_id and not is_id(file_id):
            raise InvalidInputError(f"{file_id[:80]!r} is not a metarange ID (64 hex digits)")
    return repo


def _claim_of(dumped: RefsDump) -> str:
    return f"commits {dumped.commits_id}, branches {dumped.branches_id} and tags {dumped.tags_id}"


def _restore(
    repo: OpenRepository,
    dumped: RefsDump,
    watching: Watching,
    before_finish: Callable[[], None] = lambda: None,
) -> None:
    content = DumpContent(repo, dumped, watching)
    checked = content.check()
    if not checked.commits:
        return
    claimed = _claim(repo, dumped)
    _store_commits(claimed, watching(content.commits()), checked)
    try:
        _store_names(claimed, content, watching)
    except StaleVersionError:
        if reread_repository(claimed).record.is_bare:
            raise
        return  # another attempt finished this restore
    before_finish()
    _finish(claimed, checked)


def _store_names(repo: OpenRepository, content: DumpContent, watching: Watching) -> None:
    for branches in _batches(watching(content.branches()), _NAMES_AT_ONCE):
        made = [repo.new_branch(each.name, each.commit_id, hidden=each.hidden) for each in branches]
        repo.engine.refs.restore_branches(repo.record, made)
    for tags in _batches(watching(content.tags()), _NAMES_AT_ONCE):
        repo.engine.refs.restore_tags(repo.record, [Tag(tag.name, tag.commit_id) for tag in tags])


def _claim(repo: OpenRepository, dumped: RefsDump) -> OpenRepository:
    """Reserve the repository for this dump, so that no other can be restored into it."""
    claim = _claim_of(dumped)

    def attempt() -> OpenRepository:
        # Read-only was checked before; check again that the repository is still bare.
        current = _restorable(repo.engine, repo.record.name, dumped, force=True)
        same_repository(current, repo.record.uid)
        claimed = replace(current.record, restoring=claim)
        if current.record != claimed:
            repo.engine.refs.update_repository(current.record, claimed)
        return replace(repo, record=claimed)

    return retry_stale(attempt, f"repository {repo.record.name!r}")


def _finish(repo: OpenRepository, checked: CheckedDump) -> None:
    """End the repository's bare state, unless another restore of the same dump did."""
    event = repo.event(
        "repository_restored", commits=checked.commits, branches=checked.branches, tags=checked.tags
    )

    def attempt() -> None:
        current = reread_repository(repo).record
        if current.is_bare:
            repo.engine.refs.update_repository(current, replace(current, restoring=None), event)
            repo.engine.repositories.forget(repo.record.name)

    retry_stale(attempt, f"repository {repo.record.name!r}")


def _store_commits(repo: OpenRepository, commits: Iterable[Commit], checked: CheckedDump) -> None:
    """Store the commits, from the batch at which the last attempt may have stopped."""
    found = repo.engine.refs.commits(repo.record, checked.first_ids)
    begun = [number for number, first_id in enumerate(checked.first_ids) if first_id in found]
    start = max(begun, default=0)
    for number, batch in enumerate(_batches(commits, BATCH_COMMITS)):
        if number >= start:
            repo.engine.refs.restore_commits(repo.record, batch)


def _batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(things)
    while batch := list(islice(iterator, size)):
        yield batch


# As tasks. Errors found before the dump is read are raised at once.


def start_dump(engine: Engine, name: str, user: str) -> Task:
    """Start a task that dumps the repository; dump_of has its result. Errors are those of dump."""
    repo = _dumpable(engine, name)
    return start(repo, TaskKind.DUMP, {}, user=user, is_covered=never_covers)


def run_dump(hold: Hold) -> Mapping[str, str]:
    """Do the work of a dump's task; return its result.

    Raises:
        GravelerError: as dump.
        StoppedError: this runner must not continue.
    """
    hold.current_repository()
    return asdict(_dump(_dumpable(hold.repo.engine, hold.repo.record.name), hold.watched))


def dump_of(task: Task) -> RefsDump | None:
    """Return the dump that the task made, None if it runs or failed."""
    ids = {name: MetaRangeID(text) for name, text in task.result.items() if name != KEPT_AT}
    return RefsDump(**ids) if ids else None


def start_restore(
    engine: Engine, name: str, dumped: RefsDump, user: str, *, force: bool = False
) -> Task:
    """Start a task that restores the dump.

    Raises:
        NotFoundError: the repository does not exist.
        InvalidInputError: it is not bare, or the name or an ID is malformed.
        ForbiddenError: it is read-only, and force is False.
        ConflictError: the restore of another dump has begun.
    """
    repo = _restorable(engine, name, dumped, force=force)
    return start(repo, TaskKind.RESTORE, msgspec.to_builtins(_Restore(dumped, force)), user=user)


def run_restore(hold: Hold) -> None:
    """Do the work of a restore's task, and end it.

    Raises:
        GravelerError: as restore.
        StoppedError: this runner must not continue.
    """
    request = msgspec.convert(hold.task.request, _Restore)
    engine, name = hold.repo.engine, hold.repo.record.name
    # A runner before this one may have finished the restore, and died before it ended the task.
    if hold.current_repository().record.is_bare or hold.task.takes == 1:
        repo = _restorable(engine, name, request.dumped, force=request.force)
        same_repository(repo, hold.repo.record.uid)
        _restore(repo, request.dumped, hold.watched, hold.read_again)
    hold.complete({}, although_unwanted=True)
