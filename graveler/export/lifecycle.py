"""The life of a branch's export: how each step changes its record.

    any but in progress ──begin──► in progress ──► succeeded, or failed
    failed ──repair──► repaired

A failed export begins only at a user's request. What to do next decides `next_step`.

Everything here is a pure function of the record, the branch's head and the time.
"""

from msgspec.structs import replace

from graveler.export.paths import overlap
from graveler.export.record import (
    BranchExport,
    Destination,
    EndedRun,
    ExportConfiguration,
    ExportRun,
    ExportState,
    Progress,
    shortened,
)
from graveler.export.status import status_file
from graveler.model import NO_COMMIT, CommitID
from graveler.times import NS_PER_S

# A runner that does not renew its lease for this long is taken for dead.
LEASE_S = 120
# A runner renews its lease, and stores its progress, this often...
RENEWAL_S = 5
# ...and stops writing this long before the lease ends. The rule: a request that passes the check
# ends before the lease, by the clock of each host. The longest request makes two attempts. Each
# connects for 1 s and waits for 10 s (graveler/aws/retries.py): 22 s of the 40. The rest is for
# hosts with several addresses (held by tests/unit/aws/s3/test_client.py).
CLOCKS_DIFFER_S = 60
LEASE_MARGIN_S = CLOCKS_DIFFER_S + 40
# So a runner writes for this long after a renewal, by both of its clocks.
WRITING_S = LEASE_S - LEASE_MARGIN_S
# A message on its way may arrive this much earlier or later than its sender noted.
_WATCH_MARGIN_S = 20
# A run that has no place is tried again after this time, if nobody wakes it.
_PUT_OFF_S = 40
# SQS delays a message for this long at most.
_DELAY_S_MAX = 900

# A batch job takes its time to start...
BATCH_START_S = 15 * 60
# ...and after this many jobs without progress, the next one will make none either.
BATCH_STARTS_MAX = 5

DESTINATIONS_MAX = 20

# Each renewal of a lease stores the whole record, so it keeps few ended runs, and short messages.
ENDED_RUNS_MAX = 10
_MESSAGE_CHARACTERS_MAX = 300


