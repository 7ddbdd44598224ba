"""The body of a request, as it arrives."""

import time
from collections.abc import Callable

from graveler_gateway.server.http.chunks import BrokenBodyError, Chunks
from graveler_gateway.server.http.client import BYTES_PER_S_MIN, ClientSocket
from graveler_gateway.server.http.heads import HttpHead

# A piece of a body. Larger ones wake the thread less often, and take more memory.
PIECE_BYTES = 256 * 1024
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class SlowBodyError(Exception):
    """The client sends nothing, or too little."""


class Body:
    """A body that is read once, piece by piece; the first read sends an awaited 100 Continue.

    length_bytes: None if the head does not say it.
    """

    def __init__(self, client: ClientSocket, http_head: HttpHead, idle_s: float) -> None:
        self.length_bytes = http_head.length_bytes if http_head.has_length else None
        self.is_chunked = http_head.length_bytes is None
        self._client = client
        self._idle_s = idle_s
        self._needs_continue = http_head.defers_continue
        self._left_bytes = http_head.length_bytes or 0
        self._chunks: Chunks | None = None
        self._is_broken = False
        self._has_begun = False
        # Only the time in which the server waits counts against the client.
        self._waited_s = 0.0
        self._received_bytes = 0

    @property
    def is_over(self) -> bool:
        """Whether all of it arrived."""
        if self.is_chunked:
            return self._chunks is not None and self._chunks.is_over
        return not self._left_bytes

    @property
    def has_arrived(self) -> bool:
        """Whether reading it will not wait for the client."""
        return not self.is_chunked and self._left_bytes <= self._client.buffered_bytes

    @property
    def is_waiting(self) -> bool:
        """Whether the client still waits for 100 Continue."""
        return self._needs_continue and not self._client.has_buffered

    def read(self) -> bytes:
        """Return the next bytes, b"" at the end.

        Raises:
            BrokenBodyError: the body breaks off, or its framing is malformed.
            SlowBodyError: the client stopped sending, or sends too little.
        """
        if self._is_broken:
            raise BrokenBodyError("the body broke off before")
        try:
            if not self._has_begun:
                self._begin()
            return self._in_chunks() if self.is_chunked else self._with_length()
        except (BrokenBodyError, ConnectionError) as error:
            self._is_broken = True
            raise BrokenBodyError(str(error)) from error
        except OSError as error:  # no byte in time
            self._is_broken = True
            raise SlowBodyError(str(error)) from error

    def skip_arrived(self) -> None:
        """Drop the rest of the body if all of it has arrived."""
        if self.has_arrived:
            self._client.take(self._left_bytes)
            self._left_bytes = 0

    def _begin(self) -> None:
        self._has_begun = True
        if not self.has_arrived:
            self._client.wait_at_most(self._idle_s)
        if not self.is_over:
            if self.is_waiting:
                self._client.send(CONTINUE)
            self._needs_continue = False

    def _with_length(self) -> bytes:
        if not self._left_bytes:
            return b""
        piece = self._client.take(self._left_bytes)
        if not piece:
            wanted_bytes = min(self._left_bytes, PIECE_BYTES)
            piece = self._timed(self._client.receive_all, wanted_bytes)
        if not piece:
            raise BrokenBodyError("the connection ended before the body did")
        self._left_bytes -= len(piece)
        return piece

    def _in_chunks(self) -> bytes:
        if self._chunks is None:
            self._chunks = Chunks(self._client.take_all(), self._next)
        piece = self._chunks.read()
        if self._chunks.is_over:
            self._client.give_back(self._chunks.take_rest())
        return piece

    def _next(self) -> bytes:
        return self._timed(self._client.receive, PIECE_BYTES)

    def _timed(self, receive: Callable[[int], bytes], most_bytes: int) -> bytes:
        """Receive at a minimum pace: a slower client would hold a thread for too long.

        Raises:
            OSError: nothing or too little arrives in time, or the client is gone.
        """
        began_s = time.monotonic()
        received = receive(most_bytes)
        self._waited_s += time.monotonic() - began_s
        self._received_bytes += len(received)
        if self._received_bytes < (self._waited_s - self._idle_s) * BYTES_PER_S_MIN:
            raise TimeoutError("the client sends too slowly")
        return received
