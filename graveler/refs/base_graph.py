"""What a merge compares both sides with: the merge base, or a virtual one if merges have crossed.

Theory of operation. If `dev` is merged into `main` and `main` into `dev` at once, the two have two
best common ancestors from then on. Each of them lacks what the other side did before. A merge with
either one takes those changes for new ones, or for undone ones, and loses what was really undone.

So the base is a merge of the best common ancestors, path by path (`graveler.diff.virtual_base`).
The base of that merge are the best common ancestors of those, and so on. All of that is a graph of
sets of commits, which is found here without reading any content. No such base is stored.

Each pair of commits is asked once, so the number of walks is that of the different pairs. In a row
of crossed merges it is one for each crossing. Pairs are asked level by level, and a level is asked
whole or not at all. So the result depends on the shape of the history, not on its IDs or dates.
"""

from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from graveler.limits import CROSSED_LEVELS_MAX, CROSSED_PAIRS_MAX
from graveler.model import EMPTY_METARANGE, Commit, CommitID, MetaRangeID
from graveler.refs.history import History
from graveler.refs.merge_base import best_common_ancestors, merge_bases

_Pair = frozenset[CommitID]


class BestAncestors(Struct, frozen=True):
    """The best common ancestors of two commits.

    contents: their metaranges.
    below: for each pair of them, in the order of `combinations`, which element of the virtual base
        has the best common ancestors of that pair. None if it was not asked; empty if none was.
    """

    contents: tuple[MetaRangeID, ...]
    below: tuple[int | None, ...] = ()


class VirtualBase(Struct, frozen=True):
    """The best common ancestors of a merge's two sides, the first element, and those below."""

    sets: tuple[BestAncestors, ...]


def base_of_merge(
    history: History, left_id: CommitID, right_id: CommitID
) -> MetaRangeID | VirtualBase:
    """Return what a merge of the two commits compares both with.

    Raises:
        InvalidInputError: they have no common ancestor.
        CorruptDataError: a commit is missing.
    """
    sets: list[Sequence[Commit]] = [merge_bases(history, left_id, right_id)]
    if len({commit.metarange_id for commit in sets[0]}) == 1:
        return sets[0][0].metarange_id
    numbers: dict[frozenset[CommitID], int] = {}
    below: dict[_Pair, int] = {}
    level = sets[:]
    for _ in range(CROSSED_LEVELS_MAX):
        pairs = _pairs_to_ask(level, below)
        if not pairs:
            break
        level = []
        for pair in pairs:
            found = best_common_ancestors(history, *pair)
            number = numbers.setdefault(frozenset(commit.id for commit in found), len(sets))
            if number == len(sets):
                sets.append(found)
                level.append(found)
            below[frozenset(pair)] = number
    return VirtualBase(tuple(_described(commits, below) for commits in sets))


def _pairs_to_ask(
    level: Sequence[Sequence[Commit]], below: dict[_Pair, int]
) -> list[tuple[CommitID, CommitID]]:
    """Return the new pairs of a level whose contents differ; none if they would be too many."""
    pairs: dict[_Pair, tuple[CommitID, CommitID]] = {}
    for commits in level:
        for one, other in combinations(commits, 2):
            pair = frozenset((one.id, other.id))
            if one.metarange_id != other.metarange_id and pair not in below:
                pairs[pair] = (one.id, other.id)
                if len(below) + len(pairs) > CROSSED_PAIRS_MAX:
                    return []
    return list(pairs.values())


def _described(commits: Sequence[Commit], below: dict[_Pair, int]) -> BestAncestors:
    # Commits without a common ancestor began with nothing, as in git.
    contents = tuple(commit.metarange_id for commit in commits) or (EMPTY_METARANGE,)
    pairs = combinations([commit.id for commit in commits], 2)
    numbers = [below.get(frozenset(pair)) for pair in pairs]
    return BestAncestors(contents, tuple(numbers) if any(numbers) else ())
