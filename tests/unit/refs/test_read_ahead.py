"""Reading commits: what is cached, what is read ahead, and what a bad index costs."""

import pytest

from graveler.cache import BoundedCache
from graveler.errors import CorruptDataError
from graveler.model import CommitID
from graveler.refs.log import log
from tests.unit.refs.graphs import CountingRefs, chain, child_of


def test_commits_come_in_the_order_asked_with_one_request_for_those_not_held():
    refs = CountingRefs()
    commits = chain(4)
    refs.add(commits)
    history = refs.history()
    assert history.commit(commits[2].id) == commits[2]
    assert history.commits([c.id for c in commits]) == commits
    assert history.commits([c.id for c in commits[::-1]]) == commits[::-1]
    assert refs.requests == ["commits", "commits"]


def test_of_commits_that_may_not_exist_those_that_do_are_found():
    refs = CountingRefs()
    commits = chain(2)
    refs.add(commits)
    assert refs.history().find([CommitID("0" * 64), commits[0].id]) == {commits[0].id: commits[0]}


def test_a_named_commit_that_does_not_exist_is_corruption():
    with pytest.raises(CorruptDataError, match="commit 0000"):
        CountingRefs().history().commit(CommitID("0000"))


def test_a_commit_that_the_index_does_not_show_yet_costs_one_read():
    refs = CountingRefs()
    commits = chain(500)
    refs.add(commits)
    refs.unindexed = {commits[-2].id}
    page = log(refs.history(), commits[-1].id, amount=499)
    assert page.results == tuple(commits[:0:-1])
    assert refs.requests == ["commits", "page", "commits"]


def test_an_index_that_shows_nothing_costs_a_few_pages_more_than_reading_by_id():
    refs = CountingRefs()
    commits = chain(200)
    refs.add(commits)
    refs.unindexed = {commit.id for commit in commits}
    assert len(log(refs.history(), commits[-1].id, amount=300).results) == 200
    assert refs.requests.count("commits") == 200
    assert refs.requests.count("page") <= 8


def test_the_log_is_whole_though_the_cache_holds_nothing():
    refs = CountingRefs()
    commits = chain(1000)
    refs.add(commits)
    page = log(refs.history(BoundedCache(0)), commits[-1].id, amount=1000)
    assert page.results == tuple(commits[::-1])
    assert refs.requests == ["commits", "page"]


def _interleaved(branches: int, length: int) -> tuple[CountingRefs, list]:
    refs = CountingRefs()
    root = child_of()
    chains = [chain(length, str(i), root) for i in range(branches)]
    refs.add([root, *(commit for one in chains for commit in one)])
    return refs, chains[0]


def test_among_ten_branches_a_page_still_brings_a_hundred_commits():
    refs, commits = _interleaved(branches=10, length=1000)
    page = log(refs.history(), commits[-1].id, amount=1000)
    assert page.results == tuple(commits[::-1])
    assert len(refs.requests) <= 12


def test_among_very_many_branches_pages_are_given_up():
    refs, commits = _interleaved(branches=300, length=200)
    page = log(refs.history(), commits[-1].id, amount=200)
    assert page.results == tuple(commits[::-1])
    assert refs.requests.count("page") <= 8
    assert len(refs.requests) <= 200 + 8


def test_pages_are_tried_again_where_the_other_branches_end():
    refs = CountingRefs()
    trunk = chain(2000)
    crowd = [chain(60, str(i), trunk[-1]) for i in range(200)]
    refs.add([*trunk, *(commit for one in crowd for commit in one)])
    page = log(refs.history(), crowd[0][-1].id, amount=1000)
    assert len(page.results) == 1000
    assert len(refs.requests) <= 60 + 130 + 8


def test_what_another_request_has_read_is_not_read_again():
    refs = CountingRefs()
    commits = chain(300)
    refs.add(commits)
    cache = BoundedCache(2**25)
    first = log(refs.history(cache), commits[-1].id, amount=300)
    requests = len(refs.requests)
    assert log(refs.history(cache), commits[-1].id, amount=300) == first
    assert len(refs.requests) == requests
