"""SSTables hold any records: what goes in comes out, whatever the options."""

from bisect import bisect_left

from hypothesis import given, settings
from hypothesis import strategies as st

from graveler.sstable import Table, TableWriter
from graveler.sstable.block import decode_block, encode_block, shared_prefix_length
from graveler.sstable.format import RECORD_TRAILER, TRAILER_BYTES, VARINT, read_varint
from graveler.sstable.properties import readable_properties
from graveler.sstable.separator import separator, successor

# Bytes that matter: what separators raise or cannot raise, and what trailers are made of.
edge_bytes = st.lists(st.sampled_from([0, 1, 2, 0x61, 0x62, 0xFE, 0xFF]), max_size=14).map(bytes)
keys = edge_bytes | st.binary(max_size=40) | st.binary(min_size=120, max_size=300)
values = st.binary(max_size=20) | st.integers(0, 20_000).map(lambda n: b"v" * n)
tables = st.dictionaries(keys, values, max_size=60).map(lambda d: sorted(d.items()))
# Runs of keys that continue each other through zeros and ones, as trailers do.
nested_keys = st.lists(
    st.sampled_from([b"\x00", b"\x01", b"\x01" + bytes(7), b"\x01" + bytes(10), b"a"]), max_size=30
).map(lambda steps: [b"".join(steps[:end]) for end in range(len(steps) + 1)])
block_sizes = st.sampled_from([1, 16, 64, 300, 4096, 100_000])


def write(records, block_size_bytes=4096, *, compress=True):
    writer = TableWriter("ranges", block_size_bytes=block_size_bytes, compress=compress)
    writer.add_many([key for key, _ in records], [value for _, value in records])
    return writer.finish()


@given(tables, block_sizes, st.booleans(), st.lists(keys, max_size=20))
@settings(deadline=None)
def test_a_table_answers_like_a_sorted_list(records, block_size_bytes, compress, others):
    table = Table.from_bytes("t", write(records, block_size_bytes, compress=compress))
    held = dict(records)
    sorted_keys = list(held)
    assert list(table.scan()) == records
    assert table.properties["count"] == str(len(records)).encode()
    for key in [*sorted_keys, *others]:
        index = bisect_left(sorted_keys, key)
        assert table.get(key) == held.get(key)
        assert list(table.scan(key)) == records[index:]
        assert list(table.scan(b"", key)) == records[:index]


@given(nested_keys, block_sizes)
@settings(deadline=None)
def test_keys_that_look_like_trailers_survive(nested, block_size_bytes):
    records = [(key, b"") for key in nested]
    table = Table.from_bytes("t", write(records, block_size_bytes))
    assert list(table.scan()) == records
    assert all(table.get(key) == b"" for key in nested)


@given(nested_keys | st.lists(keys, unique=True).map(sorted))
def test_shared_prefixes_are_those_of_stored_keys(ascending):
    block = write([(key, b"") for key in ascending], 1 << 30, compress=False)
    at, previous = 0, b""
    for number, key in enumerate(ascending):
        stored = key + RECORD_TRAILER
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        _, at = read_varint(block, at)
        at += unshared
        expected = shared_prefix_length(previous, stored) if number % 16 else 0
        assert shared == expected
        previous = stored


@given(st.lists(keys, min_size=2, max_size=2, unique=True).map(sorted))
def test_a_separator_is_short_and_lies_between_its_neighbours(pair):
    last, following = pair
    stored = separator(last, following)
    bound = stored[:-TRAILER_BYTES]
    assert last <= bound < following
    assert len(bound) <= len(last)
    assert stored.endswith(RECORD_TRAILER) == (bound == last)


@given(keys)
def test_a_successor_is_short_and_not_less(last):
    bound = successor(last)[:-TRAILER_BYTES]
    assert last <= bound
    assert len(bound) <= max(1, len(last))


def test_separators_follow_the_rule_that_decides_the_bytes_of_files():
    for last, following, bound in [
        (b"abcdef", b"abzz", b"abd"),
        (b"abc", b"abcd", b"abc"),
        (b"a1xy", b"a2", b"a1y"),
        (b"a1xy", b"a2z", b"a2"),
        (b"a1\xff\xff", b"a2", b"a1\xff\xff"),
        (b"a1\xffx", b"a2", b"a1\xffy"),
        (b"", b"a", b""),
    ]:
        assert separator(last, following)[:-TRAILER_BYTES] == bound
    assert successor(b"op-1")[:-TRAILER_BYTES] == b"p"
    assert successor(b"\xff\xffab")[:-TRAILER_BYTES] == b"\xff\xffb"
    assert successor(b"\xff") == b"\xff" + RECORD_TRAILER


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_a_varint_reads_back(number, after):
    assert read_varint(VARINT[number] + after, 0) == (number, len(VARINT[number]))


