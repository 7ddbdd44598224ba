"""The ASGI application, on a server that a test plays: bodies, answers, and clients that leave."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway.server.arriving import Streamed
from gateway.server.asgi import Asgi
from tests.support.gateway_stack import UNSIGNED, UNSIGNED_CHUNKS, GatewayStack

LARGE = bytes(range(256)) * 8192  # 2 MB
PIECE_BYTES = 65_536
AHEAD_BYTES_MAX = 1024 * 1024 + PIECE_BYTES


class Server:
    """What a server of ASGI does for one request.

    body: messages that the client sends; after them, the client waits, or leaves.
    """

    def __init__(self, body=(), *, leaves=False, takes_bytes=None):
        self.body = list(body)
        self.leaves = leaves
        self.takes_bytes = takes_bytes
        self.received = 0
        self.received_bytes = 0
        self.sent = []
        self.is_receiving = False
        self.is_gone = asyncio.Event()

    async def receive(self):
        assert not self.is_receiving, "a server has one receiver at a time"
        self.is_receiving = True
        try:
            await asyncio.sleep(0)
            if self.received < len(self.body):
                piece = self.body[self.received]
                self.received += 1
                self.received_bytes += len(piece)
                has_more = self.leaves or self.received < len(self.body)
                return {"type": "http.request", "body": piece, "more_body": has_more}
            if not self.leaves:
                await self.is_gone.wait()
            return {"type": "http.disconnect"}
        finally:
            self.is_receiving = False

    async def send(self, message):
        await asyncio.sleep(0)
        if self.takes_bytes is not None and self.sent_bytes >= self.takes_bytes:
            if self.leaves:
                raise ConnectionError("the client is gone")
            await self.is_gone.wait()
        self.sent.append(message)

    @property
    def sent_bytes(self):
        return sum(len(message.get("body", b"")) for message in self.sent)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        pairs = [
            (name.decode(), value.decode("latin-1")) for name, value in self.sent[0]["headers"]
        ]
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    @property
    def content(self):
        assert [message["type"] for message in self.sent[1:]] == ["http.response.body"] * (
            len(self.sent) - 1
        )
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def is_whole(self):
        return bool(self.sent) and self.sent[-1].get("more_body") is False


@pytest.fixture
def stack():
    made = GatewayStack()
    made.put("main/a", b"content")
    made.put("main/large", LARGE)
    return made


def scope_of(head):
    return {
        "type": "http",
        "method": head.method,
        "raw_path": head.raw_path.encode(),
        "path": "/ignored",
        "query_string": head.raw_query.encode(),
        "headers": [(name.title().encode(), value.encode()) for name, value in head.headers],
        "client": ("127.0.0.1", 1),
    }


def ask(stack, server, method, path, *, idle_s=5.0, fails=None, content_sha256=UNSIGNED, **headers):
    """Serve a request; return the server, whose client has its answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    head = stack.signed(method, path, headers=named, content_sha256=content_sha256)

    async def serve():
        asgi = Asgi(stack.application, threads=2, idle_s=idle_s)
        await asyncio.wait_for(asgi(scope_of(head), server.receive, server.send), 20)

    if fails is None:
        asyncio.run(serve())
    else:
        with pytest.raises(fails):
            asyncio.run(serve())
    return server


def put(stack, content, pieces=None, path="/repo/main/b", **options):
    body = [content] if pieces is None else pieces
    server = Server(body, leaves=options.pop("leaves", False))
    return ask(stack, server, "PUT", path, content_length=str(len(content)), **options)


def cut(content, size_bytes=PIECE_BYTES):
    return [content[at : at + size_bytes] for at in range(0, len(content), size_bytes)]


def log_lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


# Bodies


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 65_537, 300_000])
@pytest.mark.parametrize("piece_bytes", [777, 65_536, 10**6])
def test_a_body_of_any_size_is_stored(stack, size_bytes, piece_bytes):
    content = LARGE[:size_bytes]
    server = put(stack, content, cut(content, piece_bytes))
    assert (server.status, server.content, server.is_whole) == (200, b"", True)
    assert stack.get("main/b") == content


def test_a_body_without_length_is_read_to_its_end(stack):
    content = LARGE[:100_000]
    head = {"transfer_encoding": "chunked"}
    server = ask(stack, Server(cut(content)), "PUT", "/repo/main/b", **head)
    assert server.status == 411  # S3 must be promised a length
    framed = cut(b"186a0\r\n" + content + b"\r\n0\r\n\r\n")
    head["x_amz_decoded_content_length"] = "100000"
    server = ask(
        stack, Server(framed), "PUT", "/repo/main/b", **head, content_sha256=UNSIGNED_CHUNKS
    )
    assert (server.status, stack.get("main/b")) == (200, content)


