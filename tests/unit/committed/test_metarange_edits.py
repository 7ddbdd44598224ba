"""A commit changes a metarange's file where it must, and takes over the rest as it is stored."""

from collections.abc import Iterator

import pytest
from rocksdict import Options, Rdict

from graveler.committed.apply import apply_changes
from graveler.committed.level import METARANGES
from graveler.committed.metarange import MetaRange
from graveler.committed.store import Breaking, Committed
from graveler.diff.two_way import diff
from graveler.errors import CorruptDataError
from graveler.model import EMPTY_METARANGE, Change
from graveler.sstable import TableInMemory
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.support.worlds.model import (
    NAMESPACE,
    Records,
    committed_in_memory,
    id_of,
    opened,
    read,
    token_value,
    write,
    write_as_lakefs,
)

# A range for each record or two: metaranges of many blocks.
TINY = Breaking(2)


def many(amount: int = 3000) -> Records:
    return {b"k%06d" % number: token_value(f"v{number}") for number in range(amount)}


def blocks_of(files: MemoryCommittedFiles, file_id: str) -> list[bytes]:
    table = TableInMemory.from_bytes(file_id, files.files[NAMESPACE, file_id])
    return table.stored_blocks(0, len(table))


def keys_of_blocks(metarange: MetaRange) -> list[list[bytes]]:
    blocks = metarange.blocks()
    return [blocks.block(at).keys for at in range(len(blocks))]


def changed(records: Records) -> tuple[list[Change], Records]:
    """One value changed, one record added, one deleted, far from each other; and what comes out."""
    keys = sorted(records)
    put = {keys[100]: token_value("new"), keys[1500] + b"!": token_value("more")}
    changes: list[Change] = sorted({**put, keys[2500]: None}.items())
    return changes, {key: v for key, v in (records | put).items() if key != keys[2500]}


@pytest.mark.parametrize("written_by", ["us", "lakefs"])
def test_untouched_blocks_of_a_metarange_are_copied(written_by):
    records = many()
    committed, files = committed_in_memory(TINY)
    if written_by == "us":
        base_id = write(committed, records).id
    else:
        base_id = write_as_lakefs(files, records, sorted(records)[::2])
    changes, expected = changed(records)
    made = apply_changes(committed, opened(committed, base_id), changes)
    result = opened(committed, made.metarange_id)
    assert read(result) == expected
    before, after = blocks_of(files, base_id), blocks_of(files, result.id)
    assert len(before) > 25
    assert len(set(before) - set(after)) <= 6
    if written_by == "us":
        assert result.id == id_of(expected, TINY)
        afresh, _ = committed_in_memory(TINY)
        assert keys_of_blocks(result) == keys_of_blocks(write(afresh, expected))


def test_a_row_of_small_additions_leaves_blocks_of_usual_size():
    committed, files = committed_in_memory(Breaking(10**9))
    head = opened(committed, EMPTY_METARANGE)
    for key, value in many(300).items():
        head = opened(committed, apply_changes(committed, head, [(key, value)]).metarange_id)
    (header,) = head.headers()
    assert len(blocks_of(files, header.id)) < 300 / 8


def test_rocksdb_reads_metaranges_that_took_blocks_over(tmp_path):
    committed, files = committed_in_memory(TINY)
    changes, _ = changed(many())
    made = apply_changes(committed, write(committed, many()), changes)
    metarange = opened(committed, made.metarange_id)
    file = tmp_path / "metarange.sst"
    file.write_bytes(files.files[NAMESPACE, metarange.id])
    database = Rdict(str(tmp_path / "database"), Options(raw_mode=True))
    try:
        database.ingest_external_file([str(file)])
        found = [key for key, _ in database.items()]
    finally:
        database.close()
    assert found == [header.max_key for header in metarange.headers()]
    table = TableInMemory.from_bytes("file", file.read_bytes())
    assert table.properties["type"] == METARANGES.kind.encode()
    assert table.properties["count"] == b"%d" % len(found)
    assert (table.properties["min_key"], table.properties["max_key"]) == (found[0], found[-1])


@pytest.mark.parametrize("pick", [0, -1], ids=["first", "last"])
def test_ranges_are_found_among_the_ends_of_a_metarange(pick):
    committed, _ = committed_in_memory(TINY)
    base = write(committed, many())
    headers = list(base.headers())
    assert base.last_key == headers[-1].max_key
    assert base.range_from(headers[pick].max_key) == headers[pick]
    assert base.range_from(b"") == headers[0]
    assert base.range_from(headers[-1].max_key + b"\x00") is None
    assert opened(committed, EMPTY_METARANGE).range_from(b"") is None


def test_what_differs_between_metaranges_is_found_without_decoding_the_rest(monkeypatch):
    committed, _ = committed_in_memory(TINY)
    records = many()
    left = write(committed, records)
    changes, expected = changed(records)
    right = opened(committed, apply_changes(committed, left, changes).metarange_id)
    decoded = []
    original = TableInMemory.block

    def counted(self: TableInMemory, at: int):
        decoded.append(at)
        return original(self, at)

    monkeypatch.setattr(TableInMemory, "block", counted)
    assert [each.key for each in diff(left, right)] == [key for key, _ in changes]
    assert len(decoded) < 60
    assert read(right) == expected


def test_ranges_are_stored_while_changes_still_come():
    """A change may be larger than memory."""
    committed, files = committed_in_memory(Breaking(500))
    stored_at = []

    def changes() -> Iterator[Change]:
        for number, (key, value) in enumerate(many(20_000).items()):
            if not number % 5000:
                stored_at.append(len(files.files))
            yield key, value

    # Into nothing, and among the records of a single range.
    apply_changes(committed, opened(committed, EMPTY_METARANGE), changes())
    assert stored_at == sorted(set(stored_at))
    stored_at.clear()
    single = write_as_lakefs(files, {b"a": token_value("a"), b"z": token_value("z")}, ())
    apply_changes(Committed(files, breaking=Breaking(499)), opened(committed, single), changes())
    assert stored_at == sorted(set(stored_at))


@pytest.mark.parametrize("of", ["range", "metarange"])
def test_a_damaged_block_is_never_copied(of):
    committed, files = committed_in_memory(Breaking(10**9) if of == "range" else TINY)
    base = write(committed, many())
    file_id = base.id if of == "metarange" else next(base.headers()).id
    content = bytearray(files.files[NAMESPACE, file_id])
    table = TableInMemory.from_bytes("file", bytes(content))
    damaged = len(table) // 2
    content[table.extent(damaged)[0] + 3] ^= 1
    files.files[NAMESPACE, file_id] = bytes(content)
    change = (min(many()), token_value("new"))
    before = set(files.files)
    # What is known of the file's records does not spare a look at its bytes.
    committed._contents.forget(f"{NAMESPACE}/_lakefs/{file_id}")
    for process in (committed, Committed(files, breaking=committed.breaking)):
        with pytest.raises(CorruptDataError, match=file_id):
            apply_changes(process, MetaRange(process, NAMESPACE, base.id), [change])
    assert len(set(files.files) - before) <= 1  # a range at most, which no metarange names
