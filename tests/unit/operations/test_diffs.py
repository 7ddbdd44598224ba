"""Diffs: uncommitted changes and differences between refs, folded by prefix and paged."""

from dataclasses import replace

import pytest

from graveler.errors import ConflictError, InvalidInputError
from graveler.model.tasks import TaskSettings
from graveler.operations import diffs, objects, writes
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.worlds.lake import REPO, apart, commit
from tests.support.worlds.lake import upload as put


def rows(page):
    return [(each.kind, each.path) for each in page.results]


def test_uncommitted_changes_are_folded_and_paged(engine):
    for path in (b"a", b"d/1", b"d/2", b"e/1"):
        put(engine, path, b"data")
    page = diffs.uncommitted(engine, REPO, "main", PageQuery(2, delimiter=b"/"))
    assert rows(page) == [("added", b"a"), ("prefix_changed", b"d/")]
    page = diffs.uncommitted(
        engine, REPO, "main", PageQuery(2, after=page.next_after, delimiter=b"/")
    )
    assert (rows(page), page.next_after) == ([("prefix_changed", b"e/")], b"")
    page = diffs.uncommitted(engine, REPO, "main", PageQuery(9, prefix=b"d/", delimiter=b"/"))
    assert rows(page) == [("added", b"d/1"), ("added", b"d/2")]


def test_three_dots_show_what_the_right_side_changed(engine):
    apart(
        engine,
        source={"a": "", "b": "B", "c": "1", "s": "S"},
        destination={"c": "2", "d": "D", "s": "S"},
    )
    page = diffs.between_refs(engine, REPO, "main", "source", PageQuery(10))
    assert rows(page) == [("removed", b"a"), ("added", b"b"), ("conflict", b"c")]
    page = diffs.between_refs(engine, REPO, "main", "source", PageQuery(10), two_dot=True)
    assert rows(page) == [
        ("removed", b"a"),
        ("added", b"b"),
        ("changed", b"c"),
        ("removed", b"d"),
    ]
    (_, _, changed, removed) = page.results
    assert (changed.left.entry.size_bytes, changed.right.entry.size_bytes) == (1, 1)
    assert (removed.left.path, removed.right, removed.size_bytes) == (b"d", None, 1)


def test_a_diff_with_a_branchs_staging_area_has_staged_changes(engine):
    put(engine, b"a", b"data")
    put(engine, b"b", b"data")
    commit(engine)
    put(engine, b"b", b"changed")
    put(engine, b"c", b"data")
    writes.delete(engine, REPO, "main", b"a")
    for two_dot in (True, False):
        page = diffs.between_refs(engine, REPO, "main", "main$", PageQuery(10), two_dot=two_dot)
        assert rows(page) == [("removed", b"a"), ("changed", b"b"), ("added", b"c")]
        page = diffs.between_refs(engine, REPO, "main", "main", PageQuery(10), two_dot=two_dot)
        assert rows(page) == []
    with pytest.raises((InvalidInputError, ConflictError)):
        diffs.between_refs(engine, REPO, "main$", "main", PageQuery(10))


def test_a_folded_diff_pages_through_everything_once(engine):
    for number in range(30):
        put(engine, b"%02d/%d" % (number // 3, number), b"data")
    commit(engine)
    found, after = [], b""
    while True:
        query = PageQuery(4, after=after, delimiter=b"/")
        page = diffs.between_refs(engine, REPO, "main~1", "main", query, two_dot=True)
        found += [path for _, path in rows(page)]
        after = page.next_after
        if not after:
            break
    assert found == [b"%02d/" % number for number in range(10)]


def test_a_listing_sees_writes_of_another_process(world, engine):
    reader = world.engine()
    for number in range(3):
        put(engine, b"%d" % number, b"data")
        page = objects.list_objects(reader, REPO, "main", PageQuery(10))
        assert len(page.results) == number + 1
        commit(engine)
        page = objects.list_objects(reader, REPO, "main", PageQuery(10, delimiter=b"x"))
        assert len(page.results) == number + 1
    assert not any(isinstance(item, CommonPrefix) for item in page.results)


@pytest.mark.parametrize("delimiter", [b"", b"/"])
def test_a_diff_that_takes_long_comes_in_short_pages_that_miss_nothing(engine, delimiter):
    for path in (b"a", b"d/1", b"d/2", b"e/1", b"f"):
        put(engine, path, b"data")
    commit(engine)
    put(engine, b"d/1", b"data")  # the same content again: no difference
    put(engine, b"e/1", b"changed")
    writes.delete(engine, REPO, "main", b"f")
    put(engine, b"g/1", b"data")
    hurried = replace(
        engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0, slices_at_once=1)
    )

    def uncommitted(engine, query):
        return diffs.uncommitted(engine, REPO, "main", query)

    def staged(engine, query):
        return diffs.between_refs(engine, REPO, "main", "main$", query, two_dot=True)

    for pages in (uncommitted, staged):
        whole = rows(pages(engine, PageQuery(100, delimiter=delimiter)))
        found, after, lengths = [], b"", []
        while True:
            page = pages(hurried, PageQuery(100, after=after, delimiter=delimiter))
            found += rows(page)
            lengths.append(len(page.results))
            if not page.next_after:
                break
            assert page.next_after > after
            after = page.next_after
        assert found == whole
        assert len(lengths) > 1


@pytest.mark.parametrize("delimiter", [b"", b"/"])
def test_a_page_that_ends_at_a_folder_itself_does_not_skip_the_folder(engine, delimiter):
    put(engine, b"a", b"data")
    put(engine, b"d/", b"data")
    put(engine, b"d/1", b"data")
    commit(engine)
    put(engine, b"d/", b"data")  # the same content again: no difference between the refs
    writes.delete(engine, REPO, "main", b"d/1")
    put(engine, b"d/2", b"data")
    writes.delete(engine, REPO, "main", b"e/")  # deletes nothing
    put(engine, b"e/1", b"data")
    hurried = replace(
        engine, task_settings=TaskSettings(request_work_s=0, request_wait_s=0, slices_at_once=1)
    )

    def uncommitted(engine, query):
        return diffs.uncommitted(engine, REPO, "main", query)

    def staged(engine, query):
        return diffs.between_refs(engine, REPO, "main", "main$", query)

    for pages in (uncommitted, staged):
        whole = rows(pages(engine, PageQuery(100, delimiter=delimiter)))
        found, after = [], None
        while after != b"":
            page = pages(hurried, PageQuery(100, after=after or b"", delimiter=delimiter))
            found += rows(page)
            after = page.next_after
        assert found == whole
