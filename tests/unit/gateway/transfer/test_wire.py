"""Exchanges with an S3 behind a real socket, which answers early, short or long."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from graveler.aws.exchanges.pool import Pool
from graveler.ports import SignedS3Request
from graveler_gateway.protocol.errors import S3ResponseError
from graveler_gateway.transfer.store import DataMissingError, Transfers
from graveler_gateway.transfer.store_exchange import store_pool

_STORED = b'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 0\r\n\r\n'
_BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n"


class Wire:
    """Answers one request of each connection, as soon as it begins."""

    def __init__(self, answers: list[bytes], *, ends: bool) -> None:
        self._answers = answers
        self._ends = ends
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen()
        self.port: int = self._listening.getsockname()[1]
        self._may_go_on = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for answer in self._answers:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                return  # the test is over
            with accepted:
                accepted.recv(4096)
                accepted.sendall(answer)
                if not self._ends:
                    self._may_go_on.wait(30)

    def close(self) -> None:
        self._may_go_on.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def request(self, method: str, **headers: str) -> SignedS3Request:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return SignedS3Request(method, "http", "127.0.0.1", self.port, "/key", named)


@contextmanager
def wire(answers: list[bytes], *, ends: bool = True) -> Iterator[tuple[Wire, Pool, Transfers]]:
    made = Wire(answers, ends=ends)
    connections = store_pool(0.5)
    try:
        yield made, connections, Transfers(connections, sleep=lambda _: None)
    finally:
        connections.close()
        made.close()


def read(made: Wire, transfers: Transfers, size_bytes: int) -> list[bytes]:
    got: list[bytes] = []

    def request(first: int, last: int) -> SignedS3Request:
        return made.request("GET", range=f"bytes={first}-{last}")

    with transfers.read(request, 0, size_bytes - 1) as reading:
        got.extend(reading.pieces())
    return got


def partial(headers: str, body: bytes) -> bytes:
    return f"HTTP/1.1 206 Partial Content\r\n{headers}\r\n\r\n".encode() + body


@pytest.mark.parametrize("content", [[b"abc", b"dTOO LONG"], [b"abcd", b"e"], [b"abc"], []])
def test_content_of_another_length_than_announced_is_refused_and_its_connection_closed(
    content,
) -> None:
    with wire([_STORED], ends=False) as (made, connections, transfers):
        with pytest.raises(S3ResponseError) as refused:
            transfers.write(lambda: made.request("PUT", content_length="4"), iter(content))
        assert refused.value.code.text == "IncompleteBody"
        assert not any(connections._idle.values())


def test_a_connection_is_not_used_again_if_s3_answered_before_it_took_the_content() -> None:
    with wire([_BUSY], ends=False) as (made, connections, transfers):
        size_bytes = 64 * 1024 * 1024
        with pytest.raises(S3ResponseError):
            transfers.write(
                lambda: made.request("PUT", content_length=str(size_bytes)),
                iter([bytes(1024 * 1024)] * 64),
            )
        assert not any(connections._idle.values())


def test_an_answer_of_unknown_length_that_is_too_short_fails_and_does_not_hang() -> None:
    short = partial("Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n")
    broken = [b"HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"] * 5
    with wire([short, *broken]) as (made, _, transfers), pytest.raises(S3ResponseError):
        read(made, transfers, 10)


def test_an_answer_of_unknown_length_that_is_too_long_is_cut_off() -> None:
    long = partial("Transfer-Encoding: chunked", b"5\r\nabcde\r\n0\r\n\r\n")
    with wire([long]) as (made, _, transfers), pytest.raises(DataMissingError):
        read(made, transfers, 3)


def test_a_read_that_broke_off_does_not_go_on_in_other_data() -> None:
    answers = [
        partial('ETag: "a"\r\nContent-Length: 6', b"aaa"),
        partial('ETag: "b"\r\nContent-Length: 3', b"bbb"),
    ]
    with wire(answers) as (made, _, transfers), pytest.raises(DataMissingError):
        read(made, transfers, 6)


def test_a_read_that_broke_off_goes_on_in_the_same_data() -> None:
    answers = [
        partial('ETag: "a"\r\nContent-Length: 6', b"abc"),
        partial('ETag: "a"\r\nContent-Length: 3', b"def"),
    ]
    with wire(answers) as (made, _, transfers):
        assert b"".join(read(made, transfers, 6)) == b"abcdef"


@pytest.mark.parametrize("status", [b"200 OK", b"403 Forbidden"])
@pytest.mark.parametrize("content", [b"abcd", [b"abcd"]])
def test_an_answer_to_a_write_that_hangs_is_a_passing_failure(status, content) -> None:
    hanging = b"HTTP/1.1 " + status + b"\r\nContent-Length: 9\r\n\r\n<Err"
    with (
        wire([hanging], ends=False) as (made, _, transfers),
        pytest.raises(S3ResponseError) as refused,
    ):
        transfers.write(lambda: made.request("PUT", content_length="4"), content)
    assert refused.value.code.status == 503


def test_a_refused_read_whose_answer_hangs_is_a_passing_failure() -> None:
    hanging = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\n<Err"
    with (
        wire([hanging], ends=False) as (made, _, transfers),
        pytest.raises(S3ResponseError) as refused,
    ):
        read(made, transfers, 3)
    assert refused.value.code.status == 503
