"""Three-way merge: apply the source's changes since the merge base to the destination.

The rules are those of lakeFS's documentation (A, B, C: contents; X: no object):

    base  source  destination  result
    A     A       A            A          nobody changed it
    A     B       B            B          both the same way; the source's record is taken
    A     B       C            conflict
    A     A       B            B          only the destination changed it
    A     B       A            B          only the source changed it
    A     X       X            X          both deleted it
    A     B       X            conflict   changed and deleted
    A     X       B            conflict   deleted and changed
    A     A       X            X          the destination deleted it
    A     X       A            X          the source deleted it
    X     B       B            B          both added the same
    X     B       C            conflict   both added, differently

A strategy settles every conflict for one side, its deletions included. A resolution settles the
conflict of one path.

After crossed merges, the base is virtual (`graveler.diff.virtual_base`). Where it is unsettled, the
two sides conflict unless they are equal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from graveler.committed.apply import Applied, apply_changes
from graveler.committed.counts import Counts
from graveler.committed.metarange import MetaRange
from graveler.committed.slices import SLICE_WEIGHT, Slice, plan
from graveler.committed.store import Committed
from graveler.diff.three_way import Meeting, source_changes
from graveler.diff.two_way import Difference
from graveler.diff.virtual_base import Base, changed_ranges_since, changes_since
from graveler.errors import GravelerError, InvalidInputError
from graveler.messages import Refusal
from graveler.model import Change

# The strategies by their names in the API, with their names in the merge commit's metadata.
STRATEGIES = {"": "default", "dest-wins": "dest-wins", "source-wins": "source-wins"}

# The strategy for the conflict of each path that has one of its own.
Resolutions = Mapping[bytes, str]
_NONE: Resolutions = {}

# A refused merge names the first of the conflicts among so many further changes.
_CONFLICTS_NAMED = 3
_CHANGES_LOOKED_AT = 1000

# How many changes a plan expects in a range that differs.
_CHANGES_OF_A_RANGE = 500


def check_strategy(strategy: str) -> None:
    """Check that the strategy exists.

    Raises:
        InvalidInputError: it does not exist.
    """
    if strategy not in STRATEGIES:
        raise Refusal.BAD_STRATEGY.error(f"{strategy!r}: use dest-wins, source-wins, or none")


def check_resolutions(
    base: Base, source: MetaRange, destination: MetaRange, paths: Iterable[bytes]
) -> None:
    """Check that both sides changed each of the paths, differently.

    Raises:
        InvalidInputError: a path is not in conflict.
        CorruptDataError: a file is missing, or is not what was written.
    """
    for key in paths:
        found = source_changes(changes_since(base, source, key, key + b"\0"), destination)
        if all(each.meeting is not Meeting.CONFLICT for each in found):
            raise InvalidInputError(
                f"path {key.decode()!r} is not in conflict",
                "compare again, and resolve the conflicts that there are now",
            )


def merge_changes(
    base: Base,
    source: MetaRange,
    destination: MetaRange,
    strategy: str = "",
    start: bytes = b"",
    end: bytes | None = None,
    watching: Callable[[Iterator[Difference]], Iterator[Difference]] = iter,
    resolutions: Resolutions = _NONE,
) -> Iterator[Change]:
    """Yield the changes with start <= key < end that make destination the merge, by key.

    watching passes the source's changes on, and may raise to stop. All of them may be conflicts
    that the destination wins.

    Raises:
        MergeConflictError: both sides changed a key differently, and nothing settles that.
        CorruptDataError: a file is missing, or is not what was written.
    """
    changes = source_changes(
        changes_since(base, source, start, end, watching=watching), destination
    )
    for found in changes:
        if found.meeting is Meeting.CONFLICT:
            winner = resolutions.get(found.change.key, strategy)
            if not winner:
                further = (
                    each.change.key
                    for each in islice(changes, _CHANGES_LOOKED_AT)
                    if each.meeting is Meeting.CONFLICT and each.change.key not in resolutions
                )
                raise _unsettled([found.change.key, *further])
            if winner == "dest-wins":
                continue
        yield found.change.key, found.change.right


def _unsettled(paths: list[bytes]) -> GravelerError:
    """Return the error of conflicts that nothing settles; there may be more of them."""
    named = ", ".join(repr(path.decode("utf-8", "replace")) for path in paths[:_CONFLICTS_NAMED])
    left = len(paths) - _CONFLICTS_NAMED
    more = f" and at least {left} more path{'s' * (left > 1)}" if left > 0 else ""
    return Refusal.CONFLICT_FOUND.error(f"both sides changed {named}{more} differently")


def plan_merge(
    committed: Committed,
    base: Base,
    source: MetaRange,
    destination: MetaRange,
    strategy: str = "",
    *,
    slice_weight: int = SLICE_WEIGHT,
    watching: Callable[[Iterator[bytes]], Iterator[bytes]] = iter,
    resolutions: Resolutions = _NONE,
) -> Iterator[Slice]:
    """Yield slices of a large merge; the caller applies merge_changes of each to destination.

    watching passes the last keys of the differing ranges on, and may raise to stop the plan.

    The plan reads no diff: the ranges that differ between base and source show where the work is.

    Raises:
        MergeConflictError: as merge_changes, for a key at a cut.
    """

    def changes(start: bytes, end: bytes | None) -> Iterator[Change]:
        return merge_changes(
            base, source, destination, strategy, start, end, resolutions=resolutions
        )

    touched = watching(changed_ranges_since(base, source))
    return plan(
        destination,
        committed.breaking,
        changes,
        touched,
        key_weight=_CHANGES_OF_A_RANGE,
        slice_weight=slice_weight,
    )


def merge(
    committed: Committed,
    base: MetaRange,
    source: MetaRange,
    destination: MetaRange,
    strategy: str = "",
) -> Applied:
    """Store the metarange of the merge; if the total is 0, it is destination's.

    Raises:
        MergeConflictError: as merge_changes; nothing refers to the files written before.
        CorruptDataError: a file is missing, or is not what was written.
    """
    if base.id == destination.id and base.id != source.id:
        # The merge is the source. The count only says that something changed.
        return Applied(source.id, Counts(changed=1))
    changes = merge_changes(base, source, destination, strategy)
    return apply_changes(committed, destination, changes)
