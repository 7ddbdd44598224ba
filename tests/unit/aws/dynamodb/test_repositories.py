"""A deleted repository's branches go in groups, each with its tokens in one item of the register."""

from itertools import count

import pytest

from graveler.aws.dynamodb.repositories import _groups
from graveler.model import Branch, CommitID, StagingToken


@pytest.mark.parametrize("tokens", [1, 3, 100, 140, 400])
def test_a_deletion_registers_no_more_tokens_than_one_item_holds(tokens: int) -> None:
    names = (StagingToken(str(number)) for number in count())
    branches = [
        Branch(
            str(number),
            CommitID("a" * 64),
            next(names),
            sealed_tokens=tuple(next(names) for _ in range(tokens - 1)),
        )
        for number in range(120)
    ]
    groups = list(_groups(branches))
    assert [branch for group in groups for branch in group] == branches
    for group in groups:
        assert len(group) <= 99
        assert len(group) == 1 or sum(len(branch.tokens) for branch in group) <= 300
