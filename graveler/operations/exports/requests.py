"""The requests of users about continuous export: configure, start, repair, delete, show it."""

import json
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from graveler.branches.lookup import current_branch, read_branch, read_repository
from graveler.branches.retries import retry_stale
from graveler.engine import Engine
from graveler.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from graveler.export import lifecycle
from graveler.export.paths import allowed_location, object_uri
from graveler.export.patterns import Patterns
from graveler.export.record import (
    BranchExport,
    EndedRun,
    ExportConfiguration,
    ExportState,
)
from graveler.export.status import longest_name
from graveler.model import NO_COMMIT, Branch, CommitID, Event
from graveler.model.settings import check_unchanged
from graveler.model.tasks import TaskStart
from graveler.names import check_branch_name
from graveler.open_repository import OpenRepository
from graveler.operations.exports.overlaps import check_first_export, check_overlaps
from graveler.operations.exports.run_records import delete_pieces, delete_record, new_run_id

_REQUESTED = "export_requested"
# All patterns as JSON. The record stores them twice, and has 400 KB at most. JSON escapes may be
# six times as long as the character.
_PATTERNS_BYTES_MAX = 64 * 1024


class ExportStatus(Struct, frozen=True):
    """The status of a branch's export."""

    state: ExportState | None  # None: nothing was exported yet
    error_message: str
    exported_commit: CommitID  # the commit that the configured path holds exactly; "" if none
    is_pending: bool  # another run follows
    # The run in progress, or the last one; "" and 0 if there was none.
    export_id: str = ""
    commit_id: CommitID = NO_COMMIT
    started_ns: int = 0
    done: int = 0
    total: int = 0
    failed: int = 0
    first_errors: tuple[str, ...] = ()


def configure(
    engine: Engine,
    repository: str,
    branch: str,
    configuration: ExportConfiguration,
    *,
    force: bool = False,
    if_match: str | None = None,
) -> None:
    """Export the branch as configured from now on, beginning with its head.

    force allows a first export to a path that holds objects.
    if_match: the checksum that the present configuration must have; None: any.

    Raises:
        PreconditionFailedError: it has another checksum.
        InvalidInputError: a path is not allowed or cannot be listed, or a pattern does not compile.
        AlreadyExistsError: another branch is exported there, or objects are there.
        ConflictError: the branch's earlier export was deleted, but its runner has not stopped yet.
        NotFoundError: the repository or the branch does not exist.
        ContentionError: too many concurrent updates of the export.
    """

    def change(repo: OpenRepository, current: Branch, record: BranchExport | None) -> BranchExport:
        _check_unchanged(record, branch, if_match)
        checked = _checked(engine, repo.record.name, branch, configuration)
        check_overlaps(repo, branch, checked)
        if record is not None and record.is_forgotten:
            raise ConflictError("the deleted export of the branch has not stopped yet: retry")
        if not force:
            check_first_export(repo, branch, record, checked)
        return lifecycle.configured(record, branch, checked, current.commit_id)

    _change(engine, repository, branch, change)


def forget(engine: Engine, repository: str, branch: str, if_match: str | None = None) -> None:
    """Delete the export of the branch. Exported objects stay; other branches may use the path.

    A run in progress stops before its lease ends; then its path is free. if_match is that of
    `configure`.

    Raises:
        PreconditionFailedError: the configuration has another checksum.
        NotFoundError: the branch does not exist, or it is not exported.
        ContentionError: too many concurrent updates of the export.
    """
    repo, _ = current_branch(engine, repository, branch)
    event = repo.event(_REQUESTED, branch=branch)

    def attempt() -> None:
        record = _configured(engine.exports.branch_export(repo.record, branch), branch)
        _check_unchanged(record, branch, if_match)
        left = lifecycle.ended(record, engine.clock.now_ns())
        if left is None:
            delete_record(repo, record)
        else:
            engine.exports.replace_branch_export(repo.record, record, left, event)

    retry_stale(attempt, f"the export of branch {branch!r}")


def delete_branch(
    repo: OpenRepository,
    branch: Branch,
    record: BranchExport | None,
    event: Event,
    drop_after_ns: int,
    starts: TaskStart | None = None,
) -> None:
    """Delete the branch with its export, and store the task that this starts, in one transaction.

    record: of the export, None if there is none. The event makes the export function check a runner
    that is still working.

    Raises:
        StaleVersionError: another writer changed the branch or its export.
    """
    left = None if record is None else lifecycle.ended(record, repo.engine.clock.now_ns())
    repo.engine.exports.delete_branch(
        repo.record, branch, event, drop_after_ns, export=record, left=left, starts=starts
    )
    if record is not None and left is None:
        delete_pieces(repo, record.run)


def get(engine: Engine, repository: str, branch: str) -> ExportConfiguration:
    """Return the configuration of the branch's export.

    Raises:
        NotFoundError: the branch does not exist, or it is not exported.
    """
    return _record(engine, repository, branch).configuration


