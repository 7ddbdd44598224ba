"""One request to S3: its body is streamed out, and its answer is streamed in."""

import http.client
from collections.abc import Callable, Iterable, Iterator
from typing import Self

from gateway.protocol.errors import Code, S3Error
from gateway.transfer.connections import Connections
from graveler.aws.s3.requests import SignedRequest

# A piece of an answer. Smaller ones cost more calls, larger ones more memory for each client.
PIECE_BYTES = 512 * 1024
# What is read of an error's document.
_DOCUMENT_BYTES_MAX = 64 * 1024

# What a connection raises when the other side is gone, or hangs.
BROKEN = (OSError, http.client.HTTPException)


class NotSentError(Exception):
    """S3 got nothing of the request."""


class NoAnswerError(Exception):
    """S3 may have got the request, but did not answer it whole."""


class Answer:
    """S3's answer, whose content is read once."""

    def __init__(
        self,
        response: http.client.HTTPResponse,
        connection: http.client.HTTPConnection,
        keep: Callable[[http.client.HTTPConnection], None],
    ) -> None:
        self._response = response
        self._connection = connection
        self._keep = keep
        self._is_broken = False
        self.status = response.status

    def header(self, name: str) -> str | None:
        return self._response.getheader(name)

    def pieces(self) -> Iterator[bytes]:
        """Yield the content in pieces of at most PIECE_BYTES.

        Raises:
            NoAnswerError: the connection broke, or content is missing.
        """
        left = self._response.length
        try:
            while piece := self._response.read(PIECE_BYTES):
                left = None if left is None else left - len(piece)
                yield piece
        except BROKEN as error:
            raise NoAnswerError(f"S3's answer broke off: {error!r}") from error
        if left:
            self._is_broken = True
            raise NoAnswerError(f"S3's answer ended {left} bytes early")

    def document(self) -> bytes:
        """Return the beginning of the content, which is all of an error's document."""
        try:
            return self._response.read(_DOCUMENT_BYTES_MAX)
        except BROKEN as error:
            raise NoAnswerError(f"S3's answer broke off: {error!r}") from error

    def close(self) -> None:
        """Keep the connection if the answer was read to its end, else close it."""
        is_read = self._response.isclosed() and not self._is_broken
        if is_read and not self._response.will_close:
            self._keep(self._connection)
        else:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def send(
    connections: Connections, request: SignedRequest, content: bytes | Iterable[bytes] = b""
) -> Answer:
    """Send the request with its content; return the answer.

    If the iterable raises, the connection is closed, so S3 stores nothing of a content whose
    length it was promised.

    Raises:
        NotSentError: S3 got nothing, so the request can be sent again.
        NoAnswerError: S3 may have got the request.
        S3Error: the content is longer or shorter than the request says.
    """
    try:
        connection = connections.take(request)
    except OSError as error:
        raise NotSentError(f"{request.host} cannot be reached: {error}") from error
    try:
        is_whole = _sent(connection, request, content)
        response = _response(connection)
    except BaseException:
        connection.close()
        raise
    # S3 would take the next request for the rest of this one.
    response.will_close = response.will_close or not is_whole
    return Answer(response, connection, lambda used: connections.keep(request, used))


def _sent(
    connection: http.client.HTTPConnection,
    request: SignedRequest,
    content: bytes | Iterable[bytes],
) -> bool:
    """Send the request; return whether S3 took all of it."""
    connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.items():
        connection.putheader(name, value)
    try:
        # A small content goes out together with the headers.
        connection.endheaders(content if isinstance(content, bytes) and content else None)
    except BROKEN as error:
        raise NoAnswerError(f"S3 did not take the request: {error!r}") from error
    if isinstance(content, bytes):
        return True
    for piece in _of_length(content, int(request.headers["content-length"])):
        try:
            connection.send(piece)
        except BROKEN:
            return False  # S3 may have refused the request, and says why
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
        raise S3Error(Code.INCOMPLETE_BODY)


def _response(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    try:
        return connection.getresponse()
    except BROKEN as error:
        raise NoAnswerError(f"S3 did not answer: {error!r}") from error
