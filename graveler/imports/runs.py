"""Sorted runs of records: the form in which an import stores what it has found so far.

A run is a metarange, so each of its ranges is stored when it is complete. Inventories list objects
in any order: their records are sorted in memory, some at a time, and merged later.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice
from typing import Any

from msgspec import Struct

from graveler.committed.apply import assemble
from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import SliceResult
from graveler.committed.store import Committed
from graveler.committed.writer import FileWriter, breaks_after
from graveler.model import EMPTY_METARANGE, MetaRangeID, RangeHeader, Record

BATCH_RECORDS = 1000
# The records of a run that is sorted in memory: about 80 MB.
SORTED_RECORDS = 200_000
# Runs to read at a time: each holds one range, about 2 MB.
_RUNS_MAX = 32


class SortedRun(Struct, frozen=True):
    """The records of one source in order; level says how many merges they went through."""

    source: int
    metarange_id: MetaRangeID
    level: int = 0


class Found(Struct, frozen=True):
    """What an import has found so far.

    listed: the records of all sources from the first path up to some path.
    runs: sorted records from inventories; files is the number of their files.
    """

    listed: MetaRangeID = EMPTY_METARANGE
    runs: tuple[SortedRun, ...] = ()
    files: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the value as JSON types."""
        runs = [[run.source, run.metarange_id, run.level] for run in self.runs]
        return {"listed": self.listed, "runs": runs, "files": self.files}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Found":
        """Return the value that to_json encoded."""
        return cls(data["listed"], tuple(SortedRun(*run) for run in data["runs"]), data["files"])


def extended(
    committed: Committed,
    listed: MetaRange,
    ranges: Sequence[RangeHeader],
    replaced: Iterable[bytes] = (),
) -> MetaRange:
    """Store and return the metarange with more ranges behind its last one.

    replaced: the last keys of ranges that they replace.
    """
    ends = dict[bytes, RangeHeader | None].fromkeys(replaced)
    edits = tuple(sorted({**ends, **{header.max_key: header for header in ranges}}.items()))
    added = Counts(added=sum(header.count for header in ranges))
    made = assemble(committed, listed, [SliceResult(edits, added)])
    return MetaRange(committed, listed.namespace, made.metarange_id)


class Listed:
    """The records of a metarange and those behind them, which `add` appends in order.

    count, last_key: how many they are, and the key of the last one.

    The last range may be open: then it is written again with what follows. So the metarange does
    not depend on when it was stored.
    """

    def __init__(self, committed: Committed, stored: MetaRange) -> None:
        """Continue behind what is stored."""
        self._committed = committed
        self.count = stored.count()
        self._continue(stored)

    def _continue(self, stored: MetaRange) -> None:
        committed = self._committed
        self.last_key = stored.last_key
        self._stored, self._replaced = stored, tuple[bytes, ...]()
        self._writer = FileWriter(committed, stored.namespace, breaking=committed.breaking)
        if self.last_key and not breaks_after(self.last_key, committed.breaking):
            last = stored.range_from(self.last_key)
            assert last is not None
            self._replaced = (self.last_key,)
            self._write(list(stored.records(last.min_key)))

    def add(self, records: Iterator[Record]) -> int:
        """Append the next records, also if an error follows some; return how many."""
        batch: list[Record] = []
        try:
            batch.extend(islice(records, BATCH_RECORDS))
        finally:
            self._write(batch)
            self.count += len(batch)
        return len(batch)

    def _write(self, records: Sequence[Record]) -> None:
        if records:
            keys, values = zip(*records, strict=True)
            self._writer.write_records(keys, values)
            self.last_key = keys[-1]

    def store(self) -> MetaRangeID:
        """Store the metarange of all records so far; return its ID."""
        ranges = self._writer.finish()
        stored = extended(self._committed, self._stored, ranges, self._replaced)
        self._continue(stored)
        return stored.id


def with_run(
    committed: Committed,
    namespace: str,
    report: Callable[[], None],
    runs: Sequence[SortedRun],
    source: int,
    records: Iterable[Record],
) -> tuple[SortedRun, ...]:
    """Store unsorted records of a source as one more run; many runs become one.

    If several records have one path, the last of them counts. report is called for each batch, and
    may raise.
    """
    store = partial(_stored, committed, namespace, report)
    made = store(sorted(dict(records).items()))
    runs = (*runs, SortedRun(source, made))
    level = 0
    while True:
        full = [run for run in runs if (run.source, run.level) == (source, level)]
        if len(full) < _RUNS_MAX:
            return runs
        merged = store(merged_runs(committed, namespace, full))
        level += 1
        runs = (*(run for run in runs if run not in full), SortedRun(source, merged, level))


def merged_runs(
    committed: Committed, namespace: str, runs: Iterable[SortedRun], start: bytes = b""
) -> Iterator[Record]:
    """Yield the records of the runs from start on, in order and each path once."""
    last = None
    streams = (MetaRange(committed, namespace, run.metarange_id).records(start) for run in runs)
    for path, value in merge(*streams):
        if path != last:
            yield path, value
            last = path


def _stored(
    committed: Committed, namespace: str, report: Callable[[], None], records: Iterable[Record]
) -> MetaRangeID:
    writer = FileWriter(committed, namespace, breaking=committed.breaking)
    rest = iter(records)
    while batch := list(islice(rest, BATCH_RECORDS)):
        keys, values = zip(*batch, strict=True)
        writer.write_records(keys, values)
        report()
    nothing = MetaRange(committed, namespace, EMPTY_METARANGE)
    return extended(committed, nothing, writer.finish()).id
