"""Damaged files: the right answer or CorruptDataError, never another answer or another error."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graveler.errors import CorruptDataError
from graveler.sstable import Table, TableWriter
from graveler.sstable.format import BLOCK_TRAILER_BYTES, seal_block


def write(count, **options):
    records = [(b"path/%03d" % i, b"value %d " % i * (i % 5)) for i in range(count)]
    writer = TableWriter("ranges", {"note": "x"}, **options)
    for key, value in records:
        writer.add(key, value)
    return records, writer.finish()


# One block; several under one index; an index of two levels, compressed and not; no records.
FILES = {
    "empty": write(0),
    "one": write(1),
    "raw": write(12, compress=False),
    "two-level": write(30, block_size_bytes=90, compress=False),
    "compressed": write(60, block_size_bytes=200),
}
each_file = pytest.mark.parametrize("file", FILES)


def answers(content, records):
    """Everything that can be asked; raises AssertionError for a wrong answer."""
    held = dict(records)
    table = Table.from_bytes("the file", content)
    assert table.memory_bytes > 0
    for key in (b"", b"path/000", b"path/0005", b"path/011", b"path/029", b"z"):
        assert table.get(key) == held.get(key)
        assert next(table.scan(key), None) == next((r for r in records if r[0] >= key), None)
    assert list(table.scan()) == records
    return table.properties


def right_or_corrupt(content, records):
    """Whether all answers were right; False if the damage was reported."""
    try:
        answers(content, records)
    except CorruptDataError as e:
        if not e.message.startswith("the file: offset "):
            raise
        return False
    return True


@each_file
def test_a_file_that_was_not_damaged_answers(file):
    records, content = FILES[file]
    assert answers(content, records)["note"] == b"x"


@each_file
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_changed_byte_is_reported_or_harmless(file, mask):
    records, content = FILES[file]
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= mask
        unnoticed = right_or_corrupt(bytes(damaged), records)
        # Only the padding of the footer stands for nothing.
        assert not unnoticed or position >= len(content) - 53


@each_file
def test_a_truncated_file_is_reported(file):
    records, content = FILES[file]
    for length in range(len(content)):
        assert not right_or_corrupt(content[:length], records)


@each_file
def test_a_file_that_lost_its_beginning_or_gained_bytes_is_reported(file):
    records, content = FILES[file]
    for count in range(1, min(200, len(content) - 60)):
        assert not right_or_corrupt(content[count:], records)
        assert not right_or_corrupt(content + b"\x00" * count, records)
        assert not right_or_corrupt(b"\x00" * count + content, records)


@each_file
def test_zeroed_and_swapped_stretches_are_reported_or_harmless(file):
    records, content = FILES[file]
    for start in range(0, len(content), 7):
        zeroed = content[:start] + bytes(len(content[start : start + 64])) + content[start + 64 :]
        right_or_corrupt(zeroed, records)
        swapped = content[start:] + content[:start]
        right_or_corrupt(swapped, records)


def block_starts(content):
    """Where raw blocks begin and end, found from their checksums."""
    found = []
    start = 0
    while start < len(content) - 53:
        for end in range(start + 8, len(content) - 53 - BLOCK_TRAILER_BYTES + 1):
            sealed = content[start : end + BLOCK_TRAILER_BYTES]
            if content[end] == 0 and seal_block(content[start:end], compress=False) == sealed:
                found.append((start, end))
                start = end + BLOCK_TRAILER_BYTES
                break
        else:
            raise AssertionError("a block without its checksum")
    return found


RESEALED = {file: (FILES[file][1], block_starts(FILES[file][1])) for file in ("raw", "two-level")}


@given(st.sampled_from(sorted(RESEALED)), st.data())
@settings(max_examples=settings().max_examples * 6)
def test_bad_bytes_under_a_good_checksum_raise_nothing_but_corruption(file, data):
    content, blocks = RESEALED[file]
    start, end = data.draw(st.sampled_from(blocks))
    raw = bytearray(content[start:end])
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    resealed = seal_block(bytes(raw), compress=False)
    damaged = content[:start] + resealed + content[end + BLOCK_TRAILER_BYTES :]
    try:
        table = Table.from_bytes("the file", damaged)
        assert [key for key, _ in table.scan()] == sorted({key for key, _ in table.scan()})
        for key in (b"", b"path/005", b"z"):
            table.get(key)
            next(table.scan(key), None)
    except CorruptDataError as e:
        if not e.message.startswith("the file: offset "):
            raise


@given(st.binary(max_size=300))
def test_any_bytes_before_a_footer_are_corrupt(content):
    footer = FILES["one"][1][-53:]
    with pytest.raises(CorruptDataError):
        Table.from_bytes("the file", content + footer)
