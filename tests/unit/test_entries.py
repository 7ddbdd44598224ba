"""Entries are stored in lakeFS's own bytes, and nothing else is taken for one."""

import json
from pathlib import Path

import pytest

from graveler.entries import (
    decode_entry,
    encode_entry,
    entry_value,
    join_value,
    range_record,
    record_range,
    same_content,
    split_value,
    value_entry,
    value_identity,
)
from graveler.errors import CorruptDataError
from graveler.identity import entry_identity
from graveler.model import AddressType, Entry, RangeHeader, RangeID
from tests.support.checks.cases import for_each

VECTORS = Path(__file__).parents[1] / "golden" / "vectors"
IDENTS = json.loads((VECTORS / "idents.json").read_text())


def entry_of(case: dict) -> Entry:
    stored = case["entry"]
    modified = stored["last_modified"] or {"seconds": 0, "nanos": 0}
    return Entry(
        address=stored["address"],
        address_type=AddressType(stored["address_type"]),
        size_bytes=stored["size"],
        checksum=stored["e_tag"],
        last_modified_ns=modified["seconds"] * 10**9 + modified["nanos"],
        content_type=stored["content_type"],
        metadata=stored["metadata"] or {},
    )


@for_each("case", IDENTS, ids=lambda case: case["name"])
def test_an_entry_has_lakefs_identity(case):
    assert entry_identity(entry_of(case)).hex() == case["identity_hex"]


@for_each("case", IDENTS, ids=lambda case: case["name"])
def test_lakefs_stored_value_reads_as_the_entry(case):
    stored = bytes.fromhex(case["value_hex"])
    assert value_entry(stored) == entry_of(case)
    assert value_identity(stored).hex() == case["identity_hex"]


# An entry without a time does not exist here: it reads as the year 1970 and is written as such.
TIMED = [case for case in IDENTS if case["entry"]["last_modified"] is not None]


@for_each("case", TIMED, ids=lambda case: case["name"])
def test_an_entry_is_stored_in_lakefs_bytes(case):
    entry = entry_of(case)
    assert encode_entry(entry).hex() == case["entry_pb_hex"]
    assert entry_value(entry).hex() == case["value_hex"]


def test_only_the_case_without_a_time_is_left_out():
    assert [case["name"] for case in IDENTS if case not in TIMED] == ["nil-time"]


def test_metadata_are_stored_in_the_order_of_their_keys():
    one = Entry("a", AddressType.FULL, 1, "c", 1, "", {"b": "1", "a": "2", "é": "3", "Z": "4"})
    other = Entry("a", AddressType.FULL, 1, "c", 1, "", {"é": "3", "Z": "4", "a": "2", "b": "1"})
    assert entry_value(one) == entry_value(other)


def test_address_and_time_do_not_make_content_differ_and_all_else_does():
    def value(**different: object) -> bytes:
        fields: dict = {
            "address": "data/x",
            "address_type": AddressType.RELATIVE,
            "size_bytes": 1,
            "checksum": "c",
            "last_modified_ns": 1,
            "content_type": "text/plain",
            "metadata": {"a": "b"},
        }
        return entry_value(Entry(**(fields | different)))

    moved = value(address="s3://b/y", address_type=AddressType.FULL, last_modified_ns=2)
    assert same_content(value(), moved)
    for different in (
        {"size_bytes": 2},
        {"checksum": "d"},
        {"content_type": "text/csv"},
        {"content_type": ""},
        {"metadata": {}},
        {"metadata": {"a": "c"}},
    ):
        assert not same_content(value(), value(**different))


@for_each("length", [0, 1, 32, 63, 64, 8191, 8192, 100_000])
def test_identity_and_data_of_any_length_come_back(length):
    identity, data = b"i" * length, b"d" * (length + 1)
    stored = join_value(identity, data)
    assert split_value(stored) == (identity, data)
    assert value_identity(stored) == identity


def test_what_follows_the_data_is_ignored_as_lakefs_does():
    assert split_value(join_value(b"id", b"data") + b"more") == (b"id", b"data")


@for_each(
    "stored",
    [
        b"",
        b"\x40",
        b"\x40" + b"i" * 31,
        b"\x40" + b"i" * 32,
        b"\x40" + b"i" * 32 + b"\x04" + b"d",
        b"\x01",  # zigzag for -1
        b"\x80" * 12,
        b"\xff" * 9 + b"\x01",
    ],
)
def test_a_truncated_value_is_corrupt(stored):
    with pytest.raises(CorruptDataError):
        split_value(stored)


@for_each("data", [b"\x0a\xff", b"\x0a\x02\xff\xfe", b"\x30\x63"])
def test_bytes_that_are_no_entry_are_corrupt(data):
    with pytest.raises(CorruptDataError):
        decode_entry(data)


def test_a_range_is_a_record_under_its_last_key():
    header = RangeHeader(RangeID("ab" * 32), b"\x00first", b"\xfflast", 8192, 20 * 1024 * 1024)
    key, stored = range_record(header)
    assert key == b"\xfflast"
    assert record_range(stored) == header


@for_each("stored", [join_value(b"\xff", b""), join_value(b"id", b"\x0a\xff")])
def test_bytes_that_describe_no_range_are_corrupt(stored):
    with pytest.raises(CorruptDataError):
        record_range(stored)
