"""What is to be done about the export of a branch, and doing it.

Messages come at least once, late and in no order, so they say only which branch to look at. What is
to be done follows from the branch's head and the export's record: begin a run, go on with one, take
over a dead runner's, wait for a living one, or nothing. As long as there is a runner, a message is
on its way that comes when its lease ends, or is sent on if it was renewed. A runner that comes to
the end of its time stores how far it has come, and sends one for the next.
"""

from collections.abc import Callable
from dataclasses import replace

from graveler.errors import StaleVersionError
from graveler.export import lifecycle
from graveler.export.lifecycle import WATCH_MARGIN_S, Next
from graveler.export.model import BranchExport, ExportRequest, ExportState
from graveler.limits import BRANCH_UPDATE_TRIES_MAX
from graveler.model import Branch, Repository
from graveler.operations.engine import Engine
from graveler.operations.exports.lease import Lease
from graveler.operations.exports.reports import delete_pieces
from graveler.operations.exports.run import TIME_TO_END_S, carry_out
from graveler.times import NS_PER_S

# With less time than this, a runner begins nothing.
_TIME_TO_BEGIN_S = 2 * TIME_TO_END_S
_DELAY_S_MAX = 900


def advance(
    engine: Engine, request: ExportRequest, *, runner: str, time_left_s: Callable[[], float]
) -> BranchExport | None:
    """Do what is to be done now about the export of a branch; its record as it was seen last.

    runner is a name that nobody else has at the time; time_left_s tells how long this may take.

    Raises:
        GravelerError: a store did not answer as it should; ask again.
    """
    repository = engine.refs.repository(request.repository)
    if repository is None:
        return None
    record = None
    for _ in range(BRANCH_UPDATE_TRIES_MAX):
        record = engine.exports.branch_export(repository, request.branch)
        if record is None:
            return None
        try:
            step, lease = _take_step(engine, repository, record, runner, time_left_s)
        except StaleVersionError:
            continue  # somebody else has changed it, perhaps so that nothing is left to do
        if lease is not None:
            if not carry_out(lease, request, time_left_s):
                return lease.record
        elif step is not Next.DROP:
            return record
    engine.export_queue.send(request)
    return record


def _take_step(
    engine: Engine,
    repository: Repository,
    record: BranchExport,
    runner: str,
    time_left_s: Callable[[], float],
) -> tuple[Next, Lease | None]:
    """What was to be done about the record, and done; with a lease if it is to carry out a run.

    Raises:
        StaleVersionError: somebody else changed the record.
    """
    branch = engine.refs.branch(repository, record.branch)
    now_ns = engine.clock.now_ns()
    step = lifecycle.next_step(record, None if branch is None else branch.commit_id, now_ns)
    if step is Next.WAIT:
        watched = _watched(engine, repository, record, now_ns)
        if watched is not record:
            engine.exports.replace_branch_export(repository, record, watched)
    elif step is Next.FORGET:
        delete_record(engine, repository, record)
    elif step is Next.DROP:
        engine.exports.replace_branch_export(repository, record, lifecycle.dropped(record))
        delete_pieces(engine, repository, record.run)
    elif step is Next.NOTHING:
        if record.is_pending and record.state is not ExportState.FAILED:
            settled = replace(record, is_pending=False)
            engine.exports.replace_branch_export(repository, record, settled)
    elif time_left_s() < _TIME_TO_BEGIN_S:
        engine.export_queue.send(ExportRequest(repository.name, record.branch))
        return Next.NOTHING, None
    else:
        assert branch is not None  # else it was forgotten
        wanted = record
        if step is Next.BEGIN:
            run_id = new_run_id(engine, repository, branch)
            wanted = lifecycle.begun(record, repository.name, run_id, branch.commit_id, now_ns)
        taken = lifecycle.taken(wanted, runner, now_ns)
        watched = _watched(engine, repository, taken, now_ns)
        held = engine.exports.replace_branch_export(repository, record, watched)
        return step, Lease(engine, repository, held)
    return step, None


def delete_record(engine: Engine, repository: Repository, record: BranchExport) -> None:
    """Delete the export's record, and the pieces of its run.

    Raises:
        StaleVersionError: somebody else changed the record.
    """
    engine.exports.delete_branch_export(repository, record)
    delete_pieces(engine, repository, record.run)


def _watched(
    engine: Engine, repository: Repository, record: BranchExport, now_ns: int
) -> BranchExport:
    """The record, when somebody is to look again at the end of the lease: its runner may die."""
    assert record.run is not None
    until_ns = record.run.lease_until_ns
    margin_ns = WATCH_MARGIN_S * NS_PER_S
    # One that is about to come may be the one that asks, for clocks differ.
    if now_ns + margin_ns < record.watched_until_ns < until_ns + margin_ns:
        return record  # a message is on its way
    rest_s = -(-(until_ns - now_ns) // NS_PER_S)
    delay_s = min(rest_s + 1, _DELAY_S_MAX)
    engine.export_queue.send(ExportRequest(repository.name, record.branch), delay_s)
    return replace(record, watched_until_ns=now_ns + delay_s * NS_PER_S)


def new_run_id(engine: Engine, repository: Repository, branch: Branch) -> str:
    """The ID of a run that exports what the branch holds now."""
    uid = engine.names.new_uid()
    return f"{repository.name}-{branch.name}-{branch.commit_id}-{uid}"
