"""Bodies in chunks: any content, however it is cut; malformed ones are refused."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.server.http.chunks import BrokenBodyError, Chunks
from tests.support.checks.cases import for_each

PIPELINED = b"GET / HTTP/1.1\r\n"


def arriving(pieces):
    """A Chunks over a connection on which the pieces arrive; it ends after them."""
    left = [piece for piece in pieces if piece]
    return Chunks(b"", lambda: left.pop(0) if left else b""), left


def read(*pieces):
    return read_all(arriving(pieces)[0])


def read_all(chunks):
    content = b""
    while piece := chunks.read():
        content += piece
    return content


def cut(data, places):
    places = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


def encoded(parts, extension=b"", trailers=b"", size_format=b"%x"):
    chunks = (size_format % len(part) + extension + b"\r\n" + part + b"\r\n" for part in parts)
    return b"".join(chunks) + b"0" + extension + b"\r\n" + trailers + b"\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    st.lists(st.integers(0, 400), max_size=20),
    st.sampled_from([b"", b";", b";a=b", b' ; name="value"', b"\t"]),
    st.sampled_from([b"", b"A: b\r\n", b"A: b\r\nC: d\r\n"]),
    st.sampled_from([b"%x", b"%X", b"%04x"]),
)
def test_any_content_arrives_however_it_is_cut(parts, places, extension, trailers, size_format):
    data = encoded(parts, extension, trailers, size_format) + PIPELINED
    chunks, left = arriving(cut(data, places))
    assert read_all(chunks) == b"".join(parts)
    assert chunks.is_over
    assert chunks.take_rest() + b"".join(left) == PIPELINED
    assert (chunks.read(), chunks.take_rest()) == (b"", b"")


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=5), st.integers(1))
def test_a_body_that_breaks_off_anywhere_is_refused(parts, bytes_missing):
    data = encoded(parts)
    data = data[: -(bytes_missing % len(data)) or len(data) - 1]
    with pytest.raises(BrokenBodyError):
        read(data)


@for_each(
    "data",
    [
        b"\r\n",
        b"x\r\n",
        b"-1\r\n",
        b"+1\r\na\r\n0\r\n\r\n",
        b" 1\r\na\r\n0\r\n\r\n",
        b"0x1\r\na\r\n0\r\n\r\n",
        b"1_0\r\n" + b"a" * 16 + b"\r\n0\r\n\r\n",
        b"\xb2\r\n",
        b"1 1\r\na\r\n0\r\n\r\n",
        b";a\r\n0\r\n\r\n",
        b"00000000000000001\r\na\r\n0\r\n\r\n",
        b"1\na\n0\n\n",
        b"1\r\nab\r\n0\r\n\r\n",
        b"1\r\na0\r\n\r\n",
        b"1;a\nb\r\na\r\n0\r\n\r\n",
        b"1;a\rb\r\na\r\n0\r\n\r\n",
        b"1\r\na\r\n0\r\nA: b\nC: d\r\n\r\n",
    ],
)
def test_malformed_chunks_are_refused(data):
    with pytest.raises(BrokenBodyError):
        read(data)


@pytest.mark.parametrize(
    "begun", [b"", b"1;", b"1\r\na", b"0\r\nA: "], ids=["size", "extension", "end", "trailer"]
)
def test_an_endless_line_is_refused_early(begun):
    received = []

    def receive():
        received.append(1)
        return begun if len(received) == 1 else b"1" * 1000

    with pytest.raises(BrokenBodyError):
        read_all(Chunks(b"", receive))
    assert len(received) < 10


def test_endless_trailers_are_refused_early():
    received = []

    def receive():
        received.append(1)
        return b"0\r\n" if len(received) == 1 else b"A: b\r\n" * 200

    with pytest.raises(BrokenBodyError):
        Chunks(b"", receive).read()
    assert len(received) < 30


def test_what_has_arrived_is_returned_before_more_is_waited_for():
    begun = b"1\r\na\r\n1\r\nb\r\n2\r\nc"

    def receive():
        raise AssertionError("it waits")

    assert Chunks(begun, receive).read() == b"abc"
    assert Chunks(begun[:5], receive).read() == b"a"


def test_very_small_chunks_are_joined_to_pieces():
    data = encoded([b"a"] * 10_000)
    chunks, _ = arriving([data])
    assert (chunks.read(), chunks.read()) == (b"a" * 10_000, b"")
