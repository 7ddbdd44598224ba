"""The steps of an export in their order: objects, and the directories around them.

Theory of operation. Changes come by key, so everything under a directory is one stretch of them,
and a stack of the directories around the current key is all that has to be known:

    a/b/1  a/b/2  a/c/1  d      steps:  enter "", a/, a/b/   change a/b/1, a/b/2   leave a/b/
                                        enter a/c/           change a/c/1          leave a/c/, a/
                                        change d             leave ""

Entering a directory is the moment to take its old success mark away, before anything under it
changes; leaving it is the moment to put the new one, after everything under it is done. Objects
that patterns set apart are put off until their directory is left. They are not remembered one by
one, only where they lie; then the changes are read there again.

A position says how far the steps have come, in a few bytes: the directories around the last key
are those that are open. So a walk can stop anywhere, and another one goes on from there.

A walk may be limited to a stretch of keys, so that several can share the work (`stretches`). A
directory that reaches beyond the stretch is entered by each of them, and left by none: they keep
it, and `leave` tells its last steps when all of them are done.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from graveler.export.addresses import SUCCESS_MARK
from graveler.export.patterns import Patterns, directories_of, directory_of
from graveler.export.work import Work
from graveler.model import Change
from graveler.staging.listing import prefix_end

# More intervals than these are joined: they are read again with what lies between them.
PUT_OFF_MAX = 32

Interval = tuple[bytes, bytes]  # both ends included


@dataclass(frozen=True, slots=True)
class Position:
    """Everything up to the key `after` is done, but for the keys set apart in the intervals."""

    after: bytes = b""
    put_off: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Entered:
    """A directory in which, or under which, something is about to change."""

    directory: bytes
    is_unmarked: bool  # whether its old mark is to be taken away


@dataclass(frozen=True, slots=True)
class Changed:
    """An object to copy, or to delete if value is None, directly in an entered directory."""

    directory: bytes
    key: bytes
    value: bytes | None
    position: Position  # once this and all before it are done
    is_last: bool = False  # waits for everything else under the directory


@dataclass(frozen=True, slots=True)
class Left:
    """A directory under which everything has been told; it gets a mark if it is to have one."""

    directory: bytes
    is_marked: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Kept:
    """A directory that reaches beyond the stretch: nothing more is told of it here."""

    directory: bytes
    position: Position


Step = Entered | Changed | Left | Kept


class Walk:
    """The steps of the work, or of a stretch of it, from a position on."""

    def __init__(
        self,
        work: Work,
        patterns: Patterns,
        *,
        has_marks: bool = False,
        position: Position = Position(),
        stretch: tuple[bytes, bytes | None] = (b"", None),
    ) -> None:
        self.position = position
        self._work = work
        self._patterns = patterns
        self._stretch = stretch
        # Where no directory has a mark, nor gets one, they do not matter: all is in the root.
        self._minds_directories = has_marks or bool(patterns)

    def steps(self) -> Iterator[Step]:
        """Tell the steps in order; the position goes along."""
        start, end = self._stretch
        after = self.position.after
        stack = self._directories(after) if after else []
        yield from (Entered(directory, is_unmarked=False) for directory in stack)
        for key, value in self._work.changes(after + b"\0" if after else start, end):
            around = self._directories(key)
            while stack and (len(stack) > len(around) or stack[-1] != around[len(stack) - 1]):
                yield from self._leave_or_keep(stack.pop())
            for directory in around[len(stack) :]:
                stack.append(directory)
                yield Entered(directory, is_unmarked=self._minds_directories)
            self.position = replace(self.position, after=key)
            if value is not None and self._is_set_apart(key):
                self._put_off(key)
            else:
                yield Changed(stack[-1], key, value, self.position)
        while stack:
            yield from self._leave_or_keep(stack.pop())

    def _directories(self, key: bytes) -> list[bytes]:
        return directories_of(key) if self._minds_directories else [b""]

    def _is_set_apart(self, key: bytes) -> bool:
        """Whether the object comes last in its directory, as the branch's own mark does."""
        is_mark = self._minds_directories and key == directory_of(key) + SUCCESS_MARK
        return is_mark or self._patterns.set_apart(key)

    def _put_off(self, key: bytes) -> None:
        put_off = put_off_too(self.position.put_off, (key, key))
        self.position = replace(self.position, put_off=put_off)

    def _leave_or_keep(self, directory: bytes) -> Iterator[Step]:
        start, end = self._stretch
        directory_end = prefix_end(directory)
        is_whole = start <= directory and (
            end is None or (directory_end is not None and directory_end <= end)
        )
        if is_whole:
            yield from self.leave(directory)
        else:
            yield Kept(directory, self.position)

    def leave(self, directory: bytes) -> Iterator[Step]:
        """The last steps of a directory: its objects that were set apart, then the mark."""
        put_off = self.position.put_off
        is_marked = self._patterns.match_directory(directory)
        # Whether its last objects change now, or did before an earlier walk stopped.
        is_marked |= any(directory_of(first) == directory for first, _ in put_off)
        named = dict(self._last_by_name(directory))
        for key, value in self._changes_put_off(directory):
            is_marked = True
            named.pop(key, None)
            put_off = tuple(_shrunk(put_off, key))
            self.position = replace(self.position, put_off=put_off)
            yield Changed(directory, key, value, self.position, is_last=True)
        for key, value in named.items():
            yield Changed(directory, key, value, self.position, is_last=True)
        put_off = tuple(each for each in put_off if not each[0].startswith(directory))
        self.position = replace(self.position, put_off=put_off)
        yield Left(directory, is_marked or bool(named), self.position)

    def _last_by_name(self, directory: bytes) -> Iterator[Change]:
        """Objects of the directory that are known to be set apart, whether they changed or not.

        A job that writes its `_SUCCESS` anew hardly ever changes it, and yet it is to come last.
        """
        for name in self._patterns.last_names:
            key = directory + name
            value = self._work.head.get(key) if self._is_set_apart(key) else None
            if value is not None:
                yield key, value

    def _changes_put_off(self, directory: bytes) -> Iterator[Change]:
        end = prefix_end(directory)
        for first, last in self.position.put_off:
            for key, value in self._work.changes(max(first, directory), _least(last + b"\0", end)):
                is_ours = value is not None and directory_of(key) == directory
                if is_ours and self._is_set_apart(key):
                    yield key, value


def put_off_too(put_off: tuple[Interval, ...], interval: Interval) -> tuple[Interval, ...]:
    """The intervals with another one behind them, joined where they are of one directory."""
    if put_off and directory_of(put_off[-1][0]) == directory_of(interval[0]):
        put_off = (*put_off[:-1], (put_off[-1][0], interval[1]))
    else:
        put_off = (*put_off, interval)
    if len(put_off) > PUT_OFF_MAX:
        put_off = ((put_off[0][0], put_off[1][1]), *put_off[2:])
    return put_off


def _least(one: bytes, other: bytes | None) -> bytes:
    return one if other is None else min(one, other)


def _shrunk(put_off: tuple[Interval, ...], done: bytes) -> Iterator[Interval]:
    """The intervals without what lies before a key that was done, if they are of its directory."""
    for first, last in put_off:
        is_ours = directory_of(first) == directory_of(done) and first <= done <= last
        yield (done + b"\0", last) if is_ours else (first, last)
