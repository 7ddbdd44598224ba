"""The log lists commits as lakeFS does, in a handful of requests."""

import pytest

from graveler.errors import CorruptDataError
from graveler.model import Commit, CommitID
from graveler.refs.log import log
from graveler.refs.resolve import resolve_commit_id
from tests.support.checks.cases import for_each
from tests.unit.refs.graphs import CountingRefs, chain, child_of, refs_of_vectors, vectors

LOGS = [(i, case) for i, graph in enumerate(vectors("refs")["dag"]) for case in graph["log"]]


@for_each(("graph", "case"), LOGS)
def test_the_log_is_that_of_lakefs(graph, case):
    refs, id_of = refs_of_vectors(vectors("refs")["dag"][graph]["commits"])
    page = log(
        refs.history(),
        id_of(case["from"]),
        amount=1000,
        first_parent=case["first_parent"],
        since_s=case.get("since"),
    )
    assert [commit.id for commit in page.results] == [id_of(name) for name in case["result"]]
    assert not page.has_more


@for_each("length", [1000, 1001, 3000])
def test_a_log_of_1000_commits_takes_three_requests(length):
    refs = CountingRefs()
    commits = chain(length)
    refs.add(commits, {"main": commits[-1].id})
    history = refs.history()
    page = log(history, resolve_commit_id(refs, history, "main"), amount=1000)
    assert page.results == tuple(commits[::-1][:1000])
    assert page.has_more == (length > 1000)
    assert len(refs.requests) <= 3


def test_pages_join_to_the_whole_log():
    refs = CountingRefs()
    root = child_of()
    left, right = chain(30, "left", root), chain(40, "right", root)
    merge = child_of(left[-1], right[-1])
    commits = [root, *left, *right, merge]
    refs.add(commits)
    whole = log(refs.history(), merge.id, amount=1000).results
    assert sorted(commit.id for commit in whole) == sorted(commit.id for commit in commits)
    joined: list[Commit] = []
    after: CommitID | None = None
    while True:
        page = log(refs.history(), merge.id, amount=7, after=after)
        joined += page.results
        if not page.has_more:
            break
        after = page.results[-1].id
        assert page.next_after == after
    assert tuple(joined) == whole


def test_a_log_after_an_unknown_commit_is_empty():
    refs = CountingRefs()
    commits = chain(3)
    refs.add(commits)
    assert log(refs.history(), commits[-1].id, amount=10, after=CommitID("f" * 64)).results == ()


def test_stop_at_is_the_last_commit_listed():
    refs = CountingRefs()
    commits = chain(10)
    refs.add(commits)
    page = log(refs.history(), commits[9].id, amount=100, stop_at=commits[4].id)
    assert page.results == tuple(commits[:3:-1])
    assert not page.has_more


def test_stop_at_stops_at_a_commit_that_does_not_match():
    refs = CountingRefs()
    commits = chain(10)
    refs.add(commits)
    matching = {commits[8].id, commits[2].id}
    page = log(
        refs.history(),
        commits[9].id,
        amount=100,
        stop_at=commits[4].id,
        matches=lambda commit: commit.id in matching,
    )
    assert page.results == (commits[8],)


def test_limit_ends_the_listing_though_there_are_more():
    refs = CountingRefs()
    commits = chain(10)
    refs.add(commits)
    page = log(refs.history(), commits[9].id, amount=2, limit=True)
    assert page.results == (commits[9], commits[8])
    assert not page.has_more


def test_a_filtered_log_lists_no_merges_and_no_first_commit():
    refs = CountingRefs()
    root = child_of()
    left, right = child_of(root, message="left"), child_of(root, message="right")
    merge = child_of(left, right)
    refs.add([root, left, right, merge])
    page = log(refs.history(), merge.id, amount=10, matches=lambda _: True)
    assert {commit.id for commit in page.results} == {left.id, right.id}


def test_a_filter_finds_each_commits_parent_without_a_request():
    refs = CountingRefs()
    commits = chain(50)
    refs.add(commits)
    history = refs.history()
    asked = []

    def matches(commit):
        requests = len(refs.requests)
        asked.append(history.commit(commit.parents[0]))
        return len(refs.requests) == requests

    assert len(log(history, commits[-1].id, amount=100, matches=matches).results) == 49
    assert asked == commits[-2::-1]


def test_of_one_date_no_commit_comes_before_one_that_it_led_to():
    refs = CountingRefs()
    root = child_of(date=5)
    first = child_of(root, date=5)
    second = child_of(first, date=5)
    merge = child_of(root, second, date=5)
    refs.add([root, first, second, merge])
    page = log(refs.history(), merge.id, amount=100)
    assert page.results == (merge, second, first, root)


def test_parents_of_one_date_and_generation_come_in_their_order():
    refs = CountingRefs()
    root = child_of(date=4)
    sides = [child_of(root, message=str(i), date=5) for i in range(8)]
    merge = child_of(*sides, date=6)
    refs.add([root, *sides, merge])
    page = log(refs.history(), merge.id, amount=100)
    ids = [side.id for side in sides]
    assert [commit.id for commit in page.results[1:-1]] == ids
    paged = [log(refs.history(), merge.id, amount=1, after=before) for before in (merge.id, *ids)]
    assert [page.results[0].id for page in paged] == [*ids, root.id]


def test_older_commits_hide_newer_ones_that_only_they_lead_to():
    refs = CountingRefs()
    bottom = child_of(date=100)
    middle = child_of(bottom, date=10)
    top = child_of(middle, date=200)
    refs.add([bottom, middle, top])
    assert log(refs.history(), top.id, amount=10, since_s=50).results == (top,)


def test_a_missing_commit_is_an_error_that_names_it():
    refs = CountingRefs()
    commits = chain(5)
    refs.add([*commits[:2], *commits[3:]])
    with pytest.raises(CorruptDataError, match=f"commit {commits[2].id} of repository lake"):
        log(refs.history(), commits[-1].id, amount=10)


def test_a_filtered_log_that_takes_long_comes_in_short_pages_that_miss_nothing():
    refs = CountingRefs()
    commits = chain(12)
    refs.add(commits)
    wanted = {commit.id for commit in commits[1::3]}
    joined: list[Commit] = []
    after: CommitID | None = None
    pages = 0
    while True:
        page = log(
            refs.history(),
            commits[-1].id,
            amount=2,
            after=after,
            matches=lambda commit: commit.id in wanted,
            is_over=lambda: True,
        )
        joined += page.results
        pages += 1
        if not page.has_more:
            break
        after = CommitID(page.next_after)
    assert joined == [commit for commit in reversed(commits) if commit.id in wanted]
    assert pages >= len(commits) - 1
