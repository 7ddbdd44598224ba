"""Opening, looking up and writing tables: what callers rely on."""

import pytest

from graveler.errors import CorruptDataError
from graveler.sstable import TAIL_BYTES, BlockCache, Table, TableWriter

RECORDS = [(b"events/%06d" % i, b"value %d;" % i * (i % 40)) for i in range(4000)]
KEYS = [key for key, _ in RECORDS]
VALUES = [value for _, value in RECORDS]


def write(records=RECORDS, **options):
    writer = TableWriter("ranges", **options)
    for key, value in records:
        writer.add(key, value)
    return writer.finish()


class CountedReads:
    """A file that tells how often it was read."""

    def __init__(self, content):
        self.content = content
        self.reads = []

    def __call__(self, offset, length):
        self.reads.append((offset, length))
        return self.content[offset : offset + length]

    def open(self, tail_bytes=TAIL_BYTES, blocks=None):
        tail = self.content[-tail_bytes:]
        return Table.open("a range", len(self.content), tail, self, blocks)


def test_a_cold_lookup_reads_the_tail_and_one_block():
    file = CountedReads(write())
    assert len(file.content) > TAIL_BYTES
    table = file.open()
    assert file.reads == []
    assert table.get(KEYS[100]) == VALUES[100]
    assert len(file.reads) == 1


def test_a_cached_block_is_not_read_again():
    file = CountedReads(write())
    table = file.open(blocks=BlockCache(1 << 20))
    assert [table.get(KEYS[100]) for _ in range(3)] == [VALUES[100]] * 3
    assert next(table.scan(KEYS[100])) == RECORDS[100]
    assert len(file.reads) == 1


def test_the_length_of_the_tail_changes_no_answer():
    content = write(RECORDS[:300], block_size_bytes=256)
    for tail_bytes in range(53, len(content) + 1, 101):
        table = CountedReads(content).open(tail_bytes)
        assert table.get(KEYS[17]) == VALUES[17]
        assert list(table.scan()) == RECORDS[:300]


def test_a_scan_yields_the_records_from_start_to_before_end():
    table = Table.from_bytes("a range", write(block_size_bytes=512))
    for start, end in [(0, 4000), (1, 2), (0, 0), (700, 3333), (3999, 4000), (50, 20)]:
        stop = KEYS[end] if end < len(KEYS) else None
        assert list(table.scan(KEYS[start], stop)) == RECORDS[start:end]
    assert list(table.scan(b"events/0010005", b"events/001002")) == RECORDS[1001:1002]
    assert list(table.scan(b"z")) == []
    assert list(table.scan(b"", b"a")) == []


def test_blocks_are_never_empty_and_hold_the_interval_exactly():
    table = Table.from_bytes("a range", write(block_size_bytes=512))
    blocks = list(table.blocks(KEYS[7], KEYS[2000]))
    assert all(block.keys for block in blocks)
    assert [key for block in blocks for key in block.keys] == KEYS[7:2000]
    assert [value for block in blocks for value in block.values] == VALUES[7:2000]


def test_a_scan_begins_with_the_next_record_across_blocks():
    table = Table.from_bytes("a range", write(block_size_bytes=128))
    for key, following in zip(KEYS[:500], RECORDS[1:501], strict=True):
        assert next(table.scan(key + b"!")) == following
    assert next(table.scan()) == RECORDS[0]
    assert list(table.scan(KEYS[-1] + b"\x00")) == []


def test_an_empty_metarange_can_be_written_and_read():
    table = Table.from_bytes("empty", TableWriter("metaranges").finish())
    assert table.get(b"") is None
    assert table.get(b"a") is None
    assert list(table.scan()) == []
    assert table.properties["count"] == b"0"


def test_adding_stops_after_the_record_that_reaches_the_maximum_size():
    bulk, single = TableWriter("ranges"), TableWriter("ranges")
    added = bulk.add_many(KEYS, VALUES, 30_000)
    for key, value in RECORDS:
        single.add(key, value)
        if single.estimated_size_bytes >= 30_000:
            break
    assert added == bulk.count == single.count < len(RECORDS)
    assert bulk.finish() == single.finish()


def test_records_may_be_added_in_pieces_of_any_size():
    writer = TableWriter("ranges")
    for begin in range(0, len(KEYS), 37):
        writer.add_many(KEYS[begin : begin + 37], VALUES[begin : begin + 37])
    assert writer.finish() == write()


@pytest.mark.parametrize("keys", [[b"b", b"a"], [b"a", b"a"], [b"", b""]])
def test_keys_that_do_not_ascend_are_refused(keys):
    with pytest.raises(ValueError, match="ascend"):
        TableWriter("ranges").add_many(keys, [b"", b""])


def test_caller_metadata_become_properties_of_the_file():
    content = TableWriter("metaranges", {"entity": "branch", "schema_name": "é"}).finish()
    properties = Table.from_bytes("refs", content).properties
    assert properties["entity"] == b"branch"
    assert properties["schema_name"] == "é".encode()
    assert properties["type"] == b"metaranges"


def test_compression_changes_bytes_and_no_record():
    compressed, raw = write(), write(compress=False)
    assert len(compressed) < len(raw)
    assert list(Table.from_bytes("raw", raw).scan()) == RECORDS


@pytest.mark.parametrize("content", [b"", b"{}", b"x" * 52, b"x" * 53, b"x" * 5000])
def test_a_file_that_is_no_table_is_corrupt(content):
    with pytest.raises(CorruptDataError, match="some file: offset"):
        Table.from_bytes("some file", content)


def test_a_read_that_answers_with_too_few_bytes_is_corrupt():
    content = write()
    tail = content[-TAIL_BYTES:]
    table = Table.open("some file", len(content), tail, lambda o, n: content[o : o + n - 1])
    with pytest.raises(CorruptDataError, match=r"some file: offset 0: read 567 bytes instead"):
        table.get(KEYS[0])


def test_a_damaged_block_is_named_by_its_offset_and_the_others_are_served():
    content = bytearray(write())
    content[10] ^= 1
    table = Table.from_bytes("some file", bytes(content))
    assert table.get(KEYS[3000]) == VALUES[3000]
    with pytest.raises(CorruptDataError, match="some file: offset 0: the checksum"):
        table.get(KEYS[0])
