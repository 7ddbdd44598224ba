"""The sockets of the S3 gateway: bodies of all kinds, broken ones, and clients that hang.

The requests are written byte by byte, because clients would repair or hide what happens.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import pytest
import requests

from graveler_embedded.stores import is_half_written
from tests.support.clients import raw_s3
from tests.support.clients.raw_s3 import RawAnswer, RawConnection, Signed, Signer
from tests.support.servers.http_server import until
from tests.support.servers.stack import BUCKET, Stack

pytestmark = pytest.mark.server

KB, MB = 1024, 1024**2
SIZES = [5, 70_000, 3 * MB]
CRC32 = "x-amz-checksum-crc32"


@dataclass(frozen=True)
class Lake:
    """A repository of the running stack, over raw connections."""

    stack: Stack
    name: str
    signer: Signer

    def connect(self, **settings: int) -> RawConnection:
        return RawConnection(self.stack.endpoint, **settings)

    def signed(
        self, method: str, key: str, *, payload: str = raw_s3.UNSIGNED, **headers: str
    ) -> Signed:
        """A signed head for a key under main; underscores in names of headers become hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.signer.signed(method, f"/{self.name}/main/{key}", named, payload=payload)

    def ask(self, method: str, key: str, body: bytes = b"", **headers: str) -> RawAnswer:
        """One request on a connection of its own."""
        if method in {"PUT", "POST"}:
            headers.setdefault("Content_Length", str(len(body)))
        with self.connect() as connection:
            connection.send(self.signed(method, key, **headers).head + body)
            return connection.answer(method)

    def put(self, key: str, content: bytes) -> None:
        assert self.ask("PUT", key, content).status == 200

    def get(self, key: str) -> bytes:
        answer = self.ask("GET", key)
        assert answer.status == 200, answer
        return answer.content

    def stored(self) -> set[str]:
        """The keys of all data of the repository in the store, whether an entry names them."""
        until(lambda: not any(map(is_half_written, self._listed())))
        return self._listed()

    def _listed(self) -> set[str]:
        pages = self.stack.s3.get_paginator("list_objects_v2").paginate(
            Bucket=BUCKET, Prefix=f"{self.name}/data/"
        )
        return {row["Key"] for page in pages for row in page.get("Contents", [])}

    def keys(self) -> list[str]:
        """The paths of all objects on main, by the API."""
        answer = requests.get(
            f"{self.stack.endpoint}/api/v1/repositories/{self.name}/refs/main/objects/ls",
            auth=(self.stack.access_key_id, self.stack.secret_access_key),
            timeout=300,
        )
        return [row["path"] for row in answer.json()["results"]]


@pytest.fixture
def lake(stack: Stack) -> Lake:
    name = f"sockets-{uuid4().hex[:12]}"
    made = requests.post(
        f"{stack.endpoint}/api/v1/repositories",
        json={"name": name, "storage_namespace": f"s3://{BUCKET}/{name}"},
        auth=(stack.access_key_id, stack.secret_access_key),
        timeout=300,
    )
    assert made.status_code == 201
    return Lake(stack, name, Signer(stack.endpoint, stack.access_key_id, stack.secret_access_key))


def crc32(content: bytes) -> str:
    return base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def cut(content: bytes) -> list[bytes]:
    """The content in chunks of 64 KB, as clients send them."""
    return [content[at : at + 64 * KB] for at in range(0, len(content), 64 * KB)]


# Bodies


def _hashed(lake: Lake, content: bytes) -> tuple[dict[str, str], str, Callable[[Signed], bytes]]:
    return {}, hashlib.sha256(content).hexdigest(), lambda _: content


def _unsigned(lake: Lake, content: bytes) -> tuple[dict[str, str], str, Callable[[Signed], bytes]]:
    return {CRC32: crc32(content)}, raw_s3.UNSIGNED, lambda _: content


def _signed_chunks(
    lake: Lake, content: bytes
) -> tuple[dict[str, str], str, Callable[[Signed], bytes]]:
    return {}, raw_s3.SIGNED_CHUNKS, lambda signed: signed.chunks(cut(content))


def _signed_trailer(
    lake: Lake, content: bytes
) -> tuple[dict[str, str], str, Callable[[Signed], bytes]]:
    trailer = f"{CRC32}:{crc32(content)}".encode()
    return (
        {"x-amz-trailer": CRC32},
        raw_s3.SIGNED_CHUNKS_AND_TRAILER,
        lambda signed: signed.chunks(cut(content), trailer=trailer),
    )


def _unsigned_trailer(
    lake: Lake, content: bytes
) -> tuple[dict[str, str], str, Callable[[Signed], bytes]]:
    trailer = f"{CRC32}:{crc32(content)}".encode()
    return (
        {"x-amz-trailer": CRC32},
        raw_s3.UNSIGNED_CHUNKS_AND_TRAILER,
        lambda _: raw_s3.unsigned_chunks(cut(content), trailer),
    )


CHUNKED = [_signed_chunks, _signed_trailer, _unsigned_trailer]


