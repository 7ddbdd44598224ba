"""The content of a merge's base: one metarange, or a virtual one after crossed merges.

A virtual base is a merge of the best common ancestors of both sides (`graveler.refs.base_graph`).
It is made path by path, when a path is asked for, by this rule:

- Each two ancestors whose records differ are compared with the base of these two, which may be
  virtual itself. If one of the two has that base's record, the other one has superseded it.
- If the ancestors that no other one has superseded agree, theirs is the record of the path.
- Otherwise the ancestors conflict, and the path is UNSETTLED.

Of two ancestors, that is the table of `graveler.merge`. The rule knows no order of them, so the
result depends on the shape of the history only.

UNSETTLED differs from every record and from a missing one. So a merge conflicts at the path if its
two sides differ, and does not if they are equal. A result holds records of the two sides only, so
it never holds UNSETTLED.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import merge as heap_merge
from itertools import combinations, groupby

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import Difference, changed_ranges, diff
from graveler.entries import join_value, same_record
from graveler.model import MetaRangeID
from graveler.refs.base_graph import VirtualBase

# In memory only. Records have an identity of 32 bytes.
UNSETTLED = join_value(b"crossed merges conflict", b"")

Watching = Callable[[Iterator[Difference]], Iterator[Difference]]
Passed = Callable[[bytes], None]


class CrossedBase:
    """A virtual base, read path by path."""

    def __init__(self, base: VirtualBase, opened: Callable[[MetaRangeID], MetaRange]) -> None:
        """Take the function that opens a metarange."""
        metaranges = {each: opened(each) for one in base.sets for each in one.contents}
        self._contents = [[metaranges[each] for each in one.contents] for one in base.sets]
        self._below = [one.below for one in base.sets]

    @property
    def ancestors(self) -> Sequence[MetaRange]:
        """The best common ancestors of the merge's two sides."""
        return self._contents[0]

    def get(self, key: bytes) -> bytes | None:
        """Return the stored value of the key, or None; UNSETTLED if the ancestors conflict.

        Raises:
            CorruptDataError: a file is missing, or is not what was written.
        """
        return self.merged(key, [content.get(key) for content in self.ancestors])

    def merged(self, key: bytes, values: Sequence[bytes | None]) -> bytes | None:
        """Return the record of the key if the best common ancestors have these values of it."""
        return self._merged(0, key, values, {})

    def _merged(
        self,
        number: int,
        key: bytes,
        values: Sequence[bytes | None],
        known: dict[int, bytes | None],
    ) -> bytes | None:
        """Return the record of the key in that set of ancestors; known has those of others."""
        superseded = set()
        pairs = combinations(range(len(values)), 2) if self._below[number] else ()
        for (one, other), below in zip(pairs, self._below[number], strict=True):
            if not same_record(values[one], values[other]):
                base = self._below_record(below, key, known)
                if same_record(base, values[one]):
                    superseded.add(one)
                elif same_record(base, values[other]):
                    superseded.add(other)
        left = [value for number, value in enumerate(values) if number not in superseded]
        agree = left and all(same_record(left[0], value) for value in left)
        return left[0] if agree else UNSETTLED

    def _below_record(
        self, number: int | None, key: bytes, known: dict[int, bytes | None]
    ) -> bytes | None:
        if number is None:
            return UNSETTLED  # history crosses too often to look further
        if number not in known:
            values = [content.get(key) for content in self._contents[number]]
            known[number] = self._merged(number, key, values, known)
        return known[number]


Base = MetaRange | CrossedBase


def changes_since(
    base: Base,
    source: MetaRange,
    start: bytes = b"",
    end: bytes | None = None,
    *,
    passed: Passed | None = None,
    watching: Watching = iter,
) -> Iterator[Difference]:
    """Yield the keys with start <= key < end that source changed since base, by key.

    passed is as for `diff`. watching passes differences on, and may raise to stop; of a virtual
    base it gets the differences from each best common ancestor.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
    """
    if isinstance(base, MetaRange):
        yield from watching(diff(base, source, start, end, passed=passed))
        return
    beside = _Diffs(passed, start)
    for number, ancestor in enumerate(base.ancestors):
        note = partial(beside.note, number)
        beside.add(watching(diff(ancestor, source, start, end, passed=note)))
    beside.go_on(start, range(len(base.ancestors)))
    while beside.nexts:
        key = min(each.key for each in beside.nexts.values())
        found = {number: each for number, each in beside.nexts.items() if each.key == key}
        right = next(iter(found.values())).right
        # An ancestor without a difference has the content of the source.
        values = [
            found[number].left if number in found else right
            for number in range(len(base.ancestors))
        ]
        left = base.merged(key, values)
        if not same_record(left, right):
            yield Difference(key, left, right)
        beside.go_on(key, found)


class _Diffs:
    """Diffs side by side: the next difference of each, by its number, until it ends."""

    def __init__(self, passed: Passed | None, start: bytes) -> None:
        self.nexts: dict[int, Difference] = {}
        self._passed = passed
        self._start = self._done = start
        self._streams: list[Iterator[Difference]] = []
        self._reached: dict[int, bytes] = {}  # up to which key a diff has compared everything

    def add(self, stream: Iterator[Difference]) -> None:
        """Add one more diff."""
        self._reached[len(self._streams)] = self._start
        self._streams.append(stream)

    def go_on(self, done: bytes, numbers: Iterable[int]) -> None:
        """Get the next differences of these diffs; everything up to the key was consumed."""
        self._done = done
        for number in numbers:
            found = next(self._streams[number], None)
            if found is not None:
                self.nexts[number] = found
            else:
                self.nexts.pop(number, None)
                del self._reached[number]

    def note(self, number: int, key: bytes) -> None:
        """Note that a diff has compared everything up to the key."""
        self._reached[number] = key
        everywhere = max(self._done, min(self._reached.values()))
        if self._passed is not None and everywhere > self._start:
            self._passed(everywhere)


def changed_ranges_since(base: Base, source: MetaRange) -> Iterator[bytes]:
    """Yield the last keys of the ranges that only base or source has, in order."""
    if isinstance(base, MetaRange):
        yield from changed_ranges(base, source)
        return
    found = heap_merge(*(changed_ranges(ancestor, source) for ancestor in base.ancestors))
    yield from (key for key, _ in groupby(found))
