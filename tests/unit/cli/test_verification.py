"""Checksums that are computed while the parts of a file arrive."""

import os
from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers import verification
from graveler_cli.transfers.verification import checksum_of, uploaded_part_sizes
from tests.support.fakes.scripted_lake import checksum_in_parts

SIZES = (80, 50, 120)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(verification, "_USUAL_PART_SIZES", SIZES)


def arrived(path, content, checksum, part_bytes, order):
    """Return the checksum computed from a file whose parts are written in an order."""
    stats = ObjectStats(path="a", path_type="object", checksum=checksum, size_bytes=len(content))
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        os.ftruncate(descriptor, len(content))
        computed = checksum_of(descriptor, stats, part_bytes)
        assert computed is not None
        for number in order:
            first = (number - 1) * part_bytes
            os.pwrite(descriptor, content[first : first + part_bytes], first)
            computed.add(number)
        return computed.hexdigest()
    finally:
        os.close(descriptor)


@given(data=st.data())
def test_the_checksum_does_not_depend_on_the_order_or_size_of_what_arrives(data, tmp_path_factory):
    content = data.draw(st.binary(min_size=1, max_size=700))
    part_bytes = data.draw(st.integers(20, 300))
    uploaded = data.draw(st.sampled_from((0, *SIZES)))
    whole = md5(content, usedforsecurity=False).hexdigest()
    checksum = checksum_in_parts(content, uploaded) if uploaded else whole
    count = -(-len(content) // part_bytes)
    order = data.draw(st.permutations(range(1, count + 1)))
    path = tmp_path_factory.getbasetemp() / "arriving"
    assert arrived(path, content, checksum, part_bytes, order) == checksum


def test_one_damaged_byte_changes_the_checksum_of_parts(tmp_path):
    content = bytes(range(200))
    checksum = checksum_in_parts(content, 80)
    damaged = content[:150] + b"\xff" + content[151:]
    assert arrived(tmp_path / "a", damaged, checksum, 64, [2, 1, 4, 3]) != checksum


def test_sizes_that_make_another_number_of_parts_are_not_tried():
    stats = ObjectStats(path="a", path_type="object", checksum=f"{'0' * 32}-3", size_bytes=200)
    assert uploaded_part_sizes(stats) == [80]


@pytest.mark.parametrize("checksum", ["", "0x8D9", f"{'0' * 32}-77"])
def test_a_checksum_of_unknown_origin_is_not_computed(checksum):
    assert (
        checksum_of(
            -1, ObjectStats(path="a", path_type="object", checksum=checksum, size_bytes=200), 64
        )
        is None
    )