def watch_delay_s(record: BranchExport, now_ns: int) -> int | None:
    """Return when a message has to check the run's lease; None if one is already on its way.

    A runner may die without a trace, so a message must arrive after its lease ends. The delay is
    at most what SQS allows; a message that arrives before the end sends the next one.
    """
    assert record.run is not None
    until_ns = record.run.lease_until_ns
    margin_ns = _WATCH_MARGIN_S * NS_PER_S
    # A message due within the margin does not count. Clocks differ, so it may be the message that
    # is being handled.
    if now_ns + margin_ns < record.watched_until_ns < until_ns + margin_ns:
        return None
    left_s = -(-(until_ns - now_ns) // NS_PER_S)
    return min(left_s + 1, _DELAY_S_MAX)


def put_off_s(record: BranchExport, now_ns: int) -> int | None:
    """Return when a message has to come again for a run that has no place now.

    None: one is already on its way. It must not be the message that is being handled.
    """
    left_s = (record.watched_until_ns - now_ns) / NS_PER_S
    is_on_its_way = _WATCH_MARGIN_S < left_s < _PUT_OFF_S + _WATCH_MARGIN_S
    return None if is_on_its_way else _PUT_OFF_S


def watched(record: BranchExport, now_ns: int, delay_s: int) -> BranchExport:
    """Return the record, noting that a message arrives in delay_s to check the lease."""
    return replace(record, watched_until_ns=now_ns + delay_s * NS_PER_S)


def is_unwanted(record: BranchExport) -> bool:
    """Whether the run's results are not wanted any more.

    The export was deleted, or configured with another path, after the run began.
    """
    if record.run is None:
        return False
    return record.is_forgotten or record.run.configuration.path != record.configuration.path


def has_runner(record: BranchExport, now_ns: int) -> bool:
    """Whether a runner holds the run, so that it may write at the destination."""
    run = record.run
    if run is None or record.state is not ExportState.IN_PROGRESS:
        return False
    return bool(run.runner) and run.lease_until_ns > now_ns


def ended(record: BranchExport, now_ns: int) -> BranchExport | None:
    """Return what to keep of the record when the export is deleted; None to delete the record.

    The record is kept while a runner holds the run. The runner reads there that it has to stop.
    Others read there when it has stopped.
    """
    return replace(record, is_forgotten=True) if has_runner(record, now_ns) else None


def destination_of(record: BranchExport, path: str) -> Destination:
    """Return what is known about a path; an empty Destination if nothing is."""
    found = (each for each in record.destinations if each.path == path)
    return next(found, Destination(path))


def overlapping_destinations(record: BranchExport) -> list[Destination]:
    """Return the known paths inside and around the one that the run writes to."""
    assert record.run is not None
    path = record.run.configuration.path
    others = (each for each in record.destinations if each.path != path)
    return [each for each in others if overlap(each.path, path)]


def has_work(record: BranchExport, head: CommitID) -> bool:
    """Whether the path does not hold exactly the head, or its reports are elsewhere."""
    configuration = record.configuration
    destination = destination_of(record, configuration.path)
    if destination.exported_commit != head or destination.touched_commits:
        return True
    reported_under = destination.manifest.rpartition("/")[0]
    return bool(configuration.status_path) and configuration.status_path != reported_under


def unverified(record: BranchExport, *, everywhere: bool = False) -> BranchExport:
    """Return the record with its path, or every path, unverified: a run exports every object there.

    A run that writes to such a path must not be in progress: it has not visited every object.
    """
    path = record.configuration.path
    destinations = tuple(
        _doubted(each) if everywhere or each.path == path else each for each in record.destinations
    )
    return replace(record, destinations=destinations)


def _doubted(known: Destination) -> Destination:
    """Make the commit that the path held a touched one, so the next run knows what to delete."""
    if not known.exported_commit:
        return known
    touched = (*known.touched_commits, known.exported_commit)
    return replace(known, exported_commit=NO_COMMIT, touched_commits=touched, was_whole=True)


def begun(
    record: BranchExport, repository: str, run_id: str, head: CommitID, now_ns: int
) -> BranchExport:
    """Return the record with a new run that exports head, and that no runner holds yet."""
    repaired_file = ""
    if record.state in {ExportState.FAILED, ExportState.REPAIRED} and record.run is not None:
        failed = record.run
        repaired_file = status_file(
            failed.configuration, repository, record.branch, failed.commit_id
        ) or status_file(record.configuration, repository, record.branch, head)
    run = ExportRun(
        id=run_id,
        commit_id=head,
        configuration=record.configuration,
        # The start time names the run's _STATUS file. Clocks differ, so make sure that a later
        # run's file sorts after an earlier run's.
        started_ns=max(now_ns, record.run.started_ns + 1 if record.run is not None else 0),
        repaired_file=repaired_file,
    )
    return replace(
        record, state=ExportState.IN_PROGRESS, run=run, is_pending=False, error_message=""
    )


def taken(record: BranchExport, runner: str, now_ns: int) -> BranchExport:
    """Return the record with the run's lease held by the runner from now on."""
    return _with_run(record, runner=runner, lease_until_ns=now_ns + LEASE_S * NS_PER_S)


def released(record: BranchExport) -> BranchExport:
    """Return the record with the run's lease given up, so that any runner may continue the run."""
    return _with_run(record, runner="", lease_until_ns=0)


def advanced(record: BranchExport, progress: Progress) -> BranchExport:
    """Return the record with the run's progress."""
    assert record.run is not None
    is_stuck = not has_progressed(record.run.progress, progress)
    starts = record.run.batch_starts if is_stuck else 0
    return _with_run(record, progress=progress, batch_starts=starts)


def has_progressed(before: Progress, now: Progress) -> bool:
    """Whether the position in the walk has changed between the two."""
    return (now.after, now.put_off) != (before.after, before.put_off)


def left_to_batch(record: BranchExport, now_ns: int, *, starts: int = 1) -> BranchExport:
    """Return the record with the run leased to a batch job, for as long as one may take to start.

    starts is 0 if no job was started because too many are running now.
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
    """Return the record that lets the run write at its destination.

    Overlapping destinations are dropped: what they hold is unknown from now on.
    """
    run = record.run
    assert run is not None
    known = destination_of(record, run.configuration.path)
    others = [commit for commit in known.touched_commits if commit != run.commit_id]
    # An unknown path may hold another export's marks.
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


def _patterns(configuration: ExportConfiguration) -> tuple[str, ...]:
    return configuration.last_keys_in_prefix_regexps


def _puts_marks(run: ExportRun) -> bool:
    return bool(_patterns(run.configuration))


def succeeded(record: BranchExport, manifest: str, now_ns: int) -> BranchExport:
    """Return the record of a run whose destination holds exactly the run's commit."""
    run = record.run
    assert run is not None
    destinations = tuple(
        replace(
            each,
            exported_commit=run.commit_id,
            touched_commits=(),
            manifest=manifest,
            # A run that exported everything has deleted all marks but its own.
            has_marks=_puts_marks(run) or (each.has_marks and bool(each.exported_commit)),
        )
        if each.path == run.configuration.path
        # The manifest of another path with the same commit has the same URI: it is overwritten.
        else replace(each, manifest="" if each.manifest == manifest else each.manifest)
        for each in record.destinations
    )
    ended = replace(record, state=ExportState.SUCCEEDED, destinations=destinations)
    return _settled(_noted(ended, ExportState.SUCCEEDED, now_ns))


def failed(record: BranchExport, message: str, progress: Progress, now_ns: int) -> BranchExport:
    """Return the record of a run that failed."""
    ended = replace(record, state=ExportState.FAILED, error_message=message)
    noted = _noted(advanced(ended, progress), ExportState.FAILED, now_ns)
    # What was requested meanwhile waits for the repair, which then exports every object.
    return replace(_settled(noted), is_pending=False)


def dropped(record: BranchExport, now_ns: int) -> BranchExport:
    """Return the record of an unwanted run that was dropped.

    The state becomes that of the path that is configured now.
    """
    known = destination_of(record, record.configuration.path)
    is_whole = known.exported_commit and not known.touched_commits
    noted = _noted(record, None, now_ns)
    return _settled(replace(noted, state=ExportState.SUCCEEDED if is_whole else None))


def _settled(record: BranchExport) -> BranchExport:
    """Return the record after a run; what was requested during the run exports every object."""
    assert record.run is not None
    has_others = _patterns(record.run.configuration) != _patterns(record.configuration)
    if record.is_pending or has_others:
        record = unverified(record, everywhere=has_others)
    return released(record)


def _noted(record: BranchExport, state: ExportState | None, now_ns: int) -> BranchExport:
    """Return the record with its run as the newest of those that have ended."""
    run = record.run
    assert run is not None
    ended = EndedRun(
        id=run.id,
        commit_id=run.commit_id,
        state=state,
        started_ns=run.started_ns,
        ended_ns=now_ns,
        done=run.progress.done,
        total=run.progress.total,
        failed=run.progress.failed,
        error_message=shortened(record.error_message, _MESSAGE_CHARACTERS_MAX),
    )
    return replace(record, ended=(ended, *record.ended)[:ENDED_RUNS_MAX])


def configured(
    record: BranchExport | None,
    branch: str,
    configuration: ExportConfiguration,
    head: CommitID,
) -> BranchExport:
    """Return the record with another configuration, pending if that leaves work for a run.

    Two kinds of configurations export every object: those for one export, and those with other
    patterns. Every path has the marks of the last patterns, so it is unverified under others.
    """
    if record is None:
        return BranchExport(branch, configuration, is_pending=True)
    before = record.configuration
    has_others = _patterns(configuration) != _patterns(before)
    is_whole = has_others or not configuration.is_continuous
    is_wanted = is_whole or configuration != before
    changed = replace(record, configuration=configuration)
    if record.state is ExportState.IN_PROGRESS:
        return replace(changed, is_pending=record.is_pending or is_wanted)
    if is_whole:
        changed = unverified(changed, everywhere=has_others)
    if record.state is not ExportState.FAILED:
        return replace(changed, is_pending=record.is_pending or has_work(changed, head))
    return repaired(changed) if is_wanted else changed


def repaired(record: BranchExport) -> BranchExport:
    """Return the record of a failed export that is to begin again."""
    return replace(record, state=ExportState.REPAIRED, is_pending=True)


def _with_run(record: BranchExport, **fields: object) -> BranchExport:
    assert record.run is not None
    run = replace(record.run, **fields)
    return replace(record, run=run)
