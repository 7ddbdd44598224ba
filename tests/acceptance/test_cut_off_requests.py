"""A request that did not arrive whole changes nothing, however its connection ends."""

import base64
import json
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import lakefs
import pytest
import requests

from tests.support.stack import Stack

pytestmark = pytest.mark.server

GOOD, NEW = b"the good object", b"half of a new object"
FORM = (
    b'--edge\r\nContent-Disposition: form-data; name="content"\r\n\r\n' + NEW + b"\r\n--edge--\r\n"
)
JSON, BYTES = "application/json", "application/octet-stream"
FORM_TYPE = "multipart/form-data; boundary=edge"


class Sender:
    """Writes requests to main byte by byte, where a client's library would repair them."""

    def __init__(self, stack: Stack, repository: lakefs.Repository) -> None:
        self.repository = repository
        self.auth = (stack.access_key_id, stack.secret_access_key)
        self._address = urlsplit(stack.endpoint)
        self.url = f"{stack.endpoint}/api/v1/repositories/{repository.id}"

    def connect(self, method: str, path: str, content_type: str, framing: str) -> socket.socket:
        """A connection on which the head of a request was sent."""
        key = base64.b64encode(":".join(self.auth).encode()).decode()
        head = (
            f"{method} {urlsplit(self.url).path}/branches/main/{path} HTTP/1.1\r\n"
            f"Host: {self._address.netloc}\r\nAuthorization: Basic {key}\r\n"
            f"Content-Type: {content_type}\r\n{framing}\r\n\r\n"
        )
        made = socket.create_connection((self._address.hostname, self._address.port), timeout=10)
        made.sendall(head.encode())
        return made

    def state(self) -> tuple[bytes, str]:
        """The content of `good`, and the head of main."""
        at = f"{self.url}/refs/main/objects"
        content = requests.get(at, params={"path": "good"}, auth=self.auth, timeout=10).content
        branch = requests.get(f"{self.url}/branches/main", auth=self.auth, timeout=10).json()
        return content, branch["commit_id"]


@pytest.fixture
def sender(stack: Stack, repository: lakefs.Repository, main: lakefs.Branch) -> Sender:
    main.object("good").upload(GOOD, mode="wb")
    return Sender(stack, repository)


def upload(_: Sender) -> tuple[str, str, str, bytes]:
    return "POST", "objects?path=good", BYTES, NEW


def upload_form(_: Sender) -> tuple[str, str, str, bytes]:
    return "POST", "objects?path=good", FORM_TYPE, FORM


def stage(sender: Sender) -> tuple[str, str, str, bytes]:
    address = f"{sender.repository.properties.storage_namespace}/data/elsewhere"
    body = {"physical_address": address, "checksum": "c", "size_bytes": 1}
    return "PUT", "objects?path=good", JSON, json.dumps(body).encode()


def link(sender: Sender) -> tuple[str, str, str, bytes]:
    at = f"{sender.url}/branches/main/staging/backing"
    parameters = {"path": "good", "presign": "true"}
    place = requests.get(at, params=parameters, auth=sender.auth, timeout=10).json()
    etag = requests.put(place["presigned_url"], data=NEW, timeout=10).headers["ETag"]
    body = {"staging": place, "checksum": etag, "size_bytes": len(NEW)}
    return "PUT", "staging/backing?path=good", JSON, json.dumps(body).encode()


def commit(_: Sender) -> tuple[str, str, str, bytes]:
    return "POST", "commits", JSON, b'{"message": "m"}'


CHUNKED = "Transfer-Encoding: chunked"


def chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


