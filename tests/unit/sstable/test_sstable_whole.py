"""A whole file gives its blocks as they are stored, finds equal ones, and refuses damaged ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.errors import CorruptDataError
from graveler.sstable import TableInMemory, TableWriter
from graveler.sstable.format import verify_block


def table_of(contents: list[bytes]) -> TableInMemory:
    """A table of a block for each content, under keys in order."""
    writer = TableWriter("ranges")
    for number, content in enumerate(contents):
        writer.add_block([b"k%04d" % number], [content])
    return TableInMemory.from_bytes("file", writer.finish())


def naive(left: list[bytes], at: int, right: list[bytes], other_at: int) -> int:
    """How many blocks are equal, one by one."""
    count = 0
    for one, other in zip(left[at:], right[other_at:], strict=False):
        if one != other:
            break
        count += 1
    return count


contents = st.lists(st.sampled_from([b"a", b"b" * 50, b"c" * 5]), min_size=1, max_size=40)


@given(contents, st.data())
def test_equal_blocks_are_counted_as_one_by_one(left, data):
    right = list(left)
    for at in data.draw(st.sets(st.integers(0, len(left) - 1), max_size=3)):
        right[at] = data.draw(st.sampled_from([b"a", b"d", b"e" * 900]))
    right += data.draw(st.lists(st.just(b"more"), max_size=3))
    one, other = table_of(left), table_of(right)
    stored, others = one.stored_blocks(0, len(one)), other.stored_blocks(0, len(other))
    for at in range(len(left)):
        assert one.equal_blocks(at, other, at) == naive(stored, at, others, at)
    fresh, too = table_of(left), table_of(right)  # which have not decoded where all blocks lie
    assert fresh.equal_blocks(0, too, 0) == naive(stored, 0, others, 0)


def test_equal_blocks_are_counted_up_to_a_difference_anywhere():
    for blocks in range(1, 40):
        one = table_of([b"a"] * blocks)
        for differs in range(blocks):
            other = table_of([b"a"] * differs + [b"d"] + [b"a"] * (blocks - differs - 1))
            assert one.equal_blocks(0, other, 0) == differs


def test_equal_blocks_are_found_at_other_offsets():
    one, other = table_of([b"x" * 9, *[b"%d" % n * 30 for n in range(300)]]), None
    writer = TableWriter("ranges")
    for number in range(1, 301):
        writer.add_block([b"k%04d" % number], [b"%d" % (number - 1) * 30])
    other = TableInMemory.from_bytes("file", writer.finish())
    assert one.equal_blocks(1, other, 0) == 300
    assert one.equal_blocks(0, other, 0) == 0


@pytest.mark.parametrize("blocks", [1, 60, 700], ids=["one", "one partition", "partitions"])
def test_blocks_are_as_they_are_stored(blocks):
    table = table_of([b"%d" % number * 9 for number in range(blocks)])
    assert len(table) == blocks
    assert b"".join(table.stored_blocks(0, blocks)) == table.content[: table.extent(blocks - 1)[1]]
    for at, block in enumerate(table.stored_blocks(0, blocks)):
        verify_block(block)
        assert table.block(at).keys == [b"k%04d" % at]
        assert table.find(b"k%04d" % at) == at
    assert table.find(b"z") == blocks


def test_a_damaged_block_is_refused_by_its_offset():
    table = table_of([b"%d" % number * 9 for number in range(50)])
    content = bytearray(table.content)
    begin, end = table.extent(20)
    content[begin + 5] ^= 0x10
    damaged = TableInMemory.from_bytes("file", bytes(content))
    for asked in (lambda: damaged.stored_blocks(10, 30), lambda: damaged.block(20)):
        with pytest.raises(CorruptDataError, match=f"file: offset {begin}: "):
            asked()
    assert len(damaged.stored_blocks(21, 50)) == 29
    assert damaged.extent(20) == (begin, end)


def test_a_whole_table_takes_the_memory_that_it_states():
    table = table_of([b"v" * 20 for _ in range(2000)])
    table.stored_blocks(0, 1)
    handles = [33 + 6 + 8] * len(table)
    bounds = [33 + len(bound) + 8 for bound in table.bounds]
    extents = [56 + 2 * 32 + 8] * len(table)
    said = table.memory_bytes - len(table.content)
    assert 0.8 * said < sum(handles) + sum(bounds) + sum(extents) < 1.2 * said
