"""Answers of S3 that stop in the middle of their document."""

import socket
import threading

import pytest

from graveler.ports import SignedS3Request
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.store import Transfers
from graveler_gateway.transfer.store_exchange import store_pool

_HOST = "127.0.0.1"


@pytest.fixture
def hanging():
    """A server that promises 100 bytes, sends a few, and hangs; yield its port and its status."""
    listener = socket.create_server((_HOST, 0))
    status = [b"200 OK"]
    connections = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            connection.recv(10_000)
            head = b"HTTP/1.1 " + status[0] + b"\r\nETag: x\r\nContent-Length: 100\r\n\r\n"
            connection.sendall(head + b"<Error><Co")

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], status
    listener.shutdown(socket.SHUT_RDWR)
    for each in (listener, *connections):
        each.close()


def _request(method: str, port: int) -> SignedS3Request:
    return SignedS3Request(method, "http", _HOST, port, "/b/k", {"host": _HOST})


@pytest.mark.parametrize("status", [b"200 OK", b"403 Forbidden", b"404 Not Found"])
def test_a_write_whose_answer_stops_can_be_repeated(hanging, status):
    port, statuses = hanging
    statuses[0] = status
    transfers = Transfers(store_pool(0.3))
    with pytest.raises(S3ResponseError) as raised:
        transfers.write(lambda: _request("PUT", port), b"")
    assert raised.value.code is Code.SERVICE_UNAVAILABLE


@pytest.mark.parametrize("status", [b"403 Forbidden", b"404 Not Found"])
def test_a_read_whose_refusal_stops_can_be_repeated(hanging, status):
    port, statuses = hanging
    statuses[0] = status
    transfers = Transfers(store_pool(0.3))
    with pytest.raises(S3ResponseError) as raised:
        transfers.read(lambda _first, _last: _request("GET", port), 0, 9)
    assert raised.value.code is Code.SERVICE_UNAVAILABLE
