"""Sockets that connect, send and receive in time.

A socket with a time-out of Python's own asks the kernel to poll before each call. Such a call
releases the interpreter's lock twice, and each time other threads may take it. So a plain socket
blocks, and the kernel limits how long (SO_RCVTIMEO, SO_SNDTIMEO). TLS needs Python's time-outs.

A signal that interrupts a call restarts the kernel's limit, because Python repeats the call. Our
processes get signals only when they end. Repeated ones, such as a timer's, would break the limits.
"""

import select
import socket
import ssl
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from io import BufferedReader, RawIOBase
from typing import Any, Protocol, TypeVar

from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.retries import CONNECT_TIMEOUT_S

T = TypeVar("T")

# A TLS socket sends so much at once. Its bytes count only when all of them have passed.
_SENT_BYTES = 64 * 1024

# A limit is set again only if it changes by more than this part.
_TOLERANCE = 0.02
_TIME = struct.Struct("@ll")
# Asks a blocking socket for all bytes at once.
WHOLE = getattr(socket, "MSG_WAITALL", 0)


@cache
def tls() -> ssl.SSLContext:
    """Return the one context, which checks certificates and host names.

    Making a context reads all certificates of the system.
    """
    return ssl.create_default_context()


def connected(
    host: str,
    port: int,
    options: Sequence[tuple[int, int, int | bytes]] = (),
    limit_s: float = CONNECT_TIMEOUT_S,
) -> socket.socket:
    """Return a socket connected to the first address of the host that answers.

    Each address has limit_s. All of them end at the deadline.

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
            made.settimeout(TimeBudget(limit_s).left_s())
            made.connect(address)
        except OSError as error:
            made.close()
            failure = error
        else:
            return made
    raise failure


class TimedSocket(Protocol):
    """A connected socket. All methods raise OSError if the time is over or the server gone."""

    def send(self, data: bytes | bytearray | memoryview, budget: TimeBudget) -> None:
        """Send all of the data."""

    def receive(self, most_bytes: int, budget: TimeBudget) -> bytes:
        """Return the next bytes that arrive; b"" if the server sends no more."""

    def receive_all(self, size_bytes: int, budget: TimeBudget) -> bytes:
        """Return size_bytes bytes; fewer if the server ends the connection."""

    def is_open_and_silent(self) -> bool:
        """Whether the server left the idle connection open and sent nothing."""

    def close(self) -> None: ...


def timed_socket(connected: socket.socket) -> TimedSocket:
    """Return the connected socket with budgets."""
    if isinstance(connected, ssl.SSLSocket):
        return _Tls(connected)
    return _Plain(connected)


def kernel_time(limit_s: float) -> bytes:
    """Return a time in the form of the kernel's socket options, in which zero means no limit."""
    microseconds = max(1, round(limit_s * 1_000_000))
    return _TIME.pack(*divmod(microseconds, 1_000_000))


class _Plain:
    """A socket without TLS."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        connected.setblocking(True)  # noqa: FBT003 - socket's own
        self._limits_s = {socket.SO_RCVTIMEO: 0.0, socket.SO_SNDTIMEO: 0.0}

    def send(self, data: bytes | bytearray | memoryview, budget: TimeBudget) -> None:
        rest = memoryview(data)
        while rest:
            sent = self._in_time(socket.SO_SNDTIMEO, budget, self._socket.send, rest)
            budget.passed(sent)
            rest = rest[sent:]

    def receive(self, most_bytes: int, budget: TimeBudget) -> bytes:
        received = self._in_time(socket.SO_RCVTIMEO, budget, self._socket.recv, most_bytes)
        budget.passed(len(received))
        return received

    def receive_all(self, size_bytes: int, budget: TimeBudget) -> bytes:
        pieces = []
        while size_bytes:
            received = self._in_time(
                socket.SO_RCVTIMEO, budget, self._socket.recv, size_bytes, WHOLE
            )
            if not received:
                break
            budget.passed(len(received))
            pieces.append(received)
            size_bytes -= len(received)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def is_open_and_silent(self) -> bool:
        return not _has_arrived(self._socket)

    def close(self) -> None:
        self._socket.close()

    def _in_time(
        self, option: int, budget: TimeBudget, call: Callable[..., T], *arguments: object
    ) -> T:
        """Return the result of the socket's method; the option limits how long it blocks."""
        left_s = budget.left_s()
        if abs(left_s - self._limits_s[option]) > left_s * _TOLERANCE:
            self._limits_s[option] = left_s
            self._socket.setsockopt(socket.SOL_SOCKET, option, kernel_time(left_s))
        try:
            return call(*arguments)
        except BlockingIOError as error:
            raise TimeoutError("timed out") from error


class _Tls:
    """A socket with TLS."""

    def __init__(self, connected: ssl.SSLSocket) -> None:
        self._socket = connected

    def send(self, data: bytes | bytearray | memoryview, budget: TimeBudget) -> None:
        send_in_time(self._socket, data, budget)

    def receive(self, most_bytes: int, budget: TimeBudget) -> bytes:
        self._socket.settimeout(budget.left_s())
        received = self._socket.recv(most_bytes)
        budget.passed(len(received))
        return received

    def receive_all(self, size_bytes: int, budget: TimeBudget) -> bytes:
        # The reader fills the bytes that it returns: a copy would cost as much as all the rest.
        return BufferedReader(_Incoming(self._socket, budget), 1).read(size_bytes)

    def is_open_and_silent(self) -> bool:
        # poll() does not see bytes that came together with the last answer.
        return not self._socket.pending() and not _has_arrived(self._socket)

    def close(self) -> None:
        self._socket.close()


class _Incoming(RawIOBase):
    """The bytes that a socket receives in time."""

    def __init__(self, connected: socket.socket, budget: TimeBudget) -> None:
        self._socket = connected
        self._budget = budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer
        self._socket.settimeout(self._budget.left_s())
        received = self._socket.recv_into(buffer)
        self._budget.passed(received)
        return received


def send_in_time(
    connected: socket.socket, data: bytes | bytearray | memoryview, budget: TimeBudget
) -> None:
    """Send all of the data by a socket with Python's time-outs.

    Raises:
        OSError: the other side does not take the data in time, or is gone.
    """
    at_once = _SENT_BYTES if isinstance(connected, ssl.SSLSocket) else sys.maxsize
    rest = memoryview(data)
    while rest:
        connected.settimeout(budget.left_s())
        sent = connected.send(rest[:at_once])
        budget.passed(sent)
        rest = rest[sent:]


def _has_arrived(connected: socket.socket) -> bool:
    # Not select(): it fails for descriptors above 1,023.
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return bool(poll.poll(0))
