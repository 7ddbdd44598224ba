"""What a source changed since the merge base, and how that meets the destination.

For each key that differs between base and source, the destination is asked for its record. Its
answer decides: as in base, the source's change stands alone; as in source, both sides agree;
anything else is a conflict. Keys that only the destination changed never come up, so the cost
follows what the source changed. Where destination and base share a range, it is not read twice.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import Difference
from graveler.entries import same_content


class Meeting(Enum):
    """How a source's change meets the destination."""

    ALONE = "alone"  # the destination is as in base
    AGREED = "agreed"  # both sides made the same change
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A key that the source changed since base, with the destination's record of it."""

    change: Difference  # left: base, right: source
    destination: bytes | None
    meeting: Meeting


def _same(one: bytes | None, other: bytes | None) -> bool:
    if one is None or other is None:
        return one is other
    return same_content(one, other)


def source_changes(changes: Iterable[Difference], destination: MetaRange) -> Iterator[SourceChange]:
    """How each change from base to source meets the destination, in the order given."""
    for change in changes:
        present = destination.get(change.key)
        if _same(present, change.left):
            meeting = Meeting.ALONE
        elif _same(present, change.right):
            meeting = Meeting.AGREED
        else:
            meeting = Meeting.CONFLICT
        yield SourceChange(change, present, meeting)
