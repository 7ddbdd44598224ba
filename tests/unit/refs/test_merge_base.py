"""Merge bases: lakeFS's answers, and the better one where lakeFS's is not the best."""

from itertools import combinations
from random import Random

import pytest
from msgspec.structs import replace

from graveler.errors import InvalidInputError
from graveler.refs.merge_base import ahead_behind, commits_ahead, leads_to, merge_base, merge_bases
from tests.support.checks.cases import for_each
from tests.unit.refs.graphs import CountingRefs, chain, child_of, refs_of_vectors, vectors

CASES = [
    (i, case) for i, graph in enumerate(vectors("refs")["dag"]) for case in graph["merge_base"]
]


@for_each(("graph", "case"), CASES)
def test_the_merge_base_is_that_of_lakefs(graph, case):
    refs, id_of = refs_of_vectors(vectors("refs")["dag"][graph]["commits"])
    base = merge_base(refs.history(), id_of(case["left"]), id_of(case["right"]))
    assert base.id == id_of(case["base"])


def test_a_head_leads_to_itself_and_its_ancestors_only():
    refs = CountingRefs()
    commits = chain(4)
    side = child_of(commits[1], message="side")
    merged = child_of(commits[3], side)
    refs.add([*commits, side, merged])
    history = refs.history()
    assert leads_to(history, commits[3].id, commits[3].id)
    assert refs.requests == []
    every = {commit.id for commit in [*commits, side, merged]}
    for head, expected in (
        (merged, every),
        (commits[3], {commit.id for commit in commits}),
        (side, {commits[0].id, commits[1].id, side.id}),
        (commits[0], {commits[0].id}),
    ):
        found = {commit_id for commit_id in every if leads_to(history, head.id, commit_id)}
        assert found == expected


def test_a_commit_is_its_own_merge_base():
    refs = CountingRefs()
    commits = chain(3)
    refs.add(commits)
    assert merge_base(refs.history(), commits[2].id, commits[2].id) == commits[2]


def test_an_ancestor_is_the_merge_base_whichever_side_it_is_on():
    refs = CountingRefs()
    commits = chain(300)
    refs.add(commits)
    assert merge_base(refs.history(), commits[7].id, commits[-1].id) == commits[7]
    assert merge_base(refs.history(), commits[-1].id, commits[7].id) == commits[7]


def test_a_branch_that_both_sides_merged_is_their_base_and_not_what_lies_below_it():
    """lakeFS answers old here; what main deletes of new would come back with the merge."""
    refs = CountingRefs()
    old = child_of(message="old")
    new = child_of(old, message="new")
    main, dev = child_of(old, new, message="main"), child_of(old, new, message="dev")
    refs.add([old, new, main, dev])
    assert merge_base(refs.history(), main.id, dev.id) == new


def test_crossed_merges_have_two_bases_and_lakefs_choice_is_the_first():
    refs = CountingRefs()
    root = child_of()
    older, newer = child_of(root, message="older"), child_of(root, message="newer", date=2**31)
    left, right = child_of(older, newer, message="left"), child_of(older, newer, message="right")
    refs.add([root, older, newer, left, right])
    history = refs.history()
    assert merge_bases(history, left.id, right.id) == [older, newer]
    assert merge_base(history, right.id, left.id) == older
    assert len(refs.requests) == 2


def test_histories_without_a_common_commit_cannot_be_merged():
    refs = CountingRefs()
    left, right = chain(3, "left"), chain(5, "right")
    refs.add([*left, *right])
    with pytest.raises(InvalidInputError, match="no common ancestor"):
        merge_base(refs.history(), left[-1].id, right[-1].id)


def test_wrong_generations_do_not_hide_a_common_ancestor():
    refs = CountingRefs()
    root = replace(child_of(), generation=9)
    left = replace(child_of(root, message="left"), generation=1)
    right = replace(child_of(root, message="right"), generation=1)
    refs.add([root, left, right])
    assert merge_base(refs.history(), left.id, right.id) == root


def test_a_base_1000_commits_away_takes_few_requests():
    refs = CountingRefs()
    root = child_of()
    left, right = chain(1000, "left", root), chain(1000, "right", root)
    refs.add([root, *left, *right])
    assert merge_base(refs.history(), left[-1].id, right[-1].id) == root
    assert len(refs.requests) <= 7


def test_a_base_nearby_takes_two_requests_and_none_when_the_commits_are_known():
    refs = CountingRefs()
    trunk = chain(50)
    left, right = chain(3, "left", trunk[-1]), chain(3, "right", trunk[-1])
    refs.add([*trunk, *left, *right])
    history = refs.history()
    assert merge_base(history, left[-1].id, right[-1].id) == trunk[-1]
    assert len(refs.requests) == 2
    assert merge_base(history, left[-1].id, right[-1].id) == trunk[-1]
    assert len(refs.requests) == 2


def test_a_base_is_found_while_a_commit_has_not_passed_its_colours_on():
    """Both sides merged the side branch at another commit; its common one is a second base."""
    refs = CountingRefs()
    trunk = chain(4)
    side = chain(2, "side", root=trunk[0])
    left = child_of(trunk[-1], side[0], message="left")
    right = child_of(trunk[-1], side[1], message="right")
    later = child_of(right, message="later")
    refs.add([*trunk, *side, left, right, later])
    history = refs.history()
    for pair in ((left, later), (later, left)):
        bases = merge_bases(history, *(commit.id for commit in pair))
        assert {base.id for base in bases} == {trunk[-1].id, side[0].id}


def test_the_distance_of_commits_whose_generations_do_not_fall_is_not_exact():
    refs = CountingRefs()
    root, left = chain(2)
    late = replace(child_of(left, message="late"), generation=1)
    right = child_of(root, late, message="right")
    refs.add([root, left, late, right])
    counts = ahead_behind(refs.history(), right.id, left.id, lambda: False)
    assert counts[2] is False
    assert ahead_behind(refs.history(), left.id, root.id, lambda: False) == (1, 0, True)
    assert ahead_behind(refs.history(), left.id, root.id, lambda: True) == (1, 0, False)


@pytest.mark.parametrize("seed", range(6))
def test_branches_that_merge_each_other_have_all_their_bases(seed):
    """Ordinary histories: four branches commit, and merge one another at any of their commits."""
    random = Random(seed)
    root = child_of()
    commits, lines = [root], [[root] for _ in range(4)]
    for number in range(32):
        line, other = random.sample(lines, 2)
        merged = [random.choice(other)] if random.random() < 0.5 else []
        commits.append(child_of(line[-1], *merged, message=str(number)))
        line.append(commits[-1])
    refs = CountingRefs()
    refs.add(commits)
    above = {}
    for commit in commits:
        above[commit.id] = {commit.id}.union(*(above[parent] for parent in commit.parents))
    history = refs.history()
    for left, right in combinations(above, 2):
        common = above[left] & above[right]
        best = {each for each in common if not any(each in above[c] for c in common - {each})}
        assert {base.id for base in merge_bases(history, left, right)} == best
        assert commits_ahead(history, left, right) == above[left] - above[right]
