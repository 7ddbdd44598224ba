"""A client's pauses are not the store's: they use up no patience."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from graveler.ports import SignedS3Request
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.store import Transfers
from graveler_gateway.transfer.store_exchange import store_pool

_SILENCE_S = 0.3
_CONTENT = bytes(3 * 1024 * 1024)


class Store:
    """Stores and returns objects, and counts the requests."""

    def __init__(self) -> None:
        self.requests = 0
        self.refuses = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        got = connection.recv(65_536)
        self.requests += 1
        if self.refuses:
            document = b"<Error><Code>RequestTimeout</Code></Error>"
            head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % len(document)
            connection.sendall(head + document)
            connection.recv(1)
            time.sleep(3 * _SILENCE_S)
        elif got.startswith(b"GET"):
            head = b"HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\n\r\n" % len(_CONTENT)
            connection.sendall(head + _CONTENT)
        else:
            while not got.endswith(b"end"):
                got = got[-3:] + connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nETag: x\r\nContent-Length: 0\r\n\r\n")

    def request(self, method: str, size_bytes: int = 0) -> SignedS3Request:
        headers = {"host": "store"}
        if size_bytes:
            headers["content-length"] = str(size_bytes)
        return SignedS3Request(method, "http", "127.0.0.1", self.port, "/b/k", headers)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store()
    yield made
    made.close()


@pytest.fixture
def transfers() -> Iterator[Transfers]:
    pool = store_pool(_SILENCE_S)
    yield Transfers(pool)
    pool.close()


def _paused(*pieces: bytes) -> Iterator[bytes]:
    for piece in pieces:
        time.sleep(1.5 * _SILENCE_S)
        yield piece


def test_a_client_may_pause_while_it_sends(store: Store, transfers: Transfers) -> None:
    written = transfers.write(lambda: store.request("PUT", 9), _paused(b"abc", b"def", b"end"))
    assert written.checksum == "x"


def test_a_client_may_pause_while_it_receives(store: Store, transfers: Transfers) -> None:
    got = bytearray()
    size = len(_CONTENT)
    with transfers.read(lambda _first, _last: store.request("GET"), 0, size - 1) as reading:
        for piece in reading.pieces():
            got += piece
            if len(got) < size // 2:
                time.sleep(1.5 * _SILENCE_S)
    assert got == _CONTENT
    assert store.requests == 1


def test_what_a_store_says_before_it_took_all_is_heard(store: Store, transfers: Transfers) -> None:
    """It says so early and takes nothing more, until the silence of the transfer is over."""
    store.refuses = True
    with pytest.raises(S3ResponseError) as raised:
        transfers.write(lambda: store.request("PUT", 2**30), iter([bytes(2**24)] * 64))
    assert raised.value.code is Code.REQUEST_TIMEOUT
