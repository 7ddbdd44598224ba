import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.ranges import ByteRange, copy_range, read_range
from tests.support.checks.cases import for_each

NINES = "9" * 20


def refusal(call, *arguments) -> S3ResponseError:
    with pytest.raises(S3ResponseError) as caught:
        call(*arguments)
    return caught.value


@for_each(
    ("header", "expected"),
    [
        ("bytes=0-0", (0, 0)),
        ("bytes=2-5", (2, 5)),
        ("bytes=2-", (2, 9)),
        ("bytes=9-", (9, 9)),
        ("bytes=-3", (7, 9)),
        ("bytes=0-9", (0, 9)),
        ("bytes=5-100", (5, 9)),
        ("bytes=-100", (0, 9)),
        (f"bytes=0-{NINES}", (0, 9)),
        (f"bytes=-{NINES}", (0, 9)),
        ("bytes=0002-0003", (2, 3)),
        ("Bytes=2-5", (2, 5)),
        (" bytes=2-5 ", (2, 5)),
    ],
)
def test_a_read_gets_the_bytes_that_exist(header, expected):
    assert read_range(header, 10) == ByteRange(*expected)


@for_each(
    "header",
    [
        None,
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=5",
        "bytes=5-2",
        "bytes=0-1,3-4",
        "bytes=--1",
        "bytes=1-2-3",
        "bytes=+1-2",
        "bytes= 1-2",
        "bytes=1.0-2",
        "bytes=٣-٤",
        "bytes=1-2\n3",
        "chunks=0-1",
        f"bytes=0-{'9' * 10_000}",
    ],
    ids=lambda header: str(header)[:20],
)
def test_a_read_with_several_ranges_or_none_gets_the_whole_object(header):
    assert read_range(header, 10) is None
    assert read_range(header, 0) is None


@for_each(
    ("header", "size_bytes"),
    [
        ("bytes=10-", 10),
        ("bytes=10-20", 10),
        (f"bytes={NINES}-", 10),
        ("bytes=-0", 10),
        ("bytes=0-", 0),
        ("bytes=0-0", 0),
        ("bytes=-5", 0),
        ("bytes=-0", 0),
    ],
)
def test_a_range_without_any_byte_is_refused_with_the_size(header, size_bytes):
    error = refusal(read_range, header, size_bytes)
    assert error.code is Code.INVALID_RANGE
    assert error.details == {"RangeRequested": header, "ActualObjectSize": str(size_bytes)}
    assert error.headers == {"Content-Range": f"bytes */{size_bytes}"}


def test_a_range_names_its_place_in_the_object():
    found = ByteRange(2, 5)
    assert (found.size_bytes, found.content_range(10)) == (4, "bytes 2-5/10")


@given(st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | st.integers(0, 50))
def test_a_read_gets_the_slice_of_the_content(size_bytes, first, last):
    content = bytes(range(size_bytes))
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    if first is None:
        expected = content if last is None else content[-last:] if last else b""
    elif last is not None and last < first:
        expected = content
    else:
        expected = content[first : None if last is None else last + 1]
    try:
        found = read_range(header, size_bytes)
    except S3ResponseError:
        assert expected == b""
        return
    assert (content if found is None else content[found.first : found.last + 1]) == expected


@for_each(("header", "expected"), [("bytes=0-9", (0, 9)), ("bytes=3-3", (3, 3))])
def test_a_copy_gets_exactly_its_range(header, expected):
    assert copy_range(header, 10) == ByteRange(*expected)


@for_each(
    "header",
    [
        "",
        "0-2",
        "bytes=0",
        "bytes=hello-world",
        "bytes=0-bar",
        "bytes=hello-",
        "bytes=0-2,3-5",
        "bytes=0-",
        "bytes=-5",
        "bytes=5-2",
        f"bytes=0-{'9' * 10_000}",
    ],
    ids=lambda header: header[:20],
)
def test_a_copy_of_another_range_is_refused(header):
    error = refusal(copy_range, header, 10)
    assert error.code is Code.INVALID_ARGUMENT
    assert error.details["ArgumentValue"] == header


@for_each("header", ["bytes=0-10", "bytes=10-10", f"bytes=0-{NINES}"])
def test_a_copy_of_bytes_past_the_end_is_refused(header):
    error = refusal(copy_range, header, 10)
    assert error.code is Code.INVALID_RANGE
    assert error.details["RangeRequested"] == header
