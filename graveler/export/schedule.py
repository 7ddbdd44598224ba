"""Carry out the steps of a walk concurrently, each as soon as the steps it depends on are done.

Theory of operation. Every directory of the walk goes through four stages:

    UNMARK    delete its old success mark
    CONTENT   change its objects; its subdirectories go through all of their stages
    LAST      copy the objects that were set apart
    MARK      put the new mark

A step belongs to a stage of a directory. It starts when the directory has reached that stage, that
is, when all steps of the earlier stages are done. Nothing else orders the steps. Steps of different
directories run at the same time, and so do those of one stage.

Progress is counted in the order of the steps: `progress` has the position up to which everything is
done. So a runner that continues from there leaves nothing out, and repeats little.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from enum import IntEnum
from functools import partial
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from graveler.export.record import Progress, shortened
from graveler.export.walk import Changed, Entered, Left, Position, Step
from graveler.limits import DELETE_OBJECTS_MAX

FIRST_ERRORS_MAX = 10
_ERROR_CHARACTERS_MAX = 2000
# After this many failures in a row, the rest will fail as well.
FAILURES_IN_A_ROW_MAX = 100
# Steps that wait to be counted because an earlier one is not done, which may take minutes.
_OUT_OF_ORDER_MAX = 10_000
# More steps are added than can run, since those that wait for others must not block the rest.
_ADDED_PER_RUNNING = 4
_WAIT_S = 1.0


class RunFailedError(Exception):
    """The run cannot continue; the message says why."""


class Outcome(Struct, frozen=True):
    """The result of a step: objects done, ETags of copies, and an error per failed object."""

    done: int = 0
    etags: tuple[tuple[bytes, str], ...] = ()
    errors: tuple[str, ...] = ()


class Transfer(Protocol):
    """Changes the destination as the steps say; called from many threads."""

    def unmark(self, directory: bytes) -> Outcome:
        """Delete the directory's mark.

        Raises:
            RunFailedError: it cannot be deleted, so nothing under the directory may change.
        """

    def copy(self, key: bytes, value: bytes) -> Outcome:
        """Copy the object to the destination."""

    def delete(self, keys: Sequence[bytes]) -> Outcome:
        """Delete objects at the destination."""

    def mark(self, directory: bytes, *, has_objects: bool) -> Outcome:
        """Put the directory's mark if it has objects; has_objects False means unknown."""


class _Stage(IntEnum):
    UNMARK = 0
    CONTENT = 1
    LAST = 2
    MARK = 3
    DONE = 4


class _Directory(Struct, eq=False):
    name: bytes
    parent: "_Directory | None"
    is_failed: bool
    has_objects: bool = False  # this schedule has copied some
    stage: _Stage = _Stage.UNMARK
    last_stage: _Stage = _Stage.CONTENT  # the last one of the steps added so far
    unfinished: list[int] = field(default_factory=lambda: [0] * len(_Stage))
    waiting: "list[_Unit]" = []


class _Unit(Struct, eq=False):
    """A step, or several deletions in a row; do is None if only its position counts."""

    directory: _Directory
    stage: _Stage
    do: Callable[[], Outcome] | None
    position: Position | None = None
    is_copy: bool = False
    outcome: Outcome | None = None


