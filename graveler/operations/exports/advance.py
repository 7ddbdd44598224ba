"""Advance a branch's export by its next step.

Messages arrive at least once, late and in any order, so they only name a branch. The branch's head
and the export's record decide the step (`next_step`). While a runner holds a run, a message is on
its way that arrives when the lease ends. If the lease was renewed, it is sent again. A runner whose
time is up stores its progress and sends a message for the next runner.
"""

from collections.abc import Callable

from msgspec.structs import replace

from graveler.engine import Engine
from graveler.errors import StaleVersionError
from graveler.export import lifecycle
from graveler.export.next_step import Next, next_step
from graveler.export.record import BranchExport, ExportRequest, ExportState
from graveler.limits import BRANCH_UPDATE_TRIES_MAX
from graveler.model import Branch
from graveler.open_repository import OpenRepository
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.run import carry_out
from graveler.operations.exports.run_records import delete_pieces, delete_record, new_run_id
from graveler.operations.leases import TIME_TO_BEGIN_S
from graveler.operations.places import Seat
from graveler.times import Moment


def advance(
    engine: Engine, request: ExportRequest, *, runner: str, time_left_s: Callable[[], float]
) -> BranchExport | None:
    """Take the next steps of the branch's export; return its record as last seen.

    Args:
        engine: where everything is stored.
        request: the branch to look at.
        runner: a name that no other runner has at the same time.
        time_left_s: returns how many seconds this call may still take.

    Returns:
        None if the repository does not exist or the branch is not exported.

    Raises:
        GravelerError: a store failed; repeat the call later.
    """
    repository = engine.refs.repository(request.repository)
    if repository is None:
        return None
    seat = _seat(OpenRepository(engine, repository), request.branch, runner)
    record = None
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        record = engine.exports.branch_export(repository, request.branch)
        if record is None:
            return None
        try:
            step, lease = _take_step(seat, record, time_left_s)
        except StaleVersionError:
            continue  # another writer changed the record: the next step may be another one
        if lease is not None:
            try:
                if not carry_out(lease, request, time_left_s):
                    return lease.record
            finally:
                seat.leave()
        elif step is not Next.DROP:
            return record
    engine.export_queue.send(request)
    return record


def _seat(repo: OpenRepository, branch: str, runner: str) -> Seat:
    def wake(other: str) -> None:
        repo.engine.export_queue.send(ExportRequest(repo.record.name, other))

    return Seat(repo, repo.engine.export_places, branch, runner, wake)


def _take_step(
    seat: Seat, record: BranchExport, time_left_s: Callable[[], float]
) -> tuple[Next, ExportLease | None]:
    """Take the record's next step; return it, with a lease if there is a run to carry out.

    Raises:
        StaleVersionError: another writer changed the record.
    """
    repo = seat.repo
    engine = repo.engine
    branch = engine.refs.branch(repo.record, record.branch)
    now = engine.clock.moment()
    now_ns = now.wall_ns
    step = next_step(record, None if branch is None else branch.commit_id, now_ns)
    if step is Next.WAIT:
        changed = _send_watch(repo, record, now_ns)
        if changed is not record:
            engine.exports.replace_branch_export(repo.record, record, changed)
    elif step is Next.FORGET:
        delete_record(repo, record)
    elif step is Next.DROP:
        engine.exports.replace_branch_export(repo.record, record, lifecycle.dropped(record, now_ns))
        delete_pieces(repo, record.run)
    elif step is Next.NOTHING:
        if record.is_pending and record.state is not ExportState.FAILED:
            settled = replace(record, is_pending=False)
            engine.exports.replace_branch_export(repo.record, record, settled)
    elif time_left_s() < TIME_TO_BEGIN_S:
        engine.export_queue.send(ExportRequest(repo.record.name, record.branch))
        return Next.NOTHING, None
    elif (place := seat.take(time_left_s(), now_ns)) is None:
        _put_off(seat, record, now_ns)
        return Next.NOTHING, None
    else:
        assert branch is not None  # the step would be FORGET
        with seat.keeping(place, time_left_s()):
            return step, _taken(seat, record, branch, step, now)
    return step, None


def _taken(
    seat: Seat, record: BranchExport, branch: Branch, step: Next, now: Moment
) -> ExportLease:
    """Take the run in progress, or one that begins.

    Raises:
        StaleVersionError: another writer changed the record.
    """
    repo, now_ns = seat.repo, now.wall_ns
    wanted = record
    if step is Next.BEGIN:
        run_id = new_run_id(repo, branch)
        wanted = lifecycle.begun(record, repo.record.name, run_id, branch.commit_id, now_ns)
    taken = lifecycle.taken(wanted, seat.runner, now_ns)
    changed = _send_watch(repo, taken, now_ns)
    held = repo.engine.exports.replace_branch_export(repo.record, record, changed)
    return ExportLease(repo, held, now)


def _put_off(seat: Seat, record: BranchExport, now_ns: int) -> None:
    """Send a message that comes again, unless one is on its way, because the run has no place.

    Raises:
        StaleVersionError: another writer changed the record.
    """
    delay_s = lifecycle.put_off_s(record, now_ns)
    if delay_s is not None:
        request = ExportRequest(seat.repo.record.name, record.branch)
        seat.repo.engine.export_queue.send(request, delay_s)
        changed = lifecycle.watched(record, now_ns, delay_s)
        seat.repo.engine.exports.replace_branch_export(seat.repo.record, record, changed)


def _send_watch(repo: OpenRepository, record: BranchExport, now_ns: int) -> BranchExport:
    """Send a message that checks the run's lease when it ends, unless one is on its way.

    The message is sent before the record with its time is stored. So if storing fails, there is one
    message too many, but never one too few.

    Returns:
        The record to store, with the message's time; the same record if none was sent.
    """
    delay_s = lifecycle.watch_delay_s(record, now_ns)
    if delay_s is None:
        return record
    repo.engine.export_queue.send(ExportRequest(repo.record.name, record.branch), delay_s)
    return lifecycle.watched(record, now_ns, delay_s)
