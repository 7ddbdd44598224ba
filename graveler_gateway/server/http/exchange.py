"""One request and its answer."""

import re
import time
from collections.abc import Iterable
from email.utils import formatdate
from http import HTTPStatus

from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.http.body import Body
from graveler_gateway.server.http.client import ClientSocket
from graveler_gateway.server.http.heads import HttpHead

Headers = Iterable[tuple[str, str]]

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}
_WITHOUT_CONTENT = frozenset({204, 304})

# These could end a header or the head, and some answers repeat text from a URL.
_CONTROLS = re.compile("[\x00-\x1f\x7f]")
_CONTROLS_WITHOUT_NEWLINES = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]")


class ClientGoneError(Exception):
    """The client closed the connection, or takes nothing of its answer."""


class Exchange:
    """A request, and its answer: `answer` sends it whole, `begin` and `send` in pieces.

    address: the client's network address.
    """

    def __init__(self, client: ClientSocket, http_head: HttpHead, idle_s: float) -> None:
        self.head: RequestHead = http_head.head
        self.body = Body(client, http_head, idle_s)
        self.version = http_head.version
        self.address = client.address
        self.has_begun = False
        self._client = client
        self._keeps_alive = http_head.keeps_alive
        self._is_head = http_head.head.method == "HEAD"
        self._left_bytes = 0

    @property
    def is_over(self) -> bool:
        """Whether the answer was sent whole."""
        return self.has_begun and not self._left_bytes

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may carry another request."""
        return self._keeps_alive and self.is_over and self.body.is_over

    def end_connection(self) -> None:
        """Close the connection after the answer; call it first, as the answer's head says so."""
        self._keeps_alive = False

    def answer(self, status: int, headers: Headers, content: bytes = b"") -> None:
        """Send the answer; the headers need no Content-Length.

        For HEAD, the headers have the length of the content that GET would get.

        Raises:
            ClientGoneError: the client does not take it.
        """
        named = list(headers)
        if status not in _WITHOUT_CONTENT and not _has_length(named):
            named.append(("Content-Length", str(len(content))))
        is_bare = self._is_head or status in _WITHOUT_CONTENT
        self._send(self._head_of(status, named) + (b"" if is_bare else content))

    def begin(self, status: int, headers: Headers, length_bytes: int) -> None:
        """Send the head of an answer whose content has so many bytes.

        Raises:
            ClientGoneError: the client does not take it.
        """
        named = [*headers, ("Content-Length", str(length_bytes))]
        self._send(self._head_of(status, named))
        self._left_bytes = 0 if self._is_head else length_bytes

    def send(self, piece: bytes) -> None:
        """Send more of the content.

        Raises:
            ClientGoneError: the client does not take it.
            ValueError: it is more than was promised.
        """
        if len(piece) > self._left_bytes:
            raise ValueError(f"{len(piece) - self._left_bytes} bytes more than were promised")
        self._send(piece)
        self._left_bytes -= len(piece)

    def _send(self, data: bytes) -> None:
        try:
            self._client.send(data)
        except OSError as error:
            self._keeps_alive = False
            raise ClientGoneError from error

    def _head_of(self, status: int, headers: Headers) -> bytes:
        self.has_begun = True
        self.body.skip_arrived()
        if not self.body.is_over:
            # The rest of this body would be taken for the next request.
            self._keeps_alive = False
        lines = [
            f"{name}: {value}"
            for name, value in headers
            if not (status == 204 and name.lower() == "content-length")
        ]
        lines.append(f"Date: {_date()}")
        if not self._keeps_alive:
            lines.append("Connection: close")
        elif self.version == "1.0":
            lines.append("Connection: keep-alive")
        return _head_bytes(status, lines)


def plain_answer(status: int, message: str) -> bytes:
    """Return the answer to a refused head, after which the connection ends."""
    content = message.encode("latin-1", "replace")
    lines = [
        "Content-Type: text/plain",
        f"Content-Length: {len(content)}",
        f"Date: {_date()}",
        "Connection: close",
    ]
    return _head_bytes(status, lines) + content


def _head_bytes(status: int, lines: list[str]) -> bytes:
    return (_status_line(status) + _joined(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _has_length(headers: Headers) -> bool:
    return any(name.lower() == "content-length" for name, _ in headers)


def _status_line(status: int) -> str:
    return _STATUS_LINES.get(status) or f"HTTP/1.1 {status} Status\r\n"


def _joined(lines: list[str]) -> str:
    joined = "\r\n".join(lines)
    is_clean = joined.count("\n") == joined.count("\r") == len(lines) - 1
    if is_clean and not _CONTROLS_WITHOUT_NEWLINES.search(joined):
        return joined
    return "\r\n".join(_CONTROLS.sub(" ", line) for line in lines)


_dated: tuple[int, str] = (0, "")


def _date() -> str:
    """Return the time for a header; formatted once a second."""
    global _dated  # noqa: PLW0603 - threads may format it twice, to the same text
    now_s = int(time.time())
    dated = _dated
    if dated[0] != now_s:
        dated = _dated = (now_s, formatdate(now_s, usegmt=True))
    return dated[1]
