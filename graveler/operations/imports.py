"""Import: commit entries of objects that stay where they are in the object store.

Theory of operation. An import has two phases:

1. List: the sources are listed into a metarange of their own, range by range (`list_sources`). From
   time to time the metarange of what is listed so far is stored and saved with the caller. A
   repetition continues behind its last key, so no listing is too long for one function. The objects
   of inventories, which have no order, are sorted before (`sort_inventories`).
2. Commit: the imported metarange replaces what the branch's head has at the destinations
   (`graveler.imports.changes`), and the head moves in one transaction (`commit_import`).

Both phases can be repeated after a crash. Before the second one ends, nothing is visible.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Protocol

from graveler.committed.writer import FileWriter
from graveler.errors import ConflictError, GravelerError, NotFoundError
from graveler.imports.changes import apply_import
from graveler.imports.inventory import listed_in, read_manifest
from graveler.imports.listing import record_in, records_after
from graveler.imports.request import (
    DEFAULT_MESSAGE,
    ImportRequest,
    SourceType,
    check_request,
    check_source,
)
from graveler.imports.runs import (
    BATCH_RECORDS,
    SORTED_RECORDS,
    Found,
    extended,
    merged_runs,
    with_run,
)
from graveler.messages import Refusal
from graveler.model import (
    Branch,
    Commit,
    CommitID,
    MetaRangeID,
    Record,
    Repository,
    Task,
)
from graveler.operations import tasks
from graveler.operations.actions import refuse_guarded
from graveler.operations.engine import Engine
from graveler.operations.protocol.heads import (
    Move,
    check_commit_size,
    commit_event,
    move_head,
    new_commit,
    require_clean,
)
from graveler.operations.protocol.lookup import check_writable, current_branch, read_repository

# Ranges between two saves. These are about 130,000 objects, which take some ten seconds to list.
_RANGES_OF_A_SAVE = 16

# lakeFS sets this key of the repository's metadata to the time of the last import, in Unix seconds.
LAST_IMPORT = ".lakefs.last.import.timestamp"

_NOTHING = Found()
_IMPORT_TASK = "IM"
_CANCELED = "Canceled"


class Watch(Protocol):
    """What list_sources tells its caller; a method may raise to stop the work."""

    def report(self, done: int, known: int) -> None:
        """Take note of the progress, in objects. It is called for each page of a listing.

        known grows with done: the store does not tell how many objects follow.
        """

    def save(self, found: Found) -> None:
        """Store what is found so far. list_sources can continue behind it."""


def check_start(
    engine: Engine, repository: str, branch: str, request: ImportRequest
) -> tuple[Repository, Branch]:
    """Check all that can be checked before an import begins; return repository and branch.

    Raises:
        InvalidInputError: a source is invalid, the branch has uncommitted changes, a name is
            malformed, or the request is too large.
        ForbiddenError: the repository is read-only, or the deployment does not allow a source.
        NotFoundError: the repository or the branch does not exist.
    """
    found, current = current_branch(engine, repository, branch)
    check_writable(found, force=request.force)
    check_request(request, found.storage_namespace, engine.import_prefixes)
    check_commit_size(request.message, request.metadata)
    return found, require_clean(engine, found, current)


def list_sources(
    engine: Engine,
    repository: Repository,
    request: ImportRequest,
    watch: Watch,
    saved: Found = _NOTHING,
) -> MetaRangeID:
    """Store the metarange of all objects of the sources; return its ID.

    saved: what an earlier call saved last; this call lists only what follows. The memory that it
    takes does not grow with the number of objects.

    Raises:
        InvalidInputError: a bucket cannot be listed, or an object cannot be imported.
        ForbiddenError: an inventory lists an object that the deployment does not allow.
        NotFoundError: the object of a source does not exist.
        CorruptDataError: a file of an inventory is missing or damaged.
    """
    found = sort_inventories(engine, repository, request, watch, saved)
    committed = engine.committed
    listed = engine.metarange(repository, found.listed)
    done = _count(engine, repository, listed.id)
    known = sum(_count(engine, repository, run.metarange_id) for run in found.runs)
    writer = FileWriter(committed, listed.namespace, breaking=committed.breaking)
    after = listed.last_key
    inventories = {
        number: merged_runs(
            committed,
            listed.namespace,
            [run for run in found.runs if run.source == number],
            after + b"\x00",
        )
        for number in {run.source for run in found.runs}
    }
    records = records_after(engine.objects, request.sources, after, inventories)
    while batch := list(islice(records, BATCH_RECORDS)):
        keys, values = zip(*batch, strict=True)
        writer.write_records(keys, values)
        done += len(batch)
        watch.report(done, max(done, known))
        if writer.ended >= _RANGES_OF_A_SAVE:
            listed = extended(committed, listed, writer.take_stored())
            watch.save(replace(found, listed=listed.id))
    listed = extended(committed, listed, writer.finish())
    watch.report(done, done)
    watch.save(replace(found, listed=listed.id))
    return listed.id


def _count(engine: Engine, repository: Repository, metarange_id: MetaRangeID) -> int:
    return sum(header.count for header in engine.metarange(repository, metarange_id).headers())


def sort_inventories(
    engine: Engine, repository: Repository, request: ImportRequest, watch: Watch, saved: Found
) -> Found:
    """Store the objects of all inventories as sorted runs; nothing to do without inventories.

    Raises:
        GravelerError: whatever list_sources raises.
    """
    namespace = repository.storage_namespace
    found, at = saved, 0
    known = sum(_count(engine, repository, run.metarange_id) for run in saved.runs)

    def report() -> None:
        watch.report(0, known)

    store = partial(with_run, engine.committed, namespace, report)
    for number, source in enumerate(request.sources):
        if source.type is not SourceType.INVENTORY:
            continue
        inventory = read_manifest(engine.objects, source.uri)
        for file in range(len(inventory.files)):
            at += 1
            if at <= found.files:
                continue
            runs, records = found.runs, list[Record]()
            for listed in listed_in(engine.objects, inventory, file):
                check_source(listed.uri, namespace, engine.import_prefixes)
                records.append(record_in(source, listed))
                known += 1
                if known % BATCH_RECORDS == 0:
                    report()
                if len(records) == SORTED_RECORDS:
                    runs, records = store(runs, number, records), []
            if records:
                runs = store(runs, number, records)
            found = replace(found, runs=runs, files=at)
            watch.save(found)
    return found


def commit_import(
    engine: Engine,
    repository: Repository,
    branch: str,
    request: ImportRequest,
    listed: MetaRangeID,
) -> Commit:
    """Replace the destinations' content by the listed objects; return the commit.

    There is a commit even if nothing changes.

    Raises:
        InvalidInputError: the branch has uncommitted changes, or its name is malformed.
        NotFoundError: the repository or the branch was deleted.
        ForbiddenError: the repository is read-only.
        PreconditionFailedError: an action file guards commits on the branch.
        ContentionError: other writers came first in each try.
    """
    found, current = current_branch(engine, repository.name, branch)
    if found.uid != repository.uid:
        raise NotFoundError(f"repository {found.name!r} was deleted and created again")
    check_writable(found, force=request.force)
    imported = engine.metarange(found, listed)
    replaced = [source.replaced for source in request.sources]

    def plan(now: Branch) -> Move:
        now = require_clean(engine, found, now)
        head = engine.history(found).commit(now.commit_id)
        base = engine.metarange(found, head.metarange_id)
        applied = apply_import(engine.committed, imported, base, replaced)
        return move_to(engine, found, now, head, request, applied.metarange_id)

    made = move_head(engine, found, current, plan).commit
    assert made is not None
    note_import(engine, found, made)
    return made


def move_to(
    engine: Engine,
    repository: Repository,
    branch: Branch,
    head: Commit,
    request: ImportRequest,
    metarange_id: MetaRangeID,
) -> Move:
    """Return the move to a new commit of that content on top of the clean branch's head.

    Raises:
        PreconditionFailedError: an action file guards commits on the branch.
    """
    content = engine.metarange(repository, metarange_id)
    refuse_guarded(engine, repository, content, branch.name, "pre-commit")
    made = new_commit(
        engine,
        committer=request.committer,
        message=request.message or DEFAULT_MESSAGE,
        metarange_id=metarange_id,
        metadata={**request.metadata, ".lakefs.merge.strategy": "source-wins"},
        parents=(head,),
    )
    event = commit_event(engine, "import_completed", repository, branch.name, made)
    return Move(branch, made.id, branch.sealed_tokens, made, event, is_clean=True)


def note_import(engine: Engine, repository: Repository, commit: Commit) -> None:
    """Store the import's time in the repository's metadata, where lakeFS's clients look for it."""
    # The commit exists already: a failure here must not make it look as if it did not.
    with suppress(GravelerError):
        times = {LAST_IMPORT: str(commit.creation_date)}
        engine.refs.update_repository_metadata(repository, times, ())


