"""Import: commit entries of objects that stay where they are in the object store.

Theory of operation. An import has two phases:

1. List: the sources are listed into a metarange of their own, range by range (`list_sources`).
   Every few seconds, and when a store fails, the metarange of the listed objects is stored. The
   caller saves its ID. A repetition continues behind its last key, so no listing is too long for
   one function. The objects of inventories, which have no order, are sorted before
   (`sort_inventories`).
2. Commit: the imported metarange replaces the content of the branch's head at the destinations
   (`graveler.imports.changes`). The head moves in one transaction (`commit_import`).

Both phases can be repeated after a crash. Before the second one ends, nothing is visible.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from graveler.branches.changes import ImportedSource, apply_import
from graveler.branches.heads import (
    Move,
    check_commit_size,
    commit_event,
    made_commit,
    new_commit,
    require_clean,
)
from graveler.branches.lookup import current_branch, in_repository
from graveler.branches.protection import check_can_commit
from graveler.committed.metarange import MetaRange
from graveler.engine import Engine
from graveler.errors import ConflictError, GravelerError
from graveler.imports.inventory import listed_in, read_manifest
from graveler.imports.keys import KeyInterval, clipped, outside, union
from graveler.imports.listing import record_in, records_after
from graveler.imports.request import (
    DEFAULT_MESSAGE,
    ImportRequest,
    SourceType,
    check_request,
    check_source,
)
from graveler.imports.runs import SORTED_RECORDS, Found, Listed, merged_runs, with_run
from graveler.layout import TABLES_PREFIX
from graveler.messages import Refusal
from graveler.model import Branch, Commit, MetaRangeID, Record
from graveler.model.tasks import Task, TaskKind, TaskState
from graveler.open_repository import OpenRepository
from graveler.operations.hooks.after import move_and_announce, start_after
from graveler.operations.hooks.before import HookGate, task_gate
from graveler.operations.hooks.commits import about_commit, pass_before_commit
from graveler.operations.leases import OutOfTimeError
from graveler.operations.tasks import requests
from graveler.operations.tasks.hold import PASSING_ERRORS, Hold, ProtectedEnding
from graveler.operations.tasks.requested_work import commit_of
from graveler.operations.tasks.requests import never_covers, start
from graveler.operations.tasks.slices import apply_by_slices
from graveler.times import NS_PER_S

# A save stores the open range and the metarange again: some megabytes for a large import.
_SAVE_S = 5

# lakeFS sets this key of the repository's metadata to the time of the last import, in Unix seconds.
LAST_IMPORT = ".lakefs.last.import.timestamp"

_NOTHING = Found()


class ImportReporter(Protocol):
    """Receives the reports of list_sources; a method may raise to stop the work."""

    def report(self, done: int, known: int) -> None:
        """Take note of the progress, in objects; called for each object, before it is done.

        known grows with done: the store does not report how many objects follow.
        """

    def save(self, found: Found) -> None:
        """Store the objects found so far; list_sources can continue behind them."""


def check_start(
    engine: Engine, repository: str, branch: str, request: ImportRequest
) -> tuple[OpenRepository, Branch]:
    """Check all that can be checked before an import begins; return repository and branch.

    Raises:
        InvalidInputError: a source is invalid, the branch has uncommitted changes, a name is
            malformed, or the request is too large.
        ForbiddenError: the branch is protected, the repository is read-only, or the deployment
            does not allow a source.
        NotFoundError: the repository or the branch does not exist.
    """
    repo, current = current_branch(engine, repository, branch)
    check_can_commit(repo.record, branch, force=request.force)
    check_request(request, repo.record.storage_namespace, engine.import_prefixes)
    check_commit_size(request.message, request.metadata)
    return repo, require_clean(repo, current)


def list_sources(
    repo: OpenRepository, request: ImportRequest, reporter: ImportReporter, saved: Found = _NOTHING
) -> MetaRangeID:
    """Store the metarange of all objects of the sources; return its ID.

    saved: the last save of an earlier call; this call lists only the objects behind it. The memory
    that it takes does not grow with the number of objects.

    Raises:
        InvalidInputError: a bucket cannot be listed, or an object cannot be imported.
        ForbiddenError: an inventory lists an object that the deployment does not allow.
        NotFoundError: the object of a source does not exist.
        CorruptDataError: a file of an inventory is missing or damaged.
    """
    found = sort_inventories(repo, request, reporter, saved)
    committed = repo.engine.committed
    listed = Listed(committed, repo.metarange(found.listed))
    known = sum(repo.metarange(run.metarange_id).count() for run in found.runs)
    after = listed.last_key
    inventories = {
        number: merged_runs(
            committed,
            repo.record.storage_namespace,
            [run for run in found.runs if run.source == number],
            after + b"\x00",
        )
        for number in {run.source for run in found.runs}
    }

    def report() -> None:
        # Sorted objects count as found, also while they are listed.
        reporter.report(max(listed.count, known), max(listed.count, known))

    def save() -> MetaRangeID:
        metarange_id = listed.store()
        reporter.save(replace(found, listed=metarange_id))
        return metarange_id

    records = records_after(repo.engine.objects, request.sources, after, inventories, report)
    saved_ns = repo.engine.clock.now_ns()
    try:
        while listed.add(records):
            report()
            now_ns = repo.engine.clock.now_ns()
            if now_ns - saved_ns >= _SAVE_S * NS_PER_S:
                save()
                saved_ns = now_ns
    except (*PASSING_ERRORS, OutOfTimeError):
        save()
        raise
    reporter.report(listed.count, listed.count)
    return save()


def sort_inventories(
    repo: OpenRepository, request: ImportRequest, reporter: ImportReporter, saved: Found
) -> Found:
    """Store the objects of all inventories as sorted runs; nothing to do without inventories.

    An object that is sorted counts as done.

    Raises:
        GravelerError: whatever list_sources raises.
    """
    namespace = repo.record.storage_namespace
    found, at = saved, 0
    known = sum(repo.metarange(run.metarange_id).count() for run in saved.runs)

    def report() -> None:
        reporter.report(known, known)

    store = partial(with_run, repo.engine.committed, namespace, report)
    for number, source in enumerate(request.sources):
        if source.type is not SourceType.INVENTORY:
            continue
        inventory = read_manifest(repo.engine.objects, source.uri)
        for uri, _ in inventory.files:
            check_source(uri, namespace, repo.engine.import_prefixes)
        for file in range(len(inventory.files)):
            at += 1
            if at <= found.files:
                continue
            runs, records = found.runs, list[Record]()
            for listed in listed_in(repo.engine.objects, inventory, file, report):
                check_source(listed.uri, namespace, repo.engine.import_prefixes)
                records.append(record_in(source, listed))
                known += 1
                if len(records) == SORTED_RECORDS:
                    runs, records = store(runs, number, records), []
            if records:
                runs = store(runs, number, records)
            found = replace(found, runs=runs, files=at)
            reporter.save(found)
    return found


def commit_import(
    hold: Hold, repo: OpenRepository, branch: Branch, request: ImportRequest, listed: MetaRangeID
) -> Commit:
    """Replace the destinations' content with the listed objects, and end the task with the commit.

    There is a commit even if nothing changes.

    Raises:
        InvalidInputError: the branch has uncommitted changes.
        NotFoundError: the branch does not exist any more.
        ForbiddenError: the branch is protected by now, or the repository is read-only.
        HookFailedError: a hook stops the commit.
        PreconditionFailedError: an action file is malformed.
        ContentionError: other writers came first in each try.
        StoppedError: this runner must not continue.
    """
    replaced = union(each.replaced for each in request.sources)
    apply = apply_by_slices(hold, counts=False)
    gate = task_gate(hold, repo)

    def plan(now: Branch) -> Move:
        now = require_clean(repo, now)
        head = repo.history().commit(now.commit_id)
        base = repo.metarange(head.metarange_id)
        source = ImportedSource(listed, _without_tables(replaced, base))
        applied = apply_import(apply, repo, base, source)
        return move_to(gate, now, head, request, applied.metarange_id)

    ending = ProtectedEnding(hold, force=request.force)
    return made_commit(move_and_announce(repo, branch, plan, ending))


def move_to(
    gate: HookGate, branch: Branch, head: Commit, request: ImportRequest, metarange_id: MetaRangeID
) -> Move:
    """Return the move to a new commit of that content on top of the clean branch's head.

    Raises:
        HookFailedError: a hook stops the commit.
        PreconditionFailedError: an action file is malformed.
    """
    repo = gate.repo
    content = repo.metarange(metarange_id)
    made = new_commit(
        repo.engine,
        committer=request.committer,
        message=request.message or DEFAULT_MESSAGE,
        metarange_id=metarange_id,
        metadata={**request.metadata, ".lakefs.merge.strategy": "source-wins"},
        parents=(head,),
    )
    about = about_commit(branch.name, made.message, made.committer, made.metadata)
    before = pass_before_commit(gate, content, about, head.id, metarange_id)
    event = commit_event(repo, "import_completed", branch.name, made)
    starts = start_after(repo, content, "post-commit", branch.name, made, before=before)
    return Move(branch, made.id, branch.sealed_tokens, made, event, is_clean=True, starts=starts)


def note_import(repo: OpenRepository, commit: Commit) -> None:
    """Store the import's time in the repository's metadata, where lakeFS's clients look for it."""
    # The commit exists already: a failure here must not look like a failed import.
    with suppress(GravelerError):
        times = {LAST_IMPORT: str(commit.creation_date)}
        repo.engine.refs.update_repository_metadata(repo.record, times, ())


