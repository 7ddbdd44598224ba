"""Requests to one endpoint, over kept connections.

After a complete answer a connection goes back to the pool. After anything else it is closed.
`begin` sends and `Pending.finish` reads, so that two requests can be in flight together.

An exchange has DYNAMODB_ATTEMPT_S beside the time for its bytes, or less if the work in hand ends
earlier (`graveler.aws.exchanges`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graveler.aws.exchanges.connection import Connection, Host
from graveler.aws.exchanges.patience import Patience
from graveler.aws.exchanges.pool import Pool
from graveler.aws.retries import DYNAMODB_ATTEMPT_S


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

    def __init__(self, pool: Pool, connection: Connection) -> None:
        self._pool = pool
        self._connection = connection
        self._is_finished = False

    def finish(self) -> Answer:
        """Return the whole answer when it has arrived.

        Raises:
            NoAnswerError: it did not arrive.
        """
        self._is_finished = True
        try:
            answer = self._connection.answer()
            if not answer.has_end:
                # Without a length, a whole body and a truncated one look the same.
                raise OSError("the answer has no length")  # noqa: TRY301 - handled as such
            body = answer.read_all()
        except OSError as error:
            self._connection.close()
            host = self._connection.host.header
            raise NoAnswerError(f"{host} did not answer: {error!r}") from error
        except BaseException:  # an interrupt must not put a half-read connection into the pool
            self._connection.close()
            raise
        self._pool.give_back(self._connection)
        return Answer(answer.status, answer.headers, body)

    def abandon(self) -> None:
        """Close the connection without reading the answer; does nothing after `finish`."""
        if not self._is_finished:
            self._is_finished = True
            self._connection.close()


class HttpClient:
    """Sends to one endpoint; shared by all threads."""

    def __init__(self, endpoint: str) -> None:
        self._host = Host.of(endpoint)
        self._pool = Pool(lambda: Patience(DYNAMODB_ATTEMPT_S))
        # The value of the Host header, which is signed.
        self.host = self._host.header

    def begin(self, headers: Mapping[str, str], body: bytes) -> Pending:
        """Post the body to `/`; headers include Host.

        Raises:
            NotSentError: no connection could be made.
            NoAnswerError: the connection failed while sending.
        """
        try:
            connection = self._pool.take(self._host)
        except OSError as error:
            raise NotSentError(f"cannot connect to {self.host}: {error}") from error
        try:
            connection.send("POST", "/", {**headers, "content-length": str(len(body))}, body)
        except OSError as error:
            connection.close()
            raise NoAnswerError(f"{self.host} closed the connection: {error}") from error
        return Pending(self._pool, connection)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def __del__(self) -> None:
        self.close()
