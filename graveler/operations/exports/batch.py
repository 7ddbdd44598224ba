"""Runs in batch jobs: the function leaves a run to a job, or a user starts the job.

For the export function, a run that waits for a job is leased until the job should have started.
The job takes the run like any runner: by compare-and-swap, so only one job gets it.
"""

from collections.abc import Callable
from math import inf

from graveler.engine import Engine
from graveler.errors import ConflictError, GravelerError, NotFoundError, StaleVersionError
from graveler.export import lifecycle
from graveler.export.lifecycle import LEASE_S
from graveler.export.next_step import Next, next_step
from graveler.export.record import BranchExport, ExportRequest, ExportState
from graveler.limits import BRANCH_UPDATE_TRIES_MAX
from graveler.open_repository import OpenRepository
from graveler.operations.exports import requests
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.run import carry_out
from graveler.operations.exports.slices import ExportWorkers


def export_in_batch(
    engine: Engine,
    request: ExportRequest,
    run_id: str,
    *,
    runner: str,
    workers: ExportWorkers,
    time_left_s: Callable[[], float] = lambda: inf,
) -> str:
    """Carry out a run of the branch's export as far as possible, and return its ID.

    The export's status has the outcome. Messages make the export function continue the run if this
    job dies or fails, and begin the next run.

    Args:
        engine: where everything is stored.
        request: the branch.
        run_id: the run; "" for the run in progress, or for a new one if there is none.
        runner: a name that no other runner has.
        workers: carry out the slices of the run.
        time_left_s: returns how many seconds this call may still take.

    Raises:
        ConflictError: another runner holds the run, or it has ended.
        NotFoundError: the branch does not exist, or it is not exported.
        GravelerError: a store failed.
    """
    repository = engine.refs.repository(request.repository)
    if repository is None:
        raise NotFoundError(f"repository {request.repository!r} does not exist")
    wanted = run_id or _chosen_run(engine, request)
    # If this job dies, the export function takes the run over.
    engine.export_queue.send(request, LEASE_S)
    lease = _take(OpenRepository(engine, repository), request, wanted, runner)
    held = lease.run.id
    try:
        if carry_out(lease, request, time_left_s, workers):
            engine.export_queue.send(request)
    except GravelerError:
        engine.export_queue.send(request)
        raise
    return held


def _chosen_run(engine: Engine, request: ExportRequest) -> str:
    status = requests.status(engine, request.repository, request.branch)
    if status.state is ExportState.IN_PROGRESS:
        return status.export_id
    return requests.run(engine, request.repository, request.branch, in_batch=True)


def _take(repo: OpenRepository, request: ExportRequest, run_id: str, runner: str) -> ExportLease:
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        record = repo.engine.exports.branch_export(repo.record, request.branch)
        now = repo.engine.clock.moment()
        if record is None or not _may_take(record, run_id, now.wall_ns):
            break
        taken = lifecycle.taken(record, runner, now.wall_ns)
        try:
            held = repo.engine.exports.replace_branch_export(repo.record, record, taken)
        except StaleVersionError:
            continue
        return ExportLease(repo, held, now)
    raise ConflictError(
        f"export {run_id} has another runner, or has ended: see the export's status"
    )


def _may_take(record: BranchExport, run_id: str, now_ns: int) -> bool:
    run = record.run
    if record.state is not ExportState.IN_PROGRESS or run is None or run.id != run_id:
        return False
    if lifecycle.is_unwanted(record):
        return False
    is_waiting = run.is_batch and not run.runner
    return is_waiting or next_step(record, run.commit_id, now_ns) is not Next.WAIT
