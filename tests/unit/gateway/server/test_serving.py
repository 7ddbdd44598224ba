"""The gateway over sockets: bodies, answers, the log, and clients that leave or wait."""

import json
from contextlib import ExitStack

import pytest

from graveler.data_headers import DataHeaders
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.serving import GatewayHandler
from tests.support.servers.http_server import RawClient, head_bytes, running, until
from tests.support.worlds.gateway_stack import HOST, REPO, UNSIGNED, UNSIGNED_CHUNKS, GatewayStack

LARGE = bytes(range(256)) * 8192  # 2 MB
HUGE = LARGE * 4  # more than the kernel takes for a client that takes nothing
PIECE_BYTES = 65_536
# Some tests wait for it.
SHORT_S = 0.1


@pytest.fixture
def stack():
    made = GatewayStack()
    made.put("main/a", b"content")
    made.put("main/large", LARGE)
    return made


class Asked:
    """What a client of one request sees.

    body: pieces that the client sends; then it leaves, or waits.
    takes_bytes: of the answer, before it leaves or waits.
    """

    def __init__(self, stack, head, body=(), *, leaves=False, takes_bytes=None, idle_s=5.0):
        handler = GatewayHandler(stack.application, 2)
        limits = Limits(threads=4, idle_s=idle_s)
        buffer_bytes = None if takes_bytes is None else 4096
        with (
            running(handler, limits) as server,
            RawClient(server.port, receive_buffer_bytes=buffer_bytes) as client,
        ):
            client.send(head_bytes(head))
            try:
                for piece in body:
                    client.send(piece)
            except ConnectionError:
                pass
            if leaves and takes_bytes is None:
                client.end_sending()
            self.answer = None
            if takes_bytes is None:
                self.answer = client.answer(head.method)
            elif client.socket.recv(takes_bytes) and leaves:
                client.close()
            else:
                server.stop()  # returns when the client was given up
        if self.answer is not None:
            self.status, self.content = self.answer.status, self.answer.content
            self.is_whole = self.answer.is_whole
            self.headers = {name.lower(): value for name, value in self.answer.headers.items()}
            assert len(self.headers) == len(self.answer.headers)


def ask(
    stack, method, path, body=(), *, content_sha256=UNSIGNED, query="", headers=None, **options
):
    """Serve a request; return what its client got."""
    head = stack.signed(
        method, path, query=query, headers=headers or {}, content_sha256=content_sha256
    )
    return Asked(stack, head, body, **options)


def put(stack, content, pieces=None, path="/repo/main/b", headers=None, **options):
    body = [content] if pieces is None else pieces
    named = {"content-length": str(len(content)), **(headers or {})}
    return ask(stack, "PUT", path, body, headers=named, **options)


def cut(content, size_bytes=PIECE_BYTES):
    return [content[at : at + size_bytes] for at in range(0, len(content), size_bytes)]


def log_lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


# Bodies


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 65_537, 300_000])
@pytest.mark.parametrize("piece_bytes", [777, 65_536, 10**6])
def test_a_body_of_any_size_is_stored(stack, size_bytes, piece_bytes):
    content = LARGE[:size_bytes]
    asked = put(stack, content, cut(content, piece_bytes))
    assert (asked.status, asked.content, asked.is_whole) == (200, b"", True)
    assert stack.get("main/b") == content


def test_a_body_without_length_is_read_to_its_end(stack):
    content = LARGE[:100_000]
    chunks = b"186a0\r\n" + content + b"\r\n0\r\n\r\n"
    headers = {"transfer-encoding": "chunked"}
    asked = ask(stack, "PUT", "/repo/main/b", cut(chunks), headers=headers)
    assert asked.status == 411  # S3 must be promised a length
    headers["x-amz-decoded-content-length"] = "100000"
    twice = b"%x\r\n%s\r\n0\r\n\r\n" % (len(chunks), chunks)
    asked = ask(
        stack, "PUT", "/repo/main/b", cut(twice), headers=headers, content_sha256=UNSIGNED_CHUNKS
    )
    assert (asked.status, stack.get("main/b")) == (200, content)