def status(engine: Engine, repository: str, branch: str) -> ExportStatus:
    """Return the status of the branch's export.

    Raises:
        NotFoundError: the branch does not exist, or it is not exported.
    """
    record = _record(engine, repository, branch)
    known = lifecycle.destination_of(record, record.configuration.path)
    found = ExportStatus(
        state=record.state,
        error_message=record.error_message,
        exported_commit=NO_COMMIT if known.touched_commits else known.exported_commit,
        is_pending=record.is_pending,
    )
    if record.run is None:
        return found
    progress = record.run.progress
    return replace(
        found,
        export_id=record.run.id,
        commit_id=record.run.commit_id,
        started_ns=record.run.started_ns,
        done=progress.done,
        total=progress.total,
        failed=progress.failed,
        first_errors=progress.first_errors,
    )


def ended_runs(engine: Engine, repository: str, branch: str) -> tuple[EndedRun, ...]:
    """Return the last ended runs of the branch's export, the newest first.

    Raises:
        NotFoundError: the branch does not exist, or it is not exported.
    """
    return _record(engine, repository, branch).ended


def run(engine: Engine, repository: str, branch: str, *, in_batch: bool = False) -> str:
    """Start a run that exports every object of the branch's head, and return the run's ID.

    in_batch leaves the run to a batch job, whatever its size.

    Raises:
        InvalidInputError: the deployment does not export there any more.
        ConflictError: a run is in progress.
        NotFoundError: the branch does not exist, or it is not exported.
        ContentionError: too many concurrent updates of the export.
    """
    run_id = ""

    def change(repo: OpenRepository, current: Branch, record: BranchExport | None) -> BranchExport:
        nonlocal run_id
        now = _configured(record, branch)
        if not in_batch:  # its job may write where its role may
            prefixes = engine.export_settings.allowed_prefixes
            allowed_location(now.configuration.path, "export path", prefixes)
        if now.state is ExportState.IN_PROGRESS:
            raise ConflictError("export currently in progress: wait until it has ended")
        now_ns = engine.clock.now_ns()
        run_id = new_run_id(repo, current)
        whole = lifecycle.unverified(now)
        begun = lifecycle.begun(whole, repo.record.name, run_id, current.commit_id, now_ns)
        return lifecycle.left_to_batch(begun, now_ns) if in_batch else begun

    _change(engine, repository, branch, change)
    return run_id


def repair(engine: Engine, repository: str, branch: str) -> None:
    """Resume a failed export; its cause should be fixed by now.

    Raises:
        ConflictError: the export has not failed.
        NotFoundError: the branch does not exist, or it is not exported.
        ContentionError: too many concurrent updates of the export.
    """

    def change(_: OpenRepository, _current: Branch, record: BranchExport | None) -> BranchExport:
        now = _configured(record, branch)
        if now.state is not ExportState.FAILED:
            raise ConflictError("incorrect status: only a failed export can be repaired")
        return lifecycle.repaired(now)

    _change(engine, repository, branch, change)


def _record(engine: Engine, repository: str, branch: str) -> BranchExport:
    repo, _ = current_branch(engine, repository, branch)
    return _configured(engine.exports.branch_export(repo.record, branch), branch)


def _configured(record: BranchExport | None, branch: str) -> BranchExport:
    if record is None or record.is_forgotten:
        raise NotFoundError(f"branch {branch!r} has no export configuration: set one first")
    return record


def _check_unchanged(record: BranchExport | None, branch: str, if_match: str | None) -> None:
    configuration = None if record is None or record.is_forgotten else record.configuration
    check_unchanged(f"the export of branch {branch!r}", configuration, if_match)


def _change(
    engine: Engine,
    repository: str,
    branch: str,
    change: Callable[[OpenRepository, Branch, BranchExport | None], BranchExport],
) -> None:
    """Replace the record by change(repo, branch, record); retry if it changed meanwhile.

    An event makes the export function look at the record.

    The record is read before the branch, and is deleted together with its branch. So as long as the
    record does not change, the branch is not a new one of that name.

    Raises:
        NotFoundError: the repository or the branch does not exist.
        ContentionError: too many concurrent updates of the export.
    """
    check_branch_name(branch)

    def attempt() -> None:
        repo = read_repository(engine, repository)
        record = engine.exports.branch_export(repo.record, branch)
        current = read_branch(repo, branch)
        changed = change(repo, current, record)
        event = repo.event(_REQUESTED, branch=branch)
        engine.exports.replace_branch_export(repo.record, record, changed, event)

    retry_stale(attempt, f"the export of branch {branch!r}")


def _checked(
    engine: Engine, repository: str, branch: str, configuration: ExportConfiguration
) -> ExportConfiguration:
    """Return the configuration, normalized.

    Raises:
        InvalidInputError: a path is not allowed, or a pattern or all of them are invalid.
    """
    Patterns(configuration.last_keys_in_prefix_regexps)
    prefixes = engine.export_settings.allowed_prefixes
    path = allowed_location(configuration.path, "export path", prefixes)
    status_path = configuration.status_path
    if status_path:
        status_path = allowed_location(status_path, "export status path", prefixes)
        object_uri(status_path, longest_name(repository, branch).encode())
    patterns = configuration.last_keys_in_prefix_regexps
    patterns_bytes = len(json.dumps(patterns))
    if patterns_bytes > _PATTERNS_BYTES_MAX:
        raise InvalidInputError(
            f"the patterns have {patterns_bytes} bytes as JSON, at most {_PATTERNS_BYTES_MAX} are "
            "allowed: use fewer or shorter ones"
        )
    return replace(configuration, path=path, status_path=status_path)
