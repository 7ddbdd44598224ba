"""A connection for one exchange at a time, at a fraction of the processor time of `http.client`.

A request and the beginning of its content are sent together. httptools parses the answer's head.
The bytes of a body with a length are read straight from the socket.
"""

import re
import socket
import sys
from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from graveler.aws.exchanges.response_parser import ResponseParser
from graveler.aws.exchanges.sockets import TimedSocket, connected, timed_socket, tls
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.retries import CONNECT_TIMEOUT_S

_OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
)

# Most answers arrive whole in one piece of this size.
_RECEIVED_BYTES = 64 * 1024
_TARGET = re.compile("[!-~]+")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Host(NamedTuple):
    """The other side of a connection."""

    scheme: str
    name: str
    port: int

    @classmethod
    def of(cls, url: str) -> "Host":
        """Return the host of a URL."""
        parts = urlsplit(url)
        return cls(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])

    @property
    def header(self) -> str:
        """The value of the Host header, which names a port only if it is not the scheme's own."""
        name = f"[{self.name}]" if ":" in self.name else self.name  # an address of IPv6
        is_default = self.port == _DEFAULT_PORTS[self.scheme]
        return name if is_default else f"{name}:{self.port}"


class HttpConnection:
    """A connection to a host. The budget of each exchange is set before it begins."""

    def __init__(self, host: Host, connected: TimedSocket) -> None:
        self.host = host
        self.budget = TimeBudget(CONNECT_TIMEOUT_S)
        self._socket = connected
        # Set if the server did not take a whole request: it would take the next one for the rest.
        self.is_spoiled = False
        self._last: StreamedResponse | None = None
        self._sends_head = False

    @property
    def is_reusable(self) -> bool:
        """Whether the last answer was read to its end, and another request may follow."""
        return self._last is not None and self._last.is_reusable and not self.is_spoiled

    def is_open_and_silent(self) -> bool:
        """Whether the server left the idle connection open and sent nothing."""
        return self._socket.is_open_and_silent()

    def send(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes = b""
    ) -> None:
        """Send a request, and its content or the beginning of it.

        headers include Host, and Content-Length if there is any content.

        Raises:
            OSError: the server may have got some of it.
            ValueError: the target or a header would inject another header or request.
        """
        self._last = None
        self._sends_head = method == "HEAD"
        self.send_more(_head_of(method, target, headers) + content)

    def send_more(self, content: bytes) -> None:
        """Send more of the request's content.

        Raises:
            OSError: the server may have got some of it.
        """
        self._socket.send(content, self.budget)

    def answer(self) -> "StreamedResponse":
        """Return the answer to the request, once its head has arrived.

        Raises:
            OSError: the head did not arrive.
        """
        head = ResponseParser(is_of_head=self._sends_head)
        while not head.is_complete:
            received = self.receive(_RECEIVED_BYTES)
            if not received:
                raise ConnectionError("the connection ended before an answer's headers did")
            head.feed(received)
        self._last = StreamedResponse(self, head)
        return self._last

    def receive(self, most_bytes: int) -> bytes:
        """Return the next bytes that arrive; b"" if the server sends no more.

        Raises:
            OSError: nothing arrived in time, or the connection is gone.
        """
        return self._socket.receive(most_bytes, self.budget)

    def receive_all(self, size_bytes: int) -> bytes:
        """Return size_bytes bytes; fewer if the server ends the connection.

        Raises:
            OSError: the bytes did not arrive in time, or the connection is gone.
        """
        return self._socket.receive_all(size_bytes, self.budget)

    def close(self) -> None:
        """End the connection; a request under way may have had its effect."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StreamedResponse:
    """A status, headers with names in lower case, and a body that is read once.

    length_bytes: the length of the whole body; None if it is unknown.
    """

    def __init__(self, connection: HttpConnection, head: ResponseParser) -> None:
        self.status = head.status
        self.headers = head.headers
        self._connection = connection
        self._head = head
        self._pieces = head.pieces
        self.length_bytes = _length_of(head)
        # The bytes of a body with a length that have not arrived yet.
        self._left_bytes = 0
        if self.length_bytes is not None and not head.is_over:
            self._left_bytes = self.length_bytes - sum(map(len, self._pieces))

    @property
    def has_end(self) -> bool:
        """Whether a truncated body can be detected."""
        return self.length_bytes is not None or "transfer-encoding" in self.headers

    @property
    def is_over(self) -> bool:
        """Whether the body was read to its end."""
        return self._head.is_over and not self._pieces

    @property
    def is_reusable(self) -> bool:
        """Whether the connection may carry another request."""
        return self.is_over and self._head.is_reusable

    def read(self, most_bytes: int) -> bytes:
        """Return the next bytes of the body; b"" at its end.

        Raises:
            OSError: the body is truncated.
        """
        while not self._pieces and not self._head.is_over:
            self._receive(most_bytes)
        if not self._pieces:
            return b""
        piece = self._pieces[0]
        if len(piece) <= most_bytes:
            return self._pieces.pop(0)
        self._pieces[0] = piece[most_bytes:]
        return piece[:most_bytes]

    def read_all(self, most_bytes: int = sys.maxsize) -> bytes:
        """Return the rest of the body, at most most_bytes.

        Raises:
            OSError: the body is truncated.
        """
        pieces = []
        while most_bytes and (piece := self.read(min(most_bytes, _RECEIVED_BYTES))):
            pieces.append(piece)
            most_bytes -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _receive(self, most_bytes: int) -> None:
        if self._left_bytes:
            self._pieces.append(self._straight(min(most_bytes, self._left_bytes)))
            return
        received = self._connection.receive(_RECEIVED_BYTES)
        if received:
            self._head.feed(received)
        elif self.has_end:
            raise ConnectionError("the connection ended before the answer did")
        else:
            self._head.is_over, self._head.is_reusable = True, False

    def _straight(self, size_bytes: int) -> bytes:
        piece = self._connection.receive_all(size_bytes)
        if len(piece) < size_bytes:
            raise ConnectionError(f"the answer ended {self._left_bytes - len(piece)} bytes early")
        self._left_bytes -= size_bytes
        self._head.is_over = not self._left_bytes
        return piece


def opened(host: Host, limit_s: float = CONNECT_TIMEOUT_S) -> HttpConnection:
    """Return a connection to the host; limit_s is for each of its addresses.

    Raises:
        OSError: no connection could be made in time.
    """
    made = connected(host.name, host.port, _OPTIONS, limit_s)
    try:
        # The handshake as a whole has as much time as the connection had.
        if host.scheme == "https":
            made.settimeout(TimeBudget(limit_s).left_s())
            made = tls().wrap_socket(made, server_hostname=host.name)
    except BaseException:
        made.close()
        raise
    return HttpConnection(host, timed_socket(made))


def _head_of(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    is_safe = lines.count("\n") == lines.count("\r") == len(headers)
    if not is_safe or not _TARGET.fullmatch(target):
        raise ValueError("a target or a header holds what ends it")
    return f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")


def _length_of(head: ResponseParser) -> int | None:
    """Return the length of the body; None if it is in chunks, or ends with the connection."""
    if "transfer-encoding" in head.headers:
        return None
    if head.is_over:
        return sum(map(len, head.pieces))
    length = head.headers.get("content-length")
    return None if length is None else int(length)
