"""A server on loopback that has one object, and answers some requests in other ways."""

import re
import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from graveler.aws.s3.signed_requests import SignedS3Request

_PIECE_BYTES = 65_536


@dataclass(frozen=True)
class Act:
    """What happens to a request.

    answer: None serves it. cut_bytes: so many bytes of the answer are sent, and then the connection
    is closed. resets: it is closed by a reset. reads_body: else the answer comes before the body.
    """

    answer: bytes | None = None
    cut_bytes: int | None = None
    closes: bool = False
    resets: bool = False
    reads_body: bool = True


@dataclass
class Got:
    """A request as it arrived; a body may be cut off."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def is_whole(self) -> bool:
        return len(self.body) == int(self.headers.get("content-length", "0"))


class ScriptedS3:
    """Serves ranges of `content` and takes any PUT, unless `acts` says otherwise."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content
        self.acts: deque[Act] = deque()
        self.got: list[Got] = []
        self.connections = 0
        self._ended = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepted: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def request(self, first: int = 0, last: int = 0) -> SignedS3Request:
        """Return a request for a range of the object."""
        return self._request("GET", {"range": f"bytes={first}-{last}"})

    def put(self, length_bytes: int) -> SignedS3Request:
        """Return a request that stores so many bytes."""
        return self._request("PUT", {"content-length": str(length_bytes)})

    def _request(self, method: str, headers: dict[str, str]) -> SignedS3Request:
        port = self._listener.getsockname()[1]
        headers = {"host": f"127.0.0.1:{port}", **headers}
        return SignedS3Request(method, "http", "127.0.0.1", port, "/bucket/key", headers)

    def wait_for(self, amount: int) -> list[Got]:
        """Return the requests, once so many have ended."""
        with self._ended:
            assert self._ended.wait_for(lambda: len(self.got) >= amount, 10)
            return self.got

    def drop_connections(self) -> None:
        """Close all connections, as S3 does with idle ones."""
        for connection in self._accepted:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.drop_connections()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._accepted.append(connection)
            number = self.connections
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, suppress(OSError):
            received = b""
            while True:
                while b"\r\n\r\n" not in received:
                    data = connection.recv(_PIECE_BYTES)
                    if not data:
                        return
                    received += data
                head, _, received = received.partition(b"\r\n\r\n")
                got = _parsed(head, number)
                act = self.acts.popleft() if self.acts else Act()
                if act.reads_body:
                    received = self._read_body(connection, got, received)
                if not self._answer(connection, got, act):
                    return

    def _read_body(self, connection: socket.socket, got: Got, received: bytes) -> bytes:
        length = int(got.headers.get("content-length", "0"))
        body = bytearray(received[:length])
        with suppress(OSError):
            while len(body) < length:
                data = connection.recv(_PIECE_BYTES)
                if not data:
                    break
                body += data
        got.body = bytes(body)
        return received[length:]

    def _answer(self, connection: socket.socket, got: Got, act: Act) -> bool:
        """Answer the request; return whether the connection goes on."""
        answer = self._served(got) if act.answer is None else act.answer
        with self._ended:
            self.got.append(got)
            self._ended.notify_all()
        if got.is_whole or not act.reads_body:
            connection.sendall(answer[: act.cut_bytes])
        if act.resets:
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return not (act.closes or act.resets or act.cut_bytes is not None) and act.reads_body

    def _served(self, got: Got) -> bytes:
        if got.method == "PUT":
            return answer_of(200, b"", 'ETag: "etag"')
        found = re.fullmatch("bytes=([0-9]+)-([0-9]+)", got.headers["range"])
        assert found is not None
        first, last = int(found[1]), int(found[2])
        if first >= len(self.content):
            return answer_of(416, b"")
        return answer_of(206, self.content[first : last + 1])


def _parsed(head: bytes, connection: int) -> Got:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = [line.partition(":") for line in lines]
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Got(method, target, headers, b"", connection)


def answer_of(status: int, content: bytes, *headers: str) -> bytes:
    """Return an answer as it is on the wire."""
    lines = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + content


def refusal(status: int, code: str) -> bytes:
    """Return an answer that refuses with a code of S3's."""
    document = f"<Error><Code>{code}</Code><Message>why</Message></Error>"
    return answer_of(status, document.encode())
