"""A commit holds what lakeFS's would, however ranges break, and rewrites what it changes."""

import json
from itertools import count, islice
from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.committed.writer import breaks_after
from graveler.errors import CorruptDataError
from graveler.model import EMPTY_METARANGE
from tests.support.worlds.model import (
    BREAKINGS,
    NAMESPACE,
    committed_in_memory,
    opened,
    read,
    token_records,
    token_value,
    write,
)

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
CASES = json.loads((VECTORS / "apply.json").read_text())
FEW = Breaking(4)


def changes_of(case: dict) -> list[tuple[bytes, bytes | None]]:
    changes = case["changes_bang_is_tombstone"]
    return sorted(
        (key.encode(), None if token == "!" else token_value(token))
        for key, token in changes.items()
    )


def has_another_address(case: dict) -> bool:
    """Whether an object is replaced by an equal one at another address: lakeFS keeps the first."""
    base, changes = case["base"] or {}, case["changes_bang_is_tombstone"]
    return any(
        key in base and token != base[key] and token.split("@")[0] == base[key].split("@")[0]
        for key, token in changes.items()
    )


ALIKE = [case for case in CASES if not has_another_address(case)]
OTHERS = [case for case in CASES if has_another_address(case)]


def test_the_known_answers_have_both_kinds():
    assert len(ALIKE) > len(OTHERS) > 0


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case["name"])
def test_an_equal_object_at_another_address_replaces_the_first(case, breaking):
    committed, _ = committed_in_memory(breaking)
    base = write(committed, token_records(case["base"]))
    made = apply_changes(committed, base, changes_of(case))
    expected = token_records(case["base"]) | dict(changes_of(case))
    found = read(opened(committed, made.metarange_id))
    assert found == {key: value for key, value in expected.items() if value is not None}


@pytest.mark.parametrize("breaking", BREAKINGS, ids=str)
@pytest.mark.parametrize("case", ALIKE, ids=lambda case: case["name"])
def test_applying_changes_gives_what_lakefs_gives(case, breaking):
    committed, _ = committed_in_memory(breaking)
    base = write(committed, token_records(case["base"]))
    if case["base_metarange_empty_id"]:
        base = opened(committed, EMPTY_METARANGE)
    applied = apply_changes(committed, base, changes_of(case))
    summary = {kind: getattr(applied.counts, kind) for kind in ("added", "changed", "removed")}
    assert {kind: count for kind, count in summary.items() if count} == case["summary"]
    if case["error"] == "no_changes":
        assert applied.total == 0
        assert applied.metarange_id == base.id
    else:
        assert case["error"] == ""
        assert read(opened(committed, applied.metarange_id)) == token_records(case["result"])


def keys_that(breaking: Breaking, *, end: bool, amount: int, prefix: str = "k") -> list[bytes]:
    """Ascending keys that end a range, or do not."""
    keys = (f"{prefix}{number:06}".encode() for number in count())
    return list(islice((key for key in keys if breaks_after(key, breaking) is end), amount))


def values(keys: list[bytes], content: str = "old") -> dict[bytes, bytes]:
    return {key: token_value(f"{content}-{key.decode()}") for key in keys}


def many(amount: int = 200) -> dict[bytes, bytes]:
    return values([f"k{number:06}".encode() for number in range(amount)])