# The header that frames the body, and what is sent of it.
Framing = Callable[[bytes], tuple[str, bytes]]
BROKEN: dict[str, Framing] = {
    "half of its length": lambda body: (f"Content-Length: {len(body)}", body[: len(body) // 2]),
    "all but a line end": lambda body: (f"Content-Length: {len(body) + 2}", body),
    "no byte": lambda body: (f"Content-Length: {len(body)}", b""),
    "no last chunk": lambda body: (CHUNKED, chunk(body)),
    "no chunk": lambda _: (CHUNKED, b""),
    "end of the last chunk missing": lambda body: (CHUNKED, chunk(body) + b"0\r\n"),
    "chunk size cut off": lambda body: (CHUNKED, chunk(body) + b"1"),
    "chunk size no number": lambda body: (CHUNKED, chunk(body) + b"zz\r\nx\r\n0\r\n\r\n"),
    "chunk shorter than it says": lambda body: (CHUNKED, b"fff\r\n" + body + b"\r\n0\r\n\r\n"),
    "chunk longer than it says": lambda body: (CHUNKED, b"2\r\n" + body + b"\r\n0\r\n\r\n"),
    "negative length": lambda body: ("Content-Length: -1", body),
    "conflicting lengths": lambda body: (
        f"Content-Length: {len(body)}\r\nContent-Length: {len(body) - 1}",
        body,
    ),
    "another coding": lambda body: (
        "Transfer-Encoding: gzip, chunked",
        chunk(body) + b"0\r\n\r\n",
    ),
}
WHOLE: dict[str, Framing] = {
    "length": lambda body: (f"Content-Length: {len(body)}", body),
    "chunks": lambda body: (CHUNKED, chunk(body[:3]) + chunk(body[3:]) + b"0\r\n\r\n"),
    # The length does not count beside chunks (RFC 9112).
    "both": lambda body: (f"Content-Length: 9999\r\n{CHUNKED}", chunk(body) + b"0\r\n\r\n"),
}

operations = pytest.mark.parametrize("make", [upload, upload_form, stage, link, commit])


def status_of(connection: socket.socket) -> int:
    """The status of the answer; 0 if the server hung up."""
    try:
        line = connection.makefile("rb").readline()
    except ConnectionError:
        return 0
    return int(line.split()[1]) if line else 0


@operations
@pytest.mark.parametrize("framing", WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_request_counts(sender, make, framing):
    before = sender.state()
    method, path, content_type, body = make(sender)
    header, sent = framing(body)
    with sender.connect(method, path, content_type, header) as connection:
        connection.sendall(sent)
        assert status_of(connection) in (200, 201)
    assert sender.state() != before


@operations
@pytest.mark.parametrize("framing", BROKEN.values(), ids=BROKEN.keys())
def test_a_request_that_is_not_whole_is_refused_and_changes_nothing(sender, make, framing):
    before = sender.state()
    method, path, content_type, body = make(sender)
    header, sent = framing(body)
    with sender.connect(method, path, content_type, header) as connection:
        with suppress(OSError):  # the server may have hung up already
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        assert status_of(connection) in (0, 307, 400)
    assert sender.state() == before


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if "chunk" in name and name != "no chunk"]
)
def test_broken_chunks_are_refused_also_where_the_body_may_be_empty(sender, name):
    before = sender.state()
    header, sent = BROKEN[name](NEW)
    at = "objects?path=good&graveler-empty-body"
    with sender.connect("POST", at, BYTES, header) as connection:
        with suppress(OSError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        assert status_of(connection) in (0, 400)
    assert sender.state() == before


@operations
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("name", ["half of its length", "all but a line end", "no last chunk"])
def test_a_connection_that_is_gone_leaves_nothing_behind(sender, make, name, reset):
    before = sender.state()
    method, path, content_type, body = make(sender)
    header, sent = BROKEN[name](body)
    connection = sender.connect(method, path, content_type, header)
    connection.sendall(sent)
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    time.sleep(0.3)  # nobody is there to hear that it was refused
    assert sender.state() == before


def test_an_empty_body_in_chunks_is_stored_as_an_empty_object(sender, main):
    at = f"{sender.url}/branches/main/objects"
    sent = requests.post(at, params={"path": "good"}, data=iter(()), auth=sender.auth, timeout=10)
    assert sent.request.headers["Transfer-Encoding"] == "chunked"
    assert (sent.status_code, sent.json()["size_bytes"]) == (201, 0)
    assert main.object("other").upload(b"", mode="wb", pre_sign=False).stat().size_bytes == 0


def test_a_form_without_its_last_boundary_changes_nothing(sender):
    before = sender.state()
    for length in (len(FORM) - 30, len(FORM) - 5, len(FORM) - 3):
        header = f"Content-Length: {length}"
        with sender.connect("POST", "objects?path=good", FORM_TYPE, header) as connection:
            connection.sendall(FORM[:length])
            assert status_of(connection) == 400
    assert sender.state() == before
