"""The life of a branch's export: what is to be done next, and what its record says afterwards.

    none, succeeded, repaired ──begin──► in progress ──► succeeded, or failed
    failed ──repair──► repaired

Everything here is a pure function of the record, the branch's head and the time.
"""

from dataclasses import replace
from enum import Enum

from graveler.export.addresses import overlap
from graveler.export.model import (
    BranchExport,
    Destination,
    ExportConfiguration,
    ExportRun,
    ExportState,
    Progress,
)
from graveler.export.status import status_file
from graveler.times import NS_PER_S

# A runner that says nothing for so long is dead.
LEASE_S = 60
# It says so often that it lives, and how far it has come...
RENEWAL_S = 5
# ...and stops writing so long before its lease ends. The rule: a request that passes the check ends
# before the lease, by every clock. The longest request makes attempts for 8 s, and the last attempt
# connects for 2 s and waits for 10 s (graveler/aws/retries.py, connect.py): 20 s. The rest is for
# clocks that differ and hosts with several addresses (held by tests/unit/aws/s3/test_client.py).
LEASE_MARGIN_S = 40
# By so much a message may be early or late to be taken for one on its way.
WATCH_MARGIN_S = 20

# A batch job takes its time to start...
BATCH_START_S = 15 * 60
# ...and if so many bring nothing forward, the next one will not either.
BATCH_STARTS_MAX = 5

DESTINATIONS_MAX = 20


class Next(Enum):
    """What somebody who looks after an export is to do."""

    NOTHING = "nothing"
    WAIT = "wait"  # somebody is at work
    BEGIN = "begin"  # a run towards the branch's head
    TAKE = "take"  # the run at work, which nobody works on
    DROP = "drop"  # the run at work, which nobody wants any more
    FORGET = "forget"  # the export: the branch or the configuration is gone


def next_step(record: BranchExport, head: str | None, now_ns: int) -> Next:
    """What to do about the export of a branch whose head is that commit; None: it is gone."""
    is_at_work = record.state is ExportState.IN_PROGRESS
    if is_at_work and record.run is not None and record.run.lease_until_ns > now_ns:
        return Next.WAIT
    if head is None or record.is_forgotten:
        return Next.FORGET
    if is_at_work:
        return Next.DROP if is_unwanted(record) else Next.TAKE
    if record.state is ExportState.FAILED:
        return Next.NOTHING
    wants_run = record.is_pending or record.configuration.is_continuous
    is_repaired = record.state is ExportState.REPAIRED and record.is_pending
    return Next.BEGIN if is_repaired or (wants_run and has_work(record, head)) else Next.NOTHING


def is_unwanted(record: BranchExport) -> bool:
    """Whether the run at work leads to where the branch is not exported to any more."""
    if record.run is None:
        return False
    return record.is_forgotten or record.run.configuration.path != record.configuration.path


def has_runner(record: BranchExport, now_ns: int) -> bool:
    """Whether somebody is at work, who may write at the destination."""
    run = record.run
    if run is None or record.state is not ExportState.IN_PROGRESS:
        return False
    return bool(run.runner) and run.lease_until_ns > now_ns


def ended(record: BranchExport, now_ns: int) -> BranchExport | None:
    """What is left of the record when the export is deleted; None: nothing.

    A runner at work needs the record to notice that it has to stop, and others to see that it has.
    """
    return replace(record, is_forgotten=True) if has_runner(record, now_ns) else None


def destination_of(record: BranchExport, path: str) -> Destination:
    """What is known of a path."""
    found = (each for each in record.destinations if each.path == path)
    return next(found, Destination(path))


def overlapping_destinations(record: BranchExport) -> list[Destination]:
    """Other paths that the run at work will write into, or that lie around its own."""
    assert record.run is not None
    path = record.run.configuration.path
    others = (each for each in record.destinations if each.path != path)
    return [each for each in others if overlap(each.path, path)]


def has_work(record: BranchExport, head: str) -> bool:
    """Whether the path holds anything else than the head, or its files do not tell of it."""
    configuration = record.configuration
    destination = destination_of(record, configuration.path)
    if destination.exported_commit != head or destination.touched_commits:
        return True
    told_under = destination.manifest.rpartition("/")[0]
    return bool(configuration.status_path) and configuration.status_path != told_under


def begun(
    record: BranchExport, repository: str, run_id: str, head: str, now_ns: int
) -> BranchExport:
    """The record with a new run towards head; nobody works on it yet."""
    repaired = record.run if record.state is ExportState.REPAIRED else None
    run = ExportRun(
        id=run_id,
        commit_id=head,
        configuration=record.configuration,
        # Clocks differ: of two status files, the later run's is to be the later one.
        started_ns=max(now_ns, record.run.started_ns + 1 if record.run is not None else 0),
        repaired_file=""
        if repaired is None
        else status_file(repaired.configuration, repository, record.branch, repaired.commit_id),
    )
    return replace(
        record, state=ExportState.IN_PROGRESS, run=run, is_pending=False, error_message=""
    )


