"""Exchanges whose answers are read whole into memory, over kept connections.

After a complete answer, the connection goes back to the pool. After anything else it is closed.
`begin` sends and `Pending.finish` reads, so two requests can be in flight together.
"""

from collections.abc import Mapping

from msgspec import Struct

from graveler.aws.exchanges.connection import Host, HttpConnection
from graveler.aws.exchanges.pool import Pool


class RequestNotSentError(OSError):
    """No connection could be made: the request had no effect."""


class ResponseLostError(OSError):
    """The connection failed before the whole answer arrived: the request may have had effect."""


class BufferedResponse(Struct, frozen=True):
    """A complete answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Pending:
    """A request that was sent; `finish` reads its answer, once."""

    def __init__(self, pool: Pool, connection: HttpConnection) -> None:
        self._pool = pool
        self._connection = connection
        self._is_finished = False

    def finish(self, *, needs_end: bool = True) -> BufferedResponse:
        """Return the whole answer when it has arrived.

        needs_end: whether to refuse an answer whose body does not say where it ends. Such a body
            looks the same if it is truncated.

        Raises:
            ResponseLostError: the answer did not arrive.
        """
        self._is_finished = True
        try:
            answer = self._connection.answer()
            if needs_end and not answer.has_end:
                raise OSError("the answer has no length")  # noqa: TRY301 - handled as such
            body = answer.read_all()
        except OSError as error:
            self._connection.close()
            host = self._connection.host.header
            raise ResponseLostError(f"{host} did not answer: {error!r}") from error
        except BaseException:  # an interrupt must not put a half-read connection into the pool
            self._connection.close()
            raise
        self._pool.give_back(self._connection)
        return BufferedResponse(answer.status, answer.headers, body)

    def abandon(self) -> None:
        """Close the connection without reading the answer; does nothing after `finish`."""
        if not self._is_finished:
            self._is_finished = True
            self._connection.close()


def begin(
    pool: Pool, host: Host, method: str, target: str, headers: Mapping[str, str], content: bytes
) -> Pending:
    """Send a request; headers include Host, and Content-Length if there is any content.

    Raises:
        RequestNotSentError: no connection could be made.
        ResponseLostError: the connection failed while sending.
    """
    try:
        connection = pool.take(host)
    except OSError as error:
        raise RequestNotSentError(f"cannot connect to {host.header}: {error}") from error
    try:
        connection.send(method, target, headers, content)
    except OSError as error:
        connection.close()
        raise ResponseLostError(f"{host.header} closed the connection: {error}") from error
    except BaseException:
        connection.close()
        raise
    return Pending(pool, connection)
