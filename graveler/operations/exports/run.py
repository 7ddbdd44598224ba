"""One run of an export: the steps that bring a commit to its destination.

    count     how much there is to do; much of it is left to a batch job, where there is one
    announce  take back what is said of the destination; note in the record that it is touched
    copy      carry out the steps of the walk, storing how far they have come now and then
    report    status file, manifest, _STATUS_<time>.json; then the record

Whoever takes a run over goes on with the first of these that is not finished.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from graveler.errors import (
    AlreadyExistsError,
    CorruptDataError,
    GravelerError,
    InvalidInputError,
    ThrottledError,
)
from graveler.export import lifecycle
from graveler.export.addresses import is_within
from graveler.export.lifecycle import destination_of
from graveler.export.manifest import ETag
from graveler.export.model import ExportRequest, ExportState
from graveler.export.patterns import Patterns
from graveler.export.schedule import RunFailedError, Schedule
from graveler.export.stretches import Stretches, stretches_of
from graveler.export.walk import Position, Walk
from graveler.export.work import Work
from graveler.model import Event
from graveler.operations.engine import Engine
from graveler.operations.exports.lease import Lease, StoppedError, UnwantedError
from graveler.operations.exports.places import check_places
from graveler.operations.exports.reports import ExportReports, delete_pieces
from graveler.operations.exports.retrying import ExportWrites, GaveUpError, pool_of
from graveler.operations.exports.stretches import RunInHand, Workers
from graveler.operations.exports.transfer import ExportTransfer

# With less time than this a runner ends what it has begun, and in the last seconds it writes
# nothing more at the destination.
TIME_TO_END_S = 30
_TIME_TO_STOP_S = 10
# What does not come forward in so much time never will: one huge object, or a huge manifest.
_TIME_TO_COME_FORWARD_S = 600


class _OutOfTimeError(StoppedError):
    """The function that this runner is in is about to be ended."""


def carry_out(
    lease: Lease,
    request: ExportRequest,
    time_left_s: Callable[[], float],
    workers: Workers | None = None,
) -> bool:
    """Go on with the run in hand; whether the record is to be looked at again at once.

    If it is not, somebody else goes on with the run: a message is on its way. Workers, if there are
    any, share the work; without them, much of it is left to a batch job.

    Raises:
        GravelerError: a store did not answer; the run can be taken at once.
    """
    try:
        return _Runner(lease, request, time_left_s, workers).go_on_or_pause()
    except StoppedError:
        return False  # somebody else has it, or will have it when the lease has ended


class _Runner:
    """Who holds a run works on it with this."""

    def __init__(
        self,
        lease: Lease,
        request: ExportRequest,
        time_left_s: Callable[[], float],
        workers: Workers | None,
    ) -> None:
        self._lease = lease
        self._request = request
        self._engine: Engine = lease.engine
        self._time_left_s = time_left_s
        self._workers = workers
        self._begun = lease.run
        self._begun_time_s = time_left_s()
        self._progress = lease.run.progress
        self._writes = ExportWrites(self._engine, self._check)
        # To end with, there is time.
        last_writes = ExportWrites(self._engine, lease.check)
        self._reports = ExportReports(lease, self._writes, last_writes, self._keep)
        self._work = replace(work_of(lease), pause=self._keep)
        self._schedule: Schedule | Stretches | None = None
        self._etags: list[ETag] = []  # of what progress covers, and no piece holds

    def go_on_or_pause(self) -> bool:
        """As `carry_out`.

        Raises:
            StoppedError: the run is not this runner's any more.
        """
        try:
            return self._go_on()
        except _OutOfTimeError:
            return self._out_of_time()
        except UnwantedError:
            self._pause()
            return True
        except GravelerError:
            with suppress(GravelerError, StoppedError):
                self._pause()
            raise

    def _go_on(self) -> bool:
        """Take the run to its end; False if a batch job is to do that.

        Raises:
            StoppedError: this runner is not to go on.
        """
        try:
            is_announced = self._lease.run.is_announced
            total = self._progress.total or self._work.count()
            if not is_announced:
                self._check_places()
            if self._workers is None and self._leave_to_batch(total):
                return False
            if not is_announced:
                self._reports.announce()
                status_file = self._reports.latest_file
                self._lease.change(lambda now: lifecycle.announced(now, status_file, total))
                self._progress = self._lease.run.progress
            self._copy()
            self._succeed()
        except AlreadyExistsError as error:
            self._fail(str(error), may_report=False)  # the status path may be somebody's, too
        except CorruptDataError as error:
            self._engine.committed.forget()  # so that a repair finds the file as it is by then
            self._fail(str(error))
        except (RunFailedError, GaveUpError, InvalidInputError) as error:
            self._fail(str(error))
        return True

    def _out_of_time(self) -> bool:
        """Leave the rest to the next runner, if it will come further; as `carry_out`."""
        begun, now = self._begun, self._lease.run
        has_come_forward = now.is_announced and not begun.is_announced
        has_come_forward |= lifecycle.has_come_forward(begun.progress, self._progress)
        if has_come_forward or self._begun_time_s < _TIME_TO_COME_FORWARD_S:
            self._pause()
            self._engine.export_queue.send(self._request)
            return False
        try:
            if self._start_batch(self._progress.total):
                return False
            problem = (
                "an object or the manifest is so large that it takes longer than a function may "
                "run: deploy the export job"
            )
        except RunFailedError as error:
            problem = str(error)
        self._fail(problem)
        return True

    def _pause(self) -> None:
        """Store how far the run has come, for whoever goes on with it at once."""
        try:
            self._store_piece()
            progress = self._progress
        except GaveUpError:
            progress = self._lease.run.progress
        self._lease.change(lambda now: lifecycle.released(lifecycle.advanced(now, progress)))

    # Steps

    def _leave_to_batch(self, total: int) -> bool:
        """Start a batch job if there is much left to do; whether one will do it."""
        left = total - self._progress.done
        return left >= self._engine.export_settings.batch_objects_min and self._start_batch(total)

    def _start_batch(self, total: int) -> bool:
        """Leave the run to a batch job; whether there is one.

        Raises:
            RunFailedError: several were started, and brought nothing forward.
        """
        engine = self._engine
        if self._lease.run.batch_starts >= lifecycle.BATCH_STARTS_MAX:
            raise RunFailedError(
                f"the export job was started {lifecycle.BATCH_STARTS_MAX} times and brought "
                "nothing forward: its own log says why"
            )
        starts = 1
        try:
            if not engine.batch_jobs.start_export(self._request, self._lease.run.id):
                return False
        except ThrottledError:
            starts = 0  # there is no room for it now: it is asked for again
        self._store_piece()
        now_ns = engine.clock.now_ns()
        counted = replace(self._progress, total=total)
        self._lease.change(
            lambda now: lifecycle.left_to_batch(
                lifecycle.advanced(now, counted), now_ns, starts=starts
            )
        )
        return True

    def _check_places(self) -> None:
        """Fail the run if it would be the first to write where others do.

        What the record knows is this branch's own: others are refused there ever since.

        Raises:
            StoppedError: somebody is about to leave the place; it will be free when the lease ends.
        """
        lease, wanted = self._lease, self._lease.run.configuration
        known = destination_of(lease.record, wanted.path)
        is_known = bool(known.exported_commit or known.touched_commits)
        if wanted.status_path:
            is_known &= is_within(known.status_file, wanted.status_path)
        if is_known:
            return
        try:
            is_free = check_places(self._engine, lease.repository, lease.record.branch, wanted)
        except InvalidInputError as error:  # a repository that was made since it was configured
            raise AlreadyExistsError(str(error)) from error
        if not is_free:
            raise StoppedError("a runner of another export that has ended is still there")

    def _copy(self) -> None:
        run = self._lease.run
        walk = Walk(
            self._work,
            Patterns(run.configuration.last_keys_in_prefix_regexps),
            has_marks=destination_of(self._lease.record, run.configuration.path).has_marks,
            position=Position(self._progress.after, self._progress.put_off),
        )
        transfer = ExportTransfer(self._writes, self._work, run.configuration.path)
        at_once = self._engine.export_settings.requests_at_once
        with pool_of(at_once) as pool:
            try:
                if self._workers is None:
                    schedule = Schedule(transfer, self._progress, pool, at_once)
                    self._schedule = schedule
                    is_done = schedule.run(walk.steps(), self._may_go_on)
                else:
                    stretches = Stretches(walk, transfer, self._progress, pool, at_once)
                    self._schedule = stretches
                    is_done = self._run_stretches(stretches, self._workers)
            finally:
                self._take_progress()
        if not is_done:
            raise _OutOfTimeError("the rest is for another runner")
        if self._schedule.failed:
            raise RunFailedError(self._schedule.progress.first_errors[0])

    def _run_stretches(self, stretches: Stretches, workers: Workers) -> bool:
        found = stretches_of(self._work, self._progress, workers.objects_min)
        run = RunInHand.of(self._lease, self._work)
        # Their pieces are counted before there are any, so that none is forgotten.
        self._progress = replace(self._progress, pieces=self._progress.pieces + len(found))
        self._lease.renew(self._progress)
        return stretches.run(
            found,
            lambda stretch: workers.submit(run, stretch),
            lambda: workers.at_once,
            self._may_go_on,
        )

    def _succeed(self) -> None:
        manifest = self._reports.succeed(self._progress.pieces, self._etags)
        progress = self._progress
        event = self._event(ExportState.SUCCEEDED, failed=0, error="")
        self._lease.change(
            lambda now: lifecycle.succeeded(lifecycle.advanced(now, progress), manifest), event
        )
        delete_pieces(self._engine, self._lease.repository, self._lease.run)

    def _fail(self, error: str, *, may_report: bool = True) -> None:
        """End the run.

        Raises:
            UnwantedError: nobody wants it any more, so that it is to be dropped instead.
        """
        self._lease.renew(self._progress)
        schedule = self._schedule
        # What ends a run that no object ended is an error, too.
        failed = max(1, schedule.failed if schedule is not None else self._progress.failed)
        if may_report:
            self._reports.fail(failed)
        progress = replace(self._progress, failed=failed)
        event = self._event(ExportState.FAILED, failed=failed, error=error)
        message = f"{failed} tasks failed\n{error}"
        self._lease.change(lambda now: lifecycle.failed(now, message, progress), event)
        delete_pieces(self._engine, self._lease.repository, self._lease.run)

    def _event(self, state: ExportState, **more: object) -> Event:
        run = self._lease.run
        objects = 0
        with suppress(CorruptDataError):  # which is then why the run has failed
            objects = self._reports.objects
        return self._engine.event(
            "export_finished",
            self._lease.repository,
            branch=self._lease.record.branch,
            export_id=run.id,
            commit_id=run.commit_id,
            status=state.value,
            path=run.configuration.path,
            objects=objects,
            **more,
        )

    # While at work

    def _check(self) -> None:
        """Let a request pass that writes.

        Raises:
            StoppedError: there is too little left of the lease, or of the function's time.
        """
        self._lease.check()
        if self._time_left_s() < _TIME_TO_STOP_S:
            raise _OutOfTimeError("the function is about to be ended")

    def _may_go_on(self) -> bool:
        """Hold the run, and tell whether there is time for more of it."""
        if self._lease.is_due:
            self._take_progress()
            self._store_piece()
            self._lease.renew(self._progress)
        return self._time_left_s() >= TIME_TO_END_S

    def _keep(self) -> None:
        if not self._may_go_on():
            raise _OutOfTimeError("the rest is for another runner")

    def _take_progress(self) -> None:
        if self._schedule is not None:
            self._progress = replace(self._schedule.progress, pieces=self._progress.pieces)
            self._etags += self._schedule.take_etags()

    def _store_piece(self) -> None:
        """Store the ETags of what progress covers, before progress itself is stored."""
        if self._lease.run.configuration.status_path and self._etags:
            self._reports.put_piece(self._progress.pieces, self._etags)
            self._progress = replace(self._progress, pieces=self._progress.pieces + 1)
        self._etags = []


def work_of(lease: Lease) -> Work:
    """The work of the run in hand."""
    engine, repository = lease.engine, lease.repository
    known = destination_of(lease.record, lease.run.configuration.path)
    contents = [
        engine.content(repository, commit) if commit else engine.metarange(repository, "")
        for commit in (known.exported_commit, *known.touched_commits)
    ]
    bases = {content.id: content for content in contents}
    return Work(engine.content(repository, lease.run.commit_id), tuple(bases.values()))