# As tasks.


def start_import(engine: Engine, repository: str, branch: str, request: ImportRequest) -> Task:
    """Start a task that imports into the branch; return it.

    Raises:
        GravelerError: whatever check_start raises.
    """
    repo, current = check_start(engine, repository, branch, request)
    return start(
        repo,
        TaskKind.IMPORT,
        msgspec.to_builtins(request),
        user=request.committer,
        branch=current,
        is_covered=never_covers,  # the sources may have changed
    )


def run_import(hold: Hold) -> None:
    """Do the work of an import's task, and end it with the commit.

    Raises:
        GravelerError: as list_sources and commit_import.
        StoppedError: this runner must not continue.
    """
    request = msgspec.convert(hold.task.request, ImportRequest)
    repo, branch = hold.current_branch()
    check_can_commit(repo.record, branch.name, force=request.force)
    saved = Found.from_json(hold.task.saved["found"]) if "found" in hold.task.saved else _NOTHING
    listed = list_sources(repo, request, _TaskReporter(hold), saved)
    note_import(repo, commit_import(hold, repo, branch, request, listed))


class _TaskReporter(msgspec.Struct, frozen=True):
    """Reports to the task of the import."""

    hold: Hold

    def report(self, done: int, known: int) -> None:
        self.hold.report(done, known)

    def save(self, found: Found) -> None:
        self.hold.save({**self.hold.task.saved, "found": found.to_json()})


