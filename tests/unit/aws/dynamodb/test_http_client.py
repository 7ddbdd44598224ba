"""The HTTP client, against a server whose answers a test scripts."""

import select
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graveler.aws.dynamodb import http_client
from graveler.aws.dynamodb.http_client import DynamoDBHttpClient
from graveler.aws.exchanges import pool
from graveler.aws.exchanges.buffered import BufferedResponse, RequestNotSentError, ResponseLostError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Accepts connections; to each request it sends the next of its answers, then maybe hangs up."""

    def __init__(self) -> None:
        self.answers: list[tuple[bytes, bool]] = []  # bytes, and whether to hang up then
        self.requests: list[bytes] = []
        self.connections = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            while True:
                try:
                    head = b""
                    while not head.endswith(b"\r\n\r\n"):
                        line = reader.readline()
                        if not line:
                            return
                        head += line
                except OSError:
                    return
                length = next(
                    int(line[15:])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                body = reader.read(length)
                with self._lock:
                    self.requests.append(head + body)
                    answer, hang_up = self.answers.pop(0) if self.answers else (OK, False)
                connection.sendall(answer)
                if hang_up:
                    return

    def close(self) -> None:
        # shutdown wakes the thread that accepts; close alone does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for connection in self._sockets:
            connection.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Iterator[DynamoDBHttpClient]:
    client = DynamoDBHttpClient(server.endpoint)
    yield client
    client.close()


def exchange(client: DynamoDBHttpClient, body: bytes = b"body") -> BufferedResponse:
    return client.begin({"host": client.host, "x-name": "value"}, body).finish()


def test_a_request_arrives_whole_and_so_does_its_answer(
    server: Server, client: DynamoDBHttpClient
) -> None:
    server.answers.append(
        (b"HTTP/1.1 404 Not Found\r\nX-A: b c\r\nContent-Length: 3\r\n\r\nabc", False)
    )
    assert exchange(client) == BufferedResponse(404, {"x-a": "b c", "content-length": "3"}, b"abc")
    (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    first, *headers = head.decode().split("\r\n")
    assert (first, body) == ("POST / HTTP/1.1", b"body")
    host = server.endpoint.removeprefix("http://")
    assert {f"host: {host}", "x-name: value", "content-length: 4"} <= set(headers)
    assert len([line for line in headers if line.lower().startswith("host:")]) == 1


def test_one_connection_carries_many_requests(server: Server, client: DynamoDBHttpClient) -> None:
    for _ in range(5):
        assert exchange(client).body == b"ok"
    assert server.connections == 1


def test_two_requests_begun_together_get_their_own_answers(
    server: Server, client: DynamoDBHttpClient
) -> None:
    server.answers += [(OK.replace(b"ok", b"%d!" % n), False) for n in (1, 2)]
    first = client.begin({}, b"1")
    second = client.begin({}, b"2")
    answers = {second.finish().body, first.finish().body}
    assert answers == {b"1!", b"2!"}
    assert server.connections == 2


def test_threads_never_get_each_others_answers(server: Server, client: DynamoDBHttpClient) -> None:
    def ask(number: int) -> bool:
        answer = exchange(client, body=b"%d" % number)
        return answer.body == b"ok"

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(200)))
    assert server.connections <= 8


def test_chunked_answers_are_put_together(server: Server, client: DynamoDBHttpClient) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.answers.append((chunked + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n", False))
    assert exchange(client).body == b"abcde"
    assert exchange(client).body == b"ok"
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_answers_without_a_body_end_with_their_headers(
    server: Server, client: DynamoDBHttpClient, answer: bytes
) -> None:
    server.answers.append((answer, False))
    assert exchange(client).body == b""
    assert exchange(client).body == b"ok"
    assert server.connections == 1


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\n\r\nwithout a length",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"220 mail.example ESMTP\r\n",
        b"nonsense\r\n",
    ],
)
def test_half_an_answer_is_none(server: Server, client: DynamoDBHttpClient, broken: bytes) -> None:
    server.answers.append((broken, True))
    with pytest.raises(ResponseLostError):
        exchange(client)
    assert exchange(client).body == b"ok"
    assert server.connections == 2


def test_a_silent_server_is_given_up(
    server: Server, client: DynamoDBHttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "DYNAMODB_ATTEMPT_S", 0.05)
    server.answers.append((b"HTTP/1.1 200 OK\r\n", False))
    with pytest.raises(ResponseLostError):
        exchange(client)


def test_a_connection_that_was_closed_while_idle_is_not_used(
    server: Server, client: DynamoDBHttpClient
) -> None:
    server.answers.append((OK, True))
    assert exchange(client).body == b"ok"
    # The closing arrives a moment after the answer.
    (((idle, _),),) = client._pool._idle.values()
    connected: Any = idle._socket
    assert select.select([connected._socket], [], [], 5.0)[0]
    assert exchange(client).body == b"ok"
    assert (server.connections, len(server.requests)) == (2, 2)


def test_a_connection_that_idled_too_long_is_not_used(
    server: Server, client: DynamoDBHttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange(client)
    monkeypatch.setattr(pool, "IDLE_S_MAX", 0.0)
    exchange(client)
    assert server.connections == 2


def test_a_connection_that_the_server_closes_is_not_reused(
    server: Server, client: DynamoDBHttpClient
) -> None:
    server.answers.append((OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), False))
    exchange(client)
    exchange(client)
    assert server.connections == 2


def test_an_abandoned_answer_spoils_nothing(server: Server, client: DynamoDBHttpClient) -> None:
    client.begin({}, b"").abandon()
    assert exchange(client).body == b"ok"
    assert server.connections == 2


def test_without_a_listener_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(RequestNotSentError):
        exchange(DynamoDBHttpClient(f"http://127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [
        ("https://s3.eu-west-1.amazonaws.com", "s3.eu-west-1.amazonaws.com"),
        ("https://host.example:443", "host.example"),
        ("https://host.example:8443", "host.example:8443"),
        ("http://127.0.0.1:80", "127.0.0.1"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
    ],
)
def test_the_host_is_named_as_it_is_signed(endpoint: str, host: str) -> None:
    assert DynamoDBHttpClient(endpoint).host == host
