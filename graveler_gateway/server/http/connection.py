"""A connection between its requests: the bytes of the next one, and how long it waits."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from graveler_gateway.server.http.body import CONTINUE
from graveler_gateway.server.http.client import ClientSocket
from graveler_gateway.server.http.heads import END, HttpHead, check_begun, parse_head

_RECEIVED_BYTES = 64 * 1024
_NEWLINES = b"\r\n"
_NOW_S = 0.001


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one process.

    threads: requests at a time.
    idle_s: how long a client may send or take nothing.
    head_s: how long a head may take, from its first byte.
    keep_s: how long a connection may wait for a request. Load balancers and SDKs keep connections
        for up to 350 s. The server must not be the first to close one, or a request would meet the
        end of its connection.
    last_s: how long a client may still send after its last answer.
    """

    threads: int = 512
    connections: int = 8192
    idle_s: float = 60.0
    head_s: float = 30.0
    keep_s: float = 400.0
    last_s: float = 30.0


class Awaited(Enum):
    """What a connection waits for."""

    REQUEST = auto()
    HEAD = auto()  # the rest of one
    BODY = auto()  # its first bytes
    END = auto()  # the client's, after the last answer


class ClientConnection:
    """A client's connection, and what has arrived of its next request."""

    def __init__(self, client: ClientSocket, limits: Limits) -> None:
        self.client = client
        self.idle_s = limits.idle_s
        self._limits_s = {
            Awaited.REQUEST: limits.keep_s,
            Awaited.HEAD: limits.head_s,
            Awaited.BODY: limits.idle_s,
            Awaited.END: limits.last_s,
        }
        self._head: HttpHead | None = None
        self._awaits_no_body = False
        self._wait_for(Awaited.REQUEST)

    @property
    def has_head(self) -> bool:
        """Whether the head of a request has arrived, which has no answer yet."""
        return self._head is not None

    @property
    def is_overdue(self) -> bool:
        """Whether the client took too long with what the connection waits for."""
        return time.monotonic() - self._since_s > self._limits_s[self._awaited]

    def stop_awaiting_body(self, *, is_late: bool) -> None:
        """Let `request` return a request whose body has not begun to arrive.

        is_late: the client has no more time to send it.
        """
        self._awaits_no_body = True
        if is_late:
            self.idle_s = _NOW_S

    def request(self, linger_s: Callable[[], float]) -> HttpHead:
        """Return the next request, once its head and the first bytes of its body are here.

        Raises:
            BlockingIOError: nothing arrived for linger_s(), or the client is overdue.
            HeadRefusedError: the head is malformed.
            OSError: the client is gone.
        """
        while True:
            if self._head is None and self.client.has_buffered:
                self._take_head()
            http_head = self._head
            if http_head is not None and self._has_ahead(http_head):
                self._head, self._awaits_no_body = None, False
                return http_head
            self._receive(linger_s())

    def begin_next(self) -> None:
        """Wait for the next request, after the answer to one."""
        self._wait_for(Awaited.REQUEST)

    def end(self) -> None:
        """Send no more; `drain` returns when the client has seen it.

        Raises:
            OSError: the client is gone.
        """
        self._wait_for(Awaited.END)
        self.client.take_all()
        self.client.socket.shutdown(socket.SHUT_WR)

    @property
    def has_ended(self) -> bool:
        """Whether `end` was called."""
        return self._awaited is Awaited.END

    def drain(self, linger_s: Callable[[], float]) -> None:
        """Receive and drop what the client sends; return when it sends no more.

        Raises:
            BlockingIOError: nothing arrived for linger_s().
            OSError: the client is gone.
        """
        while not self.is_overdue:
            self.client.wait_at_most(linger_s())
            if not self.client.receive(_RECEIVED_BYTES):
                return

    def _take_head(self) -> None:
        self.client.skip(_NEWLINES)  # some clients send an extra newline after a request
        end = self.client.find(END)
        if end < 0:
            if self._awaited is not Awaited.HEAD:
                self._wait_for(Awaited.HEAD)
            if self.client.has_buffered:
                check_begun(self.client.buffered)
            return
        self._head = http_head = parse_head(self.client.take(end + len(END)))
        if http_head.expects_continue and not http_head.defers_continue:
            self.client.send(CONTINUE)
        if not self._has_ahead(http_head):
            self._wait_for(Awaited.BODY)

    def _has_ahead(self, http_head: HttpHead) -> bool:
        return self._awaits_no_body or self.client.buffered_bytes >= http_head.ahead_bytes

    def _receive(self, linger_s: float) -> None:
        if self._awaited is not Awaited.REQUEST and self.is_overdue:
            raise BlockingIOError
        self.client.wait_at_most(linger_s)
        has_more = self.client.receive_more(_RECEIVED_BYTES)
        if not has_more:
            if self._head is None:
                raise ConnectionError
            self._awaits_no_body = True  # reading the body will find its end

    def _wait_for(self, awaited: Awaited) -> None:
        self._awaited = awaited
        self._since_s = time.monotonic()
