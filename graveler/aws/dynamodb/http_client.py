"""Keep-alive HTTP to one endpoint: a pool of the standard library's connections.

A connection belongs to one exchange at a time. After a complete answer it goes back to the pool;
after anything else it is closed, since nobody knows what would be read next. `begin` sends,
`Pending.finish` reads: two exchanges begun together travel together.
"""

import select
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 10.0

# The service closes idle connections after a minute or less; a request that meets the closing may
# or may not have been read, so old connections are not tried at all.
IDLE_S_MAX = 20.0


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


class Pending:
    """A request that was sent; `finish` takes its answer, once."""

    def __init__(self, client: "HttpClient", connection: HTTPConnection) -> None:
        self._client = client
        self._connection = connection
        self._is_finished = False

    def finish(self) -> Answer:
        """Wait for the whole answer.

        Raises:
            NoAnswerError: it did not come.
        """
        self._is_finished = True
        try:
            response = self._connection.getresponse()
            if response.length is None and not response.chunked:
                # Where it would end, a whole body and a broken one look the same.
                raise HTTPException("the answer has no length")  # noqa: TRY301 - is no answer
            body = response.read()
        except (OSError, HTTPException, ValueError) as error:
            self._connection.close()
            raise NoAnswerError(f"{self._client.host} did not answer: {error!r}") from error
        except BaseException:  # an interrupt must not leave half an answer in the pool
            self._connection.close()
            raise
        if not response.will_close:
            self._client.give_back(self._connection)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, body)

    def abandon(self) -> None:
        """Give up an answer that nobody waits for; after `finish` this does nothing."""
        if not self._is_finished:
            self._is_finished = True
            self._connection.close()


class HttpClient:
    """A pool of connections to one endpoint, shared by all threads."""

    def __init__(self, endpoint: str) -> None:
        self._idle: deque[tuple[HTTPConnection, float]] = deque()  # and since when, in seconds
        parts = urlsplit(endpoint)
        # One for all connections: to make it reads all certificates of the system.
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        default_port = 80 if self._tls is None else 443
        self._address = (parts.hostname or "", parts.port or default_port)
        # What the Host header says, and so what is signed.
        at_default = self._address[1] == default_port
        self.host = self._address[0] if at_default else f"{self._address[0]}:{self._address[1]}"

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        """Post the body to the root; headers hold Host, too.

        Raises:
            NotSentError: there is no connection.
            NoAnswerError: it broke while sending.
        """
        connection = self._connection()
        try:
            connection.request("POST", "/", body, headers)
        except OSError as error:
            connection.close()
            raise NoAnswerError(f"{self.host} hung up: {error}") from error
        return Pending(self, connection)

    def _connection(self) -> HTTPConnection:
        # deque's pop and append are atomic; the one used last is the one most surely alive.
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
        if self._tls is None:
            connection = HTTPConnection(*self._address, timeout=CONNECT_TIMEOUT_S)
        else:
            connection = HTTPSConnection(
                *self._address, timeout=CONNECT_TIMEOUT_S, context=self._tls
            )
        try:
            connection.connect()  # without Nagle's delay: the library sees to it
        except OSError as error:
            connection.close()
            raise NotSentError(f"cannot connect to {self.host}: {error}") from error
        connection.sock.settimeout(READ_TIMEOUT_S)
        return connection

    def give_back(self, connection: HTTPConnection) -> None:
        """Keep the connection for the next request."""
        self._idle.append((connection, time.monotonic()))

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop()[0].close()

    def __del__(self) -> None:
        self.close()


def _is_open_and_silent(connection: HTTPConnection) -> bool:
    """Whether the other side has left the idle connection open and sent nothing unasked."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)
