"""An upload that does not arrive whole is refused, and what was there before stays.

The requests are written byte by byte, because no client would send them.
"""

import base64
import http.client
import json
import socket
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from tests.support.servers.stack import BUCKET

pytestmark = pytest.mark.server

GOOD = b"the good content"
REPOSITORY = "/api/v1/repositories/whole"
TARGET = f"{REPOSITORY}/branches/main/objects?path=object"


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


class Uploads:
    """Raw requests to the API, and the object that they must not replace."""

    def __init__(self, stack):
        self._port = stack.port
        pair = f"{stack.access_key_id}:{stack.secret_access_key}".encode()
        self._authorization = f"Basic {base64.b64encode(pair).decode()}"
        namespace = {"name": "whole", "storage_namespace": f"s3://{BUCKET}/whole"}
        self.ask("POST", "/api/v1/repositories", json.dumps(namespace), "application/json")

    def ask(self, method, target, body=None, kind="application/octet-stream"):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        headers = {"Authorization": self._authorization, "Content-Type": kind}
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        finally:
            connection.close()

    def head(self, *headers, version="1.1", target=TARGET):
        lines = [
            f"POST {target} HTTP/{version}",
            "Host: 127.0.0.1",
            f"Authorization: {self._authorization}",
            "Content-Type: application/octet-stream",
            *headers,
        ]
        return "\r\n".join([*lines, "", ""]).encode()

    def send(self, *parts):
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=300)
        for part in parts:
            connection.sendall(part)
        return connection

    def answers(self, *parts, is_all=True):
        """Send the parts, and that it is all, and return the answers until the connection ends."""
        found = []
        with self.send(*parts) as connection:
            if is_all:
                with suppress(OSError):  # the server may have ended the connection
                    connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as reader:
                while line := reader.readline():
                    status = int(line.split()[1])
                    headers = http.client.parse_headers(reader)
                    body = reader.read(int(headers.get("Content-Length", 0)))
                    found.append(Answer(status, body))
        return found

    @property
    def content(self):
        return self.ask("GET", f"{REPOSITORY}/refs/main/objects?path=object").body


@pytest.fixture(scope="module")
def shared(stack):
    return Uploads(stack)


@pytest.fixture
def uploads(shared):
    assert shared.ask("POST", TARGET, GOOD).status == 201
    return shared


CHUNKED = "Transfer-Encoding: chunked"

CUT = {
    "a body that is shorter than its length": (("Content-Length: 10",), b"12345", 400),
    "a large body that is cut": (("Content-Length: 3000000",), bytes(2_000_000), 400),
    "no byte of a body": (("Content-Length: 10",), b"", 400),
    "a malformed size of a chunk": ((CHUNKED,), b"5\r\n12345\r\nzz\r\nab\r\n0\r\n\r\n", 400),
    "a first size that is malformed": ((CHUNKED,), b"zz\r\nab\r\n0\r\n\r\n", 400),
    "a size that is negative": ((CHUNKED,), b"-5\r\n12345\r\n0\r\n\r\n", 400),
    "a size that no integer holds": ((CHUNKED,), b"F" * 17 + b"\r\n12345\r\n0\r\n\r\n", 400),
    "a chunk that is cut": ((CHUNKED,), b"5\r\n12345\r\n5\r\n12", 400),
    "a chunk that is longer than its size": ((CHUNKED,), b"5\r\n1234567\r\n0\r\n\r\n", 400),
    "no last chunk": ((CHUNKED,), b"5\r\n12345\r\n", 400),
    "a last chunk that is cut": ((CHUNKED,), b"5\r\n12345\r\n0\r\n", 400),
    "no chunk at all": ((CHUNKED,), b"", 400),
    "a negative length": (("Content-Length: -5",), b"12345", 400),
    "a length with a sign": (("Content-Length: +5",), b"12345", 400),
    "a length that is no number": (("Content-Length: 5x",), b"12345", 400),
    "two lengths": (("Content-Length: 3", "Content-Length: 5"), b"12345", 400),
    "lengths in a list": (("Content-Length: 5, 5",), b"12345", 400),
    "a coding that is none": (("Transfer-Encoding: identity",), b"12345", 400),
}


@pytest.mark.parametrize("name", CUT)
def test_an_upload_that_is_not_whole_changes_nothing(uploads, name):
    headers, body, status = CUT[name]
    assert [each.status for each in uploads.answers(uploads.head(*headers), body)] == [status]
    assert uploads.content == GOOD


@pytest.mark.parametrize("name", CUT)
def test_an_upload_whose_client_goes_away_changes_nothing(uploads, name):
    headers, body, _ = CUT[name]
    uploads.send(uploads.head(*headers), body).close()
    assert uploads.content == GOOD


