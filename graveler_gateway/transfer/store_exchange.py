"""One request to S3: its body is streamed out, and its answer is streamed in."""

from collections.abc import Iterable, Iterator
from typing import Self

from graveler.aws.exchanges import connection
from graveler.aws.exchanges.connection import Host, HttpConnection
from graveler.aws.exchanges.pool import Pool
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.ports import SignedS3Request
from graveler_gateway.protocol.errors import Code, S3ResponseError

# S3 may take so long for any byte of an exchange. It answers within seconds.
_SILENCE_S = 30.0
# Clients of a sidecar may be far away.
_CONNECT_S = 10.0

# A piece of an answer. Smaller ones cost more calls, larger ones more memory for each client.
PIECE_BYTES = 512 * 1024
# The most that is read of an error's document.
_DOCUMENT_BYTES_MAX = 64 * 1024


class StoreUnreachableError(Exception):
    """S3 got nothing of the request."""


class StoreNoResponseError(Exception):
    """S3 may have got the request, but did not answer it whole."""


class StoreResponse:
    """S3's answer, whose content is read once."""

    def __init__(
        self, answer: connection.StreamedResponse, used: HttpConnection, pool: Pool
    ) -> None:
        self._answer = answer
        self._connection = used
        self._pool = pool
        self.status = answer.status
        self.headers = answer.headers  # by names in lower case

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name; None if it is absent."""
        return self.headers.get(name)

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces of at most PIECE_BYTES.

        Raises:
            StoreNoResponseError: the connection broke, or content is missing.
        """
        try:
            while piece := self._answer.read(PIECE_BYTES):
                yield piece
                self._connection.budget.restart()  # the client's time does not count
        except OSError as error:
            raise StoreNoResponseError(f"S3's answer broke off: {error!r}") from error

    def document(self) -> bytes:
        """Return the beginning of the content, which is all of an error's document.

        Raises:
            StoreNoResponseError: the connection broke, or content is missing.
        """
        try:
            return self._answer.read_all(_DOCUMENT_BYTES_MAX)
        except OSError as error:
            raise StoreNoResponseError(f"S3's answer broke off: {error!r}") from error

    def close(self) -> None:
        """Keep the connection if the answer was read to its end, else close it."""
        self._pool.give_back(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def store_pool(silence_s: float = _SILENCE_S) -> Pool:
    """Return a pool of connections to S3, which may send nothing for so long."""
    return Pool(lambda: TimeBudget(silence_s, is_silence=True), _CONNECT_S)


def send(
    pool: Pool, request: SignedS3Request, content: bytes | Iterable[bytes] = b""
) -> StoreResponse:
    """Send the request with its content; return the answer.

    If the iterable raises, the connection is closed, so S3 stores nothing of a content whose
    length it was promised.

    Raises:
        StoreUnreachableError: S3 got nothing, so the request can be sent again.
        StoreNoResponseError: S3 may have got the request.
        S3ResponseError: the content is longer or shorter than the request says.
    """
    try:
        used = pool.take(Host(request.scheme, request.host, request.port))
    except OSError as error:
        raise StoreUnreachableError(f"{request.host} cannot be reached: {error}") from error
    try:
        is_whole = _sent(used, request, content)
        answer = _answer_of(used)
    except BaseException:
        used.close()
        raise
    if not is_whole:
        # S3 would take the next request for the rest of this one.
        used.is_spoiled = True
    return StoreResponse(answer, used, pool)


def _sent(used: HttpConnection, request: SignedS3Request, content: bytes | Iterable[bytes]) -> bool:
    """Send the request; return whether S3 took all of it."""
    # A small content goes out together with the headers.
    first = content if isinstance(content, bytes) else b""
    try:
        used.send(request.method, request.target, request.headers, first)
    except OSError as error:
        raise StoreNoResponseError(f"S3 did not take the request: {error!r}") from error
    if isinstance(content, bytes):
        return True
    for piece in _of_length(content, int(request.headers["content-length"])):
        used.budget.restart()  # the client's time does not count
        try:
            used.send_more(piece)
        except OSError:
            used.budget.restart()
            return False  # S3 may have refused the request, with a reason
    return True


def _of_length(content: Iterable[bytes], length_bytes: int) -> Iterator[bytes]:
    """Yield the content, which has this length: more of it would begin the next request."""
    left = length_bytes
    for piece in content:
        left -= len(piece)
        if left < 0:
            break
        yield piece
    if left:
        raise S3ResponseError(Code.INCOMPLETE_BODY)


def _answer_of(used: HttpConnection) -> connection.StreamedResponse:
    try:
        return used.answer()
    except OSError as error:
        raise StoreNoResponseError(f"S3 did not answer: {error!r}") from error