def _without_tables(replaced: Sequence[KeyInterval], base: MetaRange) -> tuple[KeyInterval, ...]:
    """Return the intervals without the Iceberg tables of base, which imports leave alone."""
    tables = KeyInterval.of_prefix(TABLES_PREFIX)
    covers_them = any(clipped(replaced, tables.start, tables.end))
    if covers_them and any(base.records(tables.start, tables.end)):
        return tuple(outside(replaced, tables))
    return tuple(replaced)


class ImportStatus(msgspec.Struct, frozen=True):
    """The state of an import's task; commit is set after success only."""

    task: Task
    commit: Commit | None = None


def status(engine: Engine, repository: str, task_id: str) -> ImportStatus:
    """Return the state of an import.

    lakectl gives up an import without an update for 25 seconds. An import that waits for a runner
    has none, and has not failed. So the time of its update is now.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the import does not exist.
    """
    task = requests.status(engine, repository, task_id, TaskKind.IMPORT)
    if task.shown_state is TaskState.WAITING:
        return ImportStatus(replace(task, update_time_ns=engine.clock.now_ns()))
    if task.state is not TaskState.COMPLETED:
        return ImportStatus(task)
    commit = in_repository(engine, repository, lambda found: commit_of(found, task))
    return ImportStatus(task, commit)


def cancel(engine: Engine, repository: str, task_id: str) -> None:
    """Stop an import; do nothing if it failed, or was stopped before.

    Raises:
        ConflictError: it has succeeded.
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository or the import does not exist.
    """
    try:
        requests.cancel(engine, repository, task_id, TaskKind.IMPORT)
    except ConflictError as error:
        task = requests.status(engine, repository, task_id, TaskKind.IMPORT)
        if task.state is TaskState.COMPLETED:
            raise Refusal.IMPORT_ENDED.error(
                f"import {task_id!r} has ended: revert its commit instead"
            ) from error