@pytest.mark.parametrize("size_bytes", SIZES)
@pytest.mark.parametrize("kind", [_hashed, _unsigned, *CHUNKED])
@pytest.mark.parametrize("in_http_chunks", [False, True])
def test_a_body_of_any_kind_is_taken(lake, kind, size_bytes, in_http_chunks):
    content = os.urandom(size_bytes)
    headers, payload, body_of = kind(lake, content)
    is_chunked = kind in CHUNKED
    if is_chunked:
        headers["x-amz-decoded-content-length"] = str(size_bytes)
        headers["Content-Encoding"] = "aws-chunked"
    if in_http_chunks:
        headers["Transfer-Encoding"] = "chunked"
    else:
        headers["Content-Length"] = str(len(body_of(Signed(b"", b"", "", "", "0" * 64))))
    signed = lake.signed("PUT", "object", payload=payload, **headers)
    body = body_of(signed)
    with lake.connect() as connection:
        connection.send(signed.head)
        connection.send(raw_s3.http_chunks(body, 50_000) if in_http_chunks else body)
        answer = connection.answer("PUT")
    if in_http_chunks and not is_chunked:  # S3 wants to know the length, too
        assert (answer.status, answer.code) == (411, "MissingContentLength")
        assert lake.keys() == []
    else:
        assert answer.status == 200, answer
        assert lake.get("object") == content


