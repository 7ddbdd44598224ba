"""Keep-alive HTTP to one endpoint: a pool of the standard library's connections.

A connection carries one exchange at a time. After a complete answer it goes back to the pool. After
anything else it is closed, because the rest of an old answer could be read as the next one.
`begin` sends and `Pending.finish` reads, so that two requests can be in flight together.

An exchange has DYNAMODB_ATTEMPT_S, or less if the work in hand ends earlier. The time counts from
its beginning: a server that sends a byte now and then does not extend it. Only the resolution of
the endpoint's name is not bounded.
"""

import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from typing import Any
from urllib.parse import urlsplit

from graveler.aws.retries import CONNECT_TIMEOUT_S, DYNAMODB_ATTEMPT_S, attempt_s

# The service closes idle connections after a minute or less. A request sent while it closes may or
# may not have been read, so old connections are not used.
IDLE_S_MAX = 20.0


class NotSentError(OSError):
    """No connection could be made: the request had no effect."""


class NoAnswerError(OSError):
    """The connection failed before the whole answer arrived: the request may have had effect."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Incoming(RawIOBase):
    """What a socket receives until a time; a reader of http.client's answers."""

    def __init__(self, connected: socket.socket, until_s: float) -> None:
        self._socket = connected
        # It keeps the socket open while the answer is read, if the server closes the connection.
        self._raw = connected.makefile("rb", buffering=0)
        self._until_s = until_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any buffer
        left_s = self._until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left_s)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        super().close()
        self._raw.close()

    def makefile(self, _: str) -> BufferedReader:
        """Return a reader, as the socket's method of that name, which HTTPResponse calls."""
        return BufferedReader(self)


def _answer(until_s: float, connected: socket.socket, **settings: Any) -> HTTPResponse:  # noqa: ANN401
    incoming: Any = _Incoming(connected, until_s)
    return HTTPResponse(incoming, **settings)


class Pending:
    """A request that was sent; `finish` reads its answer, once, until the time."""

    def __init__(self, client: "HttpClient", connection: HTTPConnection, until_s: float) -> None:
        self._client = client
        self._connection = connection
        self._until_s = until_s
        self._is_finished = False

    def finish(self) -> Answer:
        """Return the whole answer when it has arrived.

        Raises:
            NoAnswerError: it did not arrive.
        """
        self._is_finished = True
        connection: Any = self._connection
        connection.response_class = partial(_answer, self._until_s)
        try:
            response = self._connection.getresponse()
            if response.length is None and not response.chunked:
                # Without a length, a whole body and a truncated one look the same.
                raise HTTPException("the answer has no length")  # noqa: TRY301 - handled as such
            body = response.read()
        except (OSError, HTTPException, ValueError) as error:
            self._connection.close()
            raise NoAnswerError(f"{self._client.host} did not answer: {error!r}") from error
        except BaseException:  # an interrupt must not put a half-read connection into the pool
            self._connection.close()
            raise
        if not response.will_close:
            self._client.give_back(self._connection)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, body)

    def abandon(self) -> None:
        """Close the connection without reading the answer; does nothing after `finish`."""
        if not self._is_finished:
            self._is_finished = True
            self._connection.close()


class HttpClient:
    """A pool of connections to one endpoint, shared by all threads."""

    def __init__(self, endpoint: str) -> None:
        self._idle: deque[tuple[HTTPConnection, float]] = deque()  # with the time it became idle
        parts = urlsplit(endpoint)
        # One for all connections: creating it reads all certificates of the system.
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        default_port = 80 if self._tls is None else 443
        self._address = (parts.hostname or "", parts.port or default_port)
        # The value of the Host header, which is signed.
        at_default = self._address[1] == default_port
        self.host = self._address[0] if at_default else f"{self._address[0]}:{self._address[1]}"

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        """Post the body to `/`; headers include Host.

        Raises:
            NotSentError: no connection could be made.
            NoAnswerError: the connection failed while sending.
        """
        until_s = time.monotonic() + attempt_s(DYNAMODB_ATTEMPT_S)
        connection = self._connection()
        connection.sock.settimeout(max(0.001, until_s - time.monotonic()))
        try:
            connection.request("POST", "/", body, headers)
        except OSError as error:
            connection.close()
            raise NoAnswerError(f"{self.host} closed the connection: {error}") from error
        return Pending(self, connection, until_s)

    def _connection(self) -> HTTPConnection:
        # deque's pop and append are atomic. The connection used last is the most likely alive.
        while self._idle:
            try:
                connection, idle_since_s = self._idle.pop()
            except IndexError:
                break
            if time.monotonic() - idle_since_s < IDLE_S_MAX and _is_open_and_silent(connection):
                return connection
            connection.close()
        return self._connect()

    def _connect(self) -> HTTPConnection:
        timeout_s = attempt_s(CONNECT_TIMEOUT_S)
        if self._tls is None:
            connection = HTTPConnection(*self._address, timeout=timeout_s)
        else:
            connection = HTTPSConnection(*self._address, timeout=timeout_s, context=self._tls)
        try:
            connection.connect()  # the library turns Nagle's delay off
        except OSError as error:
            connection.close()
            raise NotSentError(f"cannot connect to {self.host}: {error}") from error
        return connection

    def give_back(self, connection: HTTPConnection) -> None:
        """Put the connection into the pool for the next request."""
        self._idle.append((connection, time.monotonic()))

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop()[0].close()

    def __del__(self) -> None:
        self.close()


def _is_open_and_silent(connection: HTTPConnection) -> bool:
    """Whether the server left the idle connection open and sent nothing."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)
