"""Commits and files are named by what they hold, on any machine."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from graveler.identity import commit_id, key_hash, make_commit, record_id
from tests.support.checks.cases import for_each

VECTORS = Path(__file__).parents[1] / "golden" / "vectors"
COMMITS = json.loads((VECTORS / "commits.json").read_text())


@for_each("case", COMMITS, ids=lambda case: case["name"])
def test_a_commit_has_lakefs_id(case):
    commit = case["commit"]
    made = make_commit(
        committer=commit["committer"],
        message=commit["message"],
        metarange_id=commit["meta_range_id"],
        creation_date=commit["creation_date"]["seconds"],
        metadata=commit["metadata"] or {},
        parents=commit["parents"] or (),
        generation=commit["generation"],
    )
    assert made.id == case["id"]
    assert made.generation == commit["generation"]


def test_every_field_of_a_commit_but_the_generation_counts():
    fields: dict[str, Any] = {
        "committer": "c",
        "message": "m",
        "metarange_id": "r",
        "creation_date": 1,
        "metadata": {"a": "b"},
        "parents": ("p", "q"),
    }
    different: list[dict[str, Any]] = [
        {"committer": "d"},
        {"message": "n"},
        {"metarange_id": ""},
        {"creation_date": 2},
        {"metadata": {"a": "c"}},
        {"parents": ("q", "p")},
    ]
    ids = {commit_id(**(fields | change)) for change in ({}, *different)}
    assert len(ids) == len(different) + 1
    assert make_commit(**fields, generation=1).id == make_commit(**fields, generation=2).id


def test_a_record_is_named_by_the_documented_formula():
    expected = sha256(sha256(b"key").digest() + sha256(b"identity").digest()).digest()
    assert record_id(key_hash(b"key"), b"identity") == expected
