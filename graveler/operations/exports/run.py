"""One run of an export: the phases that bring a commit to its destination.

    count     count the changes; with many of them, leave the run to a batch job if there is one
    announce  mark earlier reports as superseded; note in the record that the run may write
    copy      carry out the steps of the walk, storing the progress now and then
    report    write the status file, the manifest and _STATUS_<time>.json; then end the record

A runner that takes the run over continues with the first of these that is not finished.
"""

from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from graveler.errors import (
    AlreadyExistsError,
    CorruptDataError,
    GravelerError,
    InvalidInputError,
    ThrottledError,
)
from graveler.export import lifecycle
from graveler.export.lifecycle import destination_of
from graveler.export.patterns import Patterns
from graveler.export.record import ExportRequest, ExportState, failure_summary
from graveler.export.schedule import RunFailedError, Schedule
from graveler.export.slices import SlicedSchedule, slices_of
from graveler.export.walk import ExportWalk, Position
from graveler.export.work import ExportWork
from graveler.model import EMPTY_METARANGE, Event
from graveler.operations.exports.existing_objects import present_in
from graveler.operations.exports.lease import ExportLease, InvocationDeadline
from graveler.operations.exports.overlaps import check_overlaps_of_run
from graveler.operations.exports.progress import RunProgress
from graveler.operations.exports.reports import ExportReports
from graveler.operations.exports.retried_requests import GaveUpError, RetriedRequests, pool_of
from graveler.operations.exports.run_records import delete_pieces
from graveler.operations.exports.slices import ExportWorkers, RunSpec
from graveler.operations.exports.transfer import ExportTransfer
from graveler.operations.leases import OutOfTimeError, StoppedError, UnwantedError


def carry_out(
    lease: ExportLease,
    request: ExportRequest,
    time_left_s: Callable[[], float],
    workers: ExportWorkers | None = None,
) -> bool:
    """Carry out the leased run as far as possible; return whether to check the record at once.

    Args:
        lease: the run, held by this runner.
        request: the message that lets another runner continue.
        time_left_s: returns how many seconds this call may still take.
        workers: carry out slices of the run; without any, a large run is left to a batch job.

    Returns:
        False if another runner continues the run: a message for it is on its way.

    Raises:
        GravelerError: a store failed. The lease is given up, so a runner may continue at once.
    """
    try:
        return _Runner(lease, request, time_left_s, workers).continue_run()
    except StoppedError:
        return False  # another runner has the run, or will have it when the lease ends


