"""The framing of bodies: which of the received bytes are content.

chunk   = size-in-hex [";chunk-signature=" signature] CRLF content CRLF
body    = *chunk last-chunk trailer
trailer = *(name ":" value (CRLF / LF)) blank-line
"""

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Protocol

from graveler_gateway.protocol.bodies.chunk_signatures import ChunkSignatures
from graveler_gateway.protocol.errors import Code, S3ResponseError

MAX_CHUNK_LINE_BYTES = 256
MAX_TRAILER_BYTES = 4096

_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}")
_SIGNED_SIZE = re.compile(rb"([0-9a-fA-F]{1,16});chunk-signature=([0-9a-f]{64})")
_TRAILER_LINE = re.compile(rb"[ \t]*([!-9;-~]+)[ \t]*:[ \t]*([!-~](?:[ -~]*[!-~])?)[ \t]*")
_TRAILER_SIGNATURE = "x-amz-trailer-signature"


class Framing(Protocol):
    """A push parser of a body."""

    def feed(self, data: bytes) -> bytes:
        """Return the content in the data; it may be empty."""

    def finish(self) -> Mapping[str, str]:
        """Return the trailer, names in lower case; refuse a body that is not complete."""


class PlainFraming:
    """A body that is its content."""

    def __init__(self, length_bytes: int | None) -> None:
        self._length_bytes = length_bytes
        self._received_bytes = 0

    def feed(self, data: bytes) -> bytes:
        """Return the data, unless it is more than was promised."""
        self._received_bytes += len(data)
        if self._length_bytes is not None and self._received_bytes > self._length_bytes:
            raise S3ResponseError(Code.INCOMPLETE_BODY)
        return data

    def finish(self) -> Mapping[str, str]:
        """Return no trailer; refuse less than was promised."""
        if self._length_bytes is not None and self._received_bytes != self._length_bytes:
            raise S3ResponseError(Code.INCOMPLETE_BODY)
        return {}


class _State(Enum):
    CHUNK_LINE = auto()
    CONTENT = auto()
    CONTENT_END = auto()
    TRAILER = auto()


class ChunkedFraming:
    """A body in aws-chunked; content is returned before its chunk is verified."""

    def __init__(self, length_bytes: int, signatures: ChunkSignatures | None) -> None:
        self._signatures = signatures
        self._state = _State.CHUNK_LINE
        self._missing_bytes = length_bytes
        self._chunk_bytes = 0
        self._kept = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Return the content in the data."""
        view = memoryview(data)
        pieces: list[memoryview] = []
        while view:
            if self._state is _State.CONTENT:
                pieces.append(view[: self._chunk_bytes])
                view = view[self._chunk_bytes :]
                self._take_content(pieces[-1])
            elif self._state is _State.TRAILER:
                self._keep(view, MAX_TRAILER_BYTES)
                break
            else:
                view = self._take_line(view)
        if len(pieces) == 1 and len(pieces[0]) == len(data):
            return data
        return b"".join(pieces)

    def finish(self) -> Mapping[str, str]:
        """Return the trailer; refuse a body without its end."""
        if self._state is not _State.TRAILER:
            raise S3ResponseError(Code.INCOMPLETE_BODY, "The body ends before its last chunk.")
        lines = bytes(self._kept).replace(b"\r\n", b"\n")
        if lines != b"\n" and not lines.endswith(b"\n\n"):
            raise S3ResponseError(Code.INCOMPLETE_BODY, "The body ends within its trailer.")
        trailer = _parse_trailer(lines)
        if self._signatures and trailer:
            presented = trailer.pop(_TRAILER_SIGNATURE, "")
            signed = "".join(f"{name}:{value}\n" for name, value in trailer.items())
            self._signatures.verify_trailer(signed.encode(), presented)
        return trailer

    def _take_content(self, content: memoryview) -> None:
        self._chunk_bytes -= len(content)
        if self._signatures:
            self._signatures.update(content)
        if not self._chunk_bytes:
            self._state = _State.CONTENT_END

    def _take_line(self, view: memoryview) -> memoryview:
        """Return what follows the line, or nothing if its end has not come."""
        limit_bytes = MAX_CHUNK_LINE_BYTES if self._state is _State.CHUNK_LINE else 2
        head = bytes(view[: limit_bytes + 1])
        end = head.find(b"\n") + 1
        self._keep(view[: end or len(head)], limit_bytes)
        if not end:
            return view[len(head) :]
        line = bytes(self._kept)
        self._kept.clear()
        if not line.endswith(b"\r\n"):
            raise _malformed()
        if self._state is _State.CHUNK_LINE:
            self._begin_chunk(line[:-2])
        else:
            self._end_chunk()
        return view[end:]

    def _begin_chunk(self, line: bytes) -> None:
        match = (_SIGNED_SIZE if self._signatures else _SIZE).fullmatch(line)
        if not match:
            raise _malformed()
        self._chunk_bytes = int(line.partition(b";")[0], 16)
        if self._signatures:
            self._signatures.begin(match[2].decode())
        self._missing_bytes -= self._chunk_bytes
        is_last = not self._chunk_bytes
        if self._missing_bytes < 0 or (is_last and self._missing_bytes):
            raise S3ResponseError(
                Code.INCOMPLETE_BODY,
                "The content is not as long as x-amz-decoded-content-length says.",
            )
        if is_last and self._signatures:
            self._signatures.end()
        self._state = _State.TRAILER if is_last else _State.CONTENT

    def _end_chunk(self) -> None:
        if self._signatures:
            self._signatures.end()
        self._state = _State.CHUNK_LINE

    def _keep(self, view: memoryview, limit_bytes: int) -> None:
        if len(self._kept) + len(view) > limit_bytes:
            raise _malformed()
        self._kept += view


def _parse_trailer(lines: bytes) -> dict[str, str]:
    trailer: dict[str, str] = {}
    # Some clients send an empty line before the signature of the trailer.
    for line in filter(None, lines.split(b"\n")):
        match = _TRAILER_LINE.fullmatch(line)
        name = match[1].decode().lower() if match else ""
        if not match or name in trailer:
            raise _malformed()
        trailer[name] = match[2].decode()
    return trailer


def _malformed() -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_REQUEST, "The chunks or the trailer of the body are not well-formed."
    )
