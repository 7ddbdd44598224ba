"""A virtual base says, path by path, what the best common ancestors make of each other."""

from itertools import combinations, permutations

from graveler.diff.virtual_base import UNSETTLED, CrossedBase
from graveler.entries import same_record
from graveler.limits import CROSSED_LEVELS_MAX
from graveler.refs.base_graph import BestAncestors, VirtualBase
from tests.support.checks.cases import for_each
from tests.support.worlds.model import committed_in_memory, opened, token_value, write

# Contents at a path, "-" for none; "?" for a path that is unsettled, or a pair that was not asked.
VALUES = {"A": token_value("A"), "B": token_value("B"), "C": token_value("C"), "-": None}
COMMITTED, _ = committed_in_memory()
CONTENTS = {
    name: write(COMMITTED, {b"k": value} if value else {}).id for name, value in VALUES.items()
}


def crossed(*sets: BestAncestors) -> CrossedBase:
    return CrossedBase(VirtualBase(sets), lambda each: opened(COMMITTED, each))


@for_each(
    ("ancestors", "bases", "expected"),
    [
        ("AB", {"01": "A"}, "B"),
        ("AB", {"01": "C"}, "?"),
        ("AB", {"01": "-"}, "?"),
        ("A-", {"01": "A"}, "-"),
        ("A-", {"01": "-"}, "A"),
        ("AA", {}, "A"),
        ("--", {}, "-"),
        ("AB", {"01": "?"}, "?"),
        ("ABB", {"01": "A", "02": "A"}, "B"),
        ("ABB", {"01": "A", "02": "C"}, "B"),
        ("ABB", {"01": "B", "02": "C"}, "?"),
        ("ABC", {"01": "A", "02": "A", "12": "-"}, "?"),
        ("ABC", {"01": "A", "02": "A", "12": "B"}, "C"),  # 2 has changed what 1 had changed
        ("ABA", {"01": "A", "12": "B"}, "A"),  # 2 has undone what 1 had changed
        ("ABC", {"01": "A", "12": "B", "02": "C"}, "?"),  # each one has superseded another one
    ],
)
def test_what_no_other_ancestor_has_superseded_counts_whatever_their_order(
    ancestors, bases, expected
):
    for order in permutations(range(len(ancestors))):
        sets, below = [], []
        for pair in combinations(order, 2):
            base = bases.get("".join(map(str, sorted(pair))), "?")
            below.append(None if base == "?" else len(sets) + 1)
            if base != "?":
                sets.append(BestAncestors((CONTENTS[base],)))
        top = BestAncestors(tuple(CONTENTS[ancestors[n]] for n in order), tuple(below))
        found = crossed(top, *sets).get(b"k")
        assert found == UNSETTLED if expected == "?" else same_record(found, VALUES[expected])


@for_each("value", VALUES.values())
def test_what_is_unsettled_equals_no_record(value):
    assert not same_record(UNSETTLED, value)
    assert same_record(UNSETTLED, UNSETTLED)


def test_a_path_that_changed_at_each_of_many_crossings_is_settled():
    pair = CONTENTS["A"], CONTENTS["B"]
    sets = [BestAncestors(pair, (number + 1,)) for number in range(CROSSED_LEVELS_MAX)]
    base = crossed(*sets, BestAncestors((CONTENTS["A"],)))
    # The lowest has A, the ancestors over it have made B of it, those over these A again.
    assert same_record(base.get(b"k"), VALUES["B" if CROSSED_LEVELS_MAX % 2 else "A"])
