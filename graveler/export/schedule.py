"""Carries the steps of a walk out, many at a time, each as soon as what it waits for is done.

Theory of operation. Every directory on the way goes through four stages:

    UNMARK    its old success mark is taken away
    CONTENT   what lies in it changes; the directories in it go through all of their stages
    LAST      objects that were set apart are copied
    MARK      the new mark is put

A step belongs to a stage of a directory, and starts when the directory has come to that stage: when
every step of the stages before is done. Nothing else orders the steps, so what lies in different
directories, or beside each other in one, runs at the same time.

What was done counts in the order of the steps: `progress` holds the position up to which
everything is done, so that whoever goes on from it leaves nothing out, and does little twice.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial
from typing import Protocol

from graveler.export.model import Progress
from graveler.export.walk import Changed, Entered, Left, Position, Step
from graveler.limits import DELETE_OBJECTS_MAX

FIRST_ERRORS_MAX = 10
ERROR_CHARACTERS_MAX = 2000
# So many failures one after the other say that nothing is going to work.
FAILURES_IN_A_ROW_MAX = 100
# Steps that were done before one ahead of them: their number is bounded, for one may take minutes.
_OUT_OF_ORDER_MAX = 10_000
# Steps that wait for others do not keep the rest from starting.
_ADDED_PER_RUNNING = 4
_LOOK_AFTER_S = 1.0


class RunFailedError(Exception):
    """The run cannot go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a step: objects done, the ETags of copies, and an error for each that failed."""

    done: int = 0
    etags: tuple[tuple[bytes, str], ...] = ()
    errors: tuple[str, ...] = ()


class Transfer(Protocol):
    """Does what steps say at the destination; called from many threads."""

    def unmark(self, directory: bytes) -> Outcome:
        """Take the directory's mark away."""

    def copy(self, key: bytes, value: bytes) -> Outcome:
        """Bring the object to the destination."""

    def delete(self, keys: Sequence[bytes]) -> Outcome:
        """Delete objects at the destination."""

    def mark(self, directory: bytes, *, has_objects: bool) -> Outcome:
        """Put the directory's mark; has_objects False means that nobody knows."""


class _Stage(IntEnum):
    UNMARK = 0
    CONTENT = 1
    LAST = 2
    MARK = 3
    DONE = 4


@dataclass(slots=True, eq=False)
class _Directory:
    name: bytes
    parent: "_Directory | None"
    is_failed: bool
    has_objects: bool = False  # as far as this schedule knows
    stage: _Stage = _Stage.UNMARK
    last_stage: _Stage = _Stage.CONTENT  # of the steps added so far
    unfinished: list[int] = field(default_factory=lambda: [0] * len(_Stage))
    waiting: "list[_Unit]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Unit:
    """A step, or a few deletions in a row; with nothing to do it only takes its place in line."""

    directory: _Directory
    stage: _Stage
    do: Callable[[], Outcome] | None
    position: Position | None = None
    is_copy: bool = False
    outcome: Outcome | None = None