def test_a_client_that_waits_to_send_is_asked_after_all_checks(stack):
    head = stack.signed(
        "PUT", "/repo/main/b", headers={"content-length": "5", "expect": "100-continue"}
    )
    with running(GatewayHandler(stack.application, 2)) as server:
        with RawClient(server.port) as client:
            client.send(head_bytes(head))
            assert (client.line(), client.line()) == (b"HTTP/1.1 100 Continue\r\n", b"\r\n")
            assert client.ask(b"small").status == 200
        stack.may()
        with RawClient(server.port) as client:
            assert client.ask(head_bytes(head)).status == 403


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("/repo/main/empty", b"", (200, "close")),
        ("/repo/nowhere/b", b"refused", (404, "close")),
    ],
)
def test_the_connection_of_a_client_that_was_not_asked_to_send_ends(stack, path, content, expected):
    asked = put(stack, content, [], path=path, headers={"expect": "100-continue"})
    assert (asked.status, asked.headers.get("connection")) == expected


@pytest.mark.parametrize("size_bytes", [100, len(LARGE) * 8])
def test_a_refused_client_that_sends_gets_its_answer(stack, size_bytes):
    stack.may()
    content = bytes(size_bytes)  # more than the kernel holds for a server that does not read
    asked = put(stack, content)
    assert (asked.status, asked.is_whole) == (403, True)


def test_a_refused_client_whose_body_has_arrived_keeps_its_connection(stack):
    stack.may()
    head = head_bytes(stack.signed("PUT", "/repo/main/b", headers={"content-length": "5"}))
    with running(GatewayHandler(stack.application, 2)) as server, RawClient(server.port) as client:
        for _ in range(2):
            answer = client.ask(head + b"small")
            assert (answer.status, answer.headers["connection"]) == (403, None)


def test_a_body_that_s3_refuses_is_received_for_its_client(stack):
    content = LARGE * 2
    stack.s3.answers.append(b"HTTP/1.1 403 Any\r\nContent-Length: 0\r\n\r\n")
    asked = put(stack, content, cut(content))
    assert (asked.status, asked.is_whole) == (403, True)


# Clients that leave or wait


@pytest.mark.parametrize("pieces", [0, 1, 3])
@pytest.mark.parametrize("size_bytes", [60_000, len(LARGE)])
def test_a_client_that_leaves_while_it_sends_changes_nothing(stack, size_bytes, pieces, capsys):
    stack.put("main/b", b"old")
    before = stack.world.objects.contents()
    capsys.readouterr()
    content = LARGE[:size_bytes]
    asked = put(stack, content, cut(content, 10_000)[:pieces], leaves=True)
    assert stack.world.objects.contents() == before
    assert asked.status == 400
    assert [line["code"] for line in log_lines(capsys)] == ["IncompleteBody"]


