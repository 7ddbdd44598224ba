import pytest

from graveler.errors import InvalidInputError, RangeNotSatisfiableError
from graveler.http.byte_range import parse
from tests.support.checks.cases import for_each


@for_each(
    ("header", "expected"),
    [
        ("bytes=0-0", (0, 0)),
        ("bytes=2-5", (2, 5)),
        ("bytes=2-", (2, 9)),
        ("bytes=2-100", (2, 9)),
        ("bytes=-3", (7, 9)),
        ("bytes=-100", (0, 9)),
        ("Bytes= 9-9 ", (9, 9)),
    ],
)
def test_one_range_of_an_object_of_ten_bytes(header, expected):
    assert parse(header, 10) == expected


@for_each("header", ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=999-"])
def test_a_range_past_the_end_reports_the_size(header):
    with pytest.raises(RangeNotSatisfiableError) as caught:
        parse(header, 10)
    assert caught.value.size_bytes == 10


@for_each("header", ["bytes=0-", "bytes=-5", "bytes=0-0"])
def test_no_range_of_an_empty_object_can_be_answered(header):
    with pytest.raises(RangeNotSatisfiableError) as caught:
        parse(header, 0)
    assert caught.value.size_bytes == 0


@for_each(
    "header",
    ["bytes=-", "bytes=5-2", "bytes=0-1,3-4", "bytes=0-1, 3-4", "bytes=--1", "bytes=1-2-3",
     "bytes=" + "9" * 30 + "-"],
)  # fmt: skip
def test_a_range_that_is_not_a_single_valid_one_reports_no_size(header):
    with pytest.raises(RangeNotSatisfiableError) as caught:
        parse(header, 10)
    assert caught.value.size_bytes is None


@for_each(
    "header", ["bytes=", "bytes=5", "bytes=a-b", "0-5", "items=0-5", "bytes=٣-", "bytes=0-1\n", ""]
)
def test_a_header_without_byte_ranges_is_bad_input(header):
    with pytest.raises(InvalidInputError, match="bytes=first-last"):
        parse(header, 10)
