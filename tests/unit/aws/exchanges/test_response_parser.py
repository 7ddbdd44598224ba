"""Heads of answers: any bytes in any pieces give one answer, or an error."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.aws.exchanges.response_parser import MalformedAnswerError, ResponseParser

ANSWER = (
    b'HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: "e"\r\nX-A: b\r\nx-a:  c \r\n\r\n'
)
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"


def fed(*pieces: bytes) -> ResponseParser:
    head = ResponseParser()
    for piece in pieces:
        head.feed(piece)
    return head


def test_names_are_in_lower_case_and_repeated_headers_are_joined() -> None:
    head = fed(ANSWER)
    assert head.status == 206
    assert head.headers == {"content-length": "5", "etag": '"e"', "x-a": "b, c"}
    assert (head.is_complete, head.is_over, head.pieces) == (True, False, [])


@given(st.lists(st.integers(1, len(INTERIM + ANSWER) + 4), max_size=8))
def test_an_answer_is_the_same_in_whatever_pieces_it_arrives(cuts: list[int]) -> None:
    data = INTERIM + ANSWER + b"hello"
    places = [0, *sorted(cuts), len(data)]
    head = fed(*(data[start:end] for start, end in pairwise(places)))
    assert (head.status, head.headers["etag"], b"".join(head.pieces)) == (206, '"e"', b"hello")
    assert head.is_over
    assert head.is_reusable


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_answer_of_http_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedAnswerError):
        fed(data)


def test_headers_without_end_are_refused() -> None:
    lines = [b"X: " + b"y" * 997 + b"\r\n"] * 100
    with pytest.raises(MalformedAnswerError, match="too long"):
        fed(b"HTTP/1.1 200 OK\r\n", *lines)


@pytest.mark.parametrize(
    "excess", [b"junk", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz", b"\0"]
)
def test_what_follows_a_whole_answer_is_not_part_of_it(excess: bytes) -> None:
    head = fed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n\r\nok" + excess)
    assert (head.status, head.pieces, head.headers["a"]) == (200, [b"ok"], "b")
    assert head.is_over
    assert not head.is_reusable


@pytest.mark.parametrize(
    ("data", "is_reusable"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
    ],
)
def test_an_answer_without_a_body_ends_with_its_headers(data: bytes, is_reusable: bool) -> None:
    head = fed(data)
    assert head.is_over
    assert head.is_reusable is is_reusable


@pytest.mark.parametrize(
    ("headers", "is_reusable"),
    [
        (b"Content-Length: 7\r\n\r\n", True),
        (b"Content-Length: 7\r\nConnection: keep-alive, Close\r\n\r\n", False),
        (b"Content-Length: 7\r\n\r\ncon", False),
        (b"\r\ncontent", False),
    ],
)
def test_a_body_behind_an_answer_to_head_is_not_the_beginning_of_another_answer(
    headers: bytes, is_reusable: bool
) -> None:
    head = ResponseParser(is_of_head=True)
    head.feed(b"HTTP/1.1 200 OK\r\n" + headers)
    assert (head.is_over, head.pieces) == (True, [])
    assert head.is_reusable is is_reusable


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_an_error(data: bytes) -> None:
    head = ResponseParser()
    try:
        head.feed(data)
    except MalformedAnswerError:
        return
    assert head.is_complete or not head.is_over
