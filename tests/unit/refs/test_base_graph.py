"""What a merge compares with: one content, or the sets of best common ancestors below each other."""

from itertools import count

from msgspec.structs import replace

from graveler.limits import CROSSED_LEVELS_MAX
from graveler.model import EMPTY_METARANGE, Commit, MetaRangeID
from graveler.refs.base_graph import VirtualBase, base_of_merge
from tests.unit.refs.graphs import CountingRefs, child_of


class Branches:
    """Two branches, and the store of all commits; a commit has the content that it is called."""

    def __init__(self) -> None:
        self.refs = CountingRefs()
        self.root = self.made("root")
        self.heads = self.made("left", self.root), self.made("right", self.root)

    def made(self, content: str, *parents: Commit) -> Commit:
        commit = child_of(*parents, message=content)
        commit = replace(commit, metarange_id=MetaRangeID(content))
        self.refs.add([commit])
        return commit

    def cross(self, *names: str) -> None:
        """Merge both into each other at once, for each name."""
        for name in names:
            one, other = self.heads
            self.heads = (
                self.made(f"left {name}", one, other),
                self.made(f"right {name}", other, one),
            )

    def base(self) -> MetaRangeID | VirtualBase:
        return base_of_merge(self.refs.history(), *(head.id for head in self.heads))


def as_sets(base: MetaRangeID | VirtualBase) -> list[tuple[set[str], tuple[int | None, ...]]]:
    assert isinstance(base, VirtualBase)
    return [({*each.contents}, each.below) for each in base.sets]


def test_without_crossed_merges_a_merge_compares_with_the_merge_base():
    branches = Branches()
    assert branches.base() == "root"
    branches.cross("1")
    left, right = branches.heads
    branches.heads = branches.made("both", left, right), right
    assert branches.base() == right.metarange_id


def test_crossed_merges_lead_to_sets_of_ancestors_below_each_other():
    branches = Branches()
    branches.cross("1")
    assert as_sets(branches.base()) == [({"left", "right"}, (1,)), ({"root"}, ())]
    branches.cross("2")
    assert as_sets(branches.base())[0] == ({"left 1", "right 1"}, (1,))
    assert as_sets(branches.base())[1:] == [({"left", "right"}, (2,)), ({"root"}, ())]


def test_each_pair_of_three_ancestors_is_asked_once():
    branches = Branches()
    side = branches.made("side", branches.root)
    left, right = branches.heads
    branches.heads = (
        branches.made("one", branches.made("joined", left, right), side),
        branches.made("other", branches.made("joined too", right, left), side),
    )
    assert as_sets(branches.base()) == [({"left", "right", "side"}, (1, 1, 1)), ({"root"}, ())]


def test_ancestors_of_one_content_are_that_content():
    branches = Branches()
    branches.heads = branches.made("same", branches.root), branches.made("same", branches.heads[0])
    branches.cross("1")
    assert branches.base() == "same"


def test_ancestors_without_a_common_one_began_with_nothing():
    branches = Branches()
    branches.heads = branches.made("mine"), branches.made("yours")
    branches.cross("1")
    assert as_sets(branches.base()) == [({"mine", "yours"}, (1,)), ({EMPTY_METARANGE}, ())]


def test_as_many_crossings_as_may_be_are_followed_in_few_requests_and_no_more():
    branches = Branches()
    numbers = map(str, count())
    branches.cross(*(next(numbers) for _ in range(CROSSED_LEVELS_MAX - 1)))
    sets = as_sets(branches.base())
    assert sets[-1] == ({"root"}, ())
    assert len(sets) == CROSSED_LEVELS_MAX
    assert len(branches.refs.requests) <= 15
    branches.cross(next(numbers), next(numbers), next(numbers))
    sets = as_sets(branches.base())
    assert len(sets) == CROSSED_LEVELS_MAX + 1
    assert sets[-1][1] == ()


def both_merged(amount: int) -> Branches:
    """Two branches into which that many others were merged, each on its own."""
    branches = Branches()
    left, right = branches.heads
    for number in range(amount):
        shared = branches.made(f"shared {number}", branches.root)
        left = branches.made(f"left {number}", left, shared)
        right = branches.made(f"right {number}", right, shared)
    branches.heads = left, right
    return branches


def test_many_branches_that_both_sides_merged_are_compared_in_pairs():
    first, *others = as_sets(both_merged(40).base())
    assert (len(first[0]), set(first[1])) == (40, {1})
    assert others == [({"root"}, ())]


def test_too_many_pairs_are_neither_asked_nor_listed():
    (only,) = as_sets(both_merged(50).base())
    assert (len(only[0]), only[1]) == (50, ())