@pytest.mark.parametrize("size_bytes", [60_000, len(LARGE)])
@pytest.mark.parametrize("pieces", [0, 1, 7])
def test_a_client_that_stops_sending_is_given_up(stack, size_bytes, pieces, capsys):
    before = stack.world.objects.contents()
    content = LARGE[:size_bytes]
    capsys.readouterr()
    sent = cut(content, 10_000)[: min(pieces, size_bytes // 10_000 - 1)]
    asked = put(stack, content, sent, idle_s=SHORT_S)
    assert (asked.status, stack.world.objects.contents()) == (400, before)
    assert b"RequestTimeout" in asked.content
    assert [line["code"] for line in log_lines(capsys)] == ["RequestTimeout"]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_client_that_takes_no_more_of_its_answer_is_given_up_and_logged(stack, leaves, capsys):
    stack.put("main/huge", HUGE)
    capsys.readouterr()
    ask(stack, "GET", "/repo/main/huge", takes_bytes=1, leaves=leaves, idle_s=SHORT_S)
    assert [line["code"] for line in log_lines(capsys)] == ["ClientGone"]


def test_an_answer_that_cannot_be_finished_ends_early(stack, capsys):
    head = b"HTTP/1.1 206 Any\r\nContent-Length: %d\r\n\r\n" % len(LARGE)
    stack.s3.answers.extend([head + LARGE[:300_000], *[b"HTTP/1.1 503 Any\r\n\r\n"] * 9])
    capsys.readouterr()
    asked = ask(stack, "GET", "/repo/main/large")
    assert (asked.status, asked.is_whole) == (200, False)
    assert asked.content == LARGE[: len(asked.content)]
    (line,) = log_lines(capsys)
    assert line["code"] == "CutOff"


def test_slow_readers_do_not_stop_others(stack):
    stack.put("main/huge", HUGE)
    slow_head = head_bytes(stack.signed("GET", "/repo/main/huge"))
    quick_head = head_bytes(stack.signed("HEAD", "/repo/main/a"))
    with running(GatewayHandler(stack.application, 2), Limits(threads=16)) as server:
        slow = [RawClient(server.port, receive_buffer_bytes=4096) for _ in range(4)]
        for client in slow:
            client.send(slow_head)
        for client in slow[:2]:
            assert client.socket.recv(1)
        with RawClient(server.port) as quick:
            assert quick.ask(quick_head, "HEAD").status == 200
        for client in slow:
            client.close()


def test_a_request_beyond_all_places_is_told_to_come_later_and_health_is_answered(stack):
    stack.put("main/huge", HUGE)
    slow_head = head_bytes(stack.signed("GET", "/repo/main/huge"))
    with (
        running(GatewayHandler(stack.application, 1), Limits(threads=8)) as server,
        ExitStack() as slow,
        RawClient(server.port) as other,
    ):
        answers = []

        def is_told():
            # One that came while others began may have been told itself: so more come.
            client = RawClient(server.port, receive_buffer_bytes=4096)
            slow.callback(client.close)
            client.send(slow_head)
            answers.append(other.ask(head_bytes(stack.signed("GET", "/repo/main/a"))))
            return answers[-1].status == 503

        until(is_told)
        assert b"<Code>SlowDown</Code>" in answers[-1].content
        health = other.ask(b"GET /_health HTTP/1.1\r\nHost: any\r\n\r\n")
        assert (health.status, health.content) == (200, b"alive!")


# Forms


def form_head(length_headers):
    content_type = ("content-type", "multipart/form-data; boundary=B")
    return RequestHead("POST", f"/{REPO}", "", [("host", HOST), content_type, *length_headers])


@pytest.mark.parametrize("more", [[], [("expect", "100-continue")]])
def test_forms_that_do_not_arrive_hold_no_thread(stack, more):
    head = stack.signed("GET", f"/{REPO}/main/a")
    form = head_bytes(form_head([("content-length", "1000000"), *more]))
    with running(GatewayHandler(stack.application, 1), Limits(threads=1)) as server:
        forms = [RawClient(server.port) for _ in range(4)]
        for client in forms:
            client.send(form + b"--B\r\n")
        with RawClient(server.port) as client:
            assert client.ask(head_bytes(head)).status == 200
        for client in forms:
            client.close()


def test_a_form_in_chunks_is_refused_before_it_is_read(stack):
    form = head_bytes(form_head([("transfer-encoding", "chunked")]))
    limits = Limits(threads=1)
    with (
        running(GatewayHandler(stack.application, 1), limits) as server,
        RawClient(server.port) as client,
    ):
        assert client.ask(form).status == 411


def test_a_form_that_breaks_off_is_incomplete(stack):
    head = form_head([("content-length", "1000000")])
    assert Asked(stack, head, [b"--B\r\n"], leaves=True).status == 400


# Answers


def test_a_header_that_cannot_be_sent_costs_only_its_control_characters(stack):
    address = stack.listed_objects("main")[0].physical_address
    kept = DataHeaders({"content-language": "a\r\nSet-Cookie:b"})
    stack.engine.objects.put(address, b"", "", headers=kept)
    asked = ask(stack, "HEAD", f"/{REPO}/main/a")
    assert asked.headers["content-language"] == "a  Set-Cookie:b"
    assert "set-cookie" not in asked.headers


@pytest.mark.parametrize("key", ["a", "large", "missing"])
def test_head_has_the_headers_of_get_and_no_content(stack, key):
    got = ask(stack, "GET", f"/repo/main/{key}")
    head = ask(stack, "HEAD", f"/repo/main/{key}")
    assert (head.status, head.content, head.is_whole) == (got.status, b"", True)
    ids = {"x-amz-request-id", "x-amz-id-2", "date"}
    ids |= set() if got.status == 200 else {"content-length"}
    shown = [
        {name: value for name, value in each.headers.items() if name not in ids}
        for each in (got, head)
    ]
    assert shown[0] == shown[1]
    assert got.headers["content-length"] == str(len(got.content))


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [("DELETE", {}, 204), ("GET", {"if-none-match": "*"}, 304), ("HEAD", {"if-match": "x"}, 412)],
)
def test_an_answer_without_content_has_none(stack, method, headers, status):
    asked = ask(stack, method, "/repo/main/a", headers=headers)
    assert (asked.status, asked.content, asked.is_whole) == (status, b"", True)
    if status in {204, 304}:
        assert "content-length" not in asked.headers


def test_a_range_says_its_length(stack):
    asked = ask(stack, "GET", "/repo/main/large", headers={"range": "bytes=5-300004"})
    assert (asked.status, asked.content) == (206, LARGE[5:300_005])
    assert asked.headers["content-length"] == "300000"


def test_the_path_is_taken_as_it_was_sent(stack):
    stack.put("main/a//b c/../é%")
    asked = ask(stack, "GET", "/repo/main/a//b c/../é%")
    assert asked.content == b"content"


# The log


def test_a_request_has_one_line_without_secrets(stack, capsys):
    capsys.readouterr()
    put(stack, LARGE, cut(LARGE), headers={"user-agent": "agent\u00e9 of a\ttest"})
    ask(stack, "GET", "/repo/main/large")
    ask(stack, "GET", "/repo/main/missing")
    text = capsys.readouterr().out
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["operation"] for line in lines] == ["PutObject", "GetObject", "GetObject"]
    assert [line["status"] for line in lines] == [200, 200, 404]
    assert lines[0]["bytes_in"] == lines[1]["bytes_out"] == len(LARGE)
    assert (lines[2]["code"], lines[2]["repository"], lines[2]["ref"]) == (
        "NoSuchKey",
        "repo",
        "main",
    )
    assert {line["user"] for line in lines} == {"bob"}
    for secret in ("Signature", "Credential", stack.credentials.secret_key, "s3.memory"):
        assert secret not in text