def taken(record: BranchExport, runner: str, now_ns: int) -> BranchExport:
    """The record with the run's lease in the runner's hand, from now on."""
    return _with_run(record, runner=runner, lease_until_ns=now_ns + LEASE_S * NS_PER_S)


def released(record: BranchExport) -> BranchExport:
    """The record with a run that the next one may go on with."""
    return _with_run(record, runner="", lease_until_ns=0)


def advanced(record: BranchExport, progress: Progress) -> BranchExport:
    """The record with the run's progress."""
    assert record.run is not None
    is_stuck = not has_come_forward(record.run.progress, progress)
    starts = record.run.batch_starts if is_stuck else 0
    return _with_run(record, progress=progress, batch_starts=starts)


def has_come_forward(before: Progress, now: Progress) -> bool:
    """Whether anything was done between the two, by which they can be told apart."""
    return (now.after, now.put_off) != (before.after, before.put_off)


def left_to_batch(record: BranchExport, now_ns: int, *, starts: int = 1) -> BranchExport:
    """The record with a run that waits for a batch job, for as long as one may take to start.

    starts is 0 if none was started, for there is no room for it now.
    """
    assert record.run is not None
    return _with_run(
        record,
        is_batch=True,
        batch_starts=record.run.batch_starts + starts,
        runner="",
        lease_until_ns=now_ns + BATCH_START_S * NS_PER_S,
    )


def announced(record: BranchExport, status_file: str, total: int) -> BranchExport:
    """The record after which the run may write at its destination.

    Places that overlap with it are forgotten: nobody will know any more what they hold.
    """
    run = record.run
    assert run is not None
    known = destination_of(record, run.configuration.path)
    others = [commit for commit in known.touched_commits if commit != run.commit_id]
    # Of a path that is not known nobody knows whose marks it has.
    is_known = known in record.destinations
    has_marks = known.has_marks or _puts_marks(run) or not is_known
    destination = replace(
        known,
        touched_commits=(*others, run.commit_id),
        status_file=status_file,
        has_marks=has_marks,
    )
    apart = [each for each in record.destinations if not overlap(each.path, destination.path)]
    return replace(
        record,
        run=replace(run, is_announced=True, progress=replace(run.progress, total=total)),
        destinations=(destination, *apart)[:DESTINATIONS_MAX],
    )


def _puts_marks(run: ExportRun) -> bool:
    return bool(run.configuration.last_keys_in_prefix_regexps)


def succeeded(record: BranchExport, manifest: str) -> BranchExport:
    """The record when the destination holds exactly the run's commit."""
    run = record.run
    assert run is not None
    destinations = tuple(
        replace(
            each,
            exported_commit=run.commit_id,
            touched_commits=(),
            manifest=manifest,
            # A run that brought everything has taken all marks away that it did not put.
            has_marks=_puts_marks(run) or (each.has_marks and bool(each.exported_commit)),
        )
        if each.path == run.configuration.path
        # If another path held the same commit, this one is told in the same file now.
        else replace(each, manifest="" if each.manifest == manifest else each.manifest)
        for each in record.destinations
    )
    ended = replace(record, state=ExportState.SUCCEEDED, destinations=destinations)
    return released(ended)


def failed(record: BranchExport, message: str, progress: Progress) -> BranchExport:
    """The record when the run gave up."""
    ended = replace(record, state=ExportState.FAILED, error_message=message)
    return released(advanced(ended, progress))


def dropped(record: BranchExport) -> BranchExport:
    """The record when the run was given up for another configuration."""
    known = destination_of(record, record.configuration.path)
    is_whole = known.exported_commit and not known.touched_commits
    return released(replace(record, state=ExportState.SUCCEEDED if is_whole else None))


def configured(
    record: BranchExport | None, branch: str, configuration: ExportConfiguration, head: str
) -> BranchExport:
    """The record with another configuration, which asks for a run if there is work for one."""
    if record is None:
        return BranchExport(branch, configuration, is_pending=True)
    changed = replace(record, configuration=configuration)
    if record.state is ExportState.FAILED:
        return changed
    is_asked_for = record.is_pending or record.state is ExportState.IN_PROGRESS
    return replace(changed, is_pending=is_asked_for or has_work(changed, head))


def _with_run(record: BranchExport, **fields: object) -> BranchExport:
    assert record.run is not None
    run = replace(record.run, **fields)  # type: ignore[arg-type] # fields are the run's
    return replace(record, run=run)
