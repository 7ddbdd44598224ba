"""Keep-alive HTTP to one endpoint: a pool of the standard library's connections.

A connection carries one exchange at a time. After a complete answer it goes back to the pool. After
anything else it is closed, because the rest of an old answer could be read as the next one.
`begin` sends and `Pending.finish` reads, so that two requests can be in flight together.

An exchange has DYNAMODB_ATTEMPT_S beside the time for its bytes, or less if the work in hand ends
earlier (`graveler.aws.exchanges`).
"""

import select
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from urllib.parse import urlsplit

from graveler.aws.exchanges import Connection, Patience, opened
from graveler.aws.retries import DYNAMODB_ATTEMPT_S

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


class Pending:
    """A request that was sent; `finish` reads its answer, once."""

    def __init__(self, client: "HttpClient", connection: Connection) -> None:
        self._client = client
        self._connection = connection
        self._is_finished = False

    def finish(self) -> Answer:
        """Return the whole answer when it has arrived.

        Raises:
            NoAnswerError: it did not arrive.
        """
        self._is_finished = True
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
        self._idle: deque[tuple[Connection, float]] = deque()  # with the time it became idle
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
        connection = self._connection()
        connection.patience = Patience(DYNAMODB_ATTEMPT_S)
        try:
            connection.request("POST", "/", body, headers)
        except OSError as error:
            connection.close()
            raise NoAnswerError(f"{self.host} closed the connection: {error}") from error
        return Pending(self, connection)

    def _connection(self) -> Connection:
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

    def _connect(self) -> Connection:
        try:
            return opened(*self._address, self._tls)
        except OSError as error:
            raise NotSentError(f"cannot connect to {self.host}: {error}") from error

    def give_back(self, connection: Connection) -> None:
        """Put the connection into the pool for the next request."""
        self._idle.append((connection, time.monotonic()))

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop()[0].close()

    def __del__(self) -> None:
        self.close()


def _is_open_and_silent(connection: Connection) -> bool:
    """Whether the server left the idle connection open and sent nothing."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)