@pytest.mark.parametrize(
    "path", ["/repo/main/%0A%0D", "/%0A", "/repo/%E2%80%A8/x", "/repo/%F0%9F%98%80/x"]
)
def test_no_request_writes_more_than_a_line(stack, capsys, path):
    head = stack.signed("GET", "/repo/main/a")
    capsys.readouterr()
    forged = RequestHead("GET", path, "", [*head.headers, ("user-agent", "a\xff\x85b")])
    Asked(stack, forged)
    text = capsys.readouterr().out
    assert (text.count("\n"), json.loads(text)["status"]) == (1, 403)


def test_bytes_that_are_no_text_are_logged(stack, capsys):
    head = stack.signed("GET", "/repo", query="prefix=%FF%2Fx&delimiter=%FF&marker=%FF")
    capsys.readouterr()
    assert Asked(stack, head).status == 200
    assert len(log_lines(capsys)) == 1


def test_a_fault_of_ours_is_an_error_in_the_log(stack, capsys, monkeypatch):
    monkeypatch.setattr(stack.world.refs, "repository", lambda *_: 1 / 0)
    capsys.readouterr()
    asked = ask(stack, "GET", "/repo/main/a")
    (line,) = log_lines(capsys)
    assert (asked.status, line["level"], line["code"]) == (500, "ERROR", "InternalError")
    assert "ZeroDivisionError" in line["error"]
    assert b"ZeroDivisionError" not in asked.content
