"""The last commit of each entry of a listing; `tests/property/test_last_commits_laws.py` has the law."""

from dataclasses import replace
from unittest.mock import patch

import pytest

from graveler.branches.request_time import TimeLimit
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking
from graveler.diff.two_way import changed_spans
from graveler.errors import InvalidInputError, NotFoundError
from graveler.identity import make_commit
from graveler.operations import (
    branches,
    commit_records,
    commits,
    last_commits,
    merges,
    repositories,
    writes,
)
from graveler.threads import ContextThreads
from tests.support.fakes.engines import memory_world
from tests.support.worlds.lake import REPO, commit, upload


def page(engine, ref="main", prefix=b"", after="", amount=100):
    return last_commits.list_last_commits(engine, REPO, ref, prefix, after, amount)


def messages(engine, **asked):
    return {each.path: each.commit.message for each in page(engine, **asked).results}


def write(engine, path, message, branch="main"):
    upload(engine, path, message.encode(), branch)
    commit(engine, branch, message=message)


def test_folders_and_objects_have_the_commit_that_last_changed_them(engine):
    write(engine, b"a/1", "first")
    write(engine, b"b", "second")
    write(engine, b"a/2", "third")
    write(engine, b"c", "fourth")
    assert messages(engine) == {b"a/": "third", b"b": "second", b"c": "fourth"}
    assert messages(engine, prefix=b"a/") == {b"a/1": "first", b"a/2": "third"}
    assert [each.is_folder for each in page(engine).results] == [True, False, False]


def test_a_deletion_inside_is_a_change_of_the_folder(engine):
    write(engine, b"a/1", "first")
    write(engine, b"a/2", "second")
    writes.delete(engine, REPO, "main", b"a/1")
    commit(engine, message="gone")
    assert messages(engine) == {b"a/": "gone"}
    assert messages(engine, prefix=b"a/") == {b"a/2": "second"}


def test_a_merge_has_changed_only_what_no_side_has(engine):
    write(engine, b"a/1", "first")
    branches.create(engine, REPO, name="dev", source="main")
    write(engine, b"a/2", "on dev", "dev")
    write(engine, b"b", "b on dev", "dev")
    write(engine, b"a/3", "on main")
    merges.merge(engine, REPO, "dev", "main", merges.MergeRequest("ann", "merge"))
    assert messages(engine) == {b"a/": "merge", b"b": "b on dev"}
    assert messages(engine, prefix=b"a/") == {
        b"a/1": "first",
        b"a/2": "on dev",
        b"a/3": "on main",
    }


def test_ways_that_meet_again_are_compared_for_all_their_entries(engine):
    """a is as on main and b as on dev; more commits lie between than are compared ahead."""
    for path in (b"a", b"b", b"base"):
        write(engine, path, path.decode())
    branches.create(engine, REPO, name="dev", source="main")
    write(engine, b"c", "c", "dev")
    write(engine, b"b", "not taken")
    for number in range(20):
        write(engine, b"x", str(number))
    main, dev = (commits.get(engine, REPO, name) for name in ("main", "dev"))
    own = make_commit(
        committer="ann",
        message="merge",
        metarange_id=dev.metarange_id,
        creation_date=main.creation_date + 1,
        metadata={},
        parents=[main.id, dev.id],
        generation=main.generation + 1,
    )
    commit_records.create(engine, REPO, own)
    with ContextThreads(2) as threads:
        found = messages(replace(engine, threads=threads), ref=own.id)
    assert found == {b"a": "a", b"b": "b", b"base": "base", b"c": "c"}


def test_what_is_staged_is_left_out(engine):
    assert messages(engine) == {}
    write(engine, b"a", "first")
    upload(engine, b"a", b"staged")
    upload(engine, b"b", b"staged")
    assert messages(engine) == {b"a": "first"}


def test_a_page_that_takes_long_ends_with_what_is_found(engine):
    for path in (b"a", b"b", b"c"):
        write(engine, path, path.decode())
    with patch.object(TimeLimit, "is_over", True):
        first = page(engine)
        assert [each.path for each in first.results] == [b"c"]
        second = page(engine, after=first.next_after)
        assert [each.path for each in second.results] == [b"b"]
        # The branch has moved: the entries are those of the first page's commit.
        write(engine, b"b", "later")
        third = page(engine, after=second.next_after)
    assert [each.path for each in third.results] == [b"a"]
    assert not third.next_after


def test_a_page_reads_only_ranges_that_differ_and_may_hold_a_sought_entry():
    """Each object has a range of its own. m/ changes alone after the first commit."""
    world = memory_world(Breaking(1))
    engine = world.engine()
    repositories.create(engine, name=REPO, storage_namespace="s3://bucket/lake")
    for path in (b"a/1", b"m/1", b"z/1"):
        upload(engine, path, path)
    commit(engine, message="first")
    ranges = set()
    for number in range(4):
        write(engine, b"m/1", f"m {number}")
        head = commits.get(engine, REPO, "main")
        content = MetaRange(engine.committed, "s3://bucket/lake", head.metarange_id)
        ranges.add(next(header.id for header in content.headers() if header.min_key == b"m/1"))
    fresh = world.engine()
    world.files.reads.clear()
    assert messages(fresh) == {b"a/": "first", b"m/": "m 3", b"z/": "first"}
    read = ranges & {file_id for _, file_id in world.files.reads}
    assert len(read) == 2, "of the commit that changed it, and of its parent"


def test_an_after_is_for_the_same_ref_prefix_and_amount(engine):
    write(engine, b"a", "first")
    write(engine, b"b", "second")
    branches.create(engine, REPO, name="dev", source="main")
    after = page(engine, amount=1).next_after
    assert [each.path for each in page(engine, amount=1, after=after).results] == [b"b"]
    secret = after.partition(",")[0]
    for wrong in (
        {"ref": "dev", "after": after, "amount": 1},
        {"prefix": b"b", "after": after, "amount": 1},
        {"amount": 2, "after": after},
        {"amount": 1, "after": secret},
        {"amount": 1, "after": "x"},
    ):
        with pytest.raises(InvalidInputError, match="after"):
            page(engine, **wrong)
    other = replace(engine, signing_key=b"another")
    with pytest.raises(InvalidInputError, match="after"):
        page(other, amount=1, after=after)


def test_a_page_has_64_entries_at_most(engine):
    for number in range(66):
        upload(engine, b"%03d" % number, b"x")
    commit(engine, message="all")
    first = page(engine, amount=1000)
    assert len(first.results) == 64
    rest = page(engine, amount=1000, after=first.next_after)
    assert [each.path for each in rest.results] == [b"064", b"065"]


def test_bad_names_are_refused(engine):
    with pytest.raises(NotFoundError):
        page(engine, ref="nothing")
    with pytest.raises(InvalidInputError):
        page(engine, ref="main~x")


def test_a_process_walks_only_to_the_commit_that_it_was_asked_for_before(engine):
    write(engine, b"a", "first")
    for number in range(5):
        write(engine, b"b", f"b {number}")
    assert messages(engine) == {b"a": "first", b"b": "b 4"}
    write(engine, b"b", "later")
    with patch.object(last_commits, "changed_spans", wraps=changed_spans) as compare:
        assert messages(engine) == {b"a": "first", b"b": "later"}
        assert compare.call_count == 1