# As tasks (`graveler.operations.tasks`). The request that starts an import also does its work.


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """The state of an import's task; commit is set after success only."""

    task: Task
    objects: int = 0
    commit: Commit | None = None


@dataclass(frozen=True, slots=True)
class _StopIfCanceled:
    """Stops the work once its task has ended."""

    engine: Engine
    repository: Repository
    task_id: str

    def report(self, done: int, known: int) -> None:  # noqa: ARG002 - a task has no progress
        task = self.engine.refs.task(self.repository, self.task_id)
        if task is not None and task.is_done:
            raise ConflictError(_CANCELED)

    def save(self, found: Found) -> None:
        """Do nothing: the task does not outlive the request."""


def start(engine: Engine, repository: str, branch: str, request: ImportRequest) -> Task:
    """Import as a task; return the task, which has ended.

    Raises:
        GravelerError: whatever check_start raises.
    """
    found, _ = check_start(engine, repository, branch, request)
    task = tasks.start(engine, found, _IMPORT_TASK)

    def work() -> Mapping[str, str]:
        watch = _StopIfCanceled(engine, found, task.id)
        listed = list_sources(engine, found, request, watch)
        objects = _count(engine, found, listed)
        commit = commit_import(engine, found, branch, request, listed)
        return {"commit_id": commit.id, "objects": str(objects)}

    return tasks.run(engine, found, task, work)


def status(engine: Engine, repository: str, task_id: str) -> ImportStatus:
    """Return the state of an import.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the import does not exist.
    """
    found = read_repository(engine, repository)
    task = tasks.status(engine, found, _IMPORT_TASK, task_id)
    if not task.result:
        return ImportStatus(task)
    commit = engine.history(found).commit(CommitID(task.result["commit_id"]))
    return ImportStatus(task, int(task.result["objects"]), commit)


def cancel(engine: Engine, repository: str, task_id: str) -> None:
    """Stop an import; do nothing if it failed, or was stopped before.

    Raises:
        ConflictError: it has succeeded.
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the import does not exist.
    """
    found = read_repository(engine, repository)
    task = tasks.status(engine, found, _IMPORT_TASK, task_id)
    if task.result:
        raise Refusal.IMPORT_ENDED.error(f"import {task_id!r} has ended: revert its commit instead")
    if not task.is_done:
        now_ns = engine.clock.now_ns()
        ended = replace(task, is_done=True, error=_CANCELED, update_time_ns=now_ns)
        engine.refs.put_task(found, ended)
