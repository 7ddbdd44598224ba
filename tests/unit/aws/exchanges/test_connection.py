"""Exchanges over a connection, plain or over TLS, with a server whose bytes a test scripts."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graveler.aws import boto3_timeouts
from graveler.aws.exchanges import sockets
from graveler.aws.exchanges.connection import Host, HttpConnection, opened
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.time_budget import TimeBudget
from tests.support.servers.certificates import write_self_signed

LARGE = bytes(range(256)) * 16 * 1024  # 4 MB
HOST = {"host": "store"}


def answer_of(body: bytes, headers: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def _serve_each(server: socket.socket, accept: Callable[[socket.socket], None]) -> None:
    while True:
        try:
            accept(server.accept()[0])
        except OSError:
            return


@contextmanager
def serving(
    serve: Callable[[socket.socket], None], wrap: Callable[[socket.socket], socket.socket]
) -> Iterator[int]:
    """Yield the port of a server that treats each connection so."""

    def accept(accepted: socket.socket) -> None:
        with wrap(accepted) as connection:
            serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve_each, args=(server, accept), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a certificate of localhost that signs itself, and its key."""
    return write_self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(params=["http", "https"])
def connect(
    request: pytest.FixtureRequest, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Callable[[socket.socket], None]], HttpConnection]]:
    """Connects to a server that treats its connection as the argument says."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr("graveler.aws.exchanges.connection.tls", lambda: trusting)
    is_tls = request.param == "https"
    open_ones = []

    def wrap(accepted: socket.socket) -> socket.socket:
        return server_side.wrap_socket(accepted, server_side=True) if is_tls else accepted

    def made(serve: Callable[[socket.socket], None]) -> HttpConnection:
        manager = serving(serve, wrap)
        port = manager.__enter__()
        connection = opened(Host(request.param, "localhost", port))
        connection.budget = TimeBudget(5)
        open_ones.append((manager, connection))
        return connection

    yield made
    for manager, connection in open_ones:
        connection.close()
        manager.__exit__(None, None, None)


def _whole_request(connection: socket.socket, size_bytes: int = 0) -> bytes:
    got = b""
    while b"\r\n\r\n" not in got or len(got.partition(b"\r\n\r\n")[2]) < size_bytes:
        received = connection.recv(65_536)
        if not received:
            break
        got += received
    return got


def test_a_large_content_goes_out_and_comes_back_whole(connect) -> None:
    def echo(server: socket.socket) -> None:
        body = _whole_request(server, len(LARGE)).partition(b"\r\n\r\n")[2]
        server.sendall(answer_of(body))

    connection = connect(echo)
    connection.send("PUT", "/key", {**HOST, "content-length": str(len(LARGE))}, LARGE[:100])
    connection.send_more(LARGE[100:])
    answer = connection.answer()
    assert answer.length_bytes == len(LARGE)
    pieces = iter(lambda: answer.read(512 * 1024), b"")
    sizes, got = [], bytearray()
    for piece in pieces:
        sizes.append(len(piece))
        got += piece
    assert got == LARGE
    assert max(sizes) == 512 * 1024
    assert connection.is_reusable


def test_a_connection_carries_one_exchange_after_the_other(connect) -> None:
    def serve(server: socket.socket) -> None:
        for number in range(3):
            _whole_request(server)
            server.sendall(answer_of(b"%d" % number))

    connection = connect(serve)
    for number in range(3):
        connection.send("GET", "/", HOST)
        assert connection.answer().read_all() == b"%d" % number
        assert connection.is_reusable


def test_a_body_in_chunks_ends_with_its_last_chunk(connect) -> None:
    def serve(server: socket.socket) -> None:
        _whole_request(server)
        server.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r")
        server.sendall(b"\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n")
        _whole_request(server)

    connection = connect(serve)
    connection.send("GET", "/", HOST)
    answer = connection.answer()
    assert (answer.read_all(), answer.length_bytes, answer.has_end) == (b"abcde", None, True)
    assert "trailer" not in answer.headers
    assert connection.is_reusable


def test_a_body_without_length_ends_with_the_connection(connect) -> None:
    def serve(server: socket.socket) -> None:
        _whole_request(server)
        server.sendall(b"HTTP/1.1 200 OK\r\n\r\nabc")
        server.sendall(b"def")

    connection = connect(serve)
    connection.send("GET", "/", HOST)
    answer = connection.answer()
    assert not answer.has_end
    assert answer.read_all() == b"abcdef"
    assert not connection.is_reusable


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nConte", answer_of(b"abc")[:-1]])
def test_an_answer_that_breaks_off_is_an_error(connect, sent: bytes) -> None:
    def serve(server: socket.socket) -> None:
        _whole_request(server)
        server.sendall(sent)

    connection = connect(serve)
    connection.send("GET", "/", HOST)
    with pytest.raises(ConnectionError, match="ended"):
        connection.answer().read_all()
    assert not connection.is_reusable


def test_so_much_of_a_body_is_read_as_was_asked_for(connect) -> None:
    def serve(server: socket.socket) -> None:
        _whole_request(server)
        server.sendall(answer_of(LARGE))

    connection = connect(serve)
    connection.send("GET", "/", HOST)
    answer = connection.answer()
    assert answer.read(3) == LARGE[:3]
    assert answer.read_all(100_000) == LARGE[3:100_003]
    assert not connection.is_reusable


def test_a_server_that_is_silent_or_takes_nothing_is_given_up(connect) -> None:
    is_over = threading.Event()

    def serve(server: socket.socket) -> None:
        is_over.wait(10)

    connection = connect(serve)
    connection.budget = TimeBudget(0.05)
    connection.send("GET", "/", HOST)
    with pytest.raises(TimeoutError):
        connection.answer()
    connection.budget = TimeBudget(0.05)
    with pytest.raises(TimeoutError):
        connection.send_more(LARGE * 4)
    is_over.set()


@pytest.fixture
def take_slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[socket.socket], None]:
    """A server on whose clock a megabyte takes five seconds."""
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)

    def take(server: socket.socket) -> None:
        nonlocal now_s
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 262_144)
        got = b""
        while not got.endswith(b"end"):
            received = server.recv(262_144)
            now_s += len(received) / 200_000
            got = got[-3:] + received
        server.sendall(answer_of(b"taken"))

    return take


def test_a_server_may_take_a_content_slowly(connect, take_slowly) -> None:
    """The whole takes longer than the limit, and no piece does."""
    content = bytes(8 * 1024 * 1024) + b"end"
    connection = connect(take_slowly)
    connection._socket._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 262_144)
    connection.budget = TimeBudget(20)
    connection.send("PUT", "/", {**HOST, "content-length": str(len(content))}, content)
    assert connection.answer().read_all() == b"taken"


def test_a_server_may_take_the_content_of_boto3_slowly(
    connect, take_slowly, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boto3_timeouts, "READ_TIMEOUT_S", 20)
    connection = boto3_timeouts.TimedConnection("localhost")
    connection.sock = connect(take_slowly)._socket._socket
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 262_144)
    connection.request("PUT", "/", bytes(8 * 1024 * 1024) + b"end")
    assert connection.getresponse().read() == b"taken"


def test_what_follows_an_answer_is_noticed_before_the_next_request(connect) -> None:
    """Over TLS, it can have arrived in one piece with the end of the answer."""
    body = bytes(100_000)
    got_head = threading.Event()

    def serve(server: socket.socket) -> None:
        _whole_request(server)
        whole = answer_of(body)
        server.sendall(whole[:90_000])
        assert got_head.wait(10)
        server.sendall(whole[90_000:] + answer_of(b"of another"))
        _whole_request(server)

    connection = connect(serve)
    connection.send("GET", "/", HOST)
    answer = connection.answer()
    got_head.set()
    assert answer.read_all() == body
    assert connection.is_reusable
    time.sleep(0.1)
    assert not connection.is_open_and_silent()


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/a b", HOST),
        ("/a\r\nx: y", HOST),
        ("/é", HOST),
        ("", HOST),
        ("/", {"x": "a\r\nb: c"}),
        ("/", {"x": "a\nb"}),
        ("/", {"x": "a\rb"}),
    ],
)
def test_what_would_be_another_request_is_not_sent(connect, target, headers) -> None:
    connection = connect(_whole_request)
    with pytest.raises(ValueError, match="ends"):
        connection.send("GET", target, headers)


def test_certificates_and_names_are_checked() -> None:
    context = sockets.tls()
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)


def test_a_server_with_an_unknown_certificate_gets_nothing(certificate: Path) -> None:
    got = []
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate)

    def wrap(accepted: socket.socket) -> socket.socket:
        return server_side.wrap_socket(accepted, server_side=True)

    with (
        serving(lambda server: got.append(server.recv(100)), wrap) as port,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        opened(Host("https", "localhost", port))
    assert got == []


@pytest.mark.parametrize(
    ("host", "header"),
    [
        (Host("https", "s3.amazonaws.com", 443), "s3.amazonaws.com"),
        (Host("http", "127.0.0.1", 80), "127.0.0.1"),
        (Host("http", "127.0.0.1", 443), "127.0.0.1:443"),
        (Host("https", "h", 8443), "h:8443"),
        (Host("http", "::1", 8000), "[::1]:8000"),
        (Host("https", "fd00::1", 443), "[fd00::1]"),
    ],
)
def test_a_host_header_names_only_other_ports(host: Host, header: str) -> None:
    assert host.header == header


def test_a_pool_keeps_a_connection_for_each_host_and_gives_each_exchange_its_patience() -> None:
    def serve(server: socket.socket) -> None:
        while _whole_request(server):
            server.sendall(answer_of(b""))

    with serving(serve, lambda accepted: accepted) as port:
        made: list[TimeBudget] = []

        def budget() -> TimeBudget:
            made.append(TimeBudget(5))
            return made[-1]

        tested = Pool(budget)
        host = Host("http", "localhost", port)
        first = tested.take(host)
        first.send("GET", "/", HOST)
        first.answer().read_all()
        tested.give_back(first)
        again = tested.take(host)
        assert again is first
        assert again.budget is made[1]
        again.send("GET", "/", HOST)
        tested.give_back(again)  # its answer was not read
        other = tested.take(Host("http", "127.0.0.1", port))
        assert other is not first
        tested.give_back(other)  # it carried nothing
        tested.close()
