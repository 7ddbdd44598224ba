"""HTTP connections whose exchanges end in time: http.client's, and urllib3's, which derive from it.

Theory of operation. A socket's time-out bounds the wait for the next byte only. A server that sends
a byte now and then extends it for ever. So an exchange has a `Patience`. Time uses it up, bytes
that pass fill it again, and it ends at the deadline of the work in hand. Each wait of the socket
gets what is left of it. Only the resolution of a host's name is not bounded.
"""

import math
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from io import BufferedReader, RawIOBase
from typing import Any

from graveler.aws import deadlines
from graveler.aws.retries import CONNECT_TIMEOUT_S, READ_TIMEOUT_S

# A connection that is slower than this is of no use.
BYTES_PER_S_MIN = 50_000

_NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

_silence_s: ContextVar[float | None] = ContextVar("silence_s", default=None)


class Patience:
    """How long an exchange may still take: limit_s at most, in which no byte passes.

    An exchange that is slower than BYTES_PER_S_MIN uses up its limit even if bytes do pass, unless
    is_silence: then every byte begins the limit anew.
    """

    def __init__(self, limit_s: float, *, is_silence: bool = False) -> None:
        self._limit_s = limit_s
        self._is_silence = is_silence
        self._until_s = time.monotonic() + limit_s

    def left_s(self) -> float:
        """Return the seconds that are left, more than none.

        Raises:
            TimeoutError: no time is left.
        """
        left_s = min(self._until_s - time.monotonic(), deadlines.left_s())
        if left_s <= 0:
            raise TimeoutError("timed out")
        return left_s

    def passed(self, size_bytes: int) -> None:
        """Note that so many bytes were sent or received."""
        latest_s = time.monotonic() + self._limit_s
        earned_s = math.inf if self._is_silence else size_bytes / BYTES_PER_S_MIN
        self._until_s = min(self._until_s + earned_s, latest_s)


@contextmanager
def silence_of(limit_s: float) -> Iterator[None]:
    """Wait so long for each byte of the answers in the block.

    S3 sends blanks while it copies: the whole answer may take long, and the blanks prove that it
    works.
    """
    token = _silence_s.set(limit_s)
    try:
        yield
    finally:
        _silence_s.reset(token)


class _Incoming(RawIOBase):
    """What a socket receives in time; a reader of http.client's answers."""

    def __init__(self, connected: socket.socket, patience: Patience) -> None:
        self._socket = connected
        # It keeps the socket open while the answer is read, if the server closes the connection.
        self._raw = connected.makefile("rb", buffering=0)
        self._patience = patience
        self.has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any buffer
        self._socket.settimeout(self._patience.left_s())
        received = self._raw.readinto(buffer)
        self._patience.passed(received or 0)
        self.has_ended = not received
        return received

    def close(self) -> None:
        super().close()
        self._raw.close()

    def makefile(self, _: str) -> BufferedReader:
        """Return a reader, as the socket's method of that name, which HTTPResponse calls."""
        return BufferedReader(self)


class _Answer(HTTPResponse):
    """An answer whose headers are whole; http.client takes the end of a connection for theirs."""

    def __init__(self, incoming: _Incoming, **settings: Any) -> None:  # noqa: ANN401 - http.client's
        self._incoming = incoming
        source: Any = incoming
        super().__init__(source, **settings)

    def begin(self) -> None:
        super().begin()
        if self._incoming.has_ended:  # nothing is read behind whole headers
            raise RemoteDisconnected("the connection ended before the headers did")


class Connection(HTTPConnection):
    """A connection that sends and receives in time. Subclasses may derive from urllib3's as well.

    patience: that of the exchange. Without one, request and answer have one each: READ_TIMEOUT_S,
        and the socket's time-out, or the silence of the block.
    """

    patience: Patience | None = None

    def send(self, data: Any) -> None:  # noqa: ANN401 - as the base class
        if not isinstance(data, bytes | bytearray | memoryview):
            super().send(data)
            return
        if self.sock is None:
            self.connect()
        patience = self.patience or Patience(READ_TIMEOUT_S)
        rest = memoryview(data)
        while rest:
            self.sock.settimeout(patience.left_s())
            sent = self.sock.send(rest)
            patience.passed(sent)
            rest = rest[sent:]

    def response_class(  # type: ignore[override] # there it is a class, called like this
        self,
        connected: socket.socket,
        **settings: Any,  # noqa: ANN401 - http.client's
    ) -> HTTPResponse:
        patience = self.patience or _patience_of(connected)
        return _Answer(_Incoming(connected, patience), **settings)


def _patience_of(connected: socket.socket) -> Patience:
    silence_s = _silence_s.get()
    if silence_s is not None:
        return Patience(silence_s, is_silence=True)
    return Patience(connected.gettimeout() or READ_TIMEOUT_S)


def opened(host: str, port: int, tls: ssl.SSLContext | None) -> Connection:
    """Return a connection to the host, over TLS if there is a context.

    Raises:
        OSError: no connection could be made in time.
    """
    connection = Connection(host, port)
    made = connected(host, port, [_NO_DELAY])
    try:
        # The handshake as a whole has as much time as the connection had.
        connection.sock = made if tls is None else tls.wrap_socket(made, server_hostname=host)
    except BaseException:
        made.close()
        raise
    return connection


def connected(
    host: str, port: int, options: Sequence[tuple[int, int, int | bytes]] = ()
) -> socket.socket:
    """Return a socket connected to the first address of the host that answers.

    Each address has CONNECT_TIMEOUT_S, and all of them until the deadline.

    Raises:
        OSError: no address answers in time.
    """
    failure: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            made = socket.socket(family, kind, protocol)
        except OSError as error:  # the machine has no such network, such as IPv6
            failure = error
            continue
        try:
            for option in options:
                made.setsockopt(*option)
            made.settimeout(Patience(CONNECT_TIMEOUT_S).left_s())
            made.connect(address)
        except OSError as error:
            made.close()
            failure = error
        else:
            return made
    raise failure
