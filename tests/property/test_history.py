"""Walks over random commit graphs give what slow and obvious walks give, whatever the index shows."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.cache import BoundedCache
from graveler.errors import InvalidInputError, NotFoundError
from graveler.model import Commit, CommitID
from graveler.refs.history import History
from graveler.refs.log import log
from graveler.refs.merge_base import ahead_behind, best_common_ancestors, merge_base
from graveler.refs.resolve import resolve_commit
from tests.unit.refs.graphs import CountingRefs, child_of


class Graph:
    """Commits in an order in which parents come first, and a store that holds them."""

    def __init__(
        self, commits: Sequence[Commit], unindexed: set[CommitID], cache_bytes: int
    ) -> None:
        self.commits = commits
        self.by_id = {commit.id: commit for commit in commits}
        self.refs = CountingRefs()
        self.refs.add(commits)
        self.refs.unindexed = unindexed
        self.cache_bytes = cache_bytes

    def history(self) -> History:
        return self.refs.history(BoundedCache(self.cache_bytes))

    def ancestors(self, commit_id: CommitID) -> set[CommitID]:
        """The commit and all that it leads to."""
        found, todo = set(), [commit_id]
        while todo:
            if (one := todo.pop()) not in found:
                found.add(one)
                todo += self.by_id[one].parents
        return found


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of up to three roots, with clocks that run askew and merges of several parents."""
    commits: list[Commit] = []
    for i in range(draw(st.integers(1, 25))):
        parents: list[Commit] = []
        if commits and draw(st.integers(0, 15)) > 0:
            near = commits[-draw(st.sampled_from([2, 4, 25])) :]
            amount = draw(st.sampled_from([1, 1, 1, 2, 2, 3]))
            parents = draw(st.permutations(near))[:amount]
        commits.append(child_of(*parents, message=str(i), date=draw(st.integers(0, 20))))
    unindexed = draw(st.sets(st.sampled_from([commit.id for commit in commits])))
    return Graph(commits, unindexed, cache_bytes=draw(st.sampled_from([0, 3000, 2**20])))


def obvious_log(graph: Graph, start: Commit, *, first_parent: bool, since_s: int) -> list[CommitID]:
    frontier, seen, listed = [start], {start.id}, []
    while frontier:
        newest = max(frontier, key=lambda one: (one.creation_date, one.generation, one.id))
        frontier.remove(newest)
        if newest.creation_date < since_s:
            continue
        listed.append(newest.id)
        for parent_id in newest.parents[:1] if first_parent else newest.parents:
            if parent_id not in seen:
                seen.add(parent_id)
                frontier.append(graph.by_id[parent_id])
    return listed


@given(st.data(), graphs(), st.booleans(), st.integers(1, 8), st.integers(-5, 15))
def test_a_log_read_page_by_page_is_the_obvious_log(data, graph, first_parent, amount, since_s):
    start = data.draw(st.sampled_from(graph.commits))
    history = graph.history()
    listed: list[CommitID] = []
    after: CommitID | None = None
    while True:
        page = log(
            history,
            start.id,
            amount=amount,
            after=after,
            first_parent=first_parent,
            since_s=since_s,
        )
        listed += [commit.id for commit in page.results]
        if not page.has_more:
            break
        assert len(page.results) == amount
        after = CommitID(page.next_after)
    assert listed == obvious_log(graph, start, first_parent=first_parent, since_s=since_s)


@given(graphs())
def test_merge_bases_are_the_best_common_ancestors_whichever_side_comes_first(graph):
    """And the distance counts what each side has alone. All pairs: a wrong base is rare."""
    above = {commit.id: graph.ancestors(commit.id) for commit in graph.commits}
    history = graph.history()
    for one, other in combinations(above, 2):
        common = above[one] & above[other]
        best = [each for each in common if not any(each in above[c] for c in common - {each})]
        found = [commit.id for commit in best_common_ancestors(history, one, other)]
        assert sorted(found) == sorted(best)
        assert [commit.id for commit in best_common_ancestors(history, other, one)] == found
        expected = len(above[one] - above[other]), len(above[other] - above[one]), True
        assert ahead_behind(history, one, other, lambda: False) == expected


def test_without_a_common_ancestor_there_is_no_merge_base():
    roots = [child_of(message="one"), child_of(message="other")]
    history = Graph(roots, set(), 0).history()
    with pytest.raises(InvalidInputError, match="no common ancestor"):
        merge_base(history, *(root.id for root in roots))


def obvious_climb(graph: Graph, commit: Commit, modifiers: str) -> Commit:
    for modifier in modifiers:
        if modifier == "~" and not commit.parents:
            raise NotFoundError("no parent")
        number = 1 if modifier == "~" else int(modifier)
        if number > len(commit.parents):
            raise InvalidInputError("no such parent")
        commit = graph.by_id[commit.parents[number - 1]]
    return commit


@given(st.data(), graphs(), st.text("~~~~123", max_size=12))
def test_modifiers_climb_parent_by_parent(data, graph, steps):
    start = data.draw(st.sampled_from(graph.commits))
    text = start.id + "".join(step if step == "~" else f"^{step}" for step in steps)
    try:
        expected = obvious_climb(graph, start, steps)
    except (InvalidInputError, NotFoundError) as error:
        with pytest.raises(type(error)):
            resolve_commit(graph.refs, graph.history(), text)
        return
    assert resolve_commit(graph.refs, graph.history(), text) == expected
