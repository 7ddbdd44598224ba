"""Compare the source's changes since the merge base with the destination.

For each key that differs between base and source, the destination's record decides. If it equals
base's, only the source changed the key. If it equals the source's, both sides agree. Otherwise they
conflict. Keys that only the destination changed are never visited, so the cost is proportional to
the source's changes. A range that destination and base share is read once.
"""

from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import Difference
from graveler.entries import same_record


class Meeting(Enum):
    """How a source's change compares with the destination."""

    ALONE = "alone"  # the destination is as in base
    AGREED = "agreed"  # both sides made the same change
    CONFLICT = "conflict"


class SourceChange(Struct, frozen=True):
    """A key that the source changed since base, with the destination's record of it."""

    change: Difference  # left: base, right: source
    destination: bytes | None
    meeting: Meeting


def source_changes(changes: Iterable[Difference], destination: MetaRange) -> Iterator[SourceChange]:
    """Yield each change from base to source with the destination's record, in the given order.

    Raises:
        CorruptDataError: a file of the destination is missing, or is not what was written.
    """
    for change in changes:
        present = destination.get(change.key)
        if same_record(present, change.left):
            meeting = Meeting.ALONE
        elif same_record(present, change.right):
            meeting = Meeting.AGREED
        else:
            meeting = Meeting.CONFLICT
        yield SourceChange(change, present, meeting)