@pytest.mark.parametrize("size_bytes", SIZES)
@pytest.mark.parametrize("kind", [_hashed, _unsigned, *CHUNKED])
@pytest.mark.parametrize("waits", [False, True])
def test_a_body_that_is_not_what_was_announced_stores_nothing(lake, kind, size_bytes, waits):
    content = os.urandom(size_bytes)
    headers, payload, body_of = kind(lake, content)
    if kind in CHUNKED:
        headers["x-amz-decoded-content-length"] = str(size_bytes)
    headers["Content-Length"] = str(len(body_of(Signed(b"", b"", "", "", "0" * 64))))
    if waits:
        headers["Expect"] = "100-continue"
    signed = lake.signed("PUT", "object", payload=payload, **headers)
    wrong = content[size_bytes // 2 :][:20]
    body = body_of(signed).replace(wrong, bytes(byte ^ 1 for byte in wrong))
    with lake.connect() as connection:
        connection.send(signed.head)
        if waits:
            assert connection.line() + connection.line() == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(body)
        answer = connection.answer("PUT")
    assert answer.code in {"BadDigest", "XAmzContentSHA256Mismatch", "SignatureDoesNotMatch"}
    assert (lake.keys(), lake.stored()) == ([], set())


def begun(lake: Lake, kind: str, key: str, content: bytes) -> RawConnection:
    """A connection on which half of the content was sent."""
    half = cut(content)[: len(content) // (128 * KB) + 1]
    connection = lake.connect()
    if kind == "plain":
        signed = lake.signed("PUT", key, Content_Length=str(len(content)))
        connection.send(signed.head + b"".join(half)[: len(content) - 1])
        return connection
    framing = {"Transfer-Encoding": "chunked"}
    if kind == "signed chunks":
        framing = {"Content-Length": str(len(content) + 5000)}
    signed = lake.signed(
        "PUT",
        key,
        payload=raw_s3.SIGNED_CHUNKS,
        x_amz_decoded_content_length=str(len(content)),
        **framing,
    )
    body = signed.chunks(half, ends=False)
    if kind == "HTTP chunks":
        body = raw_s3.http_chunks(body, 50_000)[: -len(b"0\r\n\r\n")]
    connection.send(signed.head + body)
    return connection


@pytest.mark.parametrize("kind", ["plain", "signed chunks", "HTTP chunks"])
def test_an_upload_that_is_cut_off_leaves_nothing(lake, kind):
    log = lake.stack.data / "logs" / "api.log"
    logged_bytes = log.stat().st_size
    ends = ("closed", "reset", "half-closed")
    contents = {
        f"{size_bytes}/{end}": os.urandom(size_bytes)
        for size_bytes in (1000, 70_000, 3 * MB)
        for end in ends
    }
    with ExitStack() as cut_off:
        open_ones = {
            key: cut_off.enter_context(begun(lake, kind, key, content))
            for key, content in contents.items()
        }
        time.sleep(0.2)  # so that the server has begun
        for key, connection in open_ones.items():
            if key.endswith("half-closed"):
                connection.socket.shutdown(socket.SHUT_WR)
            elif key.endswith("reset"):
                reset = struct.pack("ii", 1, 0)
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    time.sleep(0.5)
    assert (lake.keys(), lake.stored()) == ([], set())
    assert b"Traceback" not in log.read_bytes()[logged_bytes:]
    for key, content in contents.items():
        lake.put(key, content)
        assert lake.get(key) == content


def test_an_upload_whose_last_byte_is_late_is_taken(lake):
    with lake.connect() as connection:
        connection.send(lake.signed("PUT", "late", Content_Length="10").head + b"123456789")
        time.sleep(1)
        connection.send(b"0")
        assert connection.answer("PUT").status == 200
    assert lake.get("late") == b"1234567890"


# Answers on one connection


def test_answers_without_a_body_leave_the_connection_usable(lake):
    lake.put("a", b"content")
    etag = lake.ask("HEAD", "a").headers["etag"]
    asked = [
        ("HEAD", {}, 200, b""),
        ("GET", {"If_None_Match": etag}, 304, b""),
        ("GET", {"If_Match": '"0"'}, 412, None),
        ("GET", {}, 200, b"content"),
        ("DELETE", {}, 204, b""),
        ("HEAD", {}, 404, b""),
        ("GET", {}, 404, None),
    ]
    with lake.connect() as connection:
        for method, headers, status, content in asked:
            connection.send(lake.signed(method, "a", **headers).head)
            answer = connection.answer(method)
            assert answer.status == status
            assert content is None or answer.content == content
            if method == "HEAD" and status == 200:
                assert answer.headers["content-length"] == "7"


def test_pipelined_requests_are_answered_in_their_order(lake):
    for name in "abc":
        lake.put(name, name.encode() * 100_000)
    heads = b"".join(lake.signed("GET", name).head for name in "abc")
    with lake.connect() as connection:
        connection.send(heads)
        stream = connection.socket.makefile("rb")
        for name in "abc":
            assert b"200" in stream.readline()
            length = 0
            while (line := stream.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert stream.read(length) == name.encode() * 100_000
        stream.close()


def test_a_refused_client_that_sends_all_the_same_gets_its_answer(lake):
    wrong = Signer(lake.stack.endpoint, lake.stack.access_key_id, "x" * 40)
    size_bytes = 30 * MB
    signed = wrong.signed("PUT", f"/{lake.name}/main/a", {"Content-Length": str(size_bytes)})
    with lake.connect() as connection:
        connection.send(signed.head)
        for _ in range(30):
            connection.send(b"x" * MB)
        answer = connection.answer("PUT")
    assert (answer.status, answer.code) == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize("size_bytes", [5, 3 * MB])
def test_a_refused_client_that_waits_is_not_waited_for(lake, size_bytes):
    wrong = Signer(lake.stack.endpoint, lake.stack.access_key_id, "x" * 40)
    headers = {"Content-Length": str(size_bytes), "Expect": "100-continue"}
    signed = wrong.signed("PUT", f"/{lake.name}/main/a", headers)
    with lake.connect() as connection:
        connection.send(signed.head)
        answer = connection.answer("PUT")
        # Else the next request on this connection would be read as the body.
        assert (answer.status, answer.headers["connection"]) == (403, "close")
        assert connection.line() == b""


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "TRACE", "BREW"])
def test_an_unknown_method_is_refused(lake, method):
    lake.put("a", b"content")
    answer = lake.ask(method, "a")
    assert answer.status in {400, 403, 405}, answer
    assert lake.get("a") == b"content"


def test_what_is_larger_than_the_limits_is_refused(lake):
    huge = lake.signed("PUT", "a", Content_Length=str(6 * 1024**3), Expect="100-continue")
    with lake.connect() as connection:
        connection.send(huge.head)
        answer = connection.answer("PUT")
    assert (answer.status, answer.code) == (400, "EntityTooLarge")
    assert lake.ask("PUT", "k" * 1025, b"x").code == "KeyTooLongError"
    assert lake.ask("PUT", "a", b"x", x_amz_meta_k="v" * 3000).code == "MetadataTooLarge"
    assert lake.ask("GET", "a", x_amz_meta_k="v" * 100_000).status in {400, 404, 431}
    document = b"<Tagging>" + b" " * 9 * MB + b"</Tagging>"
    target = f"/{lake.name}/main/a?tagging="
    headers = {"Content-Length": str(len(document))}
    with lake.connect() as connection:
        connection.send(lake.signer.signed("PUT", target, headers).head + document)
        assert connection.answer("PUT").status in {400, 404}
    assert (lake.keys(), lake.stored()) == ([], set())


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n",
        b"GET /\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PUT /a/main/b HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"PUT /a/main/b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"GET /%zz HTTP/1.1\r\nHost: x\r\nAuthorization: AWS4-HMAC-SHA256 x\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\nAuthorization: AWS4-HMAC-SHA256 x\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 2000 + b"\r\n",
    ],
)
def test_nonsense_does_not_stop_the_server(lake, head):
    lake.put("a", b"content")
    with lake.connect(timeout_s=2) as connection:
        connection.send(head)
        try:
            first = connection.line()
        except (TimeoutError, ConnectionResetError):
            first = b""
    assert not first.startswith(b"HTTP/1.1 2")
    assert not first.startswith(b"HTTP/1.1 5")
    assert lake.get("a") == b"content"


def test_connections_that_hang_do_not_stop_others(lake):
    lake.put("a", b"content")
    with ExitStack() as hanging:
        for number in range(150):
            connection = hanging.enter_context(lake.connect())
            if number % 3 == 1:
                connection.send(lake.signed("GET", "a").head[:-10])
            elif number % 3 == 2:
                connection.send(lake.signed("PUT", f"b{number}", Content_Length="1000000").head)
        for _ in range(20):
            assert lake.get("a") == b"content"
        lake.put("c", b"content")
    assert lake.get("c") == b"content"
