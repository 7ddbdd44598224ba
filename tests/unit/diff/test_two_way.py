"""A diff shows what differs, in order, and reads nothing that does not."""

import json
from pathlib import Path

import pytest

from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.diff.two_way import diff
from graveler.ports import CommittedFiles
from tests.support.checks.cases import for_each
from tests.support.worlds.model import (
    BREAKINGS,
    NAMESPACE,
    Records,
    committed_in_memory,
    differences,
    token_records,
    token_value,
    write,
)

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
CASES = [case for case in json.loads((VECTORS / "diff.json").read_text()) if case["kind"] == "diff"]
FEW = Breaking(4)


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@for_each("case", CASES, ids=lambda case: case["name"])
def test_a_diff_shows_what_lakefs_shows(case, breaking):
    committed, _ = committed_in_memory(breaking)
    left, right = (write(committed, token_records(case[side])) for side in ("left", "right"))
    start = case.get("seek_ge", "").encode()
    found = [
        (each.kind, each.key, each.left if each.right is None else each.right)
        for each in diff(left, right, start)
    ]
    assert found == [
        (each["type"], each["key"].encode(), token_value(each["value_token"]))
        for each in case["result"]
    ]


def records(amount: int = 200) -> Records:
    return token_records({f"k{number:06}": f"old{number}" for number in range(amount)})


def unread(files: CommittedFiles) -> Committed:
    """The same files through caches that hold nothing yet."""
    committed, _ = committed_in_memory(FEW)
    committed._files = files
    return committed


def test_equal_ranges_are_not_read():
    committed, files = committed_in_memory(FEW)
    old = records()
    left = write(committed, old)
    headers = list(left.headers())
    chosen = headers[len(headers) // 2]
    right = write(committed, old | {chosen.min_key: token_value("new")})
    (other,) = [header for header in right.headers() if header not in headers]
    fresh = unread(files)
    files.reads.clear()
    found = list(diff(MetaRange(fresh, NAMESPACE, left.id), MetaRange(fresh, NAMESPACE, right.id)))
    assert [(each.kind, each.key) for each in found] == [("changed", chosen.min_key)]
    assert {file_id for _, file_id in files.reads} == {left.id, right.id, chosen.id, other.id}


def test_equal_metaranges_are_not_read_at_all():
    committed, files = committed_in_memory(FEW)
    metarange_id = write(committed, records()).id
    fresh = unread(files)
    files.reads.clear()
    side = MetaRange(fresh, NAMESPACE, metarange_id)
    assert list(diff(side, side)) == []
    assert files.reads == []


def test_only_ranges_between_the_bounds_are_read():
    committed, files = committed_in_memory(FEW)
    left, right = write(committed, {}), write(committed, records())
    headers = list(right.headers())
    start, end = headers[5].min_key, headers[7].max_key
    fresh = unread(files)
    files.reads.clear()
    found = list(
        diff(
            MetaRange(fresh, NAMESPACE, left.id),
            MetaRange(fresh, NAMESPACE, right.id),
            start,
            end,
        )
    )
    assert [each.key for each in found] == [key for key in sorted(records()) if start <= key < end]
    ranges_read = {file_id for _, file_id in files.reads} - {left.id, right.id}
    assert ranges_read == {header.id for header in headers[5:8]}


def test_a_range_that_only_one_side_has_between_equal_ones_is_all_that_is_read():
    committed, files = committed_in_memory(FEW)
    old = records()
    headers = list(write(committed, old).headers())
    removed = headers[4]
    less = {key: v for key, v in old.items() if not removed.min_key <= key <= removed.max_key}
    left, right = write(committed, old), write(committed, less)
    fresh = unread(files)
    files.reads.clear()
    found = list(diff(MetaRange(fresh, NAMESPACE, left.id), MetaRange(fresh, NAMESPACE, right.id)))
    assert [(e.key, e.left, e.right) for e in found] == differences(old, less)
    assert {file_id for _, file_id in files.reads} - {left.id, right.id} == {removed.id}
