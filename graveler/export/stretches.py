"""Carries a walk out in stretches of keys, by workers that know nothing of each other.

Theory of operation. A worker takes the steps of its stretch in order, all by itself: whatever lies
in the stretch whole, directories with their marks included. Only a directory that reaches beyond
it, as the root always does, is finished by nobody there:

    keys         a/1 ····· a/9 b/1 ·····|····· b/9 c/1 ·····|····· c/9
    whole        a/                                                       by the workers
    kept                     b/ ········|······ b/  c/ ·····|···· c/      here, when both are done
                 root ··················|···················|········

Workers take its old mark away before they change anything in it. When the last stretch that holds
some of it is done, its objects that were set apart are copied and its mark is put here, the inner
directory before the outer one. So marks come after everything under their directories, as in one
walk by one runner.

Stretches are begun by key, and counted by key once they are done: `progress` says that everything
up to a key is done, in the words of an ordinary run. So whoever takes the run over goes on from
there, in stretches or not.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import chain

from graveler.export.manifest import ETag
from graveler.export.model import Progress
from graveler.export.patterns import directories_of
from graveler.export.schedule import FIRST_ERRORS_MAX, Schedule, Transfer
from graveler.export.walk import Entered, Position, Walk, put_off_too
from graveler.export.work import Work
from graveler.staging.listing import prefix_end

# So many objects take a worker some seconds, or a minute: it begins new work often.
STRETCH_OBJECTS_MIN = 10_000
_LOOK_AFTER_S = 1.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """The keys with start <= key < end; the ETags of their copies go into the piece."""

    start: bytes
    end: bytes | None
    piece: int


@dataclass(frozen=True, slots=True)
class StretchResult:
    """What came of a stretch: progress is its own, kept are directories and whether any failed."""

    progress: Progress
    kept: tuple[tuple[bytes, bool], ...] = ()
    problem: Exception | None = None  # why it came to no end; nothing is at work any more


def stretches_of(work: Work, progress: Progress, objects_min: int) -> list[Stretch]:
    """What is left of the work, in stretches with about so many objects of changed ranges."""
    found: list[Stretch] = []
    start = progress.after + b"\0" if progress.after else b""
    for last in work.ends(start, objects_min):
        found.append(Stretch(start, last + b"\0", progress.pieces + len(found)))
        start = last + b"\0"
    found.append(Stretch(start, None, progress.pieces + len(found)))
    return found


class Stretches:
    """Stretches on their way, and how far they have come; told as `Schedule` tells it."""

    def __init__(
        self,
        walk: Walk,
        transfer: Transfer,
        progress: Progress,
        pool: ThreadPoolExecutor | None,
        at_once: int,
    ) -> None:
        """Begin where progress says; what is left to do here runs as in a schedule."""
        self.progress = progress
        self.failed = progress.failed
        self._walk = walk
        self._transfer = transfer
        self._pool = pool
        self._at_once = at_once
        self._etags: list[ETag] = []
        self._order: deque[tuple[Stretch, Future[StretchResult]]] = deque()
        self._problem: Exception | None = None
        # Directories that are not finished, and whether anything failed in them.
        around = directories_of(progress.after) if progress.after else []
        failed_under = progress.failed_under
        self._kept = {
            directory: failed_under is not None and failed_under.startswith(directory)
            for directory in around
        }

    def run(
        self,
        stretches: Iterable[Stretch],
        submit: Callable[[Stretch], Future[StretchResult]],
        workers: Callable[[], int],
        may_go_on: Callable[[], bool],
    ) -> bool:
        """Have the stretches carried out; False if may_go_on, which is asked often, ended it early.

        submit gives a stretch to one of so many workers. When this returns or raises, none of them
        is at work any more; unless the result of submit raised, which says that nobody knows.

        Raises:
            Exception: the problem that a worker told of.
        """
        waiting = deque(stretches)
        running: set[Future[StretchResult]] = set()
        is_stopping = False
        try:
            while running or (waiting and not is_stopping):
                while waiting and not is_stopping and len(running) < max(workers(), 1):
                    future = submit(waiting[0])
                    self._order.append((waiting.popleft(), future))
                    running.add(future)
                done, running = wait(running, _LOOK_AFTER_S, FIRST_COMPLETED)
                for future in done:
                    self._take(future.result())
                is_stopping |= self._problem is not None or not may_go_on()
                is_stopping |= not self._pass(may_go_on)
        except BaseException:
            wait(running)
            raise
        if self._problem is not None:
            raise self._problem
        return not waiting and not self._order

    def take_etags(self) -> list[ETag]:
        """Keys and ETags of what was copied here, and was not taken before."""
        taken, self._etags = self._etags, []
        return taken

    def _take(self, carried: StretchResult) -> None:
        told = carried.progress
        self.failed += told.failed
        if carried.problem is not None and self._problem is None:
            self._problem = carried.problem
            errors = (*self.progress.first_errors, *told.first_errors)[:FIRST_ERRORS_MAX]
            self.progress = replace(self.progress, first_errors=errors)

    def _pass(self, may_go_on: Callable[[], bool]) -> bool:
        """Count stretches before which everything is done; False if may_go_on ended it early."""
        while self._order and self._order[0][1].done() and self._problem is None:
            stretch, future = self._order[0]
            carried = future.result()
            for directory, is_failed in carried.kept:
                self._kept[directory] = self._kept.get(directory, False) or is_failed
            progress = self._leave(stretch.end, _added(self.progress, carried.progress), may_go_on)
            if progress is None:
                return False
            self.progress = progress
            self._order.popleft()
        return True

    def _leave(
        self, end: bytes | None, progress: Progress, may_go_on: Callable[[], bool]
    ) -> Progress | None:
        """Finish directories that end there or before; what progress is then, None if stopped."""
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
                is_done = schedule.run(steps, may_go_on)
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
            # Not what it was begun with: that is wider, and would tell nothing of those inside.
            progress = replace(schedule.progress, failed_under=failed_under)
        return progress


def _added(progress: Progress, told: Progress) -> Progress:
    """The progress when the stretch that comes next is done, too."""
    put_off = progress.put_off
    for interval in told.put_off:
        put_off = put_off_too(put_off, interval)
    return replace(
        progress,
        after=told.after or progress.after,
        done=progress.done + told.done,
        total=max(progress.total, progress.done + told.done),
        failed=progress.failed + told.failed,
        first_errors=(*progress.first_errors, *told.first_errors)[:FIRST_ERRORS_MAX],
        put_off=put_off,
        failed_under=progress.failed_under if told.failed_under is None else told.failed_under,
    )