@given(st.lists(st.tuples(keys, values), max_size=20), st.booleans())
def test_a_block_reads_back(entries, share_prefixes):
    block = decode_block(encode_block(entries, share_prefixes=share_prefixes))
    assert list(zip(*block, strict=True)) == entries


@given(tables, st.lists(st.integers(1, 10), max_size=60), st.integers(1, 30_000))
@settings(deadline=None)
def test_how_records_are_handed_over_changes_no_byte(records, pieces, size_bytes_max):
    bulk = TableWriter("ranges", block_size_bytes=128)
    rest = records
    for piece in [*pieces, len(records)]:
        bulk.add_many([key for key, _ in rest[:piece]], [value for _, value in rest[:piece]])
        rest = rest[piece:]
    single = TableWriter("ranges", block_size_bytes=128)
    stopping = TableWriter("ranges", block_size_bytes=128)
    added = stopping.add_many(
        [key for key, _ in records], [value for _, value in records], size_bytes_max
    )
    for number, (key, value) in enumerate(records):
        assert (number < added) == (number == 0 or single.estimated_size_bytes < size_bytes_max)
        single.add(key, value)
        if number + 1 == added:
            assert single.estimated_size_bytes == stopping.estimated_size_bytes
            break
    for key, value in records[added:]:
        single.add(key, value)
    assert bulk.finish() == single.finish() == write(records, 128)


@given(tables.filter(bool))
@settings(deadline=None)
def test_a_whole_block_is_encoded_like_single_records(records):
    keys, values = ([record[part] for record in records] for part in (0, 1))
    block, single = (TableWriter("ranges", block_size_bytes=1 << 30) for _ in range(2))
    block.add_block(keys, values)
    single.add_many(keys, values)
    contents = block.finish(), single.finish()
    data_bytes, _ = read_varint(
        Table.from_bytes("t", contents[0]).properties["rocksdb.data.size"], 0
    )
    assert contents[0][:data_bytes] == contents[1][:data_bytes]


def cut_by_the_rule(entries, target, interval, value_size=None):
    """How many entries each block gets: the rule of docs/formats/sstable.md, stated plainly."""
    counts = [0]
    size, previous = 4, b""
    for key, value in entries:
        length = len(value) if value_size is None else value_size
        restart = counts[-1] % interval == 0
        alone = len(key) + length + 4 + 4 * restart + len(VARINT[len(key)]) + len(VARINT[length])
        if counts[-1] and size > (target * 90 + 99) // 100 and size + alone > target:
            counts.append(0)
            size, restart = 4, True
        shared = 0 if restart else shared_prefix_length(previous, key)
        head = len(VARINT[shared] + VARINT[len(key) - shared] + VARINT[len(value)])
        size += 4 * restart + head + len(key) - shared + len(value)
        counts[-1] += 1
        previous = key
    return counts


def check_cuts(target, records):
    stored = [(key + RECORD_TRAILER, value) for key, value in records]
    expected = cut_by_the_rule(stored, target, 16)
    table = Table.from_bytes("t", write(records, target))
    assert [len(block.keys) for block in table.blocks()] == expected

    ends = [sum(expected[: number + 1]) for number in range(len(expected))]
    bounds = [separator(records[end - 1][0], records[end][0]) for end in ends[:-1]]
    bounds.append(successor(records[-1][0]))
    handles = [partition.handles[at] for partition, at in table._places_from(b"")]
    partitions = cut_by_the_rule(zip(bounds, handles, strict=True), target, 1, value_size=20)
    recorded = readable_properties(table.properties).get("rocksdb.index.partitions", 1)
    assert recorded == len(partitions)
    assert [len(p.bounds) for p in table._partitions] == partitions


@given(st.integers(60, 200), st.lists(st.integers(0, 40), min_size=1, max_size=300))
@settings(deadline=None)
def test_blocks_and_index_are_cut_where_lakefs_cuts_them(target, lengths):
    check_cuts(target, [(b"%03d" % number, b"v" * n) for number, n in enumerate(lengths)])


def test_blocks_and_index_are_cut_there_at_every_size():
    for target in range(60, 1500, 4):
        keys = [b"%03d" % number + b"k" * (number * 7 % 50) for number in range(120)]
        check_cuts(target, [(key, b"v" * (target // 2)) for key in keys])
