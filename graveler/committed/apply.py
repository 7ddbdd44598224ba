"""Apply sorted changes to a metarange, at a cost proportional to the changes.

Theory of operation. The changes are walked in order beside the base's ranges:

    base       [a····f][g··k][l·······r][s···]
    changes         ^d             ^n      ^p        ^x
    result     [a··d·f][g··k][l··n··p··r][s····x]
               rewritten  kept  rewritten  rewritten: its end was open

An untouched range is kept unread; not even its header is decoded. In a touched range, untouched
data blocks are copied as stored bytes. A touched block is copied with its new values. Only blocks
that gain or lose a key are decoded, changed and encoded again. Ranges and blocks break by key, so a
change inside one does not move its end. Two cases involve a neighbour:

- A change deletes the key that ended a range. The records before it continue into the next range,
  which is therefore read as well.
- The last range of a metarange usually ends only because the records end. Records added behind it
  continue it.

With both rules, the result equals writing the same records from scratch.

A base range may end where our own rule would not end it. lakeFS wrote it, or the deployment had
another raggedness. It keeps its end while its last key exists. Otherwise one change would rewrite
all ranges behind it.

The result is a list of edits: sorted changes of the metarange's own records, by the last keys of
the ranges. A metarange is a file like a range, so the edits are applied block by block as well. A
large change can be made in slices, whose edits are joined (`graveler.committed.slices`).
"""

from collections.abc import Iterable

from msgspec import Struct

from graveler.committed.counts import Counts
from graveler.committed.edit import Copied, PendingChanges, changed_parts
from graveler.committed.level import METARANGES
from graveler.committed.metarange import MetaRange
from graveler.committed.read_ahead import fetching_ahead
from graveler.committed.slices import Slice, SliceResult
from graveler.committed.store import Committed
from graveler.committed.writer import FileWriter, breaks_after
from graveler.entries import range_record
from graveler.model import Change, MetaRangeID, RangeHeader


class Applied(Struct, frozen=True):
    """The resulting metarange, and how many of its records differ from the base."""

    metarange_id: MetaRangeID
    counts: Counts

    @property
    def total(self) -> int:
        """The records that differ; 0 means that nothing changed."""
        return self.counts.total


def apply_changes(
    committed: Committed,
    base: MetaRange,
    changes: Iterable[Change],
) -> Applied:
    """Apply changes to base and store the result; changes ascend by key, None deletes.

    A value that differs from base's in any byte is a change, even equal content at another address
    (docs/adr/0013-another-address.md). Deleting a missing key changes nothing. If nothing changes,
    the result is base.

    Raises:
        CorruptDataError: a file of base is missing or damaged.
    """
    whole = _SliceOfRanges(committed, base, Slice(), changes)
    # The metarange is stored beside its last ranges: nothing names it before both are.
    applied = assemble(committed, base, [whole.make()])
    whole.wait()
    return applied


def apply_slice(
    committed: Committed,
    base: MetaRange,
    part: Slice,
    changes: Iterable[Change],
) -> SliceResult:
    """Apply the changes of one slice and store the ranges; changes ascend by key.

    Raises:
        CorruptDataError: a file of base is missing or damaged.
    """
    ranges = _SliceOfRanges(committed, base, part, changes)
    result = ranges.make()
    ranges.wait()
    return result


