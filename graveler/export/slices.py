"""Carry out a walk in slices of keys, by workers that know nothing of each other.

Theory of operation. A worker carries out the steps of its slice alone, including the marks of
directories that lie within the slice. It does not finish a directory that reaches beyond the
slice, as the root always does:

    keys         a/1 ····· a/9 b/1 ·····|····· b/9 c/1 ·····|····· c/9
    whole        a/                                                       by the workers
    kept                     b/ ········|······ b/  c/ ·····|···· c/      here, when both are done
                 root ··················|···················|········

Workers delete the old mark of such a directory before they change anything in it. When the last
slice with a part of it is done, this module copies its objects that were set apart. Then it puts
its mark. Inner directories come before outer ones. So marks come after everything under their
directories, as in a walk by one runner.

Slices begin and are counted in key order. `progress` says that everything up to a key is done, as
in an ordinary run. So another runner can continue from there, in slices or not.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from graveler.export.manifest import ETag
from graveler.export.patterns import directories_of
from graveler.export.record import Progress
from graveler.export.schedule import FIRST_ERRORS_MAX, Schedule, Transfer
from graveler.export.walk import Entered, ExportWalk, Position, with_put_off
from graveler.export.work import ExportWork
from graveler.staging.listing import prefix_end

# A worker takes some seconds for so many objects, or a minute: short enough to share work evenly.
SLICE_OBJECTS_MIN = 10_000
_WAIT_S = 1.0


class ExportSlice(Struct, frozen=True):
    """The keys with start <= key < end, and the number of the piece for their ETags."""

    start: bytes
    end: bytes | None
    piece: int


class ExportSliceResult(Struct, frozen=True):
    """The result of a slice.

    progress is that of the slice alone. kept are the directories that reach beyond the slice,
    and whether anything failed in each.
    """

    progress: Progress
    kept: tuple[tuple[bytes, bool], ...] = ()
    problem: Exception | None = None  # why it is unfinished; no request is under way


def slices_of(work: ExportWork, progress: Progress, objects_min: int) -> list[ExportSlice]:
    """Cut what is left of the work into slices with objects_min objects of changed ranges."""
    found: list[ExportSlice] = []
    start = progress.after + b"\0" if progress.after else b""
    for last in work.ends(start, objects_min):
        found.append(ExportSlice(start, last + b"\0", progress.pieces + len(found)))
        start = last + b"\0"
    found.append(ExportSlice(start, None, progress.pieces + len(found)))
    return found


class SlicedSchedule:
    """Has slices carried out and counts their progress, with the attributes of `Schedule`."""

    def __init__(
        self,
        walk: ExportWalk,
        transfer: Transfer,
        progress: Progress,
        pool: ThreadPoolExecutor | None,
        at_once: int,
    ) -> None:
        """Continue from progress; pool and at_once are for what workers leave to this module."""
        self.progress = progress
        self.failed = progress.failed
        self._walk = walk
        self._transfer = transfer
        self._pool = pool
        self._at_once = at_once
        self._etags: list[ETag] = []
        self._order: deque[tuple[ExportSlice, Future[ExportSliceResult]]] = deque()
        self._problem: Exception | None = None
        # Unfinished directories, and whether anything failed in each.
        around = directories_of(progress.after) if progress.after else []
        failed_under = progress.failed_under
        self._kept = {
            directory: failed_under is not None and failed_under.startswith(directory)
            for directory in around
        }

    def run(
        self,
        slices: Iterable[ExportSlice],
        submit: Callable[[ExportSlice], Future[ExportSliceResult]],
        workers: Callable[[], int],
        may_continue: Callable[[], bool],
    ) -> bool:
        """Carry out the slices; return False if may_continue, which is called often, did.

        When this returns or raises, no worker is still working. But if a future of submit raised,
        the state of that worker is unknown.

        Args:
            slices: in key order.
            submit: gives a slice to a worker.
            workers: returns how many slices to submit at the same time.
            may_continue: returns False to stop early.

        Raises:
            Exception: the problem that a worker reported.
        """
        waiting = deque(slices)
        running: set[Future[ExportSliceResult]] = set()
        is_stopping = False
        try:
            while running or (waiting and not is_stopping):
                while waiting and not is_stopping and len(running) < max(workers(), 1):
                    future = submit(waiting[0])
                    self._order.append((waiting.popleft(), future))
                    running.add(future)
                done, running = wait(running, _WAIT_S, FIRST_COMPLETED)
                for future in done:
                    self._take(future.result())
                is_stopping |= self._problem is not None or not may_continue()
                is_stopping |= not self._count(may_continue)
        except BaseException:
            wait(running)
            raise
        if self._problem is not None:
            raise self._problem
        return not waiting and not self._order

    def take_etags(self) -> list[ETag]:
        """Return the keys and ETags of copies made here that were not taken before."""
        taken, self._etags = self._etags, []
        return taken

    def _take(self, result: ExportSliceResult) -> None:
        self.failed += result.progress.failed
        if result.problem is not None and self._problem is None:
            self._problem = result.problem
            errors = (*self.progress.first_errors, *result.progress.first_errors)[:FIRST_ERRORS_MAX]
            self.progress = replace(self.progress, first_errors=errors)

    def _count(self, may_continue: Callable[[], bool]) -> bool:
        """Add finished slices to progress, in order; return False if may_continue did."""
        while self._order and self._order[0][1].done() and self._problem is None:
            part, future = self._order[0]
            result = future.result()
            for directory, is_failed in result.kept:
                self._kept[directory] = self._kept.get(directory, False) or is_failed
            added = _added(self.progress, result.progress)
            progress = self._leave(part.end, added, may_continue)
            if progress is None:
                return False
            self.progress = progress
            self._order.popleft()
        return True

    def _leave(
        self, end: bytes | None, progress: Progress, may_continue: Callable[[], bool]
    ) -> Progress | None:
        """Finish directories that end at or before end; return progress, or None if stopped."""
        for directory in sorted(self._kept, reverse=True):
            directory_end = prefix_end(directory)
            if end is not None and (directory_end is None or directory_end > end):
                continue
            is_failed = self._kept.pop(directory)
            self._walk.position = Position(progress.after, progress.put_off)
            steps = chain([Entered(directory, is_unmarked=False)], self._walk.leave(directory))
            begun = replace(progress, failed_under=directory if is_failed else None)
            schedule = Schedule(self._transfer, begun, self._pool, self._at_once)
            try:
                is_done = schedule.run(steps, may_continue)
            finally:
                self.failed += schedule.failed - begun.failed
            self._etags += schedule.take_etags()
            if not is_done:
                return None
            failed_under = progress.failed_under
            if schedule.failed > begun.failed:
                failed_under = directory
                for around in filter(directory.startswith, self._kept):
                    self._kept[around] = True
            # Restore the directory of the last failure. That of begun is a wider one, which does
            # not name the inner directory.
            progress = replace(schedule.progress, failed_under=failed_under)
        return progress


def _added(progress: Progress, part: Progress) -> Progress:
    """Return the progress with that of the next slice."""
    put_off = progress.put_off
    for interval in part.put_off:
        put_off = with_put_off(put_off, interval)
    return replace(
        progress,
        after=part.after or progress.after,
        done=progress.done + part.done,
        total=max(progress.total, progress.done + part.done),
        failed=progress.failed + part.failed,
        first_errors=(*progress.first_errors, *part.first_errors)[:FIRST_ERRORS_MAX],
        put_off=put_off,
        failed_under=progress.failed_under if part.failed_under is None else part.failed_under,
    )
