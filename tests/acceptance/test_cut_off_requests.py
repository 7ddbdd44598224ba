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

from graveler.limits import API_GATEWAY_BODY_BYTES_MAX
from tests.support.servers.stack import Stack

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
        made = socket.create_connection((self._address.hostname, self._address.port), timeout=300)
        made.sendall(self.head(method, path, content_type, framing))
        return made

    def head(self, method: str, path: str, content_type: str, framing: str) -> bytes:
        key = base64.b64encode(":".join(self.auth).encode()).decode()
        head = (
            f"{method} {urlsplit(self.url).path}/branches/main/{path} HTTP/1.1\r\n"
            f"Host: {self._address.netloc}\r\nAuthorization: Basic {key}\r\n"
            f"Content-Type: {content_type}\r\n{framing}\r\n\r\n"
        )
        return head.encode()

    def state(self) -> tuple[bytes, str]:
        """The content of `good`, and the head of main."""
        at = f"{self.url}/refs/main/objects"
        content = requests.get(at, params={"path": "good"}, auth=self.auth, timeout=300).content
        branch = requests.get(f"{self.url}/branches/main", auth=self.auth, timeout=300).json()
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
    place = requests.get(at, params=parameters, auth=sender.auth, timeout=300).json()
    etag = requests.put(place["presigned_url"], data=NEW, timeout=300).headers["ETag"]
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
    "first chunk size no number": lambda body: (CHUNKED, b"zz\r\n" + body + b"\r\n0\r\n\r\n"),
    "first chunk without data": lambda body: (CHUNKED, b"%x\r\n" % len(body)),
    "negative chunk size": lambda body: (CHUNKED, chunk(body) + b"-4\r\nx\r\n0\r\n\r\n"),
    "unfinished chunks beside a length": lambda body: (
        f"Content-Length: {len(body)}\r\n{CHUNKED}",
        chunk(body),
    ),
    "a length beside no chunks": lambda body: (f"Content-Length: {len(body)}\r\n{CHUNKED}", body),
    "length no number": lambda body: ("Content-Length: 0x5", body),
    "list of lengths": lambda body: (f"Content-Length: {len(body)}, {len(body)}", body),
    "unknown coding": lambda body: ("Transfer-Encoding: xchunked", chunk(body) + b"0\r\n\r\n"),
    "negative length": lambda body: ("Content-Length: -1", body),
    "conflicting lengths": lambda body: (
        f"Content-Length: {len(body)}\r\nContent-Length: {len(body) - 1}",
        body,
    ),
    # A proxy could read these two differently (RFC 9112, section 6.3).
    "the same length twice": lambda body: (
        f"Content-Length: {len(body)}\r\nContent-Length: {len(body)}",
        body,
    ),
    "a length beside whole chunks": lambda body: (
        f"Content-Length: 9999\r\n{CHUNKED}",
        chunk(body) + b"0\r\n\r\n",
    ),
    "another coding": lambda body: (
        "Transfer-Encoding: gzip, chunked",
        chunk(body) + b"0\r\n\r\n",
    ),
}
WHOLE: dict[str, Framing] = {
    "length": lambda body: (f"Content-Length: {len(body)}", body),
    "chunks": lambda body: (CHUNKED, chunk(body[:3]) + chunk(body[3:]) + b"0\r\n\r\n"),
    "a length with a name that only looks so": lambda body: (
        f"Content_Length: 3\r\nTransfer_Encoding: chunked\r\nContent-Length: {len(body)}",
        body,
    ),
}

operations = pytest.mark.parametrize("make", [upload, upload_form, stage, link, commit])


def status_of(connection: socket.socket) -> int:
    """The status of the answer; 0 if the server hung up."""
    try:
        line = connection.makefile("rb").readline()
    except ConnectionError:
        return 0
    return int(line.split()[1]) if line else 0


def of_operation(make: Callable[..., object], framings: dict[str, Framing], *names: str):
    """The framings to try: how a body is framed is no matter of the operation, so one has all."""
    return framings if make is upload else {name: framings[name] for name in names}


@operations
def test_a_whole_request_counts(sender, make):
    for name, framing in of_operation(make, WHOLE, "chunks").items():
        before = sender.state()
        method, path, content_type, body = make(sender)
        if make is upload:
            body = name.encode()
        header, sent = framing(body)
        with sender.connect(method, path, content_type, header) as connection:
            connection.sendall(sent)
            assert status_of(connection) in (200, 201), name
        assert sender.state() != before, name