class Schedule:
    """Steps on their way, and how far they have come."""

    def __init__(
        self, transfer: Transfer, progress: Progress, pool: ThreadPoolExecutor | None, at_once: int
    ) -> None:
        """Begin where progress says; at_once steps run in the pool, or one at a time without it."""
        self.progress = progress
        self.failed = progress.failed  # of everything that was tried, in order or not
        self._transfer = transfer
        self._pool = pool
        self._added_max = at_once * _ADDED_PER_RUNNING
        self._directory: _Directory | None = None  # the innermost that was entered and not left
        self._deletions: list[Changed] = []
        self._order: deque[_Unit] = deque()
        self._ready: deque[_Unit] = deque()
        self._running: dict[Future[Outcome], _Unit] = {}
        self._unfinished = 0
        self._is_stopping = False
        self._failures_in_a_row = 0
        self._etags: list[tuple[bytes, str]] = []
        self._kept: list[_Directory] = []

    def run(self, steps: Iterable[Step], may_go_on: Callable[[], bool]) -> bool:
        """Carry out the steps; False if may_go_on, which is asked all the time, ended it early.

        When it returns or raises, nothing is at work any more.

        Raises:
            RunFailedError: so much fails that the rest need not be tried.
        """
        try:
            for step in steps:
                self._add(step)
                while self._unfinished > self._added_max or len(self._order) > _OUT_OF_ORDER_MAX:
                    self._wait()
                    self._is_stopping |= not may_go_on()
                    if self._is_stopping:
                        break
                if self._is_stopping or not may_go_on():
                    self._is_stopping = True
                    break
            self._add_deletions()
            while self._running or (self._unfinished and not self._is_stopping):
                self._wait()
                self._is_stopping |= not may_go_on()
        except BaseException:
            self._is_stopping = True
            wait(self._running)
            raise
        return not self._is_stopping

    def take_etags(self) -> list[tuple[bytes, str]]:
        """Keys and ETags of what progress covers, and was not taken before."""
        taken, self._etags = self._etags, []
        return taken

    @property
    def kept(self) -> list[tuple[bytes, bool]]:
        """Directories that others are to leave; whether anything failed in them."""
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
            copy = partial(self._copy, directory, stage, step.key, step.value)
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

    def _copy(self, directory: _Directory, stage: _Stage, key: bytes, value: bytes) -> Outcome:
        # What comes last says to readers that the rest is there.
        if stage is _Stage.LAST and directory.is_failed:
            return Outcome()
        return self._transfer.copy(key, value)

    def _mark(self, directory: _Directory) -> Outcome:
        if directory.is_failed:
            return Outcome()
        return self._transfer.mark(directory.name, has_objects=directory.has_objects)

    # Carrying them out

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
        assert self._running, "steps wait for others that are not there"
        done, _ = wait(self._running, timeout=_LOOK_AFTER_S, return_when=FIRST_COMPLETED)
        for future in done:
            self._finish(self._running.pop(future), future.result())
        self._start()

    def _finish(self, unit: _Unit, outcome: Outcome) -> None:
        unit.outcome = outcome
        directory = unit.directory
        directory.unfinished[unit.stage] -= 1
        directory.is_failed |= bool(outcome.errors)
        directory.has_objects |= unit.is_copy and bool(outcome.done)
        self._unfinished -= 1
        self._advance(directory)
        while self._order and self._order[0].outcome is not None:
            self._pass(self._order.popleft())
        self.failed += len(outcome.errors)
        if outcome.errors:
            self._failures_in_a_row += len(outcome.errors)
            if self._failures_in_a_row >= FAILURES_IN_A_ROW_MAX:
                raise RunFailedError(outcome.errors[0])
        elif outcome.done:
            self._failures_in_a_row = 0

    def _advance(self, directory: _Directory) -> None:
        """Take the directory, and those around it, to the stage that is to be worked on."""
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

    def _pass(self, unit: _Unit) -> None:
        """Count a unit before which everything is done."""
        outcome = unit.outcome
        assert outcome is not None
        progress = self.progress
        if unit.position is not None:
            progress = replace(progress, after=unit.position.after, put_off=unit.position.put_off)
        if outcome.errors:
            errors = [error[:ERROR_CHARACTERS_MAX] for error in outcome.errors]
            progress = replace(
                progress,
                failed=progress.failed + len(errors),
                first_errors=(*progress.first_errors, *errors)[:FIRST_ERRORS_MAX],
                failed_under=unit.directory.name,
            )
        done = progress.done + outcome.done
        # The total was counted before, and leaves out what is copied again to come last.
        self.progress = replace(progress, done=done, total=max(progress.total, done))
        self._etags += outcome.etags


def _gate_stage(unit: _Unit, gate: _Directory) -> _Stage:
    return unit.stage if unit.directory is gate else _Stage.CONTENT
