"""A three-way compare shows what the source changed, and where the destination disagrees."""

import json
from pathlib import Path

import pytest

from graveler.diff.three_way import Meeting, source_changes
from graveler.diff.two_way import diff
from tests.support.checks.cases import for_each
from tests.support.worlds.model import (
    BREAKINGS,
    committed_in_memory,
    token_records,
    token_value,
    write,
)

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
CASES = [
    case for case in json.loads((VECTORS / "diff.json").read_text()) if case["kind"] == "compare"
]


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@for_each("case", CASES, ids=lambda case: case["name"])
def test_a_compare_shows_what_lakefs_shows(case, breaking):
    committed, _ = committed_in_memory(breaking)
    base, left, right = (
        write(committed, token_records(case.get(side))) for side in ("base", "left", "right")
    )
    found = []
    for each in source_changes(diff(base, right), left):
        if each.meeting is not Meeting.AGREED:
            kind = "conflict" if each.meeting is Meeting.CONFLICT else each.change.kind
            found.append((kind, each.change.key, each.change.right))
    expected = [
        (each["type"], each["key"].encode(), token_value(each["value_token"]))
        for each in case["result"]
    ]
    assert [(kind, key) for kind, key, _ in found] == [(kind, key) for kind, key, _ in expected]
    for (_, _, shown), (_, _, value) in zip(found, expected, strict=True):
        assert shown in (None, value)
