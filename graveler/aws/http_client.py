"""Keep-alive HTTP/1.1 to one endpoint, at a fraction of the usual cost.

Theory of operation. A request to DynamoDB through botocore costs 0.6 ms of the caller's processor,
more than the database takes to answer; almost all of it builds and parses headers. The services'
APIs need none of that: a request is one write, an answer is a status, few headers and a body of
known length. So this module writes and reads just that (docs/adr has the numbers).

A connection belongs to one exchange at a time. After a complete answer it goes back to the pool;
after anything else it is closed, since nobody knows what would be read next. `begin` sends,
`Pending.finish` reads: two exchanges begun together travel together.
"""

import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import urlsplit

CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 10.0

# The services close idle connections after a minute or less; a request that meets the closing may
# or may not have been read, so old connections are not tried at all.
IDLE_S_MAX = 20.0

_LINE_BYTES_MAX = 65_536
_HEADERS_MAX = 100


class NotSentError(OSError):
    """No connection could be made: the request certainly had no effect."""


class NoAnswerError(OSError):
    """The connection failed before the whole answer came: the request may have had its effect."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Connection:
    """One socket and its buffered reader."""

    def __init__(self, address: tuple[str, int], tls: ssl.SSLContext | None) -> None:
        self._socket = socket.create_connection(address, CONNECT_TIMEOUT_S)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if tls is not None:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address[0])
            self._socket.settimeout(READ_TIMEOUT_S)
        except OSError:
            self._socket.close()
            raise
        self.reader: BinaryIO = self._socket.makefile("rb")
        self.idle_since_s = 0.0
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)

    def is_usable(self) -> bool:
        """Whether the other side has left the idle connection open, and silent."""
        return time.monotonic() - self.idle_since_s < IDLE_S_MAX and not self._readable.poll(0)

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def close(self) -> None:
        self.reader.close()
        self._socket.close()


class Pending:
    """A request that was sent; `finish` takes its answer, once."""

    def __init__(self, client: "HttpClient", connection: _Connection, *, has_body: bool) -> None:
        self._client = client
        self._connection = connection
        self._has_body = has_body
        self._is_finished = False

    def finish(self) -> Answer:
        """Wait for the whole answer.

        Raises:
            NoAnswerError: it did not come.
        """
        self._is_finished = True
        try:
            answer = _read_answer(self._connection.reader, has_body=self._has_body)
        except (OSError, ValueError) as error:
            self._connection.close()
            raise NoAnswerError(f"{self._client.host} did not answer: {error}") from error
        except BaseException:  # an interrupt must not leave half an answer in the pool
            self._connection.close()
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self._connection.close()
        else:
            self._client.give_back(self._connection)
        return answer

    def abandon(self) -> None:
        """Give up an answer that nobody waits for; after `finish` this does nothing."""
        if not self._is_finished:
            self._is_finished = True
            self._connection.close()


class HttpClient:
    """A pool of connections to one endpoint, shared by all threads."""

    def __init__(self, endpoint: str) -> None:
        self._idle: deque[_Connection] = deque()
        parts = urlsplit(endpoint)
        secure = parts.scheme == "https"
        default_port = 443 if secure else 80
        self._address = (parts.hostname or "", parts.port or default_port)
        self._tls = ssl.create_default_context() if secure else None
        # What the Host header says, and so what is signed.
        at_default = parts.port in (None, default_port)
        self.host = self._address[0] if at_default else f"{self._address[0]}:{parts.port}"

    def _connection(self) -> _Connection:
        # deque's pop and append are atomic; the one used last is the one most surely alive.
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if connection.is_usable():
                return connection
            connection.close()
        try:
            return _Connection(self._address, self._tls)
        except OSError as error:
            raise NotSentError(f"cannot connect to {self.host}: {error}") from error

    def give_back(self, connection: _Connection) -> None:
        """Keep the connection for the next request."""
        connection.idle_since_s = time.monotonic()
        self._idle.append(connection)

    def begin(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Pending:
        """Send a request; headers hold everything but Host and Content-Length.

        Raises:
            NotSentError: there is no connection.
            NoAnswerError: it broke while sending.
        """
        head = f"{method} {target} HTTP/1.1\r\nHost: {self.host}\r\n"
        head += "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        head += f"Content-Length: {len(body)}\r\n\r\n"
        connection = self._connection()
        try:
            connection.send(head.encode("latin-1") + body)
        except OSError as error:
            connection.close()
            raise NoAnswerError(f"{self.host} hung up: {error}") from error
        return Pending(self, connection, has_body=method != "HEAD")

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        self.close()


def _line(reader: BinaryIO) -> bytes:
    line = reader.readline(_LINE_BYTES_MAX)
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the connection was closed" if not line else "a line has no end")
    return line[:-2]


def _headers(reader: BinaryIO) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_HEADERS_MAX):
        line = _line(reader)
        if not line:
            return headers
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    raise ConnectionError("too many headers")


def _read_exactly(reader: BinaryIO, length: int) -> bytes:
    content = reader.read(length)
    if len(content) != length:
        raise ConnectionError(f"the connection was closed after {len(content)} of {length} bytes")
    return content


def _read_chunks(reader: BinaryIO) -> bytes:
    chunks = []
    while length := int(_line(reader).split(b";")[0], 16):
        chunks.append(_read_exactly(reader, length))
        _line(reader)
    while _line(reader):  # trailers
        pass
    return b"".join(chunks)


def _read_answer(reader: BinaryIO, *, has_body: bool) -> Answer:
    while True:
        version, status_text, *_ = _line(reader).split(b" ", 2)
        if not version.startswith(b"HTTP/1."):
            raise ConnectionError("the answer is not HTTP/1")
        status = int(status_text)
        headers = _headers(reader)
        if status >= 200:  # 1xx announce the answer, they are not it
            break
    if not has_body or status in (204, 304):
        return Answer(status, headers, b"")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Answer(status, headers, _read_chunks(reader))
    if "content-length" not in headers:
        # The body would end where the connection does: without the length nobody can tell a whole
        # body from a broken one, and none of the services answers so.
        raise ConnectionError("the answer has no length")
    return Answer(status, headers, _read_exactly(reader, int(headers["content-length"])))
