"""Metaranges and ranges that lakeFS wrote are read, committed on, and kept."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Committed
from graveler.entries import value_entry
from graveler.identity import entry_identity
from graveler.model import RangeHeader
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import NAMESPACE, read, token_value

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
SETS = [
    each for each in json.loads((VECTORS / "ranges.json").read_text()) if "metarange_id" in each
]
LARGE = [each for each in SETS if len(each["ranges"]) > 2]


def files_of(case: dict) -> MemoryCommittedFiles:
    files = MemoryCommittedFiles()
    for path in (VECTORS / case["dir"]).iterdir():
        files.files[NAMESPACE, path.name] = path.read_bytes()
    return files


def name_of(case: dict) -> str:
    return case["dir"].rpartition("/")[2]


def opened(case: dict) -> tuple[MetaRange, Committed, MemoryCommittedFiles]:
    files = files_of(case)
    committed = Committed(files)
    return MetaRange(committed, NAMESPACE, case["metarange_id"]), committed, files


def headers_of(case: dict) -> list[RangeHeader]:
    return [
        RangeHeader(
            each["id"],
            each["min_key"].encode(),
            each["max_key"].encode(),
            each["count"],
            each["estimated_size"],
        )
        for each in case["ranges"]
    ]


@pytest.mark.parametrize("case", SETS, ids=name_of)
def test_every_record_of_lakefs_files_is_read(case):
    metarange, _, _ = opened(case)
    assert list(metarange.headers()) == headers_of(case)
    records = read(metarange)
    assert len(records) == sum(each["count"] for each in case["ranges"])
    spec = case["spec"]
    for key in sorted(records)[:: len(records) // 1000 + 1]:
        assert metarange.get(key) == records[key]
        assert entry_identity(value_entry(records[key])) == records[key][1:33]
    if "commit" in spec["name"]:
        return  # of changes on top of the rule's records
    found = {value_entry(value).address: value for value in records.values()}
    for number in range(0, spec["n"], spec["n"] // 1000 + 1):
        address, checksum, size_bytes, last_modified_ns = rule_entry(spec["seed"], number)
        entry = value_entry(found[address])
        assert (entry.checksum, entry.size_bytes) == (checksum, size_bytes)
        assert entry.last_modified_ns == last_modified_ns
    assert len(found) == spec["n"]


def rule_entry(seed: str, number: int) -> tuple[str, str, int, int]:
    """What the rule of the vectors says of one record."""
    digest = sha256(f"{seed}:{number}".encode()).hexdigest()
    seconds = 1_700_000_000 + number * 37 % 10**6
    return (
        f"data/{digest[:20]}/{digest[20:40]}",
        digest[32:64],
        int(digest[:6], 16),
        seconds * 10**9 + number * 1_000_003 % 10**9,
    )


@pytest.mark.parametrize("case", LARGE, ids=name_of)
def test_a_commit_on_lakefs_ranges_rewrites_the_touched_one_and_does_not_ripple(case):
    metarange, committed, files = opened(case)
    before = headers_of(case)
    touched = before[len(before) // 2]
    records = read(metarange)
    files.reads.clear()
    new_key = touched.min_key + b"!"
    applied = apply_changes(committed, metarange, [(new_key, token_value("new"))])
    result = MetaRange(committed, NAMESPACE, applied.metarange_id)
    assert read(result) == records | {new_key: token_value("new")}
    after = list(result.headers())
    assert [header for header in before if header not in after] == [touched]
    assert after[-1] == before[-1]


@pytest.mark.parametrize("case", LARGE, ids=name_of)
def test_deleting_the_end_of_a_lakefs_range_touches_the_next_one_at_most(case):
    metarange, committed, _ = opened(case)
    before = headers_of(case)
    applied = apply_changes(committed, metarange, [(before[0].max_key, None)])
    result = MetaRange(committed, NAMESPACE, applied.metarange_id)
    assert list(result.headers())[-len(before) + 2 :] == before[2:]
    records = read(metarange)
    del records[before[0].max_key]
    assert read(result) == records