def test_an_upload_in_another_coding_is_refused(uploads):
    head = uploads.head("Transfer-Encoding: gzip, chunked", "Connection: close")
    (answer,) = uploads.answers(head, b"5\r\n12345\r\n0\r\n\r\n", is_all=False)
    assert answer.status == 501
    assert uploads.content == GOOD


def test_a_request_of_http_1_0_without_a_length_is_refused(uploads):
    (answer,) = uploads.answers(uploads.head(version="1.0"), b"12345")
    assert answer.status == 411
    assert uploads.content == GOOD


def test_chunks_beside_a_length_are_refused_and_the_connection_ends(uploads):
    """A proxy that goes by the length would see another request in the rest (RFC 9112, 6.1)."""
    whole = uploads.head(CHUNKED, "Content-Length: 3") + b"5\r\n12345\r\n0\r\n\r\n"
    found = uploads.answers(whole, uploads.head("Content-Length: 5"), b"67890")
    assert [each.status for each in found] == [400]
    assert uploads.content == GOOD


def test_pipelined_uploads_are_answered_in_order(uploads):
    first = uploads.head("Content-Length: 5") + b"12345"
    second = uploads.head("Content-Length: 5", "Connection: close") + b"67890"
    found = uploads.answers(first, second, is_all=False)
    assert [each.status for each in found] == [201, 201]
    assert uploads.content == b"67890"


def test_a_cut_upload_behind_a_whole_one_changes_nothing_more(uploads):
    first = uploads.head("Content-Length: 5") + b"12345"
    second = uploads.head("Content-Length: 50") + b"67890"
    assert [each.status for each in uploads.answers(first, second)] == [201, 400]
    assert uploads.content == b"12345"


def test_bytes_behind_an_upload_belong_to_no_object(uploads):
    found = uploads.answers(uploads.head("Content-Length: 5"), b"1234567890")
    assert found[0].status == 201
    assert uploads.content == b"12345"


def test_an_upload_that_is_cut_after_100_continue_changes_nothing(uploads):
    head = uploads.head("Content-Length: 10", "Expect: 100-continue")
    with uploads.send(head) as connection, connection.makefile("rb") as reader:
        assert reader.readline().split()[1] == b"100"
        connection.sendall(b"12345")
        connection.shutdown(socket.SHUT_WR)
        assert b" 400 " in reader.read()
    assert uploads.content == GOOD


@pytest.mark.parametrize("is_chunked", [False, True])
def test_an_upload_over_the_limit_changes_nothing(uploads, is_chunked):
    size = API_GATEWAY_BODY_BYTES_MAX + 1
    body = bytes(size)
    if is_chunked:
        head = uploads.head(CHUNKED, "Connection: close")
        parts = [head, b"%x\r\n" % size, body, b"\r\n0\r\n\r\n"]
    else:
        parts = [uploads.head(f"Content-Length: {size}", "Connection: close"), body]
    assert [each.status for each in uploads.answers(*parts, is_all=False)] == [413]
    assert uploads.content == GOOD


PRESIGNED = {
    "a body that is shorter than its length": (("Content-Length: 10",), b"12345"),
    "a malformed size of a chunk": ((CHUNKED,), b"5\r\n12345\r\nzz\r\nab\r\n0\r\n\r\n"),
    "a chunk that is cut": ((CHUNKED,), b"5\r\n12345\r\n5\r\n12"),
    "no last chunk": ((CHUNKED,), b"5\r\n12345\r\n"),
    "an aws-chunk that is cut": (
        (
            "Content-Length: 400",
            "Content-Encoding: aws-chunked",
            "x-amz-decoded-content-length: 10",
            "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        ),
        b"a\r\n12345",
    ),
    "aws-chunks that end early": (
        (
            "Content-Length: 15",
            "Content-Encoding: aws-chunked",
            "x-amz-decoded-content-length: 10",
            "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        ),
        b"5\r\n12345\r\n0\r\n\r\n",
    ),
}


@pytest.mark.parametrize("name", PRESIGNED)
def test_a_presigned_upload_that_is_not_whole_changes_nothing(stack, name):
    stack.s3.put_object(Bucket=BUCKET, Key="presigned", Body=GOOD)
    place = {"Bucket": BUCKET, "Key": "presigned"}
    url = urlsplit(stack.s3.generate_presigned_url("put_object", Params=place))
    headers, body = PRESIGNED[name]
    lines = [f"PUT {url.path}?{url.query} HTTP/1.1", f"Host: {url.netloc}", *headers, "", ""]
    with socket.create_connection((url.hostname, url.port), timeout=300) as connection:
        connection.sendall("\r\n".join(lines).encode() + body)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()
    assert not answer.startswith(b"HTTP/1.1 2"), answer
    assert stack.s3.get_object(**place)["Body"].read() == GOOD
