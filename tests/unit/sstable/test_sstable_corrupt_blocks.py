"""Blocks whose checksum is good and whose content is wrong: each check by itself."""

from itertools import combinations
from struct import pack

import pytest

from graveler.errors import CorruptDataError
from graveler.sstable import Table, TableWriter
from graveler.sstable.block import decode_block, decode_records, encode_block
from graveler.sstable.format import (
    FOOTER_BYTES,
    RECORD_TRAILER,
    SEPARATOR_TRAILER,
    _checksum,
    decode_footer,
    encode_footer,
    open_block,
    read_varint,
)
from graveler.sstable.index import decode_index

TRAILING = pack("<II", 0, 1)  # one restart point, at 0


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "restart points"),
        (b"\x01\x00\x00", "restart points"),
        (b"\x00\x00\x00\x00\x09\x00\x00\x00", "restart points"),
        (b"\x00\x01\x05k" + b"v" * 4 + TRAILING, "runs over the end"),
        (b"\x00\x09\x00k" + TRAILING, "runs over the end"),
        (b"\x01\x01\x00k" + TRAILING, "shares more"),
        (b"\x00\x01\x00k\x02\x01\x00k" + TRAILING, "shares more"),
        (b"\x00\xff\xff" + TRAILING[:1] + b"\xff" * 12 + TRAILING, "64 bits"),
    ],
)
def test_entries_that_do_not_fit_their_block_are_refused(raw, reason):
    with pytest.raises(ValueError, match=reason):
        decode_block(raw)


@pytest.mark.parametrize(
    "trailer", [b"", b"\x00" + bytes(7), b"\x01\x01" + bytes(6), b"\x02" + bytes(7)]
)
def test_deletions_merges_and_versions_are_no_records(trailer):
    with pytest.raises(ValueError, match="plain value"):
        decode_records(encode_block([(b"key" + trailer, b"value")]))


@pytest.mark.parametrize("keys", [[b"b", b"a"], [b"a", b"a"]])
def test_records_out_of_order_are_refused(keys):
    with pytest.raises(ValueError, match="out of order"):
        decode_records(encode_block([(key + RECORD_TRAILER, b"") for key in keys]))


@pytest.mark.parametrize("bounds", [[b"b", b"a"], [b"a", b"a"]])
def test_an_index_out_of_order_is_refused(bounds):
    entries = [(bound + SEPARATOR_TRAILER, b"\x00\x00") for bound in bounds]
    with pytest.raises(ValueError, match="out of order"):
        decode_index(encode_block(entries))


@pytest.mark.parametrize("entries", [[], [(b"short", b"\x00\x00")]])
def test_an_index_without_bounds_is_refused(entries):
    with pytest.raises(ValueError, match=r"empty|trailers"):
        decode_index(encode_block(entries))


@pytest.mark.parametrize(
    ("handle", "reason"),
    [
        (b"", "the data ends inside a varint"),
        (b"\x05\x80", "the data ends inside a varint"),
        (b"\xff" * 12, "longer than 64 bits"),
        (b"\xff" * 9 + b"\x01\x05", "is not between"),
    ],
)
def test_a_handle_that_leads_nowhere_is_corrupt_when_its_block_is_asked_for(handle, reason):
    table = Table.from_bytes("the file", write())
    next(table._places_from(b""))[0].handles[0] = handle
    with pytest.raises(CorruptDataError, match=f"the file: .*{reason}"):
        table.get(b"00")
    assert table.get(b"63") == b"value of 16 byte"


def test_an_unknown_compression_is_refused():
    payload = b"payload\x07"
    with pytest.raises(ValueError, match="block type 7"):
        open_block(payload + _checksum(payload))


def test_bytes_that_are_no_snappy_are_refused():
    payload = b"payload\x01"
    with pytest.raises(ValueError, match="not Snappy"):
        open_block(payload + _checksum(payload))


def test_a_truncated_varint_is_refused():
    with pytest.raises(ValueError, match="ends inside a varint"):
        read_varint(b"\x80\x80", 0)


def write(block_size_bytes=100, count=64):
    """A table of many raw blocks and several index partitions."""
    writer = TableWriter("ranges", block_size_bytes=block_size_bytes, compress=False)
    for number in range(count):
        writer.add(b"%02d" % number, b"value of 16 byte")
    return writer.finish()


def placed(content):
    """The table of content, and where its data blocks and index partitions lie."""
    table = Table.from_bytes("the file", content)
    data = [table._handle(partition.handles[at]) for partition, at in table._places_from(b"")]
    assert len(data) > 6
    return data, [table._handle(handle) for handle in table._handles]


def exchange(content, one, other):
    """The content with two blocks of one length in each other's place, each with its checksum."""
    assert one.length == other.length
    damaged = bytearray(content)
    damaged[one.offset : one.end] = content[other.offset : other.end]
    damaged[other.offset : other.end] = content[one.offset : one.end]
    return bytes(damaged)


def test_blocks_in_each_others_place_are_corrupt():
    content = write()
    data, _ = placed(content)
    pairs = [(a, b) for a, b in combinations(data, 2) if a.length == b.length]
    assert len(pairs) > 20
    for pair in pairs:
        table = Table.from_bytes("the file", exchange(content, *pair))
        places = list(table._places_from(b""))
        for handle in pair:
            with pytest.raises(CorruptDataError, match=rf"offset {handle.offset}: .* its bounds"):
                table._block(*places[data.index(handle)])


def test_index_partitions_in_each_others_place_are_corrupt():
    content = write()
    _, partitions = placed(content)
    one, other = next(
        (one, other)
        for number, one in enumerate(partitions)
        for other in partitions[number + 1 :]
        if one.length == other.length
    )
    with pytest.raises(CorruptDataError, match="partition ends at another key"):
        list(Table.from_bytes("the file", exchange(content, one, other)).scan())


def test_an_index_where_data_blocks_lie_is_corrupt():
    content = write()
    data, _ = placed(content)
    metaindex, _ = decode_footer(content[-FOOTER_BYTES:])
    damaged = content[:-FOOTER_BYTES] + encode_footer(metaindex, data[0])
    with pytest.raises(CorruptDataError, match=r"offset 0: .* is not between"):
        Table.from_bytes("the file", damaged)


def test_an_index_partition_in_place_of_the_whole_index_is_corrupt():
    content = write()
    _, partitions = placed(content)
    metaindex, _ = decode_footer(content[-FOOTER_BYTES:])
    damaged = content[:-FOOTER_BYTES] + encode_footer(metaindex, partitions[0])
    table = Table.from_bytes("the file", damaged)
    with pytest.raises(CorruptDataError, match="is not between"):
        table.get(b"00")


@pytest.mark.parametrize(
    ("position", "byte", "reason"),
    [(0, 2, "checksum type 2"), (41, 5, "format version 5"), (52, 0, "magic")],
)
def test_other_kinds_of_sstables_are_refused_with_their_reason(position, byte, reason):
    content = bytearray(write())
    content[len(content) - FOOTER_BYTES + position] = byte
    with pytest.raises(CorruptDataError, match=reason):
        Table.from_bytes("the file", bytes(content))
