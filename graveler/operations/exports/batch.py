"""Runs of an export by batch jobs: the function left one to them, or somebody starts one by hand.

A run that waits for a job looks to the function as if somebody held it, until the time by which
the job should have come. The job takes it like any runner: by compare-and-swap, so once.
"""

from collections.abc import Callable
from math import inf

from graveler.errors import ConflictError, GravelerError, NotFoundError, StaleVersionError
from graveler.export import lifecycle
from graveler.export.lifecycle import LEASE_S, Next
from graveler.export.model import BranchExport, ExportRequest, ExportState
from graveler.limits import BRANCH_UPDATE_TRIES_MAX
from graveler.model import Repository
from graveler.operations.engine import Engine
from graveler.operations.exports import requests
from graveler.operations.exports.lease import Lease
from graveler.operations.exports.run import carry_out
from graveler.operations.exports.stretches import Workers


def export_in_batch(
    engine: Engine,
    request: ExportRequest,
    run_id: str,
    *,
    runner: str,
    workers: Workers,
    time_left_s: Callable[[], float] = lambda: inf,
) -> str:
    """Carry a run of the branch's export out, as far as it goes; the ID of the run.

    Without an ID, it is the run at work, if nobody works on it; else a new one. runner is a name
    that nobody else has. How it ended stands in the export's status; the export function is told
    to look after what is to follow.

    Raises:
        ConflictError: somebody works on it; or it has ended; or there is nothing to export.
        NotFoundError: there is no such branch, or it is not exported.
    """
    repository = engine.refs.repository(request.repository)
    if repository is None:
        raise NotFoundError(f"repository {request.repository!r} does not exist")
    wanted = run_id or _chosen_run(engine, request)
    # Should this job die without a word, somebody looks.
    engine.export_queue.send(request, LEASE_S)
    lease = _take(engine, repository, request, wanted, runner)
    held = lease.run.id
    try:
        if carry_out(lease, request, time_left_s, workers):
            engine.export_queue.send(request)
    except GravelerError:
        engine.export_queue.send(request)
        raise
    return held


def _chosen_run(engine: Engine, request: ExportRequest) -> str:
    told = requests.status(engine, request.repository, request.branch)
    if told.state is ExportState.IN_PROGRESS:
        return told.export_id
    return requests.run(engine, request.repository, request.branch, in_batch=True)


def _take(
    engine: Engine, repository: Repository, request: ExportRequest, run_id: str, runner: str
) -> Lease:
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        record = engine.exports.branch_export(repository, request.branch)
        now_ns = engine.clock.now_ns()
        if record is None or not _may_take(record, run_id, now_ns):
            break
        taken = lifecycle.taken(record, runner, now_ns)
        try:
            held = engine.exports.replace_branch_export(repository, record, taken)
        except StaleVersionError:
            continue
        return Lease(engine, repository, held)
    raise ConflictError(f"export {run_id} is carried out by somebody else, or has ended")


def _may_take(record: BranchExport, run_id: str, now_ns: int) -> bool:
    run = record.run
    if record.state is not ExportState.IN_PROGRESS or run is None or run.id != run_id:
        return False
    if lifecycle.is_unwanted(record):
        return False
    is_waiting = run.is_batch and not run.runner
    return is_waiting or lifecycle.next_step(record, run.commit_id, now_ns) is not Next.WAIT