def test_a_client_that_waits_to_send_is_asked_after_all_checks(stack):
    server = put(stack, b"small", expect="100-continue")
    assert (server.status, server.received) == (200, 1)
    stack.may()
    server = put(stack, b"other", expect="100-continue")
    assert (server.status, server.received) == (403, 0)


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("/repo/main/empty", b"", (200, "close")),
        ("/repo/nowhere/b", b"refused", (404, "close")),
        ("/repo/main/b", b"asked for", (200, None)),
    ],
)
def test_the_connection_of_a_client_that_was_not_asked_to_send_ends(stack, path, content, expected):
    server = put(stack, content, path=path, expect="100-continue")
    assert (server.status, server.headers.get("connection")) == expected


@pytest.mark.parametrize("size_bytes", [100, len(LARGE)])
def test_a_refused_client_that_sends_gets_its_answer(stack, size_bytes):
    stack.may()
    content = LARGE[:size_bytes]
    server = put(stack, content, cut(content))
    assert (server.status, server.is_whole) == (403, True)
    assert server.received == len(server.body)  # else it would not listen


def test_a_client_is_read_no_more_than_a_megabyte_ahead():
    async def read():
        server = Server(cut(LARGE * 4))
        loop = asyncio.get_running_loop()
        streamed = Streamed(server.receive, loop, 5.0)
        with ThreadPoolExecutor(1) as pool:
            taken_bytes = 0
            while taken_bytes < len(LARGE) * 4:
                taken_bytes += len(await loop.run_in_executor(pool, streamed.read))
                for _ in range(100):
                    await asyncio.sleep(0)
                assert server.received_bytes - taken_bytes <= AHEAD_BYTES_MAX
            assert await loop.run_in_executor(pool, streamed.read) == b""
        await streamed.finish(drains=False)
        return taken_bytes

    assert asyncio.run(read()) == len(LARGE) * 4


def test_nothing_is_read_before_the_first_read():
    async def wait():
        server = Server([b"body"])
        streamed = Streamed(server.receive, asyncio.get_running_loop(), 5.0)
        for _ in range(20):
            await asyncio.sleep(0)
        await streamed.finish(drains=False)
        return server.received

    assert asyncio.run(wait()) == 0


def test_a_refused_body_is_drained_by_one_receiver(stack):
    content = LARGE * 2
    stack.s3.answers.append(b"HTTP/1.1 403 Any\r\nContent-Length: 0\r\n\r\n")
    wrong = cut(content)
    wrong[0] = b"x" * (len(content) + 1)
    server = put(stack, content, wrong)
    assert (server.status, server.received) == (400, len(wrong))


# Clients that leave or wait


@pytest.mark.parametrize("pieces", [0, 1, 3])
@pytest.mark.parametrize("size_bytes", [60_000, len(LARGE)])
def test_a_client_that_leaves_while_it_sends_changes_nothing(stack, size_bytes, pieces, capsys):
    stack.put("main/b", b"old")
    before = stack.world.objects.contents()
    capsys.readouterr()
    content = LARGE[:size_bytes]
    server = put(stack, content, cut(content, 10_000)[:pieces], leaves=True)
    assert stack.world.objects.contents() == before
    assert (server.sent == []) or server.status == 400
    assert [line["code"] for line in log_lines(capsys)] == ["IncompleteBody"]


@pytest.mark.parametrize("size_bytes", [60_000, len(LARGE)])
@pytest.mark.parametrize("pieces", [0, 1])
def test_a_client_that_stops_sending_is_given_up(stack, size_bytes, pieces, capsys):
    before = stack.world.objects.contents()
    content = LARGE[:size_bytes]
    capsys.readouterr()

    class Cut(Server):
        async def receive(self):
            if self.received < len(self.body):
                return {**await super().receive(), "more_body": True}
            await self.is_gone.wait()
            return {"type": "http.disconnect"}

    server = Cut(cut(content, 10_000)[:pieces])
    ask(stack, server, "PUT", "/repo/main/b", content_length=str(size_bytes), idle_s=0.05)
    assert (server.status, stack.world.objects.contents()) == (400, before)
    assert b"RequestTimeout" in server.content
    assert [line["code"] for line in log_lines(capsys)] == ["RequestTimeout"]


def test_a_client_that_leaves_while_it_reads_is_logged(stack, capsys):
    capsys.readouterr()
    server = ask(stack, Server(leaves=True, takes_bytes=300_000), "GET", "/repo/main/large")
    assert not server.is_whole
    assert [line["code"] for line in log_lines(capsys)] == ["ClientGone"]


