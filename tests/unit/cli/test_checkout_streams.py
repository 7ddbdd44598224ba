"""Sorted streams of paths: the walk of a folder, and differences of two of them."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_cli.checkout import walk as walking
from graveler_cli.checkout.differences import (
    Change,
    ChangeSpool,
    among,
    except_for,
    joined,
    local_changes,
    merged,
)
from graveler_cli.checkout.walk import FileEntry, TrackingRules, walk
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats

PATHS = st.text("ab/-0é𐀀", min_size=1, max_size=4)
TREES = st.dictionaries(PATHS, st.integers(0, 2), max_size=12)


def entries(tree: dict[str, int]) -> list[FileEntry]:
    """Files of these sizes."""
    return [FileEntry(path, tree[path], 1, 0o100644, 0, 0, 0) for path in sorted(tree)]


def objects(tree: dict[str, int]) -> list[ObjectStats]:
    """Objects of these sizes."""
    return [ObjectStats(path, "object", mtime=1, size_bytes=tree[path]) for path in sorted(tree)]


def changed(paths: Iterable[str]) -> list[Change]:
    return [Change("remote", "changed", path) for path in sorted(paths)]


def by_path(changes: Iterable[Change]) -> list[str]:
    return [each.path for each in changes]


@given(TREES, TREES)
def test_a_join_has_each_path_once_and_in_order(left, right):
    found = list(joined(entries(left), objects(right)))
    assert [(a or b).path for a, b in found] == sorted(left.keys() | right.keys())
    assert {a.path for a, _ in found if a} == left.keys()
    assert {b.path for _, b in found if b} == right.keys()


@given(TREES, TREES)
def test_local_changes_are_those_of_two_dicts(files, stored):
    rules = TrackingRules(has_permissions=False)
    found = {
        each.path: each.type
        for each in local_changes(entries(files), objects(stored), rules, Path())
    }
    assert found == {
        path: "added" if path not in stored else "removed" if path not in files else "changed"
        for path in files.keys() | stored.keys()
        # The size of what ends with a slash, a folder, is no difference.
        if path not in files or path not in stored or _differ(path, files, stored)
    }


def _differ(path: str, files: dict[str, int], stored: dict[str, int]) -> bool:
    return not path.endswith("/") and files[path] != stored[path]


@given(st.sets(PATHS), st.sets(PATHS))
def test_merges_and_selections_are_those_of_sets(mine, theirs):
    left, right = changed(mine), changed(theirs)
    both = list(merged(left, right))
    assert by_path(both) == sorted(mine | theirs)
    assert {each.path for each in both if each.type == "conflict"} == mine & theirs
    assert by_path(among(left, right)) == sorted(mine & theirs)
    assert by_path(except_for(left, right)) == sorted(mine - theirs)


@given(st.lists(st.text('a\n"é', max_size=3)))
def test_spooled_changes_are_read_more_than_once_and_at_once(paths):
    spool = ChangeSpool(Change("local", "added", path) for path in paths)
    assert len(spool) == len(paths)
    assert [(a.path, b.path) for a, b in zip(spool, spool, strict=True)] == [
        (path, path) for path in paths
    ]
    spool.add(Change("local", "added", "last"))
    assert by_path(spool) == [*paths, "last"]


def test_many_changes_are_kept_in_a_file():
    spool = ChangeSpool(Change("local", "added", f"{number:09}" * 10) for number in range(20_000))
    assert spool._file._rolled  # type: ignore[attr-defined]
    assert len(by_path(spool)) == 20_000


NAMES = st.text("ab-.0é𐀀", min_size=1, max_size=3).filter(lambda name: set(name) != {"."})


@given(st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=12))
def test_a_walk_has_the_order_of_a_listing(tmp_path_factory, paths):
    root = tmp_path_factory.mktemp("walk")
    kept = set()
    for path in sorted(paths):
        if any(path.startswith(f"{each}/") for each in kept):
            continue
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(b"")
        except OSError:
            continue  # a folder has this name
        kept.add(path)
    found = [each.path for each in walk(root, TrackingRules())]
    assert found == sorted(kept, key=str.encode)


def test_a_large_folder_is_sorted_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "_RUN_LENGTH", 10)
    for number in range(95):
        (tmp_path / f"{number * 37 % 95:02}\n").touch()
    found = [each.path for each in walk(tmp_path, TrackingRules())]
    assert found == [f"{number:02}\n" for number in range(95)]


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).touch()
    with pytest.raises(CommandError, match="is not UTF-8: rename it"):
        list(walk(tmp_path, TrackingRules()))
