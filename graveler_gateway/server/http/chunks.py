"""A body in chunks, each of which begins with its length (RFC 9112, section 7.1)."""

from collections.abc import Callable

_LINE_BYTES_MAX = 4096
_TRAILERS_BYTES_MAX = 16 * 1024
_SIZE_DIGITS_MAX = 16
_HEX_DIGITS = frozenset(b"0123456789abcdefABCDEF")
_NEWLINE = b"\r\n"


class BrokenBodyError(Exception):
    """The body ends before its end, or its framing is malformed."""


class Chunks:
    """The content of chunks, piece by piece.

    receive returns the next bytes of the connection, b"" if there are no more.
    """

    def __init__(self, begun: bytes, receive: Callable[[], bytes]) -> None:
        self.is_over = False
        self._receive = receive
        self._buffer = begun
        self._at = 0
        self._left_bytes = 0  # of the chunk that has begun
        self._ends_chunk = False

    def read(self) -> bytes:
        """Return the content that has arrived, or else the next that does; b"" at the end.

        Raises:
            BrokenBodyError: it breaks off, or is malformed.
            OSError: nothing arrives in time.
        """
        parts: list[bytes] = []  # very small chunks become one piece
        while not self.is_over:
            if self._left_bytes:
                if parts and self._at == len(self._buffer):
                    break
                parts.append(self._content())
            elif parts and self._buffer.find(_NEWLINE, self._at) < 0:
                break
            else:
                self._next_line()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def take_rest(self) -> bytes:
        """Return what arrived after the last chunk, once."""
        rest, self._buffer, self._at = self._buffer[self._at :], b"", 0
        return rest

    def _content(self) -> bytes:
        if self._at == len(self._buffer):
            self._receive_more()
        part = self._buffer[self._at : self._at + self._left_bytes]
        self._at += len(part)
        self._left_bytes -= len(part)
        return part

    def _next_line(self) -> None:
        if self._ends_chunk:
            if self._line():
                raise BrokenBodyError("a chunk is longer than its length")
            self._ends_chunk = False
            return
        self._left_bytes = self._size_of(self._line())
        self._ends_chunk = True
        if not self._left_bytes:
            self._skip_trailers()
            self.is_over = True

    def _size_of(self, line: bytes) -> int:
        """Return the chunk's length; its extensions are ignored."""
        digits = line.partition(b";")[0].rstrip(b" \t")
        if not digits or len(digits) > _SIZE_DIGITS_MAX or not _HEX_DIGITS.issuperset(digits):
            raise BrokenBodyError("a chunk has no length")
        return int(digits, 16)

    def _skip_trailers(self) -> None:
        bytes_left = _TRAILERS_BYTES_MAX
        while line := self._line():
            bytes_left -= len(line)
            if bytes_left < 0:
                raise BrokenBodyError("the trailers are too long")

    def _line(self) -> bytes:
        """Return the next line, without its end."""
        while (end := self._buffer.find(_NEWLINE, self._at)) < 0:
            if len(self._buffer) - self._at > _LINE_BYTES_MAX:
                raise BrokenBodyError("a line between chunks is too long")
            self._receive_more()
        line = self._buffer[self._at : end]
        self._at = end + len(_NEWLINE)
        if b"\n" in line or b"\r" in line or len(line) > _LINE_BYTES_MAX:
            raise BrokenBodyError("a line between chunks is malformed")
        return line

    def _receive_more(self) -> None:
        received = self._receive()
        if not received:
            raise BrokenBodyError("the connection ended before the body did")
        self._buffer, self._at = self._buffer[self._at :] + received, 0
