"""Steps of exports on a destination in memory, which records them, in random order.

Requests to a store end in any order, but threads without I/O end in the order in which they began.
So a pool without threads replaces them: when a schedule waits for tasks, the pool draws one at
random and runs it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest.mock import patch

from graveler.export.patterns import directory_of
from graveler.export.schedule import Outcome
from graveler.model import Change


@dataclass
class PlannedWork:
    """The changes of `graveler.export.work.Work`, from plain dictionaries."""

    base: Mapping[bytes, bytes]
    head: Mapping[bytes, bytes]
    scanned: list[tuple[bytes, bytes | None]] = field(default_factory=list)

    def changes(self, start: bytes = b"", end: bytes | None = None) -> Iterator[Change]:
        self.scanned.append((start, end))
        for key in sorted(self.base.keys() | self.head.keys()):
            is_within = start <= key and (end is None or key < end)
            if is_within and self.base.get(key) != self.head.get(key):
                yield key, self.head.get(key)


@dataclass
class NotingTransfer:
    """A Transfer that fails for some keys, and records (operation, key or directory)."""

    work: PlannedWork
    fails: frozenset[bytes] = frozenset()
    objects: dict[bytes, bytes] = field(default_factory=dict)
    marks: set[bytes] = field(default_factory=set)
    notes: list[tuple[str, bytes]] = field(default_factory=list)

    def _do(self, what: str, name: bytes, outcome: Outcome) -> Outcome:
        self.notes.append((what, name))
        if not outcome.errors:
            self._apply(what, name)
        return outcome

    def _apply(self, what: str, name: bytes) -> None:
        if what == "copy":
            self.objects[name] = self.work.head[name]
        elif what == "delete":
            self.objects.pop(name, None)
        elif what == "unmark":
            self.marks.discard(name)
        else:
            self.marks.add(name)

    def copy(self, key: bytes, value: bytes) -> Outcome:
        assert value == self.work.head[key]
        failed = Outcome(errors=(f"{key!r} failed",))
        done = Outcome(done=1, etags=((key, value.decode()),))
        return self._do("copy", key, failed if key in self.fails else done)

    def delete(self, keys: Sequence[bytes]) -> Outcome:
        errors = tuple(f"{key!r} failed" for key in keys if key in self.fails)
        for key in keys:
            self._do("delete", key, Outcome(errors=errors if key in self.fails else ()))
        return Outcome(done=len(keys) - len(errors), errors=errors)

    def unmark(self, directory: bytes) -> Outcome:
        return self._do("unmark", directory, Outcome())

    def mark(self, directory: bytes, *, has_objects: bool) -> Outcome:
        if not has_objects and not any(key.startswith(directory) for key in self.work.head):
            return Outcome()
        return self._do("mark", directory, Outcome())

    def check_order(self, last: Collection[bytes]) -> None:
        """Check the order: old marks deleted, objects, objects set apart, new marks."""
        for at, (what, name) in enumerate(self.notes):
            before, later = self.notes[:at], self.notes[at + 1 :]
            if what == "unmark":
                assert not _under(name, before)
            elif what == "mark":
                assert not _under(name, later)
                inner = [other for note, other in later if note == "mark"]
                assert not [other for other in inner if other.startswith(name)]
            elif what == "copy" and name in last:
                directory = directory_of(name)
                assert not [
                    key
                    for key in _under(directory, later)
                    if key not in last or directory_of(key) != directory
                ]


def _under(directory: bytes, notes: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Return what changed under the directory."""
    return [n for what, n in notes if what in ("copy", "delete") and n.startswith(directory)]


class LotPool:
    """Replaces a pool of threads: draws at random which task finishes first."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._tasks: dict[Future[Any], Callable[[], Any]] = {}

    @contextmanager
    def waited_for(self) -> Iterator["LotPool"]:
        """Make schedules wait for this pool instead of threads."""
        with patch("graveler.export.schedule.wait", self._wait):
            yield self

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._tasks[future] = task
        return future

    def _wait(
        self, futures: Collection[Future[Any]], **options: object
    ) -> tuple[set[Future[Any]], set[Future[Any]]]:
        waiting = [future for future in self._tasks if future in futures]
        drawn = {self._random.choice(waiting)} if options and waiting else set(waiting)
        for future in drawn:
            future.set_result(self._tasks.pop(future)())
        return drawn, set(futures) - drawn
