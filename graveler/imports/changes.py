"""The changes that an import makes to a branch's content.

The imported records replace what is at the destinations: paths that the import does not have are
deleted there. Everything else stays. lakeFS means the same, but its implementation also deletes
`ab` for the destination `a`, and keeps some deleted paths (docs/api.md).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from graveler.committed.metarange import MetaRange
from graveler.committed.slices import SLICE_WEIGHT, Slice, plan
from graveler.committed.store import Committed
from graveler.diff.two_way import changed_ranges, diff
from graveler.imports.keys import KeyInterval, clipped, union
from graveler.model import Change

# How many changes a plan expects in a range that differs.
_CHANGES_OF_A_RANGE = 4000


def import_changes(
    imported: MetaRange,
    base: MetaRange,
    replaced: Iterable[KeyInterval],
    start: bytes = b"",
    end: bytes | None = None,
) -> Iterator[Change]:
    """Yield the changes with start <= key < end that put imported into base, by key.

    replaced: the keys whose content is imported's; in any order, they may overlap. All keys of
        imported must be among them.

    Ranges that both sides share are not read. A record with equal content at another address is a
    change: the old address may be about to go away.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
    """
    for keys in clipped(union(replaced), start, end):
        for difference in diff(base, imported, keys.start, keys.end, exact=True):
            yield difference.key, difference.right


def plan_import(
    committed: Committed,
    imported: MetaRange,
    base: MetaRange,
    replaced: Sequence[KeyInterval],
    *,
    slice_weight: int = SLICE_WEIGHT,
    watching: Callable[[Iterator[bytes]], Iterator[bytes]] = iter,
) -> Iterator[Slice]:
    """Yield slices of a large import; the caller applies import_changes of each to base.

    The plan reads no ranges beside cuts: the ranges that differ show where the work is. watching
    passes their last keys on, and may raise to stop the plan.

    Raises:
        CorruptDataError: a file is missing, or is not what was written.
    """

    def changes(start: bytes, end: bytes | None) -> Iterator[Change]:
        return import_changes(imported, base, replaced, start, end)

    touched = watching(_within(changed_ranges(base, imported), union(replaced)))
    return plan(
        base,
        committed.breaking,
        changes,
        touched,
        key_weight=_CHANGES_OF_A_RANGE,
        slice_weight=slice_weight,
    )


def is_whole(base: MetaRange, replaced: Sequence[KeyInterval]) -> bool:
    """Return whether nothing of base stays, so that the result is the imported metarange."""
    return not base.last_key or any(each.is_everything for each in union(replaced))


def _within(keys: Iterable[bytes], intervals: Sequence[KeyInterval]) -> Iterator[bytes]:
    """Yield those of the ascending keys that are in one of the disjoint intervals."""
    rest = iter(intervals)
    current = next(rest, None)
    for key in keys:
        while current is not None and current.end is not None and current.end <= key:
            current = next(rest, None)
        if current is None:
            return
        if current.start <= key:
            yield key