class _SliceOfRanges:
    """Applies one slice; holds its position among the base's ranges."""

    def __init__(
        self,
        committed: Committed,
        base: MetaRange,
        part: Slice,
        changes: Iterable[Change],
    ) -> None:
        self._base = base
        self._part = part
        self._breaking = committed.breaking
        self._changes = PendingChanges(fetching_ahead(committed, base, changes))
        self._writer = FileWriter(committed, base.namespace, breaking=committed.breaking)
        self._counts = Counts()
        self._gone: list[bytes] = []  # the last keys of the ranges rewritten
        self._from = part.start  # ranges that end before this key are not of this slice, or done

    def wait(self) -> None:
        """Wait until all ranges are stored."""
        self._writer.wait()

    def make(self) -> SliceResult:
        """Write every range that the changes touch; return the edits of the metarange.

        The ranges may not be stored yet.
        """
        writer, changes = self._writer, self._changes
        start = self._part.start
        cut = self._base.range_from(start) if start else None
        if cut is not None and cut.min_key < start:
            self._rewrite(cut)  # the slice before this one writes the part before the cut
        while writer.is_open or changes.next is not None:
            header = self._next_range()
            for keys, values in changes.take_additions(header.min_key if header else None):
                writer.write_records(keys, values)
                self._counts.added += len(keys)
            if header is None:
                break
            if writer.is_open or changes.reach(header.max_key) or self._goes_on(header):
                self._rewrite(header)
        edits: dict[bytes, RangeHeader | None] = dict.fromkeys(self._gone)
        edits.update((header.max_key, header) for header in writer.end())
        return SliceResult(tuple(sorted(edits.items())), self._counts)

    def _next_range(self) -> RangeHeader | None:
        """Return the next range that may change; None if all changes are behind the last range."""
        key = self._from
        if not self._writer.is_open and self._changes.next is not None:
            key = max(key, self._changes.next[0])
        header = self._base.range_from(key)
        if header is None:
            last = self._base.range_from(max(self._from, self._base.last_key))
            if last is not None and self._goes_on(last):
                return last
        return header

    def _goes_on(self, header: RangeHeader) -> bool:
        """Return whether the range is the last one, and the next additions continue it."""
        if header.max_key != self._base.last_key or self._changes.reach(header.max_key):
            return False
        self._changes.drop_deletions()
        is_full = header.size_bytes >= self._breaking.bytes_max
        is_closed = is_full or breaks_after(header.max_key, self._breaking)
        return self._changes.next is not None and not is_closed

    def _rewrite(self, header: RangeHeader) -> None:
        """Write one range of the base with its share of the changes, unless nothing changes."""
        writer, blocks = self._writer, self._base.range_blocks(header)
        start = self._part.start if header.min_key < self._part.start else b""
        end = self._part.end if self._part.end and self._part.end <= header.max_key else None
        parts = changed_parts(
            blocks,
            self._changes.take(header.max_key),
            self._counts,
            start=start,
            end=end,
            raggedness_records=self._breaking.raggedness_records,
        )
        part = next(parts, None)
        is_equal = part == Copied(0, len(blocks))
        if is_equal and not writer.is_open and not self._goes_on(header):
            return
        last_key = b""
        while part is not None:
            last_key = writer.write_part(blocks, part)
            part = next(parts, None)
        if last_key == header.max_key != self._base.last_key:
            writer.end_file()
        if end is None:
            self._gone.append(header.max_key)
        self._from = end or header.max_key + b"\x00"


def assemble(committed: Committed, base: MetaRange, results: Iterable[SliceResult]) -> Applied:
    """Apply the slices' edits to base, in order, and store the metarange.

    Raises:
        CorruptDataError: base's file is missing or damaged.
    """
    counts = Counts()
    edits: list[Change] = []
    for result in results:
        counts.add(result.counts)
        edits += [
            (key, range_record(header)[1] if header else None) for key, header in result.edits
        ]
    if not counts.total:
        return Applied(base.id, counts)
    pending = PendingChanges(edits)
    writer = FileWriter(committed, base.namespace, METARANGES)
    blocks = base.blocks()
    changes = pending.take(blocks.last_key)
    for part in changed_parts(blocks, changes, Counts()):
        writer.write_part(blocks, part)
    for records in pending.take_additions(None):
        writer.write_records(*records)
    if not writer.is_open:
        writer.begin_file()  # no range is left, which is a valid metarange
    (metarange,) = writer.finish()
    # The writer describes every file as a range.
    return Applied(MetaRangeID(metarange.id), counts)