@operations
def test_a_request_that_is_not_whole_is_refused_and_changes_nothing(sender, make):
    before = sender.state()
    method, path, content_type, body = make(sender)
    counted = []
    for name, framing in of_operation(make, BROKEN, "half of its length", "no last chunk").items():
        header, sent = framing(body)
        with sender.connect(method, path, content_type, header) as connection:
            with suppress(OSError):  # the server may have hung up already
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            status = status_of(connection)
        if status not in (0, 400, 501) or sender.state() != before:
            counted.append((name, status))
    assert counted == []


MALFORMED = (
    *("chunk size no number", "first chunk size no number", "negative chunk size"),
    *("chunk longer than it says", "negative length", "length no number", "conflicting lengths"),
)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_is_refused_while_its_connection_is_open(sender, name):
    before = sender.state()
    header, sent = BROKEN[name](NEW)
    with sender.connect("POST", "objects?path=good", BYTES, header) as connection:
        with suppress(OSError):
            connection.sendall(sent)
        assert status_of(connection) in (0, 400)
    assert sender.state() == before


def test_a_client_that_waits_to_continue_and_then_sends_less_changes_nothing(sender):
    before = sender.state()
    header = f"Content-Length: {len(NEW)}\r\nExpect: 100-continue"
    with sender.connect("POST", "objects?path=good", BYTES, header) as connection:
        assert status_of(connection) == 100
        connection.sendall(NEW[:-1])
        connection.shutdown(socket.SHUT_WR)
        answers = connection.makefile("rb").read()
        assert b"HTTP/1.1 400 " in answers
    assert sender.state() == before


@pytest.mark.parametrize("name", ["half of its length", "no last chunk", "chunk size no number"])
def test_a_broken_request_after_a_whole_one_on_the_same_connection_changes_nothing(sender, name):
    header, sent = BROKEN[name](NEW)
    with sender.connect("POST", "objects?path=good", BYTES, "Content-Length: 5") as connection:
        connection.sendall(b"first" + sender.head("POST", "objects?path=good", BYTES, header))
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        connection.makefile("rb").read()
    content, _ = sender.state()
    # The answer to the first request may be lost; the second request is never stored.
    assert content in (b"first", GOOD)


def test_requests_that_were_sent_one_after_the_other_without_waiting_all_count(sender):
    header = "Content-Length: 5"
    with sender.connect("POST", "objects?path=good", BYTES, header) as connection:
        second = sender.head("POST", "objects?path=good", BYTES, f"{header}\r\nConnection: close")
        connection.sendall(b"first" + second + b"other")
        assert connection.makefile("rb").read().count(b"HTTP/1.1 201 ") == 2
    assert sender.state()[0] == b"other"


TOO_LARGE = bytes(API_GATEWAY_BODY_BYTES_MAX + 1)
OVER_THE_LIMIT: dict[str, tuple[Framing, set[int]]] = {
    "length": (lambda body: (f"Content-Length: {len(body)}", body), {413}),
    "chunks": (lambda body: (CHUNKED, chunk(body) + b"0\r\n\r\n"), {413}),
    "length, cut off": (lambda body: (f"Content-Length: {len(body)}", body[:-1]), {0, 400, 413}),
    "chunks, cut off": (lambda body: (CHUNKED, chunk(body)), {0, 400, 413}),
}


@pytest.mark.parametrize(
    ("framing", "statuses"), OVER_THE_LIMIT.values(), ids=OVER_THE_LIMIT.keys()
)
def test_a_body_over_the_limit_is_refused_and_changes_nothing(sender, framing, statuses):
    before = sender.state()
    header, sent = framing(TOO_LARGE)
    with sender.connect("POST", "objects?path=good", BYTES, header) as connection:
        with suppress(OSError):
            connection.sendall(sent)
            if statuses != {413}:
                connection.shutdown(socket.SHUT_WR)
        assert status_of(connection) in statuses
    assert sender.state() == before


@operations
def test_a_connection_that_is_gone_leaves_nothing_behind(sender, make):
    before = sender.state()
    method, path, content_type, body = make(sender)
    for name in ("half of its length", "all but a line end", "no last chunk"):
        for is_reset in (False, True):
            header, sent = BROKEN[name](body)
            connection = sender.connect(method, path, content_type, header)
            connection.sendall(sent)
            if is_reset:
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.close()
    time.sleep(0.3)  # nobody is there to hear that it was refused
    assert sender.state() == before


def test_an_empty_body_in_chunks_is_stored_as_an_empty_object(sender, main):
    at = f"{sender.url}/branches/main/objects"
    sent = requests.post(at, params={"path": "good"}, data=iter(()), auth=sender.auth, timeout=300)
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
