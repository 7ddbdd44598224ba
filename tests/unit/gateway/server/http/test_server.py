"""The server of one process, over sockets: what clients get, and what they cannot hold."""

import logging
import socket
import threading
from contextvars import ContextVar

import pytest

from graveler_gateway.server.http.body import SlowBodyError
from graveler_gateway.server.http.chunks import BrokenBodyError
from graveler_gateway.server.http.client import ClientSocket
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.exchange import ClientGoneError
from graveler_gateway.server.http.server import HttpServer
from tests.support.servers.http_server import RawClient, read_whole, running, until

HOST = b"Host: any\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
# Some tests wait for it.
SHORT_S = 0.1
HUGE_BYTES = 32 * 1024**2  # more than the kernel takes for a client that takes nothing


def put(content, headers=b""):
    return b"PUT / HTTP/1.1\r\n%sContent-Length: %d\r\n%s\r\n%s" % (
        HOST,
        len(content),
        headers,
        content,
    )


def echo(exchange):
    """Answer with the path and the body."""
    exchange.answer(200, (), exchange.head.raw_path.encode() + b" " + read_whole(exchange))


def refuse(exchange):
    """Refuse without reading the body."""
    exchange.answer(403, (), b"refused")


@pytest.fixture
def client():
    with running(echo) as server, RawClient(server.port) as connected:
        yield connected


class Gate:
    """A handler whose requests wait until they may go on."""

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.may_go_on = threading.Event()

    def __call__(self, exchange):
        self.begun.release()
        assert self.may_go_on.wait(20)
        echo(exchange)


# Requests on one connection


def test_a_connection_serves_one_request_after_the_other(client):
    for content in (b"", b"a", b"b" * 300_000):
        answer = client.ask(put(content))
        assert (answer.status, answer.content) == (200, b"/ " + content)
        assert answer.headers["connection"] is None


def test_requests_that_are_sent_at_once_are_answered_in_their_order(client):
    chunked = b"PUT /b HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    client.send(
        GET
        + chunked
        + b"3\r\nabc\r\n0\r\n\r\n"
        + put(b"large" * 50_000)
        + b"\r\n"
        + GET.replace(b"/ ", b"/c ")
    )
    contents = [client.answer().content for _ in range(4)]
    assert contents == [b"/ ", b"/b abc", b"/ " + b"large" * 50_000, b"/c "]


def test_a_handler_that_reads_past_the_end_of_chunks_repeats_no_request():
    paths = []

    def serve(exchange):
        paths.append(exchange.head.raw_path)
        assert (read_whole(exchange), exchange.body.read(), exchange.body.read()) == (
            b"",
            b"",
            b"",
        )
        exchange.answer(200, ())

    with running(serve) as server, RawClient(server.port) as client:
        chunked = b"PUT /a HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        client.send(chunked + GET.replace(b"GET / ", b"GET /b ") + GET)
        assert [client.answer().status for _ in range(3)] == [200] * 3
    assert paths == ["/a", "/b", "/"]


def test_a_request_arrives_byte_by_byte(client):
    for byte in put(b"content", b"X: y\r\n"):
        client.send(bytes([byte]))
    assert client.answer().content == b"/ content"


def test_context_variables_of_a_request_end_with_it():
    seen = ContextVar("seen", default=0)

    def serve(exchange):
        exchange.answer(200, (), str(seen.get()).encode())
        seen.set(seen.get() + 1)

    with running(serve, Limits(threads=1)) as server, RawClient(server.port) as client:
        assert [client.ask(GET).content for _ in range(3)] == [b"0"] * 3