class Schedule:
    """Runs steps concurrently and counts their progress."""

    def __init__(
        self, transfer: Transfer, progress: Progress, pool: ThreadPoolExecutor | None, at_once: int
    ) -> None:
        """Continue from progress with at_once steps in the pool; without a pool, one by one."""
        self.progress = progress
        self.failed = progress.failed  # of all finished steps, even if progress does not cover them
        self._transfer = transfer
        self._pool = pool
        self._added_max = at_once * _ADDED_PER_RUNNING
        self._directory: _Directory | None = None  # the innermost one that was entered and not left
        self._deletions: list[Changed] = []
        self._order: deque[_Unit] = deque()
        self._ready: deque[_Unit] = deque()
        self._running: dict[Future[Outcome], _Unit] = {}
        self._unfinished = 0
        self._is_stopping = False
        self._failures_in_a_row = 0
        self._etags: list[tuple[bytes, str]] = []
        self._kept: list[_Directory] = []

    def run(self, steps: Iterable[Step], may_continue: Callable[[], bool]) -> bool:
        """Carry out the steps; return False if may_continue, which is called often, returned False.

        No step is running any more when this returns or raises.

        Raises:
            RunFailedError: a mark cannot be deleted, or too many steps failed in a row.
        """
        try:
            for step in steps:
                self._add(step)
                while self._unfinished > self._added_max or len(self._order) > _OUT_OF_ORDER_MAX:
                    self._wait()
                    self._is_stopping |= not may_continue()
                    if self._is_stopping:
                        break
                if self._is_stopping or not may_continue():
                    self._is_stopping = True
                    break
            self._add_deletions()
            while self._running or (self._unfinished and not self._is_stopping):
                self._wait()
                self._is_stopping |= not may_continue()
        except BaseException:
            self._is_stopping = True
            wait(self._running)
            raise
        return not self._is_stopping

    def take_etags(self) -> list[tuple[bytes, str]]:
        """Return the keys and ETags that progress covers and that were not taken before."""
        taken, self._etags = self._etags, []
        return taken

    @property
    def kept(self) -> list[tuple[bytes, bool]]:
        """Directories that reach beyond the slice, and whether anything failed in each."""
        return [(directory.name, directory.is_failed) for directory in self._kept]

    # Adding steps

    def _add(self, step: Step) -> None:
        if isinstance(step, Changed) and step.value is None:
            if len(self._deletions) == DELETE_OBJECTS_MAX:
                self._add_deletions()
            self._deletions.append(step)
            return
        self._add_deletions()
        if isinstance(step, Entered):
            self._enter(step)
            return
        directory = self._directory
        assert directory is not None
        assert directory.name == step.directory
        if isinstance(step, Changed):
            assert step.value is not None
            stage = _Stage.LAST if step.is_last else _Stage.CONTENT
            copy = partial(self._copy, directory, stage, step)
            self._put(_Unit(directory, stage, copy, step.position, is_copy=True))
            return
        mark = None
        if not isinstance(step, Left):
            self._kept.append(directory)
        elif step.is_marked:
            mark = partial(self._mark, directory)
        self._directory = directory.parent
        self._put(_Unit(directory, _Stage.MARK, mark, step.position))

    def _enter(self, step: Entered) -> None:
        failed_under = self.progress.failed_under
        entered = _Directory(
            name=step.directory,
            parent=self._directory,
            is_failed=failed_under is not None and failed_under.startswith(step.directory),
        )
        self._directory = entered
        if entered.parent is not None:
            entered.parent.unfinished[_Stage.CONTENT] += 1
        unmark = partial(self._transfer.unmark, step.directory) if step.is_unmarked else None
        self._put(_Unit(entered, _Stage.UNMARK, unmark))

    def _add_deletions(self) -> None:
        if not self._deletions:
            return
        keys = [step.key for step in self._deletions]
        position = self._deletions[-1].position
        self._deletions = []
        assert self._directory is not None
        delete = partial(self._transfer.delete, keys)
        self._put(_Unit(self._directory, _Stage.CONTENT, delete, position))

    def _put(self, unit: _Unit) -> None:
        directory = unit.directory
        directory.unfinished[unit.stage] += 1
        directory.last_stage = max(directory.last_stage, unit.stage)
        self._order.append(unit)
        self._unfinished += 1
        self._advance(directory)
        if unit.stage is _Stage.UNMARK:
            gate, stage = directory.parent, _Stage.CONTENT
        else:
            gate, stage = directory, unit.stage
        if gate is None or gate.stage == stage:
            self._ready.append(unit)
        else:
            gate.waiting.append(unit)
        self._start()

    def _copy(self, directory: _Directory, stage: _Stage, step: Changed) -> Outcome:
        assert step.value is not None
        if step.etag:
            return Outcome(done=1, etags=((step.key, step.etag),))
        # To readers, the last object says that the others are there.
        if stage is _Stage.LAST and directory.is_failed:
            return Outcome()
        return self._transfer.copy(step.key, step.value)

    def _mark(self, directory: _Directory) -> Outcome:
        if directory.is_failed:
            return Outcome()
        return self._transfer.mark(directory.name, has_objects=directory.has_objects)

    # Running steps

    def _start(self) -> None:
        while self._ready and not self._is_stopping:
            unit = self._ready.popleft()
            if unit.do is None:
                self._finish(unit, Outcome())
            elif self._pool is None:
                self._finish(unit, unit.do())
            else:
                self._running[self._pool.submit(unit.do)] = unit

    def _wait(self) -> None:
        assert self._running, "steps wait, but none is running"
        done, _ = wait(self._running, timeout=_WAIT_S, return_when=FIRST_COMPLETED)
        for future in done:
            self._finish(self._running.pop(future), future.result())
        self._start()

    def _finish(self, unit: _Unit, outcome: Outcome) -> None:
        if outcome.errors:
            errors = tuple(shortened(error, _ERROR_CHARACTERS_MAX) for error in outcome.errors)
            outcome = replace(outcome, errors=errors)
        unit.outcome = outcome
        directory = unit.directory
        directory.unfinished[unit.stage] -= 1
        directory.is_failed |= bool(outcome.errors)
        directory.has_objects |= unit.is_copy and bool(outcome.done)
        self._unfinished -= 1
        self._advance(directory)
        while self._order and self._order[0].outcome is not None:
            self._count(self._order.popleft())
        self.failed += len(outcome.errors)
        if outcome.errors:
            self._failures_in_a_row += len(outcome.errors)
            if self._failures_in_a_row >= FAILURES_IN_A_ROW_MAX:
                raise RunFailedError(outcome.errors[0])
        elif outcome.done:
            self._failures_in_a_row = 0

    def _advance(self, directory: _Directory) -> None:
        """Move the directory, and those around it, to their first stage with unfinished steps."""
        at: _Directory | None = directory
        while at is not None:
            while at.stage < at.last_stage and not at.unfinished[at.stage]:
                at.stage = _Stage(at.stage + 1)
                waiting, at.waiting = at.waiting, []
                for unit in waiting:
                    is_ready = _gate_stage(unit, at) == at.stage
                    (self._ready if is_ready else at.waiting).append(unit)
            if at.stage is not _Stage.MARK or at.unfinished[_Stage.MARK]:
                return
            parent = at.parent
            if parent is not None:
                parent.unfinished[_Stage.CONTENT] -= 1
                parent.is_failed |= at.is_failed
                parent.has_objects |= at.has_objects
            at = parent

    def _count(self, unit: _Unit) -> None:
        """Add a finished unit to progress; all units before it are counted."""
        outcome = unit.outcome
        assert outcome is not None
        progress = self.progress
        if unit.position is not None:
            progress = replace(progress, after=unit.position.after, put_off=unit.position.put_off)
        if outcome.errors:
            progress = replace(
                progress,
                failed=progress.failed + len(outcome.errors),
                first_errors=(*progress.first_errors, *outcome.errors)[:FIRST_ERRORS_MAX],
                failed_under=unit.directory.name,
            )
        done = progress.done + outcome.done
        # The total does not include unchanged objects that are copied again to come last.
        self.progress = replace(progress, done=done, total=max(progress.total, done))
        self._etags += outcome.etags


def _gate_stage(unit: _Unit, gate: _Directory) -> _Stage:
    return unit.stage if unit.directory is gate else _Stage.CONTENT