def test_a_client_that_stops_reading_is_given_up(stack, capsys):
    capsys.readouterr()
    server = ask(stack, Server(takes_bytes=300_000), "GET", "/repo/main/large", idle_s=0.05)
    assert not server.is_whole
    assert [line["code"] for line in log_lines(capsys)] == ["ClientGone"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_a_client_that_leaves_before_its_answer_is_logged(stack, capsys, method):
    capsys.readouterr()
    ask(stack, Server(leaves=True, takes_bytes=0), method, "/repo/main/a")
    assert [line["code"] for line in log_lines(capsys)] == ["ClientGone"]


def test_an_answer_that_cannot_be_finished_ends_early(stack, capsys):
    head = b"HTTP/1.1 206 Any\r\nContent-Length: %d\r\n\r\n" % len(LARGE)
    stack.s3.answers.extend([head + LARGE[:300_000], *[b"HTTP/1.1 503 Any\r\n\r\n"] * 9])
    capsys.readouterr()
    server = ask(stack, Server(), "GET", "/repo/main/large", fails=Exception)
    assert (server.status, server.is_whole) == (200, False)
    assert server.content == LARGE[: len(server.content)]
    (line,) = log_lines(capsys)
    assert line["code"] == "CutOff"


def test_slow_readers_do_not_stop_others(stack):
    async def serve():
        asgi = Asgi(stack.application, threads=2, idle_s=5)

        async def get(key, server):
            head = stack.signed("HEAD" if key == "a" else "GET", f"/repo/main/{key}")
            await asgi(scope_of(head), server.receive, server.send)

        slow, quick = Server(takes_bytes=1), Server()
        waiting = asyncio.create_task(get("large", slow))
        while not slow.sent:
            await asyncio.sleep(0.001)
        await asyncio.wait_for(get("a", quick), 3)
        slow.is_gone.set()
        await waiting
        assert slow.content == LARGE
        return quick

    assert asyncio.run(serve()).status in {200, 206}


# Answers


@pytest.mark.parametrize("key", ["a", "large", "missing"])
def test_head_has_the_headers_of_get_and_no_content(stack, key):
    got = ask(stack, Server(), "GET", f"/repo/main/{key}")
    head = ask(stack, Server(), "HEAD", f"/repo/main/{key}")
    assert (head.status, head.content, head.is_whole) == (got.status, b"", True)
    ids = {"x-amz-request-id", "x-amz-id-2", *([] if got.status == 200 else ["content-length"])}
    shown = [
        {name: value for name, value in each.headers.items() if name not in ids}
        for each in (got, head)
    ]
    assert shown[0] == shown[1]
    assert got.headers["content-length"] == str(len(got.content))


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [("DELETE", {}, 204), ("GET", {"if_none_match": "*"}, 304), ("HEAD", {"if_match": "x"}, 412)],
)
def test_an_answer_without_content_has_none(stack, method, headers, status):
    server = ask(stack, Server(), method, "/repo/main/a", **headers)
    assert (server.status, server.content, server.is_whole) == (status, b"", True)
    if status in {204, 304}:
        assert "content-length" not in server.headers


def test_a_range_says_its_length(stack):
    server = ask(stack, Server(), "GET", "/repo/main/large", range="bytes=5-300004")
    assert (server.status, server.content) == (206, LARGE[5:300_005])
    assert server.headers["content-length"] == "300000"
    assert server.is_whole


def test_other_kinds_of_connections_are_left_alone(stack):
    server = Server()
    asgi = Asgi(stack.application, threads=1, idle_s=1)
    asyncio.run(asgi({"type": "lifespan"}, server.receive, server.send))
    assert server.sent == []


def test_the_path_is_taken_as_it_was_sent(stack):
    stack.put("main/a//b c/../é%")
    server = ask(stack, Server(), "GET", "/repo/main/a//b c/../é%")
    assert server.content == b"content"


# The log


def test_a_request_has_one_line_without_secrets(stack, capsys):
    capsys.readouterr()
    put(stack, LARGE, cut(LARGE), user_agent="agent\u00e9 of a\ttest")
    ask(stack, Server(), "GET", "/repo/main/large")
    ask(stack, Server(), "GET", "/repo/main/missing")
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
    scope = {**scope_of(head), "raw_path": path.encode()}
    scope["headers"] = [*scope["headers"], (b"user-agent", b"a\nb\xff")]
    server = Server()
    asgi = Asgi(stack.application, threads=1, idle_s=1)
    asyncio.run(asgi(scope, server.receive, server.send))
    text = capsys.readouterr().out
    assert (text.count("\n"), json.loads(text)["status"]) == (1, 403)


def test_bytes_that_are_no_text_are_logged(stack, capsys):
    head = stack.signed("GET", "/repo", query="prefix=%FF%2Fx&delimiter=%FF&marker=%FF")
    capsys.readouterr()
    server = Server()
    asgi = Asgi(stack.application, threads=1, idle_s=1)
    asyncio.run(asgi(scope_of(head), server.receive, server.send))
    assert server.status == 200
    assert len(log_lines(capsys)) == 1


def test_a_fault_of_ours_is_an_error_in_the_log(stack, capsys, monkeypatch):
    monkeypatch.setattr(stack.world.refs, "repository", lambda *_: 1 / 0)
    capsys.readouterr()
    server = ask(stack, Server(), "GET", "/repo/main/a")
    (line,) = log_lines(capsys)
    assert (server.status, line["level"], line["code"]) == (500, "ERROR", "InternalError")
    assert "ZeroDivisionError" in line["error"]
    assert b"ZeroDivisionError" not in server.content