def test_an_old_client_keeps_its_connection_only_if_it_asks_to(client):
    answer = client.ask(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    assert answer.headers["connection"] == "keep-alive"
    answer = client.ask(b"GET / HTTP/1.0\r\n\r\n")
    assert answer.headers["connection"] == "close"
    assert client.is_ended()


def test_a_client_that_asks_for_the_end_gets_it_after_its_answer(client):
    answer = client.ask(b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    assert (answer.content, answer.headers["connection"]) == (b"/ ", "close")
    assert client.is_ended()


def test_a_client_that_sends_no_more_gets_its_answer(client):
    client.send(put(b"content"))
    client.end_sending()
    assert client.answer().content == b"/ content"
    assert client.is_ended()


# Answers


@pytest.mark.parametrize(
    ("method", "status", "length"), [("HEAD", 200, "7"), ("GET", 204, None), ("GET", 304, None)]
)
def test_an_answer_that_has_no_content_ends_with_its_head(method, status, length):
    with (
        running(lambda exchange: exchange.answer(status, (), b"content")) as server,
        RawClient(server.port) as client,
    ):
        for _ in range(2):
            answer = client.ask(GET.replace(b"GET", method.encode()), method)
            assert (answer.status, answer.content) == (status, b"")
            assert answer.headers["content-length"] == length


def test_no_header_can_begin_another_one():
    headers = [("X-Echo", "a\r\nSet-Cookie: b\0\x7f"), ("X-Other", "\u20ac\xe9")]
    with (
        running(lambda exchange: exchange.answer(200, headers)) as server,
        RawClient(server.port) as client,
    ):
        answer = client.ask(GET)
    assert answer.headers["x-echo"] == "a  Set-Cookie: b  "
    assert (answer.headers["set-cookie"], answer.headers["x-other"]) == (None, "?\xe9")


def test_a_fault_of_a_handler_is_500_and_others_are_served(caplog):
    def serve(exchange):
        if exchange.head.raw_path == "/fault":
            raise ZeroDivisionError
        echo(exchange)

    with running(serve) as server:
        with RawClient(server.port) as client:
            answer = client.ask(GET.replace(b"/ ", b"/fault "))
            assert (answer.status, answer.content) == (500, b"")
            assert client.is_ended()
        with RawClient(server.port) as client:
            assert client.ask(GET).status == 200
    assert "ZeroDivisionError" in caplog.text


def test_an_answer_that_its_handler_does_not_finish_is_not_whole(caplog):
    def serve(exchange):
        exchange.begin(200, (), 10)
        exchange.send(b"12345")
        raise ZeroDivisionError

    with running(serve) as server, RawClient(server.port) as client:
        answer = client.ask(GET)
        assert (answer.content, answer.is_whole) == (b"12345", False)
        assert client.is_ended()
    assert "ZeroDivisionError" in caplog.text


def test_a_handler_cannot_send_more_than_it_promised(caplog):
    def serve(exchange):
        exchange.begin(200, (), 1)
        exchange.send(b"ab")

    with running(serve) as server, RawClient(server.port) as client:
        assert not client.ask(GET).is_whole
    assert "1 bytes more than were promised" in caplog.text


# Requests that are refused


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET / HTTP/1.1\n" + HOST + b"\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", 505),
        (b"GET /" + b"a" * 100_000, 431),
        (b"PUT / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ],
)
def test_what_is_no_request_gets_an_answer_and_the_end(client, data, status):
    answer = client.ask(data)
    assert (answer.status, answer.headers["connection"]) == (status, "close")
    assert client.is_ended()


def test_nothing_after_a_refused_head_is_a_request():
    paths = []

    def serve(exchange):
        paths.append(exchange.head.raw_path)
        echo(exchange)

    smuggled = (
        b"POST / HTTP/1.1\r\n%sContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" % HOST
    )
    with running(serve) as server, RawClient(server.port) as client:
        assert client.ask(smuggled + b"0\r\n\r\n" + GET).status == 400
        assert client.is_ended()
    assert paths == []


@pytest.mark.parametrize("size_bytes", [100, HUGE_BYTES])
def test_a_refused_client_that_still_sends_sees_its_answer(size_bytes):
    with running(refuse, Limits(threads=1)) as server, RawClient(server.port) as client:
        client.send(put(bytes(size_bytes)))
        assert client.answer().status == 403


def test_a_body_that_has_arrived_and_was_not_read_is_no_request():
    with running(refuse) as server, RawClient(server.port) as client:
        answers = [client.ask(put(GET)) for _ in range(2)]
    assert [(answer.status, answer.headers["connection"]) for answer in answers] == [
        (403, None)
    ] * 2


def test_a_client_that_waits_to_send_is_asked_by_the_first_read():
    head = put(b"content", b"Expect: 100-continue\r\n")[: -len(b"content")]
    with running(echo) as server, RawClient(server.port) as client:
        client.send(head)
        assert (client.line(), client.line()) == (b"HTTP/1.1 100 Continue\r\n", b"\r\n")
        assert client.ask(b"content").content == b"/ content"
    with running(refuse) as server, RawClient(server.port) as client:
        answer = client.ask(head)
        assert (answer.status, answer.headers["connection"]) == (403, "close")


def test_a_client_that_does_not_wait_although_it_said_so_is_not_asked(client):
    answer = client.ask(put(b"content", b"Expect: 100-continue\r\n"))
    assert answer.content == b"/ content"
    chunked = b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    assert client.ask(b"PUT / HTTP/1.1\r\n" + HOST + chunked).content == b"/ abc"


# Bodies that do not arrive


@pytest.mark.parametrize("sent_bytes", [0, 5, 70_000])
@pytest.mark.parametrize("leaves", [True, False])
def test_a_body_that_does_not_arrive_whole_is_an_error_for_its_handler(sent_bytes, leaves):
    def serve(exchange):
        try:
            read_whole(exchange)
        except (BrokenBodyError, SlowBodyError) as error:
            exchange.answer(400, (), type(error).__name__.encode())

    with running(serve, Limits(idle_s=SHORT_S)) as server, RawClient(server.port) as client:
        client.send(put(bytes(80_000))[: -80_000 + sent_bytes])
        if leaves:
            client.end_sending()
        answer = client.answer()
    name = b"BrokenBodyError" if leaves else b"SlowBodyError"
    assert (answer.status, answer.content, answer.headers["connection"]) == (400, name, "close")


def test_chunks_that_are_malformed_are_an_error_for_their_handler():
    def serve(exchange):
        with pytest.raises(BrokenBodyError):
            read_whole(exchange)
        with pytest.raises(BrokenBodyError):
            exchange.body.read()
        exchange.answer(400, ())

    with running(serve) as server, RawClient(server.port) as client:
        head = b"PUT / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
        answer = client.ask(head + b"3\r\nabcd\r\n0\r\n\r\n" + GET)
        assert (answer.status, answer.headers["connection"]) == (400, "close")
        assert client.is_ended()


# Clients that hold no thread


def silent(port):
    return RawClient(port)


def slow_head(port):
    client = RawClient(port)
    client.send(b"GET / HTTP/1.1\r\n")
    return client


def slow_body(port):
    client = RawClient(port)
    client.send(put(bytes(60_000))[:-1])
    return client


def slow_large_body(port):
    client = RawClient(port)
    client.send(put(bytes(10**6))[: -(10**6) + 100])
    return client


def expecting_post(port):
    client = RawClient(port)
    client.send(put(bytes(9), b"Expect: 100-continue\r\n").replace(b"PUT", b"POST")[:-9])
    return client


def endless_newlines(port):
    client = RawClient(port)
    client.send(b"\r\n" * 10)
    return client


def unread_answer(port):
    client = RawClient(port)
    assert client.ask(GET).status == 200
    return client


def not_closed(port):
    client = RawClient(port)
    client.send(b"BAD\r\n\r\n")
    assert client.answer().status == 400
    return client


@pytest.mark.parametrize(
    "made",
    [
        silent, slow_head, slow_body, slow_large_body, expecting_post, endless_newlines,
        unread_answer, not_closed,
    ],
)  # fmt: skip
def test_a_client_that_does_nothing_holds_no_thread(made):
    with running(echo, Limits(threads=1)) as server:
        others = [made(server.port) for _ in range(3)]
        with RawClient(server.port) as client:
            assert client.ask(GET).status == 200
        for other in others:
            other.close()


@pytest.mark.parametrize("made", [slow_head, endless_newlines, not_closed])
def test_a_client_that_never_ends_its_head_is_ended(made):
    with running(echo, Limits(idle_s=SHORT_S, head_s=SHORT_S, last_s=SHORT_S)) as server:
        client = made(server.port)
        assert client.is_ended()
        client.close()


def is_ended_by_another_byte(client):
    try:
        client.send(b"a")
    except ConnectionError:
        return True
    return False


def test_a_head_that_grows_by_bytes_is_ended():
    with running(echo, Limits(idle_s=SHORT_S, head_s=SHORT_S)) as server:
        client = RawClient(server.port)
        client.send(b"GET /")
        until(lambda: is_ended_by_another_byte(client))
        client.close()


def test_a_connection_that_is_idle_for_long_is_ended():
    with running(echo, Limits(idle_s=SHORT_S, keep_s=SHORT_S)) as server:
        client = RawClient(server.port)
        assert client.ask(GET).status == 200
        assert client.is_ended()
        client.close()


def test_clients_that_take_no_answers_hold_half_of_the_threads_at_most():
    def serve(exchange):
        exchange.answer(200, (), bytes(HUGE_BYTES if exchange.head.raw_path == "/huge" else 1))

    huge = GET.replace(b"/ ", b"/huge ")
    with running(serve, Limits(threads=2)) as server:
        slow = [RawClient(server.port, receive_buffer_bytes=4096) for _ in range(4)]
        for client in slow:
            client.send(huge)
        with RawClient(server.port) as client:
            assert client.ask(GET).status == 200
        for client in slow:
            client.close()


def test_a_client_that_takes_nothing_is_given_up():
    failures = []

    def serve(exchange):
        try:
            exchange.answer(200, (), bytes(HUGE_BYTES))
        except ClientGoneError as error:
            failures.append(error)
            raise

    with running(serve, Limits(idle_s=SHORT_S)) as server:
        client = RawClient(server.port, receive_buffer_bytes=4096)
        client.send(GET)
        until(lambda: failures)
        client.close()


# Limits


def test_beyond_the_limit_the_connection_that_waits_longest_makes_room():
    with running(echo, Limits(connections=2)) as server:
        clients = [RawClient(server.port) for _ in range(3)]
        for client in clients[1:]:
            assert client.ask(GET).status == 200
        assert clients[0].is_ended()
        for client in clients:
            client.close()


def test_beyond_the_limit_nothing_that_is_served_is_ended():
    gate = Gate()
    with running(gate, Limits(connections=2)) as server:
        clients = [RawClient(server.port) for _ in range(2)]
        for client in clients:
            client.send(GET)
            assert gate.begun.acquire(timeout=20)
        with RawClient(server.port) as third:
            assert third.is_ended()
        gate.may_go_on.set()
        assert [client.answer().status for client in clients] == [200, 200]
        for client in clients:
            client.close()


def test_a_connection_that_is_lost_for_want_of_descriptors_stops_nobody(caplog):
    lost = [OSError(24, "Too many open files")] * 2
    listener = socket.create_server(("127.0.0.1", 0))

    def next_connection():
        connected = listener.accept()[0]
        if lost:
            connected.close()
            raise lost.pop()
        return connected

    server = HttpServer(echo, next_connection, listener, Limits())
    thread = threading.Thread(target=server.run)
    thread.start()
    port = listener.getsockname()[1]
    for _ in range(2):
        with RawClient(port) as client:
            assert client.is_ended()
    with RawClient(port) as client:
        assert client.ask(GET).status == 200
    server.stop()
    thread.join(20)
    listener.close()
    assert "Too many open files" in caplog.text


def test_a_system_that_refuses_threads_serves_with_those_it_gave(monkeypatch):
    with running(echo) as server, RawClient(server.port) as first:
        assert first.ask(GET).status == 200

        def start(_):
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", start)
        others = [RawClient(server.port) for _ in range(5)]
        for other in others:
            other.send(GET)
        assert [other.answer().status for other in others] == [200] * 5
        for other in others:
            other.close()
        monkeypatch.undo()


def test_very_many_requests_of_few_threads_are_all_answered():
    with running(echo, Limits(threads=2)) as server:
        clients = [RawClient(server.port) for _ in range(40)]
        for _ in range(5):
            for client in clients:
                client.send(put(b"content"))
            assert {client.answer().content for client in clients} == {b"/ content"}
        for client in clients:
            client.close()


# The end


def test_what_has_begun_is_served_to_its_end_and_idle_connections_end():
    gate = Gate()
    with running(gate) as server:
        idle, busy = RawClient(server.port), RawClient(server.port)
        arriving = RawClient(server.port)
        arriving.send(put(b"content")[:-1])
        busy.send(GET)
        assert gate.begun.acquire(timeout=20)
        server.server.stop()
        assert idle.is_ended()
        arriving.send(b"t")
        gate.may_go_on.set()
        answers = [busy.answer(), arriving.answer()]
        assert [answer.content for answer in answers] == [b"/ ", b"/ content"]
        assert {answer.headers["connection"] for answer in answers} <= {"close", None}
        assert busy.is_ended()
        assert arriving.is_ended()
        for client in (idle, busy, arriving):
            client.close()


def test_a_request_that_was_sent_before_the_stop_is_answered():
    gate = Gate()
    with running(gate, Limits(threads=1)) as server:
        clients = [RawClient(server.port) for _ in range(3)]
        for client in clients:
            client.send(GET)
        assert gate.begun.acquire(timeout=20)
        until(lambda: server.server._unserved == 2)
        server.server.stop()
        gate.may_go_on.set()
        assert [client.answer().status for client in clients] == [200] * 3
        for client in clients:
            client.close()


def test_a_server_can_be_stopped_again_after_it_has_ended():
    with running(echo) as server:
        server.stop()
        server.server.stop()


def test_a_client_that_was_reset_before_it_was_served_stops_nobody(monkeypatch):
    def gone(*_):
        raise OSError(107, "Transport endpoint is not connected")

    with running(echo) as server:
        with monkeypatch.context() as patched:
            patched.setattr(ClientSocket, "__init__", gone)
            with RawClient(server.port) as client:
                assert client.is_ended()
        with RawClient(server.port) as client:
            assert client.ask(GET).status == 200


def test_a_client_that_resets_while_it_sends_is_forgotten(caplog):
    caplog.set_level(logging.INFO)
    with running(echo) as server:
        with RawClient(server.port) as client:
            client.send(put(bytes(100))[:-50])
            linger = (1).to_bytes(4, "little") + bytes(4)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        until(lambda: server.server._open == 0)