def test_ranges_without_changes_are_neither_read_nor_written():
    committed, files = committed_in_memory(FEW)
    base = write(committed, many())
    headers = list(base.headers())
    touched = headers[len(headers) // 2]
    fresh, _ = committed_in_memory(FEW)
    fresh._files = files
    files.reads.clear()
    before = set(files.files)
    change = (touched.min_key, token_value("new"))
    applied = apply_changes(fresh, MetaRange(fresh, NAMESPACE, base.id), [change])
    assert {file_id for _, file_id in files.reads} == {base.id, touched.id}
    assert len(set(files.files) - before) == 2
    after = list(opened(committed, applied.metarange_id).headers())
    (rewritten,) = [header for header in after if header not in headers]
    assert rewritten.max_key == touched.max_key


def test_a_change_that_changes_nothing_writes_nothing():
    committed, files = committed_in_memory(FEW)
    records = many()
    base = write(committed, records)
    before = set(files.files)
    same = [(key, records[key]) for key in sorted(records)[::7]]
    applied = apply_changes(committed, base, [*same, (b"zzz", None)])
    assert (applied.total, applied.metarange_id) == (0, base.id)
    assert set(files.files) == before


def test_deleting_the_end_of_a_range_joins_it_with_the_next():
    committed, _ = committed_in_memory(FEW)
    records = many()
    base = write(committed, records)
    end = list(base.headers())[3].max_key
    applied = apply_changes(committed, base, [(end, None)])
    del records[end]
    assert applied.metarange_id == write(committed, records).id


def test_records_behind_the_last_range_continue_it_where_it_did_not_end():
    committed, _ = committed_in_memory(FEW)
    inner = keys_that(FEW, end=False, amount=20)
    base = write(committed, values(inner[:10]))
    new = values(inner[10:])
    applied = apply_changes(committed, base, sorted(new.items()))
    headers = list(opened(committed, applied.metarange_id).headers())
    assert [header.count for header in headers] == [20]


def test_records_behind_a_last_range_that_ended_leave_it_unread():
    committed, files = committed_in_memory(FEW)
    last = keys_that(FEW, end=True, amount=1)
    base = write(committed, values(last))
    new = values(keys_that(FEW, end=False, amount=3, prefix="z"))
    fresh, _ = committed_in_memory(FEW)
    fresh._files = files
    files.reads.clear()
    applied = apply_changes(fresh, MetaRange(fresh, NAMESPACE, base.id), sorted(new.items()))
    assert {file_id for _, file_id in files.reads} == {base.id}
    assert applied.metarange_id == write(committed, values(last) | new).id


def test_records_behind_a_last_range_that_is_full_leave_it_unread():
    breaking = Breaking(10**9, bytes_max=3000)
    committed, files = committed_in_memory(breaking)
    base = write(committed, many(100))
    *_, last = base.headers()
    full = write(committed, {k: v for k, v in many(100).items() if k < last.min_key})
    fresh, _ = committed_in_memory(breaking)
    fresh._files = files
    files.reads.clear()
    new = values([b"z1", b"z2"])
    applied = apply_changes(fresh, MetaRange(fresh, NAMESPACE, full.id), sorted(new.items()))
    assert {file_id for _, file_id in files.reads} == {full.id}
    assert applied.counts.added == 2


def test_deleting_everything_leaves_an_empty_metarange():
    committed, _ = committed_in_memory(FEW)
    records = many()
    base = write(committed, records)
    applied = apply_changes(committed, base, [(key, None) for key in sorted(records)])
    assert applied.counts.removed == len(records)
    assert applied.metarange_id not in ("", base.id)
    assert read(opened(committed, applied.metarange_id)) == {}


def test_a_missing_range_is_corruption_and_not_an_empty_one():
    committed, files = committed_in_memory(FEW)
    base = write(committed, many())
    header = next(base.headers())
    del files.files[NAMESPACE, header.id]
    fresh, _ = committed_in_memory(FEW)
    fresh._files = files
    with pytest.raises(CorruptDataError, match=header.id):
        apply_changes(fresh, MetaRange(fresh, NAMESPACE, base.id), [(header.min_key, None)])


def test_a_range_that_outgrows_the_maximum_is_split_and_keeps_its_end():
    breaking = Breaking(10**9, bytes_max=4000)
    committed, _ = committed_in_memory(breaking)
    base = write(committed, many(100))
    headers = list(base.headers())
    assert len(headers) > 2
    new = values([headers[0].max_key + b"!%03d" % number for number in range(100)])
    inside = {headers[0].min_key + b"!" + key: value for key, value in new.items()}
    applied = apply_changes(committed, base, sorted(inside.items()))
    after = list(opened(committed, applied.metarange_id).headers())
    assert after[-len(headers) + 1 :] == headers[1:]
    assert len(after) > len(headers) + 1
    assert read(opened(committed, applied.metarange_id)) == many(100) | inside


def test_ranges_that_begin_or_end_among_copied_blocks_know_their_keys():
    """As after the maximum size of a deployment's ranges was lowered."""
    files = committed_in_memory()[1]
    whole = Committed(files, breaking=Breaking(10**9))
    base = write(whole, many(2000))
    for bytes_max in (500, 3000, 20_000):
        committed = Committed(files, breaking=Breaking(10**9, bytes_max))
        changes = values([b"k000001", b"k001000", b"k001001"], f"new {bytes_max}")
        made = apply_changes(committed, base, sorted(changes.items()))
        after = opened(committed, made.metarange_id)
        assert read(after) == many(2000) | changes
        for header in after.headers():
            inside = [key for key, _ in after.records(header.min_key, header.max_key + b"\x00")]
            assert (inside[0], inside[-1]) == (header.min_key, header.max_key)
            assert header.count == len(inside)
        assert len(list(after.headers())) > 1


def test_rocksdb_reads_ranges_that_took_blocks_over(tmp_path):
    committed, files = committed_in_memory(Breaking(1000))
    records = many(5000)
    metarange = write(committed, records)
    for step in range(3):
        changes = values([b"k%06d" % number for number in range(step, 5000, 211)], f"new {step}")
        deleted = dict.fromkeys(b"k%06d" % number for number in range(step + 7, 5000, 503))
        made = apply_changes(committed, metarange, sorted((changes | deleted).items()))
        metarange = opened(committed, made.metarange_id)
        records = {key: value for key, value in (records | changes).items() if key not in deleted}
    database = Rdict(str(tmp_path / "database"), Options(raw_mode=True))
    try:
        for header in metarange.headers():
            file = tmp_path / f"{header.id}.sst"
            file.write_bytes(files.files[NAMESPACE, header.id])
            database.ingest_external_file([str(file)])
        assert dict(database.items()) == records
        assert all(database[key] == value for key, value in records.items())
    finally:
        database.close()