class _Runner:
    """Drives one run while holding its lease."""

    def __init__(
        self,
        lease: ExportLease,
        request: ExportRequest,
        time_left_s: Callable[[], float],
        workers: ExportWorkers | None,
    ) -> None:
        self._lease = lease
        self._request = request
        self._engine = lease.repo.engine
        self._deadline = InvocationDeadline(time_left_s)
        self._workers = workers
        self._requests = RetriedRequests(self._engine, self._check)
        # Requests that end a run or store its progress may use the last seconds of the invocation.
        last_requests = RetriedRequests(self._engine, lease.check)
        self._progress = RunProgress(lease, last_requests)
        self._reports = ExportReports(lease, self._requests, last_requests, self._hold)
        self._work = replace(work_of(lease), pause=self._hold)

    def continue_run(self) -> bool:
        """Carry out the rest of the run; see `carry_out`.

        Raises:
            StoppedError: this runner does not hold the run any more.
        """
        try:
            return self._run_phases()
        except OutOfTimeError:
            return self._leave_to_next()
        except UnwantedError:
            self._progress.release_lease()
            return True
        except GravelerError:
            with suppress(GravelerError, StoppedError):
                self._progress.release_lease()
            raise

    # Phases

    def _run_phases(self) -> bool:
        """Carry the run out to its end; return False if a batch job continues it.

        Raises:
            StoppedError: this runner has to stop.
        """
        try:
            is_announced = self._lease.run.is_announced
            total = self._progress.now.total or self._work.count()
            if not is_announced:
                check_overlaps_of_run(self._lease)
            if self._workers is None and self._leave_to_batch(total):
                return False
            if is_announced:
                self._reports.withdraw()
            else:
                self._announce(total)
            self._copy()
            self._succeed()
        except AlreadyExistsError as error:
            # The status path may belong to another export, too.
            self._fail(str(error), may_report=False)
        except CorruptDataError as error:
            # Drop cached files: the corrupt one may be repaired before the next try.
            self._engine.committed.forget()
            self._fail(str(error))
        except (RunFailedError, GaveUpError, InvalidInputError) as error:
            self._fail(str(error))
        return True

    def _announce(self, total: int) -> None:
        self._reports.announce()
        status_file = self._reports.latest_file
        self._lease.change(lambda now: lifecycle.announced(now, status_file, total))
        self._progress.reread()

    def _copy(self) -> None:
        run = self._lease.run
        progress = self._progress.now
        known = destination_of(self._lease.record, run.configuration.path)
        walk = ExportWalk(
            self._work,
            Patterns(run.configuration.last_keys_in_prefix_regexps),
            has_marks=known.has_marks,
            position=Position(progress.after, progress.put_off),
            present=present_in(self._engine.objects, self._work, known),
        )
        transfer = ExportTransfer(self._requests, self._work, known.path)
        at_once = self._engine.export_settings.requests_at_once
        with pool_of(at_once) as pool:
            try:
                if self._workers is None:
                    schedule = Schedule(transfer, progress, pool, at_once)
                    self._progress.follow(schedule)
                    is_done = schedule.run(walk.steps(), self._may_continue)
                else:
                    slices = SlicedSchedule(walk, transfer, progress, pool, at_once)
                    self._progress.follow(slices)
                    is_done = self._run_slices(slices, self._workers)
            finally:
                self._progress.collect()
        if not is_done:
            raise OutOfTimeError("the rest is for another runner")
        if self._progress.failed:
            raise RunFailedError(self._progress.now.first_errors[0])

    def _run_slices(self, slices: SlicedSchedule, workers: ExportWorkers) -> bool:
        found = slices_of(self._work, self._progress.now, workers.objects_min)
        spec = RunSpec.of(self._lease, self._work)
        self._progress.reserve_pieces(len(found))
        return slices.run(
            found,
            lambda part: workers.submit(spec, part),
            lambda: workers.at_once,
            self._may_continue,
        )

    def _succeed(self) -> None:
        manifest = self._reports.succeed(self._progress.now.pieces, self._progress.etags)
        # Writing the manifest may have stored a piece, which progress counts.
        progress = self._progress.now
        event = self._event(ExportState.SUCCEEDED, failed=0, error="")
        self._lease.change(
            lambda now: lifecycle.succeeded(
                lifecycle.advanced(now, progress), manifest, event.time_ns
            ),
            lambda _: event,
        )
        delete_pieces(self._lease.repo, self._lease.run)

    def _fail(self, error: str, *, may_report: bool = True) -> None:
        """End the run as failed.

        Raises:
            UnwantedError: the run is unwanted, so it is to be dropped instead.
        """
        self._lease.renew(self._progress.now)
        # A run that failed without a failed object still counts one error.
        failed = max(1, self._progress.failed)
        if may_report:
            self._reports.fail(failed)
        progress = replace(self._progress.now, failed=failed)
        event = self._event(ExportState.FAILED, failed=failed, error=error)
        message = failure_summary(failed, error)
        self._lease.change(
            lambda now: lifecycle.failed(now, message, progress, event.time_ns), lambda _: event
        )
        delete_pieces(self._lease.repo, self._lease.run)

    def _event(self, state: ExportState, **more: object) -> Event:
        run = self._lease.run
        objects = 0
        with suppress(CorruptDataError):  # then the run has failed for that reason
            objects = self._reports.objects
        return self._lease.repo.event(
            "export_finished",
            branch=self._lease.record.branch,
            export_id=run.id,
            commit_id=run.commit_id,
            status=state.value,
            path=run.configuration.path,
            objects=objects,
            **more,
        )

    # Leaving the run to another runner

    def _leave_to_next(self) -> bool:
        """Leave the rest to the next runner if it can make progress; see `carry_out`.

        A function that makes none in all its time never will, so a batch job continues. Without
        one, the run fails.
        """
        if self._progress.has_progressed or not self._deadline.was_far:
            self._progress.release_lease()
            self._engine.export_queue.send(self._request)
            return False
        try:
            if self._start_batch(self._progress.now.total):
                return False
            problem = (
                "an object or the manifest is so large that it takes longer than a function may "
                "run: deploy the export job"
            )
        except RunFailedError as error:
            problem = str(error)
        self._fail(problem)
        return True

    def _leave_to_batch(self, total: int) -> bool:
        """Start a batch job if much is left to do; return whether one continues the run."""
        left = total - self._progress.now.done
        return left >= self._engine.export_settings.batch_objects_min and self._start_batch(total)

    def _start_batch(self, total: int) -> bool:
        """Leave the run to a batch job; return False if no such job is deployed.

        Raises:
            RunFailedError: too many jobs were started and made no progress.
        """
        engine = self._engine
        if self._lease.run.batch_starts >= lifecycle.BATCH_STARTS_MAX:
            raise RunFailedError(
                f"the export job was started {lifecycle.BATCH_STARTS_MAX} times and made no "
                "progress: see the log of the job"
            )
        starts = 1
        try:
            if not engine.batch_jobs.start_export(self._request, self._lease.run.id):
                return False
        except ThrottledError:
            starts = 0  # too many jobs are running: another start follows when the lease ends
        self._progress.store_piece()
        now_ns = engine.clock.now_ns()
        counted = replace(self._progress.now, total=total)
        self._lease.change(
            lambda now: lifecycle.left_to_batch(
                lifecycle.advanced(now, counted), now_ns, starts=starts
            )
        )
        return True

    # During the phases

    def _check(self) -> None:
        """Check that a request that writes at the destination may still begin.

        Raises:
            StoppedError: too little is left of the lease, or of the function's time.
        """
        self._lease.check()
        self._deadline.check()

    def _may_continue(self) -> bool:
        """Renew the lease if that is due; return whether there is time for more steps."""
        if self._lease.is_due:
            self._progress.renew_lease()
        return not self._deadline.is_near

    def _hold(self) -> None:
        """Renew the lease if that is due.

        Raises:
            OutOfTimeError: there is no time to go on.
        """
        if not self._may_continue():
            raise OutOfTimeError("the rest is for another runner")


def work_of(lease: ExportLease) -> ExportWork:
    """Return the work of the leased run."""
    repo = lease.repo
    known = destination_of(lease.record, lease.run.configuration.path)
    nothing = repo.metarange(EMPTY_METARANGE)
    contents = [
        repo.content(commit) if commit else nothing
        for commit in (known.exported_commit, *known.touched_commits)
    ]
    bases = {content.id: content for content in contents}
    return ExportWork(repo.content(lease.run.commit_id), tuple(bases.values()))
