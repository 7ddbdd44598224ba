"""The steps of an export in order: objects, and the directories around them.

Theory of operation. Changes are in key order, so the changes under a directory are contiguous. The
only state is a stack of the directories around the current key:

    a/b/1  a/b/2  a/c/1  d      steps:  enter "", a/, a/b/   change a/b/1, a/b/2   leave a/b/
                                        enter a/c/           change a/c/1          leave a/c/, a/
                                        change d             leave ""

On entering a directory, its old success mark is deleted, before anything under it changes. On
leaving it, the new mark is put, after everything under it is done. Objects that patterns set apart
are put off until their directory is left. There may be any number of them, so only intervals of
keys that contain them are kept. Their changes are read again.

A position describes the progress of the steps in a few bytes. The open directories are those around
the last key. So a walk can stop anywhere, and another walk can continue from there.

A walk may be limited to a slice of keys, so that several walks share the work (`slices`). Each of
them enters a directory that reaches beyond its slice, but none leaves it. They keep it, and `leave`
yields its last steps when all of them are done.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from graveler.export.paths import SUCCESS_MARK
from graveler.export.patterns import Patterns, directories_of, directory_of
from graveler.export.work import ExportWork
from graveler.model import Change
from graveler.staging.listing import prefix_end

# More intervals than this are joined. Then what lies between them is read again, too.
PUT_OFF_MAX = 32

Interval = tuple[bytes, bytes]  # both ends included


class Position(Struct, frozen=True):
    """Everything up to key `after` is done, except the keys set apart in the intervals."""

    after: bytes = b""
    put_off: tuple[Interval, ...] = ()


_BEGINNING = Position()


class Entered(Struct, frozen=True):
    """A directory in which, or under which, something is about to change."""

    directory: bytes
    is_unmarked: bool  # its old mark is deleted


class Changed(Struct, frozen=True):
    """An object to copy, or to delete if value is None, directly in an entered directory."""

    directory: bytes
    key: bytes
    value: bytes | None
    position: Position  # when this step and all before it are done
    is_last: bool = False  # copied after everything else under the directory
    etag: str = ""  # of the object at the destination, which needs no copy; "" if it needs one


class Left(Struct, frozen=True):
    """The end of a directory, which gets a mark if is_marked and it has objects."""

    directory: bytes
    is_marked: bool
    position: Position


class Kept(Struct, frozen=True):
    """A directory that reaches beyond the slice: this walk has no more steps for it."""

    directory: bytes
    position: Position


Step = Entered | Changed | Left | Kept


class ExportWalk:
    """The steps of the work, or of a slice of it, beginning at a position."""

    def __init__(
        self,
        work: ExportWork,
        patterns: Patterns,
        *,
        has_marks: bool = False,
        position: Position = _BEGINNING,
        keys: tuple[bytes, bytes | None] = (b"", None),
        present: Callable[[bytes, bytes], str] = lambda _key, _value: "",
    ) -> None:
        """Walk from the position.

        present returns the ETag of an object that is at the destination and needs no copy, else "".
        It is called in key order. Objects that patterns set apart are always copied, to come last.
        """
        self.position = position
        self._work = work
        self._patterns = patterns
        self._keys = keys
        self._present = present
        # Without old or new marks, directories do not matter: all objects are in the root.
        self._directories_matter = has_marks or bool(patterns)

    def steps(self) -> Iterator[Step]:
        """Yield the steps in order; `position` follows."""
        start, end = self._keys
        after = self.position.after
        stack = self._directories(after) if after else []
        yield from (Entered(directory, is_unmarked=False) for directory in stack)
        for key, value in self._work.changes(after + b"\0" if after else start, end):
            around = self._directories(key)
            while stack and (len(stack) > len(around) or stack[-1] != around[len(stack) - 1]):
                yield from self._leave_or_keep(stack.pop())
            for directory in around[len(stack) :]:
                stack.append(directory)
                yield Entered(directory, is_unmarked=self._directories_matter)
            self.position = replace(self.position, after=key)
            if value is not None and self._is_set_apart(key):
                self._put_off(key)
            else:
                etag = "" if value is None else self._present(key, value)
                yield Changed(stack[-1], key, value, self.position, etag=etag)
        while stack:
            yield from self._leave_or_keep(stack.pop())

    def _directories(self, key: bytes) -> list[bytes]:
        return directories_of(key) if self._directories_matter else [b""]

    def _is_set_apart(self, key: bytes) -> bool:
        """Whether the object is copied last in its directory, like a branch's own mark."""
        is_mark = self._directories_matter and key == directory_of(key) + SUCCESS_MARK
        return is_mark or self._patterns.set_apart(key)

    def _put_off(self, key: bytes) -> None:
        put_off = with_put_off(self.position.put_off, (key, key))
        self.position = replace(self.position, put_off=put_off)

    def _leave_or_keep(self, directory: bytes) -> Iterator[Step]:
        start, end = self._keys
        directory_end = prefix_end(directory)
        is_whole = start <= directory and (
            end is None or (directory_end is not None and directory_end <= end)
        )
        if is_whole:
            yield from self.leave(directory)
        else:
            yield Kept(directory, self.position)

    def leave(self, directory: bytes) -> Iterator[Step]:
        """Yield the last steps of a directory: its objects that were set apart, then the mark."""
        put_off = self.position.put_off
        is_marked = self._patterns.match_directory(directory)
        # Its objects set apart change now, or were copied before an earlier walk stopped.
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
        """Yield the directory's objects that are set apart by name, changed or not.

        A job that rewrites its `_SUCCESS` hardly ever changes it, but readers wait for the copy.
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


def with_put_off(put_off: tuple[Interval, ...], interval: Interval) -> tuple[Interval, ...]:
    """Return the intervals with a later one, joined where they are of one directory."""
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
    """Yield the intervals; those of a done key's directory begin after the key."""
    for first, last in put_off:
        is_ours = directory_of(first) == directory_of(done) and first <= done <= last
        yield (done + b"\0", last) if is_ours else (first, last)
