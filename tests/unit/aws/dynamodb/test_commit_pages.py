"""The parts of a scan of all commits leave out no ID between them."""

from itertools import pairwise

import pytest

from graveler.aws.dynamodb.commit_pages import _parts_behind


@pytest.mark.parametrize("last", ["00000000000a", "0fedcba98765", "ffffffffffff"])
def test_each_part_of_a_scan_begins_where_the_one_before_it_ends(last: str) -> None:
    last_id = last + "5" * 52
    parts = list(_parts_behind(last_id))
    assert last_id < parts[0][0] <= last_id + "0"
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    assert parts[-1][1] > "f" * 64
