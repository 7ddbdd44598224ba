"""A parent that a scan returns after its child is not missing any more."""

import pytest

from graveler.identity import make_commit
from graveler.model import Commit, CommitID, MetaRangeID
from graveler.refs.closure import CommitSet


def commit(number: int, *parents: CommitID) -> Commit:
    return make_commit(
        committer="ann",
        message=str(number),
        metarange_id=MetaRangeID(""),
        creation_date=number,
        metadata={},
        parents=parents,
        generation=number,
    )


@pytest.mark.parametrize("is_child_first", [True, False])
def test_only_parents_that_no_scan_returned_are_missing(is_child_first: bool) -> None:
    first = commit(1)
    second = commit(2, first.id)
    third = commit(3, second.id)
    known = CommitSet()
    known.add(third)
    assert known.missing == {second.id: third.id}
    for each in (second, first) if is_child_first else (first, second):
        known.add(each)
    assert known.missing == {}
    assert all(each.id in known for each in (first, second, third))
